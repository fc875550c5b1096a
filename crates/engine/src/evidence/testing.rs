//! Testing every subgroup under every definition.
//!
//! For each subgroup the group labels of its members are permuted many times ([`Permutations`]), and
//! every definition scores each permutation. A p-value is exact (Fisher's test) where one count
//! decides between two groups; otherwise it is that of a permutation test: the share of permutations
//! that score as much, ties broken by the gap, or, where that is too small for them to tell, the
//! definition's own [tail](Definition::chance).

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::family::{Member, cut_off, false_discovery, step_down};
use super::memory::PValues;
use super::permutation::{LANES, Permutations};
use super::tails::{Greatest, Step, Tails, step_of};
use super::{Gathering, Source, Tested, Tests};
use crate::audit::{Audit, Individuals};
use crate::chance::{Factorials, Fisher, Hypergeometric, Stream};
use crate::definitions::Definition;
use crate::distribution::{DecidingCount, Pooled, Share, Statistic, Subgroup, Viewpoint};
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// Of each family, at most so many p-values of permutations are kept, the smallest ones: enough to
/// tell what is rare among all of them, and few enough to fit in memory.
pub(super) const KEPT: usize = 1_000_000;

/// About so many p-values of a family come in before it is seen whether they are too many.
const AT_ONCE: f64 = 500_000.0;

/// Tests the subgroups of an audit by each definition.
///
/// `individuals` must be those of the same audit; counts that were suppressed since do not matter,
/// but what cannot be ranked without them is not tested.
pub fn test(
    audit: &Audit,
    individuals: &Individuals,
    definitions: &[Box<dyn Definition>],
    gathering: &Gathering,
    watch: Watch<'_>,
) -> Result<Vec<Tests>, Error> {
    let total = audit.subgroups.len() as u64;
    let done = AtomicU64::new(0);
    watch.tell(Phase::Evidence, 0, total)?;
    let people = audit.subgroups.iter().map(Subgroup::people).max();
    if people.is_some_and(|people| u32::try_from(people).is_err()) {
        return Err(Error::TooManyToPermute(people.unwrap_or_default()));
    }
    // All of them if they are few; but what is above α cannot pass, whatever the others are.
    let share = (KEPT / 2) as f64 / (total.max(1) as f64 * gathering.shuffles.max(1) as f64);
    let kept = share.max(gathering.alpha).min(1.0);
    let expected = kept * gathering.shuffles as f64;
    let at_once = (AT_ONCE / expected.max(1.0)).clamp(8.0, 512.0) as usize;
    let mut p_values = PValues::new(audit, individuals, definitions.len(), gathering)?;
    let testing = Testing {
        individuals,
        definitions,
        gathering,
        factorials: Factorials::up_to(people.unwrap_or(0)),
    };
    let mut families: Vec<Family> = definitions
        .iter()
        .map(|_| Family {
            found: Vec::with_capacity(audit.subgroups.len()),
            kept,
        })
        .collect();
    for subgroups in audit.subgroups.chunks(at_once) {
        let kept: Vec<f64> = families.iter().map(|family| family.kept).collect();
        let tested = families.first().map_or(0, |family| family.found.len());
        p_values.before(families.iter(), audit.subgroups.len() - tested);
        let found: Vec<Vec<Option<Found>>> = subgroups
            .par_iter()
            .map(|subgroup| {
                let found = testing.subgroup(subgroup, None, &|_| true, &kept);
                p_values.take(found.iter().flatten())?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch.tell(Phase::Evidence, done, total)?;
                Ok(found)
            })
            .collect::<Result<_, Error>>()?;
        for by_definition in found {
            for (family, found) in families.iter_mut().zip(by_definition) {
                family.found.push(found);
            }
        }
        families.par_iter_mut().for_each(Family::prune);
    }
    let mut tests = testing.families(&families);
    if audit.groups.len() > 2 {
        testing.add_pairs(audit, &families, &mut tests, p_values, watch)?;
    }
    Ok(tests)
}

/// What is known of all subgroups under one definition.
pub(super) struct Family {
    pub(super) found: Vec<Option<Found>>,
    /// p-values of permutations up to this are kept.
    pub(super) kept: f64,
}

