//! A table in several files or objects: a folder as Spark writes one, a glob, or
//! a list.
//!
//! Parts are read in the order of their paths, one after the other, and only one
//! is open at a time. All must have the columns and types of the first; a part
//! that has not is named. Folders called `key=value` give their files a column
//! `key`, as Hive, Spark and DuckDB have it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::columns;
use crate::csv::{self, ColumnType, Seen};
use crate::error::InputError;
use crate::format::{self, Format};
#[cfg(feature = "object-store")]
use crate::objects::Object;
use crate::source::{Input, Source};
use crate::{Options, Table, open_possibly_empty, opened};

/// One file of a table, and what the folders that it lies in say about its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it lies.
    pub location: Location,
    /// Its path from the folder that was named, or from the one that all named paths lie in, for records.
    pub name: String,
    /// The columns that folders called `key=value` give it; no value where it is missing.
    pub keys: Vec<(String, Option<String>)>,
    /// How often it was found, under whatever names. It is read once.
    pub times: usize,
}

/// Where a part of a table lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a file.
    File(PathBuf),
    /// In an object of a store.
    #[cfg(feature = "object-store")]
    Object(Object),
}

/// What is known of an object of a store, once it has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// How many bytes it has.
    pub bytes: u64,
    /// What the store calls this version of it, if it calls it anything.
    pub e_tag: Option<String>,
    /// The SHA-256 of its bytes, where all of them were read.
    pub sha256: Option<[u8; 32]>,
}

impl Location {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            #[cfg(feature = "object-store")]
            Self::Object(_) => None,
        }
    }

    /// What is known of an object; none for a file.
    pub fn stored(&self) -> Option<Stored> {
        match self {
            Self::File(_) => None,
            #[cfg(feature = "object-store")]
            Self::Object(object) => Some(Stored {
                bytes: object.size(),
                e_tag: object.e_tag().map(str::to_owned),
                sha256: object.sha256(),
            }),
        }
    }

    /// Its path on the disk or in the store.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            #[cfg(feature = "object-store")]
            Self::Object(object) => Path::new(object.key()),
        }
    }

    /// The file itself, by whatever path or link it was found.
    pub(crate) fn itself(&self) -> (bool, PathBuf) {
        match self {
            Self::File(path) => (false, path.canonicalize().unwrap_or_else(|_| path.clone())),
            #[cfg(feature = "object-store")]
            Self::Object(object) => (true, PathBuf::from(object.name())),
        }
    }

    /// What parts are put in order by: folder by folder.
    pub(crate) fn order(&self) -> (bool, &Path) {
        match self {
            Self::File(path) => (false, path),
            #[cfg(feature = "object-store")]
            Self::Object(object) => (true, Path::new(object.name())),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            #[cfg(feature = "object-store")]
            Self::Object(object) => f.write_str(object.name()),
        }
    }
}

impl From<&Location> for Source {
    fn from(location: &Location) -> Self {
        match location {
            Location::File(path) => Self::Path(path.clone()),
            #[cfg(feature = "object-store")]
            Location::Object(object) => Self::Object(object.clone()),
        }
    }
}

/// A table in several files, read batch by batch.
#[derive(Debug)]
pub struct PartsTable {
    parts: Vec<Part>,
    options: Options,
    keys: Vec<(String, ColumnType)>,
    made_text: Vec<(String, String)>,
    schema: Option<(String, SchemaRef)>,
    open: Option<Table>,
    /// Whether the part that is open has given a batch.
    has_begun: bool,
    next: usize,
    any: bool,
}

/// Opens a table of several parts. Of CSV, all parts are looked through for the
/// types of the columns: a column has the type that all its values allow,
/// whichever part they are in.
pub fn open_parts(parts: Vec<Part>, options: &Options) -> Result<PartsTable, InputError> {
    let mut options = options.clone();
    options.format = Some(one_format(&parts, &options)?);
    let mut made_text = Vec::new();
    if options.format == Some(Format::Csv) {
        (options.csv.types, made_text) = csv_types(&parts, &options)?;
    }
    Ok(PartsTable {
        keys: keys(&parts)?,
        parts,
        options,
        made_text,
        schema: None,
        open: None,
        has_begun: false,
        next: 0,
        any: false,
    })
}

/// The columns of a part, and what it says about itself; none if its file is empty. A CSV file says nothing: its
/// columns would have to be read to be known.
pub fn described(part: &Part, options: &Options) -> Result<Option<SchemaRef>, InputError> {
    let (name, mut input) = Input::open(Source::from(&part.location))?;
    let head = input.head().map_err(|e| InputError::io(&name, e))?;
    if head.is_empty() {
        return Ok(None);
    }
    if format::detect(&name, &head, options.format)? == Format::Csv {
        return Ok(Some(Arc::new(Schema::empty())));
    }
    Ok(Some(opened(name, &head, input, options)?.schema()))
}

