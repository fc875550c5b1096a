//! Arrow from outside that is damaged: an error each time, and no memory for what is not there. Without
//! the checks this test does not fail, it aborts.

#![allow(clippy::unwrap_used)]

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use facts_guard::{Messages, check_file, guarded};

const LIMIT: u64 = 1 << 24;

fn read_stream(bytes: &[u8]) -> Result<usize, ArrowError> {
    guarded(|| {
        let reader = StreamReader::try_new(Messages::new(bytes, || LIMIT), None)?;
        reader.map(|batch| Ok(batch?.num_rows())).sum()
    })
}

fn read_file(bytes: &[u8]) -> Result<usize, ArrowError> {
    guarded(|| {
        let mut file = Cursor::new(bytes);
        check_file(&mut file)?;
        let reader = FileReader::try_new(file, None)?;
        reader.map(|batch| Ok(batch?.num_rows())).sum()
    })
}

fn table() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)]));
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("bc"), None]));
    RecordBatch::try_from_iter([("number", numbers), ("text", text)]).unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    let options = IpcWriteOptions::default();
    options.try_with_compression(compression).unwrap()
}

fn stream(compression: Option<CompressionType>) -> Vec<u8> {
    let schema = table().schema();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &schema, options(compression)).unwrap();
    writer.write(&table()).unwrap();
    writer.write(&table().slice(0, 2)).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn file(compression: Option<CompressionType>) -> Vec<u8> {
    let schema = table().schema();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &schema, options(compression)).unwrap();
    writer.write(&table()).unwrap();
    writer.write(&table().slice(0, 2)).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// The most memory that this process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes << 10
}

#[test]
fn what_is_whole_is_read() {
    for compression in [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ] {
        assert_eq!(read_stream(&stream(compression)).unwrap(), 5);
        assert_eq!(read_file(&file(compression)).unwrap(), 5);
    }
}

#[test]
fn files_that_broke_the_decoder_are_refused() {
    for bytes in [
        &include_bytes!("files/ipc_abort.arrows")[..],
        include_bytes!("files/ipc_2GB_16bytes.arrows"),
        include_bytes!("files/exec_abort_answer.bin"),
    ] {
        read_stream(bytes).unwrap_err();
        read_file(bytes).unwrap_err();
    }
    #[cfg(target_os = "linux")]
    assert!(peak() < 1 << 30, "{} bytes", peak());
}

/// Each byte of a whole file or stream changed in several ways: read or refused, and never an abort.
#[test]
fn no_changed_byte_aborts() {
    let mut refused = 0;
    for compression in [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ] {
        let (stream, file) = (stream(compression), file(compression));
        for change in [0x40, 0x01, 0x7f, 0x80, 0xff] {
            for at in 0..stream.len() {
                let mut bytes = stream.clone();
                bytes[at] ^= change;
                refused += usize::from(read_stream(&bytes).is_err());
            }
            for at in 0..file.len() {
                let mut bytes = file.clone();
                bytes[at] ^= change;
                refused += usize::from(read_file(&bytes).is_err());
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    #[cfg(target_os = "linux")]
    assert!(peak() < 1 << 30, "{} bytes", peak());
}

#[test]
fn a_message_over_the_limit_is_refused() {
    let bytes = stream(None);
    let reader = StreamReader::try_new(Messages::new(bytes.as_slice(), || 64), None);
    let error = reader.unwrap_err().to_string();
    assert!(error.contains("where at most 64 are due"), "{error}");
}

#[test]
fn a_cut_stream_is_told_from_one_that_ended() {
    let bytes = stream(None);
    for length in 1..bytes.len() - 8 {
        let cut = read_stream(&bytes[..length]);
        // The format lets a stream end between two messages.
        if let Ok(rows) = cut {
            assert!([0, 3, 5].contains(&rows), "{length}: {rows}");
        }
    }
    assert!(read_stream(&bytes[..bytes.len() - 9]).is_err());
}
