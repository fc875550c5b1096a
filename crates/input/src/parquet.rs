//! Parquet files. Columns keep the Arrow types they were written with, so a
//! dictionary stays a dictionary; the engine takes strings in all their forms.

use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::ChunkReader;

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
    let builder = guarded(|| Ok(ParquetRecordBatchReaderBuilder::try_new(chunks)?))
        .map_err(broken)?
        .with_batch_size(options.batch_rows.get());
    let names = columns::names(builder.schema());
    columns::refuse_duplicates(file, &names)?;
    let wanted = columns::select(file, &names, options.columns.as_deref(), false)?;

    let schema = builder.schema().project(&wanted).map_err(broken)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let reader = guarded(|| Ok(builder.with_projection(mask).build()?)).map_err(broken)?;
    // The mask reads columns in the order of the file: put them as wanted.
    let mut in_file_order = wanted.clone();
    in_file_order.sort_unstable();
    let order = wanted
        .iter()
        .map(|at| in_file_order.partition_point(|before| before < at))
        .collect();
    Ok((schema.into(), batches(file, reader, order)))
}

fn batches(file: &str, reader: ParquetRecordBatchReader, order: Vec<usize>) -> Batches {
    let file = file.to_string();
    Box::new(guarded_batches(reader).map(move |batch| {
        batch
            .and_then(|batch| batch.project(&order))
            .map_err(|e| undecodable(&file, e))
    }))
}

fn undecodable(file: &str, cause: ArrowError) -> InputError {
    InputError::undecodable(file, Format::Parquet, cause)
}
