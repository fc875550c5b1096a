//! Behaviour that a user of the readers sees. One program, so that the decoders
//! are linked once.

// The lints let tests do this, but not the functions that tests share.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod csv;
mod damaged;
mod errors;
mod formats;
mod parts;
mod real_data;
mod round_trip;

use std::io::{Read, Write};
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use facts_input::csv::CsvOptions;
use facts_input::{InputError, Options, Source, Table, open};

/// Options for CSV.
fn csv(change: impl FnOnce(&mut CsvOptions)) -> Options {
    let mut options = Options::default();
    change(&mut options.csv);
    options
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

/// A table from bytes that pass by once.
fn read(name: &str, bytes: impl AsRef<[u8]>, options: &Options) -> Result<Table, InputError> {
    let bytes = std::io::Cursor::new(bytes.as_ref().to_vec());
    open(Source::reader(name, bytes), options)
}

/// The whole table as text, header first; `∅` for a missing value.
fn cells(table: Table) -> Result<Vec<Vec<String>>, InputError> {
    let schema = table.schema();
    let header = schema.fields().iter().map(|field| field.name().clone());
    let mut rows = vec![header.collect()];
    for batch in table {
        let batch = batch?;
        assert_eq!(batch.schema(), schema);
        rows.extend((0..batch.num_rows()).map(|row| row_of(&batch, row)));
    }
    Ok(rows)
}

fn row_of(batch: &RecordBatch, row: usize) -> Vec<String> {
    batch.columns().iter().map(|c| cell(c, row)).collect()
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return "∅".into();
    }
    match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => {
            let number = column.as_primitive::<Float64Type>().value(row);
            format!("{number:?}")
        }
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::Utf8View => column.as_string_view().value(row).into(),
        other => panic!("no text for {other}"),
    }
}

fn types(table: &Table) -> Vec<DataType> {
    let schema = table.schema();
    let fields = schema.fields().iter();
    fields.map(|field| field.data_type().clone()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    flate2::read::GzEncoder::new(bytes, flate2::Compression::default())
        .read_to_end(&mut archive)
        .unwrap();
    archive
}

/// A file of this name in a folder that lasts as long as the test.
fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(bytes))
        .unwrap();
    path
}
