//! Fuzzing on stable Rust: every reader of input from outside is given inputs that are nearly right, and may refuse
//! them, but not panic, abort, hang, or take more memory than it is allowed.
//!
//! [`TARGETS`] are the readers, `seeds/` holds a few sound inputs of each, [`mutant`] makes the others of them.
//! `cargo run --release -p facts-fuzz` runs for as long as one likes; the tests run a little of each target, and
//! everything in `regressions/`: inputs that once brought a reader down.

mod mutate;
mod packs;
mod targets;

use std::path::{Path, PathBuf};

pub use self::mutate::mutant;
pub use self::targets::{TARGETS, Target};

/// The folder of this crate.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a target in `seeds` or `regressions`, in order of name.
pub fn files(kind: &str, target: &str) -> std::io::Result<Vec<PathBuf>> {
    let folder = folder().join(kind).join(target);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

/// The seeds of a target.
pub fn seeds(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    files("seeds", target)?
        .into_iter()
        .map(std::fs::read)
        .collect()
}
