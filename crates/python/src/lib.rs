//! x
use pyo3::prelude::*;
#[pymodule]
fn _facts(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
