//! What the command leaves behind: files, whole or not at all, in forms that others can read.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

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

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn unpacked(path: &Path) -> Value {
    let file = std::fs::File::open(path).unwrap();
    serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap()
}

/// What the schema says against a document.
fn objection(name: &str, document: &Value) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    for file in ["audit.schema.json", "report.schema.json"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let schema = serde_json::from_str(&text).unwrap();
        compiler
            .add_resource(&format!("file:///{file}"), schema)
            .unwrap();
    }
    let schema = compiler
        .compile(&format!("file:///{name}"), &mut schemas)
        .unwrap();
    let refused = schemas.validate(document, schema).err();
    refused.map(|error| format!("{error:#}"))
}

fn validate(name: &str, document: &Value) {
    assert_eq!(objection(name, document), None);
}

#[test]
fn a_folder_holds_everything_and_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (
        folder.path().join("first"),
        folder.path().join("deep/second"),
    );
    let all = ["audit", "-q", "--stability", "--hold-out=0.5", "--out"];
    run(facts().args(all).arg(&first));
    run(facts().args(all).arg(&second).args(["--threads", "1"]));
    let expected = [
        "actions.csv",
        "actions.parquet",
        "audit.json.gz",
        "drivers.csv",
        "drivers.parquet",
        "impact-ratios.csv",
        "impact-ratios.md",
        "people.csv",
        "people.parquet",
        "report.html",
        "report.json",
        "report.md",
        "report.txt",
        "stories.csv",
        "stories.parquet",
        "subgroups.csv",
        "subgroups.parquet",
    ];
    assert_eq!(names(&first), expected);
    for name in expected {
        let (a, b) = (
            std::fs::read(first.join(name)),
            std::fs::read(second.join(name)),
        );
        assert_eq!(a.unwrap(), b.unwrap(), "{name}");
    }
}

#[test]
fn json_is_what_the_schemas_say() {
    let folder = tempfile::tempdir().unwrap();
    let plain = ["audit", "-q", "-n", "5", "--stability", "--hold-out=0.6"];
    let trained = [
        "audit",
        "people.csv",
        "-q",
        "-p",
        "sex",
        "-m",
        "train",
        "--label",
        "kept",
        "--favourable",
        "yes",
        "--support",
        "0.1",
        "--ranges",
        "--bins",
        "years=3",
        "--no-evidence",
    ];
    let suppressed = [
        "audit",
        "-q",
        "--suppress-below",
        "20",
        "--min-group-size",
        "3",
        "--favourable",
        "1",
        "--stability",
        "--hold-out=0.5",
    ];
    let crossed = [
        "audit",
        "people.csv",
        "-q",
        "-p",
        "sex",
        "-p",
        "region",
        "-m",
        "model.json",
        "--favourable",
        "1",
        "--min-group-size",
        "20",
        "--label",
        "kept",
        "--label-favourable",
        "yes",
    ];
    for (i, arguments) in [&plain[..], &trained, &suppressed, &crossed]
        .iter()
        .enumerate()
    {
        let out = folder.path().join(i.to_string());
        run(facts().args(*arguments).arg("--out").arg(&out));
        let report = std::fs::read(out.join("report.json")).unwrap();
        validate(
            "report.schema.json",
            &serde_json::from_slice(&report).unwrap(),
        );
        validate("audit.schema.json", &unpacked(&out.join("audit.json.gz")));
    }
}

#[test]
fn a_schema_refuses_what_it_does_not_know() {
    let output = run(facts().args(["audit", "-q", "--format", "json"]));
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["definitions"][0]["findings"][0]["scroe"] = 1.into();
    let objection = objection("report.schema.json", &report).unwrap();
    assert!(objection.contains("scroe"), "{objection}");
}

