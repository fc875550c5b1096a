//! Models that an audit can question, one file a format.
//!
//! Every format implements the engine's [`Model`](facts_engine::flips::Model) trait. A Rust closure
//! over a batch needs nothing from here: the engine's own
//! [`FnModel`](facts_engine::flips::FnModel) wraps it.

mod additive;
mod error;
mod open;

pub use self::additive::{AdditiveModel, Unseen};
pub use self::error::OpenError;
pub use self::open::{FORMATS, Format, Input, InputKind, OpenOptions, Opened, open};
