//! LightGBM and XGBoost models against the libraries themselves.
//!
//! The small models in `support/trees_fixture` need no Python. The large comparison trains models
//! with the real libraries: set `FACTS_PYTHON` to a Python that has
//! `support/requirements.txt`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{Declaration, Edges, Feature, Missing, Population, Protected, View};
use facts_engine::{Audit, Options, Sizes, Watch, audit};
use facts_models::{Input, InputKind, OpenOptions, Spelling, TreeModel, open};
use serde::Deserialize;

/// How far a probability may be from the library's.
const TOLERANCE: f64 = 1e-6;

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/support/trees_fixture")
        .join(file)
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let table = facts_input::open(path.to_owned(), &facts_input::Options::default()).unwrap();
    table.collect::<Result<_, _>>().unwrap()
}

fn numbers<'a>(batch: &'a RecordBatch, column: &str) -> &'a [f64] {
    let column = batch.column_by_name(column).unwrap();
    column.as_primitive::<Float64Type>().values()
}

fn open_trees(path: &Path, options: &OpenOptions) -> TreeModel {
    if path.extension().is_some_and(|e| e == "txt") {
        TreeModel::open_lightgbm(path, options).unwrap()
    } else {
        TreeModel::open_xgboost(path, options).unwrap()
    }
}

#[test]
fn the_small_models_answer_like_their_libraries() {
    for (file, library) in [
        ("lightgbm.txt", "lightgbm"),
        ("xgboost.json", "xgboost"),
        ("xgboost.ubj", "xgboost"),
    ] {
        let model = open_trees(&fixture(file), &OpenOptions::default());
        for batch in read(&fixture("rows.csv")) {
            let ours = model.probabilities(&batch).unwrap();
            let theirs = numbers(&batch, library);
            assert_eq!(ours.len(), theirs.len());
            let yes = model.predict(&batch).unwrap();
            for (row, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                assert!((ours - theirs).abs() < TOLERANCE, "{file}, row {row}");
                assert_eq!(yes.as_boolean().value(row), *theirs > 0.5);
            }
        }
    }
}

#[test]
fn models_are_recognised_and_tell_what_they_read() {
    let number = |column: &str, spelling| Input {
        column: column.to_owned(),
        kind: InputKind::Number,
        spelling,
    };
    for (file, library, hours) in [
        ("lightgbm.txt", "LightGBM", "hours_per_week"),
        ("xgboost.json", "XGBoost", "hours per week"),
        ("xgboost.ubj", "XGBoost", "hours per week"),
    ] {
        let path = fixture(file);
        let spec = path.to_str().unwrap();
        let prefix = library.to_lowercase();
        for spec in [spec.to_owned(), format!("{prefix}:{spec}")] {
            let opened = open(&spec, &OpenOptions::default()).unwrap();
            assert_eq!(opened.description, format!("{library}, 3 trees"));
            assert_eq!(opened.file.as_deref(), Some(path.as_path()));
            let inputs = opened.inputs.unwrap();
            let spelling = match library {
                "LightGBM" => Spelling::Blanks,
                _ => Spelling::Exact,
            };
            assert_eq!(inputs[0], number(hours, spelling));
            let job = inputs.iter().find(|input| input.column == "job").unwrap();
            let InputKind::Text(Some(categories)) = &job.kind else {
                panic!("{job:?}");
            };
            assert_eq!(categories[3], " driver");
        }
    }
}

/// A column may be called as a part of another format is.
#[test]
fn a_model_is_told_by_its_own_parts_and_not_by_its_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.json");
    let of = |text: &str| {
        std::fs::write(&path, text).unwrap();
        open(path.to_str().unwrap(), &OpenOptions::default()).map(|opened| opened.description)
    };
    let xgboost = std::fs::read_to_string(fixture("xgboost.json")).unwrap();
    let renamed = xgboost.replace("\"age\"", "\"intercept\"");
    assert!(renamed.find("\"intercept\"").unwrap() < 4096);
    assert_eq!(of(&renamed).unwrap(), "XGBoost, 3 trees");
    let learner = "{\"numbers\": {\"learner\": 1, \"version\": 2}, \"intercept\": -1}";
    assert_eq!(of(learner).unwrap(), "linear, 2 columns");
    // The intercept may come after more levels than are looked at.
    let levels: Vec<String> = (0..2000).map(|i| format!("\"level {i}\": 0.5")).collect();
    let long = format!(
        "{{\"levels\": {{\"job, {{\\\"]\": {{{}}}}}, \"intercept\": 1}}",
        levels.join(",")
    );
    assert_eq!(of(&long).unwrap(), "linear, 1 columns");
    for other in [
        "{}",
        "[1]",
        "{\"coefficients\": [\"intercept\"]}",
        "\"intercept\"",
    ] {
        let error = of(other).unwrap_err().to_string();
        assert!(error.contains("is no model that can be opened"), "{error}");
    }
}

