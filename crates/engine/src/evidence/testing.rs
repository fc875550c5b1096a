//! Testing every subgroup under every definition.
//!
//! For each subgroup the group labels of its members are permuted many times ([`Permutations`]), and
//! every definition scores each permutation. A p-value is exact (Fisher's test) where one count
//! decides between two groups; otherwise it is that of a permutation test: the share of permutations
//! that score as much, or, where that is too small for them to tell, the definition's own
//! [bound](Definition::chance).

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::family::{Member, cut_off, false_discovery, step_down};
use super::permutation::{LANES, Permutations};
use super::{Gathering, Source, Tested, Tests};
use crate::audit::{Audit, Individuals};
use crate::chance::{Factorials, Fisher, Hypergeometric, Stream, UNHEARD_OF};
use crate::definitions::Definition;
use crate::distribution::{DecidingCount, Pooled, SCORE_GAP, Share, Subgroup, Viewpoint};
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// Of each family, at most so many p-values of permutations are kept, the smallest ones: enough to
/// tell what is rare among all of them, and few enough to fit in memory.
const KEPT: usize = 1_000_000;

/// About so many p-values of a family come in before it is seen whether they are too many.
const AT_ONCE: f64 = 500_000.0;

/// A score that more permutations than this reach is left to them; rarer ones are bounded.
const RARE: usize = 5;

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
    let testing = Testing {
        individuals,
        definitions,
        gathering,
        factorials: Factorials::up_to(people.unwrap_or(0)),
    };
    // All of them if they are few; but what is above α cannot pass, whatever the others are.
    let share = (KEPT / 2) as f64 / (total.max(1) as f64 * gathering.shuffles.max(1) as f64);
    let kept = share.max(gathering.alpha).min(1.0);
    let mut families: Vec<Family> = definitions
        .iter()
        .map(|_| Family {
            found: Vec::with_capacity(audit.subgroups.len()),
            kept,
        })
        .collect();
    let expected = kept * gathering.shuffles as f64;
    let at_once = (AT_ONCE / expected.max(1.0)).clamp(8.0, 512.0) as usize;
    for subgroups in audit.subgroups.chunks(at_once) {
        let kept: Vec<f64> = families.iter().map(|family| family.kept).collect();
        let found: Vec<Vec<Option<Found>>> = subgroups
            .par_iter()
            .map(|subgroup| {
                let found = testing.subgroup(subgroup, &kept);
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
    let families = families.into_par_iter().zip(definitions);
    Ok(families
        .map(|(family, definition)| testing.family(definition.id(), family))
        .collect())
}

/// What is known of all subgroups under one definition.
struct Family {
    found: Vec<Option<Found>>,
    /// p-values of permutations up to this are kept.
    kept: f64,
}

impl Family {
    /// Forgets the larger half of the p-values of permutations if there are too many of them.
    fn prune(&mut self) {
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
        }
    }
}

struct Testing<'a> {
    individuals: &'a Individuals,
    definitions: &'a [Box<dyn Definition>],
    gathering: &'a Gathering,
    factorials: Factorials,
}

/// What is known of one subgroup under one definition before the others are looked at.
#[derive(Clone)]
struct Found {
    member: Member,
    source: Source,
    least_score: Option<f64>,
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
    /// Not at all: a count that is needed was suppressed.
    Nothing,
}

