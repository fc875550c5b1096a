//! What is typed about reading a table.

use clap::Args;
use facts_input::Format;
use facts_input::csv::Duplicates;
use facts_run::Config;

use super::{named, replace};

/// How a table is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct ReadingArgs {
    /// The format, when it is not to be guessed
    #[arg(long, value_parser = named([
        ("csv", Format::Csv, ""),
        ("parquet", Format::Parquet, ""),
        ("arrow-file", Format::ArrowFile, ""),
        ("arrow-stream", Format::ArrowStream, ""),
    ]))]
    data_format: Option<Format>,
    /// Where a query (`sql:…`) is sent: duckdb:FILE, duckdb: alone for a query over files, sqlite:FILE,
    /// postgresql://user@host/database, or DRIVER:… for another ADBC driver
    #[arg(
        long,
        value_name = "DATABASE",
        env = "FACTS_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// What separates fields: one character, or `tab`
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// The first line is data, not names
    #[arg(long)]
    no_header: bool,
    /// What to do about two columns of one name
    #[arg(long, value_parser = named([
        ("refuse", Duplicates::Refuse, "Stop"),
        ("number", Duplicates::Number, "Call them score, score.1, score.2"),
    ]))]
    duplicates: Option<Duplicates>,
    /// The encoding of a CSV file, such as windows-1252
    #[arg(long)]
    encoding: Option<String>,
    /// A field that stands for a missing value everywhere, such as NA; repeat for more
    #[arg(long, value_name = "TEXT")]
    null: Vec<String>,
}

impl ReadingArgs {
    pub(crate) fn apply(self, config: &mut Config) {
        let data = &mut config.data;
        replace(&mut data.database, self.database);
        replace(&mut data.format, self.data_format);
        replace(&mut data.delimiter, self.delimiter);
        if self.no_header {
            data.header = Some(false);
        }
        replace(&mut data.duplicates, self.duplicates);
        replace(&mut data.encoding, self.encoding);
        data.nulls.extend(self.null);
    }
}
