//! `facts demo`: an audit that needs nothing: the Adult census data and a model fitted on it.

use std::path::Path;
use std::process::ExitCode;

use facts_engine::definitions;
use facts_report::text::{self, Palette};
use facts_report::{Choice, Report, overview};
use facts_reproduce::tables::ADULT;
use facts_run::{Config, Failure, Table, files, run};

use super::audit::write;
use crate::args::{DemoArgs, ShowingArgs};
use crate::output;
use crate::progress::Reporter;

const CONFIG: &str = include_str!("../../../../data/adult/facts.toml");

/// The definitions whose worst subgroups are shown: who gets out at all, what it costs, how much
/// choice there is, and what it costs on average.
const SHOWN: [&str; 4] = [
    "equal-effectiveness:micro",
    "equal-cost-of-effectiveness:macro:0.3",
    "equal-choice:0.7",
    "equal-mean-recourse",
];

/// The report that is written when no folder is named.
const PAGE: &str = "facts-demo.html";

pub(crate) fn demo(args: DemoArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    if args.print_config {
        output::print_raw(CONFIG.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut config = Config::parse("the demo's configuration", CONFIG, &[])?;
    args.evidence.apply(&mut config);
    let table = Table::embedded("adult.csv.gz", ADULT, &config.data)?;
    let record = run(&config, &table, reporter)?;
    let seconds = reporter.seconds();
    let report = Report::new(&record)?;
    let choice = ShowingArgs {
        passing: args.passing,
        // Three different stories, not one with details added.
        drop_contained: true,
        ..ShowingArgs::default()
    };
    let showing = Choice::from(choice).showing(&report)?;

    let palette = Palette::COLOURED;
    let mut page = "\
A model predicts from census data of 1994 who earns more than 50,000 dollars. For those to whom it says
no: what could they change to get a yes, and is that way as open to women as to men?\n\n"
        .to_owned();
    page += &text::overview(&report, &palette);
    page += &format!("\n{}\n", overview::ranking_analysis(&report).text(2));
    let shown = SHOWN.iter().map(|id| definitions::parse(id));
    let shown = Report::by(&record, shown.collect::<Result<_, _>>()?);
    page += &text::findings(&shown, &showing, &palette);
    page += &text::hold_out(&shown, &palette);
    output::print(&page)?;

    let written = match &args.out {
        Some(folder) => {
            write(folder, &report, &showing, reporter)?;
            folder.display().to_string()
        }
        None => {
            files::write(Path::new(PAGE), &report.form("html", &showing)?, reporter)?;
            PAGE.to_owned()
        }
    };
    output::print(&next_steps(&written, args.out.is_some(), seconds))?;
    Ok(ExitCode::SUCCESS)
}

fn next_steps(written: &str, whole: bool, seconds: f64) -> String {
    let open = if whole {
        format!(
            "  {written}/report.html                 every subgroup, every definition, in a browser
  facts show {written} --where \"occupation = Sales\"
  facts show {written} --tables"
        )
    } else {
        format!(
            "  {written}               every subgroup, every definition: open it in a browser
  facts demo --out demo         all reports and the saved audit; then `facts show demo`"
        )
    };
    format!(
        "\
Read, fitted and audited in {seconds:.1} s. What to try next:
{open}
  facts init YOUR.csv           looks at your own table and writes a configuration
  facts audit YOUR.csv --protected COLUMN --model onnx:MODEL.onnx
  facts explain definitions     what each definition asks
  facts explain evidence        which findings pass, and what that says
"
    )
}
