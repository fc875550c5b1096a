//! Writing files: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::listener::Listener;

/// Files that are to appear together. They are written beside their places under other names, and
/// put in place when all are complete; dropped before that, they leave nothing behind.
#[derive(Debug, Default)]
pub struct Files {
    written: Vec<(NamedTempFile, PathBuf)>,
}

impl Files {
    /// Writes a file that is not in its place yet.
    pub fn add(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), Failure> {
        WRITING.store(true, Ordering::SeqCst);
        let refuse = |error| Failure::output(path.display(), error);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(refuse)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".facts-");
        #[cfg(unix)]
        {
            // Results are for others to read, within what the user's umask allows.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder).map_err(refuse)?;
        file.write_all(bytes).map_err(refuse)?;
        file.as_file().sync_all().map_err(refuse)?;
        self.written.push((file, path));
        Ok(())
    }

    /// Puts all files in their places.
    pub fn publish(mut self, listener: &dyn Listener) -> Result<Vec<PathBuf>, Failure> {
        listener.check()?;
        // What would fail is found before the first file is in place.
        for (_, path) in &self.written {
            if path.is_dir() {
                return Err(Failure::output(path.display(), "a folder is in the way"));
            }
        }
        let mut paths = Vec::with_capacity(self.written.len());
        for (file, path) in std::mem::take(&mut self.written) {
            file.persist(&path)
                .map_err(|error| Failure::output(path.display(), error.error))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Whatever was not published goes here, before an interrupt may end the program.
        self.written.clear();
        WRITING.store(false, Ordering::SeqCst);
    }
}

/// Whether files are being written that must be put in place or taken away again.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Whether ending the program now would leave something half done.
pub fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst)
}

/// Writes one file. What a link points at is written, not the link; what is no plain file, such as a
/// pipe, is written as it is.
pub fn write(path: &Path, bytes: &[u8], listener: &dyn Listener) -> Result<(), Failure> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let refuse = |error| Failure::output(path.display(), error);
    if target.exists() && !target.is_file() && !target.is_dir() {
        let mut file = std::fs::File::options()
            .write(true)
            .open(&target)
            .map_err(refuse)?;
        return file.write_all(bytes).map_err(refuse);
    }
    let mut files = Files::default();
    files.add(target, bytes)?;
    files.publish(listener)?;
    Ok(())
}