impl Family {
    /// Forgets the larger half of the p-values of permutations if there are too many of them.
    pub(super) fn prune(&mut self) {
        let permuted = || (self.found.iter().flatten()).map(|found| &found.member.permuted);
        if permuted().map(Vec::len).sum::<usize>() <= KEPT {
            return;
        }
        let mut all: Vec<f64> = permuted().flatten().map(|&(_, p)| p).collect();
        let (_, &mut middle, _) = all.select_nth_unstable_by(KEPT / 2, f64::total_cmp);
        // A hair below, so that all that equal what is kept are kept.
        self.kept = middle * (1.0 - 1e-6);
        for found in self.found.iter_mut().flatten() {
            found.member.permuted.retain(|&(_, p)| p <= self.kept);
            found.member.permuted.shrink_to_fit();
        }
    }
}

pub(super) struct Testing<'a> {
    individuals: &'a Individuals,
    pub(super) definitions: &'a [Box<dyn Definition>],
    pub(super) gathering: &'a Gathering,
    factorials: Factorials,
}

/// What is known of one subgroup under one definition before the others are looked at.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) member: Member,
    pub(super) source: Source,
    /// The least that would have passed alone.
    least: Option<Statistic>,
    /// How likely the gap that breaks ties is.
    gap_p: Option<f64>,
}

/// How one definition is tested in one subgroup.
enum Plan<'a> {
    /// By one count alone: the p-value for each number there can be in the first group.
    Exact {
        /// Where the count stands among all.
        set: usize,
        law: Hypergeometric<'a>,
        fisher: Fisher,
    },
    /// By scoring each permutation.
    Permutations,
    /// As by permutations, but the score is 0 in each of them, and none is made.
    Never,
    /// Not at all: it is not wanted, or a count that is needed was suppressed.
    Nothing,
}

