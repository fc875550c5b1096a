//! The tables of `ARCHITECTURE.md` are true: who may know whom, inside the engine and between crates.
//!
//! Plain text is enough for that: a module of the engine names another one by a path that starts with
//! `crate::`, and a crate names another one under `[dependencies]`.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each thing may know, by name.
type Known = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names in backticks of a cell, without what makes them a folder or a file.
fn names(cell: &str) -> impl Iterator<Item = String> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.map(|name| {
        name.trim_end_matches('/')
            .trim_end_matches(".rs")
            .to_owned()
    })
}

/// The table whose first column has this title: the names of its first cells, with those of its last.
fn table(first_column: &str) -> Known {
    let text = read(&root().join("ARCHITECTURE.md"));
    let head = format!("| {first_column} |");
    let mut known = Known::new();
    for row in text
        .lines()
        .skip_while(|line| !line.starts_with(&head))
        .skip(2)
    {
        if !row.starts_with('|') {
            break;
        }
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let may_know: BTreeSet<String> = names(cells[cells.len() - 1]).collect();
        for name in names(cells[0]) {
            known.insert(name, may_know.clone());
        }
    }
    assert!(
        !known.is_empty(),
        "no table with the column `{first_column}`"
    );
    known
}

/// A way from a name back to itself, if what is allowed has one.
fn cycle(known: &Known) -> Option<Vec<String>> {
    fn visit(at: &str, known: &Known, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        if let Some(start) = path.iter().position(|name| name == at) {
            path.drain(..start);
            return true;
        }
        if done.contains(at) {
            return false;
        }
        path.push(at.to_owned());
        if known
            .get(at)
            .into_iter()
            .flatten()
            .any(|next| visit(next, known, path, done))
        {
            return true;
        }
        path.pop();
        done.insert(at.to_owned());
        false
    }
    let mut done = BTreeSet::new();
    known.keys().find_map(|name| {
        let mut path = Vec::new();
        visit(name, known, &mut path, &mut done).then_some(path)
    })
}

/// What a table says that it must not say: names that are not there, and cycles.
fn untrue(known: &Known, there: &BTreeSet<String>) -> Vec<String> {
    let listed: BTreeSet<String> = known.keys().cloned().collect();
    let missing = there
        .difference(&listed)
        .map(|name| format!("`{name}` is not in the table"));
    let named = known.values().flatten().chain(&listed);
    let unknown: BTreeSet<&String> = named.filter(|name| !there.contains(*name)).collect();
    let unknown = unknown
        .into_iter()
        .map(|name| format!("the table names `{name}`, which is not there"));
    let cycle = cycle(known).map(|path| format!("the table allows a cycle: {}", path.join(" → ")));
    missing.chain(unknown).chain(cycle).collect()
}

/// Rust files in a folder and below, in order of name.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The lines of a file without comments and without its tests, so that line numbers stay.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut in_tests = false;
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let before = number.checked_sub(1).map_or("", |before| lines[before]);
        in_tests |= line.starts_with("mod tests {") && before == "#[cfg(test)]";
        if !in_tests && !line.trim_start().starts_with("//") {
            code.push_str(line);
        }
        code.push('\n');
        in_tests &= *line != "}";
    }
    code
}

/// The first names after each `crate::`, also of several in braces, with their line.
fn crate_paths(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let after = &code[at + prefix.len()..];
        let first = |text: &str| -> String {
            let name = |c: &char| c.is_alphanumeric() || *c == '_';
            text.trim_start().chars().take_while(name).collect()
        };
        let Some(inside) = after.strip_prefix('{') else {
            paths.push((line, first(after)));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    paths.push((line, first(&inside[start..i])));
                    start = i + 1;
                }
                _ => {}
            }
            if c == '}' && start == i + 1 {
                break;
            }
        }
    }
    paths.retain(|(_, name)| !name.is_empty());
    paths
}

/// The modules of the engine's root, and which of them are files of their own.
fn modules(src: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut all = BTreeSet::new();
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(src).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name != "lib" {
            if path.is_file() {
                files.insert(name.clone());
            }
            all.insert(name);
        }
    }
    (all, files)
}

#[test]
fn the_engine_looks_only_where_the_table_allows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (modules, base) = modules(&src);
    let known = table("folder");
    let mut wrong = untrue(&known, &modules);
    for file in rust_files(&src) {
        let place = file.strip_prefix(&src).unwrap();
        let first = place.iter().next().unwrap().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs");
        if module == "lib" || place.ends_with("tests.rs") {
            continue;
        }
        let allowed = |name: &String| {
            // Every folder may know the files that stand alone.
            name == module
                || known.get(module).is_some_and(|known| known.contains(name))
                || (!base.contains(module) && base.contains(name))
        };
        let code = code(&read(&file));
        // From a folder's own file, `super` is the root; no file needs to look there.
        let depth = place.iter().count() - usize::from(place.ends_with("mod.rs"));
        let up = "super::".repeat(depth);
        for (number, line) in code.lines().enumerate() {
            if line.contains(&up) {
                wrong.push(format!(
                    "{}:{}: `{up}` is the root; write `crate::`",
                    place.display(),
                    number + 1
                ));
            }
        }
        for (line, name) in crate_paths(&code) {
            let at = format!("{}:{line}", place.display());
            if !modules.contains(&name) {
                wrong.push(format!(
                    "{at}: `crate::{name}` is of the root; name the module it is from"
                ));
            } else if !allowed(&name) {
                wrong.push(format!("{at}: `{module}` may not know `{name}`"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "ARCHITECTURE.md and crates/engine/src differ:\n{}",
        wrong.join("\n")
    );
}

/// A workspace member: its folder, and the packages of the workspace that it depends on.
struct Member {
    folder: String,
    package: String,
    depends_on: Vec<String>,
}

impl Member {
    fn read(manifest: &Path) -> Self {
        let folder = manifest.parent().unwrap().file_name().unwrap();
        let mut member = Self {
            folder: folder.to_string_lossy().into_owned(),
            package: String::new(),
            depends_on: Vec::new(),
        };
        let mut section = String::new();
        for line in read(manifest).lines() {
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']).to_owned();
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let key = key.trim().trim_end_matches(".workspace");
            if section == "package" && key == "name" {
                member.package = value.trim().trim_matches('"').to_owned();
            }
            if section == "dependencies" || section.ends_with(".dependencies") {
                member.depends_on.push(key.to_owned());
            }
        }
        member
    }
}

#[test]
fn crates_depend_only_on_those_that_the_table_allows() {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let mut manifests: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path()).collect();
    manifests.push(root().join("verification"));
    manifests.push(root().join("fuzz"));
    let members: Vec<Member> = manifests
        .iter()
        .map(|path| Member::read(&path.join("Cargo.toml")))
        .collect();
    let folders: BTreeSet<String> = members.iter().map(|member| member.folder.clone()).collect();
    let known = table("crate");
    let mut wrong = untrue(&known, &folders);
    for member in &members {
        let of_workspace = members
            .iter()
            .filter(|other| member.depends_on.contains(&other.package));
        for other in of_workspace {
            if !known
                .get(&member.folder)
                .is_some_and(|known| known.contains(&other.folder))
            {
                wrong.push(format!(
                    "{}/Cargo.toml: `{}` may not know `{}`",
                    member.folder, member.folder, other.folder
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "ARCHITECTURE.md and the manifests differ:\n{}",
        wrong.join("\n")
    );
}
