//! CSV: text with a delimiter, which says little about itself. [`CsvOptions`]
//! says the rest.
//!
//! Bytes become text ([`Encoding`]), text becomes records of fields, fields
//! become typed columns. All three are done here rather than by a general CSV
//! crate, for three things that an audit cannot do without:
//!
//! - an error names the line in the file and the column, whatever was quoted
//!   before it;
//! - a missing value (an empty field) and an empty text (`""`) are different;
//! - blanks around a value may be ignored for *reading* it and still be there.
//!
//! # Trimming
//!
//! With [`CsvOptions::trim`] (the default), blanks around a field do not keep
//! it from being a number, a boolean or a null, and do not make two column
//! names different. They are never taken off a text or a name: in
//! `age, sex⏎39, Male`, the column is called `" sex"` (and found as `sex`), and
//! its value is `" Male"`, because that is what the model was trained on. The
//! engine takes blanks off the *labels* it shows.
//!
//! # Types
//!
//! A column whose type is not given gets the narrowest of boolean, 64-bit
//! integer, 64-bit float and text that *every* value of it fits; a column
//! without values is text. A value that would lose something stays text: codes
//! with leading zeros (`00123`), integers beyond 64 bits, and integers beyond
//! 2⁵³ in a column that also has fractions. Words such as `inf` are not numbers.
//! Beside numbers, words that usually stand for a missing value (`NA`, `?`,
//! `unknown`: [`MISSING_MARKS`]) are missing values; beside texts they are texts,
//! unless [`CsvOptions::nulls`] lists them.
//!
//! The types are found in a first pass over the whole file. There is none when
//! every column that is read has its type given in [`CsvOptions::types`].
//!
//! # Shape
//!
//! Lines end in LF, CR LF or CR. A quote opens a quoted field only as its first
//! character; inside, two stand for one. Every row must have as many fields as
//! there are columns. Empty lines are skipped, except in a table of one column,
//! where they are missing values.

mod encoding;
mod header;
mod infer;
mod records;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Deserialize;

pub use encoding::Encoding;
pub use infer::{MISSING_MARKS, is_missing_mark};

use crate::columns;
use crate::error::InputError;
use crate::format;
use crate::source::Input;
use crate::{Batches, Options};
use header::Rows;
pub(crate) use infer::{Seen, boolean, float, integer};
use records::{Record, Records, Separators};

/// A batch is closed early when it holds this much text: Arrow's text columns
/// end at 2 GiB.
const BATCH_TEXT: usize = 256 << 20;

/// What a CSV file does not say about itself.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// What separates fields. `None`: a tab if the name ends in `.tsv` or
    /// `.tab`, else a comma.
    pub delimiter: Option<u8>,
    /// What a field with delimiters or line ends in it is wrapped in. `None`:
    /// nothing, a quote is plain text.
    pub quote: Option<u8>,
    /// Where the column names come from.
    pub header: Header,
    /// What to do about two columns of one name.
    pub duplicates: Duplicates,
    /// The encoding, unless the file begins with a byte order mark, which wins.
    pub encoding: Encoding,
    /// Whether blanks around a field are ignored when it is read as a number, a
    /// boolean or a null. Text keeps them in any case; see the
    /// [module's page](self#trimming).
    pub trim: bool,
    /// Fields that stand for a missing value, quoted or not, such as `?` or
    /// `NA`. An empty field that is not quoted always does; list the empty
    /// string to include quoted ones.
    pub nulls: Vec<String>,
    /// Types that are not to be inferred, by column name.
    pub types: BTreeMap<String, ColumnType>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: Some(b'"'),
            header: Header::FirstLine,
            duplicates: Duplicates::Refuse,
            encoding: Encoding::default(),
            trim: true,
            nulls: Vec::new(),
            types: BTreeMap::new(),
        }
    }
}

/// Where column names come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// The first line. A column without a name is called by its number, as in
    /// `column_3`.
    FirstLine,
    /// There are none, the first line is data: `column_1`, `column_2`, …
    Absent,
    /// From here; the first line is data.
    Names(Vec<String>),
}

/// What to do about two columns of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// An error: a name should say which column is meant.
    Refuse,
    /// Number them as pandas does: `score`, `score.1`, `score.2`.
    Number,
}

