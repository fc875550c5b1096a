//! What goes wrong around the command: no memory left, a clock that goes back, a model that is slow or dies. It
//! says so, leaves what was there as it was, and leaves no program running.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring")
}

fn facts() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    command
        .current_dir(example())
        .env("SOURCE_DATE_EPOCH", "1700000000");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files of a folder, and of folders in it, with what they hold.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => drop(found.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found
}

/// With less and less address space, down to none for the audit: it is made whole, or it ends with a message and the
/// old results are there as they were.
#[test]
fn without_memory_nothing_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    let quick = "--set evidence.shuffles=0 --set evidence.resamples=0";
    let audit = |limit: Option<u64>, support: &str| {
        let limit = limit.map_or_else(String::new, |kib| {
            format!("ulimit -c 0; ulimit -v {kib} && ")
        });
        let command = format!(
            "{limit}exec '{}' audit -q --threads 2 --support {support} {quick} --out '{}'",
            env!("CARGO_BIN_EXE_facts"),
            out.display()
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(example());
        shell
            .env("SOURCE_DATE_EPOCH", "1700000000")
            .output()
            .unwrap()
    };
    // With less than the program itself takes, the system ends it before it can say anything.
    let starts = |kib: u64| {
        let command = format!(
            "ulimit -c 0; ulimit -v {kib} && exec '{}' --version",
            env!("CARGO_BIN_EXE_facts")
        );
        let started = Command::new("sh").args(["-c", &command]).output().unwrap();
        started.status.success()
    };
    let first = audit(None, "0.05");
    assert!(first.status.success(), "{}", said(&first));
    let old = contents(&out);
    let (mut made, mut refused) = (0, 0);
    for mib in [40_u64, 60, 80, 100, 120, 160, 240, 400, 4096] {
        let output = audit(Some(mib << 10), "0.02");
        let new = contents(&out);
        if output.status.success() {
            made += 1;
            assert_ne!(new, old, "{mib} MiB: nothing was written");
            assert_eq!(new.len(), old.len(), "{mib} MiB");
            let again = audit(None, "0.05");
            assert!(again.status.success(), "{}", said(&again));
            assert_eq!(contents(&out), old, "{mib} MiB");
        } else {
            refused += 1;
            assert!(
                !said(&output).trim().is_empty() || !starts(mib << 10),
                "{mib} MiB: ended without a word"
            );
            assert_eq!(new, old, "{mib} MiB: {}", said(&output));
        }
    }
    assert!(made > 0 && refused > 0, "{made} made, {refused} refused");
    let beside = std::fs::read_dir(folder.path()).unwrap();
    let beside: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["result"]);
}

/// An audit made by a clock that has gone back is shown and compared like any other.
#[test]
fn a_clock_that_goes_back_changes_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, seconds: &str| {
        let out = folder.path().join(name);
        let output = facts()
            .env("SOURCE_DATE_EPOCH", seconds)
            .args(["audit", "-q", "--set", "evidence.shuffles=39", "--out"])
            .arg(&out)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        out
    };
    // The second was made before the first, in 1970.
    let (later, earlier) = (made("made-a", "1700000000"), made("made-b", "0"));
    let shown = |path: &Path| {
        let output = facts().arg("show").arg(path).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let dated = shown(&earlier).replace("1970-01-01T00:00:00Z", "2023-11-14T22:13:20Z");
    let dated = dated.replace("1970-01-01", "2023-11-14");
    assert_eq!(dated.replace("made-b", "made-a"), shown(&later));
    let output = facts()
        .arg("diff")
        .args([&later, &earlier])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

/// The attacks and faults that the documentation lists are tests that are there.
#[test]
fn listed_attacks_are_tests() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("verifying.md")).unwrap();
    let from = page.find("## Attacks that worked once").unwrap();
    let to = page.find("## Recount an audit").unwrap();
    let mut tests = 0;
    for row in page[from..to].lines().filter(|line| line.contains("](../")) {
        let mut code = String::new();
        for part in row.split(['(', ')', '`']) {
            if let Some(file) = part.strip_prefix("../") {
                code = std::fs::read_to_string(docs.join("..").join(file)).expect(row);
            } else if !code.is_empty() && part.len() > 10 && part.contains('_') {
                assert!(
                    code.contains(&format!("#[test]\nfn {part}()"))
                        || code.contains(&format!("#[test]\n    fn {part}()")),
                    "{part}"
                );
                tests += 1;
            }
        }
    }
    assert!(tests >= 25, "{tests}");
}
