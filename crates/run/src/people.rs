//! People: who is in the audit.

use std::borrow::Cow;

use facts_engine::population::{Declaration, Population, RowProfiles, Table};

use crate::failure::Failure;

/// The people of an audit, and the rows that they come from.
#[derive(Debug)]
pub(crate) struct People<'a> {
    pub(crate) table: Cow<'a, Table>,
    pub(crate) population: Population,
    pub(crate) rows: RowProfiles,
}

impl<'a> People<'a> {
    /// Takes in the people of a table.
    pub(crate) fn of(declaration: &Declaration, table: Cow<'a, Table>) -> Result<Self, Failure> {
        let (population, rows) = declaration.population(&table)?;
        Ok(Self {
            table,
            population,
            rows,
        })
    }
}
