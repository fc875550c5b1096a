//! A model that lives in Python, and costs and rules that do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{CostFunction, Level, TransitionRule};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::batch::Batch;

/// The exception that ended an audit, if Python code raised one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, py: Python<'_>, error: &PyErr) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The first is the cause; others may follow from it.
        kept.get_or_insert_with(|| error.clone_ref(py));
        error.to_string()
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }
}

/// A function over batches that answers with a numpy array or a list of text.
#[derive(Debug)]
pub(crate) struct PythonModel {
    ask: Py<PyAny>,
    raised: Raised,
}

impl PythonModel {
    pub(crate) fn new(ask: Py<PyAny>, raised: Raised) -> Self {
        Self { ask, raised }
    }
}

impl Model for PythonModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        Python::attach(|py| {
            let asked = self.ask.bind(py).call1((Batch::new(rows.clone()),));
            asked
                .and_then(|answer| read(&answer))
                .map_err(|error| ModelError::Failed(self.raised.keep(py, &error)))
        })
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
            let raised = raised.clone();
            let cost: CostFunction = Arc::new(move |from: &Level, to: &Level| {
                // What is no number is refused by the engine, and then the exception is raised.
                call(&function, from, to, &raised).unwrap_or(f64::NAN)
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
            let raised = raised.clone();
            let rule = TransitionRule::new(move |from, to| {
                call(&function, from, to, &raised).unwrap_or(false)
            });
            (feature, rule)
        })
        .collect()
}

/// A level as (label, number, ends of a bin).
fn told(level: &Level) -> (&str, Option<f64>, Option<(f64, f64)>) {
    (&level.label, level.number, level.bounds)
}

fn call<T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    function: &Py<PyAny>,
    from: &Level,
    to: &Level,
    raised: &Raised,
) -> Option<T> {
    Python::attach(|py| {
        let answer = function
            .bind(py)
            .call1((told(from), told(to)))
            .and_then(|answer| answer.extract::<T>().map_err(Into::into));
        answer.map_err(|error| raised.keep(py, &error)).ok()
    })
}
