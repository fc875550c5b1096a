//! Tables for an audit: CSV, Parquet and Arrow files, from disk or from a
//! pipe, as a stream of Arrow record batches.
//!
//! The one key type is [`Table`]: a schema, and an iterator of batches that
//! share it. [`open`] makes one from a [`Source`] (where the bytes come from)
//! and [`Options`] (how to read them). What a file *is* is decided by its first
//! bytes, and only then by its name, so that `facts < table.parquet` works;
//! gzip and zstd are undone on the way.
//!
//! ```
//! use facts_input::{Options, Source, open};
//!
//! let text = "age,sex\n39, Male\n50, Female\n";
//! let table = open(Source::reader("people.csv", text.as_bytes()), &Options::default())?;
//! assert_eq!(table.schema().field(0).name(), "age");
//! for batch in table {
//!     assert_eq!(batch?.num_rows(), 2);
//! }
//! # Ok::<(), facts_input::InputError>(())
//! ```
//!
//! Three rules hold everywhere:
//!
//! - **The model gets what the file holds.** Text is passed on byte for byte,
//!   surrounding blanks included: a model trained on `" Male"` does not know
//!   `"Male"`. Making labels pretty is the engine's business. See [`csv`] for
//!   what trimming does and does not touch.
//! - **Types do not depend on luck.** A CSV column has the type that *all* its
//!   values allow, not the first thousand. A file is read twice for this; a pipe
//!   is kept in memory, or in a temporary file when it is large.
//! - **A wrong file is an answer, not a crash.** Every [`InputError`] names the
//!   file, where possible the line and the column, and what to do about it.
//!
//! With the feature `object-store`, what a path names may also lie in an object
//! store (`s3://`, `gs://`, `az://`) or on a web server (`https://`).
//!
//! The crate knows files and nothing else: no model, no group, no audit.

pub mod csv;

mod address;
mod blank;
mod columns;
mod compressed;
mod error;
mod format;
mod guard;
mod ipc;
mod logged;
mod named;
#[cfg(feature = "object-store")]
mod objects;
mod parquet;
mod parts;
mod source;

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

pub use address::{is_address, shown};
pub use error::{InputError, Place};
pub use format::Format;
pub use logged::Keeper;
pub use named::parts;
#[cfg(feature = "object-store")]
pub use objects::{Object, Unfetched};
pub use parts::{Location, Part, PartsTable, Stored, described, open_parts};
pub use source::Source;

use blank::Blank;
use source::Input;

/// Rows in a batch unless [`Options::batch_rows`] says otherwise: large enough
/// that the work per batch vanishes, small enough to stay in a core's cache.
pub const DEFAULT_BATCH_ROWS: NonZeroUsize = NonZeroUsize::new(8192).expect("not zero");

/// How to read a table. The default reads any of the formats as it stands.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format, when it is not to be guessed.
    pub format: Option<Format>,
    /// The columns to read, in this order; all of them when `None`.
    pub columns: Option<Vec<String>>,
    /// Columns whose values nobody wants: they come with their names, and
    /// without values. Parquet files are not read there.
    pub blank: Vec<String>,
    /// The most rows in a batch. Arrow files keep the batches they were
    /// written with.
    pub batch_rows: NonZeroUsize,
    /// Whether texts may come as dictionaries where the file numbers them,
    /// whatever type they were written with: for readers who number them anyway.
    pub numbered_texts: bool,
    /// Whether parts of a table may hold a column in different types: for readers who make one of them.
    pub any_types: bool,
    /// What a CSV file leaves open. The other formats do not look at it.
    pub csv: csv::CsvOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            columns: None,
            blank: Vec::new(),
            batch_rows: DEFAULT_BATCH_ROWS,
            numbered_texts: false,
            any_types: false,
            csv: csv::CsvOptions::default(),
        }
    }
}

/// A table with at least one row, read batch by batch.
///
/// It is an iterator. It ends at the end of the table or after the first error.
pub struct Table {
    name: String,
    schema: SchemaRef,
    batches: Batches,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, InputError>> + Send>;

/// Opens a table and reads its first batch, so that what is wrong with a file
/// as a whole is known here and not in the middle of an audit.
pub fn open(source: impl Into<Source>, options: &Options) -> Result<Table, InputError> {
    let (name, mut input) = Input::open(source.into())?;
    let head = input.head().map_err(|e| InputError::io(&name, e))?;
    if head.is_empty() {
        return Err(InputError::Empty(name));
    }
    opened(name, &head, input, options)?.starting()
}

/// Opens one part of a table; none if the file is empty, as that of a part
/// without rows may be.
fn open_possibly_empty(source: Source, options: &Options) -> Result<Option<Table>, InputError> {
    let (name, mut input) = Input::open(source)?;
    let head = input.head().map_err(|e| InputError::io(&name, e))?;
    if head.is_empty() {
        return Ok(None);
    }
    opened(name, &head, input, options).map(Some)
}

fn opened(name: String, head: &[u8], input: Input, options: &Options) -> Result<Table, InputError> {
    let (schema, batches) = match format::detect(&name, head, options.format)? {
        Format::Csv => csv::open(&name, input, options)?,
        Format::Parquet => parquet::open(&name, input, options)?,
        Format::ArrowFile => ipc::open_file(&name, input, options)?,
        Format::ArrowStream => ipc::open_stream(&name, input, options)?,
    };
    columns::refuse_too_many(&name, schema.fields().len())?;
    let table = Table {
        name,
        schema,
        batches,
    };
    Ok(match Blank::new(&table.schema, &options.blank) {
        Some(blank) => table.blanked(blank),
        None => table,
    })
}

impl Table {
    /// The name of the source, as errors spell it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns and their types.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The table with the values of some columns left out.
    fn blanked(self, blank: Blank) -> Self {
        let name = self.name.clone();
        Self {
            name: self.name,
            schema: Arc::clone(&blank.schema),
            batches: Box::new(self.batches.map(move |batch| {
                let filled = blank.fill(&batch?);
                filled.map_err(|e| InputError::undecodable(&name, Format::ArrowFile, e))
            })),
        }
    }

    /// Reads up to the first batch that has rows, and puts it back.
    fn starting(mut self) -> Result<Self, InputError> {
        let batches = std::mem::replace(&mut self.batches, Box::new(std::iter::empty()));
        let mut batches = batches.filter(|batch| !matches!(batch, Ok(b) if b.num_rows() == 0));
        let first = match batches.next() {
            Some(first) => first?,
            None => return Err(InputError::NoRows(self.name)),
        };
        self.batches = Box::new(std::iter::once(Ok(first)).chain(batches));
        Ok(self)
    }
}

impl Iterator for Table {
    type Item = Result<RecordBatch, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next();
        if !matches!(batch, Some(Ok(_))) {
            self.batches = Box::new(std::iter::empty());
        }
        batch
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.name)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