#[test]
fn the_threshold_and_the_columns_can_be_given() {
    let rows = &read(&fixture("rows.csv"))[0];
    let job = rows.schema().index_of("job").unwrap();
    let mut fields: Vec<_> = rows.schema().fields().iter().cloned().collect();
    fields[job] = fields[job].as_ref().clone().with_name("work").into();
    let renamed = RecordBatch::try_new(
        arrow_schema::Schema::new(fields).into(),
        rows.columns().to_vec(),
    )
    .unwrap();

    let mut options = OpenOptions::default();
    let model = open_trees(&fixture("lightgbm.txt"), &options);
    assert_eq!(
        model.predict(&renamed).unwrap_err().to_string(),
        "the model cannot read column `job`: it is not among the columns that the model is given; declare it as a feature or as context, or say which column is this input of the model"
    );
    options.columns.insert("job".into(), "work".into());
    let probabilities = model.probabilities(rows).unwrap();
    options.threshold = Some(probabilities[0]);
    let model = open_trees(&fixture("lightgbm.txt"), &options);
    assert_eq!(model.probabilities(&renamed).unwrap(), probabilities);
    let yes = model.predict(&renamed).unwrap();
    for (row, probability) in probabilities.iter().enumerate() {
        let yes = yes.as_boolean().value(row);
        assert_eq!(yes, *probability >= probabilities[0], "row {row}");
    }
}

#[test]
fn unknown_categories_are_treated_as_the_library_does() {
    let rows = &read(&fixture("rows.csv"))[0];
    let with_job = |job: Option<&str>| {
        let jobs = arrow_array::StringArray::from(vec![job; rows.num_rows()]);
        let mut columns = rows.columns().to_vec();
        columns[rows.schema().index_of("job").unwrap()] = std::sync::Arc::new(jobs) as ArrayRef;
        RecordBatch::try_new(rows.schema(), columns).unwrap()
    };
    let light = open_trees(&fixture("lightgbm.txt"), &OpenOptions::default());
    assert_eq!(
        light.probabilities(&with_job(Some("astronaut"))).unwrap(),
        light.probabilities(&with_job(None)).unwrap()
    );
    let extreme = open_trees(&fixture("xgboost.json"), &OpenOptions::default());
    let error = extreme.predict(&with_job(Some("astronaut"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model cannot read column `job`: `astronaut` is not among the categories that the model was trained with (clerk, manager, nurse,  driver, cook, smith, none, a=b, x,y, farmer), and XGBoost refuses others; drop such rows, or make the value missing"
    );
}

/// What is written into a copy of a small model, and what is said about it.
#[test]
fn damage_is_told_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let lightgbm = std::fs::read_to_string(fixture("lightgbm.txt")).unwrap();
    let xgboost = std::fs::read_to_string(fixture("xgboost.json")).unwrap();
    let cut = lightgbm.find("Tree=2").unwrap();
    let cases = [
        ("lightgbm", lightgbm[..cut].to_owned(), "it is cut off"),
        (
            "lightgbm",
            lightgbm.replace("Tree=1\n", ""),
            "it has 2 trees, and `tree_sizes=` tells of 3",
        ),
        (
            "lightgbm",
            lightgbm.replace("num_leaves=6", "num_leaves=7"),
            "tree 0 (line 12): line 21: `leaf_value=` has 6 numbers and should have 7",
        ),
        (
            "lightgbm",
            lightgbm.replace(
                "objective=binary sigmoid:1",
                "objective=multiclass num_class:3",
            ),
            "its objective is `multiclass`; models of two classes can be: `binary` or `cross_entropy`",
        ),
        (
            "lightgbm",
            lightgbm.replace("objective=binary sigmoid:1", "objective=regression"),
            "its objective is `regression`",
        ),
        (
            "lightgbm",
            lightgbm.replace("is_linear=0", "is_linear=1"),
            "train it without `linear_tree`",
        ),
        (
            "lightgbm",
            lightgbm.replace("version=v4", "version=v9"),
            "its format is `v9`, and v2 to v4 are known",
        ),
        (
            "lightgbm",
            "intercept".to_owned(),
            "line 1: it does not begin with `tree`",
        ),
        ("xgboost", xgboost[..500].to_owned(), "line 1 column 500"),
        (
            "xgboost",
            xgboost.replace("\"left_children\":[1,", "\"left_children\":[0,"),
            "tree 0: two splits lead to node 0",
        ),
        (
            "xgboost",
            xgboost.replace("\"split_indices\":[", "\"split_indices\":[0,"),
            "tree 0: `split_indices` has",
        ),
        (
            "xgboost",
            xgboost.replace("binary:logistic", "multi:softprob"),
            "its objective is `multi:softprob`",
        ),
        (
            "xgboost",
            xgboost.replace("\"name\":\"gbtree\"", "\"name\":\"gblinear\""),
            "its booster is `gblinear`; `gbtree` and `dart` can be",
        ),
        ("xgboost", "{}".to_owned(), "missing field `learner`"),
        ("xgboost", "binf".to_owned(), "old binary format"),
    ];
    for (prefix, text, told) in cases {
        let path = directory.path().join("model");
        std::fs::write(&path, text).unwrap();
        let spec = format!("{prefix}:{}", path.display());
        let error = open(&spec, &OpenOptions::default())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(told), "`{error}` does not tell `{told}`");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
    }
}