#[test]
fn tables_are_read_back_and_agree_with_the_report() {
    let folder = tempfile::tempdir().unwrap();
    run(facts()
        .args(["audit", "-q", "-n", "100000", "--out"])
        .arg(folder.path()));
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let rows = |name: &str| -> usize {
        let table = facts_input::open(folder.path().join(name), &facts_input::Options::default());
        table.unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    };
    let definitions = report["definitions"].as_array().unwrap().len() as u64;
    let ranked = report["subgroups"]["ranked"].as_u64().unwrap();
    let pairs = report["sizes"]["pairs"].as_u64().unwrap();
    for form in ["csv", "parquet"] {
        assert_eq!(
            rows(&format!("subgroups.{form}")) as u64,
            definitions * ranked
        );
        assert_eq!(rows(&format!("actions.{form}")) as u64, pairs);
    }
    let text = std::fs::read_to_string(folder.path().join("subgroups.csv")).unwrap();
    for definition in report["definitions"].as_array().unwrap() {
        for finding in definition["findings"].as_array().unwrap() {
            let id = finding["finding"].as_str().unwrap();
            let line = text.lines().find(|line| line.starts_with(id)).unwrap();
            let rank = format!(",{},", finding["rank"]);
            assert!(line.contains(&rank), "{line} against {finding}");
        }
    }
}

#[test]
fn show_needs_no_model_and_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    run(facts().args(["audit", "-q", "--out"]).arg(&out));
    for form in [
        "text",
        "markdown",
        "json",
        "html",
        "csv",
        "actions-csv",
        "parquet",
    ] {
        let shown = run(facts().arg("show").arg(&out).args(["--format", form])).stdout;
        let file = match form {
            "text" => "report.txt",
            "markdown" => "report.md",
            "json" => "report.json",
            "html" => "report.html",
            "csv" => "subgroups.csv",
            "parquet" => "subgroups.parquet",
            _ => "actions.csv",
        };
        assert_eq!(shown, std::fs::read(out.join(file)).unwrap(), "{form}");
    }
}

#[test]
fn a_damaged_audit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    run(facts().args(["audit", "-q", "--out"]).arg(&out));
    let whole = unpacked(&out.join("audit.json.gz"));
    let path = folder.path().join("audit.json");
    let message = |change: &dyn Fn(&mut Value)| -> String {
        let mut audit = whole.clone();
        change(&mut audit);
        std::fs::write(&path, serde_json::to_vec(&audit).unwrap()).unwrap();
        let output = facts().arg("show").arg(&path).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{errors}");
        errors
    };
    let subgroup = |audit: &mut Value, key: &str, value: Value| {
        audit["audit"]["subgroups"][0][key] = value;
    };
    for (key, value) in [
        ("members", serde_json::json!([1])),
        ("members", serde_json::json!([1_000_000, 1])),
        ("flips", serde_json::json!([])),
        ("reached", serde_json::json!([1_000_000, 0])),
        ("cost_levels", serde_json::json!([])),
        (
            "predicate",
            serde_json::json!([{"feature": 99, "operator": "=", "level": 0}]),
        ),
        (
            "actions",
            serde_json::json!([{"change": 99_999, "cost": 1.0, "cost_level": 0}]),
        ),
    ] {
        let errors = message(&|audit| subgroup(audit, key, value.clone()));
        assert!(
            errors.contains("the saved audit is damaged: subgroups[0]"),
            "{key}: {errors}"
        );
    }
    let cost =
        |audit: &mut Value| audit["audit"]["subgroups"][0]["actions"][0]["cost"] = (-1.0).into();
    assert!(message(&cost).contains("subgroups[0] has counts or actions"));
    let people = |audit: &mut Value| audit["audit"]["groups"][0]["people"] = 1.into();
    assert!(message(&people).contains("has more affected than people"));
    let p = |audit: &mut Value| {
        let tested = audit["evidence"]["tests"][0]["tested"].as_array_mut();
        let tested = tested.unwrap().iter_mut().find(|t| t.is_object());
        tested.unwrap()["p"] = 5.0.into();
    };
    assert!(message(&p).contains("is not between 0 and 1"));
    let hash = |audit: &mut Value| audit["data"]["sha256"] = "` <img src=x>".into();
    assert!(message(&hash).contains("a SHA-256 is not 64 hexadecimal digits"));
    assert!(message(&|audit| audit["version"] = 7.into()).contains("version 7"));
    assert!(message(&|audit| *audit = serde_json::json!({"a": 1})).contains("not a saved audit"));
    let packed = std::fs::read(out.join("audit.json.gz")).unwrap();
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let output = facts().arg("show").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_trained_model_is_saved_and_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    let fit = [
        "audit",
        "people.csv",
        "-q",
        "-p",
        "sex",
        "-m",
        "train",
        "--label",
        "kept",
    ];
    let more = [
        "--favourable",
        "yes",
        "--bins",
        "years=0,5,10,20",
        "--format",
        "json",
    ];
    let output = run(facts().args(fit).args(more).arg("--save-model").arg(&model));
    let trained: Value = serde_json::from_slice(&output.stdout).unwrap();
    let training = &trained["model"]["training"];
    let rows = |part: &str| training[part].as_u64().unwrap();
    assert_eq!(rows("train_rows") + rows("test_rows"), 600);
    assert_eq!(trained["population"]["rows"], training["test_rows"]);
    // Opened again it gives the people of the whole table their answers.
    let spec = format!("linear:{}", model.display());
    let opened = [
        "audit",
        "people.csv",
        "-q",
        "-p",
        "sex",
        "--format",
        "json",
        "-m",
        &spec,
        "--favourable",
        "1",
    ];
    let output = run(facts().args(opened));
    let opened: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(opened["population"]["people"], 600);
    assert_eq!(
        opened["model"]["reads_protected"],
        serde_json::json!(["sex"])
    );
}

