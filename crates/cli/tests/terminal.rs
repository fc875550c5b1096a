//! What is asked at a terminal. Python's `pty` module makes one.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const TABLE: &str = "sex,job,kept\nf,clerk,1.0\nf,cook,0.0\nm,cook,1.0\nm,clerk,1.0\n";

/// What `facts init` shows at a terminal where this is typed, and what it writes.
fn init(folder: &Path, typed: &str, arguments: &[&str]) -> (String, String) {
    std::fs::write(folder.join("table.csv"), TABLE).unwrap();
    let python = std::env::var("FACTS_PYTHON").unwrap_or("python3".to_owned());
    let mut terminal = Command::new(python)
        .args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])"])
        .args([env!("CARGO_BIN_EXE_facts"), "init", "table.csv"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = terminal.stdin.take().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();
    // The keyboard stays plugged in until the command is done.
    let shown = terminal.wait_with_output().unwrap();
    drop(keyboard);
    (
        String::from_utf8(shown.stdout).unwrap(),
        std::fs::read_to_string(folder.join("facts.toml")).unwrap(),
    )
}

#[test]
fn init_asks_which_outcome_is_good() {
    let folder = tempfile::tempdir().unwrap();
    let (shown, written) = init(folder.path(), "2\n1\n", &[]);
    let readings = [
        "if `0.0` is the yes, 75.0 % of 4 people are refused (f 50.0 %, m 100.0 %)",
        "if `1.0` is the yes, 25.0 % of 4 people are refused (f 50.0 %, m 0.0 %)",
        "`kept` never has the value 2; it has: 0.0, 1.0",
    ];
    for line in readings {
        assert!(shown.contains(line), "{line} is not in:\n{shown}");
    }
    assert!(written.contains("\nfavourable = \"1\"\n"), "{written}");
}

#[test]
fn init_leaves_open_what_nobody_answers_and_asks_nothing_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (_, written) = init(folder.path(), "\n", &[]);
    assert!(written.contains("# favourable = \"1.0\""), "{written}");
    let (shown, written) = init(folder.path(), "", &["--force", "--favourable", "0"]);
    assert!(!shown.contains("is the yes"), "{shown}");
    assert!(written.contains("\nfavourable = \"0\"\n"), "{written}");
}
