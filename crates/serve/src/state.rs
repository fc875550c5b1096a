//! What the server holds: the audits, and what was worked out about them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use facts_report::Diff;

use crate::desk::{Held, Source};
use crate::failure::Failed;
use crate::jobs::{Jobs, Stage};
use crate::workbench::Workbench;

/// At most so many audits: each holds its people and a thread.
pub(crate) const MOST: usize = 50;

/// So many comparisons are remembered.
const REMEMBERED: usize = 20;

/// All audits, by their keys.
#[derive(Default)]
struct Audits {
    held: BTreeMap<usize, Arc<Held>>,
    /// The key of the next. None is given twice: an old link leads to no other audit.
    next: usize,
}

/// What the server holds.
pub(crate) struct State {
    audits: RwLock<Audits>,
    /// Comparisons that were made, by the keys of the two audits.
    diffs: Mutex<HashMap<(usize, usize), Arc<Diff>>>,
    /// What audits can be made with, if it is at hand.
    pub(crate) bench: Option<Workbench>,
    pub(crate) jobs: Jobs,
}

impl State {
    pub(crate) fn new(audits: Vec<Held>, bench: Option<Workbench>) -> Self {
        let held = audits.into_iter().map(Arc::new).enumerate();
        let held: BTreeMap<usize, Arc<Held>> = held.collect();
        let next = held.len();
        Self {
            audits: RwLock::new(Audits { held, next }),
            diffs: Mutex::default(),
            bench,
            jobs: Jobs::default(),
        }
    }

    fn reading(&self) -> RwLockReadGuard<'_, Audits> {
        self.audits.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> RwLockWriteGuard<'_, Audits> {
        self.audits.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn diffs(&self) -> MutexGuard<'_, HashMap<(usize, usize), Arc<Diff>>> {
        self.diffs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets how an audit compares with others.
    fn forget(&self, key: usize) {
        self.diffs()
            .retain(|&(old, new), _| old != key && new != key);
    }

    /// Refuses one audit more where there are too many.
    pub(crate) fn check_room(&self) -> Result<(), Failed> {
        match self.reading().held.len() < MOST {
            true => Ok(()),
            false => Err(Failed::conflict(format!(
                "there are {MOST} audits already; remove a what-if that is no longer needed"
            ))),
        }
    }

    /// Adds an audit; its key.
    pub(crate) fn add(&self, held: Held) -> usize {
        let mut audits = self.writing();
        let key = audits.next;
        audits.next += 1;
        audits.held.insert(key, Arc::new(held));
        key
    }

    /// Puts an audit in the place of another; its key.
    pub(crate) fn replace(&self, key: usize, held: Held) -> Result<usize, Failed> {
        match self.writing().held.get_mut(&key) {
            Some(place) => *place = Arc::new(held),
            None => return Err(Failed::unknown(format!("audit `{key}` was removed"))),
        }
        self.forget(key);
        Ok(key)
    }

    /// Removes a what-if, and stops its audit where that is still being made. What the command line named stays.
    pub(crate) fn remove(&self, key: &str) -> Result<(), Failed> {
        let held = self.audit(key)?;
        let key = self.key(key)?;
        if key == 0 || !matches!(held.source, Source::Made { .. }) {
            return Err(Failed::conflict(
                "only a what-if can be removed; this audit is what the command line named",
            ));
        }
        if let Some(job) = self.jobs.current()
            && matches!(job.stage(), Stage::Working { audit: Some(audit), .. } if audit == key)
        {
            job.cancel();
        }
        self.writing().held.remove(&key);
        self.forget(key);
        Ok(())
    }

    /// What audits can be made with.
    pub(crate) fn bench(&self) -> Result<&Workbench, Failed> {
        let missing = "a saved audit cannot be made again; start with --config";
        self.bench.as_ref().ok_or_else(|| Failed::conflict(missing))
    }

    /// All audits with their keys, in the order in which they came.
    pub(crate) fn audits(&self) -> Vec<(usize, Arc<Held>)> {
        let held = &self.reading().held;
        held.iter()
            .map(|(&key, one)| (key, Arc::clone(one)))
            .collect()
    }

    /// The key of an audit, as a number.
    pub(crate) fn key(&self, key: &str) -> Result<usize, Failed> {
        let known = |key: &usize| self.reading().held.contains_key(key);
        let found = key.parse().ok().filter(known);
        found.ok_or_else(|| Failed::unknown(format!("there is no audit `{key}`")))
    }

    /// An audit by its key.
    pub(crate) fn audit(&self, key: &str) -> Result<Arc<Held>, Failed> {
        let number = self.key(key)?;
        let held = self.reading().held.get(&number).cloned();
        held.ok_or_else(|| Failed::unknown(format!("there is no audit `{key}`")))
    }

    /// Two audits compared by the definitions of the older.
    pub(crate) fn diff(&self, old: &str, new: &str) -> Result<Arc<Diff>, Failed> {
        let (was, is) = (self.audit(old)?, self.audit(new)?);
        let key = (self.key(old)?, self.key(new)?);
        if let Some(diff) = self.diffs().get(&key) {
            return Ok(Arc::clone(diff));
        }
        let diff = Diff::new(&was.record, &is.record, &was.record.definitions)?;
        let diff = Arc::new(diff);
        let mut known = self.diffs();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, Arc::clone(&diff));
        Ok(diff)
    }
}
