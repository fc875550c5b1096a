//! The authors' way of reading effectiveness lists: a mode that nothing uses by default.
//!
//! The paper's tables were made by code that differs from the method as `facts` states it in a few
//! points. To tell such a difference from a difference in the data, this module follows that code:
//!
//! - the Trade-Off reads the cumulated list action by action, so it can stop in the middle of a cost tie,
//!   and it names a group even when the gap is 0;
//! - a budget within which there is no action gives ∞, not 0;
//! - scores are floating-point differences: one of 1e-16 is unfair, has a rank and splits a tie;
//! - the first tenth of a ranking is cut in the order in which subgroups were mined;
//! - mean ranks are rounded to one decimal before they are divided.
//!
//! It works on [`Lists`]: what the authors stored for some data sets, or what an [`Audit`] holds.

mod lists;
mod measures;
mod tables;

pub use self::lists::{Atomic, Listed, Lists, Step, order};
pub use self::measures::{Assessed, Measure};
pub use self::tables::{Column, Row, Tables};

#[cfg(doc)]
use facts_engine::Audit;
