//! Reading the table, and preparing it: replaced values, rows that will be dropped.

use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::filter::filter_record_batch;
use facts_engine::population::{Column, Value};
use facts_input::csv::{ColumnType, CsvOptions, Duplicates, Encoding, Header};
use facts_input::{Format, Options, Source};
use facts_report::Origin;
use sha2::{Digest, Sha256};

use crate::config;
use crate::failure::Failure;

/// A table in memory, and where it comes from.
#[derive(Debug)]
pub struct Table {
    /// Its rows.
    pub batches: Vec<RecordBatch>,
    /// What it was called, and how to recognise it.
    pub origin: Origin,
}

impl Table {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path, data: &config::Data) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let is_pipe = name == "-" || !path.is_file();
        // A path as it stands: a name such as `data:1.csv` is no prefix.
        let source = if name == "-" {
            Source::Stdin
        } else {
            PathBuf::from(path).into()
        };
        let table = Self::from_source(source, data)?;
        let origin = Origin {
            name: path
                .file_name()
                .map_or(name.clone(), |name| name.to_string_lossy().into_owned()),
            sha256: if is_pipe { None } else { Some(sha256(path)?) },
        };
        Ok(Self { origin, ..table })
    }

    /// Reads bytes that are there already.
    pub fn embedded(
        name: &str,
        bytes: &'static [u8],
        data: &config::Data,
    ) -> Result<Self, Failure> {
        let table = Self::from_source(Source::reader(name, bytes), data)?;
        let mut hash = Sha256::new();
        hash.update(bytes);
        let origin = Origin {
            name: name.to_owned(),
            sha256: Some(hex(hash)),
        };
        Ok(Self { origin, ..table })
    }

    fn from_source(source: Source, data: &config::Data) -> Result<Self, Failure> {
        let name = source.name();
        let table = facts_input::open(source, &options(data)?)?;
        let batches = table.collect::<Result<Vec<_>, _>>()?;
        Self::prepared(batches, Origin { name, sha256: None }, data)
    }

    /// A table of rows that are there already, prepared as the configuration says.
    pub fn prepared(
        batches: Vec<RecordBatch>,
        origin: Origin,
        data: &config::Data,
    ) -> Result<Self, Failure> {
        let prepare = |batch| replaced(cut(kept(batch, data)?, data)?, data);
        Ok(Self {
            batches: batches.into_iter().map(prepare).collect::<Result<_, _>>()?,
            origin,
        })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of its columns.
    pub fn names(&self) -> Vec<String> {
        let schema = self.batches.first().map(RecordBatch::schema);
        schema.map_or_else(Vec::new, |schema| {
            schema
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect()
        })
    }
}

