//! What supports findings, as the reports show it: who passes, how sure the numbers are.
//!
//! The engine gathers [`Evidence`] by place; here it meets the findings it is about. `words.rs` says
//! it, `grids.rs` lays its tables out.

pub mod grids;
mod headline;
mod subgroup;
#[cfg(test)]
mod tests;
pub mod words;

use facts_engine::evidence::{
    BootstrapIntervals, Evidence, FindingStability, Outcome, PairTested, Source, Tested, Tests,
};
use facts_engine::{Audit, ranking::Ranking};
use serde::Serialize;

pub use self::headline::headline;
pub use self::subgroup::{DefinitionEvidence, of_subgroup};
use crate::json::JsonNumber;
use crate::report::{Column, Report};

/// A group with fewer members than this is named as small.
pub const SMALL: u64 = 30;

/// Of fewer members than this, a bootstrap tells nothing.
pub const TOO_FEW: u64 = 5;

/// What supports one finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingEvidence {
    /// The level α at which it is judged.
    pub alpha: f64,
    /// What the test says; none if the definition was not tested.
    pub test: Option<FindingTest>,
    /// With three groups or more, if it passes for all definitions together: which of them differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairRow>,
    /// Groups so small that little can be told of them.
    pub small_groups: Vec<SmallGroup>,
    /// Intervals, if the finding was looked at closely.
    pub intervals: Option<Intervals>,
    /// How many findings of each definition are looked at closely; 0 if no resamples were asked for.
    #[serde(skip)]
    pub looked_at: usize,
    /// How it fares under other settings and samples, if that was asked for.
    pub stability: Option<Followed>,
    /// The level at which its test is judged: α, unless another was asked for since.
    #[serde(skip)]
    pub judged_at: f64,
    /// The level that its definition was tested at; none if it was not tested.
    #[serde(skip)]
    pub tested_at: Option<f64>,
}

/// By which tests the findings of a definition are judged, and at which level.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'a> {
    /// The level that is asked for.
    pub alpha: f64,
    /// The tests; none if the definition was not tested, or at a lower level only: p-values above the level
    /// of the tests are not all known.
    pub tests: Option<&'a Tests>,
    /// The level that it was tested at; none if it was not.
    pub tested_at: Option<f64>,
    /// How many definitions were tested together.
    pub definitions: usize,
}

impl<'a> Judging<'a> {
    /// By the tests of an audit, at its own level.
    fn of(evidence: &'a Evidence, definition: &str) -> Self {
        let mut tests = evidence.tests.iter();
        let tests = tests.find(|tests| tests.definition == definition);
        Self {
            alpha: evidence.gathering.alpha,
            tests,
            tested_at: tests.map(|_| evidence.gathering.alpha),
            definitions: evidence.tests.len(),
        }
    }

    /// What the test of a subgroup says, and what it stands against; none if it is not known.
    pub(crate) fn of_subgroup(&self, subgroup: usize) -> Option<(&'a Tested, Stands)> {
        let tested = self.tests?.tested.get(subgroup)?.as_ref()?;
        Some((tested, Stands::new(tested, self.alpha)))
    }
}

/// What the test of one finding says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingTest {
    /// The p-value of the subgroup alone.
    pub p: f64,
    /// The p-value among all subgroups of the definition.
    pub family_wise: f64,
    /// The p-value after correction of the false discovery rate.
    pub false_discovery: f64,
    /// Where the p-value comes from.
    pub source: Source,
    /// How many subgroups were tested together.
    pub family: usize,
    /// What it stands against.
    pub stands: Stands,
    /// The smallest score that would have passed alone; none if no score could.
    #[serde(serialize_with = "JsonNumber::write_optional")]
    pub least_score: Option<f64>,
    /// The gap that this score would have needed, where gaps break ties of scores; else 0.
    pub least_gap: f64,
    /// The p-value for all definitions together.
    pub together: f64,
    /// How likely a gap as wide is, where gaps break ties of scores; else none.
    pub gap_p: Option<f64>,
}

/// What a finding stands against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stands {
    /// Family-wise: chance alone seldom shows even one such finding. It passes.
    FamilyWise,
    /// By the false discovery rate only: most findings like it are none of chance.
    FalseDiscovery,
    /// Nothing, though the gap itself is more than chance: the definition cannot tell here.
    CannotTell,
    /// Nothing: it is compatible with chance.
    Chance,
}

/// What the test of two groups of a finding says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairRow {
    /// The two groups.
    pub groups: [String; 2],
    /// The worse off of them; none if they fare alike.
    pub worse_off: Vec<String>,
    /// The score of these two groups.
    #[serde(serialize_with = "JsonNumber::write")]
    pub score: f64,
    /// The p-value of this pair alone.
    pub p: f64,
    /// The p-value for all subgroups, definitions and pairs together.
    pub together: f64,
    /// Where the p-value comes from.
    pub source: Source,
    /// Whether the two are shown to differ.
    pub differ: bool,
}

