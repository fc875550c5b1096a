//! Failures as Python exceptions.

use facts_run::{Failure, Kind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The exception for a failure: the classes are in `facts/errors.py`.
pub(crate) fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure.kind {
        Kind::Usage => "UsageError",
        Kind::Data => "DataError",
        Kind::Model => "ModelError",
        Kind::Output => "OutputError",
        Kind::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    let made = py
        .import("facts.errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1((failure.to_string(),)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// What is to be raised when something else than a [`Failure`] says that the user is wrong.
pub(crate) fn usage(py: Python<'_>, message: impl std::fmt::Display) -> PyErr {
    raise(py, &Failure::usage(message))
}

/// What is to be raised when data cannot be used.
pub(crate) fn data(py: Python<'_>, message: impl std::fmt::Display) -> PyErr {
    raise(py, &Failure::data(message))
}
