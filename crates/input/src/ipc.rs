//! Arrow IPC: the file format, which has a table of contents at its end, and
//! the streaming format, which goes by once. Batches are passed on as they were
//! written.
//!
//! A cut file is found. A cut stream is found unless the cut falls between two
//! batches: the format lets a stream simply end there. Lengths are compared with
//! what is there before the decoder takes memory for them.

use std::io::{BufReader, Cursor, Read, Seek};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use facts_guard::{Messages, check_file};

use crate::columns;
use crate::error::InputError;
use crate::format::Format;
use crate::guard::{guarded, guarded_batches};
use crate::source::{Here, Input, Seekable};
use crate::{Batches, Options};

pub(crate) fn open_file(
    file: &str,
    input: Input,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let broken = |cause| InputError::undecodable(file, Format::ArrowFile, cause);
    let bytes = input.seekable().and_then(Seekable::here);
    match bytes.map_err(|e| InputError::io(file, e))? {
        Here::Disk(disk) => {
            let reader = guarded(|| checked(BufReader::new(disk))).map_err(broken)?;
            select(file, Format::ArrowFile, reader.schema(), reader, options)
        }
        Here::Memory(bytes) => {
            let reader = guarded(|| checked(Cursor::new(bytes))).map_err(broken)?;
            select(file, Format::ArrowFile, reader.schema(), reader, options)
        }
    }
}

fn checked<R: Read + Seek>(mut file: R) -> Result<FileReader<R>, ArrowError> {
    check_file(&mut file)?;
    FileReader::try_new(file, None)
}

pub(crate) fn open_stream(
    file: &str,
    input: Input,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let bytes = input.once().map_err(|e| InputError::io(file, e))?;
    // A table has no length of its own: it is as long as what comes.
    let messages = Messages::new(BufReader::new(bytes), || u64::MAX);
    let reader = guarded(|| StreamReader::try_new(messages, None))
        .map_err(|e| InputError::undecodable(file, Format::ArrowStream, e))?;
    select(file, Format::ArrowStream, reader.schema(), reader, options)
}

/// The wanted columns of each batch. They are cut out after reading, which
/// copies nothing.
fn select(
    file: &str,
    format: Format,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    options: &Options,
) -> Result<(SchemaRef, Batches), InputError> {
    let names = columns::names(&schema);
    columns::refuse_duplicates(file, &names)?;
    let wanted = columns::select(file, &names, options.columns.as_deref(), false)?;
    let schema: Schema = schema
        .project(&wanted)
        .map_err(|e| InputError::undecodable(file, format, e))?;
    let file = file.to_string();
    let batches = guarded_batches(batches).map(move |batch| {
        batch
            .and_then(|batch| batch.project(&wanted))
            .map_err(|e| InputError::undecodable(&file, format, e))
    });
    Ok((schema.into(), Box::new(batches)))
}
