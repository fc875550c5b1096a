//! Profiles: a table as its distinct rows and how many rows each stands for, in a file that can be merged
//! with others and audited like the table ([format](../../../../docs/profiles.md)).

mod bins;
mod kept;
mod manifest;
pub(crate) mod types;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{BooleanArray, RecordBatch};
use facts_engine::population;

pub use self::bins::BinNames;
pub use self::manifest::{KEY, Kept, Manifest, Suppressed, VERSION};
use crate::columns::Columns;
use crate::config::Config;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::run::TOOL;
use crate::table::Table;
use crate::two_passes;

/// What the column of counts is called, unless the table has such a column.
const COUNT: &str = "count";

/// Where numbers that an audit cuts into bins are cut when profiles are made.
#[derive(Clone, Debug)]
pub enum Cuts {
    /// Nowhere: numbers stay as they are.
    None,
    /// Where the audit of this table would cut them.
    OfTable,
    /// There, too, but of these columns alone.
    OfColumns(Vec<String>),
    /// Where they were cut for other profiles, of which the columns and what they are are taken, too.
    Of(Manifest),
}

impl Cuts {
    /// Whether the audit of this table cuts a column, and profiles take that over.
    pub(crate) fn takes(&self, column: &str) -> bool {
        match self {
            Self::OfTable => true,
            Self::OfColumns(columns) => columns.iter().any(|name| name == column),
            Self::None | Self::Of(_) => false,
        }
    }
}

/// Profiles, ready to be written.
#[derive(Clone, Debug)]
pub struct Profiles {
    /// One row a profile, with the count in the last column.
    pub batch: RecordBatch,
    /// What they say about themselves.
    pub manifest: Manifest,
}

impl Profiles {
    /// The profiles of a table, of the columns that an audit by this configuration or its model sees, or that other
    /// profiles have; of profiles, all their columns that are not ignored.
    pub fn of(
        config: &Config,
        mut table: Table,
        cuts: &Cuts,
        suppress_below: Option<u64>,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        if let Some(manifest) = &table.manifest {
            if !matches!(cuts, Cuts::None) {
                return Err(Failure::usage(
                    "profiles cannot be cut again; cut the tables that they are made of",
                ));
            }
            // What is ignored was not read.
            let mut columns = manifest.columns.clone();
            columns.retain(|column| !config.data.ignore.contains(&column.name));
            let told = kept::told(&columns, &table, suppress_below, None)?;
            return Self::counted(table, told, suppress_below);
        }
        let columns = match cuts {
            Cuts::Of(other) => kept::like(other, config, &table, suppress_below, listener)?,
            _ => cut_by_table(config, &table, cuts, suppress_below, listener)?,
        };
        let known = match cuts {
            Cuts::Of(other) => Some(other),
            _ => None,
        };
        // How many rows hold a code is known before the column is cut.
        let told = kept::told(&columns, &table, suppress_below, known)?;
        for column in &columns {
            if let Some(bins) = &column.bins {
                let codes = &column.missing_codes;
                table.cells.cut(&column.name, &bins.bins(), codes)?;
            }
        }
        let advice = suppress_below.map(|rows| none_left(&table.cells, &told, rows));
        let made = Self::counted(table, told, suppress_below)?;
        if let Some(advice) = advice.filter(|_| made.manifest.profiles == 0) {
            listener.note(&advice);
        }
        Ok(made)
    }

    /// The profiles of a table of which these columns are kept; those with bins hold the names of bins.
    pub fn counted(
        table: Table,
        columns: Vec<Kept>,
        suppress_below: Option<u64>,
    ) -> Result<Self, Failure> {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let mut count = COUNT.to_owned();
        while names.contains(&count.as_str()) {
            count.push('_');
        }
        let batch = table.cells.profiles(&names, &count)?;
        let before = table.manifest.and_then(|manifest| manifest.suppressed);
        let (batch, suppressed) = suppress(batch, suppress_below, before)?;
        let counts = batch.column(batch.num_columns() - 1);
        let rows = counts.as_primitive::<UInt64Type>().values().iter().sum();
        let manifest = Manifest {
            version: VERSION,
            tool: TOOL.to_owned(),
            count,
            columns,
            profiles: batch.num_rows() as u64,
            rows,
            suppressed,
        };
        Ok(Self { batch, manifest })
    }

    /// As a Parquet file.
    pub fn parquet(&self) -> Result<Vec<u8>, Failure> {
        let refuse = |error: String| Failure::output("the profiles", error);
        let metadata = [(KEY.to_owned(), self.manifest.text()?)];
        facts_report::parquet::parquet_of(&self.batch, &metadata)
            .map_err(|error| refuse(error.to_string()))
    }
}

