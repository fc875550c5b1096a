//! What telling findings from chance takes: 1,000 joint shuffles of Adult / sex at 1 % support, all
//! subgroups, all twelve columns, on two threads.
//!
//! `cargo bench -p facts-verification --bench evidence` prints it and writes
//! `verification/records/evidence.md`.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use facts_engine::evidence::{Gathering, Source, Tests, test};
use facts_engine::{Options, Watch, audit_with_individuals};
use facts_verification::{adult_declaration, adult_model, adult_rows, machine, peak_memory};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SHUFFLES: usize = 1000;

fn main() -> Result<(), Failure> {
    // `cargo test --benches` only asks whether it runs.
    let whole = std::env::args().any(|argument| argument == "--bench");
    let gathering = Gathering {
        shuffles: if whole { SHUFFLES } else { 10 },
        ..Gathering::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let (audit_seconds, seconds, tests) = pool.install(|| -> Result<_, Failure> {
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
        let start = Instant::now();
        let tests = test(
            &audit,
            &individuals,
            &definitions,
            &gathering,
            Watch::nobody(),
        )?;
        let seconds = start.elapsed().as_secs_f64();
        let unfair: Vec<usize> = rankings
            .iter()
            .map(|ranking| ranking.unfair().len())
            .collect();
        Ok((audit_seconds, seconds, (tests, unfair)))
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
    print!("{record}");
    if whole {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        std::fs::write(folder.join("evidence.md"), record)?;
    }
    Ok(())
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
