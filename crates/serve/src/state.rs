//! What the server holds: the audits, and what was worked out about them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use facts_report::Diff;

use crate::desk::Held;
use crate::failure::Failed;
use crate::jobs::Jobs;
use crate::workbench::Workbench;

/// What the server holds.
pub(crate) struct State {
    audits: RwLock<Vec<Arc<Held>>>,
    /// Comparisons that were made, by the places of the two audits.
    diffs: Mutex<HashMap<(usize, usize), Arc<Diff>>>,
    /// What audits can be made with, if it is at hand.
    pub(crate) bench: Option<Workbench>,
    pub(crate) jobs: Jobs,
}

impl State {
    pub(crate) fn new(audits: Vec<Held>, bench: Option<Workbench>) -> Self {
        Self {
            audits: RwLock::new(audits.into_iter().map(Arc::new).collect()),
            diffs: Mutex::default(),
            bench,
            jobs: Jobs::default(),
        }
    }

    /// Adds an audit; its key.
    pub(crate) fn add(&self, held: Held) -> usize {
        let mut audits = self.audits.write().unwrap_or_else(PoisonError::into_inner);
        audits.push(Arc::new(held));
        audits.len() - 1
    }

    /// Puts an audit in the place of another; its key.
    pub(crate) fn replace(&self, key: usize, held: Held) -> usize {
        let mut audits = self.audits.write().unwrap_or_else(PoisonError::into_inner);
        audits[key] = Arc::new(held);
        drop(audits);
        let mut diffs = self.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        diffs.retain(|&(old, new), _| old != key && new != key);
        key
    }

    /// What audits can be made with.
    pub(crate) fn bench(&self) -> Result<&Workbench, Failed> {
        let missing = "a saved audit cannot be made again; start with --config";
        self.bench.as_ref().ok_or_else(|| Failed::conflict(missing))
    }

    /// All audits, in the order in which they came.
    pub(crate) fn audits(&self) -> Vec<Arc<Held>> {
        let audits = self.audits.read().unwrap_or_else(PoisonError::into_inner);
        audits.clone()
    }

    /// An audit by its key: its place.
    pub(crate) fn audit(&self, key: &str) -> Result<Arc<Held>, Failed> {
        let place = key.parse::<usize>().ok();
        let held = place.and_then(|place| self.audits().get(place).cloned());
        held.ok_or_else(|| Failed::unknown(format!("there is no audit `{key}`")))
    }

    /// Two audits compared by the definitions of the older.
    pub(crate) fn diff(&self, old: &str, new: &str) -> Result<Arc<Diff>, Failed> {
        let (was, is) = (self.audit(old)?, self.audit(new)?);
        let place = |key: &str| key.parse().unwrap_or(usize::MAX);
        let key = (place(old), place(new));
        let known = || self.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(diff) = known().get(&key) {
            return Ok(Arc::clone(diff));
        }
        let diff = Diff::new(&was.record, &is.record, &was.record.definitions)?;
        let diff = Arc::new(diff);
        known().insert(key, Arc::clone(&diff));
        Ok(diff)
    }
}
