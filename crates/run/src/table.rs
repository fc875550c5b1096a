//! Read: the table of an audit, encoded once and prepared as the configuration says.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use facts_engine::population::{self, Bins, Edges, PlacedBins, TableReader, Value, View};
use facts_input::csv::{CsvOptions, Duplicates, Encoding, Header};
use facts_input::{Location, Options, Part, Source};
use facts_models::train::Splitting;
use facts_report::{FileOrigin, Origin};
use sha2::{Digest, Sha256};

use crate::audit::max_memory;
use crate::config;
use crate::failure::Failure;
use crate::hashes::{self, Begun, hex};
use crate::in_database;
use crate::listener::Listener;
use crate::profiles::{Cuts, Manifest, types};
use crate::two_passes::{self, Purpose};

/// A table in memory, and where it comes from.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its columns, encoded.
    pub cells: population::Table,
    /// What it was called, and how to recognise it.
    pub origin: Origin,
    /// What its files say about themselves, where they hold profiles.
    pub manifest: Option<Box<Manifest>>,
    /// What a reader should know of how it was read.
    pub notes: Vec<String>,
}

/// Whether a table knows which of its rows was which. Only a model that is fitted to some of the rows
/// needs it; without it, memory follows the distinct rows and not the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// Kept: four bytes a row.
    Kept,
    /// Kept if there are at most so many rows.
    KeptUpTo(usize),
    /// Forgotten.
    Forgotten,
}

/// Up to so many rows are split by their places in the table when a model is fitted, unless the user says
/// otherwise; more are split by counts, and their order need not be kept.
pub(crate) const SPLIT_BY_PLACE: usize = 200_000;

impl RowOrder {
    /// What a model needs that is fitted to a part of the rows, which is split off in this way.
    pub fn to_train(split: Option<Splitting>) -> Self {
        match split {
            Some(Splitting::Counts) => Self::Forgotten,
            Some(Splitting::Own | Splitting::ScikitLearn) => Self::Kept,
            None => Self::KeptUpTo(SPLIT_BY_PLACE),
        }
    }
}

/// What is kept of a table as it is read, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'c> {
    /// Whether it knows which of its rows was which.
    pub order: RowOrder,
    /// How much memory the audit may take that it is read for, in bytes.
    pub max_memory: Option<u64>,
    /// What it is read for, if it may be read twice where it is too large.
    pub(crate) twice_for: Option<Purpose<'c>>,
    /// Bins that are placed already.
    pub(crate) placed: &'c [PlacedBins],
    /// Whether its files are hashed.
    pub(crate) hashed: bool,
    /// Who is told how far it is, and may stop it.
    pub listener: Option<&'c dyn Listener>,
}

impl From<RowOrder> for Reading<'_> {
    fn from(order: RowOrder) -> Self {
        Self {
            order,
            max_memory: None,
            twice_for: None,
            placed: &[],
            hashed: true,
            listener: None,
        }
    }
}

impl<'c> Reading<'c> {
    /// What an audit by this configuration needs.
    pub fn needed(config: &'c config::Config) -> Self {
        let order = match config.is_train() {
            false => RowOrder::Forgotten,
            true => RowOrder::to_train(config.train.split),
        };
        Self {
            order,
            max_memory: Some(max_memory(config)),
            twice_for: Some(Purpose::Audit(config)),
            placed: &[],
            hashed: true,
            listener: None,
        }
    }

    /// What profiles of a table need that is cut in this way. Bins that are placed already are those of other
    /// [profiles](Manifest::placed).
    pub fn for_profiles(
        config: &'c config::Config,
        cuts: &'c Cuts,
        placed: &'c [PlacedBins],
        suppress_below: Option<u64>,
    ) -> Self {
        Self {
            order: RowOrder::Forgotten,
            twice_for: Some(Purpose::Profiles {
                config,
                cuts,
                suppress_below,
            }),
            placed,
            ..Self::needed(config)
        }
    }

