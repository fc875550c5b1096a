//! The command line: what can be typed, and what it says about itself.

mod audit;
mod check;
mod demo;
mod diff;
mod engine;
mod evidence;
mod features;
mod init;
mod model;
mod pack;
mod profiles;
mod reading;
mod reproduce;
mod serve;
mod settings;
mod show;
mod showing;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use self::audit::AUDIT_HELP;
pub(crate) use self::audit::{AuditArgs, PersonArgs, Results, WhatArgs};
use self::check::CHECK_HELP;
pub(crate) use self::check::CheckArgs;
pub(crate) use self::demo::DemoArgs;
pub(crate) use self::diff::{DiffArgs, DiffForm};
pub(crate) use self::evidence::EvidenceArgs;
pub(crate) use self::init::InitArgs;
use self::pack::{PACK_HELP, VERIFY_HELP};
pub(crate) use self::pack::{PackArgs, VerifyArgs};
use self::profiles::PROFILES_HELP;
pub(crate) use self::profiles::ProfilesArgs;
pub(crate) use self::reading::ReadingArgs;
use self::reproduce::REPRODUCE_HELP;
pub(crate) use self::reproduce::{ReproduceArgs, RulesArg, VariantArg};
use self::serve::SERVE_HELP;
pub(crate) use self::serve::ServeArgs;
pub(crate) use self::settings::by_flags;
pub(crate) use self::show::ShowArgs;
pub(crate) use self::showing::{DefinitionArgs, PartArgs, ShowingArgs};
use crate::exit::EXIT_CODES;

/// Is the way out of a model's refusal as open to one group as to another?
#[derive(Debug, Parser)]
#[command(
    name = "facts",
    version,
    after_help = EXIT_CODES,
    long_about = "Is the way out of a model's refusal as open to one group as to another?\n\n\
        Audits the fairness of recourse for subgroups: mines the subgroups that all protected groups \
        share, learns from those who got the yes what could be changed, counts how often each change \
        turns the model's answer in each group, and ranks the subgroups by six definitions of \
        fairness.\n\n\
        Start with `facts demo`; then `facts init DATA` and `facts audit`."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say nothing but errors on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Write progress, notes and errors to standard error as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json_log: bool,
    /// When to use colours; `auto` honours NO_COLOR and plain pipes
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto)]
    pub(crate) color: Colour,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Audit a census model that comes with the tool, and write a report
    #[command(after_help = "\
Examples:
  facts demo                    audit, show findings, write facts-demo.html
  facts demo --out demo         write everything: report, tables, the saved audit
  facts demo --passing          only findings that chance alone would seldom show
  facts demo --print-config     the configuration it uses, to start your own from")]
    Demo(DemoArgs),
    /// Look at a table and write a commented facts.toml
    #[command(after_help = "\
Examples:
  facts init people.csv                       writes facts.toml
  facts init people.csv -o -                  prints it instead
  facts init people.csv --protected gender    names the protected attribute")]
    Init(InitArgs),
    /// Audit a model on a table
    #[command(after_help = AUDIT_HELP)]
    Audit(Box<AuditArgs>),
    /// Look into a saved audit: other definitions, filters, one subgroup in full, tables
    #[command(after_help = "\
AUDIT is the folder that `facts audit --out` wrote, or its audit.json.gz.

Examples:
  facts show result                                              the top findings again
  facts show result -d equal-choice --phi 0.5                    another definition
  facts show result --where \"occupation = Sales\" --top 10        subgroups that say so
  facts show result --subgroup \"age = (34, 41], occupation = Sales\"
                                                                 one subgroup, all definitions
  facts show result --passing --top 10                           what chance would seldom show
  facts show result --tables                                     the two analysis tables
  facts show result --format html -o report.html                 a report to hand over")]
    Show(ShowArgs),
    /// Ask an audit questions, in the browser
    #[command(after_help = SERVE_HELP)]
    Serve(Box<ServeArgs>),
    /// Compare saved audits: what changed by more than chance
    #[command(after_help = "\
Both are ranked by the definitions of the old audit, unless -d names others.

Examples:
  facts diff before after
  facts diff before after -d equal-effectiveness:micro --format json
  facts diff before after --fail-over 0.2        exit 1 if a finding that appeared or grew scores
                                                 over 0.2
  facts diff january february march              a series: tested at α over all its looks
  facts diff audits --fail-on-change             the same of all audits in a folder, as a monitor
  facts diff old.toml new.toml                   two models on the same people")]
    Diff(DiffArgs),
    /// Tell whether an audit meets the rules of a release: the gate in CI
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Put an audit and everything said of it into one archive that others can check
    #[command(after_help = PACK_HELP)]
    Pack(PackArgs),
    /// Check an archive that `facts pack` wrote, offline
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// Write a table as counts of its distinct rows, or merge such counts
    #[command(after_help = PROFILES_HELP)]
    Profiles(ProfilesArgs),
    /// Run the paper's experiments again, and put ours beside what was printed
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
    /// Print a script that completes commands in a shell
    #[command(after_help = "\
Examples:
  facts completions bash > ~/.local/share/bash-completion/completions/facts
  facts completions zsh > ~/.zfunc/_facts
  facts completions fish > ~/.config/fish/completions/facts.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(after_help = "\
Examples:
  facts man | man -l -           read it
  facts man --out man            facts.1, facts-audit.1, …")]
    Man {
        /// The folder for one page a command; without it, the main page is printed
        #[arg(long, short, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Explain the model strings, the definitions, the evidence and the configuration
    Explain {
        /// What to explain
        #[arg(value_enum)]
        topic: Topic,
    },
}

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// What the first screen says: a way out, at a loss, stories, why, the verdict
    Answer,
    /// Model strings: onnx:model.onnx, exec:python predict.py, …
    Models,
    /// The six definitions of fairness and how to write them
    Definitions,
    /// How findings are told from chance, and what that can and cannot say
    Evidence,
    /// What facts.toml may say
    Config,
}

fn form_names() -> clap::builder::PossibleValuesParser {
    let names = facts_report::FORMS.iter();
    names
        .map(|form| clap::builder::PossibleValue::new(form.name).help(form.about))
        .collect::<Vec<_>>()
        .into()
}

/// A number, which NaN is not.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number),
        _ => Err("not a number".to_owned()),
    }
}

/// A flag that was given wins.
fn replace<T>(setting: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *setting = flag;
    }
}

/// A flag whose value is one of a few names, each with what it means and a word about it.
fn named<T: Clone + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let possible = values.each_ref().map(|(name, _, about)| {
        let value = PossibleValue::new(*name);
        if about.is_empty() {
            value
        } else {
            value.help(*about)
        }
    });
    PossibleValuesParser::new(possible).try_map(move |name| {
        let mut values = values.iter().filter(|(known, ..)| *known == name);
        let value = values.next().map(|(_, value, _)| value.clone());
        value.ok_or("the name of no value")
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// What is written by hand below the options fits a terminal of 100 columns as it stands.
    #[test]
    fn help_below_the_options_is_not_wrapped_again() {
        let command = Cli::command();
        for command in command.get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            for line in help.unwrap_or_default().lines() {
                let name = command.get_name();
                assert!(line.chars().count() <= 100, "facts {name}: {line}");
            }
        }
    }
}
