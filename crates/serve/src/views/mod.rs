//! What is answered, one file a view. Every number and every sentence is the engine's or the report's;
//! the page lays them out.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod handover;
pub(crate) mod overview;
pub(crate) mod parts;
pub(crate) mod person;
pub(crate) mod stories;
pub(crate) mod subgroup;
pub(crate) mod subgroups;
