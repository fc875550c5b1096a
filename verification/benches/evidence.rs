//! What telling findings from chance takes: 1,000 joint shuffles of Adult / sex at 1 % support, all
//! subgroups, all twelve columns, on two threads.
//!
//! `cargo bench -p facts-verification --bench evidence` prints it and writes
//! `verification/records/evidence.md`. With `-- --beside PROGRAM`, which is this benchmark built from
//! another version, it also runs both in turn and puts their processor times side by side.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use facts_engine::evidence::{Gathering, Source, Tests, test};
use facts_engine::{Options, Watch, audit_with_individuals};
use facts_verification::{
    adult_declaration, adult_model, adult_rows, machine, peak_memory, processor_time,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SHUFFLES: usize = 1000;

/// How often two versions are run in turn.
const TURNS: usize = 3;

/// Says that nothing is to be written.
const NO_RECORD: &str = "--no-record";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo test --benches` only asks whether it runs.
    let whole = asked("--bench");
    let gathering = Gathering {
        shuffles: if whole { SHUFFLES } else { 10 },
        ..Gathering::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let (audit_seconds, seconds, processor, tests) = pool.install(|| -> Result<_, Failure> {
        let start = Instant::now();
        let population = adult_declaration().read(&adult_rows()?)?;
        let (audit, individuals) = audit_with_individuals(
            &population,
            &adult_model()?,
            &Options::new(),
            Watch::nobody(),
        )?;
        let definitions = audit.paper_columns()?;
        let rankings = audit.rank_all(&definitions);
        let audit_seconds = start.elapsed().as_secs_f64();
        let processor = processor_time();
        let start = Instant::now();
        let tests = test(
            &audit,
            &individuals,
            &definitions,
            &gathering,
            Watch::nobody(),
        )?;
        let seconds = start.elapsed().as_secs_f64();
        let processor = processor.zip(processor_time());
        let processor = processor.map(|([before, _], [after, _])| after - before);
        let unfair: Vec<usize> = rankings
            .iter()
            .map(|ranking| ranking.unfair().len())
            .collect();
        Ok((audit_seconds, seconds, processor, (tests, unfair)))
    })?;
    let (tests, unfair) = tests;
    let mut record = String::new();
    writeln!(
        record,
        "# Telling findings from chance: Adult, sex protected, support 1 %, 2 threads\n\n\
         Made by `cargo bench -p facts-verification --bench evidence` on {}.\n\n\
         | what | |\n| --- | --- |\n\
         | the audit itself, from files to twelve columns ranked | {audit_seconds:.2} s |\n\
         | {} joint shuffles of all {} subgroups under all {} columns | {seconds:.2} s |",
        machine(),
        gathering.shuffles,
        tests[0].tested.len(),
        tests.len(),
    )?;
    if let Some(processor) = processor {
        writeln!(record, "| processor time of these | {processor:.2} s |")?;
    }
    if let Some(peak) = peak_memory() {
        writeln!(record, "| peak memory of the process | {peak:.0} MB |")?;
    }
    writeln!(
        record,
        "\nOf the subgroups that each definition calls unfair, those that stand at α = {}:\n\n\
         | definition | unfair | alone | false discovery rate | family-wise | exact | bounded |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
        gathering.alpha
    )?;
    for (tests, unfair) in tests.iter().zip(unfair) {
        writeln!(record, "{}", row(tests, unfair, gathering.alpha))?;
    }
    let mut beside = arguments
        .iter()
        .skip_while(|argument| *argument != "--beside");
    if let Some(program) = beside.nth(1) {
        record.push_str(&side_by_side(Path::new(program))?);
    }
    print!("{record}");
    if whole && !asked(NO_RECORD) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        std::fs::write(folder.join("evidence.md"), record)?;
    }
    Ok(())
}

/// This version and another, run in turn: the processor time of each whole process.
fn side_by_side(other: &Path) -> Result<String, Failure> {
    let both: [PathBuf; 2] = [other.to_owned(), std::env::current_exe()?];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (program, times) in both.iter().zip(&mut times) {
            times.push(time_of(program)?);
        }
    }
    let list = |times: &[f64]| {
        let times: Vec<String> = times.iter().map(|time| format!("{time:.2}")).collect();
        times.join(", ")
    };
    let [before, now] = times.each_ref().map(|times| times.iter().sum::<f64>());
    Ok(format!(
        "\n## Beside the tests before gaps broke ties of scores\n\n\
         Both programs in turn, {TURNS} times each: processor time of the whole process, audit included.\n\n\
         | version | seconds |\n| --- | --- |\n| before | {} |\n| now | {} |\n\n\
         Now over before: {:.2}.\n",
        list(&times[0]),
        list(&times[1]),
        now / before
    ))
}

/// The processor time of one run.
fn time_of(program: &Path) -> Result<f64, Failure> {
    let children = || processor_time().map(|[_, children]| children);
    let before = children().ok_or("this system does not tell processor times")?;
    let mut run = Command::new(program);
    let status = run
        .args(["--bench", NO_RECORD])
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{} failed: {status}", program.display()).into());
    }
    Ok(children().unwrap_or(before) - before)
}

fn row(tests: &Tests, unfair: usize, alpha: f64) -> String {
    let tested = || tests.tested.iter().flatten();
    let from = |source| tested().filter(|tested| tested.source == source).count();
    format!(
        "| {} | {unfair} | {} | {} | {} | {} | {} |",
        tests.definition,
        tested().filter(|tested| tested.p <= alpha).count(),
        tested()
            .filter(|tested| tested.false_discovery <= alpha)
            .count(),
        tested()
            .filter(|tested| tested.family_wise <= alpha)
            .count(),
        from(Source::Exact),
        from(Source::Bound),
    )
}
