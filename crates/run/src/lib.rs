//! From a configuration to an audit.
//!
//! A [`Config`] is what `facts.toml`, flags or keyword arguments say. [`run`] makes an audit of it:
//! read ([`Table`]), declare (`config/declare.rs`, what is left open by `config/guess.rs`), open or
//! fit the model (`model.rs`), audit, gather evidence (`evidence/`), record. The command line, the
//! Python package and the paper's experiments are different ways to arrive at a configuration; what
//! happens then is the same.

pub mod config;
mod definitions;
mod evidence;
mod failure;
pub mod files;
mod listener;
mod model;
mod run;
pub mod saved;
mod settings;
mod table;

pub use self::config::Config;
pub use self::definitions::{own_definitions, paper_and_own};
pub use self::failure::{Failure, FailureKind};
pub use self::listener::{Listener, Silent};
pub use self::model::{FittedElsewhere, fit};
pub use self::run::{Given, TOOL, definitions_for, run, run_with};
pub use self::settings::call_settings;
pub use self::table::Table;
