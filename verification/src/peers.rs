//! Python with the tools that the engine is compared with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of an environment that holds `peers/requirements.txt`, made on first use under
/// the workspace's target folder.
///
/// `None`, and a line that says so, where that cannot be done; under `CI=true` that is a failure.
#[allow(clippy::print_stderr)]
pub fn python() -> Option<PathBuf> {
    match environment() {
        Ok(python) => Some(python),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("the comparison with other tools needs their Python environment: {why}")
        }
        Err(why) => {
            eprintln!(
                "LEFT OUT: the comparison with other tools, for want of their Python environment: {why}"
            );
            None
        }
    }
}

fn environment() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let requirements = root.join("peers/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let folder = root.join("../target/peers");
    let python = folder.join("bin/python");
    let installed = folder.join("requirements.installed");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "-r"])
        .arg(&requirements))?;
    std::fs::write(&installed, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}
