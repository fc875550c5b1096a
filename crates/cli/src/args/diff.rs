//! What is typed after `facts diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DefinitionArgs, number};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older audit
    pub(crate) old: PathBuf,
    /// The newer audit
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    /// How many findings to list of each sort and definition
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// The form
    #[arg(long, value_enum, default_value_t = DiffForm::Text)]
    pub(crate) format: DiffForm,
    /// Exit with 1 if a finding that appeared or grew scores over this
    #[arg(long, value_name = "SCORE", value_parser = number)]
    pub(crate) fail_over: Option<f64>,
    /// Only findings that pass in one of the two audits; --fail-over heeds those that pass in the newer
    #[arg(long)]
    pub(crate) passing: bool,
}

/// The form of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffForm {
    Text,
    Markdown,
    Json,
    Html,
}
