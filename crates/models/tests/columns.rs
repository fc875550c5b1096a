//! Whether a table fits a model, as a user reads it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use facts_engine::population::{Column, Declaration, Feature, Protected};
use facts_models::{AdditiveModel, Fit, Input, InputKind, OpenOptions, Spelling, open};

fn input(column: &str, kind: InputKind) -> Input {
    Input {
        column: column.to_owned(),
        kind,
        spelling: Spelling::Exact,
    }
}

fn known(values: &[&str]) -> InputKind {
    InputKind::Text(Some(values.iter().map(|&v| v.to_owned()).collect()))
}

fn rows() -> RecordBatch {
    let texts = |values: Vec<Option<&str>>| Arc::new(StringArray::from(values)) as ArrayRef;
    RecordBatch::try_from_iter([
        (
            "job",
            texts(vec![Some("clerk"), Some("astronaut"), Some("baker")]),
        ),
        ("hours", texts(vec![Some("40"), Some("many"), Some("12")])),
        (
            "debt",
            Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5])) as ArrayRef,
        ),
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ("sex", texts(vec![Some("f"), Some("m"), Some("f")])),
    ])
    .unwrap()
}

fn columns() -> Vec<Column> {
    let population = Declaration::new()
        .features(["job", "hours", "debt", "id"].map(Feature::categorical))
        .protected(Protected::attribute("sex"))
        .read([rows()])
        .unwrap();
    population.columns().to_vec()
}

#[test]
fn every_difference_is_written_out() {
    let inputs = [
        input("job", known(&["clerk", "manager"])),
        input("hours", InputKind::Number),
        input("Debts", InputKind::Number),
        input("city", InputKind::Text(None)),
        input("sex", InputKind::Any),
    ];
    let fit = Fit::check(&inputs, &columns(), &["sex"]);
    assert!(!fit.is_ok());
    assert_eq!(
        fit.to_string(),
        "the table does not fit the model:
  - missing    `Debts`; did you mean the table's `debt`?
  - missing    `city`: the model reads it, and the table does not have it
  ! type       `hours`: the model reads numbers, and the table holds text such as `many`
  ? unseen     `job`: the model does not know `astronaut`, `baker`; it knows `clerk`, `manager`
  + unused     `debt`, `id`: the model does not read them
  * protected  `sex`: the model reads the protected attribute itself, so people are treated differently by it directly"
    );
}

#[test]
fn what_does_not_stand_in_the_way_is_only_noted() {
    let fit = Fit::check(
        &[
            input("job", known(&["clerk"])),
            input("debt", InputKind::Number),
        ],
        &columns(),
        &["sex"],
    );
    assert!(fit.is_ok() && !fit.is_exact());
    let text = fit.to_string();
    assert!(
        text.starts_with("the table fits the model, but note:"),
        "{text}"
    );
    // A protected attribute that the model leaves alone is as it should be.
    assert!(!text.contains("sex"), "{text}");
    assert_eq!(fit.extra, ["hours", "id"]);
}

#[test]
fn a_perfect_fit_says_so() {
    let all = ["job", "hours", "debt", "id"].map(|name| input(name, InputKind::Any));
    let fit = Fit::check(&all, &columns(), &["sex"]);
    assert!(fit.is_ok() && fit.is_exact());
    assert_eq!(
        fit.to_string(),
        "the table has exactly the columns that the model reads"
    );
}

#[test]
fn missing_values_and_long_lists_are_named_briefly() {
    let values: Vec<Option<String>> = (0..9)
        .map(|i| Some(format!("v{i}")))
        .chain([None])
        .collect();
    let (column, _) = Column::of("c", &StringArray::from(values)).unwrap();
    let fit = Fit::check(&[input("c", known(&["v0"]))], &[column], &[]);
    assert_eq!(fit.unseen[0].values.last().unwrap(), "(missing)");
    assert!(
        fit.to_string()
            .ends_with("does not know `v1`, `v2`, `v3`, `v4`, `v5` and 4 more; it knows `v0`")
    );
}

