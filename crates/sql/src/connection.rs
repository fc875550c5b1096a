//! A connection to a database, and what is asked of it.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::error::Status;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Optionable, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedStatement};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use crate::database::{Database, Kind};
use crate::driver::{Driver, LOOK, VERSION};
use crate::error::SqlError;
use crate::query::Query;
use crate::shape::Shape;
use crate::sqlite::{self, Holds};
use crate::statement::{self, Cut, Selected};

/// What the column of counts is called, unless the table has such a column.
const COUNT: &str = "count";

/// An open connection. Whatever it is asked, the answers are of one state of the database.
pub struct Connection {
    connection: ManagedConnection,
    told: Told,
}

/// What messages need to know.
#[derive(Clone)]
struct Told {
    database: Database,
    /// What may be secret in what was asked, as it is written.
    asked: Vec<String>,
}

/// The distinct rows of a query, batch by batch, and how many rows each stands for.
///
/// It is an iterator. It ends at the end of the table or after the first error.
pub struct Rows {
    schema: SchemaRef,
    count: String,
    batches: Batches,
}

/// What a statement gives. A driver may forget the rest of it when the statement is closed.
struct Answer {
    reader: Box<dyn RecordBatchReader + Send>,
    _statement: ManagedStatement,
}

impl Answer {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}

impl Iterator for Answer {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next()
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, SqlError>> + Send>;

impl Connection {
    /// Connects by a driver that is known.
    pub(crate) fn open(database: &Database, driver: &Driver) -> Result<Self, SqlError> {
        let mut loaded = driver.load(database)?;
        let refuse = |error| database.refused("the database cannot be opened", &error, &[]);
        let opened = loaded.new_database_with_opts(options(database));
        Self::connect(database, opened.map_err(refuse)?)
    }

    /// Connects by whatever driver or profile the address names.
    pub(crate) fn by_name(database: &Database) -> Result<Self, SqlError> {
        let text = database.as_written();
        let opened = ManagedDatabase::from_uri(text, None, VERSION, LOOK, None);
        let refuse = |error: adbc_core::error::Error| match error.status {
            Status::NotFound => database.no_such_driver(),
            _ => database.refused("the database cannot be opened", &error, &[]),
        };
        Self::connect(database, opened.map_err(refuse)?)
    }

    fn connect(database: &Database, opened: ManagedDatabase) -> Result<Self, SqlError> {
        let refuse = |error| database.refused("no connection", &error, &[]);
        let mut connection = opened.new_connection().map_err(refuse)?;
        // Not every driver knows how to promise this; nothing is sent that would write.
        let _ = connection.set_option(OptionConnection::ReadOnly, OptionValue::from("true"));
        let told = Told {
            database: database.clone(),
            asked: Vec::new(),
        };
        let mut connection = Self { connection, told };
        connection.begin()?;
        Ok(connection)
    }

    /// Begins the one transaction of this connection. It is never committed: nothing is written.
    fn begin(&mut self) -> Result<(), SqlError> {
        let Some(begin) = statement::begin(&self.told.database.kind) else {
            return Ok(());
        };
        let refuse = |error| self.told.refused("no transaction", &error);
        let mut statement = self.connection.new_statement().map_err(refuse)?;
        statement.set_sql_query(begin).map_err(refuse)?;
        statement.execute_update().map_err(refuse)?;
        Ok(())
    }

