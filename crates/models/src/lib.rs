//! Models that an audit can question, one file a format.
//!
//! Every format implements the engine's [`Model`](facts_engine::flips::Model) trait. A Rust closure
//! over a batch needs nothing from here: the engine's own
//! [`FnModel`](facts_engine::flips::FnModel) wraps it.

mod additive;
mod answer;
mod asking;
mod cells;
mod columns;
mod error;
mod exec;
mod http;
mod lightgbm;
#[cfg(feature = "onnx")]
mod onnx;
mod open;
#[doc(hidden)]
pub mod outside;
mod remember;
mod spec;
pub mod train;
mod trees;
mod xgboost;

pub use self::additive::{AdditiveModel, Unseen};
pub use self::columns::{Fit, MissingColumn, Respelled, UnseenValues, WrongType, input_of};
pub use self::error::OpenError;
pub use self::exec::{ExecModel, Wire, stop_programs};
pub use self::http::{Headers, HttpModel};
#[cfg(feature = "onnx")]
pub use self::onnx::{OnnxModel, Parity};
pub use self::open::{FORMATS, Format, Input, InputKind, OpenOptions, Opened, Spelling};
pub use self::remember::{RememberError, Remembering};
pub use self::spec::{ModelSpec, open};
pub use self::trees::TreeModel;
