//! The figures that the README states, from one run on one machine: a whole audit with its peak
//! memory, and mining against Borgelt's C implementation (`pyfim` from PyPI).
//!
//! `cargo bench -p facts-verification --bench record` prints them and writes
//! `verification/records/latest.md`.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use facts_engine::{Options, Phase, Watch, audit};
use facts_verification::{adult_declaration, adult_model, adult_rows, machine, peak_memory, peers};
use serde::Deserialize;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const REPEATS: usize = 21;

fn main() -> Result<(), Failure> {
    // `cargo test --benches` only asks whether it runs.
    let repeats = if std::env::args().any(|a| a == "--bench") {
        REPEATS
    } else {
        1
    };
    let mut record = String::new();
    let threads = 2;
    writeln!(
        record,
        "# Adult, sex protected, support 1 %, linear model, {threads} threads\n"
    )?;
    writeln!(
        record,
        "Made by `cargo bench -p facts-verification --bench record` on {}.\n",
        machine()
    )?;

    let rows = adult_rows()?;
    let model = adult_model()?;
    let mut whole = Vec::new();
    let mut mining = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    for _ in 0..repeats {
        let phases: Mutex<Vec<(Phase, Instant)>> = Mutex::default();
        let note = |progress: facts_engine::Progress| {
            if let Ok(mut phases) = phases.lock()
                && phases.last().is_none_or(|(last, _)| *last < progress.phase)
            {
                phases.push((progress.phase, Instant::now()));
            }
            ControlFlow::Continue(())
        };
        let start = Instant::now();
        let ranked = pool.install(|| -> Result<usize, Failure> {
            let population = adult_declaration().read(&rows)?;
            let audit = audit(&population, &model, &Options::new(), Watch::new(&note))?;
            Ok(audit.rank_all(&audit.paper_columns()?).len())
        })?;
        whole.push(start.elapsed());
        assert_eq!(ranked, 12);
        let phases = phases.into_inner().map_err(|_| "a thread panicked")?;
        let at = |wanted| {
            phases
                .iter()
                .find(|(phase, _)| *phase == wanted)
                .map(|(_, at)| *at)
        };
        if let (Some(from), Some(to)) = (at(Phase::Subgroups), at(Phase::Actions)) {
            mining.push(to - from);
        }
    }
    let (best, median) = summary(&mut whole);
    writeln!(record, "| what | best | median |\n| --- | --- | --- |")?;
    writeln!(
        record,
        "| whole audit, from Arrow in memory to all twelve columns ranked | {best:.1} ms | {median:.1} ms |"
    )?;
    let (best, median) = summary(&mut mining);
    writeln!(
        record,
        "| joint subgroups of both groups, bitmaps included | {best:.1} ms | {median:.1} ms |"
    )?;
    if let Some(peak) = peak_memory() {
        writeln!(record, "\nPeak memory of the process: {peak:.0} MB.")?;
    }
    if let Some(python) = peers::python() {
        writeln!(
            record,
            "\nBorgelt's C implementation (pyfim), its quickest variant, medians of the same run:\n"
        )?;
        writeln!(
            record,
            "| algorithm | women | men | intersection | together | ours is faster |"
        )?;
        writeln!(record, "| --- | --- | --- | --- | --- | --- |")?;
        for peer in pyfim(&python)? {
            let Peer { algo, median: m } = peer;
            let together = (m.women + m.men + m.intersection) * 1000.0;
            writeln!(
                record,
                "| {algo} | {:.1} ms | {:.1} ms | {:.1} ms | {together:.1} ms | {:.1} times |",
                m.women * 1000.0,
                m.men * 1000.0,
                m.intersection * 1000.0,
                together / median
            )?;
        }
    }
    print!("{record}");
    if repeats == REPEATS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("latest.md"), record)?;
    }
    Ok(())
}

fn summary(times: &mut [Duration]) -> (f64, f64) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    (milliseconds(times[0]), milliseconds(times[times.len() / 2]))
}

/// One algorithm of the peer with its own timing.
#[derive(Deserialize)]
struct Peer {
    algo: String,
    median: PeerSeconds,
}

#[derive(Deserialize)]
struct PeerSeconds {
    women: f64,
    men: f64,
    intersection: f64,
}

fn pyfim(python: &Path) -> Result<Vec<Peer>, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python)
        .arg(root.join("peers/pyfim_mining.py"))
        .arg(root.join("data/adult-sex"))
        .args(["--support", "0.01", "--expect", "13272"])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}