impl PairRow {
    /// A pair with its groups by name.
    pub(crate) fn new(audit: &Audit, pair: &PairTested, alpha: f64) -> Self {
        let name = |g: usize| audit.groups[g].name.trim().to_owned();
        Self {
            groups: pair.groups.map(name),
            worse_off: pair.against.iter().map(|&g| name(g)).collect(),
            score: pair.score,
            p: pair.p,
            together: pair.together,
            source: pair.source,
            differ: pair.passes(alpha),
        }
    }
}

/// A group too small to tell much of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmallGroup {
    /// The group's name.
    pub name: String,
    /// Its members in the subgroup.
    pub members: u64,
}

/// Bootstrap intervals of a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// Of the score.
    pub score: BootstrapIntervals,
    /// Of the gap: the value of the worst-off group less that of the best-off.
    pub gap: BootstrapIntervals,
    /// The share of resamples in which the score is infinite.
    pub infinite: f64,
}

/// A finding followed through variants of the audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Followed {
    /// In how many variants it holds.
    pub holds: usize,
    /// In how many it is against the same groups, whatever its rank.
    pub same_groups: usize,
    /// Whether it is among the first tenth of the unfair in the audit itself.
    pub among_first: bool,
    /// What became of it in each.
    pub variants: Vec<Variant>,
}

/// What became of a finding in one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// What is different there.
    pub variant: String,
    /// What became of it; none if it is not there to be ranked.
    pub outcome: Option<Outcome>,
}

/// How many findings of a definition pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// Subgroups tested together.
    pub family: usize,
    /// Those that are unfair: the findings.
    #[serde(skip)]
    pub unfair: usize,
    /// Findings that pass: family-wise at most α.
    pub family_wise: usize,
    /// Findings that stand by the false discovery rate.
    pub false_discovery: usize,
    /// Subgroups in which no score could pass, alone: chance shows each that is possible too often.
    pub powerless: usize,
    /// What a p-value must not exceed, roughly, to pass family-wise; none if none could.
    pub cut_off: Option<f64>,
}

impl Stands {
    /// What a subgroup that was tested stands against.
    pub fn new(tested: &Tested, alpha: f64) -> Self {
        if tested.passes(alpha) {
            Self::FamilyWise
        } else if tested.false_discovery <= alpha {
            Self::FalseDiscovery
        } else if tested.cannot_tell(alpha) {
            Self::CannotTell
        } else {
            Self::Chance
        }
    }
}

impl FindingEvidence {
    /// Whether the finding passes; none if it was not tested.
    pub fn passes(&self) -> Option<bool> {
        let test = self.test.as_ref()?;
        Some(test.stands == Stands::FamilyWise)
    }
}

impl<'a> Report<'a> {
    /// What was gathered to support the findings.
    pub fn evidence(&self) -> Option<&'a Evidence> {
        self.record.evidence.as_ref()
    }

    /// The tests of a definition; none if it was not tested.
    pub fn tests(&self, column: &Column) -> Option<&'a Tests> {
        self.record.tests_of(&column.ranking.definition)
    }

    /// What the test of one subgroup under a definition says.
    pub fn tested(&self, column: &Column, subgroup: usize) -> Option<&'a Tested> {
        self.tests(column)?.tested.get(subgroup)?.as_ref()
    }

    /// What an unfair subgroup stands against; none if it is not known.
    pub fn stands(&self, column: &Column, subgroup: usize) -> Option<Stands> {
        let alpha = self.evidence()?.gathering.alpha;
        Some(Stands::new(self.tested(column, subgroup)?, alpha))
    }

    /// Whether an unfair subgroup passes; none if it is not known.
    pub fn passes(&self, column: &Column, subgroup: usize) -> Option<bool> {
        let alpha = self.evidence()?.gathering.alpha;
        Some(self.tested(column, subgroup)?.passes(alpha))
    }

    /// Whether any of the definitions was tested.
    pub fn is_tested(&self) -> bool {
        self.columns.iter().any(|c| self.tests(c).is_some())
    }

    /// How many findings of a definition pass; none if it was not tested.
    pub fn tally(&self, column: &Column) -> Option<Tally> {
        let alpha = self.evidence()?.gathering.alpha;
        let tests = self.tests(column)?;
        let tested = |subgroup: usize| tests.tested.get(subgroup)?.as_ref();
        let unfair = column.ranking.unfair();
        let all = tests.tested.iter().flatten();
        let mut tally = Tally {
            family: all.clone().count(),
            unfair: unfair.len(),
            family_wise: 0,
            false_discovery: 0,
            powerless: all.filter(|tested| tested.least_score.is_none()).count(),
            cut_off: tests.cut_off,
        };
        for tested in unfair.iter().filter_map(|ranked| tested(ranked.subgroup)) {
            tally.family_wise += usize::from(tested.passes(alpha));
            tally.false_discovery += usize::from(tested.false_discovery <= alpha);
        }
        Some(tally)
    }

    /// A ranking with the findings that pass alone.
    pub fn passing(&self, column: &Column) -> Ranking {
        let mut ranking = column.ranking.clone();
        ranking.ranked.retain(|ranked| {
            ranked.rank.is_some() && self.passes(column, ranked.subgroup) == Some(true)
        });
        ranking
    }
}

