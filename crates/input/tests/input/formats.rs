//! One table in every format, compressed or not, from disk and from a pipe.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::DataType;
use facts_input::{Format, Options, open};
use parquet::arrow::ArrowWriter;

use super::*;

const CSV: &str = "age,sex,rate,member\n39, Male,0.5,true\n50, Female,,false\n,,2.0,\n";

pub(super) fn people() -> RecordBatch {
    let columns: [(&str, ArrayRef); 4] = [
        (
            "age",
            Arc::new(Int64Array::from(vec![Some(39), Some(50), None])),
        ),
        (
            "sex",
            Arc::new(StringArray::from(vec![
                Some(" Male"),
                Some(" Female"),
                None,
            ])),
        ),
        (
            "rate",
            Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.0)])),
        ),
        (
            "member",
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .unwrap()
}

pub(super) fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(super) fn arrow_file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression);
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.unwrap()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(super) fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn every_format() -> Vec<(&'static str, Vec<u8>)> {
    let batch = people();
    vec![
        ("people.csv", CSV.into()),
        ("people.parquet", parquet(&batch)),
        ("people.arrow", arrow_file(&batch, None)),
        (
            "people.feather",
            arrow_file(&batch, Some(CompressionType::LZ4_FRAME)),
        ),
        (
            "people.ipc",
            arrow_file(&batch, Some(CompressionType::ZSTD)),
        ),
        ("people.arrows", arrow_stream(&batch)),
    ]
}

#[test]
fn every_format_holds_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    for (name, plain) in every_format() {
        let zst = zstd::encode_all(&plain[..], 0).unwrap();
        let gz = gzip(&plain);
        for (name, bytes) in [
            (name.to_string(), plain),
            (format!("{name}.gz"), gz),
            (format!("{name}.zst"), zst),
        ] {
            let path = file(&folder, &name, &bytes);
            for table in [
                open(path, &Options::default()).unwrap(),
                read("standard input", &bytes, &Options::default()).unwrap(),
            ] {
                assert_eq!(table.schema(), people().schema(), "{name}");
                let batches: Vec<_> = table.map(Result::unwrap).collect();
                assert_eq!(batches, [people()], "{name}");
            }
        }
    }
}

#[test]
fn some_columns_in_an_order_of_ones_own() {
    let options = Options {
        columns: Some(strings(&["member", "age", "member"])),
        ..Options::default()
    };
    for (name, bytes) in every_format() {
        let table = read(name, bytes, &options).unwrap();
        let expected = [
            ["member", "age"],
            ["true", "39"],
            ["false", "50"],
            ["∅", "∅"],
        ];
        assert_eq!(cells(table).unwrap(), expected, "{name}");
    }
}

#[test]
fn no_columns_still_count_rows() {
    let options = Options {
        columns: Some(Vec::new()),
        ..Options::default()
    };
    for (name, bytes) in every_format() {
        let table = read(name, bytes, &options).unwrap();
        let rows: usize = table.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 3, "{name}");
    }
}

#[test]
fn batches_are_as_long_as_asked() {
    let options = Options {
        batch_rows: NonZeroUsize::new(2).unwrap(),
        ..Options::default()
    };
    for (name, bytes) in every_format().into_iter().take(2) {
        let table = read(name, bytes, &options).unwrap();
        let rows: Vec<_> = table.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows, [2, 1], "{name}");
    }
}

#[test]
fn strings_keep_the_form_they_were_written_in() {
    let texts = vec!["a", "b", "a"];
    let columns: [(&str, ArrayRef); 3] = [
        ("large", Arc::new(LargeStringArray::from(texts.clone()))),
        ("view", Arc::new(StringViewArray::from(texts.clone()))),
        (
            "dictionary",
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for bytes in [
        parquet(&batch),
        arrow_file(&batch, None),
        arrow_stream(&batch),
    ] {
        let table = read("standard input", bytes, &Options::default()).unwrap();
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let expected = [DataType::LargeUtf8, DataType::Utf8View, dictionary];
        assert_eq!(types(&table), expected);
        let rows: usize = table.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 3);
    }
}

#[test]
fn several_gzip_members_are_one_file() {
    let mut bytes = gzip(b"a,b\n1,2\n");
    bytes.extend(gzip(b"3,4\n"));
    let table = read("a.csv.gz", bytes, &Options::default()).unwrap();
    assert_eq!(cells(table).unwrap(), [["a", "b"], ["1", "2"], ["3", "4"]]);
}

#[test]
fn a_format_can_be_told() {
    let options = Options {
        format: Some(Format::Csv),
        ..Options::default()
    };
    let table = read("people.parquet", "a\n1\n", &options).unwrap();
    assert_eq!(cells(table).unwrap(), [["a"], ["1"]]);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, CSV).unwrap()
    });
    let table = open(path, &Options::default()).unwrap();
    assert_eq!(table.map(Result::unwrap).collect::<Vec<_>>(), [people()]);
    writer.join().unwrap();
}

/// Columns that nobody wants keep their names and places; of Parquet they are not even read.
#[test]
fn blank_columns_hold_nothing() {
    let people = people();
    let options = Options {
        blank: vec!["sex".into(), "member".into(), "unknown".into()],
        ..Options::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let damaged = {
        // The pages of `sex` lie between those of `age` and of `rate`.
        let mut bytes = parquet(&people);
        let at = bytes.windows(5).position(|w| w == b" Male").unwrap();
        bytes[at - 4..at + 16].fill(0xff);
        bytes
    };
    for (name, bytes) in [
        ("t.csv", CSV.as_bytes().to_vec()),
        ("t.parquet", parquet(&people)),
        ("damaged.parquet", damaged),
        ("t.arrow", arrow_file(&people, None)),
    ] {
        let table = open(file(&folder, name, &bytes), &options).unwrap();
        let types: Vec<DataType> = (table.schema().fields().iter())
            .map(|field| field.data_type().clone())
            .collect();
        let expected = [
            DataType::Int64,
            DataType::Null,
            DataType::Float64,
            DataType::Null,
        ];
        assert_eq!(types, expected, "{name}");
        let batches: Vec<RecordBatch> = table.map(Result::unwrap).collect();
        assert_eq!(batches[0].column(0), people.column(0), "{name}");
        assert_eq!(batches[0].column(2), people.column(2), "{name}");
        assert_eq!(batches[0].column(3).logical_null_count(), 3, "{name}");
    }
    let all = Options {
        blank: ["age", "sex", "rate", "member"].map(String::from).to_vec(),
        ..Options::default()
    };
    let mut table = open(file(&folder, "all.parquet", &parquet(&people)), &all).unwrap();
    assert_eq!(table.next().unwrap().unwrap().num_rows(), 3);
}
