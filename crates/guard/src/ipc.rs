//! Arrow IPC, streams and files: every length is compared with what is there.
//!
//! A message says how long its description is, the description how long its body is, and which part of
//! the body each buffer is; a file has a table of contents that says it all once more. `arrow-ipc` takes
//! memory for these lengths before it reads. Two changed bytes are enough to make it ask for 2^56.

use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{MessageHeader, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

use crate::read::read_exactly;

/// What a message begins with, except in streams of old.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// A file ends with the length of its table of contents and six letters.
const FOOTER_END: usize = 10;
/// The most rows of one batch; the format advises writers to stay below.
const MAX_ROWS: i64 = i32::MAX as i64;
/// How much longer than its compressed form a buffer can be: both codecs repeat at most 128 KiB in a
/// block of four bytes.
const MAX_RATIO: u64 = 1 << 15;

/// A reader of an Arrow IPC stream that passes on whole messages whose lengths are right.
pub struct Messages<R, L> {
    bytes: R,
    /// How long a message may be now.
    limit: L,
    message: Cursor<Vec<u8>>,
}

impl<R: Read, L: Fn() -> u64> Messages<R, L> {
    /// The messages of a stream, each of at most `limit` bytes, its buffers unpacked.
    pub fn new(bytes: R, limit: L) -> Self {
        let message = Cursor::default();
        Self {
            bytes,
            limit,
            message,
        }
    }

    /// What the messages are read from. It stands before a message if the last one was read to its end.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.bytes
    }

    /// The next message, or nothing at the end.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut message = Vec::new();
        (&mut self.bytes).take(4).read_to_end(&mut message)?;
        if message.is_empty() {
            return Ok(message);
        }
        if message == CONTINUATION {
            message.extend(read_exactly(&mut self.bytes, 4)?);
        }
        let Some(&length) = message.last_chunk::<4>() else {
            // The rest of the four bytes does not come.
            return read_exactly(io::empty(), 4);
        };
        let Ok(length) = u64::try_from(i32::from_le_bytes(length)) else {
            return Err(wrong("a message of a negative length"));
        };
        if length == 0 {
            return Ok(message);
        }
        let limit = (self.limit)();
        within(length, limit)?;
        let description = read_exactly(&mut self.bytes, length)?;
        let body = body_length(&description)?;
        within(length.saturating_add(body), limit)?;
        let body = read_exactly(&mut self.bytes, body)?;
        let prefix = |at: u64| {
            let at = usize::try_from(at).map_err(|_| wrong("a buffer outside of its message"))?;
            read_prefix(body.get(at..).unwrap_or_default())
        };
        let unpacked = check_message(&description, body.len() as u64, prefix)?;
        within(unpacked, limit)?;
        message.extend(description);
        message.extend(body);
        Ok(message)
    }
}

impl<R: Read, L: Fn() -> u64> Read for Messages<R, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.message.position() == self.message.get_ref().len() as u64 && !buffer.is_empty() {
            // The memory of the last one goes before the next comes.
            self.message = Cursor::default();
            self.message = Cursor::new(self.next()?);
        }
        self.message.read(buffer)
    }
}

/// Checks every length in an Arrow IPC file, and leaves it at its start.
pub fn check_file(mut file: impl Read + Seek) -> Result<(), ArrowError> {
    check_blocks(&mut file)?;
    file.rewind()?;
    Ok(())
}

fn check_blocks(file: &mut (impl Read + Seek)) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let end = FOOTER_END as u64;
    let Some(rest) = length.checked_sub(end) else {
        return Err(wrong("it is shorter than the end of an Arrow file"));
    };
    file.seek(SeekFrom::Start(rest))?;
    let ending: [u8; FOOTER_END] = read_exactly(&mut *file, end)?
        .try_into()
        .unwrap_or_default();
    let footer = read_footer_length(ending).map_err(|error| match error {
        ArrowError::ParseError(text) => wrong(text),
        error => wrong(error.to_string()),
    })? as u64;
    let Some(start) = rest.checked_sub(footer) else {
        return Err(wrong("its table of contents is longer than the file"));
    };
    file.seek(SeekFrom::Start(start))?;
    let footer = read_exactly(&mut *file, footer)?;
    let footer = root_as_footer(&footer).map_err(|e| {
        wrong(format!(
            "its table of contents: {}",
            e.to_string().trim_end()
        ))
    })?;
    if footer.schema().is_none() {
        return Err(wrong("its table of contents has no columns"));
    }
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let batches = footer.recordBatches().into_iter().flatten();
    for block in dictionaries.chain(batches) {
        check_block(file, block, start)?;
    }
    Ok(())
}

