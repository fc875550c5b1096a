//! The definitions that a saved audit is looked at by.

use facts_engine::definitions::{self, Definition};
use facts_report::Record;

use crate::config::Config;
use crate::failure::Failure;
use crate::run::definitions_for;

/// The definitions that an audit was made for.
pub fn own_definitions(record: &Record) -> Result<Vec<Box<dyn Definition>>, Failure> {
    let own = record.definitions.iter().map(|id| definitions::parse(id));
    own.collect::<Result<_, _>>().map_err(|error| {
        let why = format!("the saved audit names a definition that cannot be: {error}");
        Failure::data(why)
    })
}

/// The paper's columns, and whatever else an audit was made for.
pub fn paper_and_own(
    record: &Record,
    notes: &mut Vec<String>,
) -> Result<Vec<Box<dyn Definition>>, Failure> {
    let mut all = definitions_for(&Config::default(), &record.audit, notes)?;
    let known: Vec<String> = all.iter().map(|definition| definition.id()).collect();
    let own = own_definitions(record)?.into_iter();
    all.extend(own.filter(|definition| !known.contains(&definition.id())));
    Ok(all)
}
