//! What becomes of findings as permutations grow, over several seeds, and whether the tail of Mean Recourse is right where
//! permutations can still tell: Adult, sex protected, support 1 %.
//!
//! `cargo run --release -p facts-verification --example tails` prints it and writes
//! `verification/records/tails.md`; with a number as an argument it takes at most so many permutations for
//! the first table.
#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use facts_engine::definitions::{self, Definition};
use facts_engine::distribution::{Subgroup, Viewpoint};
use facts_engine::evidence::{Evidence, Gathering, Source, Tests, test};
use facts_engine::{Audit, Individuals, Options, Watch, audit_with_individuals};
use facts_verification::{adult_declaration, adult_model, adult_rows, machine};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How many permutations, and with how many seeds: their error shrinks with the root of their number,
/// so that few need the more seeds.
const RUNS: [(usize, u64); 4] = [(200, 8), (1000, 4), (5000, 1), (20_000, 1)];

/// How many subgroups are permuted a million times: of all sizes, and of the smallest.
const LOOKED_AT: usize = 16;
const SMALLEST: usize = 8;

/// Who is looked at: a tail that a million permutations can tell, and not too many people.
const TAILS: std::ops::Range<f64> = 3e-5..1e-3;
const MOST_PEOPLE: u64 = 3000;

