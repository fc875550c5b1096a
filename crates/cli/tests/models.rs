//! `facts audit --models`: many models on one table.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const LIST: &str = r#"
[[model]]
name = "as it is"
spec = "linear:model.json"

[[model]]
name = "not there"
spec = "linear:gone.json"

[[model]]
name = "harder"
spec = "linear:harder.json"
"#;

/// The example, with a second model that asks women for ten more years, and a list of both and of one that is
/// not there.
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
    std::fs::write(folder.path().join("models.toml"), LIST).unwrap();
    folder
}

fn facts(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    let command = command.current_dir(folder).env("SOURCE_DATE_EPOCH", "0");
    command
        .arg("-q")
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn each_model_is_audited_and_one_that_fails_is_named() {
    let folder = folder();
    let made = facts(
        folder.path(),
        "audit --models models.toml --out result --format json",
    );
    assert_eq!(made.status.code(), Some(4), "{}", text(&made.stderr));
    let summary: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(summary["kind"], "summary of models");
    assert_eq!(summary["alpha"], 0.05);
    assert!((summary["alpha_each"].as_f64().unwrap() * 3.0 - 0.05).abs() < 1e-12);
    let models = summary["models"].as_array().unwrap();
    assert_eq!(models.len(), 3);
    // Most people are at a loss where women are asked for more, and what failed comes last.
    let (worst, failed) = (&models[0], &models[2]);
    assert_eq!(worst["name"], "harder");
    assert_eq!(worst["outcome"], "unfair");
    assert_eq!(worst["against"], serde_json::json!(["Female"]));
    let p = worst["p"].as_f64().unwrap();
    assert!(p <= 0.05 / 3.0, "{p}");
    assert_eq!(models[1]["name"], "as it is");
    assert_eq!(failed["name"], "not there");
    assert_eq!(failed["outcome"], "failed");
    let why = failed["failure"].as_str().unwrap();
    assert!(why.contains("gone.json"), "{why}");

    let result = folder.path().join("result");
    for file in ["models.txt", "models.md", "models.json", "models.csv"] {
        assert!(result.join(file).is_file(), "{file}");
    }
    let page = std::fs::read_to_string(result.join("models.txt")).unwrap();
    assert!(page.starts_with("Unfair: "), "{page}");
    assert!(page.contains("not there failed: "), "{page}");
    for name in ["harder", "as it is"] {
        assert!(result.join(name).join("audit.json.gz").is_file(), "{name}");
    }
    assert!(!result.join("not there").join("audit.json.gz").exists());
}

/// What models share changes nothing: each audit is the one that the model gets alone at its share of α.
#[test]
fn each_audit_is_the_same_as_alone() {
    let folder = folder();
    std::fs::write(
        folder.path().join("two.toml"),
        LIST.replace("gone.json", "model.json"),
    )
    .unwrap();
    let made = facts(
        folder.path(),
        "audit --models two.toml --alpha 0.03 --out result",
    );
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let together = |name: &str, file: &str| {
        let path = folder.path().join("result").join(name).join(file);
        std::fs::read(path).unwrap()
    };
    for (name, file) in [("harder", "harder.json"), ("as it is", "model.json")] {
        let alone = format!("audit --model linear:{file} --alpha 0.01 --out alone");
        assert_eq!(facts(folder.path(), &alone).status.code(), Some(0));
        for form in ["subgroups.csv", "actions.csv", "people.csv", "stories.csv"] {
            let alone = std::fs::read(folder.path().join("alone").join(form)).unwrap();
            assert!(alone == together(name, form), "{name}: {form} differs");
        }
        let report: Value = serde_json::from_slice(&together(name, "report.json")).unwrap();
        let report = report.to_string();
        assert!(
            report.contains("one of 3 models audited together"),
            "{report}"
        );
    }
    // The same model twice is the same audit twice.
    assert!(together("not there", "subgroups.csv") == together("as it is", "subgroups.csv"));
    let screen = text(&made.stdout);
    assert!(
        screen.contains("each model is tested at α = 0.01."),
        "{screen}"
    );
    assert!(screen.contains("Next: facts show result/"), "{screen}");
}

#[test]
fn what_cannot_be_is_refused_before_the_table_is_read() {
    let folder = folder();
    let refused = |arguments: &str| {
        let made = facts(folder.path(), arguments);
        assert_eq!(made.status.code(), Some(2), "{arguments}");
        text(&made.stderr)
    };
    let error = refused("audit --models models.toml --format html");
    assert!(
        error.contains("the forms text, markdown, json, csv"),
        "{error}"
    );
    let error = refused("audit --models nowhere.toml");
    assert!(error.contains("nowhere.toml"), "{error}");
    let error = refused("audit --models models.toml --model train");
    assert!(error.contains("cannot be used with"), "{error}");
    let few = refused("audit --models models.toml --shuffles 50");
    assert!(few.contains("nothing could pass"), "{few}");
}
