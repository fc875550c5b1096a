//! What is typed after `facts reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const REPRODUCE_HELP: &str = "\
The paper is Fairness Aware Counterfactuals for Subgroups (FACTS). Shown are counts, the
subgroups that it shows with their counterfactuals, its ranking analysis and its aggregated
rankings.

The rows of Adult and COMPAS come along. Those of ssl and ad-campaign do not: a generated
stand-in is audited in their place, and says so, unless --data names the real table.

Examples:
  facts reproduce adult-sex                      the paper's main experiment
  facts reproduce adult-sex --variant own        with the split and training of this tool
  facts reproduce compas --out compas            the comparison, the audit and all reports
  facts reproduce ssl --data chicago-ssl.csv     on the real rows
  facts reproduce all --page reproduction.md     everything on one page
  facts reproduce compas --print-config          the set-up, to start your own from";

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The experiment, or all
    #[arg(value_name = "NAME", value_parser = experiment_names())]
    pub(crate) name: String,
    /// Whose split and model
    #[arg(long, value_enum, default_value_t = VariantArg::Authors)]
    pub(crate) variant: VariantArg,
    /// By whose rules the two analysis tables are counted
    #[arg(long, value_enum, default_value_t = RulesArg::Facts)]
    pub(crate) rules: RulesArg,
    /// The real table of an experiment: CSV, Parquet or Arrow, compressed or not
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// The least share of each group that a subgroup must have [default: the paper's 0.01]
    #[arg(long, short, value_name = "SHARE")]
    pub(crate) support: Option<String>,
    /// How many threads to work with; results do not depend on it
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// The folder to write the comparison, the audit and all reports to; with several audits, a folder
    /// in it for each
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write both variants as one page of Markdown, and print nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["variant", "rules", "out"])]
    pub(crate) page: Option<PathBuf>,
    /// Print the configuration of the experiment and stop
    #[arg(long, conflicts_with_all = ["out", "page", "data"])]
    pub(crate) print_config: bool,
}

/// Whose split and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantArg {
    /// The authors' split, and their model where it is known
    Authors,
    /// The split and training of this tool
    Own,
    /// One after the other
    Both,
}

/// By whose rules the analysis tables are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesArg {
    /// Those of the method, as everywhere in this tool
    Facts,
    /// Those of the authors' code, where it differs
    Authors,
}

/// The experiments, and `all`.
fn experiment_names() -> clap::builder::PossibleValuesParser {
    let experiments = facts_reproduce::EXPERIMENTS.iter();
    let named = experiments.map(|experiment| {
        clap::builder::PossibleValue::new(experiment.name).help(experiment.title)
    });
    let all = clap::builder::PossibleValue::new("all").help("One after another");
    named.chain([all]).collect::<Vec<_>>().into()
}
