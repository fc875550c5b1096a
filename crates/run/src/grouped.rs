//! A table in an engine that only code can reach, such as one of Python's: grouped there, so that only distinct rows
//! and their counts come here.

use arrow_array::RecordBatch;
use facts_engine::population::{Numbers, PlacedBins, TableReader};
use facts_models::{Input, InputKind, Spelling};
use facts_report::Origin;

use crate::audit::max_memory;
use crate::columns::Columns;
use crate::config::Config;
use crate::failure::Failure;
use crate::listener::Silent;
use crate::model;
use crate::table::Table;
use crate::two_passes;

/// A table that code groups where it lies.
pub trait Groups {
    /// The distinct rows, with one number for each bin in the columns that are cut. More than `most` do not fit, and
    /// one more tells as much as all of them.
    fn rows(&mut self, cut: &[PlacedBins], most: u64) -> Result<GroupedRows, Failure>;

    /// Adds the numbers of a column, each with how many rows hold it; what is missing is left out. In ascending
    /// order, so that the edges of bins depend on nothing else.
    fn numbers(&mut self, column: &str, counted: &mut Numbers) -> Result<(), Failure>;
}

/// Distinct rows, and how many rows each stands for.
#[derive(Debug)]
pub struct GroupedRows {
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// The column that counts them.
    pub count: String,
    /// Why these are not all of them, if they are not.
    pub too_many: Option<Failure>,
}

/// What the audited models may read.
#[derive(Clone, Copy, Debug)]
pub enum Reads<'r> {
    /// These columns: those of a model that comes from code.
    Columns(&'r [String]),
    /// What the model of the configuration tells, if it can.
    Configured,
    /// Anything, as far as is known: nothing is cut.
    Anything,
}

impl Table {
    /// Reads the distinct rows of a table for an audit by this configuration. Where they are too many, and the audit
    /// needs no more of some numbers than their bins, these are cut where the table lies, by the rule for
    /// [files and databases](Self::read_all).
    pub fn grouped(
        config: &Config,
        reads: Reads<'_>,
        origin: &Origin,
        engine: &mut dyn Groups,
    ) -> Result<Self, Failure> {
        let (table, too_large) = read(config, origin, engine, &[])?;
        let Some(why) = too_large else {
            return Ok(table);
        };
        let placed = placed(config, reads, &table, engine)?;
        if placed.is_empty() {
            return Err(why);
        }
        drop(table);
        let (table, too_large) = read(config, origin, engine, &placed)?;
        too_large.map_or(Ok(table), Err)
    }
}

/// The table as far as it fits, and why it does not if it does not.
fn read(
    config: &Config,
    origin: &Origin,
    engine: &mut dyn Groups,
    cut: &[PlacedBins],
) -> Result<(Table, Option<Failure>), Failure> {
    let max_memory = max_memory(config);
    let rows = engine.rows(cut, TableReader::most_rows(max_memory))?;
    let mut reader = TableReader::counted(&rows.count)
        .within(max_memory)
        .with_bins(cut.to_vec());
    let mut too_large = rows.too_many;
    for batch in &rows.batches {
        match reader.push(batch) {
            Err(error @ facts_engine::Error::TableTooLarge { .. }) => {
                too_large = Some(error.into());
                break;
            }
            pushed => pushed?,
        }
    }
    let table = Table {
        cells: reader.finish(),
        origin: origin.clone(),
        manifest: None,
        notes: Vec::new(),
    };
    Ok((table, too_large))
}

/// The bins that can take the place of numbers, placed over the numbers of all rows.
fn placed(
    config: &Config,
    reads: Reads<'_>,
    sample: &Table,
    engine: &mut dyn Groups,
) -> Result<Vec<PlacedBins>, Failure> {
    let inputs = match reads {
        Reads::Anything => return Ok(Vec::new()),
        Reads::Columns(columns) => Some(columns.iter().map(|name| any_input(name)).collect()),
        Reads::Configured => model::inputs(config, &Silent)?,
    };
    let apart = two_passes::maybe_missing(config);
    let mut numbers = Vec::new();
    for name in two_passes::given_up_by(config, inputs.is_some()) {
        let is_number = |column: &str| {
            let column = sample.cells.column(column);
            column.is_ok_and(|column| column.column().data_type().is_numeric())
        };
        if is_number(&name) {
            let mut counted = Numbers::apart(&apart);
            engine.numbers(&name, &mut counted)?;
            numbers.push((name, counted));
        }
    }
    let sample = sample.clone().prepared(&config.data)?;
    let columns = Columns::decide(config, &sample.cells, inputs.as_deref())?;
    two_passes::for_audit(&columns, inputs.as_deref(), &numbers)
}

fn any_input(column: &str) -> Input {
    Input {
        column: column.to_owned(),
        kind: InputKind::Any,
        spelling: Spelling::Exact,
    }
}