    /// The same, for a table that is read once, however large it is.
    pub fn once(self) -> Self {
        Self {
            twice_for: None,
            ..self
        }
    }

    /// The same, with somebody who is told how far it is, and may stop it.
    pub fn heard_by(self, listener: &'c dyn Listener) -> Self {
        Self {
            listener: Some(listener),
            ..self
        }
    }

    /// The same, without hashes of its files: where nothing will tell them, they need not be read again for it.
    pub fn unhashed(self) -> Self {
        Self {
            hashed: false,
            ..self
        }
    }

    /// A reader of rows; or of rows that were grouped before, of which a column says how many each stands for.
    /// Only profiles are never cut into bins while they are read.
    pub(crate) fn reader(self, count: Option<&str>, may_be_cut: bool) -> TableReader {
        let reader = match (self.order, count) {
            // What was grouped has no order to keep.
            (_, Some(count)) => TableReader::counted(count),
            (RowOrder::Kept, None) => TableReader::keeping_order(),
            (RowOrder::KeptUpTo(rows), None) => TableReader::keeping_order_up_to(rows),
            (RowOrder::Forgotten, None) => TableReader::new(),
        };
        let reader = match self.twice_for.filter(|_| may_be_cut) {
            Some(purpose) => reader.counting(purpose.candidates(), purpose.maybe_missing()),
            None => reader,
        };
        let placed = if may_be_cut { self.placed } else { &[] };
        let reader = reader.with_bins(placed.to_vec());
        match self.max_memory {
            Some(bytes) => reader.within(bytes),
            None => reader,
        }
    }
}

impl Reading<'_> {
    /// A reader of files, which hold profiles if they say so.
    fn of(self, manifest: Option<&Manifest>) -> TableReader {
        let count = manifest.map(|manifest| manifest.count.as_str());
        self.reader(count, manifest.is_none())
    }

    /// Tells how far it is; fails if it is to stop.
    fn tell(self, file: usize, files: usize, rows: u64) -> Result<(), Failure> {
        self.listener.map_or(Ok(()), |listener| {
            listener.reading(file, files, rows);
            listener.check()
        })
    }
}

impl Table {
    /// Reads a file, or standard input for `-`; or all files of a folder or a glob; or objects of a store; or a
    /// query of a database.
    pub fn read(path: &Path, data: &config::Data) -> Result<Self, Failure> {
        Self::read_all(&[path.to_owned()], data, RowOrder::Kept)
    }

