//! Bootstrap intervals: how far a number may be off.
//!
//! A finding's numbers (how each group fares, the gap, the score) are read again after its members
//! were resampled with replacement inside each group, so that every group keeps its size.
//! From where to where most of those readings lie is the interval. People are drawn, not weighted
//! rows, and the same ones whatever the definition.

mod bootstrap;
mod shares;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use self::bootstrap::Resampled;
pub use self::shares::clopper_pearson;
use super::{
    BootstrapIntervals, FindingIntervals, Gathering, Interval, Tests, detailed_findings, memory,
};
use crate::audit::{Alike, Audit, Individuals};
use crate::chance::{Resampler, Stream};
use crate::definitions::{Assessment, Definition};
use crate::distribution::Subgroup;
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// The intervals of each definition's first findings, and of the first that pass these tests.
///
/// `individuals` are those of the audit. A finding that cannot be told because of suppressed counts
/// has none.
pub fn intervals_of_first(
    audit: &Audit,
    individuals: &Individuals,
    definitions: &[Box<dyn Definition>],
    tests: &[Tests],
    gathering: &Gathering,
    watch: Watch<'_>,
) -> Result<Vec<FindingIntervals>, Error> {
    let detailed = detailed_findings(audit, definitions, tests, gathering);
    let findings: Vec<(&dyn Definition, usize)> = (definitions.iter().zip(&detailed))
        .flat_map(|(definition, first)| {
            let first = first.iter();
            first.map(|ranked| (definition.as_ref(), ranked.subgroup))
        })
        .collect();
    let subgroups = findings.iter().map(|&(_, subgroup)| subgroup);
    memory::check_intervals(audit, individuals, tests, subgroups, gathering)?;
    let (done, total) = (AtomicUsize::new(0), findings.len() as u64);
    watch.tell(Phase::Evidence, 0, total)?;
    let found: Vec<Option<FindingIntervals>> = findings
        .par_iter()
        .map(|&(definition, subgroup)| {
            let found = intervals(audit, individuals, definition, subgroup, gathering);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch.tell(Phase::Evidence, done as u64, total)?;
            Ok(found)
        })
        .collect::<Result<_, Error>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The bootstrap intervals of one finding: a subgroup by its place in the audit, under a definition.
///
/// None without resamples, and where suppressed counts stand in the way: what the audit does not
/// tell, its intervals do not tell either.
fn intervals(
    audit: &Audit,
    individuals: &Individuals,
    definition: &dyn Definition,
    subgroup: usize,
    gathering: &Gathering,
) -> Option<FindingIntervals> {
    let place = subgroup;
    let subgroup = &audit.subgroups[place];
    if gathering.resamples == 0 {
        return None;
    }
    let finding = Finding::new(definition, subgroup, individuals.alike(subgroup))?;
    let mut numbers = finding.resampled(gathering)?;
    finding.leave_one_out(&mut numbers)?;

    let infinite = |number: &Resampled| {
        let infinite = number.again.iter().filter(|score| score.is_infinite());
        infinite.count() as f64 / number.again.len() as f64
    };
    let intervals = |number: Resampled| {
        let intervals = number.intervals(gathering.alpha);
        // What each person contributes, which BCa asks, says little of steps.
        let bca = intervals.bca.filter(|_| !definition.moves_in_steps());
        BootstrapIntervals { bca, ..intervals }
    };
    let score = numbers.pop()?;
    let gap = numbers.pop()?;
    Some(FindingIntervals {
        definition: definition.id(),
        subgroup: place,
        infinite: infinite(&score),
        values: numbers.into_iter().map(intervals).collect(),
        gap: intervals(gap),
        score: intervals(score),
    })
}

/// One finding and the people behind it.
struct Finding<'a> {
    definition: &'a dyn Definition,
    subgroup: &'a Subgroup,
    alike: Vec<Vec<Alike>>,
    found: Assessment,
    /// The groups between which the gap lies, as they were found.
    worst: usize,
    best: usize,
}

