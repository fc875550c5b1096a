//! Bootstrap intervals: how far a number may be off.
//!
//! A finding's numbers (how each group fares, the gap, the score) are read again after its members
//! were resampled with replacement inside each group, so that every group keeps its size.
//! From where to where most of those readings lie is the interval. People are drawn, not weighted
//! rows, and the same ones whatever the definition.

mod bootstrap;
mod shares;

use std::collections::BTreeMap;
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
    // The members of a subgroup are drawn once, for all definitions under which it is a finding.
    let mut by_subgroup: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (finding, &(_, subgroup)) in findings.iter().enumerate() {
        by_subgroup.entry(subgroup).or_default().push(finding);
    }
    let by_subgroup: Vec<(usize, Vec<usize>)> = by_subgroup.into_iter().collect();
    let found: Vec<Vec<Option<FindingIntervals>>> = by_subgroup
        .par_iter()
        .map(|(subgroup, of_it)| {
            let definitions: Vec<&dyn Definition> = of_it.iter().map(|&f| findings[f].0).collect();
            let found = intervals(audit, individuals, &definitions, *subgroup, gathering);
            let done = done.fetch_add(of_it.len(), Ordering::Relaxed) + of_it.len();
            watch.tell(Phase::Evidence, done as u64, total)?;
            Ok(found)
        })
        .collect::<Result<_, Error>>()?;
    let findings = by_subgroup.into_iter().flat_map(|(_, of_it)| of_it);
    let mut found: Vec<(usize, Option<FindingIntervals>)> =
        findings.zip(found.into_iter().flatten()).collect();
    found.sort_by_key(|&(finding, _)| finding);
    Ok(found.into_iter().filter_map(|(_, found)| found).collect())
}

/// The bootstrap intervals of a subgroup, by its place in the audit, under each of these definitions.
///
/// None without resamples, and where suppressed counts stand in the way: what the audit does not
/// tell, its intervals do not tell either.
fn intervals(
    audit: &Audit,
    individuals: &Individuals,
    definitions: &[&dyn Definition],
    place: usize,
    gathering: &Gathering,
) -> Vec<Option<FindingIntervals>> {
    if gathering.resamples == 0 {
        return definitions.iter().map(|_| None).collect();
    }
    let members = Members {
        subgroup: &audit.subgroups[place],
        alike: individuals.alike(&audit.subgroups[place]),
    };
    let definitions = definitions.iter();
    let mut findings: Vec<Option<Finding<'_>>> = definitions
        .map(|definition| Finding::new(*definition, &members, gathering.resamples))
        .collect();
    members.resampled(gathering, |subgroup| {
        each(&mut findings, |finding| finding.read_again(subgroup));
    });
    members.leave_one_out(|subgroup, group, people| {
        each(&mut findings, |finding| {
            finding.read_without(subgroup, group, people)
        });
    });
    let told = |finding: Option<Finding<'_>>| finding?.told(place, gathering.alpha);
    findings.into_iter().map(told).collect()
}

/// Does something with each finding that is still one, and gives up those of which nothing comes.
fn each(findings: &mut [Option<Finding<'_>>], read: impl Fn(&mut Finding<'_>) -> Option<()>) {
    for finding in findings {
        if finding.as_mut().is_some_and(|f| read(f).is_none()) {
            *finding = None;
        }
    }
}

/// A subgroup and the people behind it.
struct Members<'a> {
    subgroup: &'a Subgroup,
    alike: Vec<Vec<Alike>>,
}

impl Members<'_> {
    /// Resamples the members, and has each resample read.
    fn resampled(&self, gathering: &Gathering, mut read: impl FnMut(&Subgroup)) {
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
            read(&subgroup);
        }
    }

    /// Leaves out one person after the other, and has the others read; people alike are left out once, and it is
    /// told of which group and how many they are.
    fn leave_one_out(&self, mut read: impl FnMut(&Subgroup, usize, u64)) {
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
                read(&subgroup, g, alike.people);
                subgroup.join(g, &alike.helped_by, 1);
            }
        }
    }

    /// The random stream of the subgroup: by its predicate, so that the same members are drawn wherever the
    /// subgroup stands in an audit.
    fn stream(&self, seed: u64) -> Stream {
        let items = self.subgroup.predicate.items().iter();
        items.fold(Stream::new(seed).named("intervals"), |stream, item| {
            let stream = stream.substream(item.feature.into());
            let stream = stream.named(item.operator.symbol());
            stream.substream(item.level.into())
        })
    }
}

/// A subgroup under one definition, and what was read of it.
struct Finding<'a> {
    definition: &'a dyn Definition,
    /// The groups between which the gap lies, as they were found.
    worst: usize,
    best: usize,
    /// Each group's value, the gap, and the score.
    numbers: Vec<Resampled>,
}

impl<'a> Finding<'a> {
    fn new(
        definition: &'a dyn Definition,
        members: &Members<'_>,
        resamples: usize,
    ) -> Option<Self> {
        let found = definition.assess(members.subgroup)?;
        let (worst, best) = worst_and_best(&found);
        let mut finding = Self {
            definition,
            worst,
            best,
            numbers: Vec::new(),
        };
        let numbers = finding.numbers_of(&found).into_iter();
        let numbers = numbers.map(|found| Resampled {
            found,
            again: Vec::with_capacity(resamples),
            without: vec![Vec::new(); members.alike.len()],
        });
        finding.numbers = numbers.collect();
        Some(finding)
    }

    /// The numbers of an assessment: each group's value, the gap, the score.
    fn numbers_of(&self, assessment: &Assessment) -> Vec<f64> {
        let values = assessment.values.iter().map(|value| value.number());
        let mut numbers: Vec<f64> = values.collect();
        let gap = difference(numbers[self.worst], numbers[self.best]);
        numbers.extend([gap, assessment.score]);
        numbers
    }

    /// Reads all numbers from resampled members.
    fn read_again(&mut self, subgroup: &Subgroup) -> Option<()> {
        let read = self.numbers_of(&self.definition.assess(subgroup)?);
        for (number, read) in self.numbers.iter_mut().zip(read) {
            number.again.push(read);
        }
        Some(())
    }

    /// Reads all numbers from members without one of so many people who are alike.
    fn read_without(&mut self, subgroup: &Subgroup, group: usize, people: u64) -> Option<()> {
        let read = self.numbers_of(&self.definition.assess(subgroup)?);
        for (number, read) in self.numbers.iter_mut().zip(read) {
            number.without[group].push((read, people));
        }
        Some(())
    }

    /// The intervals of the numbers.
    fn told(mut self, place: usize, alpha: f64) -> Option<FindingIntervals> {
        let infinite = |number: &Resampled| {
            let infinite = number.again.iter().filter(|score| score.is_infinite());
            infinite.count() as f64 / number.again.len() as f64
        };
        let intervals = |number: Resampled| {
            let intervals = number.intervals(alpha);
            // What each person contributes, which BCa asks, says little of steps.
            let bca = intervals.bca.filter(|_| !self.definition.moves_in_steps());
            BootstrapIntervals { bca, ..intervals }
        };
        let score = self.numbers.pop()?;
        let gap = self.numbers.pop()?;
        Some(FindingIntervals {
            definition: self.definition.id(),
            subgroup: place,
            infinite: infinite(&score),
            values: self.numbers.into_iter().map(intervals).collect(),
            gap: intervals(gap),
            score: intervals(score),
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