    /// Reads a table from all files that these paths mean: files, folders and globs, here or in a store. One that
    /// is too large for its memory is read again with bins in the place of numbers, where the audit needs no more.
    pub fn read_all<'c>(
        paths: &[PathBuf],
        data: &config::Data,
        reading: impl Into<Reading<'c>>,
    ) -> Result<Self, Failure> {
        let mut reading = reading.into();
        if !can_be_read_again(paths)? {
            reading.twice_for = None;
        }
        match in_database::query_of(paths)? {
            Some(query) => {
                let mut asked = in_database::Asked::connect(query, data)?;
                Self::in_passes(reading, |reading| asked.read(data, reading))
            }
            None => Self::in_passes(reading, |reading| Self::read_once(paths, data, reading)),
        }
    }

    /// Reads a table, and again if it is too large for its memory, where the audit needs no more than bins.
    fn in_passes<'c>(
        reading: Reading<'c>,
        mut read: impl FnMut(Reading<'_>) -> Result<Self, Failure>,
    ) -> Result<Self, Failure> {
        let table = read(reading)?;
        let placed = match (table.cells.sampled(), reading.twice_for) {
            (Some(sampled), Some(purpose)) => purpose.placed(&table, sampled)?,
            _ => return Ok(table),
        };
        let origin = table.origin.clone();
        drop(table);
        let again = read(Reading {
            twice_for: None,
            placed: &placed,
            hashed: false,
            ..reading
        })?;
        if !has_same_files(&again.origin, &origin) {
            return Err(Failure::data(format!(
                "{}: its files changed between two readings, so that edges would be those of other rows; audit it again when nobody writes to it",
                origin.name
            )));
        }
        Ok(Self { origin, ..again })
    }

    fn read_once(
        paths: &[PathBuf],
        data: &config::Data,
        kept: Reading<'_>,
    ) -> Result<Self, Failure> {
        if let Some(parts) = facts_input::parts(paths)? {
            return Self::read_parts(paths, parts, data, kept);
        }
        let [path] = paths else {
            return Err(Failure::usage("no table is named"));
        };
        let name = path.display().to_string();
        let is_pipe = name == "-" || !path.is_file();
        // A path as it stands: a name such as `data:1.csv` is no prefix.
        let source = if name == "-" {
            Source::Stdin
        } else {
            path.clone().into()
        };
        let hashed: &[&Path] = match kept.hashed && !is_pipe {
            true => &[path],
            false => &[],
        };
        let (table, mut hashes) = hashes::beside(hashed, |begun| {
            begun.tell(0);
            Self::from_source(source, data, kept)
        })?;
        let origin = Origin {
            name: path
                .file_name()
                .map_or(name.clone(), |name| name.to_string_lossy().into_owned()),
            sha256: hashes.pop(),
            files: Vec::new(),
        };
        Ok(Self { origin, ..table })
    }

    fn read_parts(
        paths: &[PathBuf],
        parts: Vec<Part>,
        data: &config::Data,
        kept: Reading<'_>,
    ) -> Result<Self, Failure> {
        let places: Vec<Location> = parts.iter().map(|part| part.location.clone()).collect();
        // Files come first, so that a part has the place of its file.
        let files: Vec<&Path> = match kept.hashed {
            true => places.iter().filter_map(Location::file).collect(),
            false => Vec::new(),
        };
        let (mut rows, mut so_far) = (vec![0; parts.len()], 0);
        let mut reading: Option<(TableReader, Option<Manifest>)> = None;
        let mut notes: Vec<String> = read_once_note(&parts).into_iter().collect();
        let read = |begun: Begun| -> Result<Vec<Part>, Failure> {
            let mut options = options(data)?;
            let profiles = types::common(&parts, &options)?;
            options.any_types = profiles.is_some();
            let mut table = facts_input::open_parts(parts, &options)?;
            notes.extend(made_text_note(table.made_text()));
            let mut last = None;
            // Each batch with what its part says about itself, where it is the first of the part.
            let batches = std::iter::from_fn(|| {
                let batch = table.next()?;
                let part = batch.as_ref().ok().map(|&(part, _)| part);
                let is_first = part.is_some() && last != part;
                last = part.or(last);
                Some((batch, is_first.then(|| table.metadata())))
            });
            ahead(batches, |(batch, metadata)| {
                let (part, batch) = batch?;
                rows[part] += batch.num_rows() as u64;
                so_far += batch.num_rows() as u64;
                kept.tell(part + 1, places.len(), so_far)?;
                if let Some(metadata) = metadata {
                    begun.tell(part);
                    let name = places[part].to_string();
                    let manifest = Manifest::read(&name, &metadata)?;
                    match &mut reading {
                        Some((_, all)) => merge(&name, all, manifest)?,
                        None => reading = Some((kept.of(manifest.as_ref()), manifest)),
                    }
                }
                if let Some((reader, _)) = &mut reading {
                    match &profiles {
                        Some(types) => reader.push(&types::widened(&batch, types)?)?,
                        None => reader.push(&batch)?,
                    }
                }
                Ok(())
            })?;
            Ok(table.into_parts())
        };
        let (parts, hashes) = hashes::beside(&files, read)?;
        let (reader, manifest) = reading.unwrap_or_else(|| (kept.of(None), None));
        let mut hashes = hashes.into_iter();
        let files = parts.into_iter().zip(rows).map(|(part, rows)| {
            let stored = part.location.stored();
            FileOrigin {
                name: part.name,
                rows,
                sha256: match &stored {
                    Some(stored) => stored.sha256.map(|hash| hex(&hash)),
                    None => hashes.next(),
                },
                stored: stored.map(|stored| facts_report::Stored {
                    bytes: stored.bytes,
                    e_tag: stored.e_tag,
                }),
            }
        });
        let files: Vec<FileOrigin> = files.collect();
        let origin = Origin {
            name: name_of(paths),
            sha256: match (paths, files.as_slice()) {
                ([path], [one]) if facts_input::is_address(path) => one.sha256.clone(),
                _ => None,
            },
            files,
        };
        let cells = reader.finish();
        Self {
            cells,
            origin,
            manifest: manifest.map(Box::new),
            notes,
        }
        .prepared(data)
    }

    /// Reads bytes that are there already.
    pub fn embedded(
        name: &str,
        bytes: &'static [u8],
        data: &config::Data,
    ) -> Result<Self, Failure> {
        let table = Self::from_source(Source::reader(name, bytes), data, RowOrder::Kept.into())?;
        let origin = Origin {
            name: name.to_owned(),
            sha256: Some(hex(&Sha256::digest(bytes))),
            files: Vec::new(),
        };
        Ok(Self { origin, ..table })
    }

    fn from_source(
        source: Source,
        data: &config::Data,
        kept: Reading<'_>,
    ) -> Result<Self, Failure> {
        let name = source.name();
        let table = facts_input::open(source, &options(data)?)?;
        let manifest = Manifest::read(&name, table.schema().metadata())?;
        let mut reader = kept.of(manifest.as_ref());
        let mut so_far = 0;
        ahead(table, |batch| {
            let batch = batch?;
            so_far += batch.num_rows() as u64;
            kept.tell(1, 1, so_far)?;
            Ok(reader.push(&batch)?)
        })?;
        let origin = Origin {
            name,
            sha256: None,
            files: Vec::new(),
        };
        let cells = reader.finish();
        Self {
            cells,
            origin,
            manifest: manifest.map(Box::new),
            notes: Vec::new(),
        }
        .prepared(data)
    }

    /// A table of rows, or of profiles, that are there already.
    pub fn of(batches: &[RecordBatch], origin: Origin) -> Result<Self, Failure> {
        let metadata = batches.first().map(|batch| batch.schema());
        let metadata = metadata.map_or_else(HashMap::new, |schema| schema.metadata().clone());
        if let Some(manifest) = Manifest::read(&origin.name, &metadata)? {
            let table = Self::counted(batches, &manifest.count, origin)?;
            let manifest = Some(Box::new(manifest));
            return Ok(Self { manifest, ..table });
        }
        let cells = population::Table::read(batches)?;
        Ok(Self {
            cells,
            origin,
            manifest: None,
            notes: Vec::new(),
        })
    }

    /// A table of rows that are there already, of which a column says how many rows each stands for.
    pub fn counted(batches: &[RecordBatch], column: &str, origin: Origin) -> Result<Self, Failure> {
        let mut reader = TableReader::counted(column);
        for batch in batches {
            reader.push(batch)?;
        }
        Ok(Self {
            cells: reader.finish(),
            origin,
            manifest: None,
            notes: Vec::new(),
        })
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
            let done = self.cells.cut(name, &bins, &[]);
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
        let mut keep = vec![true; self.cells.repeats().len()];
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
        self.cells = self.cells.filter(|row| keep[row]);
        Ok(())
    }

    /// A configuration with what the table itself says about its columns.
    pub(crate) fn says<'c>(&self, config: &'c config::Config) -> Cow<'c, config::Config> {
        match (&self.manifest, self.cells.placed_bins()) {
            (Some(manifest), _) => Cow::Owned(manifest.ordered(config.clone())),
            (None, []) => Cow::Borrowed(config),
            (None, placed) => Cow::Owned(two_passes::says(config.clone(), placed)),
        }
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

