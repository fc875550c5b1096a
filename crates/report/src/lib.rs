//! What an audit found, for people to read.
//!
//! The engine counts; this crate only says. A [`Csc`] is the comparative subgroup counterfactual of
//! one subgroup under one definition, as data; [`text`] writes it as plain text. Another form of
//! report is another file that reads the same data.

mod csc;
mod record;
mod report;
pub mod text;

pub use self::csc::{Csc, CscGroup, Recourse};
pub use self::record::{BaseRate, BaseRates, ModelOrigin, Origin, Record, TrainingNote, VERSION};
pub use self::report::{Column, Report};