/// The columns of a table, with the bins that its audit would have where they are asked for.
fn cut_by_table(
    config: &Config,
    table: &Table,
    cuts: &Cuts,
    suppress_below: Option<u64>,
    listener: &dyn Listener,
) -> Result<Vec<Kept>, Failure> {
    let config = &table.says(config);
    let (decided, mut columns) = kept::decided(config, table, listener)?;
    if let Cuts::OfColumns(names) = cuts {
        check_features(names, &columns)?;
    }
    if matches!(cuts, Cuts::None) {
        return Ok(columns);
    }
    cut_at_edges(&decided, &table.cells, cuts, &mut columns)?;
    if let Some(k) = suppress_below {
        // An edge is a number that somebody holds: it is taken among numbers that k people share.
        let placed = |name: &str| table.cells.placed_bins().iter().any(|p| p.column() == name);
        let cut = columns.iter().filter(|column| column.bins.is_some());
        let cut = cut.map(|column| column.name.as_str());
        let cut: Vec<&str> = cut.filter(|name| !placed(name)).collect();
        let shared = table.cells.with_shared_numbers(&cut, k)?;
        cut_at_edges(&decided, &shared, cuts, &mut columns)?;
    }
    if let Some(note) = two_passes::note(&table.cells) {
        let rounded = match suppress_below {
            Some(_) => ", and are rounded to three digits",
            None => "",
        };
        listener.note(&format!("{note}{rounded}"));
    }
    Ok(columns)
}

/// Columns that are to be cut must be features.
fn check_features(names: &[String], columns: &[Kept]) -> Result<(), Failure> {
    for name in names {
        let column = columns.iter().find(|column| column.name == *name);
        if let Some(column) = column.filter(|column| column.role != "feature") {
            return Err(Failure::usage(format!(
                "--bins {name}: it is {}, and only features are cut; a protected number stays as it is, and is cut when the profiles are audited",
                column.role
            )));
        }
    }
    Ok(())
}

/// Gives each column the bins that an audit of this table would have.
fn cut_at_edges(
    columns: &Columns,
    table: &population::Table,
    cuts: &Cuts,
    kept: &mut [Kept],
) -> Result<(), Failure> {
    let (population, _) = columns.declaration.population(table)?;
    for column in kept.iter_mut().filter(|column| cuts.takes(&column.name)) {
        let mut placed = table.placed_bins().iter();
        let placed = placed.find(|placed| placed.column() == column.name);
        let mut levels = population.features().iter();
        let levels = levels.find(|levels| levels.name == column.name);
        column.bins = match placed {
            Some(placed) => Some(BinNames::placed(placed)),
            None => levels.and_then(BinNames::of),
        };
    }
    Ok(())
}

/// What to do where no profile is left of so many rows: it names the column that keeps the most apart.
fn none_left(table: &population::Table, columns: &[Kept], rows: u64) -> String {
    let values = |name: &str| {
        let column = table.column(name);
        column.map_or(0, |column| column.column().values().len())
    };
    let names = columns.iter().map(|column| column.name.as_str());
    let widest = names.max_by_key(|name| values(name)).unwrap_or_default();
    format!(
        "no profile is left, because none stands for {rows} rows or more; `{widest}` has the most values, and keeps the most rows apart: name it in `data.ignore` if the model can do without, or cut numbers into bins"
    )
}

/// Leaves out profiles of fewer rows than asked for.
fn suppress(
    batch: RecordBatch,
    below: Option<u64>,
    before: Option<Suppressed>,
) -> Result<(RecordBatch, Option<Suppressed>), Failure> {
    let Some(below) = below.filter(|&below| below > 1) else {
        return Ok((batch, before));
    };
    let counts = batch.column(batch.num_columns() - 1).clone();
    let counts = counts.as_primitive::<UInt64Type>().values();
    let keep: BooleanArray = counts.iter().map(|&count| Some(count >= below)).collect();
    let left_out: u64 = counts.iter().filter(|&&count| count < below).sum();
    let batch = arrow_select::filter::filter_record_batch(&batch, &keep);
    let batch = batch.map_err(|error| Failure::data(error.to_string()))?;
    // Nothing is told of a number that is itself too small to be told.
    let told = |rows: u64| (rows == 0 || rows >= below).then_some(rows);
    let suppressed = match before {
        None => Suppressed {
            below,
            rows: told(left_out),
        },
        Some(before) => Suppressed {
            below: below.max(before.below),
            rows: (told(left_out)).and_then(|rows| rows.checked_add(before.rows?)),
        },
    };
    Ok((batch, Some(suppressed)))
}
