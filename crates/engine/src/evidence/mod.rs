//! Evidence: which findings could be chance, and how sure the numbers are.
//!
//! A ranking of thousands of subgroups puts chance on top. What this module adds to an audit says how
//! far each finding can be trusted. `docs/evidence.md` explains every method and what it assumes.
//!
//! - **Tests**, exact or by permutation, with p-values corrected for the whole family. The null
//!   hypothesis, for one subgroup: inside it, which group a person belongs to says nothing
//!   about which actions help them. Everything is conditional on how many members each group has.
//! - **Intervals**, by the bootstrap. How far a number may be off.
//! - **Stability.** Whether a finding stays where it is under other settings and other samples.
//! - **Hold-out.** Whether what was found among some people is there among others.

mod family;
mod hold_out;
mod intervals;
mod memory;
mod pairs;
mod permutation;
mod stability;
mod tails;
mod testing;
mod variants;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub use self::hold_out::{HoldOutPlan, HoldOutResult};
pub use self::intervals::{clopper_pearson, intervals_of_first};
pub(crate) use self::memory::tests_bytes;
pub use self::pairs::PairTested;
pub use self::stability::StabilityAnalysis;
pub use self::testing::test;
pub use self::variants::{sample_seed, weight_draws};
use crate::audit::Audit;
use crate::definitions::Definition;
use crate::ranking::{Ranked, Ranking};

/// The findings that are looked at in detail, by definition: the first of all that are unfair, by score
/// and in the order for people, and the first of those that pass. Without tests, only the former.
fn detailed_findings(
    audit: &Audit,
    definitions: &[Box<dyn Definition>],
    tests: &[Tests],
    gathering: &Gathering,
) -> Vec<Vec<Ranked>> {
    let of_definition = |(definition, ranking): (&dyn Definition, Ranking)| {
        let tests = tests.iter().find(|t| t.definition == ranking.definition);
        let passes = |ranked: &Ranked| {
            let tested = tests.and_then(|tests| tests.tested.get(ranked.subgroup).copied()?);
            tested.is_some_and(|tested| tested.passes(gathering.alpha))
        };
        let for_people = ranking.for_people(definition, &audit.subgroups);
        let for_people = for_people.unfair().iter().take(gathering.detailed);
        let for_people: HashSet<usize> = for_people.map(|ranked| ranked.subgroup).collect();
        let mut passing = 0;
        let mut first = Vec::new();
        for (place, ranked) in ranking.unfair().iter().enumerate() {
            let passes = passes(ranked);
            if place < gathering.detailed
                || for_people.contains(&ranked.subgroup)
                || (passes && passing < gathering.detailed)
            {
                first.push(ranked.clone());
            }
            passing += usize::from(passes);
        }
        first
    };
    let rankings = audit.rank_all(definitions);
    let definitions = definitions.iter().map(AsRef::as_ref);
    definitions.zip(rankings).map(of_definition).collect()
}

/// How evidence is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// What all random numbers start from. The same seed gives the same evidence, on any
    /// number of threads.
    pub seed: u64,
    /// The level α: how often, at most, chance alone may be taken for a finding.
    pub alpha: f64,
    /// How many permutations of the group labels each subgroup is tested with.
    pub shuffles: usize,
    /// How many bootstrap resamples the intervals of a finding are read from.
    pub resamples: usize,
    /// How many of each definition's first findings, and of the first of those that pass, get
    /// intervals and are followed through the variants; and how many go through the hold-out.
    pub detailed: usize,
}

impl Default for Gathering {
    fn default() -> Self {
        Self {
            seed: 1,
            alpha: 0.05,
            shuffles: 1000,
            resamples: 1000,
            detailed: 10,
        }
    }
}

/// What supports an audit's findings: numbers, no individuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// How it was gathered.
    pub gathering: Gathering,
    /// Tests, one entry for each definition tested.
    pub tests: Vec<Tests>,
    /// Intervals of the first findings of each definition.
    pub intervals: Vec<FindingIntervals>,
    /// How the first findings of each definition fare under other settings, if that was asked for.
    pub stability: Option<Stability>,
    /// How findings among one part of the people fare among the others, if that was asked for.
    pub hold_out: Option<HoldOut>,
}

impl Evidence {
    /// Whether a finding passes for all definitions together. This is what the answer rests on.
    pub fn passes_together(&self, tests: &Tests, subgroup: usize) -> bool {
        let tested = tests.tested.get(subgroup).copied().flatten();
        tested.is_some_and(|tested| tested.together(self.tests.len()) <= self.gathering.alpha)
    }

