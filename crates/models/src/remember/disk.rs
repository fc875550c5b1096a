//! What is done to the file of answers. In the tests of this crate the disk can be full.

#[cfg(not(test))]
mod real {
    use std::fs::File;
    use std::io::{self, Write};

    /// Writes all bytes at the end of a file.
    pub(in crate::remember) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Cuts off what stands behind so many bytes.
    pub(in crate::remember) fn cut(file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }
}

#[cfg(not(test))]
pub(super) use self::real::{cut, write_all};

#[cfg(test)]
pub(super) use self::full::{cut, write_all};

#[cfg(test)]
mod full {
    use std::cell::Cell;
    use std::fs::File;
    use std::io::{self, ErrorKind, Write};

    thread_local! {
        /// How many bytes still fit; without end, if that is not said.
        static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
        /// Whether nothing can be cut off.
        static STUCK: Cell<bool> = const { Cell::new(false) };
    }

    /// Says how many bytes still fit, and whether nothing can be cut off.
    pub(super) fn disk(room: Option<u64>, stuck: bool) {
        ROOM.set(room);
        STUCK.set(stuck);
    }

    pub(in crate::remember) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
        let Some(room) = ROOM.get() else {
            return file.write_all(bytes);
        };
        let fit = room.min(bytes.len() as u64);
        file.write_all(&bytes[..fit as usize])?;
        ROOM.set(Some(room - fit));
        match fit < bytes.len() as u64 {
            true => Err(ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    pub(in crate::remember) fn cut(file: &File, bytes: u64) -> io::Result<()> {
        match STUCK.get() {
            true => Err(ErrorKind::ReadOnlyFilesystem.into()),
            false => file.set_len(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::full::disk;
    use crate::remember::Class;
    use crate::remember::file::{AnswerFile, RememberError};

    const FINGERPRINT: &str = "a model";
    const BATCHES: u128 = 3;

    /// Opens the file; also the first hash of each batch in it, and how much was cut off.
    fn opened(path: &Path) -> Result<(AnswerFile, Vec<u128>, u64), RememberError> {
        let mut there = Vec::new();
        let (file, cut_off) =
            AnswerFile::open(path, FINGERPRINT, |batch| there.push(batch.rows[0].0))?;
        Ok((file, there, cut_off))
    }

    /// Adds a batch of four rows.
    fn add(file: &mut AnswerFile, batch: u128) -> Result<(), RememberError> {
        let classes = [Class::Answer(true), Class::Named("late".to_owned())];
        let hashes: Vec<u128> = (0..4).map(|row| batch + row * 1000).collect();
        file.append(&classes, &[0, 1, 1, 0], &hashes)
    }

    /// The size of a file with all batches.
    fn whole() -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let (mut file, ..) = opened(&path).unwrap();
        (0..BATCHES).for_each(|batch| add(&mut file, batch).unwrap());
        drop(file);
        path.metadata().unwrap().len()
    }

    /// What is said of a full disk: which file it is about, and why.
    fn is_said(error: &RememberError, path: &Path) {
        let said = error.to_string();
        assert!(said.contains(&path.display().to_string()), "{said}");
        assert!(matches!(error, RememberError::File { .. }), "{said}");
    }

    /// Whenever the disk gets full: it is said, what was written before can be read, and once there is room
    /// the rest is added to it.
    #[test]
    fn a_full_disk_loses_nothing_that_was_written() {
        let (mut failed, mut torn) = (0, 0);
        for stuck in [false, true] {
            for room in 0..=whole() {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("answers");
                disk(Some(room), false);
                let mut written = Vec::new();
                match opened(&path) {
                    Err(error) => is_said(&error, &path),
                    Ok((mut file, ..)) => {
                        disk(Some(room - path.metadata().unwrap().len()), stuck);
                        for batch in 0..BATCHES {
                            match add(&mut file, batch) {
                                Ok(()) => written.push(batch),
                                Err(error) => is_said(&error, &path),
                            }
                        }
                    }
                }
                disk(None, false);
                failed += u64::from((written.len() as u128) < BATCHES);
                let (mut file, there, cut_off) = opened(&path).unwrap();
                assert_eq!(there, written, "room for {room} bytes");
                torn += u64::from(cut_off > 0);
                for batch in written.len() as u128..BATCHES {
                    add(&mut file, batch).unwrap();
                }
                drop(file);
                let (_, there, cut_off) = opened(&path).unwrap();
                assert_eq!((there, cut_off), ((0..BATCHES).collect(), 0));
            }
        }
        // All but the last size, twice; and a torn end only where it could not be cut off.
        assert_eq!(failed, 2 * whole());
        assert!(torn > 0, "the end was never torn");
    }

    /// A batch that comes after half of another one, which could not be cut off then, is not written behind it.
    #[test]
    fn what_comes_after_half_a_batch_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let (mut file, ..) = opened(&path).unwrap();
        add(&mut file, 0).unwrap();
        disk(Some(30), true);
        assert!(add(&mut file, 1).is_err());
        // There is room again, but half a batch is in the way.
        disk(None, true);
        assert!(add(&mut file, 1).is_err());
        disk(None, false);
        add(&mut file, 2).unwrap();
        drop(file);
        let (_, there, cut_off) = opened(&path).unwrap();
        assert_eq!((there, cut_off), (vec![0, 2], 0));
    }
}
