//! How much memory evidence takes, worked out before it is taken.
//!
//! Estimates from above, from the counts of the audit alone. What threads need for themselves is counted once
//! for each thread, at the subgroup that needs most.

use super::permutation::{LANES, MANY};
use super::testing::{Family, Found, KEPT};
use super::{Gathering, Tested, Tests};
use crate::audit::{Audit, Individuals};
use crate::budget::Budget;
use crate::distribution::{Statistic, Subgroup};
use crate::error::Error;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the number of a permutation with its p-value.
const P_VALUE: u64 = size_of::<(u32, f64)>() as u64;

/// Bytes of what was found beside those: its place in two lists, one of which may have grown to twice its
/// length; and while families are corrected, by themselves and together, a reference, a place in order and a
/// p-value each.
const FOUND: u64 = 3 * size_of::<Option<Found>>() as u64 + 2 * (3 * 8 + 16);

/// Bytes that a set of people whom the same actions help takes beside those actions: its place in a map, in a
/// list, and what is read without one of them.
const ALIKE: u64 = 160;

const STAGE: &str = "testing findings against chance";
const REMEDY: &str = "make fewer shuffles (`evidence.shuffles`), use fewer threads, test fewer definitions, or raise the support";

/// The memory that tests leave to the p-values of permutations. How many of those are kept is not known before.
pub(super) struct PValues {
    budget: Budget,
    held: AtomicU64,
    /// What was held when it was last recounted; how many subgroups were tested since, and how many were left then.
    before: u64,
    tested: AtomicU64,
    left: u64,
}

impl PValues {
    /// Refuses tests that would take more memory than the audit leaves, whatever the p-values.
    pub(super) fn new(
        audit: &Audit,
        individuals: &Individuals,
        definitions: usize,
        gathering: &Gathering,
    ) -> Result<Self, Error> {
        let (subgroups, definitions) = (audit.subgroups.len() as u64, definitions as u64);
        let shuffles = gathering.shuffles as u64;
        let threads = rayon::current_num_threads() as u64;
        let tested = size_of::<Option<Tested>>() as u64;
        // While the larger half of a family is forgotten, all of them are there once more.
        let in_family = (subgroups * shuffles).min(2 * KEPT as u64);
        let bytes = definitions * subgroups * tested
            + threads.min(definitions) * 8 * (in_family + shuffles)
            + factorials(audit)
            + threads
                * greatest(audit, |subgroup| {
                    permuted(subgroup, individuals, definitions, shuffles)
                });
        individuals.budget.check(STAGE, bytes, REMEDY)?;
        Ok(Self {
            budget: individuals.budget.without(bytes),
            held: AtomicU64::new(0),
            before: 0,
            tested: AtomicU64::new(0),
            left: subgroups,
        })
    }

    /// The p-values that families keep, with so many subgroups still to be tested.
    pub(super) fn before<'f>(&mut self, families: impl Iterator<Item = &'f Family>, left: usize) {
        let found = families.flat_map(|family| &family.found);
        self.before = found.flatten().map(bytes_of).sum();
        self.held = AtomicU64::new(self.before);
        self.tested = AtomicU64::new(0);
        self.left = left as u64;
    }

    /// Takes the p-values of one subgroup. Whether that is too much does not depend on the order: it is as soon
    /// as those of all subgroups are.
    pub(super) fn take<'f>(&self, found: impl Iterator<Item = &'f Found>) -> Result<(), Error> {
        let bytes: u64 = found.map(bytes_of).sum();
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let tested = self.tested.fetch_add(1, Ordering::Relaxed) + 1;
        if held <= self.budget.left() {
            return Ok(());
        }
        // What these subgroups take says about what all of them do.
        let each = (held - self.before) as f64 / tested as f64;
        let all = self.before as f64 + each * self.left.max(tested) as f64;
        self.budget.check(STAGE, all.ceil() as u64, REMEDY)
    }
}

/// What was found, its p-values, and what becomes of it.
fn bytes_of(found: &Found) -> u64 {
    found.member.permuted.capacity() as u64 * P_VALUE + FOUND
}