#[test]
fn a_threshold_and_another_phi_count() {
    let report = |more: &[&str]| -> Value {
        let output = run(facts().args(["audit", "-q", "--format", "json"]).args(more));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let affected = |report: &Value| report["groups"][1]["affected"].as_u64().unwrap();
    let (plain, strict) = (report(&[]), report(&["--threshold", "0.9"]));
    assert!(affected(&strict) > affected(&plain));
    assert_eq!(affected(&report(&["--threshold", "0.5"])), affected(&plain));
    let ids = report(&["--phi", "0.5"])["definitions"].to_string();
    assert!(ids.contains("equal-choice:0.5") && !ids.contains("equal-choice:0.3"));
}

#[test]
fn an_exported_model_is_compared_with_its_original() {
    let folder = tempfile::tempdir().unwrap();
    let table = std::fs::read_to_string(example().join("people.csv")).unwrap();
    // An original that said no to everybody: the model differs for all whom it says yes to.
    let mut lines = table.lines();
    let mut said = format!("{},said\n", lines.next().unwrap());
    said.extend(lines.map(|line| format!("{line},0\n")));
    let path = folder.path().join("said.csv");
    std::fs::write(&path, said).unwrap();
    let mut command = facts();
    command.arg("audit").arg(&path).args([
        "-p",
        "sex",
        "-m",
        "model.json",
        "--favourable",
        "1",
        "--format",
        "json",
    ]);
    let output = run(command.args(["--ignore", "kept", "--check-against", "said"]));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("233 of 600 rows otherwise"), "{notes}");
}

/// A program that says yes from nine years on, and dies for good at its 300th line,
/// until a file is there.
#[cfg(unix)]
const FAILING: &str = r#"exec-csv:sh -c 'n=0; read -r header
if [ -e dead ] && [ ! -e mended ]; then exit 1; fi
while IFS=, read -r sex degree job hours years region; do
    n=$((n + 1))
    if [ $n -gt 300 ] && [ ! -e mended ]; then touch dead; exit 1; fi
    if [ -z "$sex" ]; then echo; elif [ "$years" -ge 9 ]; then echo 1; else echo 0; fi
done'"#;

#[cfg(unix)]
#[test]
fn what_a_model_answered_before_it_failed_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let data = example().join("people.csv");
    let audit = |out: &str| {
        let mut command = facts();
        command.current_dir(folder.path()).arg("audit").arg(&data);
        command.args([
            "-p",
            "sex",
            "--ignore",
            "kept",
            "--support",
            "0.1",
            "-m",
            FAILING,
            "--favourable",
            "1",
        ]);
        command.args(["--workers", "1", "--batch-rows", "50", "--out", out]);
        command.output().unwrap()
    };
    let failed = audit("result");
    let errors = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(4), "{errors}");
    assert!(errors.contains("is kept in result/answers"), "{errors}");
    assert_eq!(names(&folder.path().join("result")), ["answers"]);

    std::fs::write(folder.path().join("mended"), "").unwrap();
    let mended = audit("result");
    let notes = String::from_utf8(mended.stderr).unwrap();
    assert!(mended.status.success(), "{notes}");
    assert!(notes.contains("going on with 2"), "{notes}");
    assert!(audit("from-scratch").status.success());
    let audited = |out: &str| unpacked(&folder.path().join(out).join("audit.json.gz"));
    let mut resumed = audited("result");
    let notes = std::mem::replace(&mut resumed["notes"], serde_json::json!([]));
    assert!(
        notes
            .to_string()
            .contains("answers that an earlier run kept"),
        "{notes}"
    );
    assert_eq!(resumed, audited("from-scratch"));
    // Once the audit is written the answers are not needed any more.
    assert!(!folder.path().join("result/answers").exists());
}

