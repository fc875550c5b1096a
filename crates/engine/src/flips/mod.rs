//! Flips: whom does which change help?
//!
//! A flip depends on the person and the change only, not on the subgroup in which the question
//! came up. So each change is decided once for every profile that any subgroup needs, and the
//! answers are kept as a set of profiles; all subgroups read the same sets.

mod asking;
mod building;
mod counterfactuals;
mod model;
mod moves;
mod packing;
mod parts;

pub(crate) use self::asking::Asking;
pub use self::counterfactuals::{Assigned, Counterfactuals};
pub use self::model::{Favourable, FnModel, Model};
pub use crate::error::ModelError;
