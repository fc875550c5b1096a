//! What is typed after `facts diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DefinitionArgs, number};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Two saved audits, the older first. Three or more, or one folder that holds several, are a series:
    /// each is compared with the first. Two configurations (.toml): their models are audited now on the
    /// same people, and compared by those whose answer changed
    #[arg(required = true, value_name = "AUDIT")]
    pub(crate) audits: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    /// How many findings to list of each sort and definition
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// The form
    #[arg(long, value_enum, default_value_t = DiffForm::Text)]
    pub(crate) format: DiffForm,
    /// How often, at most, chance alone may be said to have changed anything; of a series, over all its
    /// looks. That of the newest audit unless said
    #[arg(long, value_name = "α", value_parser = number)]
    pub(crate) alpha: Option<f64>,
    /// Exit with 1 if anything is shown to have changed; of a series, at any look
    #[arg(long)]
    pub(crate) fail_on_change: bool,
    /// Exit with 1 if a finding scores over this that is shown to have appeared or grown, or that passes
    /// and is ranked only now; of a series, at its newest look
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
