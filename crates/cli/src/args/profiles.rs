//! What is typed after `facts profiles`.

use std::path::PathBuf;

use clap::Args;
use facts_run::config::Paths;
use facts_run::{Config, Failure};

use super::ReadingArgs;

pub(super) const PROFILES_HELP: &str = "\
Writes one row for each distinct row of the columns that have a role, with how many rows it stands
for. An audit of that file is the audit of the table, and files made in different places can be
audited together or merged into one. docs/profiles.md describes the format.

Examples:
  facts profiles people.parquet --protected sex -o people.profiles.parquet
  facts profiles a.parquet --protected sex --bins --suppress-below 10 -o a.profiles.parquet
  facts profiles b.parquet --protected sex --bins-from a.profiles.parquet --suppress-below 10 \\
      -o b.profiles.parquet
  facts profiles a.profiles.parquet b.profiles.parquet -o both.profiles.parquet
  facts audit a.profiles.parquet b.profiles.parquet --protected sex --model model.txt";

#[derive(Debug, Args)]
pub(crate) struct ProfilesArgs {
    /// The table: a file, a folder, a glob, several files or addresses, or a query of a database
    /// (`sql:people`); or profiles to merge
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The configuration, which says what the columns are
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Any key of the configuration; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The protected attribute; repeat to cross several
    #[arg(long, short, value_name = "COLUMN")]
    protected: Vec<String>,
    /// The column that holds the outcome
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Cut numbers into bins where the audit of this table would: the model then sees bins
    #[arg(long)]
    pub(crate) bins: bool,
    /// Cut numbers where they were cut for these profiles
    #[arg(long, value_name = "FILE", conflicts_with = "bins")]
    pub(crate) bins_from: Option<PathBuf>,
    /// Leave out profiles of fewer rows than this
    #[arg(long, value_name = "N")]
    pub(crate) suppress_below: Option<u64>,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl ProfilesArgs {
    /// The configuration, with what the flags say put over it, and the paths of the table.
    pub(crate) fn config(&mut self) -> Result<(Config, Paths), Failure> {
        let mut config = Config::load(self.config.as_deref(), &self.set)?;
        std::mem::take(&mut self.reading).apply(&mut config);
        for name in &self.protected {
            config.protected.entry(name.clone()).or_default();
            config.features.shift_remove(name);
        }
        super::replace(&mut config.label.column, self.label.take());
        Ok((config, Paths(std::mem::take(&mut self.data))))
    }
}
