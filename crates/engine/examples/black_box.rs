//! What an audit adds to the time that a black box itself takes.
//!
//! `cargo run --release -p facts-engine --example black_box -- 40000`
//!
//! Makes up people with raw numbers, so that most counterfactual rows differ, and audits a model of which
//! nothing is known but its answers. The model takes well under a microsecond for a row, less than most that
//! are asked like this, so that what the audit adds can be seen. Told are processor time, since a machine may
//! be busy with something else, and the peak of memory; on systems other than Linux, neither is known.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{Declaration, Edges, Feature, Protected};
use facts_engine::{Options, Phase, Progress, Watch, audit};

/// Columns of text, with how many values each has.
const TEXTS: [(&str, u64); 5] = [
    ("job", 12),
    ("employer", 7),
    ("school", 14),
    ("status", 6),
    ("region", 30),
];
/// Columns of numbers, with how many values each has.
const NUMBERS: [(&str, u64); 3] = [("age", 73), ("hours", 80), ("savings", 120)];

fn main() -> Result<(), Box<dyn Error>> {
    let people = std::env::args()
        .nth(1)
        .map_or(Ok(40_000), |text| text.parse())?;
    let measured = measure(people, "0.02")?;
    println!("{measured}");
    Ok(())
}

/// What was measured.
struct Measured {
    rows: u64,
    seconds: f64,
    in_the_model: f64,
    processor: Option<f64>,
    processor_of_the_model: f64,
    peak_mib: Option<u64>,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} counterfactual rows asked", self.rows)?;
        let (all, model) = (self.seconds, self.in_the_model);
        writeln!(f, "{all:.2} s, {model:.2} s of it in the model")?;
        if let Some(all) = self.processor {
            let own = all - self.processor_of_the_model;
            let share = 100.0 * own / self.processor_of_the_model;
            let model = self.processor_of_the_model;
            writeln!(
                f,
                "processor: {model:.2} s for the model, {own:.2} s around it ({share:.0} %)"
            )?;
        }
        if let Some(mib) = self.peak_mib {
            write!(f, "{mib} MiB at most")?;
        }
        Ok(())
    }
}

fn measure(people: usize, support: &str) -> Result<Measured, Box<dyn Error>> {
    let mut declaration = Declaration::new().protected(Protected::attribute("sex"));
    for (name, _) in TEXTS {
        declaration = declaration.feature(Feature::categorical(name));
    }
    for (name, _) in NUMBERS {
        declaration = declaration.feature(Feature::binned(name, Edges::Quantiles(4)));
    }
    let population = declaration.read([made_up(people)?])?;
    let model = Timed::default();
    let options = Options::new().support(support.parse()?).max_length(3);
    // Only what is done while counterfactual rows are asked counts: from the first word of that phase to the
    // first of the next.
    let flips = Mutex::new((None, None));
    let watch = |progress: Progress| {
        let mut flips = flips.lock().unwrap_or_else(PoisonError::into_inner);
        let now = || Some((Instant::now(), processor_seconds(), model.spent()));
        match progress.phase {
            Phase::Flips if flips.0.is_none() => flips.0 = now(),
            Phase::Effectiveness if flips.1.is_none() => flips.1 = now(),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let audit = audit(&population, &model, &options, Watch::new(&watch))?;
    let flips = flips.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ((began, processor, before), (ended, processor_after, after)) =
        flips.0.zip(flips.1).ok_or("no row was asked")?;
    Ok(Measured {
        rows: audit.sizes.counterfactual_rows_asked,
        seconds: (ended - began).as_secs_f64(),
        in_the_model: after.0 - before.0,
        processor: processor_after.zip(processor).map(|(a, b)| a - b),
        processor_of_the_model: after.1 - before.1,
        peak_mib: peak_mib(),
    })
}

/// People who differ in most of what they are.
fn made_up(people: usize) -> Result<RecordBatch, Box<dyn Error>> {
    let draw = |column: u64, person: usize, values: u64| {
        let mut bits = (person as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(column.wrapping_mul(0xd1b5_4a32_d192_ed03));
        bits ^= bits >> 29;
        bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 32;
        // The product of two: small values are more common than great ones.
        (bits % values) * ((bits >> 20) % values) / values
    };
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for (c, (name, values)) in TEXTS.into_iter().enumerate() {
        let texts = (0..people).map(|person| format!("{name} {}", draw(c as u64, person, values)));
        columns.push((name, Arc::new(StringArray::from_iter_values(texts))));
    }
    for (c, (name, values)) in NUMBERS.into_iter().enumerate() {
        let numbers = (0..people).map(|person| draw(c as u64 + 10, person, values) as i64);
        columns.push((name, Arc::new(Int64Array::from_iter_values(numbers))));
    }
    let sexes = (0..people).map(|person| ["Female", "Male"][draw(20, person, 4).min(1) as usize]);
    columns.push(("sex", Arc::new(StringArray::from_iter_values(sexes))));
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// A score that takes its time, and knows how much.
#[derive(Default)]
struct Timed {
    nanoseconds: AtomicU64,
    processor: AtomicU64,
}

impl Timed {
    /// Seconds and seconds of processor time so far.
    fn spent(&self) -> (f64, f64) {
        let seconds = |nanoseconds: &AtomicU64| nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        (seconds(&self.nanoseconds), seconds(&self.processor))
    }
}

impl Model for Timed {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let (start, processor) = (Instant::now(), thread_nanoseconds());
        let texts: Vec<_> = (0..TEXTS.len())
            .map(|c| rows.column(c).as_string::<i32>())
            .collect();
        let numbers: Vec<_> = (TEXTS.len()..TEXTS.len() + NUMBERS.len())
            .map(|c| rows.column(c).as_primitive::<Int64Type>())
            .collect();
        let answers: BooleanArray = (0..rows.num_rows())
            .map(|row| {
                let mut score = -4.0_f64;
                for text in &texts {
                    let bytes = text.value(row).bytes();
                    score += bytes.fold(0.0, |sum, byte| (sum * 0.7 + f64::from(byte)).sin());
                }
                for number in &numbers {
                    score += number.value(row) as f64 * 0.04;
                }
                Some(score > 0.0)
            })
            .collect();
        let passed = thread_nanoseconds() - processor;
        self.processor.fetch_add(passed, Ordering::Relaxed);
        let passed = start.elapsed().as_nanos() as u64;
        self.nanoseconds.fetch_add(passed, Ordering::Relaxed);
        Ok(Arc::new(answers))
    }
}

/// The processor time of this thread so far.
fn thread_nanoseconds() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = times.split_whitespace().next();
    first.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The processor time of this process so far, as the system counts it: in hundredths.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The peak of memory so far.
fn peak_mib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_asked_for_more_than_the_people() {
        let measured = measure(2_000, "0.1").unwrap();
        assert!(measured.rows > 2_000, "{measured}");
        assert!(measured.in_the_model > 0.0);
    }
}
