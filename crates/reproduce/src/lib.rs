//! The paper's experiments: what was printed, and ours beside theirs.
//!
//! [`experiments`] holds the authors' set-up of each data set as a configuration of `facts`, and [`Run`]
//! makes an audit of it; [`published`] is what the paper prints about it; [`authors`] has the ways in which
//! the authors' code differs from the method, kept apart from the engine; [`compare()`] puts an audit
//! beside print, cell by cell; and [`document`] writes that down, for the terminal and as Markdown.

pub mod authors;
mod compare;
pub mod document;
pub mod experiments;
pub mod published;
mod run;
pub mod tables;

pub use self::compare::{
    ActionBeside, AggregatedBeside, Agreement, Cell, Comparison, CountRow, CscBeside,
    RankingBeside, RankingRowBeside, ScoreBeside, ShownBeside, compare,
};
pub use self::experiments::{EXPERIMENTS, Experiment, Variant};
pub use self::run::{Reproduction, Run};