/// No file may become longer than the answers to a part of the people, as on a disk that is full: it is said
/// what could not be kept and where, and the next run goes on from what was.
#[cfg(unix)]
#[test]
fn answers_that_do_not_fit_on_the_disk_do_not_spoil_the_others() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mended"), "").unwrap();
    let data = example().join("people.csv");
    let audit = |limit: &str| {
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).args(["-c"]);
        command.arg(format!("{limit}exec \"$0\" \"$@\""));
        command.arg(env!("CARGO_BIN_EXE_facts")).arg("audit");
        command.arg(&data).args(["-p", "sex", "--ignore", "kept"]);
        command.args(["--support", "0.1", "-m", FAILING, "--favourable", "1"]);
        command.args(["--workers", "1", "--batch-rows", "50", "--out", "result"]);
        command.output().unwrap()
    };
    // In blocks of 512 or 1,024 bytes; the signal that a longer file brings is ignored.
    let failed = audit("trap '' XFSZ; ulimit -f 8; ");
    let errors = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(4), "{errors}");
    for said in [
        "its answers cannot be kept",
        "result/answers",
        "make room",
        "run the same command again to go on from there",
    ] {
        assert!(errors.contains(said), "{said}: {errors}");
    }
    let again = audit("");
    let notes = String::from_utf8(again.stderr).unwrap();
    assert!(again.status.success(), "{notes}");
    assert!(notes.contains("going on with "), "{notes}");
    assert!(!notes.contains("cut off"), "{notes}");
}

#[test]
fn log_lines_are_json_and_end_with_done() {
    let output = run(facts().args(["audit", "--json-log", "--format", "csv"]));
    let errors = String::from_utf8(output.stderr).unwrap();
    let events: Vec<Value> = errors
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(names.first(), Some(&"read"));
    assert!(
        names.contains(&"phase") && names.contains(&"audited"),
        "{names:?}"
    );
    assert_eq!(names.last(), Some(&"done"));
    let output = facts()
        .args(["audit", "--json-log", "nothing.csv"])
        .output()
        .unwrap();
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["event"], "error");
}

#[test]
fn colours_only_where_wanted() {
    let coloured = |command: &mut Command| run(command).stdout.contains(&0x1b);
    let arguments = ["audit", "-q", "-n", "1"];
    assert!(!coloured(facts().args(arguments)));
    assert!(coloured(
        facts().args(arguments).args(["--color", "always"])
    ));
    assert!(!coloured(
        facts().args(arguments).args(["--color", "never"])
    ));
    assert!(!coloured(facts().args(arguments).env("NO_COLOR", "1")));
}

#[test]
fn the_demo_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(facts().current_dir(folder.path()).arg("demo"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("807 Female are at a loss"), "{text}");
    assert_eq!(names(folder.path()), ["facts-demo.html"]);
    let page = std::fs::metadata(folder.path().join("facts-demo.html")).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    // The configuration it prints is the one it uses.
    let config = run(facts().args(["demo", "--print-config"])).stdout;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/adult");
    assert_eq!(config, std::fs::read(data.join("facts.toml")).unwrap());
}

