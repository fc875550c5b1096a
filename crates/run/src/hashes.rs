//! The hashes of files, made while they are read.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// So many files may be read further than they are hashed.
const BEHIND: usize = 2;

/// Whom to tell which of the files is read now.
pub(crate) struct Begun(SyncSender<usize>);

impl Begun {
    /// The file at this place is read now. Waits where hashing is far behind.
    pub(crate) fn tell(&self, file: usize) {
        // Whoever hashes no more has met an error, and says so.
        let _ = self.0.send(file);
    }
}

/// Does some work that reads files, and hashes them beside it on a thread of its own. That takes a second reading of
/// each; but none is hashed before it is read, nor long after, so that its bytes come from the memory in which
/// the system keeps what was read last. If the work fails, hashing ends.
pub(crate) fn beside<T>(
    files: &[&Path],
    work: impl FnOnce(Begun) -> Result<T, Failure>,
) -> Result<(T, Vec<String>), Failure> {
    let stop = &AtomicBool::new(false);
    let (begun, told) = sync_channel(BEHIND);
    std::thread::scope(|scope| {
        let hashes = scope.spawn(move || all(files, told, stop));
        let done = work(Begun(begun)).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        let hashes = (hashes.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((done, hashes?))
    })
}

/// Hashes each file once it is read, and those of which nothing was told at the end.
fn all(files: &[&Path], told: Receiver<usize>, stop: &AtomicBool) -> Result<Vec<String>, Failure> {
    let mut hashes = Vec::new();
    for begun in told.into_iter().chain([usize::MAX]) {
        let until = begun.saturating_add(1).min(files.len());
        for file in &files[hashes.len().min(until)..until] {
            hashes.push(hash(file, stop)?);
        }
    }
    Ok(hashes)
}

/// The SHA-256 of a file.
pub(crate) fn sha256(path: &Path) -> Result<String, Failure> {
    hash(path, &AtomicBool::new(false))
}

/// The same, unless it is stopped.
fn hash(path: &Path, stop: &AtomicBool) -> Result<String, Failure> {
    let refuse = |error| Failure::data(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(refuse)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    while !stop.load(Ordering::Relaxed) {
        match file.read(&mut buffer).map_err(refuse)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
    // Nobody hears of it: whatever stopped it is what is said.
    Err(refuse(ErrorKind::Interrupted.into()))
}

pub(crate) fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_hashed_in_order_whatever_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..5)
            .map(|n| folder.path().join(format!("{n}.csv")))
            .collect();
        for path in &paths {
            std::fs::write(path, path.display().to_string()).unwrap();
        }
        let files: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let expected: Vec<String> = files.iter().map(|file| sha256(file).unwrap()).collect();
        for told in [&[][..], &[0, 1, 2, 3, 4], &[1, 3], &[7]] {
            let (done, hashes) = beside(&files, |begun| {
                told.iter().for_each(|&file| begun.tell(file));
                Ok(told.len())
            })
            .unwrap();
            assert_eq!((done, &hashes), (told.len(), &expected));
        }
        let gone = [files[0], Path::new("gone.csv"), files[1]];
        let read = beside(&gone, |begun| {
            (0..100).for_each(|file| begun.tell(file));
            Ok(())
        });
        assert!(read.unwrap_err().to_string().starts_with("gone.csv: "));
    }

    /// A file without an end would be hashed for ever.
    #[cfg(unix)]
    #[test]
    fn an_error_ends_hashing_at_once() {
        let endless = [Path::new("/dev/zero")];
        let failed = beside(&endless, |begun| -> Result<(), Failure> {
            begun.tell(0);
            Err(Failure::data("this part is damaged"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "this part is damaged");
    }
}
