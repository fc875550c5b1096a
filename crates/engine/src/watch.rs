//! Progress out, cancellation in.

use std::fmt;
use std::ops::ControlFlow;

use crate::error::Error;
pub use crate::phase::Phase;

/// How far a phase has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase at work.
    pub phase: Phase,
    /// Units done: rows, items, subgroups or changes, as the phase counts.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

type Callback<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// Who watches an audit: told of progress, free to stop it.
///
/// The callback may run on any thread. Returning [`ControlFlow::Break`] ends the audit with
/// [`Error::Cancelled`] before the next batch.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    callback: Option<&'a Callback<'a>>,
}

impl<'a> Watch<'a> {
    /// Nobody watches.
    pub const fn nobody() -> Self {
        Self { callback: None }
    }

    /// Calls `callback` with each step of progress.
    pub fn new(callback: &'a Callback<'a>) -> Self {
        Self {
            callback: Some(callback),
        }
    }

    /// Reports progress; an error if the watcher wants the audit to stop.
    pub(crate) fn tell(&self, phase: Phase, done: u64, total: u64) -> Result<(), Error> {
        match self
            .callback
            .map(|tell| tell(Progress { phase, done, total }))
        {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled(phase)),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("watched", &self.callback.is_some())
            .finish()
    }
}
