//! What comes from outside cannot harm: damaged files, text that would command a terminal, two programs
//! that write to one folder, and a program that is killed.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn facts() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    command
        .current_dir(example())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env_remove("NO_COLOR");
    command
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// All files of a folder with what they hold.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    });
    files.collect()
}

/// Arrow files that make the decoder abort or trip an assertion.
#[test]
fn damaged_tables_are_one_line_of_json() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guard/tests/files");
    for name in [
        "ipc_abort.arrows",
        "ipc_2GB_16bytes.arrows",
        "ipc_assertion.arrow",
    ] {
        let mut command = facts();
        command.args(["audit", "-p", "sex", "-m", "model.json", "--json-log"]);
        let output = command.arg(folder.join(name)).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}: {}", said(&output));
        for line in said(&output).lines() {
            serde_json::from_str::<serde_json::Value>(line).expect(line);
        }
        command.arg("-q");
        let output = command.output().unwrap();
        assert!(!said(&output).contains("panicked"), "{}", said(&output));
    }
}

/// A model program that writes a line without an end.
#[cfg(unix)]
#[test]
fn a_line_without_an_end_is_refused() {
    let mut command = facts();
    let endless = "exec-csv:sh -c 'yes 1 | tr -d \"\\n\"'";
    command.args([
        "audit",
        "-q",
        "people.csv",
        "-p",
        "sex",
        "--favourable",
        "1",
    ]);
    let output = command.args(["-m", endless]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains("a line of more than 4096 bytes"),
        "{}",
        said(&output)
    );
}

#[test]
fn text_from_outside_commands_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let table = std::fs::read_to_string(example().join("people.csv")).unwrap();
    let table = table.replacen("region", "re\u{1b}]0;gone\u{7}gion", 1);
    let table = table.replace("clerk", "cl\u{202e}erk");
    std::fs::write(&path, &table).unwrap();
    let is_harmless = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad), "{text:?}");
    };
    let audit = |more: &[&str]| {
        let mut command = facts();
        command.args(["audit", "--color", "never"]).arg(&path);
        command.args(["-p", "sex", "-m", "model.json", "--favourable", "1"]);
        command.args(more).output().unwrap()
    };
    for more in [
        &["--ignore", "kept"][..],
        &["--ignore", "kept", "--full"],
        &["--ignore", "kept", "--dry-run"],
        &["--ignore", "kept", "--format", "markdown"],
        // Errors that name columns and values.
        &["--ignore", "ke\u{1b}pt"],
        &["--ignore", "regio"],
        &["--label", "occupation"],
    ] {
        let output = audit(more);
        is_harmless(&output.stdout);
        is_harmless(&output.stderr);
    }
    // The page with its explorer shows names without it; they can be asked for as they are.
    let fitted = |more: &[&str]| {
        let mut command = facts();
        command.args([
            "audit",
            "-q",
            "--no-evidence",
            "-p",
            "sex",
            "--min-members",
            "1",
        ]);
        command.args([
            "-m",
            "train",
            "--label",
            "kept",
            "--label-favourable",
            "yes",
        ]);
        let output = command.arg(&path).args(more).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        output.stdout
    };
    let page = fitted(&["--format", "html"]);
    is_harmless(&page);
    assert!(String::from_utf8(page).unwrap().contains("cl\u{fffd}erk"));
    let asked = fitted(&["--full", "--where", "job = cl\u{202e}erk"]);
    is_harmless(&asked);
    assert!(String::from_utf8(asked).unwrap().contains("cl\u{fffd}erk"));
    // What a model says before it dies.
    #[cfg(unix)]
    {
        let dying = "exec-csv:sh -c 'printf \"\\033[2J\\342\\200\\256bad\" >&2; exit 3'";
        let output = audit(&["--ignore", "kept", "-m", dying]);
        is_harmless(&output.stderr);
        let mut command = facts();
        command.args(["audit", "people.csv", "-p", "sex", "--favourable", "1"]);
        let output = command.args(["-m", dying]).output().unwrap();
        assert!(said(&output).contains("␛[2J"), "{}", said(&output));
        is_harmless(&output.stderr);
    }
}

