//! What an audit found, for people to read.
//!
//! The engine counts; this crate only says. A [`Csc`] is the comparative subgroup counterfactual of
//! one subgroup under one definition, as data; [`text`] writes it as plain text. Another form of
//! report is another file that reads the same data.

mod csc;
pub mod text;

pub use self::csc::{Csc, CscGroup, Recourse};
