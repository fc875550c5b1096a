//! What is answered, one file a view, where the report has no answer of its own (`facts_report::views`). Every
//! number and every sentence is the engine's or the report's; the page lays them out.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod handover;
pub(crate) mod person;
pub(crate) mod subgroup;
pub(crate) mod subgroups;