impl Testing<'_> {
    /// Tests one subgroup; of each definition, p-values of permutations up to `kept` are kept.
    fn subgroup(&self, subgroup: &Subgroup, kept: &[f64]) -> Vec<Option<Found>> {
        let mut permutations = Permutations::new(self.individuals, subgroup);
        let totals = permutations.totals.clone();
        let plans: Vec<Plan<'_>> = self
            .definitions
            .iter()
            .map(|definition| self.plan(definition.as_ref(), subgroup, &totals))
            .collect();
        let drawn = self.drawn(&plans, &mut permutations, subgroup);
        let pooled = Pooled::new(subgroup, &totals, &self.factorials);
        let plans = plans.iter().zip(self.definitions).zip(drawn);
        plans
            .zip(kept)
            .map(|(((plan, definition), drawn), &kept)| match plan {
                Plan::Nothing => None,
                Plan::Exact { law, fisher, .. } => {
                    let count = self.count_of_first(definition.as_ref(), subgroup)?;
                    let mut found = self.exact(*law, fisher, count, &subgroup.members);
                    found.member.permuted = keep(drawn.into_iter(), kept);
                    Some(found)
                }
                Plan::Permutations => {
                    let score = definition.assess(subgroup)?.score;
                    Some(self.by_permutations(definition.as_ref(), &pooled, score, drawn, kept))
                }
            })
            .collect()
    }

    /// What each definition says in each permutation: its score, or the p-value where that is exact.
    fn drawn(
        &self,
        plans: &[Plan<'_>],
        permutations: &mut Permutations,
        subgroup: &Subgroup,
    ) -> Vec<Vec<f64>> {
        let mut counts = vec![0; permutations.totals.len() * subgroup.groups()];
        let mut scratch = subgroup.clone();
        let mut drawn: Vec<Vec<f64>> = plans
            .iter()
            .map(|_| Vec::with_capacity(self.gathering.shuffles))
            .collect();
        let stream = Stream::new(self.gathering.seed);
        for permutation in 0..self.gathering.shuffles {
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
                        drawn.push(fisher.p(permutations.count_of_first(*set, lane)));
                    }
                    Plan::Permutations => {
                        // Counts of a permutation are all known.
                        drawn.push(definition.score(&scratch).unwrap_or(0.0));
                    }
                    Plan::Nothing => {}
                }
            }
        }
        drawn
    }

    fn plan(&self, definition: &dyn Definition, subgroup: &Subgroup, totals: &[u64]) -> Plan<'_> {
        if definition.assess(subgroup).is_none() {
            return Plan::Nothing;
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
        Found {
            member: Member {
                p: fisher.p(count),
                permuted: Vec::new(),
                could_pass: least_score.is_some(),
            },
            source: Source::Exact,
            least_score,
        }
    }

    fn by_permutations(
        &self,
        definition: &dyn Definition,
        pooled: &Pooled<'_>,
        score: f64,
        drawn: Vec<f64>,
        kept: f64,
    ) -> Found {
        // What was found counts as one of the permutations.
        let mut sorted: Vec<f64> = drawn.iter().copied().chain([score]).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let tails = Tails::new(definition, pooled, self.gathering.shuffles);
        let steps = tails.steps(&sorted);
        let of = |score: f64| {
            let step = steps.partition_point(|step| step.score > score + SCORE_GAP);
            &steps[step.min(steps.len() - 1)]
        };
        let permuted = keep(drawn.iter().map(|&score| of(score).p), kept);
        let least_score = tails.least_score(drawn, self.gathering.alpha);
        Found {
            member: Member {
                p: of(score).p,
                permuted,
                could_pass: least_score.is_some(),
            },
            source: of(score).source,
            least_score,
        }
    }

    fn family(&self, definition: String, Family { found, kept }: Family) -> Tests {
        let shuffles = self.gathering.shuffles;
        let mut sources = Vec::with_capacity(found.len());
        let mut members = Vec::with_capacity(found.len());
        for found in found {
            sources.push(found.map(|found| {
                members.push(found.member);
                (found.source, found.least_score)
            }));
        }
        let family_wise = step_down(&members, shuffles, kept);
        let false_discovery = false_discovery(&members);
        let mut adjusted = members.iter().zip(family_wise).zip(false_discovery);
        let tested = sources.into_iter().map(|known| {
            let (source, least_score) = known?;
            let ((member, family_wise), false_discovery) = adjusted.next()?;
            Some(Tested {
                p: member.p,
                family_wise,
                false_discovery,
                source,
                least_score,
            })
        });
        Tests {
            tested: tested.collect(),
            cut_off: cut_off(&members, shuffles, self.gathering.alpha, kept),
            definition,
        }
    }
}

