//! The fitted default against scikit-learn's logistic regression, converged, on Adult.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use facts_models::AdditiveModel;
use facts_models::train::{ClassWeights, TrainError, Training};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verification/data/adult-sex")
}

fn read(file: &str) -> RecordBatch {
    let table = facts_input::open(folder().join(file), &facts_input::Options::default()).unwrap();
    let schema = table.schema();
    let batches: Vec<RecordBatch> = table.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// The reference train part with its outcome, `income`, as the last column.
fn table() -> RecordBatch {
    let (rows, outcome) = (read("X_train.csv.gz"), read("y_train.csv.gz"));
    let mut fields: Vec<Arc<Field>> = rows.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(
        "income",
        outcome.column(0).data_type().clone(),
        true,
    )));
    let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
    columns.push(Arc::clone(outcome.column(0)));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn scikit_learn(python: &str, flags: &[&str]) -> AdditiveModel {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/train_reference.py");
    let output = Command::new(python)
        .arg(script)
        .arg(folder())
        .args(flags)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut fitted: Value = serde_json::from_slice(&output.stdout).unwrap();
    fitted.as_object_mut().unwrap().remove("iterations");
    serde_json::from_value(fitted).unwrap()
}

/// The greatest difference of two models' coefficients.
fn distance(a: &AdditiveModel, b: &AdditiveModel) -> f64 {
    let mut most = (a.intercept - b.intercept).abs();
    assert_eq!(
        a.numbers.keys().collect::<Vec<_>>(),
        b.numbers.keys().collect::<Vec<_>>()
    );
    for (column, coefficient) in &a.numbers {
        most = most.max((coefficient - b.numbers[column]).abs());
    }
    assert_eq!(
        a.levels.keys().collect::<Vec<_>>(),
        b.levels.keys().collect::<Vec<_>>()
    );
    for (column, levels) in &a.levels {
        assert_eq!(levels.len(), b.levels[column].len(), "{column}");
        for (level, coefficient) in levels {
            most = most.max((coefficient - b.levels[column][level]).abs());
        }
    }
    most
}

#[test]
fn coefficients_are_scikit_learns() {
    let Ok(python) = std::env::var("FACTS_PYTHON") else {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!ci, "FACTS_PYTHON must name a Python with scikit-learn");
        eprintln!("LEFT OUT: comparing with scikit-learn, because FACTS_PYTHON is not set");
        return;
    };
    let table = table();
    let mut training = Training::new("income", "1");
    let found = distance(&training.fit(&table).unwrap(), &scikit_learn(&python, &[]));
    println!("greatest difference of a coefficient: {found:.1e}");
    assert!(found < 1e-3, "{found}");

    training.class_weights = ClassWeights::Balanced;
    let found = distance(
        &training.fit(&table).unwrap(),
        &scikit_learn(&python, &["--balanced"]),
    );
    println!("greatest difference of a coefficient, balanced classes: {found:.1e}");
    assert!(found < 1e-3, "{found}");
}

#[test]
fn a_fitted_model_predicts_about_as_well_as_the_reference() {
    let table = table();
    let training = Training::new("income", "1");
    let accuracy = training
        .accuracy(&training.fit(&table).unwrap(), &table)
        .unwrap();
    assert!((0.84..0.86).contains(&accuracy), "{accuracy}");
}

#[test]
fn what_cannot_be_trained_on_is_refused() {
    let table = table();
    let message = |training: Training| training.fit(&table).unwrap_err().to_string();
    assert!(
        message(Training::new("wage", "1"))
            .starts_with("there is no column `wage` to train on; the table has: age, Workclass,")
    );
    assert_eq!(
        message(Training::new("income", ">50K")),
        "label `income`: `>50K` must be one of at least two values, and the column has: 0, 1"
    );
    let c = Training {
        c: 0.0,
        ..Training::new("income", "1")
    };
    assert_eq!(message(c), "C is 0, but must be above 0");
    let class_weights = ClassWeights::Given {
        unfavourable: 1.0,
        favourable: -1.0,
    };
    let weights = Training {
        class_weights,
        ..Training::new("income", "1")
    };
    assert_eq!(
        message(weights),
        "a class weight is -1, but must be above 0"
    );
    let exclude = vec!["seks".to_owned()];
    let unknown = Training {
        exclude,
        ..Training::new("income", "1")
    };
    assert!(
        matches!(unknown.fit(&table), Err(TrainError::UnknownColumn { column, .. }) if column == "seks")
    );
}
