//! Failures as Python exceptions.

use std::error::Error;
use std::io;

use facts_run::{Failure, FailureKind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use crate::keywords::by_keywords;

/// An error of a library, or a text.
type Cause = Box<dyn Error + Send + Sync>;

/// The exception for a failure, with its cause: the classes are in `facts/errors.py`.
pub(crate) fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure.kind {
        FailureKind::Usage => "UsageError",
        FailureKind::Data => "DataError",
        FailureKind::Model => "ModelError",
        FailureKind::Output => "OutputError",
        FailureKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    let made = py
        .import("facts.errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1((by_keywords(&failure.to_string()),)));
    let error = made.map_or_else(|error| error, PyErr::from_value);
    if let Some(source) = failure.source() {
        error.set_cause(py, Some(cause(py, source)));
    }
    error
}

/// What lies behind an exception: an `OSError` where the system refused something.
fn cause(py: Python<'_>, source: &(dyn Error + 'static)) -> PyErr {
    let code = source.downcast_ref().and_then(io::Error::raw_os_error);
    let error = match code {
        Some(code) => io::Error::from_raw_os_error(code).into(),
        None => PyRuntimeError::new_err(source.to_string()),
    };
    if let Some(source) = source.source() {
        error.set_cause(py, Some(cause(py, source)));
    }
    error
}

/// What is to be raised for an error of the engine or of a question about an audit.
pub(crate) fn of<E: Into<Failure>>(py: Python<'_>) -> impl Fn(E) -> PyErr + '_ {
    move |error| raise(py, &error.into())
}

/// What is to be raised when something else than a [`Failure`] says that the user is wrong.
pub(crate) fn usage(py: Python<'_>, message: impl Into<Cause>) -> PyErr {
    raise(py, &Failure::usage(message))
}

/// What is to be raised when data cannot be used.
pub(crate) fn data(py: Python<'_>, message: impl Into<Cause>) -> PyErr {
    raise(py, &Failure::data(message))
}
