//! Who is told what is going on, and may stop it.

use std::ops::ControlFlow;

use facts_engine::Progress;
use serde_json::Value;

use crate::failure::Failure;

/// Hears what an audit is doing, and may stop it.
pub trait Listener: Sync {
    /// A step has begun of which only the end is known.
    fn step(&self, _what: &'static str) {}

    /// A table is being read: the how-manieth of how many files, and how many rows were read so far.
    fn reading(&self, _file: usize, _files: usize, _rows: u64) {}

    /// What the engine tells of its progress.
    fn progress(&self, _progress: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The steps so far are over: whatever showed them can go.
    fn clear(&self) {}

    /// Something that the user should know.
    fn note(&self, _text: &str) {}

    /// Something that happened, for programs.
    fn event(&self, _event: &str, _more: Value) {}

    /// Fails if the user wants to stop.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }
}

impl std::fmt::Debug for dyn Listener + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Nobody listens.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Listener for Silent {}
