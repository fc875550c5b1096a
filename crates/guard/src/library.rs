//! Native libraries that are not linked, but found and loaded when they are needed: where they are looked for.
//!
//! They come from package registries, most often inside a Python package. The working folder is never looked
//! into: it is not a place to load code from.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A library that is wanted.
#[derive(Clone, Copy)]
pub struct Library<'a> {
    /// The environment variables that may say where it is, the first that is set wins.
    pub variables: &'a [&'static str],
    /// The Python package that brings it.
    pub package: &'a str,
    /// The folders under a package, or under a folder that is named, that it may lie in.
    pub under: &'a [&'a str],
    /// Whether a file of this name is one.
    pub is_one: &'a dyn Fn(&str) -> bool,
}

/// A place to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The root of a virtual environment.
    Environment(PathBuf),
    /// A Python to ask.
    Python(OsString),
}

/// Prints the folders that Python would import a package from, without importing it, which may take a
/// second, and without the working folder.
const ASK_PYTHON: &str = "
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec(sys.argv[1])
for folder in (spec.submodule_search_locations or []) if spec else []:
    print(folder)
";

impl Library<'_> {
    /// The variable that is set, and where it points.
    pub fn said(&self) -> Option<(&'static str, PathBuf)> {
        let mut variables = self.variables.iter();
        variables.find_map(|name| Some((*name, PathBuf::from(value(name)?))))
    }

    /// Where else to look, in this order: the packages of the Python that `FACTS_PYTHON` names, those of
    /// the active virtual environment, those of `python3`, and those of `python`.
    pub fn places(&self) -> Vec<Place> {
        let asked = value("FACTS_PYTHON").map(Place::Python);
        let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter();
        let environments =
            environments.filter_map(|name| Some(Place::Environment(value(name)?.into())));
        let pythons = ["python3", "python"].into_iter();
        let pythons = pythons.map(|python| Place::Python(python.into()));
        asked
            .into_iter()
            .chain(environments)
            .chain(pythons)
            .collect()
    }

    /// The libraries at a path that was named: itself, or those in the folder.
    pub fn at(&self, path: &Path) -> Vec<PathBuf> {
        match path.is_dir() {
            true => self.in_folder(path),
            false => vec![path.to_owned()],
        }
    }

    /// The libraries in a place.
    pub fn of(&self, place: &Place) -> Vec<PathBuf> {
        let packages = match place {
            Place::Environment(root) => in_environment(root, self.package),
            Place::Python(python) => ask(python, self.package),
        };
        let packages = packages.iter();
        packages
            .flat_map(|package| self.in_folder(package))
            .collect()
    }

    /// The libraries in a folder, or where a release or a package keeps them under it.
    fn in_folder(&self, folder: &Path) -> Vec<PathBuf> {
        let files = self
            .under
            .iter()
            .flat_map(|under| listed(&folder.join(under)));
        files.filter(|file| (self.is_one)(&name_of(file))).collect()
    }
}

/// The name of a file, without its folder.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(OsStr::new(""));
    name.to_string_lossy().into_owned()
}

fn value(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Where a virtual environment keeps a package.
fn in_environment(root: &Path, package: &str) -> Vec<PathBuf> {
    // lib/python3.11/site-packages; on Windows Lib\site-packages.
    let versions = listed(&root.join("lib")).into_iter();
    let versions = versions.filter(|folder| name_of(folder).starts_with("python"));
    let packages = std::iter::once(root.join("Lib").join("site-packages"))
        .chain(versions.map(|folder| folder.join("site-packages")));
    packages.map(|folder| folder.join(package)).collect()
}

/// What a folder holds, in order of name; nothing if it cannot be read.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Where a Python keeps a package; nothing if there is no such Python or no such package.
fn ask(python: &OsStr, package: &str) -> Vec<PathBuf> {
    let answer = Command::new(python)
        .args(["-c", ASK_PYTHON, package])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match answer {
        Ok(answer) if answer.status.success() => {
            let text = String::from_utf8_lossy(&answer.stdout);
            text.lines().map(PathBuf::from).collect()
        }
        _ => Vec::new(),
    }
}
