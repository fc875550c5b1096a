//! What a stranger sees first: `facts init`, then `facts audit`, on tables as they are published; and the
//! demo. `FIRST_SCREENS=overwrite cargo test --workspace --test first_screens` writes the files in
//! `first_screens/` again; read the difference before you commit it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// A table of the repository, and what is said about it to `facts init`.
const TABLES: [(&str, &str, &[&str]); 3] = [
    (
        "hiring",
        "examples/hiring/people.csv",
        &[
            "--label",
            "kept",
            "--favourable",
            "yes",
            "--protected",
            "sex",
        ],
    ),
    (
        "compas",
        "data/compas/compas-scores-two-years.csv.gz",
        &[
            "--duplicates",
            "number",
            "--label",
            "two_year_recid",
            "--favourable",
            "0",
            "--protected",
            "race",
        ],
    ),
    (
        "german",
        "data/german/german.data.gz",
        &[
            "--no-header",
            "--delimiter",
            " ",
            "--label",
            "column_21",
            "--favourable",
            "1",
            "--protected",
            "column_9",
        ],
    ),
];

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_facts"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn compare(name: &str, page: &str) {
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines.len() <= 30, "{} lines:\n{page}", lines.len());
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns:\n{page}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/first_screens")
        .join(format!("{name}.txt"));
    if std::env::var_os("FIRST_SCREENS").is_some_and(|value| value == "overwrite") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, page).unwrap();
    }
    assert_eq!(page, std::fs::read_to_string(&file).unwrap(), "{name}");
}

#[test]
fn tables_of_strangers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, table, said) in TABLES {
        let folder = tempfile::tempdir().unwrap();
        let file = Path::new(table).file_name().unwrap().to_str().unwrap();
        std::fs::copy(root.join(table), folder.path().join(file)).unwrap();
        printed(folder.path(), &[&["init", file, "-q"], said].concat());
        compare(name, &printed(folder.path(), &["audit", file, "-q"]));
    }
}

#[test]
fn the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let page = printed(folder.path(), &["demo", "-q"]);
    // How long it took is another matter each time.
    let page: Vec<&str> = page
        .lines()
        .filter(|line| !line.contains("(Made in"))
        .collect();
    compare("demo", &(page.join("\n") + "\n"));
}
