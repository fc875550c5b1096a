//! Writing files: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;

use crate::disk;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::listener::Listener;

/// What the names of files begin with that are being written.
pub(crate) const PREFIX: &str = ".facts-";

/// Files that are to appear together. They are written beside their places under other names, and
/// put in place when all are complete; dropped before that, they leave nothing behind.
#[derive(Debug, Default)]
pub struct Files {
    written: Vec<(Waiting, PathBuf)>,
    /// The folder that changes with them at once.
    folder: Option<Folder>,
}

/// A file that is not in its place yet.
#[derive(Debug)]
enum Waiting {
    /// Beside its place.
    Beside(NamedTempFile),
    /// In the folder that is to take the place of the old one.
    InFolder(PathBuf),
}

impl Waiting {
    fn persist(self, path: &Path) -> std::io::Result<()> {
        disk::step("rename")?;
        match self {
            Self::Beside(file) => file.persist(path).map(drop).map_err(|error| error.error),
            Self::InFolder(file) => std::fs::rename(file, path),
        }
    }
}

impl Files {
    /// Files of one folder, all of which change at once. Waits while another program writes to it.
    pub fn of_folder(folder: &Path, listener: &dyn Listener) -> Result<Self, Failure> {
        Ok(Self {
            written: Vec::new(),
            folder: Some(Folder::open(folder, listener)?),
        })
    }

    /// Writes a file that is not in its place yet.
    pub fn add(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), Failure> {
        WRITING.store(true, Ordering::SeqCst);
        let refuse = |error| Failure::output(path.display(), error);
        let name = path.file_name().unwrap_or_default();
        let waiting = self.folder.as_ref().and_then(|folder| folder.place(name));
        let waiting = match waiting {
            Some(place) => {
                written(&place, bytes).map_err(refuse)?;
                Waiting::InFolder(place)
            }
            None => Waiting::Beside(written_beside(&path, bytes).map_err(refuse)?),
        };
        self.written.push((waiting, path));
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
        let written = std::mem::take(&mut self.written);
        if let Some(folder) = &mut self.folder {
            if folder.swap() {
                return Ok(written.into_iter().map(|(_, path)| path).collect());
            }
            folder.keep();
        }
        let mut paths = Vec::with_capacity(written.len());
        for (file, path) in written {
            let persisted = file.persist(&path);
            persisted.map_err(|error| Failure::output(path.display(), error))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Writes a new file.
fn written(place: &Path, bytes: &[u8]) -> std::io::Result<()> {
    disk::step("create")?;
    let mut file = std::fs::File::create_new(place)?;
    disk::write_all(&mut file, bytes)?;
    disk::step("sync")?;
    file.sync_all()
}

/// Writes a file beside its place.
fn written_beside(path: &Path, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    disk::step("create")?;
    let mut file = beside(folder)?;
    disk::write_all(&mut file, bytes)?;
    disk::step("sync")?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// An empty file under a name of its own.
fn beside(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        // Results are for others to read, within what the user's umask allows.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What a path leads to; where that is not there yet, the nearest folder that is, in which it will be made.
pub(crate) fn nearest(path: &Path) -> &Path {
    let mut there = path;
    while !there.exists() {
        there = folder_of(there);
    }
    there
}

/// Fails if nothing can be written to a folder, or if it cannot be made. Leaves nothing behind: for
/// whoever is about to begin work whose results are to go there.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let refuse = |error| Failure::output(folder.display(), error);
    let there = nearest(folder);
    if !there.is_dir() {
        return Err(refuse(std::io::ErrorKind::NotADirectory.into()));
    }
    beside(there).map(drop).map_err(refuse)
}

impl Drop for Files {
    fn drop(&mut self) {
        // Whatever was not published goes here, before an interrupt may end the program.
        self.written.clear();
        self.folder = None;
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