/// A model of which nothing is used but its answers.
struct OnlyAnswers<'a>(&'a TreeModel);

impl Model for OnlyAnswers<'_> {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        self.0.predict(rows)
    }
}

/// What an audit found, apart from how the model was asked.
fn findings<M: Model>(population: &Population, model: &M, support: &str) -> (Audit, String) {
    let options = Options::new().support(support.parse().unwrap());
    let audit = audit(population, model, &options, Watch::nobody()).unwrap();
    let comparable = Audit {
        sizes: Sizes {
            rows_asked: 0,
            counterfactual_rows_asked: 0,
            ..audit.sizes
        },
        ..audit.clone()
    };
    (audit, serde_json::to_string(&comparable).unwrap())
}

fn assert_flips_agree(population: &Population, model: &TreeModel, support: &str) -> Audit {
    let (audit, ours) = findings(population, model, support);
    let (asked, theirs) = findings(population, &OnlyAnswers(model), support);
    assert!(ours == theirs, "other findings");
    assert_eq!(audit.sizes.counterfactual_rows_asked, 0);
    assert!(asked.sizes.counterfactual_rows_asked > 0);
    audit
}

#[test]
fn an_audit_by_flips_finds_what_one_by_answers_finds() {
    let declaration = || {
        Declaration::new()
            .feature(Feature::categorical("job").missing(Missing::Level))
            .feature(
                Feature::binned("hours per week", Edges::EqualWidth(4))
                    .view(View::Raw(Default::default()))
                    .missing(Missing::Drop),
            )
            .feature(Feature::numeric("band").missing(Missing::Drop))
            .context("age")
            .protected(Protected::attribute("group"))
    };
    // Jobs that the models know, nothing, and hours of all kinds, in two groups.
    let jobs = [
        "clerk", "manager", "nurse", "cook", "smith", "farmer", "none", "",
    ];
    let bands = [10, 20, 25, 40, 80, 160];
    let mut text = String::from("hours per week,age,job,band,group\n");
    for row in 0..3000_usize {
        let hours = (row * 37) % 613;
        let (age, job) = (17 + row * 7 % 70, jobs[row / 7 % 8]);
        let (band, group) = (bands[row / 5 % 6], ["a", "b"][row / 3 % 2]);
        text += &format!("{}.{},{age},{job},{band},{group}\n", hours / 10, hours % 10);
    }
    let source = facts_input::Source::reader("rows.csv", std::io::Cursor::new(text.into_bytes()));
    let table = facts_input::open(source, &facts_input::Options::default()).unwrap();
    let population = declaration()
        .read(table.collect::<Result<Vec<_>, _>>().unwrap())
        .unwrap();
    for file in ["lightgbm.txt", "xgboost.json"] {
        for threshold in [None, Some(0.6)] {
            let mut options = OpenOptions::default();
            options.threshold = threshold;
            let model = open_trees(&fixture(file), &options);
            let audit = assert_flips_agree(&population, &model, "0.02");
            assert!(audit.sizes.changes > 10, "{:?}", audit.sizes);
        }
    }
}

