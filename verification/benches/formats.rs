//! What each form of a model costs, for one and the same audit: Adult, sex protected, 5 % support.
//!
//! `cargo bench -p facts-verification --bench formats` prints a table and writes
//! `verification/records/formats.md`. It needs the interpreters that `scripts/test` sets up; without
//! one its forms are left out, and it says so.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../formats/mod.rs"]
mod formats;
#[path = "../../crates/models/tests/support/mod.rs"]
mod support;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use facts_engine::flips::Model;
use facts_engine::population::Population;
use facts_engine::{Audit, Options, Watch, audit};
use facts_models::{ModelSpec, OpenOptions, Remembering};
use facts_verification::{adult_population, adult_rows, machine};

use formats::Forms;
use support::{findings, interpreter};

/// How often the batch is predicted, and the audit made, of which the median is told.
const REPEATS: usize = 5;
/// How many times over the table makes the batch.
const COPIES: usize = 5;

struct Measured {
    form: String,
    rows_a_second: Option<f64>,
    audit: Duration,
    asked: u64,
}

fn main() {
    // `cargo test --benches` only asks whether it runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let repeats = if is_bench { REPEATS } else { 1 };
    let table = adult_rows().unwrap();
    let copies = (0..COPIES).flat_map(|_| &table);
    let batch = arrow_select::concat::concat_batches(&table[0].schema(), copies).unwrap();

    let mut record = format!(
        "# One audit, every form of a model: Adult, sex protected, support 5 %\n\n\
         Made by `cargo bench -p facts-verification --bench formats` on {}, on {}, with {}.\n\n\
         Rows a second: one call of `Model::predict` with one batch of {} rows, the median of \
         {repeats}. Programs and servers split it among their workers (programs: as many as cores, \
         at most 4; servers: 4 requests at a time). The audit: from the population to all \
         subgroups, actions and flips counted, the median of {repeats}, the program or server \
         already running. Every form of a model finds the same.{}\n",
        today(),
        machine(),
        versions(),
        grouped(batch.num_rows() as u64),
        company(),
    );
    let logistic = formats::logistic();
    add(
        &mut record,
        "Logistic regression",
        &measure(&logistic, &batch, repeats),
    );
    if let Some(lightgbm) = formats::lightgbm() {
        let mut measured = measure(&lightgbm, &batch, repeats);
        measured.extend(measure_kept(&lightgbm));
        add(&mut record, "LightGBM, 100 trees of 31 leaves", &measured);
    }
    print!("{record}");
    let needed = ["FACTS_PYTHON", "FACTS_PYTHON_MLFLOW", "FACTS_PYTHON_OIP"];
    if let Some(unset) = needed.iter().find(|name| std::env::var_os(name).is_none()) {
        // A record with gaps must not take the place of a whole one.
        eprintln!("The record is left as it is: {unset} is not set (scripts/test shows how).");
    } else if is_bench {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("formats.md"), record).unwrap();
    }
}

fn run(population: &Population, model: &dyn Model) -> Audit {
    let options = Options::new().support("0.05".parse().unwrap());
    audit(population, model, &options, Watch::nobody()).unwrap()
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let done = work();
    (begin.elapsed(), done)
}

/// The median time of some repetitions.
fn median<T>(repeats: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut runs: Vec<(Duration, T)> = (0..repeats).map(|_| timed(&mut work)).collect();
    runs.sort_by_key(|(time, _)| *time);
    runs.swap_remove(repeats / 2)
}

