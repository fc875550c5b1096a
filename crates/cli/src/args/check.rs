//! What is typed after `facts check`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

pub(super) const CHECK_HELP: &str = "\
Each rule of [check] in facts.toml holds, fails, or is undecided: there is too little data to tell.
Only findings count that chance would seldom show, and of those only what is not in the baseline, or
has grown since beyond chance. Without rules there is one: no story against anybody.

  facts.baseline.json   the findings that were accepted, by id; commit it, and the audit beside it
  [[check.waive]]       lets one finding through until a day, for a reason, with an owner

In GitHub Actions the text comes with annotations, and the step gets a summary. docs/check.md has
all.

Examples:
  facts check result                              a saved audit, by the rules of ./facts.toml
  facts check                                     audits as ./facts.toml says, then checks
  facts check result --update-baseline            accept what is found today
  facts check result --prune                      forget what is not found any more
  facts check result --write sarif=facts.sarif --write junit=facts.xml

Exit codes: 0 the gate passed, 1 it failed, 2 to 5 there was no answer (facts --help).";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A saved audit (its folder or its audit.json.gz), or a table to audit
    pub(crate) audit: Option<PathBuf>,
    /// The configuration with the rules; facts.toml in this folder unless said
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Any key of the configuration; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The baseline; facts.baseline.json beside the configuration unless said
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline")]
    pub(crate) baseline: Option<PathBuf>,
    /// Let every finding count as new
    #[arg(long, conflicts_with_all = ["update_baseline", "prune"])]
    pub(crate) no_baseline: bool,
    /// Write a baseline that accepts what is found today; what is waived stays out of it
    #[arg(long)]
    pub(crate) update_baseline: bool,
    /// Take findings out of the baseline that are not found any more: they count as new if they return
    #[arg(long, conflicts_with = "update_baseline")]
    pub(crate) prune: bool,
    /// What to print
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub(crate) format: Option<String>,
    /// Write a form to a file as well; repeat for more
    #[arg(long, value_name = "FORM=FILE", value_parser = written)]
    pub(crate) write: Vec<(String, PathBuf)>,
}

fn forms() -> PossibleValuesParser {
    let forms = facts_check::FORMS.iter();
    forms
        .map(|form| PossibleValue::new(form.name).help(form.about))
        .collect::<Vec<_>>()
        .into()
}

fn written(text: &str) -> Result<(String, PathBuf), String> {
    let names = || facts_check::FORMS.iter().map(|form| form.name);
    let (form, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write FORM=FILE, such as sarif=facts.sarif")?;
    if !names().any(|name| name == form) {
        let names: Vec<&str> = names().collect();
        return Err(format!(
            "no form is called {form}; there are {}",
            names.join(", ")
        ));
    }
    Ok((form.to_owned(), PathBuf::from(file)))
}