/// What supports one entry of a ranking; none if no evidence was gathered.
pub(crate) fn of_finding(
    audit: &Audit,
    evidence: &Evidence,
    definition: &str,
    subgroup: usize,
) -> FindingEvidence {
    let judging = Judging::of(evidence, definition);
    of_judged(audit, Some(evidence), definition, subgroup, &judging)
}

/// What supports one entry of a ranking, judged by other tests than those of the audit, or at another
/// level. Intervals and variants are the audit's, at its own level.
pub(crate) fn of_judged(
    audit: &Audit,
    evidence: Option<&Evidence>,
    definition: &str,
    subgroup: usize,
    judging: &Judging<'_>,
) -> FindingEvidence {
    let pairs = judging.tests.map_or(&[][..], |t| t.pairs_of(subgroup));
    let is_it = |id: &str, place: usize| id == definition && place == subgroup;
    let intervals = evidence.and_then(|evidence| {
        let mut intervals = evidence.intervals.iter();
        intervals.find(|one| is_it(&one.definition, one.subgroup))
    });
    FindingEvidence {
        alpha: evidence.map_or(judging.alpha, |evidence| evidence.gathering.alpha),
        judged_at: judging.alpha,
        tested_at: judging.tested_at,
        looked_at: evidence.map_or(0, looked_at),
        pairs: (pairs.iter())
            .map(|pair| PairRow::new(audit, pair, judging.alpha))
            .collect(),
        small_groups: small_groups(audit, subgroup),
        test: of_test(judging, subgroup),
        intervals: intervals.map(|one| Intervals {
            score: one.score,
            gap: one.gap,
            infinite: one.infinite,
        }),
        stability: evidence.and_then(|evidence| {
            let stability = evidence.stability.as_ref()?;
            let mut findings = stability.findings.iter();
            let finding = findings.find(|one| is_it(&one.definition, one.subgroup))?;
            Some(followed(finding, &stability.variants))
        }),
    }
}

/// How many findings of each definition are looked at closely.
pub(crate) fn looked_at(evidence: &Evidence) -> usize {
    match evidence.gathering.resamples {
        0 => 0,
        _ => evidence.gathering.detailed,
    }
}

/// Intervals of what a definition compares in one group.
pub(crate) fn of_value(
    evidence: &Evidence,
    definition: &str,
    subgroup: usize,
    group: usize,
) -> Option<BootstrapIntervals> {
    let mut intervals = evidence.intervals.iter();
    let found = intervals.find(|one| one.definition == definition && one.subgroup == subgroup)?;
    found.values.get(group).copied()
}

fn of_test(judging: &Judging<'_>, subgroup: usize) -> Option<FindingTest> {
    let (tested, stands) = judging.of_subgroup(subgroup)?;
    let tests = judging.tests?;
    Some(FindingTest {
        p: tested.p,
        family_wise: tested.family_wise,
        false_discovery: tested.false_discovery,
        source: tested.source,
        family: tests.tested.iter().flatten().count(),
        stands,
        least_score: tested.least_score,
        least_gap: tested.least_gap,
        together: tested.together(judging.definitions),
        gap_p: tested.gap_p,
    })
}

/// The groups with few members.
fn small_groups(audit: &Audit, subgroup: usize) -> Vec<SmallGroup> {
    let members = &audit.subgroups[subgroup].members;
    let groups = audit.groups.iter().zip(members);
    groups
        .filter(|(_, members)| **members < SMALL)
        .map(|(group, &members)| SmallGroup {
            name: group.name.clone(),
            members,
        })
        .collect()
}

fn followed(finding: &FindingStability, variants: &[String]) -> Followed {
    let outcomes = variants.iter().zip(&finding.outcomes);
    Followed {
        holds: finding.holds(),
        same_groups: finding.same_groups(),
        among_first: finding.among_first,
        variants: outcomes
            .map(|(variant, outcome)| Variant {
                variant: variant.clone(),
                outcome: outcome.clone(),
            })
            .collect(),
    }
}
