//! What is typed after `facts init`.

use std::path::PathBuf;

use clap::Args;

use super::ReadingArgs;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The table: CSV, Parquet or Arrow, compressed or not; a folder of them, a glob, or an address such
    /// as `s3://bucket/people.parquet`, or a query of a database (`sql:people`); `-` is standard input
    pub(crate) data: PathBuf,
    /// The protected attribute; repeat to cross several
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) protected: Vec<String>,
    /// The column that holds the outcome; guessed unless said
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// The outcome that is good for people; never guessed: asked at a terminal, else left open
    #[arg(long, value_name = "VALUE")]
    pub(crate) favourable: Option<String>,
    /// Where to write; `-` prints
    #[arg(long, short, value_name = "FILE", default_value = "facts.toml")]
    pub(crate) out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}
