//! What can be wrong with a table in a database, in words that say what to do.

/// Why a table in a database cannot be read. The text is complete: a cause is in it, and no password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// No query follows `sql:`.
    #[error("sql: names no table; write sql:people, or a query as in 'sql:SELECT * FROM people'")]
    NoQuery,
    /// A query without a database.
    #[error(
        "{0} needs a database; name it with `data.database`, as in duckdb:lake.duckdb, sqlite:people.db or postgresql://user@host/database"
    )]
    NoDatabase(String),
    /// A text that names no database.
    #[error(
        "{text} names no database: {why}; write duckdb:FILE, duckdb: (for a query over files), sqlite:FILE, postgresql://user@host/database, or DRIVER:… for any other ADBC driver"
    )]
    BadDatabase {
        /// The text, without what may be secret.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file of a database is not there.
    #[error("{0}: no such file; check the path, which starts from the current folder")]
    NoFile(String),
    /// The driver is not on this machine, or cannot be loaded.
    #[error("{database} needs the ADBC driver {driver}, and {found}; {remedy}")]
    NoDriver {
        /// The database.
        database: String,
        /// The library that was looked for.
        driver: String,
        /// What was found instead.
        found: String,
        /// How to get it.
        remedy: String,
    },
    /// The database or its driver says no.
    #[error("{database}: {what}: {why}")]
    Refused {
        /// The database, without what may be secret.
        database: String,
        /// What was being done.
        what: &'static str,
        /// What it says, on one line.
        why: String,
    },
    /// Two columns of one name.
    #[error(
        "{query} has two columns called `{column}`; name one of them anew with AS, or select the columns one by one"
    )]
    SameName {
        /// The query.
        query: String,
        /// The name.
        column: String,
    },
    /// A query without rows, or of which no column is wanted.
    #[error("{0} has no {1}")]
    Nothing(String, &'static str),
}
