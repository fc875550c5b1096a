//! A little of every target, as `cargo run -p facts-fuzz` runs it, and all that once went wrong.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::Command;

use facts_fuzz::{TARGETS, files, seeds};

#[test]
fn seeds_are_accepted() {
    let mut refused = Vec::new();
    for target in TARGETS {
        let paths = files("seeds", target.name).unwrap();
        assert!(!paths.is_empty(), "{} has no seeds", target.name);
        let read = |path: &PathBuf| (target.read)(&std::fs::read(path).unwrap());
        refused.extend(paths.into_iter().filter(|path| !read(path)));
    }
    assert!(refused.is_empty(), "refused: {refused:?}");
}

#[test]
fn what_once_brought_a_reader_down_no_longer_does() {
    for target in TARGETS {
        for path in files("regressions", target.name).unwrap() {
            (target.read)(&std::fs::read(path).unwrap());
        }
    }
}

#[test]
fn no_mutant_brings_a_reader_down() {
    let run = Command::new(env!("CARGO_BIN_EXE_facts-fuzz"))
        .args(["--executions", "5000"])
        .output()
        .unwrap();
    let (said, complained) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{said}{complained}");
    let all = format!("{} executions, 0 crashes\n", TARGETS.len() * 5000);
    assert!(said.ends_with(&all), "{said}");
}

#[test]
fn the_same_number_gives_the_same_mutant() {
    let seeds = seeds("csv").unwrap();
    let made = |number| facts_fuzz::mutant(&seeds, 1, number);
    assert_eq!(made(7), made(7));
    let distinct: std::collections::HashSet<Vec<u8>> = (0..1000).map(made).collect();
    assert!(distinct.len() > 900, "{}", distinct.len());
}
