//! What Python exports, against what the Python libraries answer themselves: ONNX graphs of many
//! kinds of model, and linear models written by `python/export_linear.py`.
//!
//! `FACTS_PYTHON` names a Python with `tests/support/requirements.txt`. Without it these tests
//! say aloud that they were left out; under `CI=true` they fail.
#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_select::take::take;
use facts_engine::flips::Model;
use facts_input::{Options, Source};
use facts_models::{AdditiveModel, InputKind, OnnxModel, OpenError, OpenOptions, Parity, open};
use rayon::prelude::*;
use serde::Deserialize;
use tempfile::TempDir;

/// A model that was trained and exported.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    name: String,
    /// How many of the rows may be answered otherwise, because of 32-bit rounding.
    flips: usize,
    #[serde(default)]
    order: Vec<String>,
}

static TRAINED: LazyLock<Option<TempDir>> = LazyLock::new(|| python("onnx_train.py", &[]));

/// Runs a script of `tests/support` with a new folder as its last argument.
fn python(script: &str, arguments: &[&Path]) -> Option<TempDir> {
    let Some(python) = std::env::var_os("FACTS_PYTHON") else {
        left_out("FACTS_PYTHON does not name a Python with tests/support/requirements.txt");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/support")
        .join(script);
    let output = Command::new(python)
        .arg(&script)
        .args(arguments)
        .arg(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", script.display());
    Some(folder)
}

fn left_out(why: &str) {
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "the comparison with Python's own answers needs: {why}");
    eprintln!("LEFT OUT: the comparison with Python's own answers: {why}");
}

fn cases() -> Option<(PathBuf, Vec<Case>)> {
    let folder = TRAINED.as_ref()?.path().to_owned();
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    Some((folder, serde_json::from_str(&text).unwrap()))
}

fn table(path: &Path) -> RecordBatch {
    let source = Source::from(path.to_owned());
    let table = facts_input::open(source, &Options::default()).unwrap();
    let schema = table.schema();
    let batches: Vec<RecordBatch> = table.collect::<Result<_, _>>().unwrap();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

struct Opened {
    model: OnnxModel,
    rows: RecordBatch,
    label: ArrayRef,
    probability: Vec<f64>,
}

fn opened(folder: &Path, case: &Case, threshold: Option<f64>) -> Opened {
    let mut options = OpenOptions::default();
    options.order = case.order.clone();
    options.threshold = threshold;
    let file = |end: &str| folder.join(format!("{}.{end}", case.name));
    let expected = table(&file("expected.csv"));
    let probability = expected.column_by_name("probability").unwrap();
    Opened {
        model: OnnxModel::open(file("onnx"), &options)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name)),
        rows: table(&file("csv")),
        label: Arc::clone(expected.column_by_name("label").unwrap()),
        probability: probability.as_primitive::<Float64Type>().values().to_vec(),
    }
}

#[test]
fn every_kind_of_model_answers_as_its_library_does() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    assert!(cases.len() >= 25);
    for case in &cases {
        let opened = opened(&folder, case, None);
        assert_eq!(opened.rows.num_rows(), 10_000);
        let parity = Parity::check(&opened.model, &opened.rows, &opened.label)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let ours = opened.model.probabilities(&opened.rows).unwrap();
        let mut differences: Vec<f64> = ours
            .iter()
            .zip(&opened.probability)
            .map(|(ours, theirs)| (ours - theirs).abs())
            .collect();
        differences.sort_by(f64::total_cmp);
        let start = Instant::now();
        opened.model.predict(&opened.rows).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:24} {:4} flips, probabilities within {:.1e} ({:.1e} for 95 %), {:.0} rows/s",
            case.name,
            parity.differing.len(),
            differences[9_999],
            differences[9_499],
            10_000.0 / seconds
        );
        assert!(
            parity.differing.len() <= case.flips,
            "{}: {parity}",
            case.name
        );
        // A flipped split moves a row to another leaf; the probabilities of all others agree.
        if case.flips == 0 {
            assert!(differences[9_999] < 1e-5, "{}", case.name);
        }
    }
}

#[test]
fn an_export_that_changed_the_model_is_found_out() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    let case = cases.iter().find(|case| case.name == "xgboost_sparse");
    let opened = opened(&folder, case.unwrap(), None);
    let parity = Parity::check(&opened.model, &opened.rows, &opened.label).unwrap();
    assert!(parity.share() < 0.9, "{parity}");
    assert!(
        parity.to_string().contains("sparse_output=False"),
        "{parity}"
    );
}