#[test]
fn shells_and_man_are_served() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(facts().args(["completions", shell])).stdout;
        assert!(
            String::from_utf8(script)
                .unwrap()
                .contains("suppress-below"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    run(facts().args(["man", "--out"]).arg(folder.path()));
    assert!(names(folder.path()).contains(&"facts-audit.1".to_owned()));
    let page = String::from_utf8(run(facts().arg("man")).stdout).unwrap();
    assert!(page.contains(".TH facts"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_file_and_no_program() {
    ended_by("-INT", 0);
    ended_by("-TERM", 1);
    // What whoever started the tests wants to be ignored (`nohup`, a shell's `&`) does not end the command either.
    for (number, signal) in ["-HUP", "-QUIT"].into_iter().enumerate() {
        let kill = format!("kill {signal} $$");
        let to_itself = Command::new("sh").args(["-c", &kill]).status();
        if !to_itself.unwrap().success() {
            ended_by(signal, 2 + number);
        }
    }
}

#[cfg(unix)]
fn ended_by(signal: &str, number: usize) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    // A program that never answers, and a name for it that no other test run has.
    let sleep = format!("sleep 6{number}.{}", std::process::id());
    let running = || {
        let found = Command::new("pgrep").args(["-x", "-f", &sleep]).output();
        found.map(|found| found.stdout).unwrap_or_default()
    };
    let mut child = facts()
        .args(["audit", "people.csv", "-p", "sex", "--out"])
        .arg(&out)
        .args(["-m", &format!("exec-csv:sh -c '{sleep}'")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while running().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    // Once is enough, though the batch never ends.
    let interrupt = Command::new("kill").args([signal, &pid]).status();
    assert!(interrupt.unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{signal}");
    // It was told to end; a busy machine may take a moment to see to it. By itself it would sleep on.
    let ended = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        running().is_empty()
    });
    assert!(ended, "the model's program outlived the command");
    let left = if out.exists() {
        names(&out)
    } else {
        Vec::new()
    };
    assert!(left.iter().all(|name| name == "answers"), "{left:?}");
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through_and_a_folder_in_the_way_stops_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (out, target) = (
        folder.path().join("result"),
        folder.path().join("page.html"),
    );
    run(facts().args(["audit", "-q", "--out"]).arg(&out));
    std::fs::write(&target, "old").unwrap();
    let link = folder.path().join("link.html");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    run(facts()
        .arg("show")
        .arg(&out)
        .args(["--format", "html", "-o"])
        .arg(&link));
    assert!(link.is_symlink());
    let page = std::fs::read(out.join("report.html")).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), page);

    let blocked = folder.path().join("blocked");
    std::fs::create_dir_all(blocked.join("report.html")).unwrap();
    let output = facts()
        .args(["audit", "-q", "--out"])
        .arg(&blocked)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(names(&blocked), ["report.html"]);
}

#[test]
fn what_would_command_a_terminal_is_shown_as_a_sign() {
    let folder = tempfile::tempdir().unwrap();
    let table = std::fs::read_to_string(example().join("people.csv")).unwrap();
    let path = folder.path().join("people.csv");
    std::fs::write(&path, table.replace("Male", "M\u{1b}[2J")).unwrap();
    let mut command = facts();
    command.arg("audit").arg(&path).args([
        "-p",
        "sex",
        "-m",
        "model.json",
        "--favourable",
        "1",
        "--ignore",
        "kept",
    ]);
    let output = run(command.args(["--color", "never", "--format", "text"]));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("M␛[2J") && !text.contains('\u{1b}'), "{text}");
}

/// Profiles neither replace what they are made of nor become a part of it.
#[test]
fn profiles_do_not_take_the_place_of_their_table() {
    let folder = tempfile::tempdir().unwrap();
    let people = std::fs::read(example().join("people.csv")).unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    for name in ["pc.csv", "parts/a.csv"] {
        std::fs::write(folder.path().join(name), &people).unwrap();
    }
    let profiles = |table: &str, more: &[&str]| {
        let mut command = facts();
        command.current_dir(folder.path());
        command
            .args(["profiles", table, "--protected", "sex"])
            .args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    for (table, out, why) in [
        (
            "pc.csv",
            "pc.csv",
            "is read, and what is written would take its place",
        ),
        ("pc.csv", "parts/../pc.csv", "would take its place"),
        ("*.csv", "pc.csv", "would take its place"),
        (
            "parts",
            "parts/new/p.parquet",
            "would become a part of the table",
        ),
        ("parts", "parts/a.csv", "would become a part of the table"),
    ] {
        let (code, said) = profiles(table, &["-o", out]);
        assert_eq!(code, Some(2), "{table} {out}: {said}");
        assert!(said.contains(why), "{table} {out}: {said}");
    }
    assert_eq!(names(&folder.path().join("parts")), ["a.csv"]);
    assert_eq!(std::fs::read(folder.path().join("pc.csv")).unwrap(), people);
    let (code, said) = profiles("parts", &["-o", "p.parquet"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = profiles("pc.csv", &["--bins-from", "p.parquet", "-o", "p.parquet"]);
    assert_eq!(code, Some(2), "{said}");
}

/// `--bins` alone, or with a column and its bins, as for an audit; what is no such thing is told apart from the table.
#[test]
fn bins_of_profiles_are_said_as_for_an_audit() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("p.parquet");
    let profiles = |more: &[&str]| {
        let mut command = facts();
        let output = command
            .args(["profiles", "-o"])
            .arg(&out)
            .args(more)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let cut = || {
        let manifest = facts_run::profiles::Manifest::of_file(&out).unwrap();
        let columns = manifest.columns.into_iter();
        let cut = columns.filter_map(|column| Some((column.name, column.bins?.labels.len())));
        cut.collect::<Vec<_>>()
    };
    let people = ["people.csv", "-p", "sex"];
    let years = |bins: usize| vec![("years".to_owned(), bins)];
    for (more, expected) in [
        (&[][..], vec![]),
        (&["--bins"], years(5)),
        (&["--bins", "years=3"], years(3)),
        (&["--bins=years=0,10,20"], years(2)),
        (
            &["--max-memory", "100", "--ignore", "years", "--bins"],
            vec![],
        ),
    ] {
        let (code, said) = profiles(&[&people[..], more].concat());
        assert_eq!(code, Some(0), "{more:?}: {said}");
        assert_eq!(cut(), expected, "{more:?}");
    }
    for (wrong, why) in [
        (
            &["--bins", "people.csv", "-p", "sex"][..],
            "write a column and its bins, such as age=5, or put --bins alone after the table",
        ),
        (
            &["people.csv", "-p", "years", "--bins", "years=3"],
            "a protected number stays as it is",
        ),
        (
            &["people.csv", "-p", "sex", "--bins", "years=few"],
            "write years=5 for quantiles",
        ),
        (
            &["people.csv", "-p", "sex", "--bins", "yaers=3"],
            "did you mean `years`?",
        ),
    ] {
        let (code, said) = profiles(wrong);
        assert_eq!(code, Some(2), "{wrong:?}: {said}");
        assert!(said.contains(why), "{wrong:?}: {said}");
    }
}

#[test]
fn small_counts_are_nowhere_once_suppressed() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = std::fs::read_to_string(example().join("people.csv")).unwrap();
    for _ in 0..3 {
        table += "Other,none,clerk,part time,1,north,no\n";
    }
    let path = folder.path().join("people.csv");
    std::fs::write(&path, table).unwrap();
    let mut command = facts();
    command.arg("audit").arg(&path).args([
        "-p",
        "sex",
        "-m",
        "model.json",
        "--favourable",
        "1",
        "--label",
        "kept",
    ]);
    command.args([
        "--label-favourable",
        "yes",
        "--suppress-below",
        "5",
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_slice(&run(&mut command).stdout).unwrap();
    assert_eq!(report["groups"].as_array().unwrap().len(), 2);
    // Three people are nowhere: neither counted nor named.
    assert_eq!(report["set_aside"], serde_json::json!([]));
    assert!(!report.to_string().contains("Other"));
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let output = facts()
        .args(["audit", "-q", "--out"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(5),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in the way");
}

#[test]
fn an_experiment_leaves_its_comparison_and_its_audit() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("compas");
    run(facts()
        .args(["reproduce", "-q", "compas", "--out"])
        .arg(&out));
    let comparison = std::fs::read(out.join("reproduction.json")).unwrap();
    let comparison: Value = serde_json::from_slice(&comparison).unwrap();
    assert_eq!(comparison["experiment"], "compas");
    assert_eq!(comparison["stand_in"], false);
    assert!(comparison["seconds"].is_number());
    let label = &comparison["counts"][1];
    assert_eq!(
        (&label["paper"], &label["facts"]),
        (&"745".into(), &"745".into())
    );
    // A row for each printed cell: three subgroups, coverages, and the two analysis tables.
    let cells = std::fs::read_to_string(out.join("reproduction.csv")).unwrap();
    assert_eq!(cells.lines().count(), 1 + 81 + 6 + 33 + 110);
    let markdown = std::fs::read_to_string(out.join("reproduction.md")).unwrap();
    assert!(markdown.starts_with("# COMPAS, race protected: seed 131313 where"));
    validate("audit.schema.json", &unpacked(&out.join("audit.json.gz")));
    run(facts().args(["show", "--tables"]).arg(&out));

    let both = folder.path().join("both");
    run(facts()
        .args(["reproduce", "-q", "compas", "--variant", "both", "--out"])
        .arg(&both));
    assert_eq!(names(&both), ["compas-authors", "compas-own"]);
    let first = std::fs::read(both.join("compas-authors/subgroups.csv")).unwrap();
    assert_eq!(first, std::fs::read(out.join("subgroups.csv")).unwrap());
}
