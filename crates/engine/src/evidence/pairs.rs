//! Pairs of groups, where there are three or more: which of them differ, after the test of all of them.
//!
//! That a subgroup passes says that its groups are not all alike, not which differ. So the step-down over
//! all pairs of a definition and a subgroup goes on: in place of each that passed come its pairs of
//! groups, each tested as a subgroup of two groups is, beside all that did not pass. A pair is never surer
//! than the test of all groups that it comes after. (Of three groups, if two pairs are alike so is the
//! third: among the pairs that come in place of a subgroup that truly differs at most one is truly alike,
//! and the step-down allows for all three.)

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::family::{Member, step_down};
use super::memory::PValues;
use super::testing::{Family, Found, Testing};
use super::{Evidence, Source, Tests};
use crate::audit::Audit;
use crate::definitions::Assessment;
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// Subgroups whose pairs are tested before it is seen whether their permutations are too many to keep.
const AT_ONCE: usize = 64;

/// What the test of two groups of a subgroup says, under one definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairTested {
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// The two groups, by their places in the audit.
    pub groups: [usize; 2],
    /// Which of them is worse off; none if they fare alike.
    pub against: Vec<usize>,
    /// The score of these two groups.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// The p-value of this pair alone.
    pub p: f64,
    /// The p-value for all subgroups, definitions and pairs together, not below that of all groups of the
    /// subgroup.
    pub together: f64,
    /// Where the p-value comes from.
    pub source: Source,
}

impl PairTested {
    /// Whether the two groups are shown to differ at α.
    pub fn passes(&self, alpha: f64) -> bool {
        self.together <= alpha
    }

    /// Whether a pair that came from elsewhere speaks of what there is.
    pub fn fits(&self, audit: &Audit) -> bool {
        let [a, b] = self.groups;
        let probable = |p: f64| (0.0..=1.0).contains(&p);
        self.subgroup < audit.subgroups.len()
            && a < b
            && b < audit.groups.len()
            && self.against.iter().all(|g| self.groups.contains(g))
            && self.score >= 0.0
            && probable(self.p)
            && probable(self.together)
    }
}

impl Tests {
    /// The pairs of groups that were tested in a subgroup.
    pub fn pairs_of(&self, subgroup: usize) -> &[PairTested] {
        let from = self.pairs.partition_point(|pair| pair.subgroup < subgroup);
        let to = self.pairs.partition_point(|pair| pair.subgroup <= subgroup);
        &self.pairs[from..to]
    }

    /// Of the groups that a finding which passes is against, those that are shown to be worse off than
    /// another: by a pair that passes, if pairs were tested. If none of them is, the worse off of the
    /// pairs that pass; it may be that none does.
    pub fn shown_against(&self, subgroup: usize, found: &Assessment, alpha: f64) -> Vec<usize> {
        let pairs = self.pairs_of(subgroup);
        if pairs.is_empty() {
            return found.against.to_vec();
        }
        let passing = pairs.iter().filter(|pair| pair.passes(alpha));
        let mut worse: Vec<usize> = passing.flat_map(|pair| pair.against.clone()).collect();
        worse.sort_unstable();
        worse.dedup();
        let worst = found.against.iter().copied();
        let worst: Vec<usize> = worst.filter(|g| worse.contains(g)).collect();
        if worst.is_empty() { worse } else { worst }
    }
}

impl Evidence {
    /// The pairs of groups of a subgroup of which some definition shows that the first is worse off, each
    /// once, in order.
    pub fn shown_worse_off(&self, subgroup: usize) -> Vec<(usize, usize)> {
        let pairs = self.tests.iter().flat_map(|t| t.pairs_of(subgroup));
        let passing = pairs.filter(|pair| pair.passes(self.gathering.alpha));
        let mut shown: Vec<(usize, usize)> = passing
            .flat_map(|pair| {
                let [a, b] = pair.groups;
                let worse = pair.against.iter();
                worse.map(move |&worse| (worse, if worse == a { b } else { a }))
            })
            .collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    }
}

/// A pair before the others are looked at.
struct FoundPair {
    definition: usize,
    subgroup: usize,
    groups: [usize; 2],
}

