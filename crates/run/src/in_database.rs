//! A table in a database: grouped there, so that only distinct rows and their counts come here.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use facts_engine::population::{Numbers, PlacedBins};
use facts_report::Origin;
use facts_sql::{Connection, Cut, Database, Query, SqlError};

use crate::config::{self, or_environment};
use crate::failure::Failure;
use crate::table::{Reading, Table, ahead, unwanted};

/// The query that stands in the place of paths; none if they are paths.
pub(crate) fn query_of(paths: &[PathBuf]) -> Result<Option<Query>, Failure> {
    match paths {
        [path] => Ok(Query::of(path)),
        paths if paths.iter().any(|path| Query::of(path).is_some()) => Err(Failure::usage(
            "a query is a table of its own; put what belongs together into one query (UNION ALL), or write profiles of each and audit these",
        )),
        _ => Ok(None),
    }
}

/// Whether what stands in the place of a path is none: the address of an object, or a query of a database.
pub fn is_elsewhere(path: &Path) -> bool {
    facts_input::is_address(path) || Query::of(path).is_some()
}

/// What stands in the place of a path as it may be shown: whole, but without what may be secret in an address or
/// a query.
pub fn shown_path(path: &Path) -> String {
    Query::shown(path).unwrap_or_else(|| facts_input::shown(path))
}

/// The database of a configuration, shown without what may be secret.
pub fn shown(database: &str) -> String {
    Database::parse(database).map_or_else(|error| error.to_string(), |known| known.to_string())
}

/// A database of a configuration that lies in this folder.
pub fn beside(database: &str, folder: &Path) -> String {
    match Database::parse(database) {
        Ok(known) => known.beside(folder).as_written().to_owned(),
        // Whoever connects says what is wrong.
        Err(_) => database.to_owned(),
    }
}

/// A query, and the connection that it is sent through: all that is asked is of one state of the database.
pub(crate) struct Asked {
    query: Query,
    connection: Connection,
}

impl Asked {
    pub(crate) fn connect(query: Query, data: &config::Data) -> Result<Self, Failure> {
        let connection = database(&query, data)?.connect()?;
        Ok(Self { query, connection })
    }

    /// Reads the distinct rows of the query. As soon as they are too many, where bins could take the place of
    /// numbers, the numbers are counted in the database instead.
    pub(crate) fn read(
        &mut self,
        data: &config::Data,
        reading: Reading<'_>,
    ) -> Result<Table, Failure> {
        let cuts: Vec<Cut> = reading.placed.iter().map(cut).collect();
        let rows = self.connection.rows(&self.query, &unwanted(data), &cuts)?;
        let mut reader = reading.reader(Some(rows.count_column()), true);
        let is_too_large = AtomicBool::new(false);
        let wanted = rows.take_while(|_| !is_too_large.load(Ordering::Relaxed));
        ahead(wanted, |batch| {
            reader.push(&batch?)?;
            is_too_large.store(reader.only_counts(), Ordering::Relaxed);
            Ok(())
        })?;
        let (query, connection) = (&self.query, &mut self.connection);
        reader.recount(|column, numbers: &mut Numbers| {
            connection.numbers(query, column, |number, rows| numbers.add(number, rows))
        })?;
        let origin = Origin {
            name: self.query.to_string(),
            sha256: None,
            files: Vec::new(),
        };
        Table {
            cells: reader.finish(),
            origin,
            manifest: None,
            notes: Vec::new(),
        }
        .prepared(data)
    }
}

fn database(query: &Query, data: &config::Data) -> Result<Database, Failure> {
    let Some(database) = &data.database else {
        return Err(SqlError::NoDatabase(query.to_string()).into());
    };
    Ok(Database::parse(&or_environment(
        database,
        "`data.database`",
    )?)?)
}

/// The same bins, for a database.
fn cut(placed: &PlacedBins) -> Cut {
    Cut {
        column: placed.column().to_owned(),
        kept: placed.missing().to_vec(),
        least: placed.least(),
        bins: placed.ends().collect(),
    }
}
