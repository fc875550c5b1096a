//! What is typed after `facts show`.

use std::path::PathBuf;

use clap::Args;

use super::{DefinitionArgs, PartArgs, ShowingArgs, form_names};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The saved audit
    pub(crate) audit: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// The form of report
    #[arg(long, value_name = "FORM", value_parser = form_names())]
    pub(crate) format: Option<String>,
    /// Where to write; printed without it
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