/// What the gate says to a log of CI and on its pages.
#[test]
fn text_from_outside_commands_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["people.csv", "model.json"] {
        let text = std::fs::read_to_string(example().join(name)).unwrap();
        let text = text.replace("clerk", "cl\u{202e}erk\u{9b}2J");
        std::fs::write(place(name), text.replace("Female", "Fem\u{1b}[2Jale")).unwrap();
    }
    let mut command = facts();
    command.args([
        "audit",
        "-q",
        "--ignore",
        "kept",
        "-p",
        "sex",
        "--favourable",
        "1",
    ]);
    command
        .arg(place("people.csv"))
        .arg("-m")
        .arg(place("model.json"));
    let output = command.arg("--out").arg(place("result")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let config = "[[check.rule]]\ndefinition = \"equal-effectiveness:micro\"\nmax-score = 0.01\nevidence = \"none\"\n";
    std::fs::write(place("facts.toml"), config).unwrap();
    let is_harmless = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(text.contains("ale"), "{text}");
        assert!(!text.contains(bad), "{text:?}");
    };
    for form in ["text", "junit", "github"] {
        let mut command = facts();
        command
            .arg("check")
            .arg(place("result"))
            .args(["--format", form]);
        command.arg("--config").arg(place("facts.toml"));
        let output = command
            .env("GITHUB_STEP_SUMMARY", place("page.md"))
            .output();
        is_harmless(&output.unwrap().stdout);
    }
    is_harmless(&std::fs::read(place("page.md")).unwrap());
}

/// Names of groups and levels that a spreadsheet would run, and a page of Markdown would load.
#[test]
fn formulas_and_pictures_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let table = std::fs::read_to_string(example().join("people.csv")).unwrap();
    let table = table.replace("Female", "=HYPERLINK(1)");
    let table = table.replace("Male", "![x](https://example.org/x)");
    std::fs::write(&path, &table).unwrap();
    let (kept, disarmed) = (folder.path().join("kept"), folder.path().join("disarmed"));
    for (out, more) in [(&kept, None), (&disarmed, Some("--spreadsheet"))] {
        let mut command = facts();
        command
            .args(["audit", "-q", "-p", "sex", "--ignore", "kept"])
            .arg(&path);
        command
            .args(["-m", "model.json", "--favourable", "1", "--out"])
            .arg(out);
        let output = command.args(more).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
    let formulas = |folder: &Path| -> usize {
        let sheets = contents(folder).into_iter();
        let sheets = sheets.filter(|(name, _)| name.ends_with(".csv"));
        let starts = |text: &str| text.matches(",=H").count() + text.matches("\n=H").count();
        sheets
            .map(|(_, bytes)| starts(std::str::from_utf8(&bytes).unwrap()))
            .sum()
    };
    assert!(formulas(&kept) > 10);
    assert_eq!(formulas(&disarmed), 0);
    let page = folder.path().join("page.md");
    let mut command = facts();
    command
        .arg("check")
        .arg(&kept)
        .env("GITHUB_STEP_SUMMARY", &page);
    command.output().unwrap();
    for page in [page, kept.join("report.md")] {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("https://example.org/x"));
        assert!(!page.contains("![x]("), "{page}");
    }
}

/// An audit of the example into a folder, by one of two configurations.
fn audit(out: &Path, support: &str) -> Command {
    let mut command = facts();
    command.args(["audit", "-q", "--support", support, "--out"]);
    command.arg(out).stdout(Stdio::null());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_holds_one_audit_whole() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (old, new, out) = (place("old"), place("new"), place("out"));
    for (path, support) in [(&old, "0.2"), (&new, "0.3"), (&out, "0.2")] {
        assert!(audit(path, support).status().unwrap().success());
    }
    // A file that somebody put there stays.
    let note = "somebody's note";
    for path in [&old, &new, &out] {
        std::fs::write(path.join("note.txt"), note).unwrap();
    }
    let (old, new) = (contents(&old), contents(&new));
    assert_ne!(old, new);
    let is_whole = || {
        let found = contents(&out);
        assert!(found == old || found == new, "{:?}", found.keys());
    };
    // Two at once.
    for _ in 0..3 {
        let mut both = ["0.2", "0.3"].map(|support| audit(&out, support).spawn().unwrap());
        for child in &mut both {
            assert!(child.wait().unwrap().success());
        }
        is_whole();
    }
    // Killed, sooner and later.
    for milliseconds in (0..400).step_by(25) {
        let support = if milliseconds % 50 == 0 { "0.3" } else { "0.2" };
        let mut child = audit(&out, support).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        child.wait().unwrap();
        is_whole();
    }
    // What the killed ones left is gone after the next.
    std::fs::create_dir(place(".facts-out-Ab12Cd")).unwrap();
    assert!(audit(&out, "0.2").status().unwrap().success());
    assert_eq!(contents(&out), old);
    let mut names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    names.retain(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().starts_with(".facts-")
    });
    assert!(names.is_empty(), "{names:?}");
}

/// The model is not asked if its answers could not be told afterwards.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_is_noticed_before_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mark) = (folder.path().join("file"), folder.path().join("mark"));
    std::fs::write(&file, "in the way").unwrap();
    let model = format!("exec-csv:touch {}", mark.display());
    let mut command = facts();
    command.args([
        "audit",
        "-q",
        "people.csv",
        "-p",
        "sex",
        "-m",
        &model,
        "--out",
    ]);
    let output = command.arg(file.join("deeper/out")).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(!mark.exists(), "the model was started");
}

