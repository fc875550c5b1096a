//! The answer: what thousands of findings come to.
//!
//! A ranking of ten thousand overlapping subgroups under twelve definitions is not yet an answer. Here
//! it becomes one: who has a way out ([`GroupPeople`]), whether that is fair ([`Verdict`]), for whom it
//! is not ([`Story`]), why ([`Why`]), and which characteristics go with it ([`Drivers`]). It is worked
//! out from the people behind the audit; what is kept are counts.

mod check;
mod distinct;
mod drivers;
mod people;
mod person;
mod stories;
mod verdict;
mod why;
mod within;

use serde::{Deserialize, Serialize};

pub use self::drivers::{Driver, Drivers};
pub(crate) use self::people::ways;
pub use self::people::{Compared, GroupPeople, WaysAtCost};
pub use self::person::{Closest, Person, Persons, Turning, Wanted};
pub use self::stories::{Loss, Sharper, Story};
pub use self::verdict::{TooFewShuffles, TooSmall, Verdict};
pub use self::why::{Reasons, Why};
pub use self::within::{Shown, ShownTally, SubgroupGap, shown, subgroup_gaps, tally_shown};
use crate::audit::{Audit, Individuals};
use crate::definitions::Definition;
use crate::evidence::Evidence;

/// What an audit comes to: counts, no individuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What the rules below rest on.
    pub parameters: Parameters,
    /// Who is refused and who has a way out, in the order of the audit's groups.
    pub people: Vec<GroupPeople>,
    /// By subgroup: the one that stands for all with the same members, the shortest.
    pub same_as: Vec<u32>,
    /// Whether it is fair; none if nothing was tested.
    pub verdict: Option<Verdict>,
    /// The stories, in the order in which they were found: each is the one with the greatest lower
    /// bound of people at a loss among those whom none before it told of. A later bound may still be
    /// greater: where people with a narrow gap were told of, a wider one is left.
    pub stories: Vec<Story>,
    /// By subgroup: the story that tells it, if it passes and shares people with a story.
    pub told_by: Vec<Option<u32>>,
    /// Which characteristics go with the gap.
    pub drivers: Option<Drivers>,
}

impl Answer {
    /// How many people of a group are at a loss, in all stories together.
    pub fn at_a_loss(&self, group: usize) -> f64 {
        stories::at_a_loss(&self.stories, group)
    }
}

/// The numbers that the answer's rules rest on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The fewest people of each group that a story is told of.
    pub min_members: u64,
    /// How many standard deviations the lower bounds of stories allow for chance.
    pub z: f64,
    /// The share of a subgroup's members that must belong to a story for it to lie inside.
    pub inside: f64,
    /// By how much a gap inside a story must surely exceed the story's to be told.
    pub sharper: f64,
    /// Of two subgroups that share so much of their people, overlap over union, one is told.
    pub overlap: f64,
    /// A gap that does not matter: fair means that all gaps surely lie within it.
    pub delta: f64,
    /// A gap that would matter: where it could not have been seen, nothing can be told.
    pub telling_gap: f64,
    /// The share of each group's refused people for whom such a gap could have been seen.
    pub telling_share: f64,
}

impl Parameters {
    fn of(audit: &Audit, delta: f64) -> Self {
        let suppressed = audit.suppression.map_or(1, |suppression| suppression.k);
        Self {
            min_members: audit.settings.min_members.max(suppressed),
            z: 2.576,
            inside: 0.8,
            sharper: 0.05,
            overlap: 0.5,
            delta,
            telling_gap: 0.2,
            telling_share: 0.9,
        }
    }
}

/// The δ within which gaps do not matter, unless the user says otherwise.
pub const DELTA: f64 = 0.1;

/// A number for comparing: what differs by rounding alone, because it was reached in another way, is
/// the same.
fn rounded(number: f64) -> f64 {
    (number * 1e9).round()
}

/// What an audit comes to. `individuals` are those of the audit, `definitions` those that it was tested
/// by; without tests there are neither stories nor a verdict.
pub fn answer(
    audit: &Audit,
    individuals: &Individuals,
    definitions: &[Box<dyn Definition>],
    evidence: Option<&Evidence>,
    delta: f64,
) -> Answer {
    let parameters = Parameters::of(audit, delta);
    let same_as = distinct::same_as(audit, individuals);
    let ways = people::ways(audit, individuals);
    let people = people::of_groups(audit, individuals, &ways);
    let evidence = evidence.filter(|evidence| !evidence.tests.is_empty());
    let (stories, told_by) = match evidence {
        None => (Vec::new(), vec![None; audit.subgroups.len()]),
        Some(evidence) => {
            stories::Telling::new(audit, individuals, evidence, &same_as, parameters).tell()
        }
    };
    let judging = verdict::Judging {
        audit,
        individuals,
        definitions,
        same_as: &same_as,
        stories: &stories,
        parameters,
    };
    let verdict = evidence.map(|evidence| judging.verdict(evidence));
    Answer {
        parameters,
        verdict,
        drivers: drivers::drivers(audit, individuals, &ways, &people),
        people,
        same_as,
        stories,
        told_by,
    }
}
