//! `facts diff`: two models on the same people, and a folder of audits as a monitor.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The example, with a second model beside the first: it asks women for ten more years.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring");
    for name in ["people.csv", "facts.toml", "model.json"] {
        std::fs::copy(example.join(name), folder.path().join(name)).unwrap();
    }
    let model = std::fs::read_to_string(example.join("model.json")).unwrap();
    let mut harder: Value = serde_json::from_str(&model).unwrap();
    harder["levels"]["sex"] = serde_json::json!({ "Female": -7.5, "Male": 0 });
    std::fs::write(folder.path().join("harder.json"), harder.to_string()).unwrap();
    let config = std::fs::read_to_string(example.join("facts.toml")).unwrap();
    let config = config.replace("linear:model.json", "linear:harder.json");
    std::fs::write(folder.path().join("harder.toml"), config).unwrap();
    folder
}

fn facts(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    command.current_dir(folder).arg("-q").args(arguments);
    command.output().unwrap()
}

fn json(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"))
}

#[test]
fn two_configurations_are_two_models_on_the_same_people() {
    let folder = folder();
    let found = facts(
        folder.path(),
        &[
            "diff",
            "facts.toml",
            "harder.toml",
            "--format",
            "json",
            "--fail-on-change",
        ],
    );
    assert_eq!(found.status.code(), Some(1));
    let found = json(&found);
    assert_eq!(found["same_people"], true);
    assert_eq!(found["people"]["trend"], "worse");
    let grew = |one: &&Value| one["change"] == "grew" || one["change"] == "appeared";
    let changed = found["changed"].as_array().unwrap();
    assert!(changed.iter().filter(grew).count() > 0);
    for one in changed.iter().filter(grew) {
        assert!(one["gap"]["corrected"].as_f64().unwrap() <= 0.05, "{one}");
        assert_eq!(one["gap"]["worse_off"], one["new"]["against"][0]);
    }
    let same = facts(
        folder.path(),
        &[
            "diff",
            "facts.toml",
            "facts.toml",
            "--fail-on-change",
            "-n",
            "1",
        ],
    );
    assert_eq!(same.status.code(), Some(0));
    let same = String::from_utf8(same.stdout).unwrap();
    assert!(same.contains("the same people under both models"), "{same}");
}

#[test]
fn a_folder_of_audits_is_a_monitor() {
    let folder = folder();
    for (config, out) in [
        ("facts.toml", "audits/1"),
        ("facts.toml", "audits/2"),
        ("harder.toml", "audits/3"),
    ] {
        let made = facts(folder.path(), &["audit", "--config", config, "--out", out]);
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
    }
    let found = facts(
        folder.path(),
        &["diff", "audits", "--format", "json", "--fail-on-change"],
    );
    assert_eq!(found.status.code(), Some(1));
    let found = json(&found);
    assert_eq!(found["first_change"], 2);
    assert_eq!(found["looks"][0]["shows_change"], false);
    assert_eq!(found["looks"][0]["spends"], 0.025);
    for form in ["text", "markdown", "html"] {
        let page = facts(
            folder.path(),
            &["diff", "audits", "--format", form, "-n", "2"],
        );
        let page = String::from_utf8(page.stdout).unwrap();
        assert!(page.contains("is the first that shows a change"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
    for (arguments, says) in [
        (&["diff", "audits/1"][..], "is one audit"),
        (
            &["diff", "audits", "facts.toml"],
            "a configuration is compared with one other",
        ),
        (
            &["diff", "audits/1", "audits/2", "--alpha", "2"],
            "between 0 and 1",
        ),
    ] {
        let refused = facts(folder.path(), arguments);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            refused.status.code() == Some(2) && why.contains(says),
            "{why}"
        );
    }
}