/// How rare the scores of one subgroup under one definition are.
///
/// The smaller of two p-values is none. So the definition's bound counts where it is at most one part
/// in as many as there are permutations, and everywhere else that part is added to what they say: a
/// p-value of at most x then has a chance of at most x, since either the one is that small or the
/// other is.
struct Tails<'a> {
    definition: &'a dyn Definition,
    pooled: &'a Pooled<'a>,
    /// How many permutations there are, what was found being one.
    permutations: f64,
    /// Whether the definition bounds anything.
    is_bounded: bool,
}

impl<'a> Tails<'a> {
    fn new(definition: &'a dyn Definition, pooled: &'a Pooled<'a>, shuffles: usize) -> Self {
        Self {
            definition,
            pooled,
            permutations: (shuffles + 1) as f64,
            is_bounded: definition.chance(pooled, f64::INFINITY).is_some(),
        }
    }

    /// The p-value of a score that so many permutations reach, itself among them.
    fn p(&self, score: f64, reached: usize) -> (f64, Source) {
        if score > 0.0
            && reached <= RARE
            && let Some(bound) = self.definition.chance(self.pooled, score)
            && bound <= 1.0 / self.permutations
        {
            return (bound.max(UNHEARD_OF), Source::Bound);
        }
        let part = (reached + usize::from(self.is_bounded)) as f64 / self.permutations;
        (part.min(1.0), Source::Permutations)
    }

    /// The p-value of each distinct score, the greatest first.
    fn steps(&self, sorted: &[f64]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut reached = 0;
        let same = |a: &f64, b: &f64| a == b || a - b < SCORE_GAP;
        for tied in sorted.chunk_by(same) {
            reached += tied.len();
            let score = tied[tied.len() - 1];
            let (p, source) = self.p(score, reached);
            // A greater score is not likelier.
            let before = steps.last().map_or(0.0, |before| before.p);
            steps.push(Step {
                score,
                p: p.max(before),
                source,
            });
        }
        steps
    }

    /// The smallest score that would pass at α, alone, had it been found; none if no possible score
    /// would. It does not depend on who belongs to which group: neither which tests are counted nor
    /// what they could have shown may be decided by what was found.
    fn least_score(&self, mut drawn: Vec<f64>, alpha: f64) -> Option<f64> {
        drawn.sort_by(f64::total_cmp);
        let mut scores = self.definition.possible_scores(self.pooled);
        scores.extend(&drawn);
        scores.retain(|&score| score > 0.0);
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let fails = |&score: &f64| {
            let below = drawn.partition_point(|&drawn| drawn < score - SCORE_GAP);
            self.p(score, drawn.len() - below + 1).0 > alpha * (1.0 + 1e-9)
        };
        let least = *scores.get(scores.partition_point(fails))?;
        // What no permutation showed may be impossible, and then so is all that is greater.
        let seen = drawn.last().is_some_and(|&most| most >= least - SCORE_GAP);
        let chance = || self.definition.chance(self.pooled, least);
        (seen || chance().is_none_or(|chance| chance > 0.0)).then_some(least)
    }
}

/// The p-values of permutations up to `kept`, with the number of the permutation.
fn keep(permuted: impl Iterator<Item = f64>, kept: f64) -> Vec<(u32, f64)> {
    (0..).zip(permuted).filter(|&(_, p)| p <= kept).collect()
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

/// How likely a score, or a greater one, is.
struct Step {
    score: f64,
    p: f64,
    source: Source,
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
                    permuted,
                    could_pass: true,
                },
                source: Source::Permutations,
                least_score: None,
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
