//! Writing results: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::progress::Reporter;

/// Files that are to appear together. They are written beside their places under other names, and
/// put in place when all are complete; dropped before that, they leave nothing behind.
#[derive(Default)]
pub(crate) struct Files {
    written: Vec<(NamedTempFile, PathBuf)>,
}

impl Files {
    /// Writes a file that is not in its place yet.
    pub(crate) fn add(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), Failure> {
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
    pub(crate) fn publish(mut self, reporter: &Reporter) -> Result<Vec<PathBuf>, Failure> {
        reporter.check()?;
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
pub(crate) fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst)
}

/// Writes one file. What a link points at is written, not the link; what is no plain file, such as a
/// pipe, is written as it is.
pub(crate) fn write(path: &Path, bytes: &[u8], reporter: &Reporter) -> Result<(), Failure> {
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
    files.publish(reporter)?;
    Ok(())
}

/// Prints text, in colours if standard output is a terminal that shows them.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    finished(anstream::stdout().lock(), text.as_bytes())
}

/// Writes bytes to standard output just as they are.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    finished(std::io::stdout().lock(), bytes)
}

/// A reader that went away, such as `head`, is not an error.
fn finished(mut out: impl Write, bytes: &[u8]) -> Result<(), Failure> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::output("standard output", error))
        }
        _ => Ok(()),
    }
}