/// Takes in what one more file says about itself: all hold profiles, or none does.
fn merge(file: &str, all: &mut Option<Manifest>, one: Option<Manifest>) -> Result<(), Failure> {
    let merged = match (all, one) {
        (None, None) => Ok(()),
        (Some(all), Some(one)) => all.merge(&one),
        (Some(_), None) => Err("it holds rows, and the others hold profiles".to_owned()),
        (None, Some(_)) => Err("it holds profiles, and the others hold rows".to_owned()),
    };
    merged.map_err(|why| Failure::data(format!("{file} is no part of this table: {why}")))
}

/// Whether two readings found the same files with as many rows in each.
fn has_same_files(one: &Origin, other: &Origin) -> bool {
    let (one, other) = (&one.files, &other.files);
    let is_same = |(a, b): (&FileOrigin, &FileOrigin)| {
        (&a.name, a.rows, &a.stored) == (&b.name, b.rows, &b.stored)
    };
    one.len() == other.len() && one.iter().zip(other).all(is_same)
}

/// Says which files were found under several names.
fn read_once_note(parts: &[Part]) -> Option<String> {
    let again = parts.iter().filter(|part| part.times > 1);
    let again: Vec<&str> = again.map(|part| part.name.as_str()).collect();
    (!again.is_empty()).then(|| {
        format!(
            "files that are named more than once are read once: {}",
            again.join(", ")
        )
    })
}