impl<'a> Finding<'a> {
    fn new(
        definition: &'a dyn Definition,
        subgroup: &'a Subgroup,
        alike: Vec<Vec<Alike>>,
    ) -> Option<Self> {
        let found = definition.assess(subgroup)?;
        let (worst, best) = worst_and_best(&found);
        Some(Self {
            definition,
            subgroup,
            alike,
            found,
            worst,
            best,
        })
    }

    /// The numbers of an assessment: each group's value, the gap, the score.
    fn numbers(&self, assessment: &Assessment) -> Vec<f64> {
        let values = assessment.values.iter().map(|value| value.number());
        let mut numbers: Vec<f64> = values.collect();
        let gap = difference(numbers[self.worst], numbers[self.best]);
        numbers.extend([gap, assessment.score]);
        numbers
    }

    /// Reads all numbers from resampled members.
    fn resampled(&self, gathering: &Gathering) -> Option<Vec<Resampled>> {
        let mut numbers: Vec<Resampled> = (self.numbers(&self.found).into_iter())
            .map(|found| Resampled {
                found,
                again: Vec::with_capacity(gathering.resamples),
                without: vec![Vec::new(); self.alike.len()],
            })
            .collect();
        let resamplers: Vec<Resampler> = (self.alike.iter())
            .map(|group| Resampler::new(group.iter().map(|alike| alike.people).collect()))
            .collect();
        let stream = self.stream(gathering.seed);
        let mut subgroup = self.subgroup.clone();
        let mut drawn = Vec::new();
        for resample in 0..gathering.resamples as u64 {
            subgroup.empty();
            for (g, (group, resampler)) in self.alike.iter().zip(&resamplers).enumerate() {
                let stream = stream.substream(resample).substream(g as u64);
                resampler.resample(stream, &mut drawn);
                for (alike, &people) in group.iter().zip(&drawn) {
                    subgroup.join(g, &alike.helped_by, people);
                }
            }
            let read = self.numbers(&self.definition.assess(&subgroup)?);
            for (number, read) in numbers.iter_mut().zip(read) {
                number.again.push(read);
            }
        }
        Some(numbers)
    }

    /// Reads all numbers with one person left out, for each person; people alike are read once.
    fn leave_one_out(&self, numbers: &mut [Resampled]) -> Option<()> {
        let mut subgroup = self.subgroup.clone();
        subgroup.empty();
        for (g, group) in self.alike.iter().enumerate() {
            for alike in group {
                subgroup.join(g, &alike.helped_by, alike.people);
            }
        }
        for (g, group) in self.alike.iter().enumerate() {
            // Without its only member a group cannot be compared.
            if subgroup.members[g] < 2 {
                continue;
            }
            for alike in group {
                subgroup.leave(g, &alike.helped_by, 1);
                let read = self.numbers(&self.definition.assess(&subgroup)?);
                subgroup.join(g, &alike.helped_by, 1);
                for (number, read) in numbers.iter_mut().zip(read) {
                    number.without[g].push((read, alike.people));
                }
            }
        }
        Some(())
    }

    /// The random stream of the subgroup: by its predicate, so that the same members are drawn under every
    /// definition and wherever the subgroup stands in an audit.
    fn stream(&self, seed: u64) -> Stream {
        let items = self.subgroup.predicate.items().iter();
        items.fold(Stream::new(seed).named("intervals"), |stream, item| {
            let stream = stream.substream(item.feature.into());
            let stream = stream.named(item.operator.symbol());
            stream.substream(item.level.into())
        })
    }
}

/// The worst-off and the best-off group; of groups that tie, the first.
fn worst_and_best(found: &Assessment) -> (usize, usize) {
    let value = |g: usize| found.values[g].number();
    let worst = found.against.first().copied().unwrap_or(0);
    let others = || (0..found.values.len()).filter(|&g| g != worst);
    // Whichever side of the worst-off group the others are on is the better one.
    let more_is_better = others().any(|g| value(g) > value(worst));
    let best = others().reduce(|best, g| {
        let better = if more_is_better {
            value(g) > value(best)
        } else {
            value(g) < value(best)
        };
        if better { g } else { best }
    });
    (worst, best.unwrap_or(worst))
}

/// ∞ − ∞ = 0.
fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { a - b }
}

#[cfg(test)]
mod tests;