    /// Leaves out the tests of findings that pass here and not by the tests of another audit, which finds the
    /// same subgroups among people of whom this one tells less. How many pass here, and how many by both.
    pub fn confirm(&mut self, audit: &Audit, other: &Audit, others: &[Tests]) -> (usize, usize) {
        let places: HashMap<String, usize> = (other.subgroups.iter().enumerate())
            .map(|(place, subgroup)| (other.text(&subgroup.predicate), place))
            .collect();
        let texts = audit.subgroups.iter().map(|s| audit.text(&s.predicate));
        let places: Vec<Option<usize>> = texts.map(|text| places.get(&text).copied()).collect();
        let (alpha, definitions) = (self.gathering.alpha, self.tests.len());
        let (mut passing, mut confirmed) = (0, 0);
        for tests in &mut self.tests {
            let theirs = others.iter().find(|t| t.definition == tests.definition);
            for (tested, place) in tests.tested.iter_mut().zip(&places) {
                let Some(found) = tested.filter(|tested| tested.passes(alpha)) else {
                    continue;
                };
                let there = theirs
                    .zip(*place)
                    .and_then(|(tests, place)| tests.tested[place]);
                let holds = there.is_some_and(|there| {
                    let together = |t: Tested| t.together(definitions) <= alpha;
                    there.passes(alpha) && (together(there) || !together(found))
                });
                passing += 1;
                if holds {
                    confirmed += 1;
                } else {
                    *tested = None;
                }
            }
            let tested = &tests.tested;
            tests.pairs.retain(|pair| {
                let there = theirs.zip(places[pair.subgroup]);
                let mut there = there
                    .into_iter()
                    .flat_map(|(tests, place)| tests.pairs_of(place));
                let same = there.find(|there| there.groups == pair.groups);
                tested[pair.subgroup].is_some()
                    && (!pair.passes(alpha) || same.is_some_and(|same| same.passes(alpha)))
            });
        }
        (passing, confirmed)
    }

    /// The tests under which a subgroup passes for all definitions together.
    pub fn passing_together(&self, subgroup: usize) -> impl Iterator<Item = &Tests> {
        let tests = self.tests.iter();
        tests.filter(move |tests| self.passes_together(tests, subgroup))
    }
}

/// The tests of all subgroups under one definition: one family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tests {
    /// The definition's id.
    pub definition: String,
    /// By the subgroup's place in the audit; none if it cannot be ranked because a count was
    /// suppressed.
    pub tested: Vec<Option<Tested>>,
    /// What a p-value must not exceed, roughly, to pass family-wise at α; none if none could.
    pub cut_off: Option<f64>,
    /// The same to pass for all definitions together. None in audits that were saved before it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_off_together: Option<f64>,
    /// With three groups or more: the pairs of groups of each subgroup that passes for all definitions
    /// together, in the order of subgroups. Else, and in audits that were saved before, none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairTested>,
}

/// What the tests say of one subgroup under one definition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The p-value of this subgroup alone: how likely a score at least this large is if which group
    /// a member belongs to is random.
    pub p: f64,
    /// The family-wise p-value: after Westfall and Young's step-down over all subgroups of the definition.
    pub family_wise: f64,
    /// The p-value after Benjamini and Hochberg's correction for the same family.
    pub false_discovery: f64,
    /// Where the p-value comes from.
    pub source: Source,
    /// The smallest score that would have passed at α here, for this subgroup alone; none if no
    /// score could, because the groups are too small.
    #[serde(with = "crate::infinity::optional")]
    pub least_score: Option<f64>,
    /// The gap that this score would have needed, where gaps break ties of scores; else 0.
    #[serde(default)]
    pub least_gap: f64,
    /// The p-value for all definitions together: after the step-down over all pairs of a definition and a
    /// subgroup, from the same shuffles. None in audits that were saved before it was computed.
    #[serde(default)]
    pub together: Option<f64>,
    /// How likely a gap as wide as the one found is, where gaps break ties of scores: at the cost or by
    /// the action that decided, whichever group is ahead.
    #[serde(default)]
    pub gap_p: Option<f64>,
}

impl Tested {
    /// Whether the p-values of a test that came from elsewhere are probabilities.
    pub fn holds_together(&self) -> bool {
        let all = [
            self.p,
            self.family_wise,
            self.false_discovery,
            self.least_gap,
        ];
        let more = [self.together, self.gap_p];
        let all = all.into_iter().chain(more.into_iter().flatten());
        all.into_iter().all(|p| (0.0..=1.0).contains(&p))
    }

    /// Whether a finding passes at α: whether its family-wise p-value is at most that. Nothing else
    /// decides it, whoever asks.
    pub fn passes(&self, alpha: f64) -> bool {
        self.family_wise <= alpha
    }

    /// The p-value for all definitions together. Audits that were saved without one have the family-wise
    /// one times how many definitions were tested, since each of them is a family.
    pub fn together(&self, definitions: usize) -> f64 {
        let times = (self.family_wise * definitions as f64).min(1.0);
        self.together.unwrap_or(times)
    }