impl Testing<'_> {
    /// Tests the pairs of groups of all subgroups that pass for all definitions together.
    pub(super) fn add_pairs(
        &self,
        audit: &Audit,
        families: &[Family],
        tests: &mut [Tests],
        mut p_values: PValues,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let passes = |d: usize, subgroup: usize| {
            let tested = tests[d].tested[subgroup];
            tested.is_some_and(|one| one.together(tests.len()) <= self.gathering.alpha)
        };
        let all = 0..audit.subgroups.len();
        let passing: Vec<usize> = all
            .filter(|&subgroup| (0..tests.len()).any(|d| passes(d, subgroup)))
            .collect();
        let kept = families.iter().map(|family| family.kept);
        let mut family = Family {
            found: Vec::new(),
            kept: kept.fold(1.0, f64::min),
        };
        let mut pairs: Vec<FoundPair> = Vec::new();
        for (round, subgroups) in passing.chunks(AT_ONCE).enumerate() {
            let done = round * AT_ONCE;
            watch.tell(Phase::Evidence, done as u64, passing.len() as u64)?;
            let kept = vec![family.kept; tests.len()];
            p_values.before(families.iter().chain([&family]), passing.len() - done);
            let found: Vec<Vec<(FoundPair, Found)>> = subgroups
                .par_iter()
                .map(|&subgroup| {
                    let wanted = |d| passes(d, subgroup);
                    let found = self.pairs_of(audit, subgroup, &wanted, &kept);
                    p_values.take(found.iter().map(|(_, found)| found))?;
                    Ok(found)
                })
                .collect::<Result<_, Error>>()?;
            for (pair, found) in found.into_iter().flatten() {
                pairs.push(pair);
                family.found.push(Some(found));
            }
            family.prune();
        }
        let together = self.pairs_together(&pairs, &family, families, &|d, s| passes(d, s));
        let mut add: Vec<Vec<PairTested>> = tests.iter().map(|_| Vec::new()).collect();
        for ((pair, found), together) in pairs.iter().zip(&family.found).zip(together) {
            let all_groups = tests[pair.definition].tested[pair.subgroup];
            let subgroup = audit.subgroups[pair.subgroup].of_pair(pair.groups);
            let assessed = self.definitions[pair.definition].assess(&subgroup);
            let (Some(found), Some(assessed), Some(all_groups)) = (found, assessed, all_groups)
            else {
                continue;
            };
            add[pair.definition].push(PairTested {
                subgroup: pair.subgroup,
                groups: pair.groups,
                against: assessed.against.iter().map(|&g| pair.groups[g]).collect(),
                score: assessed.score,
                p: found.member.p,
                together: together.max(all_groups.together(tests.len())),
                source: found.source,
            });
        }
        for (tests, pairs) in tests.iter_mut().zip(add) {
            tests.pairs = pairs;
        }
        Ok(())
    }

    /// Tests all pairs of groups of one subgroup by the definitions that are wanted.
    fn pairs_of(
        &self,
        audit: &Audit,
        subgroup: usize,
        wanted: &dyn Fn(usize) -> bool,
        kept: &[f64],
    ) -> Vec<(FoundPair, Found)> {
        let groups = audit.groups.len();
        let pairs = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| [a, b]));
        let mut all = Vec::new();
        for groups in pairs {
            let two = audit.subgroups[subgroup].of_pair(groups);
            let found = self.subgroup(&two, Some(groups), wanted, kept);
            for (definition, found) in found.into_iter().enumerate() {
                let pair = FoundPair {
                    definition,
                    subgroup,
                    groups,
                };
                all.extend(found.map(|found| (pair, found)));
            }
        }
        all
    }

    /// The p-values of pairs after the step-down over them and over all that did not pass.
    fn pairs_together(
        &self,
        pairs: &[FoundPair],
        family: &Family,
        families: &[Family],
        passes: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<f64> {
        let mut members: Vec<&Member> = Vec::with_capacity(pairs.len());
        members.extend(family.found.iter().flatten().map(|found| &found.member));
        for (d, one) in families.iter().enumerate() {
            let found = one.found.iter().enumerate();
            let left = found.filter(|(subgroup, _)| !passes(d, *subgroup));
            members.extend(left.filter_map(|(_, found)| Some(&found.as_ref()?.member)));
        }
        let mut together = step_down(&members, self.gathering.shuffles, family.kept);
        together.truncate(pairs.len());
        together
    }
}
