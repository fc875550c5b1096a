//! Tables in databases: `sql:SELECT …` in the place of a path.
//!
//! An audit needs distinct rows and how many people each stands for. So a query is never fetched as it
//! stands: the database groups its rows and counts them ([`Connection::rows`]), and what comes here is as
//! small as the table is repetitive. Numbers that are cut into bins can be cut there too ([`Cut`]), and
//! their distinct values counted ([`Connection::numbers`]).
//!
//! Databases are reached through ADBC: a driver is a native library, loaded when it is needed
//! ([`Database::connect`]). Rows come as Arrow batches; columns of types that an audit does not know
//! come as numbers or texts.
//!
//! The crate knows databases and nothing else: no files, no model, no audit.

mod connection;
mod database;
mod driver;
mod error;
mod query;
mod shape;
mod sqlite;
mod statement;
mod zero;

pub use connection::{Connection, Rows};
pub use database::Database;
pub use error::SqlError;
pub use query::Query;
pub use statement::Cut;