fn main() -> Result<(), Failure> {
    let most = std::env::args().nth(1);
    let most: usize = most.as_deref().map_or(Ok(20_000), str::parse)?;
    let population = adult_declaration().read(&adult_rows()?)?;
    let (audit, individuals) = audit_with_individuals(
        &population,
        &adult_model()?,
        &Options::new(),
        Watch::nobody(),
    )?;
    let profile = [" --release", ""][usize::from(cfg!(debug_assertions))];
    let mut record = format!(
        "# Tails and permutations: Adult, sex protected, support 1 %\n\n\
         Made by `cargo run{profile} -p facts-verification --example tails {most}` on {}.\n",
        machine()
    );
    let runs = RUNS.into_iter().filter(|&(shuffles, _)| shuffles <= most);
    passes(&mut record, &audit, &individuals, &runs.collect::<Vec<_>>())?;
    means(&mut record, &audit, &individuals, 1_000_000)?;
    print!("{record}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    std::fs::write(folder.join("tails.md"), record)?;
    Ok(())
}

fn tested(
    audit: &Audit,
    individuals: &Individuals,
    definitions: &[Box<dyn Definition>],
    (shuffles, seed): (usize, u64),
) -> Result<Evidence, Failure> {
    let gathering = Gathering {
        shuffles,
        seed,
        ..Gathering::default()
    };
    let watch = Watch::nobody();
    Ok(Evidence {
        tests: test(audit, individuals, definitions, &gathering, watch)?,
        gathering,
        intervals: Vec::new(),
        stability: None,
        hold_out: None,
    })
}

/// How many findings pass family-wise, and for all definitions together, by how many permutations.
fn passes(
    record: &mut String,
    audit: &Audit,
    individuals: &Individuals,
    runs: &[(usize, u64)],
) -> Result<(), Failure> {
    let definitions = audit.paper_columns()?;
    // By number of permutations: for each seed, how many pass, by definition and then together.
    let mut found: Vec<Vec<Vec<usize>>> = Vec::new();
    for &(shuffles, seeds) in runs {
        let mut by_seed = Vec::new();
        for seed in 1..=seeds {
            let evidence = tested(audit, individuals, &definitions, (shuffles, seed))?;
            let passing = passing(&evidence);
            println!("{shuffles} permutations, seed {seed}: {passing:?}");
            by_seed.push(passing);
        }
        found.push(by_seed);
    }
    let of_row = |row: usize| -> Vec<Counted> {
        let column = |by_seed: &Vec<Vec<usize>>| {
            let counts = by_seed.iter().map(|passing| passing[row] as f64);
            Counted::new(&counts.collect::<Vec<f64>>())
        };
        found.iter().map(column).collect()
    };
    let heading = runs.iter().map(|(shuffles, seeds)| match seeds {
        1 => format!("{shuffles} (1 seed)"),
        _ => format!("{shuffles} ({seeds} seeds)"),
    });
    writeln!(
        record,
        "\n## Findings that pass, by the number of permutations\n\n\
         Family-wise at α = 0.05, of {} subgroups; in the last row those that pass for all definitions \
         together. Means over\nseeds, and their standard errors. *Difference*: the last column less the first. The error of \
         permutations shrinks with the root\nof their number, so that of the last column is worked out from what single seeds of \
         the first differ by: few seeds say little of it.\n\n\
         | definition | {} | difference |\n| --- |{} --- |",
        audit.subgroups.len(),
        heading.collect::<Vec<_>>().join(" | "),
        " --- |".repeat(runs.len())
    )?;
    let ids = definitions.iter().map(|definition| definition.id());
    let mut fallen = Vec::new();
    for (row, name) in ids.chain(["all together".to_owned()]).enumerate() {
        let counted = of_row(row);
        let cells: Vec<String> = counted.iter().map(Counted::to_string).collect();
        let (by, error) = difference(&counted, runs);
        if by < -2.0 * error {
            fallen.push(name.clone());
        }
        writeln!(
            record,
            "| {name} | {} | {by:+.0} ± {error:.0} |",
            cells.join(" | ")
        )?;
    }
    let (fewest, most) = (runs[0].0, runs[runs.len() - 1].0);
    let falls = match fallen.as_slice() {
        [] => "no number of findings falls by more than two standard errors".to_owned(),
        some => format!(
            "these numbers fall by more than two standard errors: {}",
            some.join(", ")
        ),
    };
    let singles = found[0].iter().map(|passing| passing[definitions.len()]);
    let together = of_row(definitions.len());
    writeln!(
        record,
        "\nFrom {fewest} to {most} permutations {falls}. With {fewest}, single seeds let {} to {} findings pass for \
         all definitions\ntogether (standard deviation {:.0}).",
        singles.clone().min().unwrap_or(0),
        singles.max().unwrap_or(0),
        together[0].deviation
    )?;
    Ok(())
}

/// The last number less the first, and its standard error.
fn difference(counted: &[Counted], runs: &[(usize, u64)]) -> (f64, f64) {
    let last = runs.len() - 1;
    let (few, many) = (&counted[0], &counted[last]);
    let (fewest, most) = (runs[0].0 as f64, runs[last].0 as f64);
    let of_last = few.deviation * (fewest / most).sqrt() / (runs[last].1 as f64).sqrt();
    (many.mean - few.mean, few.error().hypot(of_last))
}

/// How many findings pass, by definition and then for all of them together.
fn passing(evidence: &Evidence) -> Vec<usize> {
    let alpha = evidence.gathering.alpha;
    let alone = |tests: &Tests| {
        let tested = tests.tested.iter().flatten();
        tested.filter(|one| one.passes(alpha)).count()
    };
    let together = |tests: &Tests| {
        let all = 0..tests.tested.len();
        all.filter(|&s| evidence.passes_together(tests, s)).count()
    };
    let mut passing: Vec<usize> = evidence.tests.iter().map(alone).collect();
    passing.push(evidence.tests.iter().map(together).sum());
    passing
}

/// What several seeds count.
struct Counted {
    mean: f64,
    /// The standard deviation of one seed; 0 if there is only one.
    deviation: f64,
    seeds: f64,
}

impl Counted {
    fn new(counts: &[f64]) -> Self {
        let seeds = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / seeds;
        let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
        Self {
            mean,
            deviation: (squares / (seeds - 1.0).max(1.0)).sqrt(),
            seeds,
        }
    }

    fn error(&self) -> f64 {
        self.deviation / self.seeds.sqrt()
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.seeds > 1.0 {
            true => write!(f, "{:.0} ± {:.0}", self.mean, self.error()),
            false => write!(f, "{:.0}", self.mean),
        }
    }
}

/// The tail of Mean Recourse beside the share of permutations that reach the score.
fn means(
    record: &mut String,
    audit: &Audit,
    individuals: &Individuals,
    permutations: u64,
) -> Result<(), Failure> {
    let definition = [definitions::parse("equal-mean-recourse")?];
    let found = tested(audit, individuals, &definition, (1000, 1))?;
    let tails = found.tests[0].tested.iter().enumerate();
    let tails = tails.filter_map(|(place, tested)| Some((place, (*tested)?)));
    let tails: Vec<(usize, f64)> = tails
        .filter(|(place, tested)| {
            let few = audit.subgroups[*place].people() <= MOST_PEOPLE;
            few && tested.source == Source::Bound && TAILS.contains(&tested.p)
        })
        .map(|(place, tested)| (place, tested.p))
        .collect();
    let every = (tails.len() / LOOKED_AT).max(1);
    let people = |place: usize| audit.subgroups[place].people();
    let mut smallest: Vec<usize> = tails.iter().map(|&(place, _)| place).collect();
    smallest.sort_by_key(|&place| (people(place), place));
    smallest.truncate(SMALLEST);
    let some = tails.iter().step_by(every).map(|&(place, _)| place);
    let mut looked_at: Vec<usize> = some.chain(smallest).collect();
    looked_at.sort_by_key(|&place| (std::cmp::Reverse(people(place)), place));
    looked_at.dedup();
    writeln!(
        record,
        "\n## The tail of Equal (Conditional) Mean Recourse\n\n\
         Every {every}th of {} subgroups whose tail is between {:e} and {:e}, and the {SMALLEST} smallest of them, with \
         {permutations}\npermutations each.\n\n\
         | members | score | tail | permutations | tail / permutations |\n\
         | --- | --- | --- | --- | --- |",
        tails.len(),
        TAILS.start,
        TAILS.end
    )?;
    let tails: HashMap<usize, f64> = tails.into_iter().collect();
    let mut worst: [f64; 2] = [f64::INFINITY, 0.0];
    for place in looked_at {
        let tail = tails[&place];
        let subgroup = &audit.subgroups[place];
        let score = definition[0].score(subgroup).ok_or("no score")?;
        let reached = reached(subgroup, score, permutations, place as u64);
        let share = reached as f64 / permutations as f64;
        let ratio = tail / share;
        worst = [worst[0].min(ratio), worst[1].max(ratio)];
        let members: Vec<String> = subgroup.members.iter().map(u64::to_string).collect();
        writeln!(
            record,
            "| {} | {score:.3} | {tail:.2e} | {share:.2e} | {ratio:.2} |",
            members.join(" and ")
        )?;
    }
    writeln!(
        record,
        "\nFrom {:.2} to {:.2} times what the permutations say.",
        worst[0], worst[1]
    )?;
    Ok(())
}

/// How many random labellings of two groups' members have mean costs as far apart.
fn reached(subgroup: &Subgroup, score: f64, permutations: u64, seed: u64) -> u64 {
    // What each person pays; those who have no way pay nothing and are not counted.
    let mut costs: Vec<Option<f64>> = Vec::new();
    let mut before = 0;
    for (level, &cost) in subgroup.cost_levels.iter().enumerate() {
        let of = |g| {
            subgroup
                .ecd(Viewpoint::Micro, g, level + 1)
                .map_or(0, |share| share.part)
        };
        let so_far: u64 = (0..subgroup.groups()).map(of).sum();
        costs.extend((before..so_far).map(|_| Some(cost)));
        before = so_far;
    }
    costs.resize(subgroup.people() as usize, None);
    let sum_of = |some: &[Option<f64>]| {
        let paid = some.iter().flatten();
        paid.fold((0.0, 0.0), |(n, sum), cost| (n + 1.0, sum + cost))
    };
    let (all, total) = sum_of(&costs);
    let first = subgroup.members[0] as usize;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut reached = 0;
    for _ in 0..permutations {
        // Fisher and Yates, as far as the first group goes.
        for i in 0..first {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let left = (costs.len() - i) as u128;
            let j = i + ((u128::from(state) * left) >> 64) as usize;
            costs.swap(i, j);
        }
        let (n, sum) = sum_of(&costs[..first]);
        let gap = match (n > 0.0, all - n > 0.0) {
            (true, true) => (sum / n - (total - sum) / (all - n)).abs(),
            (false, false) => 0.0,
            _ => f64::INFINITY,
        };
        reached += u64::from(gap >= score - 1e-9);
    }
    reached
}
