//! What can be wrong with a table, in words that say what to do.

use std::fmt;
use std::io;

use arrow_schema::ArrowError;

use crate::compressed::Damage;
use crate::csv::ColumnType;
use crate::format::Format;
use crate::logged::{self, Keeper};

/// A spot in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line in the file, counted from 1. Lines inside quotes count.
    pub line: u64,
    /// The column's name; `None` where the names are not known yet.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)?;
        match &self.column {
            Some(column) => write!(f, ", column '{column}'"),
            None => Ok(()),
        }
    }
}

/// Why a table cannot be read. The text is complete: a cause is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is no such file.
    #[error("{0}: no such file; check the path, which starts from the current folder")]
    NotFound(String),
    /// The file may not be read.
    #[error("{0}: permission denied; make the file readable for this user")]
    PermissionDenied(String),
    /// The path is a folder.
    #[error("{0} is a folder; name one file in it")]
    Folder(String),
    /// A folder, a glob or a list without a file in it.
    #[error(
        "{0}: no files are there; check the path, which starts from the current folder (files whose names begin with a dot or an underscore are not read)"
    )]
    NoFiles(String),
    /// A folder in which not all files count.
    #[error(
        "{folder} is a table of {keeper}, whose log says which of its files count, and that is not read here; {}",
        logged::advice(*keeper, folder)
    )]
    Logged {
        /// The folder.
        folder: String,
        /// Whose log it is.
        keeper: Keeper,
    },
    /// A pattern that is none.
    #[error("{pattern} is no pattern for file names: {why}; write it as in 'parts/*.parquet'")]
    BadGlob {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// A part of a table that does not go with the first.
    #[error(
        "{part} is no part of this table: {difference}; take it out, or write all parts with the same columns and types"
    )]
    PartDiffers {
        /// The file.
        part: String,
        /// What is different.
        difference: String,
    },
    /// An address that cannot be meant.
    #[error("{address} cannot be read: {why}")]
    BadAddress {
        /// The address, without secrets.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// An address in a build that reads files only.
    #[error(
        "{0}: this build of facts reads no object stores; released builds do, as does one made with `cargo install facts-audit --features object-store`; or download the file"
    )]
    FilesOnly(String),
    /// A pattern that no object fits.
    #[error("{0}: no object has such a name; check the bucket and the pattern")]
    NoObjects(String),
    /// An object that could not be fetched.
    #[cfg(feature = "object-store")]
    #[error("{object}: {why}")]
    Unfetched {
        /// Its address, without secrets.
        object: String,
        /// Why.
        #[source]
        why: crate::objects::Unfetched,
    },
    /// The operating system gave up on the file.
    #[error("{file} could not be read: {cause}")]
    Io {
        /// The file.
        file: String,
        /// What the operating system says.
        #[source]
        cause: io::Error,
    },
    /// A compressed file stops in the middle.
    #[error("{file} is cut short: its {compression} data ends early; copy or download it again")]
    Truncated {
        /// The file.
        file: String,
        /// How it is compressed.
        compression: String,
    },
    /// A compressed file cannot be decompressed.
    #[error(
        "{file} is damaged: its {compression} data cannot be unpacked; copy or download it again"
    )]
    Damaged {
        /// The file.
        file: String,
        /// How it is compressed.
        compression: String,
    },
    /// The file has no content.
    #[error("{0} is empty; check the path, or the command that writes it")]
    Empty(String),
    /// The file has columns and nothing in them.
    #[error(
        "{0} has column names but no rows; check the export that wrote it (a CSV file whose first line is data has to be read without a header)"
    )]
    NoRows(String),

    /// A kind of file that is known and not read.
    #[error("{file} is {what}, which is not read; {advice}")]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The file's name, or the user, says one format; its content is none that
    /// is known.
    #[error(
        "{file} is not in {claimed} format; check where it came from, or set the format to CSV if it is text"
    )]
    NotThatFormat {
        /// The file.
        file: String,
        /// The format it should have.
        claimed: Format,
    },
    /// The user says one format, the content is another.
    #[error(
        "{file} is not in {asked} but in {found} format; leave the format out, or set it to {found}"
    )]
    OtherFormat {
        /// The file.
        file: String,
        /// The format that was asked for.
        asked: Format,
        /// The format it has.
        found: Format,
    },
    /// A Parquet or Arrow file that cannot be decoded.
    #[error(
        "{file} cannot be decoded as {format}: {cause}; if it was copied or downloaded, do so again, else write it again"
    )]
    Undecodable {
        /// The file.
        file: String,
        /// Its format.
        format: Format,
        /// What the decoder says.
        cause: String,
    },

    /// A column that the file does not have.
    #[error(
        "{file} has no column '{column}', which `{option}` names{hint} Its columns: {}",
        listed(known)
    )]
    UnknownColumn {
        /// The file.
        file: String,
        /// The name that is not there.
        column: String,
        /// The setting that named it.
        option: &'static str,
        /// A guess at what was meant, or nothing.
        hint: String,
        /// The names that are there.
        known: Vec<String>,
    },
    /// More columns than a table of people has.
    #[error(
        "{file}: {columns} columns, and a table may have {most}; if rows and columns are the wrong way round, turn the table; if this is no table, name another file or its format"
    )]
    TooManyColumns {
        /// The file.
        file: String,
        /// How many columns it has.
        columns: usize,
        /// How many it may have.
        most: usize,
    },
    /// Two columns of one name.
    #[error("{file}: columns {first} and {second} are both named '{column}'; {advice}")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
        /// Which column has it first, counted from 1.
        first: usize,
        /// Which column has it again.
        second: usize,
        /// What to do.
        advice: &'static str,
    },

    /// A delimiter or quote that cannot be one.
    #[error("{} cannot be the {option}: {why}; choose one ASCII character such as {example}", shown_byte(*.byte))]
    BadSeparator {
        /// `delimiter` or `quote`.
        option: &'static str,
        /// Its value.
        byte: u8,
        /// What is wrong with it.
        why: &'static str,
        /// Values that would do.
        example: &'static str,
    },
    /// An encoding nobody has heard of.
    #[error(
        "unknown encoding '{0}'; use a name such as utf-8, windows-1252, iso-8859-15, utf-16le or shift_jis"
    )]
    UnknownEncoding(String),
    /// Bytes that are not text in the file's encoding.
    #[error("{at}: the bytes {bytes} are not {encoding}; {advice}")]
    InvalidBytes {
        /// Where.
        at: Place,
        /// The bytes, in hexadecimal where they are known.
        bytes: String,
        /// The encoding in which they mean nothing.
        encoding: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A line with more or fewer fields than there are columns.
    #[error(
        "{at}: {found} fields where {expected_by} {expected}; check for a stray delimiter or quote in this line, and that the delimiter is {delimiter:?}"
    )]
    Ragged {
        /// Where.
        at: Place,
        /// The fields in the line.
        found: usize,
        /// What says how many there should be, as in "the header has".
        expected_by: &'static str,
        /// How many there should be.
        expected: usize,
        /// The delimiter that was used.
        delimiter: char,
    },
    /// A quote that is opened and not closed.
    #[error(
        "{0}: the quote that opens here is never closed; close it, or read without quotes if they are plain text in this file"
    )]
    UnclosedQuote(Place),
    /// A quoted field that goes on after its closing quote.
    #[error(
        "{0}: text after the closing quote; write a quote inside a quoted field twice, or read without quotes if they are plain text in this file"
    )]
    TextAfterQuote(Place),
    /// A line of many megabytes.
    #[error(
        "{at}: the row that starts here is longer than {megabytes} MiB; check that this is a text file, and its quotes"
    )]
    TooLong {
        /// Where.
        at: Place,
        /// The limit.
        megabytes: usize,
    },
    /// A value that does not fit the type its column was given.
    #[error("{at}: {} is not {}; {advice}", shown(value), .kind.described())]
    BadValue {
        /// Where.
        at: Place,
        /// The value, as the file has it.
        value: String,
        /// The type it should have.
        kind: ColumnType,
        /// What to do.
        advice: &'static str,
    },
}

