//! Tables in several files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use facts_input::{InputError, Options, open_parts, parts};
use parquet::arrow::ArrowWriter;

use super::{file, row_of};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        file(&folder, name, bytes);
    }
    folder
}

/// All rows with the name of the part they are in, header first.
fn rows(paths: &[PathBuf]) -> Result<Vec<Vec<String>>, InputError> {
    let parts = parts(paths)?.unwrap();
    let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    let mut rows = Vec::new();
    for batch in open_parts(parts, &Options::default())? {
        let (part, batch) = batch?;
        if rows.is_empty() {
            let schema = batch.schema();
            let names = schema.fields().iter().map(|field| field.name().clone());
            rows.push(names.collect());
        }
        for row in 0..batch.num_rows() {
            let mut cells = row_of(&batch, row);
            cells.push(names[part].clone());
            rows.push(cells);
        }
    }
    Ok(rows)
}

fn refused(folder: &tempfile::TempDir) -> String {
    let error = rows(&[folder.path().to_owned()]).unwrap_err().to_string();
    error.replace(&folder.path().display().to_string(), "F")
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    parquet_of(&batch)
}

fn parquet_of(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Its columns are looked at, and it gives a batch, so that whoever reads it hears what it says about itself.
#[test]
fn a_part_without_rows_is_a_part() {
    let column = |name: &'static str, numbers: Vec<i64>| {
        let numbers: ArrayRef = Arc::new(Int64Array::from(numbers));
        RecordBatch::try_from_iter([(name, numbers)]).unwrap()
    };
    let (first, none) = (column("n", vec![1]), column("n", vec![]));
    let other = column("m", vec![]);
    let read = |second: &RecordBatch| {
        let bytes = [parquet_of(&first), parquet_of(second), parquet_of(&first)];
        let folder = folder(&[
            ("a.parquet", &bytes[0]),
            ("b.parquet", &bytes[1]),
            ("c.parquet", &bytes[2]),
        ]);
        let parts = parts(&[folder.path().to_owned()])?.unwrap();
        let batches = open_parts(parts, &Options::default())?;
        let batches = batches.map(|batch| batch.map(|(part, batch)| (part, batch.num_rows())));
        batches.collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(read(&none).unwrap(), [(0, 1), (1, 0), (2, 1)]);
    let error = read(&other).unwrap_err().to_string();
    assert!(
        error.contains("b.parquet is no part of this table"),
        "{error}"
    );
}

#[test]
fn a_folder_is_read_in_the_order_of_paths() {
    let folder = folder(&[
        ("b.csv", b"n,t\n3,x\n"),
        ("a.csv", b"t,n\nx,1\ny,2.5\n"),
        ("_SUCCESS", b""),
        (".b.csv.crc", b"\x00\x01"),
        ("empty.csv", b""),
        ("header.csv", b"n,t\n"),
    ]);
    // A number is a float in both, since it is one in one of them.
    let expected = [
        vec!["t", "n"],
        vec!["x", "1.0", "a.csv"],
        vec!["y", "2.5", "a.csv"],
        vec!["x", "3.0", "b.csv"],
    ];
    assert_eq!(rows(&[folder.path().to_owned()]).unwrap(), expected);
    assert_eq!(rows(&[folder.path().join("*.csv")]).unwrap(), expected);
    let listed = ["b.csv", "a.csv"].map(|name| folder.path().join(name));
    assert_eq!(rows(&listed).unwrap(), expected);
}

#[test]
fn folders_with_keys_give_columns() {
    let folder = folder(&[
        ("year=2023/sex=f/p.csv", b"n\n1\n"),
        ("year=2024/sex=__HIVE_DEFAULT_PARTITION__/p.csv", b"n\n2\n"),
    ]);
    let expected = [
        vec!["n", "year", "sex"],
        vec!["1", "2023", "f", "year=2023/sex=f/p.csv"],
        vec![
            "2",
            "2024",
            "∅",
            "year=2024/sex=__HIVE_DEFAULT_PARTITION__/p.csv",
        ],
    ];
    assert_eq!(rows(&[folder.path().to_owned()]).unwrap(), expected);
    assert_eq!(
        rows(&[folder.path().join("year=*/*/*.csv")]).unwrap(),
        expected
    );
    std::fs::write(folder.path().join("year=2024/q.csv"), "n\n3\n").unwrap();
    let error = refused(&folder);
    assert!(
        error.starts_with("F/year=2024/q.csv is no part of this table: its folders give the columns [year], those of F/year=2023/sex=f/p.csv give [year, sex]"),
        "{error}"
    );
}

/// As a shell lists them for a pattern that is not quoted.
#[test]
fn files_that_are_listed_have_the_keys_that_tell_them_apart() {
    let folder = folder(&[
        ("lake=1/year=2023/p.csv", b"n\n1\n"),
        ("lake=1/year=2024/p.csv", b"n\n2\n"),
    ]);
    let listed = ["2024", "2023"].map(|year| {
        let file = format!("lake=1/year={year}/p.csv");
        folder.path().join(file)
    });
    let expected = [
        vec!["n", "year"],
        vec!["1", "2023", "year=2023/p.csv"],
        vec!["2", "2024", "year=2024/p.csv"],
    ];
    assert_eq!(rows(&listed).unwrap(), expected);
}

/// A shell that expands `year=*` names folders, and they say as much as the pattern does.
#[test]
fn folders_that_are_listed_have_the_keys_that_tell_them_apart() {
    let folder = folder(&[
        ("lake=1/year=2023/p.csv", b"n\n1\n"),
        ("lake=1/year=2024/p.csv", b"n\n2\n"),
        ("lake=1/year=2024/q.csv", b"n\n3\n"),
    ]);
    let at = |path: &str| folder.path().join("lake=1").join(path);
    let expected = [
        vec!["n", "year"],
        vec!["1", "2023", "year=2023/p.csv"],
        vec!["2", "2024", "year=2024/p.csv"],
        vec!["3", "2024", "year=2024/q.csv"],
    ];
    for paths in [
        vec![at("year=*")],
        vec![at("year=2024"), at("year=2023")],
        vec![at("year=2023/p.csv"), at("year=2024")],
        vec![at("year=2023/*.csv"), at("year=2024/*.csv")],
        vec![at(""), at("year=2024")],
    ] {
        assert_eq!(rows(&paths).unwrap(), expected, "{paths:?}");
    }
    // Alone, a folder says nothing: its rows are not told apart by it.
    let alone = [vec!["n"], vec!["2", "p.csv"], vec!["3", "q.csv"]];
    assert_eq!(rows(&[at("year=2024")]).unwrap(), alone);
}

#[test]
fn a_key_that_nobody_wants_gives_no_values() {
    let folder = folder(&[
        ("year=2023/p.csv", b"n\n1\n"),
        ("year=2024/p.csv", b"n\n2\n"),
    ]);
    let options = Options {
        blank: vec!["year".to_owned()],
        ..Options::default()
    };
    let parts = parts(&[folder.path().to_owned()]).unwrap().unwrap();
    for batch in open_parts(parts, &options).unwrap() {
        let (_, batch) = batch.unwrap();
        assert_eq!(batch.num_columns(), 2);
        assert_eq!(batch["year"].data_type(), &DataType::Null);
    }
}

#[test]
fn a_pattern_does_not_find_what_is_hidden() {
    let folder = folder(&[
        ("sp/a.csv", b"n\n1\n"),
        ("sp/._SUCCESS.crc", b"\x00"),
        ("sp/_kept.csv", b"n\n2\n"),
        ("sp/_temporary/b.csv", b"n\n3\n"),
    ]);
    let first = [vec!["n"], vec!["1", "a.csv"]];
    assert_eq!(rows(&[folder.path().join("sp/*")]).unwrap(), first);
    assert_eq!(rows(&[folder.path().join("sp/**/*.csv")]).unwrap(), first);
    let kept = [vec!["n"], vec!["2", "_kept.csv"]];
    assert_eq!(rows(&[folder.path().join("sp/_*.csv")]).unwrap(), kept);
}

#[cfg(unix)]
#[test]
fn a_file_is_read_once_by_whatever_name() {
    let folder = folder(&[("sp/a.csv", b"n\n1\n"), ("sp/b.csv", b"n\n2\n")]);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("sp/a.csv"), at("link.csv")).unwrap();
    std::os::unix::fs::symlink(at("sp"), at("sp/again")).unwrap();
    let paths = [
        at("sp"),
        at("sp/../sp/a.csv"),
        at("link.csv"),
        at("sp/a.csv"),
    ];
    let found = parts(&paths).unwrap().unwrap();
    let found: Vec<(&str, usize)> = (found.iter())
        .map(|part| (part.name.rsplit('/').next().unwrap(), part.times))
        .collect();
    // In the order of their paths: the link comes first.
    assert_eq!(found, [("link.csv", 4), ("b.csv", 1)]);
}