/// A result is called people.csv, and so is the table; it stays, and so does whatever no audit wrote.
#[test]
fn results_take_the_place_of_no_table_and_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for name in ["people.csv", "model.json", "facts.toml"] {
        std::fs::copy(example().join(name), here.join(name)).unwrap();
    }
    std::fs::create_dir(here.join("parts")).unwrap();
    std::fs::copy(here.join("people.csv"), here.join("parts/part.csv")).unwrap();
    std::fs::create_dir(here.join("other")).unwrap();
    std::fs::write(here.join("other/report.md"), "mine").unwrap();
    std::fs::create_dir(here.join("models")).unwrap();
    std::fs::copy(here.join("model.json"), here.join("models/report.json")).unwrap();
    let before = std::fs::read(here.join("people.csv")).unwrap();
    let audit = |more: &[&str]| {
        let mut command = facts();
        command
            .current_dir(here)
            .args(["audit", "-q", "--no-evidence"]);
        command.args(["--config", "facts.toml"]).args(more);
        command.output().unwrap()
    };
    for (arguments, code, why) in [
        (&["--out", "."][..], 2, "./people.csv is read by this audit"),
        (&["parts", "--out", "parts"], 2, "parts holds the table"),
        (
            &["--out", "other"],
            5,
            "other/report.md: it is there, and no audit",
        ),
        (
            &["--model", "linear:models/report.json", "--out", "models"],
            2,
            "models/report.json is read by this audit",
        ),
    ] {
        let output = audit(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
        assert!(said(&output).contains("--out"), "{}", said(&output));
    }
    assert_eq!(std::fs::read(here.join("people.csv")).unwrap(), before);
    assert_eq!(contents(&here.join("other")).len(), 1);
    // What an audit wrote is written again.
    for _ in 0..2 {
        let output = audit(&["--out", "result"]);
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// A model need not know a value that is held only by rows that are left out.
#[test]
fn rows_that_are_left_out_are_not_the_models_to_understand() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("people.csv");
    let people = std::fs::read_to_string(example().join("people.csv")).unwrap();
    let mut lines: Vec<String> = people.lines().map(str::to_owned).collect();
    // One without a job, which the model reads and cannot do without.
    let names: Vec<&str> = lines[0].split(',').collect();
    let job = names.iter().position(|&name| name == "job").unwrap();
    let mut cells: Vec<&str> = lines[1].split(',').collect();
    cells[job] = "";
    lines.push(cells.join(","));
    std::fs::write(&table, lines.join("\n") + "\n").unwrap();
    let mut command = facts();
    command.args(["audit", "-q", "--no-evidence", "--config", "facts.toml"]);
    command.arg(&table);
    let refused = command.output().unwrap();
    assert!(
        said(&refused).contains("cannot read column `job`"),
        "{}",
        said(&refused)
    );
    command.args(["--set", "features.job.missing=drop"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("600 people"), "{page}");
}

#[test]
fn a_model_that_overflows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let text = std::fs::read_to_string(example().join("model.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    for coefficients in model["levels"].as_object_mut().unwrap().values_mut() {
        for coefficient in coefficients.as_object_mut().unwrap().values_mut() {
            *coefficient = 1.5e308.into();
        }
    }
    std::fs::write(&path, model.to_string()).unwrap();
    let mut command = facts();
    command.args([
        "audit",
        "-q",
        "people.csv",
        "-p",
        "sex",
        "--favourable",
        "1",
    ]);
    let output = command.arg("-m").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains("the score overflows"),
        "{}",
        said(&output)
    );
}

/// Two inputs of one name would both get the same column.
#[test]
fn a_model_with_two_inputs_of_one_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/support/trees_fixture");
    let text = std::fs::read_to_string(fixtures.join("lightgbm.txt")).unwrap();
    let names = text
        .lines()
        .find(|line| line.starts_with("feature_names="))
        .unwrap();
    let (_, listed) = names.split_once('=').unwrap();
    let mut listed: Vec<&str> = listed.split(' ').collect();
    listed[1] = listed[0];
    let lightgbm = text.replace(names, &format!("feature_names={}", listed.join(" ")));

    let text = std::fs::read_to_string(fixtures.join("xgboost.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = &mut model["learner"]["feature_names"];
    names[1] = names[0].clone();
    for (name, text) in [
        ("lightgbm:m.txt", lightgbm),
        ("xgboost:m.json", model.to_string()),
    ] {
        let (kind, file) = name.split_once(':').unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, text).unwrap();
        let spec = format!("{kind}:{}", path.display());
        let mut command = facts();
        command.args(["audit", "-q", "people.csv", "-p", "sex", "-m", &spec]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(
            said(&output).contains("twice; fit the model"),
            "{}",
            said(&output)
        );
    }
}