/// The type of a CSV column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// `true` and `false`, in any case.
    Boolean,
    /// A whole number of 64 bits.
    #[serde(rename = "integer")]
    Int64,
    /// A decimal number, with or without an exponent.
    #[serde(rename = "float")]
    Float64,
    /// The field as it stands.
    Text,
}

impl ColumnType {
    /// The Arrow type of such a column.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Text => DataType::Utf8,
        }
    }

    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean (true or false)",
            Self::Int64 => "an int64 (a whole number)",
            Self::Float64 => "a float64 (a finite decimal number)",
            Self::Text => "text",
        }
    }
}

/// A CSV file that is about to be read.
struct Opened {
    input: Input,
    rows: Rows,
    /// The columns to read, by place.
    selected: Vec<usize>,
    /// The types that are given, by place.
    types: Vec<Option<ColumnType>>,
}

impl Opened {
    fn new(file: &str, input: Input, options: &Options) -> Result<Self, InputError> {
        let unread = |e| InputError::io(file, e);
        let csv = &options.csv;
        let mut input = input.repeatable().map_err(unread)?;
        let rows = start(file, &mut input, csv)?;
        let names = rows.names();
        let selected = columns::select(file, names, options.columns.as_deref(), csv.trim)?;
        let mut types: Vec<Option<ColumnType>> = vec![None; names.len()];
        let overridden = columns::positions(file, names, csv.types.keys(), csv.trim, "types")?;
        for (column, kind) in overridden.into_iter().zip(csv.types.values()) {
            types[column] = Some(*kind);
        }
        Ok(Self {
            input,
            rows,
            selected,
            types,
        })
    }

    /// The columns whose types have to be found.
    fn untyped(&self) -> Vec<usize> {
        let untyped = |column: &usize| self.types[*column].is_none();
        self.selected.iter().copied().filter(untyped).collect()
    }
}

/// The rows from the start.
fn start(file: &str, input: &mut Input, csv: &CsvOptions) -> Result<Rows, InputError> {
    let unread = |e| InputError::io(file, e);
    let delimiter = csv
        .delimiter
        .unwrap_or(match format::is_tab_separated(file) {
            true => b'\t',
            false => b',',
        });
    let separators = Separators::check(delimiter, csv.quote)?;
    let bytes = input.again().map_err(unread)?;
    let (text, encoding) = csv.encoding.decode(bytes).map_err(unread)?;
    let records = Records::new(file, text, separators, encoding);
    Rows::start(records, csv)
}

/// What one look through a file tells.
pub(crate) struct Looked {
    /// Its columns.
    pub(crate) names: Vec<String>,
    /// What those hold whose types are not given.
    pub(crate) seen: Vec<(String, Seen)>,
}

/// Looks through a file: its columns, and what those hold whose types are not given.
pub(crate) fn look(file: &str, input: Input, options: &Options) -> Result<Looked, InputError> {
    let mut opened = Opened::new(file, input, options)?;
    let untyped = opened.untyped();
    let seen = infer(&mut opened.rows, &untyped, &Cells::new(&options.csv))?;
    let names = opened.rows.names().to_vec();
    let named = seen.into_iter();
    let named = named.map(|(column, seen)| (names[column].clone(), seen));
    let named = named.collect();
    Ok(Looked { names, seen: named })
}

pub(crate) fn open(
    file: &str,
    input: Input,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let mut opened = Opened::new(file, input, options)?;
    let names = opened.rows.names().to_vec();
    let cells = Cells::new(&options.csv);
    let untyped = opened.untyped();
    if !untyped.is_empty() {
        for (column, seen) in infer(&mut opened.rows, &untyped, &cells)? {
            opened.types[column] = Some(seen.column_type());
        }
        opened.rows = start(file, &mut opened.input, &options.csv)?;
    }
    let Opened {
        rows,
        selected,
        types,
        ..
    } = opened;

    let columns: Vec<Column> = selected
        .iter()
        .map(|&field| Column::new(field, types[field].unwrap_or(ColumnType::Text)))
        .collect();
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| Field::new(&names[column.field], column.kind.data_type(), true))
        .collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let batches = CsvBatches {
        rows,
        cells,
        columns,
        schema: schema.clone(),
        batch_rows: options.batch_rows.get(),
        record: Record::default(),
    };
    Ok((schema, Box::new(batches)))
}