/// Checks one entry of a file's table of contents, which begins at `end`.
fn check_block(
    file: &mut (impl Read + Seek),
    block: &arrow_ipc::Block,
    end: u64,
) -> io::Result<()> {
    let number = |number: i64| {
        u64::try_from(number).map_err(|_| wrong("its table of contents holds a negative length"))
    };
    let offset = number(block.offset())?;
    let description = number(block.metaDataLength().into())?;
    let body = number(block.bodyLength())?;
    let all = offset
        .checked_add(description)
        .and_then(|start| start.checked_add(body));
    if all.is_none_or(|all| all > end) {
        return Err(wrong(
            "its table of contents speaks of bytes that are not there",
        ));
    }
    file.seek(SeekFrom::Start(offset))?;
    let message = read_exactly(&mut *file, description)?;
    let start = if message.starts_with(&CONTINUATION) {
        8
    } else {
        4
    };
    let Some(message) = message.get(start..) else {
        return Err(wrong("a message is shorter than its own length"));
    };
    let prefix = |at: u64| {
        file.seek(SeekFrom::Start(offset + description + at))?;
        read_prefix(&mut *file)
    };
    check_message(message, body, prefix).map(drop)
}

/// The length that a compressed buffer says it has unpacked.
fn read_prefix(buffer: impl Read) -> io::Result<i64> {
    let bytes: [u8; 8] = read_exactly(buffer, 8)?.try_into().unwrap_or_default();
    Ok(i64::from_le_bytes(bytes))
}

fn body_length(description: &[u8]) -> io::Result<u64> {
    let message = root_as_message(description).map_err(|e| wrong(e.to_string()))?;
    u64::try_from(message.bodyLength()).map_err(|_| wrong("a body of a negative length"))
}

/// Checks the lengths in a message against its body. How many bytes the buffers are, unpacked.
fn check_message(
    description: &[u8],
    body: u64,
    prefix: impl FnMut(u64) -> io::Result<i64>,
) -> io::Result<u64> {
    let message = root_as_message(description).map_err(|e| wrong(e.to_string()))?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|dictionary| dictionary.data()),
        _ => return Ok(0),
    };
    let batch = batch.ok_or_else(|| wrong("a batch without a description"))?;
    check_rows(&batch)?;
    check_buffers(&batch, body, prefix)
}

fn check_rows(batch: &RecordBatch<'_>) -> io::Result<()> {
    let rows = 0..=MAX_ROWS;
    let nodes = batch.nodes().into_iter().flatten();
    let mut counts = nodes.map(|node| (node.length(), node.null_count()));
    if !rows.contains(&batch.length())
        || counts.any(|(length, nulls)| !rows.contains(&length) || !(0..=length).contains(&nulls))
    {
        return Err(wrong("a batch with an impossible number of rows"));
    }
    let buffers = batch.buffers().map_or(0, |buffers| buffers.len()) as i64;
    let mut variadic = batch.variadicBufferCounts().into_iter().flatten();
    if variadic.any(|count| !(0..=buffers).contains(&count)) {
        return Err(wrong("a column of more buffers than there are"));
    }
    Ok(())
}

fn check_buffers(
    batch: &RecordBatch<'_>,
    body: u64,
    mut prefix: impl FnMut(u64) -> io::Result<i64>,
) -> io::Result<u64> {
    let mut unpacked = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let part = u64::try_from(buffer.offset()).ok();
        let part = part.zip(u64::try_from(buffer.length()).ok());
        let end = part.and_then(|(offset, length)| offset.checked_add(length));
        let (Some((offset, length)), Some(0..)) = (part, end.and_then(|end| body.checked_sub(end)))
        else {
            return Err(wrong("a buffer outside of its message"));
        };
        let mut says = length;
        if batch.compression().is_some() && length > 0 {
            says = match prefix(offset)? {
                // Not compressed after all.
                -1 => length,
                says => u64::try_from(says).unwrap_or(u64::MAX),
            };
            if says > length.saturating_mul(MAX_RATIO) {
                return Err(wrong("a compressed buffer longer than it can be"));
            }
        }
        unpacked = unpacked.saturating_add(says);
    }
    // The decoder takes the memory without asking whether it is there.
    let room = usize::try_from(unpacked).ok();
    if room.is_none_or(|room| Vec::<u8>::new().try_reserve_exact(room).is_err()) {
        return Err(ErrorKind::OutOfMemory.into());
    }
    Ok(unpacked)
}

fn within(length: u64, limit: u64) -> io::Result<()> {
    if length > limit {
        return Err(wrong(format!(
            "a message of {length} bytes, where at most {limit} are due"
        )));
    }
    Ok(())
}

fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}
