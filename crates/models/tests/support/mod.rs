//! What the tests of models have in common, here and in `verification`.
// Each test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_engine::{Audit, Sizes};

/// A place in the repository.
pub(crate) fn in_repository(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").exists())
        .unwrap();
    root.join(path)
}

/// The interpreter that a variable names. Without one the test is left out, and says so; under
/// `CI=true` that is a failure.
pub(crate) fn interpreter(variable: &str) -> Option<PathBuf> {
    let found = std::env::var(variable).ok().filter(|path| !path.is_empty());
    if found.is_none() {
        left_out(&format!("set {variable} to run this test"));
    }
    found.map(PathBuf::from)
}

/// Says that something is not tested; under `CI=true` that is a failure.
pub(crate) fn left_out(why: &str) {
    let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!is_ci, "on CI nothing is left out: {why}");
    eprintln!("LEFT OUT: {why}");
}

/// Runs a Python script to its end.
pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(
    python: &Path,
    script: &Path,
    arguments: impl IntoIterator<Item = A>,
) {
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", script.display());
}

/// So many people, different from one another, with these jobs in turn.
pub(crate) fn people(jobs: &[&str], rows: usize) -> RecordBatch {
    let job = StringArray::from_iter_values((0..rows).map(|i| jobs[i % jobs.len()]));
    let hours = Int64Array::from_iter_values((0..rows).map(|i| (i * 7 % 61) as i64));
    let debt = Float64Array::from_iter_values((0..rows).map(|i| (i % 37) as f64 / 8.0 - 2.0));
    RecordBatch::try_from_iter([
        ("job", Arc::new(job) as ArrayRef),
        ("hours", Arc::new(hours)),
        ("debt", Arc::new(debt)),
    ])
    .unwrap()
}

/// A table with another column.
pub(crate) fn with_column(rows: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let schema = rows.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let columns = names.zip(rows.columns().iter().cloned());
    RecordBatch::try_from_iter(columns.chain([(name, column)])).unwrap()
}

/// Which rows were answered with yes, or with the class 1.
pub(crate) fn yes(answer: &ArrayRef) -> Vec<bool> {
    if let Some(answer) = answer.as_boolean_opt() {
        return answer.values().iter().collect();
    }
    if let Some(answer) = answer.as_string_opt::<i32>() {
        return answer.iter().map(|class| class == Some("1")).collect();
    }
    let classes = answer.as_primitive::<Float64Type>().values();
    classes.iter().map(|&class| class == 1.0).collect()
}

/// What an audit found, apart from how the model was asked.
pub(crate) fn findings(audit: &Audit) -> Vec<u8> {
    let mut audit = audit.clone();
    audit.sizes = Sizes {
        rows_asked: 0,
        counterfactual_rows_asked: 0,
        ..audit.sizes
    };
    serde_json::to_vec(&audit).unwrap()
}