/// The first pass: what some columns hold, from all their values.
fn infer(
    rows: &mut Rows,
    untyped: &[usize],
    cells: &Cells,
) -> Result<Vec<(usize, Seen)>, InputError> {
    let mut seen = vec![Seen::default(); untyped.len()];
    let mut record = Record::default();
    while rows.next(&mut record)? {
        for (&field, seen) in untyped.iter().zip(&mut seen) {
            if let Some(value) = cells.value(&record, field) {
                seen.add(value);
            }
        }
    }
    Ok(untyped.iter().copied().zip(seen).collect())
}

/// How a field is read: what is null, and what counts of the rest.
struct Cells {
    trim: bool,
    nulls: Vec<String>,
}

impl Cells {
    fn new(options: &CsvOptions) -> Self {
        let mut cells = Self {
            trim: options.trim,
            nulls: Vec::new(),
        };
        let nulls = options.nulls.iter();
        cells.nulls = nulls.map(|null| cells.trimmed(null).to_string()).collect();
        cells
    }

    /// The field without the blanks that do not count, or `None` if missing.
    fn value<'r>(&self, record: &'r Record, field: usize) -> Option<&'r str> {
        let value = self.trimmed(record.field(field));
        let missing = value.is_empty() && !record.is_quoted(field)
            || self.nulls.iter().any(|null| null == value);
        (!missing).then_some(value)
    }

    fn trimmed<'t>(&self, text: &'t str) -> &'t str {
        if self.trim { text.trim() } else { text }
    }
}

/// The second pass.
struct CsvBatches {
    rows: Rows,
    cells: Cells,
    columns: Vec<Column>,
    schema: SchemaRef,
    batch_rows: usize,
    record: Record,
}

impl CsvBatches {
    fn read_batch(&mut self) -> Result<Option<RecordBatch>, InputError> {
        let (mut rows, mut text) = (0, 0);
        while rows < self.batch_rows && text < BATCH_TEXT && self.rows.next(&mut self.record)? {
            for column in &mut self.columns {
                if !column.push(&self.cells, &self.record) {
                    return Err(self.rows.misfit(&self.record, column.field, column.kind));
                }
            }
            rows += 1;
            text += self.record.len();
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        // With no column selected, the number of rows is all there is.
        let count = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &count)
            .expect("each column has the type of its field and one value a row");
        Ok(Some(batch))
    }
}

impl Iterator for CsvBatches {
    type Item = Result<RecordBatch, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_batch().transpose()
    }
}

/// A column of the batch in the making.
struct Column {
    field: usize,
    kind: ColumnType,
    values: Values,
}

enum Values {
    Boolean(BooleanBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
}

impl Column {
    fn new(field: usize, kind: ColumnType) -> Self {
        // Room is made as values come: a wide table has many columns with few values each.
        let values = match kind {
            ColumnType::Boolean => Values::Boolean(BooleanBuilder::with_capacity(0)),
            ColumnType::Int64 => Values::Int64(Int64Builder::with_capacity(0)),
            ColumnType::Float64 => Values::Float64(Float64Builder::with_capacity(0)),
            ColumnType::Text => Values::Text(StringBuilder::with_capacity(0, 0)),
        };
        Self {
            field,
            kind,
            values,
        }
    }

    /// Adds the record's field; whether it fitted.
    fn push(&mut self, cells: &Cells, record: &Record) -> bool {
        let value = cells.value(record, self.field);
        match (&mut self.values, value) {
            (Values::Text(column), None) => column.append_null(),
            // The whole field: trimming never touches text.
            (Values::Text(column), Some(_)) => column.append_value(record.field(self.field)),
            (Values::Boolean(column), value) => match value.map(infer::boolean) {
                Some(None) => return false,
                parsed => column.append_option(parsed.flatten()),
            },
            (Values::Int64(column), value) => match value.map(infer::integer) {
                Some(None) if value.is_some_and(is_missing_mark) => column.append_null(),
                Some(None) => return false,
                parsed => column.append_option(parsed.flatten()),
            },
            (Values::Float64(column), value) => match value.map(infer::float) {
                Some(None) if value.is_some_and(is_missing_mark) => column.append_null(),
                Some(None) => return false,
                parsed => column.append_option(parsed.flatten()),
            },
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match &mut self.values {
            Values::Boolean(column) => Arc::new(column.finish()),
            Values::Int64(column) => Arc::new(column.finish()),
            Values::Float64(column) => Arc::new(column.finish()),
            Values::Text(column) => Arc::new(column.finish()),
        }
    }
}
