//! The commands, one file each.

pub(crate) mod audit;
mod audit_models;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod dry_run;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod pack;
pub(crate) mod person;
pub(crate) mod profiles;
pub(crate) mod reproduce;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod show;
