//! Does a comparison of audits take chance for a change, does it find a change that was planted, and do the
//! bounds of gaps hold? Writes `verification/records/comparisons.md`.
//!
//! `cargo run --release -p facts-verification --example comparisons`; a number after `--` is how many pairs
//! and runs there are (1,000 unless said), and a second one how many series (100).
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use facts_verification::machine;
use facts_verification::retrained::{Models, Way, covered, looks, pairs};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const PEOPLE: usize = 1500;
const LOOKS: usize = 24;
const WAYS: [(Way, &str); 2] = [
    (Way::Samples, "two samples"),
    (Way::SamePeople, "the same people"),
];

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let times = numbers.next().transpose()?.unwrap_or(1000);
    let series = numbers.next().transpose()?.unwrap_or(100);
    let started = Instant::now();
    let mut page = format!(
        "# Audits compared: false alarms, power, coverage\n\nPeople and models made up by lot \
         (`verification/src/retrained.rs`), {PEOPLE} people in each audit, α = 0.05. Made by \
         `cargo run --release -p facts-verification --example comparisons {times} {series}` on {}.\n",
        machine(),
    );
    alarms(times, &mut page)?;
    power(times.div_ceil(10), &mut page)?;
    over_time(series, &mut page)?;
    coverage(times, &mut page)?;
    writeln!(page, "\n{:.0} s in all.", started.elapsed().as_secs_f64())?;
    print!("{page}");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("records/comparisons.md");
    std::fs::write(record, page)?;
    Ok(())
}

/// A share with its standard error.
fn share(part: usize, whole: usize) -> String {
    let p = part as f64 / whole as f64;
    let error = (p * (1.0 - p) / whole as f64).sqrt();
    format!("{p:.3} ± {error:.3}")
}

fn alarms(times: u64, page: &mut String) -> Result<(), Failure> {
    writeln!(
        page,
        "\n## False alarms\n\nHow often anything is said to have moved, a gap is, and, of everything said, anything that is not \
         true: that did not move, or the other way. What is true is known by counting everybody there can be, within the actions \
         that each audit knows. Which actions it knows depends on its people and on whom its model says yes to. So even where \
         nothing has changed for everybody there can be (the first three rows), something true can be said: where only one of \
         the audits knows an action. A false alarm is what is false; something is said at least as often.\n\n\
         - *Equal, but retrained*: the later model answers most people otherwise and is as good for everybody there can be, in \
         every respect.\n\
         - *The same*: one model, and two samples.\n\
         - *Fitted*, *follows every example*: two trainings of one recipe are two models that do differ a little: what is said of \
         them can be true, and is a false alarm only if it is not.\n\n\
         | models | compared as | pairs | anything said | a gap | anything false |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    for (name, models) in [
        ("equal, but retrained", Models::Swapped),
        ("the same", Models::Same),
        (
            "each fitted to 1,500 people of its own",
            Models::Fitted(1500),
        ),
        (
            "each fitted to 20,000 people of its own",
            Models::Fitted(20_000),
        ),
        (
            "each follows every example in its own way",
            Models::Overfitted,
        ),
    ] {
        for (way, called) in WAYS {
            // The same model on the same people is the same audit.
            if (models, way) == (Models::Same, Way::SamePeople) {
                continue;
            }
            // Fitting to so many takes longest.
            let times = match models {
                Models::Fitted(20_000) => times.div_ceil(10),
                _ => times,
            };
            let found = pairs(way, models, PEOPLE, times)?;
            writeln!(
                page,
                "| {name} | {called} | {times} | {} | {} | {} |",
                share(found.alarms, found.pairs),
                share(found.gaps, found.pairs),
                share(found.wrong, found.pairs)
            )?;
        }
    }
    Ok(())
}

fn power(times: u64, page: &mut String) -> Result<(), Failure> {
    writeln!(
        page,
        "\n## Power\n\n{times} pairs each. The later model asks people of the second group in the north for so much more \
         luck (of 100): how often a gap, of all people or of a subgroup, is said to have moved against them, and how often anything \
         is said that is not true.\n\n| luck | compared as | found | anything false |\n| --- | --- | --- | --- |"
    )?;
    for luck in [5, 10, 20, 30] {
        for (way, called) in WAYS {
            let found = pairs(way, Models::Planted(luck), PEOPLE, times)?;
            writeln!(
                page,
                "| {luck} | {called} | {} | {} |",
                share(found.planted, found.pairs),
                share(found.wrong, found.pairs)
            )?;
        }
    }
    Ok(())
}

fn over_time(series: u64, page: &mut String) -> Result<(), Failure> {
    writeln!(
        page,
        "\n## {LOOKS} looks\n\n{series} series each: how often any look shows a change, and the median look that does, where \
         more than half do. With the same model, and with models that are equal but retrained at each look, at most α of the series may \
         have a false alarm. Models that are fitted anew do differ from the first; whether what is said of them is true is counted above, pair by pair, not here.\n\n| models | series with an alarm | median look |\n| --- | --- | --- |"
    )?;
    for (name, models, planted) in [
        ("the same at each look", Models::Same, None),
        ("equal, but retrained at each look", Models::Swapped, None),
        (
            "fitted anew at each look, to 1,500 people of its own",
            Models::Fitted(1500),
            None,
        ),
        ("planted from look 6 on (30)", Models::Same, Some((6, 30))),
    ] {
        let first = (0..series).into_par_iter().map(|seed| {
            looks(models, PEOPLE, LOOKS, planted, seed).map(|series| series.first_change())
        });
        let first: Vec<Option<usize>> = first.collect::<Result<_, Failure>>()?;
        let mut shown: Vec<usize> = first.iter().flatten().copied().collect();
        shown.sort_unstable();
        let median = match shown.get(first.len() / 2) {
            Some(look) => look.to_string(),
            None => "–".to_owned(),
        };
        writeln!(
            page,
            "| {name} | {} | {median} |",
            share(shown.len(), first.len())
        )?;
    }
    Ok(())
}

fn coverage(runs: u64, page: &mut String) -> Result<(), Failure> {
    writeln!(
        page,
        "\n## Bounds of gaps\n\n{runs} runs each: how often the bounds of all subgroups hold together what is true, and how many \
         bounds of subgroups by themselves do.\n\n| luck asked for | people | together | alone | narrowest, in points |\n\
         | --- | --- | --- | --- | --- |"
    )?;
    for (luck, people) in [(0, 1500), (20, 1500), (50, 1500), (20, 6000)] {
        let found = covered(people, luck, runs)?;
        writeln!(
            page,
            "| {luck} | {people} | {} | {:.4} | {:.2} |",
            share(found.together, found.runs),
            found.alone_hold as f64 / found.alone as f64,
            found.narrowest * 100.0
        )?;
    }
    Ok(())
}