impl Testing<'_> {
    /// Tests one subgroup, or two of its groups, which it must then consist of, by the definitions that
    /// are wanted; of each definition, p-values of permutations up to `kept` are kept.
    pub(super) fn subgroup(
        &self,
        subgroup: &Subgroup,
        pair: Option<[usize; 2]>,
        wanted: &dyn Fn(usize) -> bool,
        kept: &[f64],
    ) -> Vec<Option<Found>> {
        let mut permutations = Permutations::new(self.individuals, subgroup, pair);
        let totals = permutations.totals.clone();
        let pooled = Pooled::new(subgroup, &totals, &self.factorials);
        let plans: Vec<Plan<'_>> = self
            .definitions
            .iter()
            .enumerate()
            .map(|(d, definition)| match wanted(d) {
                true => self.plan(definition.as_ref(), subgroup, &totals, &pooled),
                false => Plan::Nothing,
            })
            .collect();
        let drawn = self.drawn(&plans, &mut permutations, subgroup);
        let plans = plans.iter().zip(self.definitions).zip(drawn);
        plans
            .zip(kept)
            .map(|(((plan, definition), drawn), &kept)| match plan {
                Plan::Nothing => None,
                Plan::Exact { law, fisher, .. } => {
                    let count = self.count_of_first(definition.as_ref(), subgroup)?;
                    let mut found = self.exact(*law, fisher, count, &subgroup.members);
                    found.member.permuted = keep(drawn.iter().map(|drawn| drawn.score), kept);
                    Some(found)
                }
                Plan::Permutations | Plan::Never => {
                    let found = definition.statistic(subgroup)?;
                    let mut found =
                        self.by_permutations(definition.as_ref(), &pooled, found, drawn, kept);
                    let gap_p = definition.chance_of_gap(subgroup, &pooled);
                    found.gap_p = gap_p.map(|p| p.min(1.0));
                    Some(found)
                }
            })
            .collect()
    }

    /// What each definition says in each permutation: what is compared, or, in place of the score, the
    /// p-value where that is exact.
    fn drawn(
        &self,
        plans: &[Plan<'_>],
        permutations: &mut Permutations,
        subgroup: &Subgroup,
    ) -> Vec<Vec<Statistic>> {
        let mut counts = vec![0; permutations.totals.len() * subgroup.groups()];
        let mut scratch = subgroup.clone();
        let nothing = Statistic::of_score(0.0);
        let shuffles = self.gathering.shuffles;
        let none_yet = |plan: &Plan<'_>| match plan {
            Plan::Never => vec![nothing; shuffles],
            _ => Vec::with_capacity(shuffles),
        };
        let mut drawn: Vec<Vec<Statistic>> = plans.iter().map(none_yet).collect();
        let stream = Stream::new(self.gathering.seed);
        for permutation in 0..shuffles {
            let lane = permutation % LANES;
            if lane == 0 {
                permutations.permute(stream, permutation as u64);
            }
            if plans.iter().any(|plan| matches!(plan, Plan::Permutations)) {
                permutations.counts(lane, &mut counts);
                scratch.recount(&counts);
            }
            for ((plan, definition), drawn) in plans.iter().zip(self.definitions).zip(&mut drawn) {
                match plan {
                    Plan::Exact { set, fisher, .. } => {
                        let p = fisher.p(permutations.count_of_first(*set, lane));
                        drawn.push(Statistic::of_score(p));
                    }
                    Plan::Permutations => {
                        // Counts of a permutation are all known.
                        drawn.push(definition.statistic(&scratch).unwrap_or(nothing));
                    }
                    Plan::Never | Plan::Nothing => {}
                }
            }
        }
        drawn
    }

    fn plan(
        &self,
        definition: &dyn Definition,
        subgroup: &Subgroup,
        totals: &[u64],
        pooled: &Pooled<'_>,
    ) -> Plan<'_> {
        if definition.assess(subgroup).is_none() {
            return Plan::Nothing;
        }
        if !definition.could_differ(pooled) {
            return Plan::Never;
        }
        let [first, second] = *subgroup.members else {
            return Plan::Permutations;
        };
        let Some(count) = definition.decided_by(subgroup) else {
            return Plan::Permutations;
        };
        let set = match count {
            DecidingCount::Flipped { action } => action,
            DecidingCount::Reached { level } => subgroup.actions.len() + level,
        };
        let law = Hypergeometric::new(&self.factorials, first + second, totals[set], first);
        Plan::Exact {
            set,
            law,
            fisher: law.fisher(),
        }
    }

    /// How many of the first group are in the count that decides.
    fn count_of_first(&self, definition: &dyn Definition, subgroup: &Subgroup) -> Option<u64> {
        match definition.decided_by(subgroup)? {
            DecidingCount::Flipped { action } => subgroup.flips(action, 0).known(),
            DecidingCount::Reached { level } => {
                Some(subgroup.ecd(Viewpoint::Micro, 0, level + 1)?.part)
            }
        }
    }

    fn exact(
        &self,
        law: Hypergeometric<'_>,
        fisher: &Fisher,
        count: u64,
        members: &[u64],
    ) -> Found {
        let gap = |first: u64| {
            let second = law.marked() - first;
            Share::new(first, members[0]).gap(Share::new(second, members[1]))
        };
        let least_score = least_passing(
            fisher.iter().map(|(first, p)| (gap(first), p)),
            self.gathering.alpha,
        );
        let p = fisher.p(count);
        Found {
            member: Member {
                p,
                scale: p,
                permuted: Vec::new(),
                could_pass: least_score.is_some(),
            },
            source: Source::Exact,
            least: least_score.map(Statistic::of_score),
            gap_p: None,
        }
    }

    fn by_permutations(
        &self,
        definition: &dyn Definition,
        pooled: &Pooled<'_>,
        found: Statistic,
        drawn: Vec<Statistic>,
        kept: f64,
    ) -> Found {
        let tails = Tails::new(definition, pooled, self.gathering.shuffles);
        let alpha = self.gathering.alpha;
        let greatest = Greatest::of(&drawn, tails.looked_at(kept.max(alpha)));
        let mut steps = tails.steps(&greatest, found);
        tails.scale(&mut steps);
        let permuted = keep_up_to(&steps, &drawn, kept);
        let (reached, scale) = tails.place(&steps, &drawn, found);
        let (p, source) = match found.score > 0.0 {
            true => tails.p(found, reached),
            false => (1.0, Source::Permutations),
        };
        let least = tails.least(&greatest, alpha);
        Found {
            member: Member {
                p,
                scale,
                permuted,
                could_pass: least.is_some(),
            },
            source,
            least,
            gap_p: None,
        }
    }

    /// What the tests of all definitions come to: each family by itself, and all of them together.
    fn families(&self, families: &[Family]) -> Vec<Tests> {
        let shuffles = self.gathering.shuffles;
        let kept = families.iter().map(|family| family.kept);
        let least_kept = kept.fold(1.0, f64::min);
        let all = families
            .iter()
            .flat_map(|family| family.found.iter().flatten());
        let members: Vec<&Member> = all.map(|found| &found.member).collect();
        let together = step_down(&members, shuffles, least_kept);
        let cut_off_together = cut_off(&members, shuffles, self.gathering.alpha, least_kept);
        let mut together = together.into_iter();
        let mut parts = Vec::with_capacity(families.len());
        for family in families {
            let tested = family.found.iter().flatten().count();
            parts.push((family, together.by_ref().take(tested).collect::<Vec<f64>>()));
        }
        let parts = parts.into_par_iter().zip(self.definitions);
        parts
            .map(|((family, together), definition)| Tests {
                cut_off_together,
                ..self.family(definition.id(), family, together)
            })
            .collect()
    }

    fn family(&self, definition: String, family: &Family, together: Vec<f64>) -> Tests {
        let (shuffles, kept) = (self.gathering.shuffles, family.kept);
        let found = family.found.iter();
        let members: Vec<&Member> = found.clone().flatten().map(|found| &found.member).collect();
        let family_wise = step_down(&members, shuffles, kept);
        let false_discovery = false_discovery(&members);
        let mut adjusted = family_wise.into_iter().zip(false_discovery).zip(together);
        let tested = found.map(|found| {
            let found = found.as_ref()?;
            let ((family_wise, false_discovery), together) = adjusted.next()?;
            Some(Tested {
                p: found.member.p,
                family_wise,
                // Who passes among more passes among fewer.
                together: Some(together.max(family_wise)),
                false_discovery,
                source: found.source,
                least_score: found.least.map(|least| least.score),
                least_gap: found.least.map_or(0.0, |least| least.gap),
                gap_p: found.gap_p,
            })
        });
        Tests {
            tested: tested.collect(),
            cut_off: cut_off(&members, shuffles, self.gathering.alpha, kept),
            cut_off_together: None,
            pairs: Vec::new(),
            definition,
        }
    }
}

