//! What is typed after `facts show`.

use std::path::PathBuf;

use clap::Args;

use super::{DefinitionArgs, ShowingArgs, form_names};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The saved audit
    pub(crate) audit: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// One story in full, by its number
    #[arg(long, value_name = "N", conflicts_with_all = ["stories", "subgroup", "tables", "format", "wanted", "against", "top"])]
    pub(crate) story: Option<usize>,
    /// All stories
    #[arg(long, conflicts_with_all = ["subgroup", "tables", "format", "wanted", "against", "top"])]
    pub(crate) stories: bool,
    /// One subgroup in full, by its predicate or by the id of a finding
    #[arg(long, value_name = "PREDICATE", conflicts_with_all = ["tables", "format", "wanted", "against", "top"])]
    pub(crate) subgroup: Option<String>,
    /// The two analysis tables
    #[arg(long, conflicts_with_all = ["format", "wanted", "against", "top"])]
    pub(crate) tables: bool,
    /// The form of report
    #[arg(long, value_name = "FORM", value_parser = form_names())]
    pub(crate) format: Option<String>,
    /// Where to write; printed without it
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
