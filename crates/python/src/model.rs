//! A model that lives in Python, and costs and rules that do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{CostFunction, Dictionaries, Level, TransitionRule};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::batch::Batch;
use crate::watching::{Caller, ends_programs};

/// The exception that ended an audit, if Python code raised one, and what that code was doing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<Cause>>>);

/// An exception, and what was being done.
type Cause = (PyErr, Option<String>);

impl Raised {
    /// Keeps the first: it is the cause, and others may follow from it.
    fn keep(&self, error: PyErr, doing: Option<String>) -> String {
        let text = error.to_string();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert((error, doing));
        text
    }

    /// Whether Python code raised an exception.
    pub(crate) fn any(&self) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_some()
    }

    /// Whether it raised one that ends programs.
    pub(crate) fn ends(&self) -> bool {
        // Nothing is held while Python is waited for: whoever has Python may want to keep an exception.
        self.any()
            && Python::attach(|py| {
                let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.as_ref()
                    .is_some_and(|(cause, _)| ends_programs(py, cause))
            })
    }

    pub(crate) fn take(&self) -> Option<Cause> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }
}

/// A function over batches that answers with a numpy array or a list of text. It is called on the
/// thread that asked for the audit.
#[derive(Debug)]
pub(crate) struct PythonModel {
    ask: Arc<Py<PyAny>>,
    /// Whether it wants text by number.
    takes_codes: bool,
    caller: Caller,
    raised: Raised,
}

impl PythonModel {
    pub(crate) fn new(ask: Py<PyAny>, takes_codes: bool, caller: Caller, raised: Raised) -> Self {
        Self {
            ask: Arc::new(ask),
            takes_codes,
            caller,
            raised,
        }
    }
}

impl Model for PythonModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let (ask, raised, rows) = (self.ask.clone(), self.raised.clone(), rows.clone());
        let answer = self.caller.have(move |py| {
            let asked = ask.bind(py).call1((Batch::new(rows),));
            asked
                .and_then(|answer| read(&answer))
                .map_err(|error| ModelError::Failed(raised.keep(error, None)))
        });
        answer.unwrap_or_else(|| Err(ModelError::Failed("nobody is there to ask it".to_owned())))
    }

    fn dictionaries(&self) -> Dictionaries {
        match self.takes_codes {
            true => Dictionaries::Text,
            false => Dictionaries::None,
        }
    }
}

fn read(answer: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(answer) = answer.extract::<PyReadonlyArray1<'_, bool>>() {
        return Ok(Arc::new(BooleanArray::from(answer.as_array().to_vec())));
    }
    if let Ok(answer) = answer.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(Arc::new(Int64Array::from(answer.as_array().to_vec())));
    }
    if let Ok(answer) = answer.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Arc::new(Float64Array::from(answer.as_array().to_vec())));
    }
    let texts: Vec<Option<String>> = answer.extract()?;
    Ok(Arc::new(StringArray::from(texts)))
}

/// Costs as Python functions of the level left and the level reached.
pub(crate) fn costs(
    functions: HashMap<String, Py<PyAny>>,
    raised: &Raised,
) -> HashMap<String, CostFunction> {
    let functions = functions.into_iter();
    functions
        .map(|(feature, function)| {
            let (raised, what) = (raised.clone(), format!("the cost of feature `{feature}`"));
            let cost: CostFunction = Arc::new(move |from: &Level, to: &Level| {
                let number = |answer: &Bound<'_, PyAny>| answer.extract::<f64>();
                // What is no number is refused by the engine, and then the exception is raised.
                call(&function, number, (from, to), &what, &raised).unwrap_or(f64::NAN)
            });
            (feature, cost)
        })
        .collect()
}

/// Rules as Python functions of the level left and the level reached.
pub(crate) fn rules(
    functions: HashMap<String, Py<PyAny>>,
    raised: &Raised,
) -> HashMap<String, TransitionRule> {
    let functions = functions.into_iter();
    functions
        .map(|(feature, function)| {
            let (raised, what) = (raised.clone(), format!("the rule of feature `{feature}`"));
            let rule = TransitionRule::new(move |from, to| {
                let truth = |answer: &Bound<'_, PyAny>| answer.is_truthy();
                call(&function, truth, (from, to), &what, &raised).unwrap_or(false)
            });
            (feature, rule)
        })
        .collect()
}

/// A level as (label, number, ends of a bin).
fn told(level: &Level) -> (&str, Option<f64>, Option<(f64, f64)>) {
    (&level.label, level.number, level.bounds)
}

fn call<T>(
    function: &Py<PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
    (from, to): (&Level, &Level),
    what: &str,
    raised: &Raised,
) -> Option<T> {
    Python::attach(|py| {
        let answer = function.bind(py).call1((told(from), told(to)));
        let answer = answer.and_then(|answer| read(&answer));
        let doing = || format!("{what} failed for `{}` -> `{}`", from.label, to.label);
        answer
            .map_err(|error| raised.keep(error, Some(doing())))
            .ok()
    })
}
