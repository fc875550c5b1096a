//! Read: the table of an audit, encoded once and prepared as the configuration says.

use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use facts_engine::population::{self, Bins, Edges, Value, View};
use facts_input::csv::{CsvOptions, Duplicates, Encoding, Header};
use facts_input::{Options, Source};
use facts_report::Origin;
use sha2::{Digest, Sha256};

use crate::config;
use crate::failure::Failure;

/// A table in memory, and where it comes from.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its columns, encoded.
    pub cells: population::Table,
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
        let origin = Origin {
            name: name.to_owned(),
            sha256: Some(hex(&Sha256::digest(bytes))),
        };
        Ok(Self { origin, ..table })
    }

    fn from_source(source: Source, data: &config::Data) -> Result<Self, Failure> {
        let name = source.name();
        let mut cells = population::Table::default();
        for batch in facts_input::open(source, &options(data)?)? {
            cells.push(&batch?)?;
        }
        let origin = Origin { name, sha256: None };
        Self { cells, origin }.prepared(data)
    }

    /// A table of rows that are there already.
    pub fn of(batches: &[RecordBatch], origin: Origin) -> Result<Self, Failure> {
        let cells = population::Table::read(batches)?;
        Ok(Self { cells, origin })
    }

    /// The table as the configuration prepares it: rows kept, numbers cut, values replaced. Everybody
    /// sees it so, the model too.
    pub fn prepared(mut self, data: &config::Data) -> Result<Self, Failure> {
        self.keep(data)?;
        for (name, cut) in &data.cut {
            let bins = Bins {
                edges: Edges::At(cut.edges.clone()),
                labels: Some(cut.labels.clone()),
                view: View::Label,
            };
            let done = self.cells.cut(name, &bins);
            done.map_err(|error| Failure::usage(format!("data.cut.{name}: {error}")))?;
        }
        for (name, table) in &data.replace {
            let done = self.cells.replace(name, |value| -> Result<Value, Failure> {
                Ok(match value {
                    Value::Null => Value::Null,
                    value => {
                        let label = value.label();
                        let new = table.get(&label).or_else(|| table.get(label.trim()));
                        Value::Text(new.map_or(label.as_str(), String::as_str).into())
                    }
                })
            });
            done.map_err(|error| Failure::usage(format!("data.replace: {error}")))?;
        }
        Ok(self)
    }

    /// Leaves out the rows that the configuration does not keep.
    fn keep(&mut self, data: &config::Data) -> Result<(), Failure> {
        if data.keep.is_empty() {
            return Ok(());
        }
        let mut keep = vec![true; self.rows()];
        for (name, wanted) in &data.keep {
            let column = self.cells.column(name);
            let column = column.map_err(|error| Failure::usage(format!("data.keep: {error}")))?;
            let is_kept = |value: &Value| match (value, wanted) {
                (Value::Null, _) => false,
                (value, config::Keep::Range { from, to }) => {
                    value.number().is_some_and(|n| *from <= n && n <= *to)
                }
                (value, config::Keep::Values(values)) => {
                    let mut values = values.iter();
                    values.any(|wanted| wanted.0 == "*" || value.reads_as(&wanted.0))
                }
            };
            let by_code: Vec<bool> = column.column().values().iter().map(is_kept).collect();
            for (keep, &code) in keep.iter_mut().zip(column.codes()) {
                *keep &= by_code[code as usize];
            }
        }
        let rows: Vec<usize> = (0..keep.len()).filter(|&row| keep[row]).collect();
        self.cells = self.cells.select(&rows);
        Ok(())
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.cells.rows()
    }

    /// The names of its columns.
    pub fn names(&self) -> Vec<&str> {
        self.cells.names().collect()
    }
}

/// The SHA-256 of a file.
pub(crate) fn sha256(path: &Path) -> Result<String, Failure> {
    let refuse = |error| Failure::data(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(refuse)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(refuse)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

pub(crate) fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
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
        duplicates: data.duplicates.unwrap_or(Duplicates::Refuse),
        trim: data.trim.unwrap_or(true),
        types: data.types.clone(),
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
    if let Some(encoding) = &data.encoding {
        csv.encoding = encoding.parse::<Encoding>().map_err(Failure::usage)?;
    }
    Ok(Options {
        format: data.format,
        csv,
        ..Options::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(settings: &str) -> Result<Vec<Option<String>>, Failure> {
        let text = "score,charge\n10,F\n31,M\n,M\n2,O\n-5,\n";
        let config = config::Config::parse("facts.toml", settings, &[])?;
        let table = Table::from_source(Source::reader("t.csv", text.as_bytes()), &config.data)?;
        let score = table.cells.column("score")?;
        let label = |row| match score.value(row) {
            Value::Null => None,
            value => Some(value.label()),
        };
        Ok((0..table.rows()).map(label).collect())
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
            "data.keep: there is no column `chrage` (did you mean `charge`?); the table has: score, charge"
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
        let error = prepared(&cut.replace("50", "20")).unwrap_err().to_string();
        assert!(
            error.starts_with("data.cut.score: ") && error.contains("31"),
            "{error}"
        );
        let error = prepared(&cut.replace("2, ", "")).unwrap_err().to_string();
        assert!(error.contains("2 labels were given for 1 bins"), "{error}");
    }
}
