//! Files with bytes missing or changed are refused or read, and never bring the
//! program down.

use arrow_ipc::CompressionType;

use super::formats::{arrow_file, arrow_stream, parquet, people};
use super::*;

fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let batch = people();
    vec![
        ("people.parquet", parquet(&batch)),
        ("people.arrow", arrow_file(&batch, None)),
        (
            "people.feather",
            arrow_file(&batch, Some(CompressionType::LZ4_FRAME)),
        ),
        ("people.arrows", arrow_stream(&batch)),
        ("people.csv.gz", gzip(b"a,b\n1,2\n3,4\n")),
    ]
}

fn read_all(name: &str, bytes: &[u8]) -> Result<usize, InputError> {
    let mut rows = 0;
    for batch in read(name, bytes, &Options::default())? {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

#[test]
fn cut_anywhere() {
    for (name, bytes) in archives() {
        for length in 0..bytes.len() {
            // A stream may lack its end mark, and nobody can tell.
            if let Ok(rows) = read_all(name, &bytes[..length]) {
                assert!(
                    name.ends_with(".arrows") && rows == 3,
                    "{name} cut to {length}"
                );
            }
        }
    }
}

#[test]
fn a_byte_changed_anywhere() {
    for (name, bytes) in archives() {
        // In Arrow files a changed length asks for memory without bounds, and
        // the decoder has no way to refuse.
        if !name.contains("parquet") && !name.contains("csv") {
            continue;
        }
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                // Some changes are harmless: that it comes back is enough.
                let _ = read_all(name, &bytes);
            }
        }
    }
}