#[test]
fn names_and_types_alone_tell_something_too() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Schema::new(vec![
        Field::new("hours", dictionary, true),
        Field::new("sex", DataType::Utf8, true),
    ]);
    let fit = Fit::check_schema(&[input("hours", InputKind::Number)], &schema, &["sex"]);
    assert_eq!(fit.wrong_type[0].holds, "text");
    assert!(!fit.is_ok());
    assert!(fit.extra.is_empty());
}

#[test]
fn a_column_read_in_two_ways_is_missing_once() {
    let model: AdditiveModel = serde_json::from_str(
        r#"{ "intercept": 0, "levels": { "age": { "17": 1 } }, "numbers": { "age": 0.1 } }"#,
    )
    .unwrap();
    let inputs: Vec<Input> = model
        .columns()
        .map(|column| input(column, InputKind::Any))
        .collect();
    assert_eq!(inputs.len(), 2);
    let fit = Fit::check_schema(&inputs, &Schema::empty(), &[]);
    assert_eq!(fit.missing.len(), 1);
}

#[test]
fn names_that_an_exporter_respelled_are_found() {
    let names = ["hours-per-week", "marital status", "2nd job", "a-b", "a b"];
    let fields: Vec<Field> = names
        .iter()
        .map(|name| Field::new(*name, DataType::Int64, true))
        .collect();
    let inputs = ["hours_per_week", "marital_status", "_2nd_job", "a_b"];
    let inputs = inputs.map(|name| Input {
        spelling: Spelling::Exported,
        ..input(name, InputKind::Number)
    });
    let fit = Fit::check_schema(&inputs, &Schema::new(fields), &["marital status"]);
    assert_eq!(
        fit.to_string(),
        "the table does not fit the model:
  - missing    `a_b`; did you mean the table's `a b`?
  ~ respelled  `hours_per_week` is read from the table's `hours-per-week`
  ~ respelled  `marital_status` is read from the table's `marital status`
  ~ respelled  `_2nd_job` is read from the table's `2nd job`
  + unused     `a-b`, `a b`: the model does not read them
  * protected  `marital status`: the model reads the protected attribute itself, so people are treated differently by it directly"
    );
}

/// Each format is as generous as the model itself is when it is asked.
#[test]
fn names_are_only_respelled_where_the_model_finds_them() {
    let table = |names: &[&str]| {
        let fields = names.iter().map(|&n| Field::new(n, DataType::Int64, true));
        Schema::new(fields.collect::<Vec<_>>())
    };
    let of = |spelling, name: &str, columns: &[&str]| {
        let input = Input {
            spelling,
            ..input(name, InputKind::Number)
        };
        Fit::check_schema(&[input], &table(columns), &[])
    };
    let hyphens = ["native-country"];
    let blanks = ["native country"];
    for (spelling, in_hyphens, in_blanks) in [
        (Spelling::Exact, false, false),
        (Spelling::Blanks, false, true),
        (Spelling::Exported, true, true),
    ] {
        for (columns, found) in [(&hyphens, in_hyphens), (&blanks, in_blanks)] {
            let fit = of(spelling, "native_country", columns);
            assert_eq!(fit.is_ok(), found, "{spelling:?} {columns:?}");
            assert_eq!(fit.respelled.len(), usize::from(found));
            let closest = fit.missing.first().and_then(|m| m.closest.as_deref());
            assert_eq!(closest, (!found).then_some(columns[0]));
        }
    }

    // A linear model does not find it, and says so both before and when it is asked.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    std::fs::write(
        &path,
        r#"{"intercept": 0, "numbers": {"native_country": 1}}"#,
    )
    .unwrap();
    let linear = open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let fit = Fit::check_schema(&linear.inputs.unwrap(), &table(&hyphens), &[]);
    assert_eq!(
        fit.to_string(),
        "the table does not fit the model:
  - missing    `native_country`; did you mean the table's `native-country`?
  + unused     `native-country`: the model does not read it"
    );
    let rows = RecordBatch::try_from_iter([(
        "native-country",
        Arc::new(Int64Array::from(vec![1])) as ArrayRef,
    )]);
    assert!(linear.model.predict(&rows.unwrap()).is_err());
}
