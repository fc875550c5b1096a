//! The FACTS method as a library: is the way out of a model's refusal as open to one group as to
//! another?
//!
//! In goes a table as Arrow record batches, a model behind a [trait](flips::Model), and
//! [`Options`]; out comes one [`Audit`], which can be asked for any definition of fairness, saved
//! and loaded. The crate knows no files, no terminal and no network.
//!
//! A whole audit, which is one of the crate's examples, beside a model and a cost of one's own:
//!
//! ```ignore
#![doc = include_str!("../examples/whole_audit.rs")]
//! ```
//!
//! The modules, in the order in which data flows: [`population`] → [`subgroups`] and [`actions`] →
//! [`flips`] → [`distribution`] → [`definitions`] → [`ranking`] → the audit → [`evidence`] →
//! [`answer`] → [`comparison`] of two audits.

pub mod actions;
pub mod answer;
mod audit;
mod bits;
mod budget;
mod chance;
pub mod comparison;
mod decimal;
pub mod definitions;
pub mod distribution;
mod error;
pub mod evidence;
pub mod flips;
mod infinity;
mod phase;
pub mod population;
pub mod ranking;
mod rows;
pub mod similar;
pub mod subgroups;
mod watch;

pub use self::audit::{
    Audit, FORMAT, Group, Individuals, Options, Searched, Seconds, SetAside, Settings, Sizes,
    Suppression, WithoutActions, audit, audit_again, audit_with_individuals, search,
};
pub use self::bits::Words;
pub use self::budget::Budget;
pub use self::decimal::{Decimal, Phi, Support};
pub use self::error::Error;
pub use self::watch::{Phase, Progress, Watch};