/// What one thread takes for the permutations of one subgroup.
fn permuted(
    subgroup: &Subgroup,
    individuals: &Individuals,
    definitions: u64,
    shuffles: u64,
) -> u64 {
    let lanes = (LANES * size_of::<u32>()) as u64;
    let few_lanes = (LANES * size_of::<u8>()) as u64;
    let members = profiles(subgroup, individuals);
    let many = members.min(subgroup.people() / MANY);
    let labels = subgroup.groups() as u64 - 1;
    let sets = (subgroup.actions.len() + subgroup.cost_levels.len()) as u64;
    // Drawn by each definition; one of them at a time is sorted and stepped through.
    let statistic = size_of::<Statistic>() as u64;
    let drawn = (definitions + 6) * shuffles * statistic + shuffles * P_VALUE;
    members * (16 + labels * few_lanes)
        + many * (8 + labels * lanes)
        + sets * (members / 8 + 8 + labels * lanes)
        + 4 * subgroup_bytes(subgroup)
        + drawn
}

/// Refuses intervals that would take more memory than the audit and its tests leave. `findings` are the
/// subgroups that get one, each once a definition.
pub(super) fn check_intervals(
    audit: &Audit,
    individuals: &Individuals,
    tests: &[Tests],
    findings: impl Iterator<Item = usize>,
    gathering: &Gathering,
) -> Result<(), Error> {
    let mut definitions: HashMap<usize, u64> = HashMap::new();
    for subgroup in findings {
        *definitions.entry(subgroup).or_default() += 1;
    }
    let resampled = |subgroup: &Subgroup, definitions: u64| {
        // What is read of each group, of the gap and of the score.
        let numbers = definitions * (subgroup.groups() as u64 + 2);
        let profiles = profiles(subgroup, individuals);
        let helped: u64 = (0..subgroup.groups())
            .flat_map(|g| (0..subgroup.actions.len()).map(move |action| (action, g)))
            .map(|(action, g)| {
                subgroup
                    .flips(action, g)
                    .known()
                    .unwrap_or(subgroup.members[g])
            })
            .map(|people| people.min(profiles))
            .sum();
        numbers * (gathering.resamples as u64 * 16 + profiles * 32)
            + profiles * ALIKE
            // By person whom actions help: those actions, in a list that grows.
            + helped * 8
            + 2 * subgroup_bytes(subgroup)
    };
    let definitions = definitions.into_iter();
    let greatest = definitions.map(|(subgroup, d)| resampled(&audit.subgroups[subgroup], d));
    let greatest = greatest.max();
    let bytes = rayon::current_num_threads() as u64 * greatest.unwrap_or(0);
    let budget = individuals.budget.without(tests_bytes(tests));
    budget.check(
        "resampling the members of findings",
        bytes,
        "draw fewer resamples (`evidence.resamples`), use fewer threads, or allow fewer items a predicate",
    )
}

/// What tests take once they are made.
pub(crate) fn tests_bytes(tests: &[Tests]) -> u64 {
    let tested = tests.iter().map(|tests| tests.tested.len()).sum::<usize>();
    (tested * size_of::<Option<Tested>>()) as u64
}

/// The most that any subgroup takes.
fn greatest(audit: &Audit, bytes: impl Fn(&Subgroup) -> u64) -> u64 {
    audit.subgroups.iter().map(bytes).max().unwrap_or(0)
}

/// Logarithms of factorials, one for each number of people there can be.
fn factorials(audit: &Audit) -> u64 {
    8 * greatest(audit, Subgroup::people)
}

/// No more profiles than people, nor than there are.
fn profiles(subgroup: &Subgroup, individuals: &Individuals) -> u64 {
    subgroup.people().min(individuals.layout.len() as u64)
}

fn subgroup_bytes(subgroup: &Subgroup) -> u64 {
    let counts = subgroup.groups() * 16;
    let (actions, levels) = (subgroup.actions.len(), subgroup.cost_levels.len());
    (actions * (24 + counts) + levels * (8 + counts)) as u64
}