    /// Whether the gap itself is more than chance at α though nothing passes: the definition cannot tell
    /// here.
    pub fn cannot_tell(&self, alpha: f64) -> bool {
        !self.passes(alpha) && self.gap_p.is_some_and(|p| p <= alpha)
    }
}

/// Where a p-value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Counted out: Fisher's exact test.
    Exact,
    /// Too small for the permutations to tell; not larger than this.
    Bound,
    /// A permutation test.
    #[serde(rename = "shuffles")]
    Permutations,
}

/// From where to where a number may lie; either end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    #[serde(with = "crate::infinity")]
    pub low: f64,
    /// The upper end.
    #[serde(with = "crate::infinity")]
    pub high: f64,
}

impl Interval {
    /// Whether a number lies within it.
    pub fn holds(&self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }
}

/// Two intervals from the same resamples, both at 1 − α.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapIntervals {
    /// The percentile interval.
    pub percentile: Interval,
    /// The bias-corrected and accelerated interval; none where it is not defined, such as for a
    /// value that is infinite or that no resample moves, nor where what is compared moves in steps.
    pub bca: Option<Interval>,
}

impl BootstrapIntervals {
    /// The one to look at: BCa where it is defined.
    pub fn best(&self) -> Interval {
        self.bca.unwrap_or(self.percentile)
    }
}

/// Bootstrap intervals of one finding: members resampled inside each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingIntervals {
    /// The definition's id.
    pub definition: String,
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// Of what the definition compares, by group.
    pub values: Vec<BootstrapIntervals>,
    /// Of the gap: the value of the worst-off group less that of the best-off, as they were found.
    pub gap: BootstrapIntervals,
    /// Of the score.
    pub score: BootstrapIntervals,
    /// The share of resamples in which the score is infinite.
    pub infinite: f64,
}

/// How findings fare under other settings and other samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// What is different in each variant, as one reads it.
    pub variants: Vec<String>,
    /// The findings followed.
    pub findings: Vec<FindingStability>,
}

/// How one finding fares in each variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingStability {
    /// The definition's id.
    pub definition: String,
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// Whether it is among the first tenth of the unfair in the audit itself. If not, it has no place
    /// to keep there.
    pub among_first: bool,
    /// What became of it, one entry a variant; none where the subgroup is not there to be ranked.
    pub outcomes: Vec<Option<Outcome>>,
}

/// What became of a finding in one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its rank there; none if it is fair there.
    pub rank: Option<u32>,
    /// Subgroups ranked there.
    pub of: usize,
    /// Its score there.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// The worse-off groups there.
    pub against: Vec<String>,
    /// Whether these are the groups that it is against in the audit itself.
    pub same_groups: bool,
    /// Whether it holds: against the same groups, and still among the first tenth of the unfair.
    pub holds: bool,
}

impl FindingStability {
    /// In how many variants the finding holds.
    pub fn holds(&self) -> usize {
        self.outcomes.iter().flatten().filter(|o| o.holds).count()
    }

    /// In how many variants it is against the same groups, whatever its rank.
    pub fn same_groups(&self) -> usize {
        let outcomes = self.outcomes.iter().flatten();
        outcomes.filter(|outcome| outcome.same_groups).count()
    }
}

/// Findings among one part of the people, tested among the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldOut {
    /// The share of the people among whom subgroups are found; they are tested among the rest.
    pub share: f64,
    /// Affected people by group among whom findings were made.
    pub found_among: Vec<u64>,
    /// Affected people by group among whom they were tested.
    pub tested_among: Vec<u64>,
    /// The first findings of each definition in the first part.
    pub findings: Vec<HeldOut>,
}

/// One finding of the first part and what the second says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The definition's id.
    pub definition: String,
    /// The predicate as one reads it.
    pub predicate: String,
    /// Members by group in the part that found it.
    pub found_members: Vec<u64>,
    /// The score in the part that found it.
    #[serde(with = "crate::infinity")]
    pub found_score: f64,
    /// The worse-off groups in the part that found it.
    pub found_against: Vec<String>,
    /// What the other part says; none if some group has no member there.
    pub tested: Option<HeldOutTest>,
}

/// What the part that did not find a subgroup says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutTest {
    /// Members by group.
    pub members: Vec<u64>,
    /// The score.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// The worse-off groups.
    pub against: Vec<String>,
    /// The p-value alone.
    pub p: f64,
    /// Where that comes from.
    pub source: Source,
    /// The p-value after correction for all findings of the definition that were carried over.
    pub family_wise: f64,
    /// Whether it is confirmed: against the same groups, and family-wise at most α.
    pub confirmed: bool,
}

impl HeldOutTest {
    /// What is left of a score: the score here over the score found; none if that was infinite
    /// and this is not, or both are.
    pub fn shrinkage(&self, found: f64) -> Option<f64> {
        (found.is_finite() && self.score.is_finite() && found > 0.0).then(|| self.score / found)
    }
}
