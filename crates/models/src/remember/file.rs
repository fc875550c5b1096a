//! The file that answers are kept in: a header, then batches that are only ever added at the end.
//!
//! ```text
//! header  "FACTSANS"  version u32  length u32  fingerprint  checksum u64 of all before
//! batch   length u32  checksum u64 of the payload  payload
//! payload classes u32, each: kind u8 (0 no, 1 yes, 2 named) and, if named, length u32 and text
//!         rows u32, each: hash u128, class u32 by its place in this batch
//! ```
//!
//! All numbers are little-endian. A batch goes out in one write, and a process that is killed loses
//! nothing that it has written. One that is killed within a write leaves the beginning of a batch,
//! which the checksum tells: it is cut off when the file is opened again. The same holds for
//! whatever a machine leaves behind that loses its power: nothing wrong is ever believed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;
use twox_hash::XxHash3_64;

use super::{Class, disk};

const MAGIC: &[u8; 8] = b"FACTSANS";
const VERSION: u32 = 1;
/// Bytes before the payload of a batch.
const BATCH_HEAD: usize = 12;
/// Bytes of a row in a batch.
const ROW: usize = 20;

/// Why a file cannot be used to remember answers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RememberError {
    /// It cannot be read or written.
    #[error("answers cannot be kept in {path}: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It is something else.
    #[error(
        "{0} is no file of remembered answers, and is left as it is; name another file, or remove it"
    )]
    NotAnswers(PathBuf),
    /// It was written by a version of this program that writes it otherwise.
    #[error(
        "{path} is of version {version} of the file of remembered answers, and this program reads version {VERSION}; name another file, or remove it"
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It holds what another model answered.
    #[error(
        "{path} holds the answers of another model\n  it was begun with  {kept}\n  and this one is    {wanted}\nname another file, or remove it"
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// The fingerprint of the model that it was begun with.
        kept: String,
        /// The fingerprint of the model at hand.
        wanted: String,
    },
    /// Another process is writing to it.
    #[error("{0} is in use by another audit; wait for its end, or name another file")]
    InUse(PathBuf),
}

/// The answers to one batch of rows.
pub(super) struct Batch {
    pub(super) classes: Vec<Class>,
    /// The hash of each row, and its class by place.
    pub(super) rows: Vec<(u128, u32)>,
}

/// An open file, locked for this process.
pub(super) struct AnswerFile {
    path: PathBuf,
    file: File,
    /// Where the last whole batch ends.
    end: u64,
    /// Whether part of a batch may stand behind it.
    torn: bool,
}

impl AnswerFile {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens or makes a file, and hands on each batch that it holds. Also given is how many bytes
    /// of a batch that was not wholly written were cut off.
    pub(super) fn open(
        path: &Path,
        fingerprint: &str,
        mut hand_on: impl FnMut(Batch),
    ) -> Result<(Self, u64), RememberError> {
        let failed = |why| RememberError::File {
            path: path.to_owned(),
            why,
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(RememberError::InUse(path.to_owned()));
            }
            // Some file systems know no locks. Keeping answers is worth more than guarding them.
            Err(TryLockError::Error(why)) if why.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(why)) => return Err(failed(why)),
        }
        let length = file.metadata().map_err(failed)?.len();
        let header = header(fingerprint);
        let mut end = header.len() as u64;
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        let mut start = Vec::new();
        (&mut reader)
            .take(end)
            .read_to_end(&mut start)
            .map_err(failed)?;
        // Nothing yet, or less than a header because its writer was killed.
        let is_new = start.len() < header.len() && header.starts_with(&start);
        if start != header && !is_new {
            (&mut reader)
                .take(u64::from(u16::MAX))
                .read_to_end(&mut start)
                .map_err(failed)?;
            return Err(refusal(path, &start, fingerprint));
        }
        if !is_new {
            while let Some((batch, bytes)) =
                read_batch(&mut reader, length - end).map_err(failed)?
            {
                hand_on(batch);
                end += bytes;
            }
        }
        drop(reader);
        let whole = if is_new { 0 } else { end };
        disk::cut(&file, whole).map_err(failed)?;
        if is_new {
            disk::write_all(&file, &header).map_err(failed)?;
        }
        let file = Self {
            path: path.to_owned(),
            file,
            end,
            torn: false,
        };
        Ok((file, length - whole))
    }

    /// Adds a batch, in one write.
    pub(super) fn append(
        &mut self,
        classes: &[Class],
        codes: &[u32],
        hashes: &[u128],
    ) -> Result<(), RememberError> {
        let failed = |why| RememberError::File {
            path: self.path.clone(),
            why,
        };
        let batch = batch(classes, codes, hashes);
        // Nothing may stand behind half a batch: it would not be read again.
        if self.torn {
            disk::cut(&self.file, self.end).map_err(failed)?;
            self.torn = false;
        }
        if let Err(why) = disk::write_all(&self.file, &batch) {
            // If this fails too, it is tried again before the next batch, and when the file is opened.
            self.torn = disk::cut(&self.file, self.end).is_err();
            return Err(failed(why));
        }
        self.end += batch.len() as u64;
        Ok(())
    }
}

