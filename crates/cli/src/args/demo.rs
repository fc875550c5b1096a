//! What is typed after `facts demo`.

use std::path::PathBuf;

use clap::Args;

use super::{EvidenceArgs, ShowingArgs};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to write everything to; without it, only facts-demo.html is written
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the configuration of the demo and stop
    #[arg(long)]
    pub(crate) print_config: bool,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}
