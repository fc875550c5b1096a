//! What an audit found, for people to read.
//!
//! The engine counts; this crate only says. A [`Record`] is an audit with where it comes from, as it
//! is saved. A [`Report`] is a record under the definitions asked for; every form of report is one
//! file that starts from it and one line in [`FORMS`]. A [`Csc`] is the comparative subgroup
//! counterfactual of one subgroup under one definition, which all forms show.

pub mod answer;
mod ask;
mod conditions;
mod csc;
pub mod csv;
pub mod diff;
pub mod evidence;
mod finding;
mod forms;
pub mod gaps;
mod grid;
mod html;
mod impact;
pub mod json;
pub mod markdown;
mod memory;
pub mod models;
pub mod overview;
pub mod parquet;
pub mod person;
mod record;
mod report;
pub mod sheets;
pub mod text;
pub mod views;

pub use self::ask::{AskError, Choice};
pub use self::conditions::Conditions;
pub use self::csc::{Condition, Csc, CscAction, CscGroup};
pub use self::diff::Diff;
pub use self::finding::finding_id;
pub use self::forms::{FORMS, Form};
pub use self::grid::{Grid, Side};
pub use self::html::{html, plot, plot_marks, plot_style};
pub use self::impact::{Impact, ImpactRow, ImpactTable};
pub use self::memory::Size;
pub use self::record::{
    BaseRate, BaseRates, EARLIEST_VERSION, FileOrigin, ModelOrigin, Origin, Record, Stored,
    TrainingNote, VERSION,
};
pub use self::report::{Column, HEADLINES, Order, Report, Showing};
