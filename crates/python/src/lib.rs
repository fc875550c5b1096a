//! `facts._facts`: what the Python package is thin over.
//!
//! Everything that people meet is written in Python, in `python/facts`; here is only what must be
//! near the engine. Tables come in as Arrow or as numpy columns (`table.rs`), or from an engine that groups
//! them (`engine.rs`), a model is a Python function over batches (`model.rs`), and an audit (`audit.rs`)
//! gives its tables back as Arrow. The GIL is released while the engine works on threads of its own;
//! `watching.rs` has the model called on the thread that asked for the audit, tells of progress and
//! notices Ctrl-C.

mod audit;
mod batch;
mod engine;
mod failure;
mod keywords;
mod model;
mod models;
mod table;
mod watching;

use pyo3::prelude::*;

/// The engine behind the package `facts`.
#[pymodule]
fn _facts(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("HEADLINES", facts_report::HEADLINES)?;
    module.add("KEYWORDS", keywords::KEYWORDS)?;
    module.add_class::<audit::Audit>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::Labels>()?;
    module.add_class::<models::Summary>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(models::audit_models, module)?)?;
    module.add_function(wrap_pyfunction!(audit::load, module)?)?;
    module.add_function(wrap_pyfunction!(audit::read_config, module)?)?;
    module.add_function(wrap_pyfunction!(audit::explain_config, module)?)?;
    module.add_function(wrap_pyfunction!(audit::unpack, module)?)?;
    module.add_function(wrap_pyfunction!(audit::write, module)?)?;
    module.add_function(wrap_pyfunction!(audit::series, module)?)?;
    module.add_function(wrap_pyfunction!(table::bin_names, module)?)?;
    module.add_function(wrap_pyfunction!(table::bins_of, module)?)?;
    module.add_function(wrap_pyfunction!(table::quantile_cuts, module)?)?;
    Ok(())
}