fn one_format(parts: &[Part], options: &Options) -> Result<Format, InputError> {
    let mut first: Option<(String, Format)> = None;
    for part in parts {
        let (name, mut input) = Input::open(Source::from(&part.location))?;
        let head = input.head().map_err(|e| InputError::io(&name, e))?;
        if head.is_empty() {
            continue;
        }
        let format = format::detect(&name, &head, options.format)?;
        match &first {
            Some((other, known)) if *known != format => {
                return Err(InputError::PartDiffers {
                    part: name,
                    difference: format!("it is in {format} format, and {other} is in {known}"),
                });
            }
            Some(_) => {}
            None => first = Some((name, format)),
        }
    }
    // Nothing but empty files: whoever reads them says so.
    Ok(first.map_or(Format::Csv, |(_, format)| format))
}

/// The type of each column over all parts; and for each that is text, though it is none in some part, the
/// first part in which it is.
type CsvTypes = (BTreeMap<String, ColumnType>, Vec<(String, String)>);

fn csv_types(parts: &[Part], options: &Options) -> Result<CsvTypes, InputError> {
    let mut all: BTreeMap<String, OverParts> = BTreeMap::new();
    let mut first: Option<(String, Vec<String>)> = None;
    for part in parts {
        let (name, mut input) = Input::open(Source::from(&part.location))?;
        if input
            .head()
            .map_err(|e| InputError::io(&name, e))?
            .is_empty()
        {
            continue;
        }
        let csv::Looked { names, seen } = csv::look(&name, input, options)?;
        let (named, known) = first.get_or_insert_with(|| (name.clone(), names.clone()));
        same_names(known, &names, named).map_err(|difference| InputError::PartDiffers {
            part: name,
            difference,
        })?;
        for (column, seen) in seen {
            all.entry(column).or_default().add(seen, &part.name);
        }
    }
    let (mut types, mut made_text) = (options.csv.types.clone(), Vec::new());
    for (column, OverParts { seen, text, other }) in all {
        if let Some(part) = text.filter(|_| other) {
            made_text.push((column.clone(), part));
        }
        types.entry(column).or_insert_with(|| seen.column_type());
    }
    Ok((types, made_text))
}

/// What was seen of a column in the parts so far.
#[derive(Default)]
struct OverParts {
    seen: Seen,
    /// The first part because of which it is text.
    text: Option<String>,
    /// Whether a part holds other values than texts.
    other: bool,
}

impl OverParts {
    fn add(&mut self, seen: Seen, part: &str) {
        let is_text = |seen: Seen| !seen.is_empty() && seen.column_type() == ColumnType::Text;
        self.other |= !seen.is_empty() && !is_text(seen);
        self.seen.merge(seen);
        if self.text.is_none() && is_text(self.seen) {
            self.text = Some(part.to_owned());
        }
    }
}

/// The columns that the folders give, with the type that all their values allow.
fn keys(parts: &[Part]) -> Result<Vec<(String, ColumnType)>, InputError> {
    let Some(first) = parts.first() else {
        return Ok(Vec::new());
    };
    let names =
        |part: &Part| -> Vec<String> { part.keys.iter().map(|(key, _)| key.clone()).collect() };
    for part in parts {
        if names(part) != names(first) {
            return Err(InputError::PartDiffers {
                part: part.location.to_string(),
                difference: format!(
                    "its folders give the columns [{}], those of {} give [{}]",
                    names(part).join(", "),
                    first.location,
                    names(first).join(", ")
                ),
            });
        }
    }
    let key = |place: usize| {
        let mut seen = Seen::default();
        for value in parts.iter().filter_map(|part| part.keys[place].1.as_ref()) {
            seen.add(value);
        }
        seen.column_type()
    };
    let keys = names(first).into_iter().enumerate();
    Ok(keys.map(|(place, name)| (name, key(place))).collect())
}

impl PartsTable {
    /// What the part that is being read says about itself; nothing before the first batch.
    pub fn metadata(&self) -> HashMap<String, String> {
        let open = self.open.as_ref();
        open.map_or_else(HashMap::new, |table| table.schema().metadata().clone())
    }

    /// Columns of CSV files that are text because of some parts, though other parts hold none there; each with
    /// the first part that made it text.
    pub fn made_text(&self) -> &[(String, String)] {
        &self.made_text
    }

