//! Of three groups, are two that are alike said to differ, and is the one that differs found? Writes
//! `verification/records/pairs.md`.
//!
//! `cargo run --release -p facts-verification --example pairs`; a number after `--` is how many repeats
//! there are (1,000 unless said).
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::Path;

use facts_verification::machine;
use facts_verification::pairs::pairs_found;
use facts_verification::simulation::{ALPHA, Truth, World};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let asked = std::env::args().nth(1);
    let times: u64 = asked.as_deref().map_or(Ok(1000), str::parse)?;
    let error = 2.0 * (ALPHA * (1.0 - ALPHA) / times as f64).sqrt();
    let mut page = format!(
        "# Pairs of three groups\n\nMade by `cargo run --release -p facts-verification --example pairs {times}` on {}.\n\n\
         People made up by lot (`verification/src/simulation.rs`) in three groups of about 40, 30 and 30 %. Every action helps the \
         third\ngroup less often by so many points; the first two are alike in every subgroup. {times} repeats each, 199 shuffles, \
         α = {ALPHA}, for all\n14 definitions and all subgroups together. The columns say in which share of the repeats that \
         happens at least once.\n\n\
         - *All groups*: the test of all three groups passes in some subgroup. Without a gap that is false.\n\
         - *Any pair*: some pair is shown to differ. Without a gap that is false.\n\
         - *First and second*: these two are shown to differ somewhere, which is always false. At most {ALPHA} is right; the \
         binomial error\n  is ±{error:.3} (two standard errors).\n\
         - *First and second, p alone*: the same, if a pair counted by its own p-value once all groups pass. It shows why it must \
         not.\n\
         - *Third found*: the third group is shown to be worse off than another.\n\n\
         | people | gap | all groups | any pair | first and second | first and second, p alone | third found |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
        machine()
    );
    for (people, gap) in [(800, 0), (800, 15), (800, 30), (1600, 15), (1600, 30)] {
        let world = World {
            people,
            shuffles: 199,
            truth: Truth::ThirdDiffers(gap),
        };
        let found = pairs_found(world, times)?;
        let share = |part: usize| format!("{:.3}", part as f64 / found.repeats as f64);
        writeln!(
            page,
            "| {people} | {gap} | {} | {} | {} | {} | {} |",
            share(found.all_groups),
            share(found.any),
            share(found.alike),
            share(found.alike_alone),
            share(found.third)
        )?;
        println!("{people} {gap}: {found:?}");
    }
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("records/pairs.md");
    std::fs::write(record, page)?;
    Ok(())
}
