//! `facts explain`: the answer, model strings, definitions, evidence, the configuration.

use std::process::ExitCode;

use facts_engine::definitions::KINDS;
use facts_models::FORMATS;
use facts_report::{Grid, Side};
use facts_run::Failure;

use crate::args::Topic;
use crate::output;

pub(crate) fn explain(topic: Topic) -> Result<ExitCode, Failure> {
    let page = match topic {
        Topic::Models => models(),
        Topic::Definitions => definitions(),
        Topic::Answer => include_str!("answer.txt").to_owned(),
        Topic::Evidence => include_str!("evidence.txt").to_owned(),
        Topic::Config => facts_run::config::REFERENCE.to_owned(),
    };
    output::print_raw(page.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn models() -> String {
    let mut grid = Grid::new([("model", Side::Left), ("what it is", Side::Left)]);
    for format in FORMATS {
        grid.row([format.example(), format.about.to_owned()]);
    }
    grid.row([
        "train",
        "logistic regression fitted on part of your table; needs --label",
    ]);
    format!(
        "A model is named by one string. A file whose format can be told needs no prefix.\n\n{}",
        grid.text(2)
    )
}

fn definitions() -> String {
    let mut page = "\
A definition is written with its parameters after colons. Parts may be left out: `equal-choice` stands
for one definition for each --phi, `equal-effectiveness` for micro and macro. `paper` stands for the
twelve columns of the paper.

micro: each member of a group chooses their own action. macro: one action is chosen for the group.
φ (PHI) is a share of a group, c (COST) a budget.
"
    .to_owned();
    for syntax in KINDS {
        page += &format!(
            "\n  {}\n      {}\n      {}\n",
            syntax.usage, syntax.kind.question, syntax.kind.worse_off
        );
    }
    page
}
