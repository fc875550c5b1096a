//! Parquet files. Columns keep the Arrow types they were written with, so a
//! dictionary stays a dictionary; the engine takes strings in all their forms.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use crate::blank::Blank;
use crate::columns;
use crate::error::InputError;
use crate::format::Format;
use crate::guard::{guarded, guarded_batches};
#[cfg(feature = "object-store")]
use crate::objects::ObjectChunks;
use crate::source::{Here, Input, Seekable};
use crate::{Batches, Options};

/// What kept the bytes of a file from coming; nothing where they came.
pub(crate) type WhatFailed = Arc<dyn Fn() -> Option<InputError> + Send + Sync>;

/// The bytes of a Parquet file. What lies far away is told beforehand what will be read, and keeps what
/// went wrong: a decoder knows of damaged files only.
pub(crate) trait Chunks: ChunkReader + 'static {
    /// Where the wanted columns lie, by row group.
    fn plan(&self, _groups: Vec<Vec<Range<u64>>>) {}

    /// How to learn why bytes did not come.
    fn unfetched(&self) -> WhatFailed {
        Arc::new(|| None)
    }
}

impl Chunks for File {}
impl Chunks for Bytes {}

pub(crate) fn open(
    file: &str,
    input: Input,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    match input.seekable().map_err(|e| InputError::io(file, e))? {
        Seekable::Here(Here::Disk(disk)) => open_chunks(file, disk, options),
        Seekable::Here(Here::Memory(bytes)) => open_chunks(file, bytes, options),
        #[cfg(feature = "object-store")]
        Seekable::Object(object) => open_chunks(file, ObjectChunks::new(object), options),
    }
}

fn open_chunks(
    file: &str,
    chunks: impl Chunks,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let unfetched = chunks.unfetched();
    let broken = |cause| unfetched().unwrap_or_else(|| undecodable(file, cause));
    let metadata = guarded(|| {
        let plain = ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new())?;
        match options.numbered_texts {
            true => numbered(plain),
            false => Ok(plain),
        }
    })
    .map_err(broken)?;
    let names = columns::names(metadata.schema());
    columns::refuse_duplicates(file, &names)?;
    let wanted = columns::select(file, &names, options.columns.as_deref(), false)?;

    let schema = metadata.schema().project(&wanted).map_err(broken)?;
    let blank = Blank::new(&schema, &options.blank);
    let is_read = |place: usize| !blank.as_ref().is_some_and(|blank| blank.is_blank(place));
    let wanted: Vec<usize> = (wanted.into_iter().enumerate())
        .filter(|&(place, _)| is_read(place))
        .map(|(_, at)| at)
        .collect();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted.iter().copied());
    let reader = guarded(|| {
        chunks.plan(wanted_ranges(metadata.metadata(), &mask));
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata)
            .with_batch_size(options.batch_rows.get());
        Ok(builder.with_projection(mask).build()?)
    })
    .map_err(broken)?;
    // The mask reads columns in the order of the file: put them as wanted.
    let mut in_file_order = wanted.clone();
    in_file_order.sort_unstable();
    let order = wanted
        .iter()
        .map(|at| in_file_order.partition_point(|before| before < at))
        .collect();
    let schema = (blank.as_ref()).map_or_else(|| schema.into(), |blank| Arc::clone(&blank.schema));
    Ok((schema, batches(file, reader, order, blank, unfetched)))
}

/// Texts that the file numbers in dictionaries throughout are handed over so: each is then looked at once
/// a page and not once a row.
fn numbered(plain: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ArrowError> {
    let schema = plain.schema();
    let leaf = |name: &str| {
        let leaves = plain.parquet_schema().columns().iter();
        let mut leaves = leaves
            .enumerate()
            .filter(|(_, leaf)| leaf.path().string() == name);
        leaves.next().map(|(place, _)| place)
    };
    let field = |field: &Arc<Field>| {
        let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8);
        match leaf(field.name()) {
            Some(place) if text && has_dictionaries(plain.metadata(), place) => {
                let numbers = Box::new(DataType::Int32);
                let texts = Box::new(field.data_type().clone());
                let numbered = DataType::Dictionary(numbers, texts);
                Arc::new(field.as_ref().clone().with_data_type(numbered))
            }
            _ => Arc::clone(field),
        }
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    Ok(ArrowReaderMetadata::try_new(
        Arc::clone(plain.metadata()),
        options,
    )?)
}

/// Where the columns of a mask lie, by row group.
fn wanted_ranges(metadata: &ParquetMetaData, mask: &ProjectionMask) -> Vec<Vec<Range<u64>>> {
    let groups = metadata.row_groups().iter();
    let groups = groups.map(|group| {
        let columns = group.columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| mask.leaf_included(*leaf));
        let ranges = wanted.map(|(_, chunk)| {
            let (start, length) = chunk.byte_range();
            start..start.saturating_add(length)
        });
        ranges.collect()
    });
    groups.collect()
}

/// Whether every row group has a dictionary for a column. A writer gives up its dictionary where a column
/// has very many values; the rest is read all the same, only not as fast.
fn has_dictionaries(metadata: &ParquetMetaData, leaf: usize) -> bool {
    let groups = metadata.row_groups();
    !groups.is_empty()
        && groups.iter().all(|group| {
            (group.columns().get(leaf))
                .is_some_and(|chunk| chunk.dictionary_page_offset().is_some())
        })
}

fn batches(
    file: &str,
    reader: ParquetRecordBatchReader,
    order: Vec<usize>,
    blank: Option<Blank>,
    unfetched: WhatFailed,
) -> Batches {
    let file = file.to_string();
    Box::new(guarded_batches(reader).map(move |batch| {
        let batch = batch.and_then(|batch| batch.project(&order));
        let filled = batch.and_then(|batch| match &blank {
            Some(blank) => blank.fill(&batch),
            None => Ok(batch),
        });
        filled.map_err(|e| unfetched().unwrap_or_else(|| undecodable(&file, e)))
    }))
}

fn undecodable(file: &str, cause: ArrowError) -> InputError {
    InputError::undecodable(file, Format::Parquet, cause)
}
