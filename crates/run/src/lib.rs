//! From a configuration to an audit.
//!
//! A [`Config`] is what `facts.toml`, flags or keyword arguments say. [`run`] makes an audit of it, stage
//! by stage: read ([`Table`]), roles (`columns/`), people (`people.rs`), model (`model/`), audit
//! (`audit.rs`), evidence (`evidence/`), record. The command line, the Python package and the paper's
//! experiments are different ways to arrive at a configuration; what happens then is the same.

mod audit;
mod audited_profiles;
pub mod columns;
pub mod config;
mod definitions;
mod disk;
mod evidence;
mod failure;
pub mod files;
mod folder;
mod found;
pub mod gate;
pub mod grouped;
mod hashes;
mod in_database;
mod label;
mod listener;
mod model;
pub mod models;
mod outlook;
pub mod pack;
mod paired;
mod people;
mod prepared;
pub mod profiles;
mod readings;
mod run;
pub mod saved;
mod settings;
mod table;
mod two_passes;

pub use self::audit::Expected;
pub use self::config::Config;
pub use self::definitions::{Definitions, definitions_for, own_definitions, paper_and_own};
pub use self::failure::{Failure, FailureKind};
pub use self::in_database::{
    beside as database_beside, is_elsewhere, shown as shown_database, shown_path,
};
pub use self::listener::{Listener, Silent};
pub use self::model::{FittedElsewhere, fit};
pub use self::outlook::{GroupOutlook, Outlook, outlook};
pub use self::paired::{Kept, compare_people};
pub use self::run::{
    Behind, FromCode, TOOL, expected, run, run_keeping_people, run_to_compare, run_with, today,
};
pub use self::settings::call_settings;
pub use self::table::{Reading, RowOrder, Table};