#[test]
fn a_part_that_makes_a_column_text_is_known() {
    let folder = folder(&[
        ("0.csv", b"years,place,code\n,,1\n"),
        ("1.csv", b"years,place,code\n3,x,2\nNA,y,7\n"),
        ("2.csv", b"years,place,code\nmany,z,true\n"),
        ("3.csv", b"years,place,code\nfew,z,4\n"),
    ]);
    let parts = parts(&[folder.path().to_owned()]).unwrap().unwrap();
    let table = open_parts(parts, &Options::default()).unwrap();
    let named = |column: &str, part: &str| (column.to_owned(), part.to_owned());
    let expected = [named("code", "2.csv"), named("years", "2.csv")];
    assert_eq!(table.made_text(), expected);
}

#[test]
fn a_part_that_differs_is_named() {
    let csv = folder(&[("a.csv", b"n,t\n1,x\n"), ("b.csv", b"n,u\n1,x\n")]);
    let error = refused(&csv);
    assert!(
        error.starts_with(
            "F/b.csv is no part of this table: it has a column `u`, which F/a.csv has not"
        ),
        "{error}"
    );
    let number = |n: i64| Arc::new(Int64Array::from(vec![n])) as ArrayRef;
    let text = |t: &str| Arc::new(StringArray::from(vec![t])) as ArrayRef;
    let first = parquet(vec![("n", number(1)), ("t", text("x"))]);
    let other_type = parquet(vec![("n", text("2")), ("t", text("x"))]);
    let fewer = parquet(vec![("n", number(1))]);
    let mut cut = first.clone();
    cut.truncate(first.len() - 7);
    for (part, why) in [
        (other_type.as_slice(), "its column `n` is "),
        (&fewer, "it has no column `t`, which F/a.parquet has"),
        (b"n,t\n1,x\n", ""),
        (&cut, ""),
    ] {
        let folder = folder(&[("a.parquet", first.as_slice()), ("b.parquet", part)]);
        let error = refused(&folder);
        assert!(
            error.starts_with("F/b.parquet ") && error.contains(why),
            "{error}"
        );
    }
    let mixed = folder(&[("a.parquet", first.as_slice()), ("b.csv", b"n,t\n1,x\n")]);
    let error = refused(&mixed);
    assert!(
        error.contains("it is in CSV format, and F/a.parquet is in Parquet"),
        "{error}"
    );
}

