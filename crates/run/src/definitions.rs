//! The definitions that an audit is looked at by.

use std::collections::HashSet;

use facts_engine::Audit;
use facts_engine::definitions::{self, Definition};
use facts_report::Record;

use crate::config::Config;
use crate::failure::Failure;

/// Definitions that are asked for.
#[derive(Debug)]
pub struct Definitions {
    /// All of them.
    pub all: Vec<Box<dyn Definition>>,
    /// What the user should know about them.
    pub note: Option<String>,
}

/// The definitions asked for, or the paper's columns.
pub fn definitions_for(config: &Config, audit: &Audit) -> Result<Definitions, Failure> {
    let report = &config.report;
    let automatic = || match audit.automatic_budgets() {
        Err(facts_engine::Error::NoAutomaticBudgets) => Ok(Vec::new()),
        other => other,
    };
    let budgets = if report.budgets.is_empty() {
        automatic()?
    } else {
        report.budgets.clone()
    };
    let note = budgets.is_empty().then(|| {
        "no subgroup reaches effectiveness 0.5 at any cost, so no budget could be chosen; name some with `report.budgets` to rank within a budget"
            .to_owned()
    });
    let phis = config.phis()?;
    if report.definitions.is_empty() {
        let all = definitions::columns(&phis, &budgets)?;
        return Ok(Definitions { all, note });
    }
    let mut all = Vec::new();
    for text in &report.definitions {
        if text == "paper" {
            all.extend(definitions::columns(&phis, &budgets)?);
        } else {
            all.extend(definitions::expand(text, &phis, &budgets)?);
        }
    }
    // Asked for twice, a definition is still one.
    let mut seen = HashSet::new();
    all.retain(|definition| seen.insert(definition.id()));
    Ok(Definitions { all, note })
}

/// The definitions that an audit was made for.
pub fn own_definitions(record: &Record) -> Result<Vec<Box<dyn Definition>>, Failure> {
    let own = record.definitions.iter().map(|id| definitions::parse(id));
    own.collect::<Result<_, _>>().map_err(|error| {
        let why = format!("the saved audit names a definition that cannot be: {error}");
        Failure::data(why)
    })
}

/// The paper's columns, and whatever else an audit was made for.
pub fn paper_and_own(record: &Record) -> Result<Definitions, Failure> {
    let Definitions { mut all, note } = definitions_for(&Config::default(), &record.audit)?;
    let known: Vec<String> = all.iter().map(|definition| definition.id()).collect();
    let own = own_definitions(record)?.into_iter();
    all.extend(own.filter(|definition| !known.contains(&definition.id())));
    Ok(Definitions { all, note })
}
