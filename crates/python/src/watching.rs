//! Work without the GIL, that tells of its progress, asks back, and can be interrupted.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use facts_engine::{Phase, Progress};
use facts_run::{Failure, Listener};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often Ctrl-C is looked for, and how often progress is told.
const BEAT: Duration = Duration::from_millis(50);

/// Tells a Python function of progress, and stops when asked to.
pub(crate) struct Watching {
    tell: Option<Py<PyAny>>,
    stop: AtomicBool,
    told: Mutex<Option<(Phase, Instant)>>,
    interrupted: Mutex<Option<PyErr>>,
}

impl Watching {
    pub(crate) fn new(tell: Option<Py<PyAny>>) -> Self {
        Self {
            tell,
            stop: AtomicBool::new(false),
            told: Mutex::new(None),
            interrupted: Mutex::new(None),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stops the work, and keeps why.
    fn interrupt(&self, why: PyErr) {
        self.stop.store(true, Ordering::Relaxed);
        let mut interrupted = self
            .interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        interrupted.get_or_insert(why);
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

/// Whether an exception ends programs rather than says that something went wrong: Ctrl-C, `sys.exit`.
pub(crate) fn ends_programs(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}

impl Listener for Watching {
    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        if let Some(tell) = &self.tell
            && self.is_due(progress)
        {
            Python::attach(|py| {
                let (phase, done, total) =
                    (progress.phase.to_string(), progress.done, progress.total);
                // A bar that cannot be drawn is no reason to stop.
                if let Err(error) = tell.call1(py, (phase, done, total))
                    && ends_programs(py, &error)
                {
                    self.interrupt(error);
                }
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

/// Something that must be done on the thread that Python called from.
pub(crate) type Errand = Box<dyn FnOnce(Python<'_>) + Send>;

/// How work on other threads has something done by the thread that Python called from: a model may
/// rest on what belongs to that thread.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Sender<Option<Errand>>);

impl Caller {
    /// Has something done there, and waits for it; `None` if nobody is there any more.
    pub(crate) fn have<T: Send + 'static>(
        &self,
        errand: impl FnOnce(Python<'_>) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, wait) = channel();
        let errand: Errand = Box::new(move |py| {
            // Whoever asked waits for the answer.
            let _ = answer.send(errand(py));
        });
        self.0.send(Some(errand)).ok()?;
        wait.recv().ok()
    }
}

/// Errands, as they come in.
pub(crate) struct Errands(Receiver<Option<Errand>>);

/// A way to have things done by the caller, and where they come in.
pub(crate) fn errands() -> (Caller, Errands) {
    let (send, receive) = channel();
    (Caller(send), Errands(receive))
}

/// Runs work on other threads with the GIL released. Meanwhile this one runs errands and looks for
/// Ctrl-C, which only the thread that Python calls from can notice; the work then stops before its
/// next batch.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    watching: &Watching,
    (caller, errands): (Caller, Errands),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    py.detach(move || {
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(work)));
                // The other side listens until this.
                let _ = caller.0.send(None);
                result
            });
            loop {
                match errands.0.recv_timeout(BEAT) {
                    Ok(Some(errand)) => Python::attach(errand),
                    Ok(None) | Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(signal) = Python::attach(|py| py.check_signals()) {
                            watching.interrupt(signal);
                        }
                    }
                }
            }
            let result = worker.join().and_then(|result| result);
            let mut interrupted =
                (watching.interrupted.lock()).unwrap_or_else(PoisonError::into_inner);
            match (interrupted.take(), result) {
                (Some(signal), _) => Err(signal),
                (None, Ok(result)) => Ok(result),
                (None, Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    })
}

/// The threads that work. A process that was forked has none of its parent's, and makes its own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((made_by, pool)) = kept.as_ref()
        && *made_by == process
    {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().build();
    let pool = Arc::new(pool.map_err(|error| PyException::new_err(error.to_string()))?);
    if let Some((_, lost)) = kept.replace((process, pool.clone())) {
        // Its threads are the parent's: ending them here would wait for ever.
        std::mem::forget(lost);
    }
    Ok(pool)
}

/// Runs work that is soon done on the threads that work, with the GIL released.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}
