//! Any program as a model: rows on its standard input, answers on its standard output.
//!
//! A program is started once a worker and kept. It reads one Arrow IPC stream, and for each record
//! batch in it writes one record batch with one column, one value a row; a line-based CSV form is
//! there for languages without Arrow. The whole protocol is in `docs/models-exec.md`.
//!
//! A program that dies is started again and asked the same batch once more, because an audit of
//! hours should not be lost to one killed process; if it dies again, that is an error with its exit
//! status and its last words. A time-out or a wrong answer is an error at once. After an error the
//! model can still be asked: the next batch gets a new process.

pub(crate) mod wire;
mod words;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::Dictionaries;
use facts_guard::secret;

pub use self::wire::Wire;
pub(crate) use self::words::split as words;
pub use self::worker::stop_programs;
use self::worker::{Failure, Worker};
use crate::answer;
use crate::asking::{self, Asking};
use crate::cells;
use crate::error::OpenError;
use crate::open::{Format, OpenOptions, Opened};

pub(crate) const FORMAT: Format = Format {
    prefix: "exec",
    usage: "python predict.py",
    about: "any program; rows and answers as Arrow IPC streams (docs/models-exec.md)",
    recognises: None,
    open: |rest, options| open(rest, Wire::Arrow, options),
};

pub(crate) const CSV_FORMAT: Format = Format {
    prefix: "exec-csv",
    usage: "Rscript predict.R",
    about: "any program; rows and answers as CSV (docs/models-exec.md)",
    recognises: None,
    open: |rest, options| open(rest, Wire::Csv, options),
};

/// How many rows a batch has at most, unless said otherwise: enough to make the way there and back
/// cheap, few enough that several workers get something to do.
const BATCH_ROWS: usize = 8192;
/// How many processes there are at most, unless said otherwise: each holds a copy of the model.
const WORKERS: usize = 4;

/// A program that answers batches of rows.
pub struct ExecModel {
    /// What is run, secrets included.
    command: Vec<String>,
    /// The command as it may be shown.
    shown: String,
    wire: Wire,
    /// There are no more processes than workers.
    asking: Asking,
    idle: Mutex<Vec<Worker>>,
    batches: AtomicU64,
}

impl ExecModel {
    /// Starts one process, to see whether the command can be run at all; the others are started
    /// when there is work for them.
    ///
    /// `command` is split at blanks as a shell would, but there is no shell: no variables,
    /// wildcards or pipes. Of the options `threshold`, `columns`, `timeout`, `workers` and
    /// `batch_rows` are heeded.
    pub fn start(command: &str, wire: Wire, options: &OpenOptions) -> Result<Self, OpenError> {
        let unavailable = |why: String| {
            OpenError::Unavailable(format!(
                "the command `{}` cannot be run: {why}",
                shown(command.trim())
            ))
        };
        let words = words::split(command).map_err(&unavailable)?;
        if words.first().is_none_or(String::is_empty) {
            return Err(unavailable(
                "it is empty; write it like exec:python predict.py".to_owned(),
            ));
        }
        let first = Worker::start(&words, wire).map_err(|error| {
            let remedy = match error.kind() {
                std::io::ErrorKind::NotFound => "; is the program installed and in the PATH?",
                std::io::ErrorKind::PermissionDenied => {
                    "; make the file executable, or name the interpreter, like exec:python predict.py"
                }
                _ => "",
            };
            unavailable(format!("{error}{remedy}"))
        })?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            shown: secret::hidden_words(&words).join(" "),
            command: words,
            wire,
            asking: Asking::new(options, cores.min(WORKERS), BATCH_ROWS),
            idle: Mutex::new(vec![first]),
            batches: AtomicU64::new(0),
        })
    }

    /// Has one batch answered by one process.
    fn ask(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let batch = self.batches.fetch_add(1, Ordering::Relaxed) + 1;
        self.asking.slots.with(|| {
            let mut is_second_try = false;
            loop {
                // The second try is not for another idle one: what ended it may have ended all.
                let mut worker = if is_second_try {
                    self.start_worker()?
                } else {
                    self.worker(rows)?
                };
                match worker.ask(rows, self.asking.timeout) {
                    Ok(answer) => {
                        self.idle().push(worker);
                        return Ok(answer);
                    }
                    Err(Failure::Ended(_)) if !is_second_try => is_second_try = true,
                    Err(Failure::Ended(how)) => {
                        return Err(ModelError::Failed(format!(
                            "`{}` ended before it had answered batch {batch} of {} rows, and so it did when it was started again and asked the same {}",
                            self.shown,
                            rows.num_rows(),
                            self.without_secrets(&how),
                        )));
                    }
                    Err(Failure::Failed(ModelError::Failed(why))) => {
                        let why = self.without_secrets(&why);
                        return Err(ModelError::Failed(format!("`{}`: {why}", self.shown)));
                    }
                    Err(Failure::Failed(error)) => return Err(error),
                }
            }
        })
    }

    /// A process for rows of this schema: an idle one, or a new one.
    fn worker(&self, rows: &RecordBatch) -> Result<Worker, ModelError> {
        let idle = self.idle().pop();
        // One that has begun a stream of another schema ends here.
        match idle.filter(|worker| worker.takes(rows)) {
            Some(worker) => Ok(worker),
            None => self.start_worker(),
        }
    }

    fn start_worker(&self) -> Result<Worker, ModelError> {
        Worker::start(&self.command, self.wire).map_err(|error| {
            ModelError::Failed(format!("`{}` cannot be started: {error}", self.shown))
        })
    }

    /// What the program said: it may repeat what it was given.
    fn without_secrets(&self, said: &str) -> String {
        asking::without(said, secret::secrets_of_words(&self.command))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The script behind the command, for a hash in reports: its first word after the program that
    /// is a file, or else the program.
    fn file(&self) -> Option<PathBuf> {
        let (program, arguments) = self.command.split_first()?;
        let mut files = arguments.iter().chain([program]).map(Path::new);
        files.find(|path| path.is_file()).map(Path::to_owned)
    }
}

impl Model for ExecModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        // Not every Arrow library reads dictionaries.
        let simple = match self.wire {
            Wire::Arrow => cells::plain,
            Wire::Csv => cells::numbered,
        };
        self.asking.predict(
            rows,
            simple,
            |part| self.ask(part),
            |answer| match self.wire {
                Wire::Arrow => answer,
                Wire::Csv => answer::numbers_if_all(answer),
            },
        )
    }

    fn concurrency(&self) -> usize {
        self.asking.workers
    }

    fn dictionaries(&self) -> Dictionaries {
        match self.wire {
            Wire::Arrow => Dictionaries::None,
            Wire::Csv => Dictionaries::All,
        }
    }
}

impl Drop for ExecModel {
    fn drop(&mut self) {
        // All are told before the first is waited for, so that they end at the same time.
        self.idle().iter_mut().for_each(Worker::close);
    }
}

/// A command as it may be shown: as it was written, unless a word in it looks like a secret.
pub(crate) fn shown(command: &str) -> String {
    let Ok(words) = words::split(command) else {
        return secret::hidden(command);
    };
    let shown = secret::hidden_words(&words);
    match shown == words {
        true => command.to_owned(),
        false => words::join(&shown),
    }
}

fn open(rest: &str, wire: Wire, options: &OpenOptions) -> Result<Opened, OpenError> {
    let model = ExecModel::start(rest, wire, options)?;
    Ok(Opened {
        inputs: None,
        description: format!(
            "program `{}`, {} workers",
            shown(rest.trim()),
            model.asking.workers
        ),
        file: model.file(),
        model: Box::new(model),
    })
}
