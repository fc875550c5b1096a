//! The public data sets of the field, as they are found in the wild.

use std::path::PathBuf;

use arrow_schema::DataType;
use facts_input::csv::{Duplicates, Header};
use facts_input::{Options, open};

use super::*;

/// A data set that comes with the sources.
fn data(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data")).join(path)
}

#[test]
fn adult_keeps_its_blanks() {
    let path = data("adult/adult.csv.gz");
    let rows = cells(open(path.clone(), &Options::default()).unwrap()).unwrap();
    assert_eq!((rows.len() - 1, rows[0].len()), (48_842, 15));
    assert_eq!(rows[0][1], "Workclass");
    assert_eq!(rows[1][..4], ["39", " State-gov", "77516", " Bachelors"]);
    assert_eq!(rows[1][14], " <=50K");

    let unknown = csv(|o| o.nulls = strings(&["?"]));
    let table = open(path, &unknown).unwrap();
    let numbers = table.schema();
    let numbers = numbers
        .fields()
        .iter()
        .filter(|f| *f.data_type() == DataType::Int64);
    let numbers: Vec<&str> = numbers.map(|f| f.name().as_str()).collect();
    assert_eq!(
        numbers,
        [
            "age",
            "fnlwgt",
            "education-num",
            "capital-gain",
            "capital-loss",
            "hours-per-week"
        ]
    );
    let complete = cells(table).unwrap();
    let complete = complete
        .iter()
        .skip(1)
        .filter(|row| !row.contains(&"∅".into()));
    assert_eq!(complete.count(), 45_222);
}

#[test]
fn compas_has_two_columns_twice() {
    let path = data("compas/compas-scores-two-years.csv.gz");
    let refused = open(path.clone(), &Options::default()).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("columns 12 and 40 are both named 'decile_score'; rename one, or have duplicates numbered (a second 'score' is then 'score.1')"),
        "{refused}"
    );
    let numbered = csv(|o| o.duplicates = Duplicates::Number);
    let rows = cells(open(path, &numbered).unwrap()).unwrap();
    assert_eq!((rows.len() - 1, rows[0].len()), (7_214, 53));
    assert_eq!(rows[0][39], "decile_score.1");
    assert_eq!(rows[0][48], "priors_count.1");
    assert_eq!(rows[1][1..3], ["miguel hernandez", "miguel"]);
    assert_eq!(rows[1][20], "∅");
}

#[test]
fn german_has_no_header_and_spaces() {
    let path = data("german/german.data.gz");
    let options = csv(|o| {
        o.delimiter = Some(b' ');
        o.header = Header::Absent;
    });
    let table = open(path, &options).unwrap();
    assert_eq!(types(&table)[..2], [DataType::Utf8, DataType::Int64]);
    let rows = cells(table).unwrap();
    assert_eq!((rows.len() - 1, rows[0].len()), (1_000, 21));
    assert_eq!(rows[0][20], "column_21");
    assert_eq!(rows[1][..5], ["A11", "6", "A34", "A43", "1169"]);
}

#[test]
fn acs_comes_as_parquet() {
    // Too large to come with the sources.
    let path = data("../../shared/data/acs/acs_income_2018.parquet");
    if !path.exists() {
        eprintln!("NOT TESTED: {} is not there", path.display());
        return;
    }
    let table = open(path, &Options::default()).unwrap();
    // Eleven columns and the row numbers that pandas wrote beside them.
    assert_eq!(table.schema().fields().len(), 12);
    assert_eq!(table.schema().field(0).name(), "PINCP");
    assert_eq!(table.schema().field(11).name(), "index");
    assert_eq!(types(&table), vec![DataType::Int64; 12]);
    let rows: usize = table.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 665_800);
}