/// The SHA-256 of a file.
pub(crate) fn sha256(path: &Path) -> Result<String, Failure> {
    let refuse = |error| Failure::data(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(refuse)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(refuse)? {
            0 => return Ok(hex(hash)),
            n => hash.update(&buffer[..n]),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn options(data: &config::Data) -> Result<Options, Failure> {
    let character = |what: &str, text: &Option<String>| -> Result<Option<u8>, Failure> {
        match text.as_deref() {
            None => Ok(None),
            Some("\\t" | "tab") => Ok(Some(b'\t')),
            Some(text) if text.len() == 1 => Ok(Some(text.as_bytes()[0])),
            Some(text) => Err(Failure::usage(format!(
                "{what} is `{text}`; give one character, or tab"
            ))),
        }
    };
    let mut csv = CsvOptions {
        delimiter: character("the delimiter", &data.delimiter)?,
        nulls: data.nulls.clone(),
        ..CsvOptions::default()
    };
    if data.quote.as_deref() == Some("") {
        csv.quote = None;
    } else if let Some(quote) = character("the quote", &data.quote)? {
        csv.quote = Some(quote);
    }
    if let Some(names) = &data.names {
        csv.header = Header::Names(names.clone());
    } else if data.header == Some(false) {
        csv.header = Header::Absent;
    }
    if data.duplicates == Some(config::Duplicates::Number) {
        csv.duplicates = Duplicates::Number;
    }
    if let Some(encoding) = &data.encoding {
        csv.encoding = encoding.parse::<Encoding>().map_err(Failure::usage)?;
    }
    csv.trim = data.trim.unwrap_or(true);
    csv.types = (data.types.iter())
        .map(|(column, kind)| {
            let kind = match kind {
                config::ColumnType::Boolean => ColumnType::Boolean,
                config::ColumnType::Integer => ColumnType::Int64,
                config::ColumnType::Float => ColumnType::Float64,
                config::ColumnType::Text => ColumnType::Text,
            };
            (column.clone(), kind)
        })
        .collect();
    Ok(Options {
        format: data.format.map(|format| match format {
            config::Format::Csv => Format::Csv,
            config::Format::Parquet => Format::Parquet,
            config::Format::ArrowFile => Format::ArrowFile,
            config::Format::ArrowStream => Format::ArrowStream,
        }),
        csv,
        ..Options::default()
    })
}

/// A batch without the rows that the configuration does not keep.
fn kept(batch: RecordBatch, data: &config::Data) -> Result<RecordBatch, Failure> {
    if data.keep.is_empty() {
        return Ok(batch);
    }
    let mut keep = vec![true; batch.num_rows()];
    for (name, wanted) in &data.keep {
        let place = place_of("data.keep", name, &batch)?;
        let (column, codes) = Column::of(name, batch.column(place))?;
        let is_kept = |value: &Value| match (value, wanted) {
            (Value::Null, _) => false,
            (value, config::Keep::Range { from, to }) => {
                value.number().is_some_and(|n| *from <= n && n <= *to)
            }
            (value, config::Keep::Values(values)) => {
                let label = value.label();
                values
                    .iter()
                    .any(|wanted| wanted.0 == "*" || wanted.0 == label.trim())
            }
        };
        let by_code: Vec<bool> = column.values().iter().map(is_kept).collect();
        for (keep, code) in keep.iter_mut().zip(codes) {
            *keep &= by_code[code as usize];
        }
    }
    filter_record_batch(&batch, &BooleanArray::from(keep)).map_err(Failure::data)
}

/// A batch with labels of bins in the place of the numbers that the configuration cuts.
fn cut(batch: RecordBatch, data: &config::Data) -> Result<RecordBatch, Failure> {
    let mut batch = batch;
    for (name, bins) in &data.cut {
        let refuse = |why: String| Failure::usage(format!("data.cut.{name}: {why}"));
        let ascend = bins.edges.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || bins.labels.is_empty() || bins.edges.len() != bins.labels.len() + 1 {
            return Err(refuse(format!(
                "{} labels need {} ascending edges",
                bins.labels.len(),
                bins.labels.len() + 1
            )));
        }
        let place = place_of("data.cut", name, &batch)?;
        let (column, codes) = Column::of(name, batch.column(place))?;
        let label = |value: &Value| -> Result<Option<&str>, Failure> {
            if *value == Value::Null {
                return Ok(None);
            }
            let number = value.number().filter(|number| {
                bins.edges[0] <= *number && *number <= bins.edges[bins.labels.len()]
            });
            let number = number
                .ok_or_else(|| refuse(format!("`{}` lies in no bin", value.label().trim())))?;
            let bin = bins.edges.partition_point(|edge| *edge < number);
            Ok(Some(&bins.labels[bin.saturating_sub(1)]))
        };
        let by_code: Vec<Option<&str>> = (column.values().iter())
            .map(label)
            .collect::<Result<_, _>>()?;
        let cells = codes.iter().map(|&code| by_code[code as usize]).collect();
        batch = with_text(&batch, place, cells)?;
    }
    Ok(batch)
}

/// A batch with text in the place of one of its columns.
fn with_text(
    batch: &RecordBatch,
    place: usize,
    cells: StringArray,
) -> Result<RecordBatch, Failure> {
    let schema = batch.schema();
    let mut fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone()).collect();
    let mut columns = batch.columns().to_vec();
    fields[place] = Field::new(fields[place].name(), DataType::Utf8, true);
    columns[place] = std::sync::Arc::new(cells);
    let schema = std::sync::Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, columns).map_err(Failure::data)
}

/// The place of a column that a key of the configuration names.
fn place_of(key: &str, name: &str, batch: &RecordBatch) -> Result<usize, Failure> {
    let schema = batch.schema();
    schema.index_of(name).map_err(|_| {
        let known: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        Failure::usage(format!(
            "{key} names the column `{name}`; the table has: {}",
            known.join(", ")
        ))
    })
}

/// A batch with the values that the configuration replaces; the model sees them replaced too.
fn replaced(batch: RecordBatch, data: &config::Data) -> Result<RecordBatch, Failure> {
    let mut batch = batch;
    for (name, table) in &data.replace {
        let place = place_of("data.replace", name, &batch)?;
        let (column, codes) = Column::of(name, batch.column(place))?;
        let values: Vec<Option<String>> = (column.values().iter())
            .map(|value| match value {
                Value::Null => None,
                value => {
                    let label = value.label();
                    let new = table.get(&label).or_else(|| table.get(label.trim()));
                    Some(new.cloned().unwrap_or(label))
                }
            })
            .collect();
        let cells = codes.iter().map(|&code| values[code as usize].as_deref());
        batch = with_text(&batch, place, cells.collect())?;
    }
    Ok(batch)
}

/// The distinct values of a column, and the code of each row.
pub(crate) fn encoded(batches: &[RecordBatch], name: &str) -> Result<(Column, Vec<u32>), Failure> {
    Ok(Column::of(name, &whole(batches, name)?)?)
}

/// A column of all batches.
fn whole(batches: &[RecordBatch], name: &str) -> Result<ArrayRef, Failure> {
    let parts: Vec<&dyn Array> = (batches.iter())
        .filter_map(|batch| batch.column_by_name(name).map(AsRef::as_ref))
        .collect();
    if parts.is_empty() {
        return Err(Failure::usage(format!("there is no column `{name}`")));
    }
    concat(&parts).map_err(Failure::data)
}

/// The batches without the rows that miss a value in one of these columns, whose missing codes are
/// given beside them; and how many rows that were.
pub(crate) fn without_missing(
    batches: &[RecordBatch],
    columns: &[(String, Vec<String>)],
) -> Result<(Vec<RecordBatch>, usize), Failure> {
    let mut dropped = 0;
    let mut kept = Vec::with_capacity(batches.len());
    for batch in batches {
        let mut keep = vec![true; batch.num_rows()];
        for (name, missing_codes) in columns {
            let Some(array) = batch.column_by_name(name) else {
                continue;
            };
            let (column, codes) = Column::of(name, array)?;
            let missing: Vec<bool> = (column.values().iter())
                .map(|value| {
                    *value == Value::Null
                        || missing_codes
                            .iter()
                            .any(|code| *code == value.label().trim())
                })
                .collect();
            for (keep, code) in keep.iter_mut().zip(codes) {
                *keep &= !missing[code as usize];
            }
        }
        dropped += keep.iter().filter(|keep| !**keep).count();
        let batch = filter_record_batch(batch, &BooleanArray::from(keep));
        kept.push(batch.map_err(Failure::data)?);
    }
    Ok((kept, dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(settings: &str) -> Result<Vec<Option<String>>, Failure> {
        let text = "score,charge\n10,F\n31,M\n,M\n2,O\n-5,\n";
        let config = config::Config::parse("facts.toml", settings, &[])?;
        let table = Table::from_source(Source::reader("t.csv", text.as_bytes()), &config.data)?;
        let cells = table.batches.iter().flat_map(|batch| {
            let (column, codes) = Column::of("score", batch.column(0)).unwrap();
            let label = |code: u32| match &column.values()[code as usize] {
                Value::Null => None,
                value => Some(value.label()),
            };
            codes.into_iter().map(label).collect::<Vec<_>>()
        });
        Ok(cells.collect())
    }

    fn some(cells: &[&str]) -> Vec<Option<String>> {
        cells.iter().map(|cell| Some((*cell).to_owned())).collect()
    }

    #[test]
    fn rows_are_kept_by_value_and_by_number() {
        let kept = prepared("data.keep.charge = [\"F\", \"O\"]\n").unwrap();
        assert_eq!(kept, some(&["10", "2"]));
        let kept = prepared("data.keep.score = { from = -5, to = 10 }\n").unwrap();
        assert_eq!(kept, some(&["10", "2", "-5"]));
        let kept = prepared("data.keep = { charge = [\"*\"], score = [\"*\"] }\n").unwrap();
        assert_eq!(kept, some(&["10", "31", "2"]));
        let error = prepared("data.keep.chrage = [\"F\"]\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.keep names the column `chrage`; the table has: score, charge"
        );
        let error = prepared("data.keep.charge = \"F\"\n").unwrap_err();
        assert!(
            error.to_string().contains("expected a list of values"),
            "{error}"
        );
    }

    #[test]
    fn numbers_become_labels() {
        let cut = "data.cut.score = { edges = [-5, 2, 50], labels = [\"low\", \"high\"] }\n";
        let labels = prepared(cut).unwrap();
        let mut expected = some(&["high", "high", "low", "low"]);
        expected.insert(2, None);
        assert_eq!(labels, expected);
        let error = prepared(&cut.replace("50", "20")).unwrap_err();
        assert_eq!(error.to_string(), "data.cut.score: `31` lies in no bin");
        let error = prepared(&cut.replace("2, ", "")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.cut.score: 2 labels need 3 ascending edges"
        );
    }
}
