//! A folder of results that changes all at once.
//!
//! New results are written into a folder beside it. When all are complete the two folders change places
//! in one step of the file system, so that whoever looks, and whenever the program is killed, sees the old
//! results or the new ones. Only one program at a time does so: it holds a lock on the folder, which the
//! system takes back when the program ends. What a killed program left is taken away by the next.
//!
//! Where that cannot be (the folder holds folders, is the current one, or may not change places), files
//! are put in place one by one, under the same lock.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::disk;
use crate::failure::Failure;
use crate::files;
use crate::listener::Listener;

/// How long to wait before a lock is asked for again.
const PAUSE: Duration = Duration::from_millis(50);
/// A file with the name of one that is being written is left by a killed program after so long.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// A folder that this program alone writes to.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Whether it was made for these results, and is to go if there are none.
    is_new: bool,
    /// Holds the lock.
    _lock: Option<File>,
    /// Where files wait. Nowhere if the folder cannot change places.
    waiting: Option<TempDir>,
}

impl Folder {
    /// Waits until no other program writes to the folder, which is made if need be.
    pub(crate) fn open(path: &Path, listener: &dyn Listener) -> Result<Self, Failure> {
        let refuse = |error| Failure::output(path.display(), error);
        let is_new = !path.exists();
        disk::step("make the folder")
            .and_then(|()| fs::create_dir_all(path))
            .map_err(refuse)?;
        let path = fs::canonicalize(path).map_err(refuse)?;
        let lock = lock(&path, listener)?;
        let waiting = beside(&path).and_then(|(parent, prefix)| {
            remove_left(parent, &prefix);
            disk::step("make a folder beside it").ok()?;
            tempfile::Builder::new()
                .prefix(&prefix)
                .tempdir_in(parent)
                .ok()
        });
        Ok(Self {
            path,
            is_new,
            _lock: lock,
            waiting: waiting.filter(|_| can_swap()),
        })
    }

    /// Where a file of this name is written.
    pub(crate) fn place(&self, name: &std::ffi::OsStr) -> Option<PathBuf> {
        Some(self.waiting.as_ref()?.path().join(name))
    }

    /// Puts the folder with all that waits in the place of the old one, if that can be done at once.
    /// What waits stays where it is if not.
    pub(crate) fn swap(&mut self) -> bool {
        let Some(waiting) = &self.waiting else {
            return false;
        };
        let swapped = carry_over(&self.path, waiting.path())
            .and_then(|()| {
                fs::set_permissions(waiting.path(), fs::metadata(&self.path)?.permissions())
            })
            .and_then(|()| File::open(waiting.path())?.sync_all())
            .and_then(|()| disk::step("change places"))
            .and_then(|()| exchange(waiting.path(), &self.path))
            .and_then(|()| disk::step("places are changed").or(Ok(())));
        if swapped.is_ok() {
            self.is_new = false;
            if let Some(parent) = self
                .path
                .parent()
                .and_then(|parent| File::open(parent).ok())
            {
                // The results are there; whether a power cut undoes it is not for the user to mend.
                let _ = parent.sync_all();
            }
        }
        swapped.is_ok()
    }

    /// The results are in place: the folder stays.
    pub(crate) fn keep(&mut self) {
        self.is_new = false;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_new {
            // Fails if there is something in it, which then stays.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// The folder that a folder lies in, and what the names of those begin with that wait to take its place.
fn beside(path: &Path) -> Option<(&Path, String)> {
    let current = std::env::current_dir().and_then(fs::canonicalize);
    if current.is_ok_and(|current| current.starts_with(path)) {
        // Whoever is in the old folder would be in one that is gone.
        return None;
    }
    let (name, parent) = (path.file_name()?.to_string_lossy(), path.parent()?);
    if !are_of_one_disk(path, parent) {
        // Nothing can be moved from there at once.
        return None;
    }
    Some((parent, format!("{}{name}-", files::PREFIX)))
}

/// Whether a folder and the one that it lies in are on one disk; it may be where another is mounted.
fn are_of_one_disk(path: &Path, parent: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let disk = |path: &Path| fs::metadata(path).map(|known| known.dev()).ok();
        disk(path) == disk(parent)
    }
    #[cfg(not(unix))]
    {
        let _ = (path, parent);
        true
    }
}

/// Locks a folder, again if another took its place meanwhile. Some file systems know no locks; results are
/// worth more than the lock.
fn lock(path: &Path, listener: &dyn Listener) -> Result<Option<File>, Failure> {
    loop {
        let Ok(folder) = File::open(path) else {
            return Ok(None);
        };
        match folder.try_lock() {
            Ok(()) if is_same(&folder, path) => return Ok(Some(folder)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                listener.check()?;
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

#[cfg(unix)]
fn is_same(folder: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (folder.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(there)) => (locked.dev(), locked.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

/// Takes away what waited beside the folder when a program was killed: nobody else holds the lock.
fn remove_left(parent: &Path, prefix: &str) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let is_left = name.to_str().and_then(|name| name.strip_prefix(prefix));
        // What tempfile adds: six letters or digits.
        let is_left = is_left.is_some_and(|rest| rest.len() == 6 && !rest.contains('-'));
        if is_left && entry.path().is_dir() {
            // What cannot be removed stays, and does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Gives the new folder what else is in the old one. Files get a second name; what can have none, such as
/// a folder, is an error.
fn carry_over(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(old)? {
        let entry = entry?;
        let place = new.join(entry.file_name());
        if place.exists() || is_left_behind(&entry) {
            continue;
        }
        let kind = entry.file_type()?;
        if !kind.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        disk::step("link")?;
        fs::hard_link(entry.path(), place)?;
    }
    Ok(())
}

fn is_left_behind(entry: &fs::DirEntry) -> bool {
    let is_ours = entry
        .file_name()
        .to_string_lossy()
        .starts_with(files::PREFIX);
    let changed = entry.metadata().and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| changed.elapsed().ok());
    is_ours && age.is_some_and(|age| age > LEFT_BEHIND)
}

const fn can_swap() -> bool {
    cfg!(any(target_os = "linux", target_vendor = "apple"))
}

/// Two folders change places in one step.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
