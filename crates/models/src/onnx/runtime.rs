//! Finding and loading ONNX Runtime, once a process.
//!
//! The library is not linked: a machine that opens no ONNX model needs none, and one that does gets
//! it from a package registry, inside Python's `onnxruntime` wheel. It is looked for
//!
//! 1. where the environment variable `FACTS_ONNXRUNTIME`, else `ORT_DYLIB_PATH`, points: a file, or
//!    a folder that holds it. If one is set, nowhere else;
//! 2. where the Python that `FACTS_PYTHON` names would import `onnxruntime` from;
//! 3. in the active virtual environment (`VIRTUAL_ENV`, then `CONDA_PREFIX`);
//! 4. where `python3`, then `python`, would import `onnxruntime` from.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use facts_guard::library::{Library, Place, name_of};
use ort::environment::Environment;

use crate::error::OpenError;

/// The command that brings the library.
const INSTALL: &str = r#"python3 -m pip install "onnxruntime>=1.23""#;

/// What is looked for; full names before links.
const LIBRARY: Library<'static> = Library {
    variables: &["FACTS_ONNXRUNTIME", "ORT_DYLIB_PATH"],
    package: "onnxruntime",
    under: &["", "lib", "capi", "onnxruntime/capi"],
    is_one: &is_library,
};

/// The library of this process. Kept for good, since it cannot be unloaded safely; a failure is not
/// kept, so that a long-lived process can try again once the library is there.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

/// The runtime, loaded if it is not yet.
pub(super) fn environment() -> Result<Environment, OpenError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*loaded {
        return Ok(environment.clone());
    }
    let environment = load(&Places::of_this_process()).map_err(OpenError::Unavailable)?;
    Ok(loaded.insert(environment).clone())
}

/// Where to look.
#[derive(Debug, Default)]
struct Places {
    /// The variable that was set, and what to.
    said: Option<(&'static str, PathBuf)>,
    /// If none was, in this order.
    others: Vec<Place>,
}

impl Places {
    fn of_this_process() -> Self {
        Self {
            said: LIBRARY.said(),
            others: LIBRARY.places(),
        }
    }
}

/// Full names, which tell the version, before links.
fn full_names_first(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort_by_key(|file| version_in_name(file).is_none());
    files
}

fn load(places: &Places) -> Result<Environment, String> {
    let mut refused = Vec::new();
    if let Some((variable, path)) = &places.said {
        let files = full_names_first(LIBRARY.at(path));
        return first_that_loads(&files, &mut refused).ok_or_else(|| {
            format!(
                "an ONNX model needs the library ONNX Runtime, 1.{} or later, and {variable} points to {}, where {}; unset {variable} and install it with: {INSTALL}",
                ort::MINOR_VERSION,
                path.display(),
                if refused.is_empty() {
                    "there is none".to_owned()
                } else {
                    refused.join("; ")
                }
            )
        });
    }
    for place in &places.others {
        if let Some(environment) =
            first_that_loads(&full_names_first(LIBRARY.of(place)), &mut refused)
        {
            return Ok(environment);
        }
    }
    let found = if refused.is_empty() {
        "none was found in the active virtual environment or in Python's packages".to_owned()
    } else {
        // The same file may be found in two ways.
        refused.sort();
        refused.dedup();
        refused.join("; ")
    };
    Err(format!(
        "an ONNX model needs the library ONNX Runtime, 1.{} or later, and {found}; install it with: {INSTALL}",
        ort::MINOR_VERSION
    ))
}

/// Loads the first library that is new enough; says of the others why they were refused.
fn first_that_loads(files: &[PathBuf], refused: &mut Vec<String>) -> Option<Environment> {
    for file in files {
        // An old library is not even loaded where its name tells: loading and unloading two
        // versions in one process is asking for trouble.
        if let Some(version) = version_in_name(file)
            && !new_enough(&version)
        {
            refused.push(format!("{} is version {version}", file.display()));
            continue;
        }
        let environment = ort::init_from(file)
            .map_err(|error| error.to_string())
            .and_then(|builder| {
                // A library that is sent people's data reports nothing to anybody.
                let builder = builder.with_name("facts").with_telemetry(false);
                builder.build().map_err(|error| error.to_string())
            });
        match environment {
            Ok(environment) => return Some(environment),
            Err(why) => refused.push(format!("{} cannot be used ({why})", file.display())),
        }
    }
    None
}

/// `1.23.2` of `libonnxruntime.so.1.23.2` or `libonnxruntime.1.23.2.dylib`.
fn version_in_name(file: &Path) -> Option<String> {
    let name = name_of(file);
    let version = name
        .strip_prefix("libonnxruntime.so.")
        .or_else(|| name.strip_prefix("libonnxruntime.")?.strip_suffix(".dylib"))?
        .to_owned();
    // `.so.1` is a link that tells nothing of the minor version.
    version.contains('.').then_some(version)
}

fn new_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let (major, minor): (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) >= (1, ort::MINOR_VERSION)
}

fn is_library(name: &str) -> bool {
    if cfg!(windows) {
        name.eq_ignore_ascii_case("onnxruntime.dll")
    } else if cfg!(target_os = "macos") {
        name.starts_with("libonnxruntime.") && name.ends_with(".dylib")
    } else {
        name.starts_with("libonnxruntime.so")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        let version = |name: &str| version_in_name(Path::new(name));
        assert_eq!(
            version("x/libonnxruntime.so.1.23.2").as_deref(),
            Some("1.23.2")
        );
        assert_eq!(
            version("libonnxruntime.1.31.0.dylib").as_deref(),
            Some("1.31.0")
        );
        assert_eq!(version("libonnxruntime.so.1"), None);
        assert_eq!(version("libonnxruntime.so"), None);
        assert!(new_enough("1.23.2") && new_enough("1.31.0") && new_enough("2.0"));
        assert!(!new_enough("1.20.1") && !new_enough("1.9"));
    }

    #[test]
    fn nothing_found_names_the_one_command() {
        let error = load(&Places::default()).unwrap_err();
        assert_eq!(
            error,
            "an ONNX model needs the library ONNX Runtime, 1.23 or later, and none was found in the active virtual environment or in Python's packages; install it with: python3 -m pip install \"onnxruntime>=1.23\""
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_old_library_is_refused_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let capi = folder
            .path()
            .join("lib/python3.9/site-packages/onnxruntime/capi");
        std::fs::create_dir_all(&capi).unwrap();
        std::fs::write(capi.join("libonnxruntime.so.1.20.1"), "").unwrap();
        std::fs::write(capi.join("libonnxruntime_providers_shared.so"), "").unwrap();
        let places = Places {
            others: vec![Place::Environment(folder.path().to_owned())],
            ..Places::default()
        };
        let error = load(&places).unwrap_err();
        assert!(
            error.contains("1.23 or later")
                && error.contains("libonnxruntime.so.1.20.1 is version 1.20.1"),
            "{error}"
        );
        assert!(error.ends_with(INSTALL), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_variable_that_points_nowhere_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| Places {
            said: Some(("FACTS_ONNXRUNTIME", path.to_owned())),
            ..Places::default()
        };
        let error = load(&said(folder.path())).unwrap_err();
        assert!(error.contains("FACTS_ONNXRUNTIME points to"), "{error}");
        assert!(error.contains("where there is none; unset"), "{error}");

        let file = folder.path().join("libonnxruntime.so");
        std::fs::write(&file, "no library").unwrap();
        let error = load(&said(&file)).unwrap_err();
        assert!(error.contains("cannot be used (failed to load"), "{error}");
    }
}