    /// The parts, in the order in which they are read.
    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    fn read(&mut self) -> Result<Option<(usize, RecordBatch)>, InputError> {
        loop {
            if let Some(table) = &mut self.open {
                let batch = table.next().transpose()?;
                // A part without rows has columns all the same, and may say something about itself.
                let nothing = || (!self.has_begun).then(|| RecordBatch::new_empty(table.schema()));
                if let Some(batch) = batch.or_else(nothing) {
                    self.has_begun = true;
                    self.any |= batch.num_rows() > 0;
                    let place = self.next - 1;
                    return Ok(Some((place, self.whole(place, &batch)?)));
                }
                self.open = None;
            }
            let Some(part) = self.parts.get(self.next) else {
                let names = || self.parts[0].location.to_string();
                return if self.any {
                    Ok(None)
                } else {
                    Err(InputError::NoRows(names()))
                };
            };
            self.next += 1;
            self.has_begun = false;
            self.open = open_possibly_empty(Source::from(&part.location), &self.options)?;
        }
    }

    /// A batch with its columns in the order of the first part, and those of its folders.
    fn whole(&mut self, place: usize, batch: &RecordBatch) -> Result<RecordBatch, InputError> {
        let part = &self.parts[place];
        let name = part.location.to_string();
        let now = batch.schema();
        let (first, schema) = self
            .schema
            .get_or_insert_with(|| (name.clone(), now.clone()));
        let differs = |difference| InputError::PartDiffers {
            part: name.clone(),
            difference,
        };
        let any_types = self.options.any_types;
        let order = order(schema, &now, first, any_types).map_err(differs)?;
        let broken = |e| InputError::undecodable(&name, Format::ArrowFile, e);
        let batch = batch.project(&order).map_err(broken)?;
        let mut fields: Vec<Arc<Field>> = batch.schema().fields().to_vec();
        let mut columns = batch.columns().to_vec();
        for ((key, kind), (_, value)) in self.keys.iter().zip(&part.keys) {
            if fields.iter().any(|field| field.name() == key) {
                return Err(differs(format!(
                    "it has a column `{key}`, and lies in a folder that gives it one; rename one of them"
                )));
            }
            let values = match self.options.blank.contains(key) {
                true => Arc::new(NullArray::new(batch.num_rows())),
                false => repeated(value.as_deref(), *kind, batch.num_rows()),
            };
            fields.push(Arc::new(Field::new(key, values.data_type().clone(), true)));
            columns.push(values);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(broken)
    }
}

impl Iterator for PartsTable {
    /// Which part a batch is of, and the batch.
    type Item = Result<(usize, RecordBatch), InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Where the first part's columns lie in this one; what is different where they do not.
fn order(first: &Schema, now: &Schema, named: &str, any_types: bool) -> Result<Vec<usize>, String> {
    same_names(&columns::names(first), &columns::names(now), named)?;
    let place = |field: &Arc<Field>| {
        let name = field.name();
        let place = now.index_of(name).map_err(|e| e.to_string())?;
        let (is, was) = (now.field(place).data_type(), field.data_type());
        if !any_types && plain(is) != plain(was) {
            return Err(format!("its column `{name}` is {is}, and {was} in {named}"));
        }
        Ok(place)
    };
    first.fields().iter().map(place).collect()
}

/// Which column one has and the other has not.
fn same_names(first: &[String], now: &[String], named: &str) -> Result<(), String> {
    if let Some(extra) = now.iter().find(|name| !first.contains(name)) {
        return Err(format!("it has a column `{extra}`, which {named} has not"));
    }
    match first.iter().find(|name| !now.contains(name)) {
        Some(gone) => Err(format!("it has no column `{gone}`, which {named} has")),
        None => Ok(()),
    }
}

/// The type of the values: whether a writer numbered them is its own business.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

fn repeated(value: Option<&str>, kind: ColumnType, rows: usize) -> ArrayRef {
    let rows = 0..rows;
    match kind {
        ColumnType::Boolean => {
            let value = value.and_then(csv::boolean);
            Arc::new(rows.map(|_| value).collect::<BooleanArray>())
        }
        ColumnType::Int64 => {
            let value = value.and_then(csv::integer);
            Arc::new(rows.map(|_| value).collect::<Int64Array>())
        }
        ColumnType::Float64 => {
            let value = value.and_then(csv::float);
            Arc::new(rows.map(|_| value).collect::<Float64Array>())
        }
        ColumnType::Text => Arc::new(rows.map(|_| value).collect::<StringArray>()),
    }
}
