//! Work that takes a while: an audit under other settings, or tests. One at a time, on a thread of its
//! own; whoever listens hears how far it is, and anybody who may ask may stop it. It does not matter to
//! the work whether anybody listens.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts_engine::Progress;
use facts_run::{Failure, Listener};
use serde::Serialize;

use crate::failure::Failed;

/// How far the last pieces of work came is remembered, of so many.
const REMEMBERED: usize = 50;

/// How far work is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// At work.
    Working {
        what: String,
        done: u64,
        total: u64,
        /// The audit whose numbers are there already, p-values not yet.
        audit: Option<usize>,
    },
    /// Done: the audit can be asked.
    Done { audit: usize },
    /// It could not be done.
    Failed { why: String },
    /// It was stopped.
    Cancelled,
}

impl Stage {
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self, Self::Working { .. })
    }
}

/// One piece of work.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: usize,
    stage: Mutex<(u64, Stage)>,
    moved: Condvar,
    cancelled: AtomicBool,
}

impl Job {
    fn new(id: usize) -> Self {
        let working = Stage::Working {
            what: "starting".to_owned(),
            done: 0,
            total: 0,
            audit: None,
        };
        Self {
            id,
            stage: Mutex::new((0, working)),
            moved: Condvar::new(),
            cancelled: AtomicBool::new(false),
        }
    }

    fn locked(&self) -> MutexGuard<'_, (u64, Stage)> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is.
    pub(crate) fn stage(&self) -> Stage {
        self.locked().1.clone()
    }

    fn set(&self, change: impl FnOnce(&mut Stage)) {
        let mut stage = self.locked();
        change(&mut stage.1);
        stage.0 += 1;
        self.moved.notify_all();
    }

    /// The numbers of an audit are there.
    pub(crate) fn numbers(&self, key: usize) {
        self.set(|stage| {
            if let Stage::Working { audit, .. } = stage {
                *audit = Some(key);
            }
        });
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Waits until the stage is another than the one numbered so, for a while at most.
    pub(crate) fn next(&self, seen: u64, wait: Duration) -> (u64, Stage) {
        let stage = self.locked();
        let same = |stage: &mut (u64, Stage)| stage.0 == seen && !stage.1.is_over();
        let waited = self.moved.wait_timeout_while(stage, wait, same);
        let (stage, _) = waited.unwrap_or_else(PoisonError::into_inner);
        stage.clone()
    }
}

impl Listener for Job {
    fn step(&self, now: &'static str) {
        self.set(|stage| {
            if let Stage::Working {
                what, done, total, ..
            } = stage
            {
                (*what, *done, *total) = (now.to_owned(), 0, 0);
            }
        });
    }

    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        if self.is_cancelled() {
            return ControlFlow::Break(());
        }
        self.set(|stage| {
            if let Stage::Working {
                what, done, total, ..
            } = stage
            {
                *what = progress.phase.to_string();
                (*done, *total) = (progress.done, progress.total);
            }
        });
        ControlFlow::Continue(())
    }

    fn check(&self) -> Result<(), Failure> {
        match self.is_cancelled() {
            true => Err(Failure::interrupted()),
            false => Ok(()),
        }
    }
}

/// The last work, finished or not.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    jobs: VecDeque<Arc<Job>>,
    /// The number of the next.
    next: usize,
}

impl Jobs {
    fn locked(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work that ends with the key of an audit; refuses while there is other work.
    pub(crate) fn start(
        &self,
        work: impl FnOnce(&Job) -> Result<usize, Failed> + Send + 'static,
    ) -> Result<Arc<Job>, Failed> {
        let mut last = self.locked();
        if (last.jobs.back()).is_some_and(|job| !job.stage().is_over()) {
            return Err(Failed::conflict(
                "something is being worked out already; wait for it, or cancel it",
            ));
        }
        let job = Arc::new(Job::new(last.next));
        let working = Arc::clone(&job);
        let spawned = std::thread::Builder::new().spawn(move || {
            let ended = match work(&working) {
                _ if working.is_cancelled() => Stage::Cancelled,
                Ok(audit) => Stage::Done { audit },
                Err(failed) => Stage::Failed { why: failed.why },
            };
            working.set(|stage| *stage = ended);
        });
        spawned.map_err(|error| Failed::internal(error.to_string()))?;
        last.next += 1;
        if last.jobs.len() == REMEMBERED {
            last.jobs.pop_front();
        }
        last.jobs.push_back(Arc::clone(&job));
        Ok(job)
    }

    /// A piece of work by its number.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Job>, Failed> {
        let wanted = id.parse::<usize>().ok();
        let last = self.locked();
        let mut jobs = last.jobs.iter();
        jobs.find(|job| Some(job.id) == wanted)
            .cloned()
            .ok_or_else(|| Failed::unknown(format!("there is no job `{id}`")))
    }

    /// The work that is going on, if any.
    pub(crate) fn current(&self) -> Option<Arc<Job>> {
        let last = self.locked();
        last.jobs
            .back()
            .filter(|last| !last.stage().is_over())
            .cloned()
    }

    /// Stops what is going on, and waits for it a little.
    pub(crate) fn stop(&self, patience: Duration) {
        let Some(job) = self.current() else { return };
        job.cancel();
        let until = Instant::now() + patience;
        while !job.stage().is_over() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