    /// The distinct rows of a query. Columns that nobody wants keep their names and hold nothing; some others are cut.
    pub fn rows(
        &mut self,
        query: &Query,
        unwanted: &[String],
        cuts: &[Cut],
    ) -> Result<Rows, SqlError> {
        self.told.asked = query.secrets();
        let mut columns = self.columns(query)?;
        let all: Vec<String> = columns.iter().map(|field| field.name().clone()).collect();
        columns.retain(|field| !unwanted.contains(field.name()));
        if columns.is_empty() {
            return Err(SqlError::Nothing(
                query.to_string(),
                "columns that are wanted",
            ));
        }
        let mut count = COUNT.to_owned();
        while all.contains(&count) {
            count.push('_');
        }
        let table = query.as_table();
        let held = match self.told.database.kind {
            Kind::Sqlite(_) => {
                let names = columns.iter().map(|field| field.name());
                self.what_columns_hold(&table, names)?
            }
            _ => Vec::new(),
        };
        let selected = columns.iter().enumerate().map(|(at, field)| {
            let cut = cuts.iter().find(|cut| cut.column == *field.name());
            match (cut, held.get(at)) {
                (Some(cut), Some(_)) => Selected::cut(cut),
                (Some(cut), None) => Selected::cut(cut).with_signed_zeros(),
                (None, Some(holds)) => holds.selected(field.name()),
                (None, None) => readable(field),
            }
        });
        let selected: Vec<Selected> = selected.collect();
        let mut statement = statement::grouped(&table, &selected, &count);
        let is_told_by_a_row = !held.is_empty();
        if is_told_by_a_row {
            let is_cut = |field: &Field| cuts.iter().any(|cut| cut.column == *field.name());
            let types = columns
                .iter()
                .zip(&held)
                .map(|(field, &holds)| match is_cut(field) {
                    true => Holds::Numbers,
                    false => holds,
                });
            statement = sqlite::with_first_row(&statement, &types.collect::<Vec<_>>());
        }
        let answer = self.execute(&statement, "the query fails")?;
        let shape = Shape::new(&answer.schema(), &selected, &all, &count);
        let mut rows = Rows {
            schema: Arc::clone(&shape.schema),
            count,
            batches: batches(
                answer,
                shape,
                usize::from(is_told_by_a_row),
                self.told.clone(),
            ),
        };
        let Some(first) = rows.batches.next() else {
            return Err(SqlError::Nothing(query.to_string(), "rows"));
        };
        let rest = std::mem::replace(&mut rows.batches, Box::new(std::iter::empty()));
        rows.batches = Box::new(std::iter::once(Ok(first?)).chain(rest));
        Ok(rows)
    }

    /// Tells the distinct numbers of a column in ascending order, and how many rows hold each, as they come: none
    /// is kept here. What is missing is not told.
    pub fn numbers(
        &mut self,
        query: &Query,
        column: &str,
        mut tell: impl FnMut(f64, u64),
    ) -> Result<(), SqlError> {
        self.told.asked = query.secrets();
        let selected = [match self.told.database.kind {
            Kind::Sqlite(_) => Holds::Numbers.selected(column),
            _ => Selected::cast(column, "DOUBLE PRECISION").with_signed_zeros(),
        }];
        let statement =
            statement::in_order(&statement::grouped(&query.as_table(), &selected, COUNT));
        let answer = self.execute(&statement, "the query fails")?;
        let shape = Shape::new(&answer.schema(), &selected, &[column.to_owned()], COUNT);
        for batch in answer {
            let batch = batch.and_then(|batch| shape.of(&batch));
            let batch = batch.map_err(|error| self.told.broken(&error))?;
            let (Some(values), Some(counts)) = (
                batch.column(0).as_primitive_opt::<Float64Type>(),
                batch.column(1).as_primitive_opt::<Int64Type>(),
            ) else {
                // Nothing but missing values may come without a type.
                continue;
            };
            for (value, &rows) in values.iter().zip(counts.values()) {
                if let Some(value) = value {
                    tell(value, rows.unsigned_abs());
                }
            }
        }
        Ok(())
    }

    /// The columns of a query, all of different names.
    fn columns(&mut self, query: &Query) -> Result<Vec<Field>, SqlError> {
        if query.is_empty() {
            return Err(SqlError::NoQuery);
        }
        let statement = statement::columns(&query.as_table());
        let schema = self.execute(&statement, "the query fails")?.schema();
        let mut seen = HashSet::new();
        for field in schema.fields() {
            if !seen.insert(field.name()) {
                return Err(SqlError::SameName {
                    query: query.to_string(),
                    column: field.name().clone(),
                });
            }
        }
        let fields = schema.fields().iter();
        Ok(fields.map(|field| field.as_ref().clone()).collect())
    }

