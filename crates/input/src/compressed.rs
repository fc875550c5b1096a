//! Gzip and zstd, recognised by their first bytes and undone while reading.
//!
//! A broken archive shows up as an I/O error deep inside some reader. To tell
//! it there from a broken disk, [`Damage`] travels inside the error and
//! [`InputError::io`](crate::InputError) finds it again.

use std::fmt;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::source::Reader;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&[0x1f, 0x8b]) {
            Some(Self::Gzip)
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Some(Self::Zstd)
        } else {
            None
        }
    }

    /// A name without the ending that compression adds to it.
    pub(crate) fn strip_ending(name: &str) -> &str {
        [".gz", ".gzip", ".zst", ".zstd"]
            .iter()
            .find_map(|ending| {
                let at = name.len().checked_sub(ending.len())?;
                let (stem, last) = (name.get(..at)?, name.get(at..)?);
                last.eq_ignore_ascii_case(ending).then_some(stem)
            })
            .unwrap_or(name)
    }

    pub(crate) fn undo(self, raw: Reader) -> io::Result<Reader> {
        let plain: Reader = match self {
            // Several gzip files one after the other are one gzip file.
            Self::Gzip => Box::new(MultiGzDecoder::new(io::BufReader::new(raw))),
            Self::Zstd => Box::new(zstd::Decoder::new(raw)?),
        };
        Ok(Box::new(Undone { plain, by: self }))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// What is wrong with an archive, inside an [`io::Error`].
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) compression: Compression,
    pub(crate) truncated: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.truncated {
            "ends early"
        } else {
            "is damaged"
        };
        write!(f, "the {} data {how}", self.compression)
    }
}

impl std::error::Error for Damage {}

struct Undone {
    plain: Reader,
    by: Compression,
}

impl Read for Undone {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.plain.read(buffer).map_err(|e| {
            // The disk's own errors carry a number, those of the decoders do not.
            if e.raw_os_error().is_some() || e.kind() == io::ErrorKind::Interrupted {
                return e;
            }
            // What could not be fetched is not damaged.
            #[cfg(feature = "object-store")]
            if crate::error::inside::<crate::objects::Unfetched>(&e).is_some() {
                return e;
            }
            let truncated = e.kind() == io::ErrorKind::UnexpectedEof;
            io::Error::other(Damage {
                compression: self.by,
                truncated,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_stripped_in_any_case() {
        assert_eq!(Compression::strip_ending("a.csv.gz"), "a.csv");
        assert_eq!(Compression::strip_ending("a.csv.ZST"), "a.csv");
        assert_eq!(Compression::strip_ending("a.csv"), "a.csv");
        assert_eq!(Compression::strip_ending("é"), "é");
    }

    #[test]
    fn a_cut_archive_says_so() {
        for (compression, archive) in [
            (Compression::Gzip, gzip(b"a,b\n1,2\n")),
            (
                Compression::Zstd,
                zstd::encode_all(&b"a,b\n1,2\n"[..], 0).unwrap(),
            ),
        ] {
            assert_eq!(Compression::of(&archive), Some(compression));
            let cut = io::Cursor::new(archive[..archive.len() - 3].to_vec());
            let mut reader = compression.undo(Box::new(cut)).unwrap();
            let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the {compression} data ends early")
            );
        }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut archive = Vec::new();
        flate2::read::GzEncoder::new(bytes, flate2::Compression::default())
            .read_to_end(&mut archive)
            .unwrap();
        archive
    }
}