/// Says which parts made columns text that are none elsewhere.
fn made_text_note(columns: &[(String, String)]) -> Option<String> {
    let named = columns.iter();
    let named: Vec<String> = named
        .map(|(column, part)| format!("{column} (first in {part})"))
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "taken for text, though some files hold no text there: {}",
            named.join(", ")
        )
    })
}

/// Whether these paths can be read twice: a pipe cannot.
fn can_be_read_again(paths: &[PathBuf]) -> Result<bool, Failure> {
    Ok(match paths {
        [path] if in_database::is_elsewhere(path) => true,
        [path] => path.is_file() || facts_input::parts(paths)?.is_some(),
        _ => true,
    })
}

/// What several files are called together: by the folder or the glob, or by how many they are.
fn name_of(paths: &[PathBuf]) -> String {
    let [path] = paths else {
        return format!("{} files and folders", paths.len());
    };
    let path = PathBuf::from(facts_input::shown(path));
    let name = path.file_name();
    name.map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// How many batches are decoded before they are needed.
const AHEAD: usize = 4;

/// Does something with each item, in order, while the next ones are made on a thread of their own: files are
/// decoded on one core and rows grouped on another.
pub(crate) fn ahead<T: Send>(
    items: impl Iterator<Item = T> + Send,
    each: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::sync_channel(AHEAD);
        scope.spawn(move || {
            for item in items {
                // Nobody waits for more once something has gone wrong.
                if sender.send(item).is_err() {
                    break;
                }
            }
        });
        receiver.into_iter().try_for_each(each)
    })
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
        blank: unwanted(data),
        numbered_texts: true,
        csv,
        ..Options::default()
    })
}

/// The columns that are not read: what neither the audit nor the model is to see, unless it says who is kept.
pub(crate) fn unwanted(data: &config::Data) -> Vec<String> {
    let prepared = |name: &&String| {
        data.keep.contains_key(*name)
            || data.cut.contains_key(*name)
            || data.replace.contains_key(*name)
    };
    let unwanted = data.ignore.iter().filter(|name| !prepared(name));
    unwanted.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(settings: &str) -> Result<Vec<Option<String>>, Failure> {
        let text = "score,charge\n10,F\n31,M\n,M\n2,O\n-5,\n";
        let config = config::Config::parse("facts.toml", settings, &[])?;
        let table = Table::from_source(
            Source::reader("t.csv", text.as_bytes()),
            &config.data,
            RowOrder::Kept.into(),
        )?;
        let score = table.cells.column("score")?;
        let order = table.cells.order();
        let label = |row: usize| match score.value(order[row] as usize) {
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