    /// What the columns of a table of SQLite hold.
    fn what_columns_hold<'n>(
        &mut self,
        table: &str,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Vec<Holds>, SqlError> {
        let names: Vec<String> = names.cloned().collect();
        let mut held = Vec::new();
        for names in names.chunks(sqlite::AT_ONCE) {
            let statement = sqlite::what_they_hold(table, names);
            for batch in self.execute(&statement, "the query fails")? {
                let batch = batch.map_err(|error| self.told.broken(&error))?;
                let sum = |column: usize| {
                    let sums = batch.column(column).as_primitive_opt::<Int64Type>();
                    sums.map_or(0, |sums| sums.value(0))
                };
                let many = |at: usize| Holds::of(sum(3 * at), sum(3 * at + 1), sum(3 * at + 2));
                if batch.num_rows() > 0 {
                    held.extend((0..names.len()).map(many));
                }
            }
        }
        Ok(held)
    }

    fn execute(&mut self, text: &str, what: &'static str) -> Result<Answer, SqlError> {
        let refuse = |error| self.told.refused(what, &error);
        let mut statement = self.connection.new_statement().map_err(refuse)?;
        statement.set_sql_query(text).map_err(refuse)?;
        Ok(Answer {
            reader: statement.execute().map_err(refuse)?,
            _statement: statement,
        })
    }
}

impl Told {
    fn refused(&self, what: &'static str, said: &adbc_core::error::Error) -> SqlError {
        self.database.refused(what, said, &self.asked)
    }

    fn broken(&self, error: &ArrowError) -> SqlError {
        let said = adbc_core::error::Error::with_message_and_status(error.to_string(), Status::IO);
        self.refused("the rows stopped coming", &said)
    }
}

/// The batches of an answer in another shape, without its first rows and without empty batches.
fn batches(answer: Answer, shape: Shape, mut left_out: usize, told: Told) -> Batches {
    let shaped = answer.map(move |batch| {
        let batch = batch.map_err(|error| told.broken(&error))?;
        let skipped = left_out.min(batch.num_rows());
        left_out -= skipped;
        let batch = batch.slice(skipped, batch.num_rows() - skipped);
        shape.of(&batch).map_err(|error| told.broken(&error))
    });
    Box::new(shaped.filter(|batch| !matches!(batch, Ok(batch) if batch.num_rows() == 0)))
}

impl Rows {
    /// The columns and their types; the last counts.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The name of the column that says how many rows each row stands for.
    pub fn count_column(&self) -> &str {
        &self.count
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, SqlError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next();
        if !matches!(batch, Some(Ok(_))) {
            self.batches = Box::new(std::iter::empty());
        }
        batch
    }
}

/// How a database is opened: to be read, where that can be said.
fn options(database: &Database) -> Vec<(OptionDatabase, OptionValue)> {
    let other = |key: &str, value: String| {
        (
            OptionDatabase::Other(key.to_owned()),
            OptionValue::String(value),
        )
    };
    match &database.kind {
        Kind::DuckDb(None) => Vec::new(),
        Kind::DuckDb(Some(file)) => vec![
            other("path", file.display().to_string()),
            other("access_mode", "READ_ONLY".to_owned()),
        ],
        Kind::Sqlite(file) => {
            // A URI, in which only these mean something else.
            let path = file.display().to_string();
            let path = path
                .replace('%', "%25")
                .replace('?', "%3f")
                .replace('#', "%23");
            vec![(
                OptionDatabase::Uri,
                format!("file:{path}?mode=ro").as_str().into(),
            )]
        }
        Kind::Postgres | Kind::Other => {
            vec![(OptionDatabase::Uri, database.as_written().into())]
        }
    }
}

/// A column as an audit can read it: what is neither a number, a text nor a truth value comes as one.
fn readable(field: &Field) -> Selected {
    let name = field.name();
    let is_decimal_text = (field.metadata().get("ARROW:extension:metadata"))
        .is_some_and(|told| told.contains("\"numeric\""));
    match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_decimal_text => {
            Selected::cast(name, "DOUBLE PRECISION")
        }
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Float16 => Selected::cast(name, "DOUBLE PRECISION"),
        kind if kind.is_floating() => Selected::as_it_is(name).with_signed_zeros(),
        kind if kind.is_integer() => Selected::as_it_is(name),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Boolean
        | DataType::Null
        | DataType::Dictionary(..) => Selected::as_it_is(name),
        _ => Selected::cast(name, "VARCHAR"),
    }
}
