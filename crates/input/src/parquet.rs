//! Parquet files. Columns keep the Arrow types they were written with, so a
//! dictionary stays a dictionary; the engine takes strings in all their forms.

use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
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
use crate::source::{Input, Seekable};
use crate::{Batches, Options};

pub(crate) fn open(
    file: &str,
    input: Input,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    match input.seekable().map_err(|e| InputError::io(file, e))? {
        Seekable::Disk(disk) => open_chunks(file, disk, options),
        Seekable::Memory(bytes) => open_chunks(file, bytes, options),
    }
}

fn open_chunks(
    file: &str,
    chunks: impl ChunkReader + 'static,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let broken = |cause| undecodable(file, cause);
    let metadata = guarded(|| {
        let plain = ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new())?;
        match options.numbered_texts {
            true => numbered(plain),
            false => Ok(plain),
        }
    })
    .map_err(broken)?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata)
        .with_batch_size(options.batch_rows.get());
    let names = columns::names(builder.schema());
    columns::refuse_duplicates(file, &names)?;
    let wanted = columns::select(file, &names, options.columns.as_deref(), false)?;

    let schema = builder.schema().project(&wanted).map_err(broken)?;
    let blank = Blank::new(&schema, &options.blank);
    let is_read = |place: usize| !blank.as_ref().is_some_and(|blank| blank.is_blank(place));
    let wanted: Vec<usize> = (wanted.into_iter().enumerate())
        .filter(|&(place, _)| is_read(place))
        .map(|(_, at)| at)
        .collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let reader = guarded(|| Ok(builder.with_projection(mask).build()?)).map_err(broken)?;
    // The mask reads columns in the order of the file: put them as wanted.
    let mut in_file_order = wanted.clone();
    in_file_order.sort_unstable();
    let order = wanted
        .iter()
        .map(|at| in_file_order.partition_point(|before| before < at))
        .collect();
    let schema = (blank.as_ref()).map_or_else(|| schema.into(), |blank| Arc::clone(&blank.schema));
    Ok((schema, batches(file, reader, order, blank)))
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
) -> Batches {
    let file = file.to_string();
    Box::new(guarded_batches(reader).map(move |batch| {
        let batch = batch.and_then(|batch| batch.project(&order));
        let filled = batch.and_then(|batch| match &blank {
            Some(blank) => blank.fill(&batch),
            None => Ok(batch),
        });
        filled.map_err(|e| undecodable(&file, e))
    }))
}

fn undecodable(file: &str, cause: ArrowError) -> InputError {
    InputError::undecodable(file, Format::Parquet, cause)
}