#[test]
fn a_threshold_decides_in_the_models_own_labels() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    for (name, no, yes) in [
        ("logistic", "0", "1"),
        ("logistic_words", "<=50K", ">50K"),
        ("logistic_words_tensor", "<=50K", ">50K"),
        ("logistic_one_two_tensor", "1", "2"),
        ("xgboost_tensor", "0", "1"),
    ] {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let opened = opened(&folder, case, Some(0.3));
        let expected = opened
            .probability
            .iter()
            .map(|&p| if p >= 0.3 { yes } else { no });
        let expected: ArrayRef = Arc::new(expected.map(Some).collect::<StringArray>());
        let parity = Parity::check(&opened.model, &opened.rows, &expected).unwrap();
        let unclear = |row: &&u64| (opened.probability[**row as usize - 1] - 0.3).abs() > 1e-5;
        assert_eq!(
            parity.differing.iter().filter(unclear).count(),
            0,
            "{name}: {parity}"
        );
    }
}

/// As an audit sends them: numbers into the distinct values of each column.
fn told_by_number(rows: &RecordBatch) -> RecordBatch {
    let columns = rows.columns().iter().map(|column| {
        let mut values: Vec<u32> = Vec::new();
        let mut known = HashMap::new();
        let numbers = (0..rows.num_rows()).map(|row| {
            let value = format!("{:?}", column.slice(row, 1));
            *known.entry(value).or_insert_with(|| {
                values.push(row as u32);
                values.len() as u32 - 1
            })
        });
        let numbers: UInt32Array = numbers.map(Some).collect();
        let values = take(column, &UInt32Array::from(values), None).unwrap();
        Arc::new(DictionaryArray::new(numbers, values)) as ArrayRef
    });
    let schema = rows.schema();
    let names = schema.fields().iter().map(|field| field.name());
    RecordBatch::try_from_iter(names.zip(columns)).unwrap()
}

#[test]
fn rows_told_by_number_are_answered_alike() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    for case in &cases {
        let opened = opened(&folder, case, None);
        let by_number = told_by_number(&opened.rows);
        let plain = opened.model.probabilities(&opened.rows).unwrap();
        let name = &case.name;
        assert_eq!(
            opened.model.probabilities(&by_number).unwrap(),
            plain,
            "{name}"
        );
    }
}

#[test]
fn batches_at_the_same_time_answer_alike() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    for name in ["mlp", "lightgbm", "forest"] {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let opened = opened(&folder, case, None);
        assert!(opened.model.concurrency() >= 1);
        let whole = opened.model.predict(&opened.rows).unwrap();
        let parts: Vec<ArrayRef> = (0..100)
            .into_par_iter()
            .map(|part| {
                opened
                    .model
                    .predict(&opened.rows.slice(part * 100, 100))
                    .unwrap()
            })
            .collect();
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        let together = arrow_select::concat::concat(&parts).unwrap();
        assert_eq!(&whole, &together, "{name}");
        assert_eq!(
            opened
                .model
                .predict(&opened.rows.slice(0, 0))
                .unwrap()
                .len(),
            0
        );
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    let case = &cases[0];
    let opened = opened(&folder, case, None);
    let named = opened.model.inputs();
    assert_eq!(named.len(), 10);
    let work = named.iter().find(|input| input.column == "work").unwrap();
    assert_eq!(work.kind, InputKind::Text(None));
    let age = opened.rows.schema().index_of("age").unwrap();

    let without = opened.rows.project(&[0, 1, 2]).unwrap();
    let error = opened.model.predict(&without).unwrap_err().to_string();
    assert!(error.contains("the model cannot read column"), "{error}");

    let mut columns = opened.rows.columns().to_vec();
    columns[age] = Arc::new(StringArray::from(vec!["old"; 10_000]));
    let names: Vec<String> = opened
        .rows
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let wrong = RecordBatch::try_from_iter(names.iter().zip(columns)).unwrap();
    let error = opened.model.predict(&wrong).unwrap_err().to_string();
    assert_eq!(
        error,
        "the model cannot read column `age`: `old` is not a number"
    );

    // Called otherwise in the table.
    let mut options = OpenOptions::default();
    options.columns.insert("age".into(), "years".into());
    let file = folder.join(format!("{}.onnx", case.name));
    let renamed = open(file.to_str().unwrap(), &options).unwrap();
    assert_eq!(
        renamed.description, "ONNX, 10 columns, made by skl2onnx",
        "{}",
        renamed.description
    );
    let years = names.iter().map(|name| match name.as_str() {
        "age" => "years",
        name => name,
    });
    let table =
        RecordBatch::try_from_iter(years.zip(opened.rows.columns().iter().cloned())).unwrap();
    let parity = Parity::check(renamed.model.as_ref(), &table, &opened.label).unwrap();
    assert!(parity.differing.is_empty(), "{parity}");
}

