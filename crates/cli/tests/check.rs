//! `facts check`: rules, baseline, waivers, forms and exit codes, on the audit of the demo.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// 14 November 2023, in seconds.
const TODAY: &str = "1700000000";

fn facts(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    command
        .current_dir(folder)
        .env("SOURCE_DATE_EPOCH", TODAY)
        .env_remove("GITHUB_ACTIONS")
        .env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// The saved audit of the demo, made once: seven stories against women.
fn demo() -> &'static Path {
    static DEMO: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = DEMO.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = facts(folder.path())
            .args(["demo", "-q", "--out", "demo"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        folder
    });
    folder.path()
}

/// A folder with rules, and the path of the demo's audit.
struct Project {
    folder: tempfile::TempDir,
    audit: PathBuf,
}

impl Project {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("facts.toml"), rules).unwrap();
        Self {
            folder,
            audit: demo().join("demo"),
        }
    }

    fn check(&self, arguments: &[&str]) -> Output {
        let mut command = facts(self.folder.path());
        command.arg("check").arg(&self.audit).args(arguments);
        command.output().unwrap()
    }

    /// What is printed, with the exit code.
    fn told(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.check(arguments);
        let text =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.check(&[arguments, &["--format", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn objection(schema: &Path, document: &Value) -> Option<String> {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    compiler
        .add_resource("file:///schema.json", schema)
        .unwrap();
    let schema = compiler
        .compile("file:///schema.json", &mut schemas)
        .unwrap();
    let refused = schemas.validate(document, schema).err();
    refused.map(|error| format!("{error:#}"))
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

const RULES: &str = r#"
[[check.rule]]
name = "few at a loss"
max-loss = 100

[[check.rule]]
name = "four fifths"
min-ratio = 0.8
severity = "warn"

[[check.rule]]
name = "no men"
groups = ["Male"]

[[check.rule]]
name = "untested"
definition = "equal-effectiveness-within-budget:micro:7.5"
"#;

#[test]
fn without_rules_any_story_fails_until_it_is_accepted() {
    let project = Project::new("");
    let (code, text) = project.told(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.starts_with("FAILED: 0 of 1 rule holds, 1 fails.\n"),
        "{text}"
    );
    assert!(text.lines().count() <= 30, "{text}");
    let id = text.split(['[', ']']).nth(1).unwrap();
    let mut show = facts(project.folder.path());
    let shown = show
        .arg("show")
        .arg(&project.audit)
        .args(["--subgroup", id])
        .output()
        .unwrap();
    assert!(
        shown.stdout.starts_with(b"hours-per-week = FullTime\n"),
        "{shown:?}"
    );
    let (code, text) = project.told(&["--update-baseline"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = project.told(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("7 stories found (7 in the baseline)"),
        "{text}"
    );
    // One that is taken out of the list and was not accepted counts again.
    let path = project.folder.path().join("facts.baseline.json");
    let mut baseline: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let findings = baseline["findings"].as_object_mut().unwrap();
    let id = findings.keys().next().unwrap().clone();
    findings.remove(&id);
    baseline["counts-as-new"] = serde_json::json!([id]);
    std::fs::write(&path, baseline.to_string()).unwrap();
    let gate = project.json(&[]);
    let found = gate["rules"][0]["findings"].as_array().unwrap();
    let new: Vec<&Value> = found.iter().filter(|f| f["state"] == "new").collect();
    assert_eq!((new.len(), &new[0]["id"]), (1, &Value::from(id)));
}

#[test]
fn each_rule_holds_fails_or_is_undecided() {
    let project = Project::new(RULES);
    let gate = project.json(&[]);
    let status = |place: usize| gate["rules"][place]["status"].as_str().unwrap().to_owned();
    assert_eq!(
        [0, 1, 2, 3].map(status),
        ["fails", "fails", "holds", "undecided"]
    );
    assert_eq!(
        gate["levels"],
        serde_json::json!(["error", "warn", null, "warn"])
    );
    assert_eq!(gate["rules"][0]["rule"]["line"], 2);
    // What is no error does not fail the gate; what is undecided does, if it is to.
    let (code, text) = project.told(&[
        "--set",
        "check.rule=[{min-ratio = 0.8, severity = \"warn\"}]",
    ]);
    assert_eq!(code, 0, "{text}");
    let untested = "check.rule=[{definition = \"equal-choice:0.45\", on-undecided = \"fail\"}]";
    assert_eq!(project.told(&["--set", untested]).0, 1);
    // A way out is far less open to women: at 0.4 it holds, at 0.456 it cannot be told.
    let ratio = |ratio: &str| {
        let rule = format!("check.rule=[{{min-ratio = {ratio}}}]");
        project.json(&["--set", &rule])["rules"][0]["status"].clone()
    };
    assert_eq!(
        [ratio("0.4"), ratio("0.456"), ratio("0.5")],
        ["holds", "undecided", "fails"]
    );
}

#[test]
fn what_makes_no_sense_is_named() {
    let project = Project::new("");
    for (rule, why) in [
        ("{min-ratio = 8}", "between 0 and 1"),
        ("{max-score = 0.1}", "needs a `definition`"),
        ("{verdict = \"fair\", max-loss = 1}", "do not go together"),
        (
            "{groups = [\"Femal\"]}",
            "no group is called `Femal`; there are Female",
        ),
        ("{where = \"hours = 1\"}", "no feature is called"),
        (
            "{definition = \"equal-efectiveness\"}",
            "equal-effectiveness",
        ),
        (
            "{min-ratio = 0.8, where = \"x\"}",
            "`where` is for rules about",
        ),
        ("{name = \"a\"}, {name = \"a\"}", "two rules are called `a`"),
    ] {
        let (code, text) = project.told(&["--set", &format!("check.rule=[{rule}]")]);
        assert_eq!(code, 2, "{rule}: {text}");
        assert!(text.contains(why), "{rule}: {text}");
    }
}

#[test]
fn waivers_let_findings_through_for_a_while() {
    let rules = "[[check.rule]]\nname = \"few\"\nmax-loss = 200\n";
    let gate = Project::new(rules).json(&[]);
    let findings = gate["rules"][0]["findings"].as_array().unwrap();
    let [finding] = findings.as_slice() else {
        panic!("one story has over 200 at a loss: {gate}")
    };
    let id = finding["id"].as_str().unwrap();
    let waived = |until: &str| {
        let waiver = "[[check.waive]]\nreason = \"a new model comes\"\nowner = \"ana\"";
        Project::new(&format!(
            "{rules}{waiver}\nid = \"{id}\"\nuntil = {until}\n"
        ))
    };
    let (code, text) = waived("2023-11-24").told(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains(&format!(
            "[{id}] waived by ana, 10 days left: a new model comes"
        )),
        "{text}"
    );
    for (until, why) in [
        ("2023-11-13", "lapsed 1 day ago"),
        ("2025-01-01", "414 days ahead, and 90 are allowed"),
        ("\"some day\"", "is no date"),
    ] {
        let (code, text) = waived(until).told(&[]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains(why), "{text}");
    }
    // What is waived is not accepted: it counts once the waiver lapses.
    let project = waived("2023-11-24");
    assert_eq!(project.told(&["--update-baseline"]).0, 0);
    let mut later = facts(project.folder.path());
    later
        .arg("check")
        .arg(&project.audit)
        .env("SOURCE_DATE_EPOCH", "1800000000");
    assert_eq!(later.output().unwrap().status.code(), Some(1));
    // A clock that goes back does not make it hold for longer: it now ends too far ahead.
    let output = later.env("SOURCE_DATE_EPOCH", "0").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("days ahead, and 90 are allowed"), "{text}");
}

#[test]
fn a_baseline_that_is_damaged_or_gone_is_no_pass() {
    let project = Project::new("");
    let (code, text) = project.told(&["--baseline", "other.json"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("there is no such baseline"), "{text}");
    assert_eq!(project.told(&["--update-baseline"]).0, 0);
    let audit = project.folder.path().join("facts.baseline.audit.json.gz");
    let mut bytes = std::fs::read(&audit).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&audit, &bytes).unwrap();
    let (code, text) = project.told(&[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("is not the audit that"), "{text}");
    std::fs::remove_file(&audit).unwrap();
    assert_eq!(project.told(&[]).0, 3);
    std::fs::write(project.folder.path().join("facts.baseline.json"), "{}").unwrap();
    let (code, text) = project.told(&[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("this is not a baseline"), "{text}");
}

#[test]
fn sarif_is_what_its_schema_says() {
    let project = Project::new(RULES);
    assert_eq!(project.told(&["--update-baseline"]).0, 0);
    for arguments in [vec![], vec!["--no-baseline"]] {
        let output = project.check(&[arguments.as_slice(), &["--format", "sarif"]].concat());
        let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
        let objection = objection(&here("tests/schemas/sarif-2.1.0.json"), &sarif);
        assert_eq!(objection, None);
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let first = &results[0];
        assert_eq!(
            first["locations"][0]["physicalLocation"]["region"]["startLine"],
            2
        );
        let known = if arguments.is_empty() {
            Value::from("unchanged")
        } else {
            Value::Null
        };
        assert_eq!(first["baselineState"], known);
        let fingerprint = first["partialFingerprints"]["factsFinding/v1"]
            .as_str()
            .unwrap();
        assert_eq!(fingerprint.len(), 12);
        // GitHub tells alerts in one line apart by this.
        let told_apart: std::collections::HashSet<&str> = (results.iter())
            .map(|r| &r["partialFingerprints"]["primaryLocationLineHash"])
            .map(|hash| hash.as_str().unwrap())
            .collect();
        assert_eq!(told_apart.len(), results.len());
    }
    // The schema can say no.
    let mut wrong: Value = serde_json::json!({"version": "2.1.0", "runs": [{"results": []}]});
    assert!(objection(&here("tests/schemas/sarif-2.1.0.json"), &wrong).is_some());
    wrong["runs"] = Value::Null;
    assert!(objection(&here("tests/schemas/sarif-2.1.0.json"), &wrong).is_some());
}

#[test]
fn json_is_what_its_schema_says() {
    let project = Project::new(&format!("{RULES}\n[[check.waive]]\nid = \"0\"\n"));
    for arguments in [&["--no-baseline"][..], &["--update-baseline"], &[]] {
        let objection = objection(
            &here("../../docs/schema/check.schema.json"),
            &project.json(arguments),
        );
        assert_eq!(objection, None);
    }
}

#[test]
fn junit_has_a_case_a_rule() {
    let output = Project::new(RULES).check(&["--format", "junit"]);
    let xml = String::from_utf8(output.stdout).unwrap();
    assert!(
        xml.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""),
        "{xml}"
    );
    assert_eq!(xml.matches("<testcase ").count(), 4);
    assert_eq!(
        (
            xml.matches("<failure ").count(),
            xml.matches("<skipped ").count()
        ),
        (1, 2)
    );
}

#[test]
fn github_gets_annotations_and_a_summary_and_gitlab_its_report() {
    let project = Project::new(RULES);
    let summary = project.folder.path().join("summary.md");
    let mut command = facts(project.folder.path());
    command.arg("check").arg(&project.audit);
    command
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary);
    let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(
        told.contains("\n::error file=facts.toml,line=2,title=facts%3A few at a loss fails::"),
        "{told}"
    );
    assert!(
        told.contains("\n::warning file=facts.toml,line=6,title="),
        "{told}"
    );
    let page = std::fs::read_to_string(summary).unwrap();
    assert!(page.starts_with("## facts check failed\n"), "{page}");
    let output = project.check(&["--format", "gitlab"]);
    let issues: Value = serde_json::from_slice(&output.stdout).unwrap();
    let issues = issues.as_array().unwrap();
    let fingerprints: std::collections::HashSet<&str> = issues
        .iter()
        .map(|issue| issue["fingerprint"].as_str().unwrap())
        .collect();
    assert_eq!(fingerprints.len(), issues.len());
    assert!(
        issues
            .iter()
            .all(|issue| issue["location"]["path"] == "facts.toml")
    );
}

/// However many rules and waivers there are, and however long their names.
#[test]
fn the_text_is_a_screen() {
    let name = "a rule with a name so long that it needs more than one line of a terminal, as some have that a committee wrote";
    let mut rules: String = (0..40)
        .map(|n| format!("[[check.rule]]\nname = \"{n} {name}\"\nmax-loss = {n}\n"))
        .collect();
    rules += &(0..20)
        .map(|n| format!("[[check.waive]]\nid = \"{n}\"\n"))
        .collect::<String>();
    for rules in ["", RULES, rules.as_str()] {
        let (code, text) = Project::new(rules).told(&[]);
        assert_eq!(code, 1, "{text}");
        assert!(text.starts_with("FAILED: "), "{text}");
        assert!(text.lines().count() <= 30, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
        assert!(text.contains("\nNext: "), "{text}");
    }
}

/// What the examples for CI run, run: on the hiring example, which has nothing to find.
#[test]
fn the_examples_for_ci_run() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["facts.toml", "people.csv", "model.json"] {
        std::fs::copy(
            here("../../examples/hiring").join(file),
            folder.path().join(file),
        )
        .unwrap();
    }
    let command = Path::new(env!("CARGO_BIN_EXE_facts")).parent().unwrap();
    let path = format!("{}:{}", command.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for file in ["github.yml", "gitlab.yml", "pre-commit.yaml"] {
        let text = std::fs::read_to_string(here("../../examples/ci").join(file)).unwrap();
        let typed = text.lines().filter_map(|line| {
            let line = line.trim_start_matches([' ', '-']);
            let line = line
                .strip_prefix("run: ")
                .or(line.strip_prefix("entry: "))
                .unwrap_or(line);
            line.starts_with("facts ").then_some(line)
        });
        for typed in typed {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", typed])
                .current_dir(folder.path())
                .env("PATH", &path);
            let output = shell.output().unwrap();
            assert!(output.status.success(), "{typed}: {output:?}");
            ran += 1;
        }
    }
    assert_eq!(ran, 6);
    for file in ["facts.sarif", "facts.xml", "facts.json", "result.pack.tar"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
