//! The real table of an experiment, in the place of the stand-in.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use facts_engine::population::{Column, Value};
use facts_reproduce::{Experiment, Reproduction, Run, Variant, compare};
use facts_run::{Failure, FailureKind, Silent};

/// Writes a table as CSV, as the real files are.
fn write(folder: &Path, name: &str, table: &RecordBatch) -> PathBuf {
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let columns: Vec<Vec<String>> = (schema.fields().iter().zip(table.columns()))
        .map(|(field, array)| {
            let (column, codes) = Column::of(field.name(), array).unwrap();
            let text = |value: &Value| match value {
                Value::Null => String::new(),
                value => value.label(),
            };
            let texts: Vec<String> = column.values().iter().map(text).collect();
            codes
                .iter()
                .map(|&code| texts[code as usize].clone())
                .collect()
        })
        .collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table.num_rows() {
        let cells: Vec<&str> = columns.iter().map(|cells| cells[row].as_str()).collect();
        text += &(cells.join(",") + "\n");
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn run(name: &str, path: &Path) -> Result<Reproduction, Failure> {
    let experiment = Experiment::named(name).unwrap();
    let run = Run {
        data: Some(path),
        support: Some("0.05"),
        ..Run::new(experiment, Variant::Authors)
    };
    run.run(&Silent)
}

#[test]
fn a_file_takes_the_place_of_the_stand_in() {
    let folder = tempfile::tempdir().unwrap();
    let ssl = write(folder.path(), "ssl.csv", &facts_stand_in::ssl(30_000, 7));
    let made = run("ssl", &ssl).unwrap();
    assert!(!made.stand_in);
    assert_eq!(
        made.split_and_model,
        "the authors' split, model fitted here"
    );
    assert_eq!(made.record.data.name, "ssl.csv");
    let groups: Vec<&str> = made
        .record
        .audit
        .groups
        .iter()
        .map(|g| g.name.as_str())
        .collect();
    assert_eq!(groups, ["Black", "White"]);
    assert!(!compare(&made).unwrap().stand_in);

    let rows = facts_stand_in::ad_campaign(60_000, 7);
    let ads = write(folder.path(), "ads.csv", &rows);
    let made = run("ad-campaign", &ads).unwrap();
    assert!(!made.stand_in);
    let excluded = made.record.audit.population.excluded;
    assert!(excluded > 0, "nobody of unknown gender was left out");
    compare(&made).unwrap();
}

#[test]
fn another_file_is_refused_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let ads = facts_stand_in::ad_campaign(100, 7);
    let path = write(folder.path(), "ads.csv", &ads);
    let failure = run("ssl", &path).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Usage);
    let text = failure.to_string();
    assert!(
        text.starts_with("data.keep: there is no column `RACE CODE CD`; the table has: religion")
    );
    assert!(
        text.ends_with("is read as the configuration of `ssl` says"),
        "{text}"
    );
}
