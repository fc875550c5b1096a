//! What is typed after `facts profiles`.

use std::path::PathBuf;

use clap::Args;
use facts_run::config::Paths;
use facts_run::profiles::{Cuts, Manifest};
use facts_run::{Config, Failure};

use super::ReadingArgs;
use super::engine::MemoryArgs;
use super::features::{ColumnArgs, bins};

pub(super) const PROFILES_HELP: &str = "\
Writes one row for each distinct row of the columns that have a role, with how many rows it stands
for. An audit of that file is the audit of the table, and files made in different places can be
audited together or merged into one. docs/profiles.md describes the format.

Examples:
  facts profiles people.parquet --protected sex -o people.profiles.parquet
  facts profiles people.parquet --protected sex --bins age=5 -o people.profiles.parquet
  facts profiles a.parquet --protected sex --bins --suppress-below 10 -o a.profiles.parquet
  facts profiles b.parquet --bins-from a.profiles.parquet --suppress-below 10 -o b.profiles.parquet
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
    /// Cut numbers into bins, of which the model then sees the names: alone, all that the audit of this
    /// table would cut; with `age=5` (quantiles), `age=width:5` or `age=0,25,40,65`, this column; repeat
    /// for more
    #[arg(
        long,
        value_name = "COLUMN=BINS",
        num_args = 0..=1,
        value_parser = bins_of_a_column
    )]
    bins: Option<Vec<String>>,
    /// Take from these profiles which columns there are, what they are, the order of their levels and
    /// where numbers are cut
    #[arg(long, value_name = "FILE", conflicts_with = "bins")]
    bins_from: Option<PathBuf>,
    /// Leave out profiles of fewer rows than this
    #[arg(long, value_name = "N")]
    pub(crate) suppress_below: Option<u64>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// What follows `--bins` is a column and its bins, never the table.
fn bins_of_a_column(text: &str) -> Result<String, String> {
    match text.contains('=') {
        true => Ok(text.to_owned()),
        false => Err(
            "write a column and its bins, such as age=5, or put --bins alone after the table"
                .to_owned(),
        ),
    }
}

impl ProfilesArgs {
    /// The configuration, with what the flags say put over it, the paths of the table, and where its numbers
    /// are cut.
    pub(crate) fn config(&mut self) -> Result<(Config, Paths, Cuts), Failure> {
        let mut config = Config::load(self.config.as_deref(), &self.set)?;
        std::mem::take(&mut self.reading).apply(&mut config);
        std::mem::take(&mut self.memory).apply(&mut config);
        std::mem::take(&mut self.columns).apply(&mut config);
        for name in &self.protected {
            config.protected.entry(name.clone()).or_default();
            config.features.shift_remove(name);
        }
        super::replace(&mut config.label.column, self.label.take());
        let cuts = match (&self.bins_from, &self.bins) {
            (Some(file), _) => Cuts::Of(Manifest::of_file(file)?),
            (None, None) => Cuts::None,
            (None, Some(columns)) if columns.is_empty() => Cuts::OfTable,
            (None, Some(columns)) => Cuts::OfColumns(cut(&mut config, columns)?),
        };
        Ok((config, Paths(std::mem::take(&mut self.data)), cuts))
    }

    /// All files that are read.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        self.data.iter().chain(&self.bins_from).cloned().collect()
    }
}

/// Takes in how columns are cut, and tells which.
fn cut(config: &mut Config, columns: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::with_capacity(columns.len());
    for text in columns {
        let name = bins(config, text)?;
        if config.protected.contains_key(name) {
            return Err(Failure::usage(format!(
                "--bins {text}: a protected number stays as it is in profiles, so that groups can be formed when they are audited"
            )));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}
