//! Work without the GIL, that tells of its progress and can be interrupted.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use facts_engine::{Phase, Progress};
use facts_run::{Failure, Listener};
use pyo3::prelude::*;

/// How often Ctrl-C is looked for, and how often progress is told.
const BEAT: Duration = Duration::from_millis(50);

/// Tells a Python function of progress, and stops when asked to.
pub(crate) struct Watching {
    tell: Option<Py<PyAny>>,
    stop: AtomicBool,
    told: Mutex<Option<(Phase, Instant)>>,
}

impl Watching {
    pub(crate) fn new(tell: Option<Py<PyAny>>) -> Self {
        Self {
            tell,
            stop: AtomicBool::new(false),
            told: Mutex::new(None),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether this step is worth telling: the first and the last of a phase, and now and then one.
    fn is_due(&self, progress: Progress) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let due = match *told {
            Some((phase, at)) => {
                phase != progress.phase || at.elapsed() > BEAT || progress.done == progress.total
            }
            None => true,
        };
        if due {
            *told = Some((progress.phase, Instant::now()));
        }
        due
    }
}

impl Listener for Watching {
    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        if let Some(tell) = &self.tell
            && self.is_due(progress)
        {
            // A bar that cannot be drawn is no reason to stop.
            let _ = Python::attach(|py| {
                let (phase, done, total) =
                    (progress.phase.to_string(), progress.done, progress.total);
                tell.call1(py, (phase, done, total)).map(|_| ())
            });
        }
        if self.is_stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if self.is_stopped() {
            return Err(Failure::interrupted());
        }
        Ok(())
    }
}

/// Runs work on another thread with the GIL released, while this one looks for Ctrl-C: only the
/// thread that Python calls from can notice it. The work then stops before its next batch.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    watching: &Watching,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel();
            let worker = scope.spawn(move || {
                let result = work();
                // The other side waits until this thread ends, so somebody receives it.
                let _ = done.send(());
                result
            });
            let mut interrupted = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(BEAT) {
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    watching.stop.store(true, Ordering::Relaxed);
                    interrupted = Some(signal);
                }
            }
            let result = worker.join();
            match (interrupted, result) {
                (Some(signal), _) => Err(signal),
                (None, Ok(result)) => Ok(result),
                (None, Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    })
}