#[derive(Deserialize)]
struct Case {
    name: String,
    prefix: String,
    file: String,
    rows: String,
    order: Vec<String>,
}

/// The Python to train with, unless there is none; on CI there must be.
fn python() -> Option<String> {
    let python = std::env::var("FACTS_PYTHON").ok();
    if python.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "FACTS_PYTHON is not set, and on CI no comparison is left out"
        );
        eprintln!(
            "left out: set FACTS_PYTHON to a Python with crates/models/tests/support/requirements.txt"
        );
    }
    python
}

#[test]
fn all_models_answer_like_their_libraries() {
    let Some(python) = python() else { return };
    let directory = tempfile::tempdir().unwrap();
    // To look at what was made, or to make it once only.
    let kept = std::env::var("FACTS_TREES_DIRECTORY")
        .ok()
        .map(PathBuf::from);
    let directory = kept.as_deref().unwrap_or(directory.path());
    if !directory.join("cases.json").exists() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/trees_train.py");
        let status = Command::new(python)
            .arg(script)
            .arg(directory)
            .status()
            .unwrap();
        assert!(status.success(), "training failed");
    }
    let cases: Vec<Case> =
        serde_json::from_slice(&std::fs::read(directory.join("cases.json")).unwrap()).unwrap();
    assert!(cases.len() > 40);
    let mut tables = HashMap::new();
    for case in &cases {
        let batches = tables
            .entry(&case.rows)
            .or_insert_with(|| read(&directory.join(&case.rows)));
        let mut options = OpenOptions::default();
        options.order.clone_from(&case.order);
        let path = directory.join(&case.file);
        let model = open_trees(&path, &options);
        compare(&case.name, &model, batches);

        // Opened by its string, and by what its first bytes say, it answers the same.
        let spec = path.to_str().unwrap();
        for spec in [spec.to_owned(), format!("{}:{spec}", case.prefix)] {
            let opened = open(&spec, &options).unwrap();
            let (once, again) = (
                model.predict(&batches[0]),
                opened.model.predict(&batches[0]),
            );
            assert_eq!(&once.unwrap(), &again.unwrap());
        }
    }
    for case in cases.iter().filter(|case| {
        ["categories-missing", "dart", "rf", "sigmoid"]
            .iter()
            .any(|kind| case.name.contains(kind))
            && !case.name.ends_with("ubj")
    }) {
        let model = open_trees(&directory.join(&case.file), &OpenOptions::default());
        let population = population(&tables[&case.rows]);
        let audit = assert_flips_agree(&population, &model, "0.05");
        println!("{}: audited, {:?}", case.name, audit.sizes);
    }
}

/// Every probability to the tolerance, every class exactly.
fn compare(name: &str, model: &TreeModel, batches: &[RecordBatch]) {
    let (mut rows, mut furthest) = (0, 0.0_f64);
    for batch in batches {
        let ours = model.probabilities(batch).unwrap();
        let yes = model.predict(batch).unwrap();
        let theirs = numbers(batch, "expected_probability");
        let their_yes = batch.column_by_name("expected_yes").unwrap().as_boolean();
        for row in 0..batch.num_rows() {
            let apart = (ours[row] - theirs[row]).abs();
            assert!(
                apart <= TOLERANCE,
                "{name}, row {row}: {} for {}",
                ours[row],
                theirs[row]
            );
            assert_eq!(
                yes.as_boolean().value(row),
                their_yes.value(row),
                "{name}, row {row}"
            );
            furthest = furthest.max(apart);
            rows += 1;
        }
    }
    assert_eq!(rows, 10_000);
    println!("{name}: {} trees, furthest {furthest:e}", model.trees());
}

/// The random rows as a population in two groups.
fn population(batches: &[RecordBatch]) -> Population {
    let mut declaration = Declaration::new().protected(Protected::attribute("group"));
    for field in batches[0].schema().fields() {
        let feature = match field.name().as_str() {
            "expected_probability" | "expected_yes" | "group" => continue,
            "hours per week" | "gain" => Feature::binned(field.name(), Edges::Quantiles(3))
                .view(View::Raw(Default::default()))
                .missing(Missing::Level),
            "age" => {
                declaration = declaration.context("age");
                continue;
            }
            name => Feature::categorical(name).missing(Missing::Level),
        };
        declaration = declaration.feature(feature);
    }
    declaration.read(batches).unwrap()
}