impl Drop for AnswerFile {
    fn drop(&mut self) {
        // A program that another thread is just starting holds a copy of the file for a moment, and
        // with it the lock, unless the lock is given back by name.
        let _ = self.file.unlock();
    }
}

fn header(fingerprint: &str) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_le_bytes());
    header.extend((fingerprint.len() as u32).to_le_bytes());
    header.extend(fingerprint.as_bytes());
    let checksum = XxHash3_64::oneshot(&header);
    header.extend(checksum.to_le_bytes());
    header
}

/// Why a file with another beginning is refused.
fn refusal(path: &Path, start: &[u8], fingerprint: &str) -> RememberError {
    let path = path.to_owned();
    let mut rest = start;
    let mut read = || {
        if take(&mut rest, MAGIC.len())? != MAGIC {
            return None;
        }
        let version = number(&mut rest)?;
        if version != VERSION {
            return Some((version, String::new()));
        }
        let length = number(&mut rest)? as usize;
        let kept = std::str::from_utf8(take(&mut rest, length)?).ok()?;
        let checksum = take(&mut rest, 8)?;
        let read = start.len() - rest.len() - checksum.len();
        (XxHash3_64::oneshot(&start[..read]).to_le_bytes() == checksum)
            .then(|| (version, kept.to_owned()))
    };
    match read() {
        None => RememberError::NotAnswers(path),
        Some((VERSION, kept)) => RememberError::OtherModel {
            path,
            kept,
            wanted: fingerprint.to_owned(),
        },
        Some((version, _)) => RememberError::OtherVersion { path, version },
    }
}

fn batch(classes: &[Class], codes: &[u32], hashes: &[u128]) -> Vec<u8> {
    let mut batch = vec![0; BATCH_HEAD];
    batch.reserve(64 + hashes.len() * ROW);
    batch.extend((classes.len() as u32).to_le_bytes());
    for class in classes {
        match class {
            Class::Answer(answer) => batch.push(u8::from(*answer)),
            Class::Named(name) => {
                batch.push(2);
                batch.extend((name.len() as u32).to_le_bytes());
                batch.extend(name.as_bytes());
            }
        }
    }
    batch.extend((hashes.len() as u32).to_le_bytes());
    for (hash, code) in hashes.iter().zip(codes) {
        batch.extend(hash.to_le_bytes());
        batch.extend(code.to_le_bytes());
    }
    let payload = &batch[BATCH_HEAD..];
    let (length, checksum) = (payload.len() as u32, XxHash3_64::oneshot(payload));
    batch[..4].copy_from_slice(&length.to_le_bytes());
    batch[4..BATCH_HEAD].copy_from_slice(&checksum.to_le_bytes());
    batch
}

/// The next batch and how many bytes it takes; nothing if no whole one comes next.
fn read_batch(reader: &mut impl Read, left: u64) -> io::Result<Option<(Batch, u64)>> {
    if left < BATCH_HEAD as u64 {
        return Ok(None);
    }
    let mut head = [0; BATCH_HEAD];
    reader.read_exact(&mut head)?;
    let (length, checksum) = head.split_at(4);
    // Four bytes make a number.
    let length = number(&mut &*length).unwrap_or_default() as usize;
    let bytes = (BATCH_HEAD + length) as u64;
    if bytes > left {
        return Ok(None);
    }
    let mut payload = vec![0; length];
    reader.read_exact(&mut payload)?;
    if XxHash3_64::oneshot(&payload).to_le_bytes() != checksum {
        return Ok(None);
    }
    Ok(parse(&payload).map(|batch| (batch, bytes)))
}

fn parse(mut payload: &[u8]) -> Option<Batch> {
    let rest = &mut payload;
    let classes = (0..number(rest)?)
        .map(|_| match take(rest, 1)? {
            [0] => Some(Class::Answer(false)),
            [1] => Some(Class::Answer(true)),
            _ => {
                let length = number(rest)? as usize;
                let name = std::str::from_utf8(take(rest, length)?).ok()?;
                Some(Class::Named(name.to_owned()))
            }
        })
        .collect::<Option<Vec<Class>>>()?;
    let rows = number(rest)? as usize;
    let rows = take(rest, rows.checked_mul(ROW)?)?
        .chunks_exact(ROW)
        .map(|row| {
            let (hash, class) = row.split_first_chunk::<16>()?;
            let class = u32::from_le_bytes(class.try_into().ok()?);
            ((class as usize) < classes.len()).then_some((u128::from_le_bytes(*hash), class))
        })
        .collect::<Option<_>>()?;
    Some(Batch { classes, rows })
}

/// The next bytes.
fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

/// The next number.
fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}
