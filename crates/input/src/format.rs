//! What kind of file this is.
//!
//! The first bytes decide, because a pipe has no name and names lie. The name
//! is asked only to catch a file that claims to be something it is not: the
//! error page of a download saved as `table.parquet` must not be read as CSV.

use std::fmt;

use serde::Deserialize;

use crate::compressed::Compression;
use crate::error::InputError;

/// A kind of file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Text with a delimiter.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// The Arrow IPC file format, also known as Feather version 2.
    ArrowFile,
    /// The Arrow IPC streaming format.
    ArrowStream,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV",
            Self::Parquet => "Parquet",
            Self::ArrowFile => "Arrow IPC",
            Self::ArrowStream => "Arrow IPC stream",
        })
    }
}

/// Files that people do pass, and that are not read: first bytes, what it is,
/// what to do.
const FOREIGN: [(&[u8], &str, &str); 6] = [
    (
        b"PK\x03\x04",
        "a zip archive or an Excel workbook",
        "unpack it, or save the sheet as CSV",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel workbook",
        "save the sheet as CSV",
    ),
    (
        b"FEA1\0",
        "a Feather version 1 file",
        "write it again as Feather version 2 (Arrow IPC) or Parquet",
    ),
    (
        b"SQLite format 3",
        "an SQLite database",
        "export the table as CSV",
    ),
    (
        b"\xfd7zXZ\0",
        "xz-compressed",
        "unpack it, or compress it with gzip or zstd",
    ),
    (
        b"BZh91AY&SY",
        "bzip2-compressed",
        "unpack it, or compress it with gzip or zstd",
    ),
];

/// The format of a file with these first (uncompressed) bytes and this name.
pub(crate) fn detect(file: &str, head: &[u8], asked: Option<Format>) -> Result<Format, InputError> {
    if asked == Some(Format::Csv) {
        return Ok(Format::Csv);
    }
    let found = by_first_bytes(head);
    let claimed = asked.or_else(|| by_name(file));
    if let Some(found) = found {
        // A wrong ending is forgiven, a wrong instruction is not.
        return match asked {
            Some(asked) if asked != found => Err(InputError::OtherFormat {
                file: file.into(),
                asked,
                found,
            }),
            _ => Ok(found),
        };
    }
    if let Some((_, what, advice)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(InputError::Foreign {
            file: file.into(),
            what,
            advice,
        });
    }
    match claimed {
        None | Some(Format::Csv) => Ok(Format::Csv),
        Some(claimed) => Err(InputError::NotThatFormat {
            file: file.into(),
            claimed,
        }),
    }
}

fn by_first_bytes(head: &[u8]) -> Option<Format> {
    // `PAR1,PAR2` is also a fine header of a CSV file: what follows must not
    // be text.
    let is_text = |byte: Option<&u8>| byte.is_none_or(|b| b" \t\r\n".contains(b) || *b > b' ');
    if head.starts_with(b"PAR1") && !is_text(head.get(4)) {
        Some(Format::Parquet)
    } else if head.starts_with(b"ARROW1\0\0") {
        Some(Format::ArrowFile)
    } else if head.starts_with(&[0xff; 4]) {
        Some(Format::ArrowStream)
    } else {
        None
    }
}

fn by_name(file: &str) -> Option<Format> {
    match ending(file).as_str() {
        "parquet" | "pq" => Some(Format::Parquet),
        "arrow" | "feather" | "ipc" => Some(Format::ArrowFile),
        "arrows" => Some(Format::ArrowStream),
        _ => None,
    }
}

/// Whether the name says that tabs separate the fields.
pub(crate) fn is_tab_separated(file: &str) -> bool {
    matches!(ending(file).as_str(), "tsv" | "tab")
}

fn ending(file: &str) -> String {
    let name = Compression::strip_ending(file);
    match name.rsplit_once('.') {
        Some((_, ending)) => ending.to_ascii_lowercase(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(file: &str, head: &[u8]) -> Format {
        detect(file, head, None).unwrap()
    }

    #[test]
    fn first_bytes_win_over_the_name() {
        assert_eq!(guess("standard input", b"PAR1\x15\x04"), Format::Parquet);
        assert_eq!(guess("a.csv", b"ARROW1\0\0\xff"), Format::ArrowFile);
        assert_eq!(
            guess("a.txt", b"\xff\xff\xff\xff\x10\0"),
            Format::ArrowStream
        );
        assert_eq!(guess("standard input", b"age,sex\n"), Format::Csv);
    }

    #[test]
    fn headers_that_look_like_magic_are_text() {
        for header in ["PAR1,PAR2\n", "PAR1\n", "PAR1", "ARROW1,x\n", "FEA1,FEA2\n"] {
            assert_eq!(guess("a.csv", header.as_bytes()), Format::Csv, "{header}");
        }
        // The byte order mark of UTF-16.
        assert_eq!(guess("a.csv", b"\xff\xfea\0,\0"), Format::Csv);
    }

    #[test]
    fn names_are_read_past_the_compression() {
        assert!(is_tab_separated("A.TSV.gz"));
        assert!(!is_tab_separated("a.csv"));
        assert!(detect("a.parquet.zst", b"<html>", None).is_err());
    }

    #[test]
    fn csv_on_demand_is_never_doubted() {
        let csv = detect("a.parquet", b"PK\x03\x04", Some(Format::Csv));
        assert_eq!(csv.unwrap(), Format::Csv);
    }
}