/// Files that were replaced or deleted lie beside those that count, and only the log tells them apart.
#[test]
fn a_table_whose_log_says_which_files_count_is_refused() {
    for (log, keeper, remedy) in [
        ("_delta_log/0.json", "Delta Lake", "delta_scan"),
        ("metadata/v1.metadata.json", "Iceberg", "iceberg_scan"),
        (".hoodie/hoodie.properties", "Hudi", "Spark"),
    ] {
        let log = format!("lake/{log}");
        let folder = folder(&[
            ("lake/year=2023/p.csv", b"n\n1\n"),
            ("lake/year=2024/p.csv", b"n\n2\n"),
            (&log, b"{}"),
        ]);
        let at = |path: &str| folder.path().join(path);
        let said = |paths: &[PathBuf]| {
            let error = parts(paths).unwrap_err().to_string();
            error.replace(&folder.path().display().to_string(), "F")
        };
        let expected = format!("F/lake is a table of {keeper}, whose log says which");
        for path in ["lake", "", "lake/year=2023", "l*"] {
            let error = said(&[at(path)]);
            let begins = error.replace("lake/ ", "lake ");
            assert!(begins.starts_with(&expected), "{path}: {error}");
            assert!(error.contains(remedy), "{error}");
            assert!(error.ends_with("'F/lake/**/*.parquet'"), "{error}");
        }
        // Whoever asks for the files gets them.
        for pattern in ["lake/**/*.csv", "lake/year=*"] {
            assert_eq!(rows(&[at(pattern)]).unwrap().len(), 3, "{pattern}");
        }
        let files = [at("lake/year=2023/p.csv"), at("lake/year=2024/p.csv")];
        assert_eq!(rows(&files).unwrap().len(), 3);
    }
    let plain = folder(&[("p.csv", b"n\n1\n"), ("metadata/p.csv", b"n\n2\n")]);
    assert_eq!(rows(&[plain.path().to_owned()]).unwrap().len(), 3);
}

#[test]
fn what_is_not_there_is_said() {
    let folder = folder(&[("_SUCCESS", b"")]);
    assert!(refused(&folder).starts_with("F: no files are there"));
    let error = parts(&[folder.path().join("*.parquet")]).unwrap_err();
    assert!(error.to_string().contains("no files are there"), "{error}");
    let error = parts(&[Path::new("a***b").to_owned()]).unwrap_err();
    assert!(
        error.to_string().contains("is no pattern for file names"),
        "{error}"
    );
    // One file, a pipe and a file that is not there are for the reader of one.
    assert_eq!(parts(&[Path::new("-").to_owned()]).unwrap(), None);
    assert_eq!(parts(&[Path::new("gone.csv").to_owned()]).unwrap(), None);
}