/// The p-values of permutations up to `kept`, with the number of the permutation.
fn keep(permuted: impl Iterator<Item = f64>, kept: f64) -> Vec<(u32, f64)> {
    let mut few: Vec<(u32, f64)> = (0..).zip(permuted).filter(|&(_, p)| p <= kept).collect();
    few.shrink_to_fit();
    few
}

/// The same for what was drawn, by the steps it stands on.
fn keep_up_to(steps: &[Step], drawn: &[Statistic], kept: f64) -> Vec<(u32, f64)> {
    // Steps grow likelier one by one: most of what was drawn is beyond the last that is kept.
    let few = &steps[..steps.partition_point(|step| step.scale <= kept)];
    let Some(last) = few.last() else {
        return Vec::new();
    };
    let numbered = (0..).zip(drawn);
    numbered
        .filter(|(_, drawn)| drawn.reaches(last.least))
        .map(|(permutation, &drawn)| (permutation, step_of(few, drawn).scale))
        .collect()
}

/// The smallest score from which on all pass at α. A gap in favour of one group may pass where a
/// larger one in favour of the other does not; if there is no such score, the smallest that passes.
fn least_passing(scores: impl Iterator<Item = (f64, f64)> + Clone, alpha: f64) -> Option<f64> {
    let failing = scores.clone().filter(|&(_, p)| p > alpha);
    let most = failing.map(|(score, _)| score).fold(0.0, f64::max);
    let passing = scores.filter(|&(_, p)| p <= alpha).map(|(score, _)| score);
    let beyond = passing.clone().filter(|&score| score > most);
    beyond
        .min_by(f64::total_cmp)
        .or(passing.min_by(f64::total_cmp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_p_values_the_smallest_are_kept() {
        let of = |tests: usize| {
            // As many of each as there are tests.
            let permuted: Vec<(u32, f64)> =
                (0..1000).map(|i| (i, f64::from(i + 1) / 1e4)).collect();
            let found = Found {
                member: Member {
                    p: 0.02,
                    scale: 0.02,
                    permuted,
                    could_pass: true,
                },
                source: Source::Permutations,
                least: None,
                gap_p: None,
            };
            let found = std::iter::repeat_with(|| Some(found.clone())).take(tests);
            let mut family = Family {
                found: found.collect(),
                kept: 0.1,
            };
            family.prune();
            family
        };
        let few = of(KEPT / 1000);
        assert_eq!(few.kept, 0.1);
        let many = of(KEPT / 1000 + 1);
        assert!(many.kept < 0.05 && many.kept > 0.049, "{}", many.kept);
        for found in many.found.iter().flatten() {
            let kept = &found.member.permuted;
            assert_eq!(kept.last().unwrap().1, 0.0499);
            assert!(kept.iter().all(|&(_, p)| p <= many.kept));
        }
    }
}
