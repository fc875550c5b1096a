//! The fitted default against scikit-learn's logistic regression, converged, on Adult.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_select::concat::concat_batches;
use facts_models::AdditiveModel;
use facts_models::train::{ClassWeights, Examples, TrainError, Training, accuracy};
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

/// The reference train part, and whether each outcome is favourable.
fn table() -> (RecordBatch, Vec<bool>) {
    let label = read("y_train.csv.gz");
    let label = label.column(0).as_primitive::<Int64Type>().values();
    let favourable = label.iter().map(|&outcome| outcome == 1).collect();
    (read("X_train.csv.gz"), favourable)
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
    let (table, favourable) = table();
    let mut training = Training::default();
    let found = distance(
        &training.fit(Examples::new(&table, &favourable)).unwrap(),
        &scikit_learn(&python, &[]),
    );
    println!("greatest difference of a coefficient: {found:.1e}");
    assert!(found < 1e-3, "{found}");

    training.class_weights = ClassWeights::Balanced;
    let found = distance(
        &training.fit(Examples::new(&table, &favourable)).unwrap(),
        &scikit_learn(&python, &["--balanced"]),
    );
    println!("greatest difference of a coefficient, balanced classes: {found:.1e}");
    assert!(found < 1e-3, "{found}");
}

#[test]
fn a_fitted_model_predicts_about_as_well_as_the_reference() {
    let (table, favourable) = table();
    let training = Training::default();
    let model = training.fit(Examples::new(&table, &favourable)).unwrap();
    let accuracy = accuracy(&model, Examples::new(&table, &favourable)).unwrap();
    assert!((0.84..0.86).contains(&accuracy), "{accuracy}");
}

#[test]
fn what_cannot_be_trained_on_is_refused() {
    let (table, favourable) = table();
    let message = |training: Training| {
        training
            .fit(Examples::new(&table, &favourable))
            .unwrap_err()
            .to_string()
    };
    let nobody = vec![false; favourable.len()];
    let one = Training::default().fit(Examples::new(&table, &nobody));
    assert_eq!(one, Err(TrainError::OneOutcome));
    let wage = message(Training {
        exclude: vec!["wage".to_owned()],
        ..Training::default()
    });
    assert!(
        wage.starts_with("there is no column `wage` to train on; the table has: age, Workclass,")
    );
    let c = Training {
        c: 0.0,
        ..Training::default()
    };
    assert_eq!(message(c), "C is 0, but must be above 0");
    let class_weights = ClassWeights::Given {
        unfavourable: 1.0,
        favourable: -1.0,
    };
    let weights = Training {
        class_weights,
        ..Training::default()
    };
    assert_eq!(
        message(weights),
        "a class weight is -1, but must be above 0"
    );
    let exclude = vec!["seks".to_owned()];
    let unknown = Training {
        exclude,
        ..Training::default()
    };
    assert!(
        matches!(unknown.fit(Examples::new(&table, &favourable)), Err(TrainError::UnknownColumn { column, .. }) if column == "seks")
    );
}

/// A missing value has a coefficient of its own, so that the model answers as it was fitted to.
#[test]
fn missing_values_are_fitted_as_they_are_answered() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, StringArray};
    use facts_engine::flips::Model;

    let rows = 0..400;
    let hours: Float64Array = (rows.clone())
        .map(|i| (i % 4 != 0).then_some(f64::from(i % 40)))
        .collect();
    let job: StringArray = (rows.clone())
        .map(|i| (i % 5 != 0).then_some(if i % 2 == 0 { "clerk" } else { "boss" }))
        .collect();
    // Whoever has no hours gets a yes, and nobody else; a missing job changes nothing.
    let favourable: Vec<bool> = rows.map(|i| i % 4 == 0).collect();
    let table = RecordBatch::try_from_iter([
        ("hours", Arc::new(hours) as ArrayRef),
        ("job", Arc::new(job) as ArrayRef),
    ])
    .unwrap();
    let model = Training::default()
        .fit(Examples::new(&table, &favourable))
        .unwrap();
    assert_eq!(model.missing.keys().collect::<Vec<_>>(), ["hours", "job"]);
    assert_eq!(
        accuracy(&model, Examples::new(&table, &favourable)).unwrap(),
        1.0
    );
    let text = serde_json::to_string(&model).unwrap();
    let again: AdditiveModel = serde_json::from_str(&text).unwrap();
    let answers = [&again, &model].map(|model| model.predict(&table).unwrap());
    assert_eq!(&answers[0], &answers[1]);
}

/// A row that stands for several counts as often as if it were written as often.
#[test]
fn counts_are_fitted_like_the_rows_they_stand_for() {
    use arrow_array::UInt32Array;
    use arrow_select::take::take_record_batch;

    let (table, favourable) = table();
    let repeats: Vec<u64> = (0..table.num_rows() as u64).map(|row| row % 4).collect();
    let repeated = |row: u32| std::iter::repeat_n(row, repeats[row as usize] as usize);
    let places: UInt32Array = (0..table.num_rows() as u32).flat_map(repeated).collect();
    let rows = take_record_batch(&table, &places).unwrap();
    let outcomes: Vec<bool> = (places.values().iter())
        .map(|&row| favourable[row as usize])
        .collect();
    let by_counts = Examples {
        repeats: Some(&repeats),
        ..Examples::new(&table, &favourable)
    };
    for class_weights in [ClassWeights::Equal, ClassWeights::Balanced] {
        let training = Training {
            class_weights,
            ..Training::default()
        };
        let counted = training.fit(by_counts).unwrap();
        let by_rows = training.fit(Examples::new(&rows, &outcomes)).unwrap();
        let found = distance(&counted, &by_rows);
        println!("greatest difference of a coefficient: {found:.1e}");
        assert!(found < 1e-6, "{found}");
        assert_eq!(
            accuracy(&counted, by_counts).unwrap(),
            accuracy(&by_rows, Examples::new(&rows, &outcomes)).unwrap()
        );
    }
}