fn measure(forms: &Forms, batch: &RecordBatch, repeats: usize) -> Vec<Measured> {
    let population = adult_population().unwrap();
    let mut first = None;
    let of = |form: &formats::Form| {
        eprintln!("{} …", form.name);
        let opened = form.open();
        // Started, loaded and warm.
        opened.model.predict(batch).unwrap();
        let (time, _) = median(repeats, || opened.model.predict(batch).unwrap());
        let (audit, found) = median(repeats, || run(&population, &*opened.model));
        let found_first = first.get_or_insert_with(|| findings(&found));
        assert!(*found_first == findings(&found), "{}", form.name);
        let name = match form.name.split_once(' ') {
            Some((_, protocol)) => format!("`{}` {protocol}", form.usage),
            None => format!("`{}`", form.usage),
        };
        Measured {
            form: name,
            rows_a_second: Some(batch.num_rows() as f64 / time.as_secs_f64()),
            audit,
            asked: found.sizes.rows_asked + found.sizes.counterfactual_rows_asked,
        }
    };
    forms.forms.iter().map(of).collect()
}

/// The program once more with its answers kept: the first audit, and the same one begun again.
fn measure_kept(forms: &Forms) -> Vec<Measured> {
    let form = forms.forms.iter().find(|form| form.name == "exec").unwrap();
    let population = adult_population().unwrap();
    let table = adult_rows().unwrap();
    let table = arrow_select::concat::concat_batches(&table[0].schema(), &table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let spec: ModelSpec = form.spec.parse().unwrap();
    let fingerprint = spec.fingerprint(&OpenOptions::default()).unwrap();
    ["answers kept", "begun again"]
        .map(|turn| {
            let path = folder.path().join("answers");
            let model = form.open().model;
            // Started and loaded, on every worker.
            model.predict(&table).unwrap();
            let (audit, kept) = timed(|| {
                let kept = Remembering::open(model, &path, &fingerprint).unwrap();
                run(&population, &kept);
                kept
            });
            Measured {
                form: format!("`{}`, {turn}", form.usage),
                rows_a_second: None,
                audit,
                asked: kept.asked(),
            }
        })
        .into()
}

fn add(record: &mut String, model: &str, measured: &[Measured]) {
    writeln!(
        record,
        "\n## {model}\n\n| form | rows a second | rows asked by the audit | the whole audit |\n| --- | --- | --- | --- |"
    )
    .unwrap();
    for one in measured {
        let rows_a_second = one.rows_a_second.map_or("–".to_owned(), rounded);
        writeln!(
            record,
            "| {} | {rows_a_second} | {} | {:.2} s |",
            one.form,
            grouped(one.asked),
            one.audit.as_secs_f64()
        )
        .unwrap();
    }
}

/// A rate to three digits: more of it would be noise.
fn rounded(rate: f64) -> String {
    let unit = 10_f64.powf((rate.log10().floor() - 2.0).max(0.0));
    grouped(((rate / unit).round() * unit) as u64)
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether other work took part of the machine when the measurement began.
fn company() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load
        .split(' ')
        .next()
        .and_then(|load| load.parse().ok())
        .unwrap_or(0.0);
    if load < 0.5 {
        return String::new();
    }
    format!(
        " **The machine was not quiet**: {load:.1} processes were running already, so times are \
         longer than they would be alone."
    )
}

fn today() -> String {
    said(Command::new("date").args(["-u", "+%F"])).unwrap_or("an unknown day".to_owned())
}

/// What was measured: this program, and the libraries behind the other forms.
fn versions() -> String {
    const TELL: &str = "import importlib.metadata as m, platform, sys; \
        print(', '.join([f'Python {platform.python_version()}'] + [f'{n} {m.version(n)}' for n in sys.argv[1:]]))";
    let mut versions = vec![format!("facts {}", env!("CARGO_PKG_VERSION"))];
    for (variable, packages) in [
        (
            "FACTS_PYTHON",
            &["lightgbm", "onnxruntime", "onnxmltools", "pyarrow"][..],
        ),
        ("FACTS_PYTHON_MLFLOW", &["mlflow-skinny", "scikit-learn"]),
        ("FACTS_PYTHON_OIP", &["mlserver", "scikit-learn"]),
    ] {
        if let Some(python) = interpreter(variable) {
            let told = said(Command::new(python).args(["-c", TELL]).args(packages));
            versions.extend(told);
        }
    }
    versions.join("; ")
}

/// What a command writes, if it ends well.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
