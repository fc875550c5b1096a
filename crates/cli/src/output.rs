//! Writing results: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

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
    pub(crate) fn publish(self, reporter: &Reporter) -> Result<Vec<PathBuf>, Failure> {
        reporter.check()?;
        let mut paths = Vec::with_capacity(self.written.len());
        for (file, path) in self.written {
            file.persist(&path)
                .map_err(|error| Failure::output(path.display(), error.error))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Writes one file.
pub(crate) fn write(path: &Path, bytes: &[u8], reporter: &Reporter) -> Result<(), Failure> {
    let mut files = Files::default();
    files.add(path.to_owned(), bytes)?;
    files.publish(reporter)?;
    Ok(())
}

/// Writes to standard output. A reader that went away, such as `head`, is not an error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::output("standard output", error))
        }
        _ => Ok(()),
    }
}
