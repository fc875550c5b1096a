//! Runs the targets on mutants: `cargo run --release -p facts-fuzz -- --executions 1000000 csv parquet`.
//!
//! Each target runs in a process of its own with bounded memory, so that an abort is seen and the run goes on. What
//! brings a target down is written to `fuzz/crashes/`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use facts_fuzz::{TARGETS, Target, folder, mutant, seeds};

type Failure = Box<dyn std::error::Error>;

/// The memory that a target may take, in bytes of address space: many times what its inputs hold.
const MEMORY: u64 = 4 << 30;
/// How long a target may read one input, in seconds.
const PATIENCE: u64 = 20;
/// How often a child says how far it is, in mutants.
const EVERY: u64 = 4096;

const USAGE: &str = "usage: facts-fuzz [--executions N] [--from N] [--seed N] [TARGET...]

N mutants of the seeds of each target, or of those named, beginning with mutant number --from.
Mutants depend on --seed and their number alone.";

struct Asked {
    executions: u64,
    from: u64,
    seed: u64,
    targets: Vec<&'static Target>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == "--child" => child(rest),
        _ => parse(&arguments).and_then(|asked| run(&asked)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Result<Asked, Failure> {
    let mut asked = Asked {
        executions: 100_000,
        from: 0,
        seed: 1,
        targets: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let number = match argument.as_str() {
            "--executions" => &mut asked.executions,
            "--from" => &mut asked.from,
            "--seed" => &mut asked.seed,
            name => {
                asked.targets.push(target(name)?);
                continue;
            }
        };
        *number = arguments.next().ok_or(USAGE)?.parse()?;
    }
    if asked.targets.is_empty() {
        asked.targets = TARGETS.iter().collect();
    }
    Ok(asked)
}

fn target(name: &str) -> Result<&'static Target, Failure> {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!(
            "there is no target `{name}`; there are {}\n\n{USAGE}",
            names.join(", ")
        )
        .into()
    })
}

/// Runs the targets one after the other; whether none was brought down.
fn run(asked: &Asked) -> Result<bool, Failure> {
    let (mut executions, mut crashes) = (0, 0);
    for target in &asked.targets {
        let start = Instant::now();
        let end = asked.from + asked.executions;
        let mut from = asked.from;
        let mut accepted = 0;
        let mut found = 0;
        while from < end {
            let part = watch(target, asked.seed, from, end, EVERY)?;
            accepted += part.accepted;
            found += part.crashes;
            from = part.next;
            if part.died {
                // Again, mutant by mutant, to learn which one it was.
                let again = watch(target, asked.seed, from, (from + EVERY).min(end), 1)?;
                accepted += again.accepted;
                found += again.crashes;
                from = again.next;
                if again.died {
                    found += 1;
                    keep(target, asked.seed, from)?;
                    from += 1;
                }
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:<15} {:>10} executions {:>9} accepted {found:>3} crashes {seconds:>7.1} s",
            target.name, asked.executions, accepted
        );
        executions += asked.executions;
        crashes += found;
    }
    println!("{executions} executions, {crashes} crashes");
    Ok(crashes == 0)
}

/// What a child did.
struct Part {
    accepted: u64,
    crashes: u64,
    /// The first mutant that it did not get to, or that it died of.
    next: u64,
    died: bool,
}

/// Has a child run mutants from one number to another, and listens.
fn watch(target: &Target, seed: u64, from: u64, end: u64, every: u64) -> Result<Part, Failure> {
    let numbers = [seed, from, end, every].map(|number| number.to_string());
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--child")
        .arg(target.name)
        .args(&numbers)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut part = Part {
        accepted: 0,
        crashes: 0,
        next: from,
        died: false,
    };
    for line in BufReader::new(output).lines() {
        let line = line?;
        let mut words = line.split(' ');
        match (
            words.next(),
            words.next().map(str::parse),
            words.next().map(str::parse::<u64>),
        ) {
            (Some("at"), Some(Ok(next)), Some(Ok(accepted))) => {
                part.next = next;
                part.accepted = accepted;
            }
            (Some("crash"), Some(Ok(number)), _) => {
                part.crashes += 1;
                keep(target, seed, number)?;
            }
            _ => return Err(format!("the child said `{line}`").into()),
        }
    }
    part.died = !child.wait()?.success();
    Ok(part)
}

/// Writes an input that brought a target down.
fn keep(target: &Target, seed: u64, number: u64) -> Result<(), Failure> {
    let crashes = folder().join("crashes").join(target.name);
    std::fs::create_dir_all(&crashes)?;
    let path = crashes.join(format!("{seed}-{number}"));
    std::fs::write(&path, mutant(&seeds(target.name)?, seed, number))?;
    eprintln!("{} was brought down by {}", target.name, path.display());
    Ok(())
}

/// Runs mutants in this process; says how far it is, and what made the target panic.
fn child(arguments: &[String]) -> Result<bool, Failure> {
    let [name, seed, from, end, every] = arguments else {
        return Err(USAGE.into());
    };
    let (seed, from, end, every): (u64, u64, u64, u64) =
        (seed.parse()?, from.parse()?, end.parse()?, every.parse()?);
    let target = target(name)?;
    let seeds = seeds(name)?;
    if seeds.is_empty() {
        return Err(format!("{name} has no seeds").into());
    }
    bound_memory()?;
    // Mutants that panic are told by their number; the words of each would fill the screen.
    std::panic::set_hook(Box::new(|_| {}));
    notice_hangs();
    let mut out = std::io::stdout().lock();
    let mut accepted = 0_u64;
    for number in from..end {
        STARTED.fetch_add(1, Ordering::Relaxed);
        let bytes = mutant(&seeds, seed, number);
        match catch_unwind(AssertUnwindSafe(|| (target.read)(&bytes))) {
            Ok(taken) => accepted += u64::from(taken),
            Err(_) => writeln!(out, "crash {number}")?,
        }
        let next = number + 1;
        if next % every == 0 || next == end {
            writeln!(out, "at {next} {accepted}")?;
            out.flush()?;
        }
    }
    Ok(true)
}

static STARTED: AtomicU64 = AtomicU64::new(0);

/// Aborts if one mutant takes too long.
fn notice_hangs() {
    std::thread::spawn(|| {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let started = STARTED.load(Ordering::Relaxed);
            if started != last {
                (last, since) = (started, Instant::now());
            } else if since.elapsed() > Duration::from_secs(PATIENCE) {
                eprintln!("no end within {PATIENCE} s");
                std::process::abort();
            }
        }
    });
}

#[cfg(unix)]
fn bound_memory() -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(MEMORY),
        maximum: Some(MEMORY),
    };
    setrlimit(Resource::As, limit)?;
    // An abort must not leave a copy of the memory behind.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    Ok(setrlimit(Resource::Core, none)?)
}

#[cfg(not(unix))]
fn bound_memory() -> Result<(), Failure> {
    Ok(())
}