impl InputError {
    /// An error of reading, told apart by what the user can do about it.
    pub(crate) fn io(file: &str, cause: io::Error) -> Self {
        let file = file.to_string();
        #[cfg(feature = "object-store")]
        if let Some(why) = inside::<crate::objects::Unfetched>(&cause) {
            let why = why.clone();
            return Self::Unfetched { object: file, why };
        }
        if let Some(damage) = inside::<Damage>(&cause) {
            let compression = damage.compression.to_string();
            return match damage.truncated {
                true => Self::Truncated { file, compression },
                false => Self::Damaged { file, compression },
            };
        }
        match cause.kind() {
            io::ErrorKind::NotFound => Self::NotFound(file),
            io::ErrorKind::PermissionDenied => Self::PermissionDenied(file),
            io::ErrorKind::IsADirectory => Self::Folder(file),
            _ => Self::Io { file, cause },
        }
    }

    /// An error of a decoder, which may really be one of reading.
    pub(crate) fn undecodable(file: &str, format: Format, cause: ArrowError) -> Self {
        let cause = match cause {
            ArrowError::IoError(_, cause)
                if inside::<Damage>(&cause).is_some() || cause.raw_os_error().is_some() =>
            {
                return Self::io(file, cause);
            }
            ArrowError::IoError(_, cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                "it ends early".into()
            }
            // The decoders' own words, without the names of their error types.
            ArrowError::IoError(text, _)
            | ArrowError::ParquetError(text)
            | ArrowError::ParseError(text)
            | ArrowError::IpcError(text)
            | ArrowError::InvalidArgumentError(text) => text,
            cause => cause.to_string(),
        };
        Self::Undecodable {
            file: file.into(),
            format,
            cause,
        }
    }
}

/// What a layer below put into an I/O error.
pub(crate) fn inside<T: std::error::Error + 'static>(error: &io::Error) -> Option<&T> {
    error.get_ref()?.downcast_ref()
}

fn listed(names: &[String]) -> String {
    names.join(", ")
}

/// A value such that blanks and line ends can be seen, and not all of a novel.
fn shown(value: &str) -> String {
    const MOST: usize = 60;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &value[..end]),
        None => format!("{value:?}"),
    }
}

fn shown_byte(byte: u8) -> String {
    match byte.is_ascii() {
        true => format!("{:?}", char::from(byte)),
        false => format!("the byte {byte:#04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_show_their_blanks_and_are_cut() {
        assert_eq!(shown(" a\n"), r#"" a\n""#);
        assert_eq!(shown(&"é".repeat(61)), format!("\"{}\"…", "é".repeat(60)));
    }
}