#[test]
fn one_tensor_needs_an_order() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    let file = folder.join("one_tensor.onnx");
    let error = OnnxModel::open(&file, &OpenOptions::default()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("`X` takes 4 columns side by side"),
        "{error}"
    );
    let mut options = OpenOptions::default();
    options.order = cases
        .iter()
        .find(|case| case.name == "one_tensor")
        .unwrap()
        .order
        .clone();
    options.order.push("more".into());
    let error = OnnxModel::open(&file, &options).unwrap_err().to_string();
    assert!(error.contains("more than its inputs take: more"), "{error}");

    // A wrong order is a wrong model: it must not answer alike.
    options.order.pop();
    options.order.reverse();
    let reversed = OnnxModel::open(&file, &options).unwrap();
    let rows = table(&folder.join("one_tensor.csv"));
    let expected = table(&folder.join("one_tensor.expected.csv"));
    let label = expected.column_by_name("label").unwrap();
    let parity = Parity::check(&reversed, &rows, label).unwrap();
    assert!(parity.share() < 0.9, "{parity}");
}

#[test]
fn a_file_that_is_no_graph_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.onnx");
    let error = |path: &Path| {
        open(path.to_str().unwrap(), &OpenOptions::default())
            .err()
            .unwrap()
    };
    assert!(matches!(error(&file), OpenError::File { .. }));
    std::fs::write(&file, "no graph").unwrap();
    match error(&file) {
        OpenError::Unavailable(why) => left_out(&why),
        error => {
            let text = error.to_string();
            assert!(text.contains("is not a valid ONNX model"), "{text}");
        }
    }
}

#[test]
fn the_reference_model_answers_as_its_coefficients_do() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verification/data/adult-sex");
    let graph = data.join("model.onnx");
    let model = match OnnxModel::open(&graph, &OpenOptions::default()) {
        Err(OpenError::Unavailable(why)) => return left_out(&why),
        opened => opened.unwrap(),
    };
    #[derive(Deserialize)]
    struct Reference {
        intercept: f64,
        onehot: Vec<Level>,
        numeric: Vec<Number>,
    }
    #[derive(Deserialize)]
    struct Level {
        feature: String,
        value: String,
        coef: f64,
    }
    #[derive(Deserialize)]
    struct Number {
        feature: String,
        coef: f64,
    }
    let text = std::fs::read_to_string(data.join("model_coef.json")).unwrap();
    let reference: Reference = serde_json::from_str(&text).unwrap();
    let mut linear = AdditiveModel {
        intercept: reference.intercept,
        unseen: facts_models::Unseen::Zero,
        ..AdditiveModel::default()
    };
    for level in reference.onehot {
        let levels = linear.levels.entry(level.feature).or_default();
        levels.insert(level.value, level.coef);
    }
    for number in reference.numeric {
        linear.numbers.insert(number.feature, number.coef);
    }
    let rows = table(&data.join("X_test.csv.gz"));
    assert_eq!(rows.num_rows(), 13_567);
    let parity = Parity::check(&model, &rows, &linear.predict(&rows).unwrap()).unwrap();
    assert!(parity.differing.is_empty(), "{parity}");
}

#[test]
fn linear_pipelines_are_exported_exactly() {
    let exporter = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/export_linear.py");
    let Some(folder) = python("onnx_linear.py", &[&exporter]) else {
        return;
    };
    let at = |name: &str| folder.path().join(name);
    let names: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(at("names.json")).unwrap()).unwrap();
    assert!(names.len() >= 12);
    let rows = table(&at("rows.csv"));
    for name in names {
        let file = at(&format!("{name}.json"));
        let opened = open(file.to_str().unwrap(), &OpenOptions::default()).unwrap();
        let expected = table(&at(&format!("{name}.expected.csv")));
        let parity = Parity::check(opened.model.as_ref(), &rows, expected.column(0)).unwrap();
        assert_eq!(parity.rows, 5_000);
        assert!(parity.differing.is_empty(), "{name}: {parity}");
    }
    // What an imputer would have filled in is stopped at, never guessed.
    let file = at("imputed.json");
    let opened = open(file.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let mut columns = rows.columns().to_vec();
    let debt = rows.schema().index_of("debt").unwrap();
    columns[debt] = Arc::new(Float64Array::from(vec![None; 5_000]));
    let missing = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let error = opened.model.predict(&missing).unwrap_err().to_string();
    assert!(error.contains("column `debt`"), "{error}");
}
