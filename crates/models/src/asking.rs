//! Asking a model in another process: in parts of limited size, a few at the same time, each within a
//! time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::ModelError;
use facts_guard::secret;

use crate::answer;
use crate::cells;
use crate::open::OpenOptions;

/// How long a part may take, unless said otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A shorter secret hides nothing, and may be part of any word.
const SHORTEST_SECRET: usize = 4;

/// What a model in another process said, without secrets that it was given.
pub(crate) fn without<'s>(said: &str, given: impl IntoIterator<Item = &'s str>) -> String {
    let given = given.into_iter();
    let given: Vec<&str> = given.filter(|s| s.len() >= SHORTEST_SECRET).collect();
    secret::hidden_in_urls(&secret::without(said, &given))
}

/// How a model in another process is asked.
pub(crate) struct Asking {
    threshold: Option<f64>,
    columns: BTreeMap<String, String>,
    part_rows: usize,
    /// How long a part may take.
    pub(crate) timeout: Duration,
    /// How many parts may be out at the same time.
    pub(crate) workers: usize,
    /// No more at the same time than workers, however many threads ask.
    pub(crate) slots: Slots,
}

impl Asking {
    /// As the options say, or else with so many workers and rows a part.
    pub(crate) fn new(options: &OpenOptions, workers: usize, part_rows: usize) -> Self {
        let workers = options.workers.unwrap_or(workers).max(1);
        Self {
            threshold: options.threshold,
            columns: options.columns.clone(),
            part_rows: options.batch_rows.unwrap_or(part_rows),
            timeout: options.timeout.unwrap_or(TIMEOUT),
            workers,
            slots: Slots::new(workers),
        }
    }

    /// The class of each row, given in columns that `simple` makes: `ask` has one part answered, and `read` makes
    /// of all answers together what can be compared with a threshold.
    pub(crate) fn predict(
        &self,
        rows: &RecordBatch,
        simple: fn(&str, &ArrayRef) -> Result<ArrayRef, ModelError>,
        ask: impl Fn(&RecordBatch) -> Result<ArrayRef, ModelError> + Sync,
        read: impl FnOnce(ArrayRef) -> ArrayRef,
    ) -> Result<ArrayRef, ModelError> {
        let rows = cells::as_the_model_calls_them(rows, &self.columns, simple)?;
        let answer = in_parts(&rows, self.part_rows, self.workers, ask)?;
        answer::classes(read(answer), self.threshold)
    }
}

/// Has `rows` answered in parts of at most `part_rows`, up to `at_once` at the same time.
///
/// After a failure no further part is begun; the failure of the first part that failed is given.
fn in_parts(
    rows: &RecordBatch,
    part_rows: usize,
    at_once: usize,
    ask: impl Fn(&RecordBatch) -> Result<ArrayRef, ModelError> + Sync,
) -> Result<ArrayRef, ModelError> {
    let part_rows = part_rows.max(1);
    let parts = rows.num_rows().div_ceil(part_rows);
    match parts {
        0 => return Ok(Arc::new(BooleanArray::from(Vec::<bool>::new()))),
        1 => return ask(rows),
        _ => {}
    }
    let answers = in_turn(parts, at_once, |i| {
        let start = i * part_rows;
        ask(&rows.slice(start, part_rows.min(rows.num_rows() - start)))
    })?;
    joined(&answers)
}

/// Does so many things in order, up to `at_once` at the same time.
///
/// After a failure no further one is begun; the first failure, in their order, is given.
pub(crate) fn in_turn<T: Send + Sync>(
    things: usize,
    at_once: usize,
    work: impl Fn(usize) -> Result<T, ModelError> + Sync,
) -> Result<Vec<T>, ModelError> {
    let done: Vec<OnceLock<Result<T, ModelError>>> = (0..things).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = done.get(i) else { return };
            let result = work(i);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            // Each place is handed out once.
            let _ = slot.set(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..at_once.min(things) {
            scope.spawn(work);
        }
        work();
    });
    // They are begun in order, so whatever was not begun comes after a failure.
    done.into_iter().map_while(OnceLock::into_inner).collect()
}

fn joined(answers: &[ArrayRef]) -> Result<ArrayRef, ModelError> {
    let parts: Vec<&dyn Array> = answers.iter().map(AsRef::as_ref).collect();
    let first = parts[0].data_type();
    if let Some(other) = parts.iter().find(|part| part.data_type() != first) {
        return Err(ModelError::Failed(format!(
            "it answered some rows with values of type {first} and others with {}; all answers must be of one type",
            other.data_type()
        )));
    }
    arrow_select::concat::concat(&parts).map_err(|error| ModelError::Failed(error.to_string()))
}

/// How many may do something at the same time.
pub(crate) struct Slots {
    free: Mutex<usize>,
    freed: std::sync::Condvar,
}

impl Slots {
    /// Room for so many.
    fn new(slots: usize) -> Self {
        Self {
            free: Mutex::new(slots.max(1)),
            freed: std::sync::Condvar::new(),
        }
    }

    /// Waits for room and does it.
    pub(crate) fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Gives the place back even if the work panics.
        struct Taken<'a>(&'a Slots);
        impl Drop for Taken<'_> {
            fn drop(&mut self) {
                *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                self.0.freed.notify_one();
            }
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self
            .freed
            .wait_while(free, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        drop(free);
        let _taken = Taken(self);
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    #[test]
    fn parts_are_put_together_in_order() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let rows = RecordBatch::try_from_iter([("n", Arc::clone(&numbers))]).unwrap();
        let echo = |rows: &RecordBatch| Ok(Arc::clone(rows.column(0)));
        for (part_rows, at_once) in [(1, 4), (7, 3), (999, 2), (1000, 1), (5000, 9)] {
            let answer = in_parts(&rows, part_rows, at_once, echo).unwrap();
            assert_eq!(&answer, &numbers, "{part_rows} {at_once}");
        }
        let failing = |rows: &RecordBatch| {
            let first = rows.column(0).as_primitive::<Int64Type>().value(0);
            if first >= 500 {
                return Err(ModelError::Failed(first.to_string()));
            }
            echo(rows)
        };
        let error = in_parts(&rows, 100, 4, failing).unwrap_err();
        assert_eq!(error, ModelError::Failed("500".to_owned()));
        let nobody = rows.slice(0, 0);
        assert_eq!(in_parts(&nobody, 100, 4, failing).unwrap().len(), 0);
    }
}
