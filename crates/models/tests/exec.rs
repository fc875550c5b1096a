//! Programs as models: the worked examples, and everything that a program can do wrong.
//!
//! Over CSV the programs are small shell scripts, so these tests run anywhere with `sh`. Over Arrow
//! they are in Python (`FACTS_PYTHON` names an interpreter with pyarrow) and Node (`FACTS_NODE`
//! names a `node`; run `npm ci` in `examples/exec` first). Without these variables their tests are
//! left out, and say so; on CI that is a failure.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use facts_models::{OpenOptions, Opened, open};

use support::{findings, in_repository, interpreter, with_column, yes};

/// So many people, different from one another.
fn people(rows: usize) -> RecordBatch {
    support::people(&["clerk", "manager", "driver", "juggler"], rows)
}

fn options(change: impl FnOnce(&mut OpenOptions)) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.workers = Some(2);
    change(&mut options);
    options
}

fn started(spec: &str, change: impl FnOnce(&mut OpenOptions)) -> Opened {
    open(spec, &options(change)).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// A program in `sh` that reads lines and answers each batch: `answer` is run for each row.
fn shell(answer: &str) -> String {
    let script = format!(
        r#"read -r header; n=0; while IFS= read -r line; do if [ -z "$line" ]; then n=$((n+1)); echo; else {answer}; fi; done"#
    );
    format!("exec-csv:sh -c '{}'", script.replace('\'', r"'\''"))
}

fn error_of(spec: &str, change: impl FnOnce(&mut OpenOptions), rows: usize) -> String {
    let opened = started(spec, change);
    let error = opened.model.predict(&people(rows)).unwrap_err().to_string();
    println!("{error}\n");
    error
}

fn linear_answer(rows: &RecordBatch) -> ArrayRef {
    let path = in_repository("examples/exec/model.json");
    let linear = open(
        &format!("linear:{}", path.display()),
        &OpenOptions::default(),
    )
    .unwrap();
    linear.model.predict(rows).unwrap()
}

/// Several batches, several workers, and twice: the answers are those of the linear model.
fn agrees_with_linear(spec: &str) {
    let rows = people(1000);
    let opened = started(spec, |options| options.batch_rows = Some(64));
    let expected = yes(&linear_answer(&rows));
    assert!(expected.contains(&true) && expected.contains(&false));
    for _ in 0..2 {
        assert_eq!(
            yes(&opened.model.predict(&rows).unwrap()),
            expected,
            "{spec}"
        );
    }
    assert_eq!(opened.model.concurrency(), 2);
    assert_eq!(opened.model.predict(&rows.slice(0, 0)).unwrap().len(), 0);
}

fn example(interpreter: &Path, prefix: &str, script: &str) -> String {
    let script = in_repository("examples/exec").join(script);
    let model = in_repository("examples/exec/model.json");
    format!(
        "{prefix}:'{}' '{}' '{}'",
        interpreter.display(),
        script.display(),
        model.display()
    )
}

#[test]
fn the_python_example_answers_as_the_linear_model_does() {
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    agrees_with_linear(&example(&python, "exec", "predict.py"));
    agrees_with_linear(&example(&python, "exec-csv", "predict_csv.py"));
}

#[test]
fn the_node_example_answers_as_the_linear_model_does() {
    let Some(node) = interpreter("FACTS_NODE") else {
        return;
    };
    assert!(
        in_repository("examples/exec/node_modules/apache-arrow").exists(),
        "run `npm ci` in examples/exec"
    );
    agrees_with_linear(&example(&node, "exec", "predict.mjs"));
}

#[test]
fn inputs_can_have_other_names() {
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let rows = people(100);
    let expected = yes(&linear_answer(&rows));
    let columns = rows.columns().iter().cloned();
    let renamed = RecordBatch::try_from_iter(["beruf", "stunden", "debt"].into_iter().zip(columns));
    let opened = started(&example(&python, "exec", "predict.py"), |options| {
        options.columns = [("job", "beruf"), ("hours", "stunden")]
            .map(|(input, column)| (input.to_owned(), column.to_owned()))
            .into();
    });
    assert_eq!(
        yes(&opened.model.predict(&renamed.unwrap()).unwrap()),
        expected
    );
}

/// A whole audit through processes is the same as one in this process.
#[test]
fn an_audit_by_a_program_is_that_of_the_linear_model() {
    use facts_engine::population::{Declaration, Edges, Feature, Move, Protected, View};
    use facts_engine::{Options, Watch, audit};
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let sex = StringArray::from_iter_values((0..600).map(|i| ["f", "m"][(i / 5) % 2]));
    let rows = with_column(&people(600), "sex", Arc::new(sex));
    let population = Declaration::new()
        .feature(Feature::categorical("job"))
        .feature(Feature::binned("hours", Edges::EqualWidth(4)).view(View::Raw(Move::Median)))
        .context("debt")
        .protected(Protected::attribute("sex"))
        .read([rows])
        .unwrap();
    let settings = Options::new().support("0.05".parse().unwrap());
    let audited = |spec: &str| {
        let opened = started(spec, |options| options.batch_rows = Some(50));
        let audit = audit(&population, &*opened.model, &settings, Watch::nobody()).unwrap();
        String::from_utf8(findings(&audit)).unwrap()
    };
    let linear = in_repository("examples/exec/model.json");
    let expected = audited(&format!("linear:{}", linear.display()));
    assert_eq!(audited(&example(&python, "exec", "predict.py")), expected);
    assert_eq!(
        audited(&example(&python, "exec-csv", "predict_csv.py")),
        expected
    );
}

#[test]
fn a_program_that_is_not_there_is_told_when_it_is_opened() {
    let error = |spec: &str| match open(spec, &OpenOptions::default()) {
        Ok(_) => panic!("{spec} was opened"),
        Err(error) => error.to_string(),
    };
    let missing = error("exec:no-such-program-at-all x");
    assert!(
        missing.contains("cannot be run") && missing.contains("PATH"),
        "{missing}"
    );
    assert!(error("exec:").contains("it is empty"));
    assert!(error("exec:python 'x").contains("a single quote is not closed"));
}

#[test]
fn csv_answers_can_be_probabilities_or_labels() {
    let first = |spec: &str, threshold: Option<f64>| {
        let opened = started(spec, |options| options.threshold = threshold);
        opened.model.predict(&people(5))
    };
    let probable = shell("echo 0.6");
    assert_eq!(yes(&first(&probable, None).unwrap()), [true; 5]);
    assert_eq!(yes(&first(&probable, Some(0.7)).unwrap()), [false; 5]);
    let labels = first(&shell("echo good"), None).unwrap();
    assert_eq!(labels.as_string::<i32>().value(4), "good");
    let error = first(&shell("echo good"), Some(0.5))
        .unwrap_err()
        .to_string();
    assert!(error.contains("leave the threshold out"), "{error}");
}

#[test]
fn a_program_that_dies_now_and_then_is_started_again() {
    // Each process answers two batches and dies on its third, which the next one answers.
    let spec = shell("if [ $n = 2 ]; then exit 3; fi; echo 1");
    let opened = started(&spec, |options| options.batch_rows = Some(10));
    assert_eq!(
        yes(&opened.model.predict(&people(200)).unwrap()),
        [true; 200]
    );
}

#[test]
fn a_crash_on_a_batch_is_told_with_status_and_last_words() {
    let spec = shell(
        r#"case $line in juggler,49,*) echo "Error: no jugglers" >&2; exit 3;; esac; echo 1"#,
    );
    let error = error_of(&spec, |options| options.batch_rows = Some(10), 100);
    for part in [
        "ended before it had answered batch",
        "of 10 rows",
        "started again",
        "exit status: 3",
        "\n  Error: no jugglers",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let spec = shell("kill -9 $$");
    let error = error_of(&spec, |_| {}, 3);
    assert!(error.contains("signal: 9"), "{error}");
    assert!(
        error.contains("it said nothing on standard error"),
        "{error}"
    );
}

#[test]
fn a_program_that_died_once_is_started_again_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("died");
    let mark = mark.display();
    let spec = shell(&format!(
        r#"if [ $n = 2 ] && [ ! -e "{mark}" ]; then : > "{mark}"; kill -9 $$; fi; echo 1"#
    ));
    let opened = started(&spec, |options| options.batch_rows = Some(10));
    let answer = opened.model.predict(&people(100)).unwrap();
    assert_eq!(yes(&answer), [true; 100]);
    assert!(folder.path().join("died").exists());
}

#[test]
fn after_an_error_the_model_can_still_be_asked() {
    let spec = shell(r#"case $line in juggler,*) exit 1;; esac; echo 1"#);
    let opened = started(&spec, |_| {});
    assert!(opened.model.predict(&people(4)).is_err());
    assert_eq!(yes(&opened.model.predict(&people(3)).unwrap()), [true; 3]);
}

#[test]
fn a_program_that_hangs_is_stopped_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // The sleeper is a grandchild that holds all pipes open.
    let spec = shell(&format!(
        r#"echo "thinking" >&2; sleep 600 & echo $! >> "{}"; wait"#,
        pids.display()
    ));
    let begin = Instant::now();
    let error = error_of(
        &spec,
        |options| options.timeout = Some(Duration::from_millis(500)),
        3,
    );
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
    assert!(
        error.contains("no answer to a batch of 3 rows within 0.5 s"),
        "{error}"
    );
    assert!(error.contains("\n  thinking"), "{error}");
    for pid in std::fs::read_to_string(pids).unwrap().lines() {
        assert!(is_gone(pid), "{pid} is still running");
    }
}

/// Whether a process has ended, now or very soon.
fn is_gone(pid: &str) -> bool {
    (0..200).any(|_| {
        let status = std::process::Command::new("kill")
            .args(["-0", pid])
            .stderr(std::process::Stdio::null())
            .status();
        std::thread::sleep(Duration::from_millis(10));
        !status.unwrap().success() || is_zombie(pid)
    })
}

/// An orphan that nobody has waited for yet: it has ended.
fn is_zombie(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.split(") ")
        .nth(1)
        .is_some_and(|rest| rest.starts_with('Z'))
}

#[test]
fn a_dropped_model_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // One that obeys the end of its input, and one that does not.
    for end in ["", "trap : TERM; sleep 600"] {
        let script = format!(
            r#"echo $$ >> "{}"; read -r h; while IFS= read -r l; do if [ -z "$l" ]; then echo; else echo 1; fi; done; {end}"#,
            pids.display()
        );
        let opened = started(&format!("exec-csv:sh -c '{script}'"), |options| {
            options.batch_rows = Some(5);
        });
        opened.model.predict(&people(50)).unwrap();
        let begin = Instant::now();
        drop(opened);
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
    let pids = std::fs::read_to_string(pids).unwrap();
    assert!(pids.lines().count() >= 2);
    for pid in pids.lines() {
        assert!(is_gone(pid), "{pid} is still running");
    }
}

#[test]
fn a_wrong_number_of_answers_is_an_error() {
    let fewer = error_of(
        &shell(r#"case $line in driver,*) ;; *) echo 1;; esac"#),
        |_| {},
        10,
    );
    assert!(
        fewer.contains("asked for 10 rows and answered 8"),
        "{fewer}"
    );
    let header = r#"exec-csv:sh -c 'echo prediction; read -r h; while IFS= read -r l; do if [ -z "$l" ]; then echo; else echo 1; fi; done'"#;
    let more = error_of(header, |_| {}, 10);
    assert!(more.contains("where the empty line after"), "{more}");
    assert!(more.contains("no header"), "{more}");
}

#[test]
fn batches_larger_than_any_pipe_do_not_block() {
    // Both pipes fill while the batch is still being written.
    let opened = started("exec-csv:sed -e 1d -e s/..*/1/ -u", |options| {
        options.batch_rows = Some(200_000);
    });
    let answer = opened.model.predict(&people(200_000)).unwrap();
    assert_eq!(answer.len(), 200_000);
}

fn fault(python: &Path, fault: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/exec_faults.py");
    format!("exec:'{}' '{}' {fault}", python.display(), script.display())
}

#[test]
fn everything_that_can_go_wrong_over_arrow_is_told() {
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let small = |options: &mut OpenOptions| options.batch_rows = Some(10);
    for (name, parts) in [
        ("fewer-rows", &["asked for 10 rows and answered 9"][..]),
        (
            "two-columns",
            &["answered with 2 columns", "write one column"],
        ),
        ("dates", &["values of type Date32"]),
        (
            "prints",
            &[
                "wrote `loading the model` to its standard output",
                "sys.stderr",
            ],
        ),
        (
            "prints-later",
            &["wrote `done with a batch` to its standard output"],
        ),
        (
            "raises",
            &["exit status: 1", "ValueError: no such job: 'juggler'"],
        ),
        ("dies-in-the-message", &["exit status: 7"]),
        ("answers-twice", &["answers that nobody had asked for"]),
    ] {
        // Whether an answer too many is there in time is seen batch by batch; there are 200 of them.
        let error = error_of(&fault(&python, name), small, 2000);
        for part in parts {
            assert!(error.contains(part), "{name}: {part}: {error}");
        }
    }
}

#[test]
fn arrow_programs_may_talk_and_die_once() {
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows = people(100);
    let expected: Vec<bool> = (0..100).map(|i| i * 7 % 61 > 40).collect();
    let mark = folder.path().join("mark");
    for name in ["fine", "talks", &format!("dies-once '{}'", mark.display())] {
        let opened = started(&fault(&python, name), |options| {
            options.batch_rows = Some(20)
        });
        assert_eq!(
            yes(&opened.model.predict(&rows).unwrap()),
            expected,
            "{name}"
        );
    }
    assert!(mark.exists());
    let probable = started(&fault(&python, "probabilities"), |_| {});
    let expected: Vec<bool> = (0..100).map(|i| i * 7 % 61 >= 40).collect();
    assert_eq!(yes(&probable.model.predict(&rows).unwrap()), expected);
    let labels = started(&fault(&python, "labels"), |options| {
        options.batch_rows = Some(20)
    });
    assert_eq!(labels.model.predict(&rows).unwrap().len(), 100);
}

#[test]
fn an_arrow_program_that_hangs_is_stopped() {
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let error = error_of(
        &fault(&python, "hangs"),
        |options| options.timeout = Some(Duration::from_secs(3)),
        3,
    );
    assert!(error.contains("within 3 s"), "{error}");
}

/// `cargo test -p facts-models --release --test exec -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn rows_a_second() {
    let rows = people(1 << 17);
    let python = interpreter("FACTS_PYTHON").unwrap_or(PathBuf::from("python3"));
    let mut specs = vec![
        shell("echo 1"),
        "exec-csv:sed -e 1d -e s/..*/1/ -u".to_owned(),
        example(&python, "exec-csv", "predict_csv.py"),
        example(&python, "exec", "predict.py"),
        fault(&python, "fine"),
    ];
    specs.extend(interpreter("FACTS_NODE").map(|node| example(&node, "exec", "predict.mjs")));
    for spec in specs {
        let opened = started(&spec, |_| {});
        opened.model.predict(&rows.slice(0, 100)).unwrap();
        let begin = Instant::now();
        opened.model.predict(&rows).unwrap();
        let a_second = rows.num_rows() as f64 / begin.elapsed().as_secs_f64();
        println!("{a_second:>12.0} rows/s  {spec}");
    }
}
