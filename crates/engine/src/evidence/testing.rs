//! Testing every subgroup under every definition.
//!
//! For each subgroup the members are dealt out by lot many times ([`Dealing`]), and every definition
//! scores each deal. A p-value is exact where one count decides between two groups; otherwise it is
//! the share of deals that score as much, or, where that is too small for the shuffles to tell, the
//! definition's own [bound](crate::definitions::Definition::chance).

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::dealing::{Dealing, LANES};
use super::family::{Member, cut_off, false_discovery, step_down};
use super::hypergeometric::{Factorials, Fisher, Hypergeometric, UNHEARD_OF};
use super::lot::Lot;
use super::pooled::Pooled;
use super::{Gathering, Source, Tested, Tests};
use crate::definitions::{Definition, SCORE_GAP, Tally};
use crate::distribution::{Share, Subgroup};
use crate::error::Error;
use crate::watch::{Phase, Watch};
use crate::{Audit, Individuals};

/// Of each family, about so many p-values of shuffles are kept, the smallest ones: enough to tell
/// what is rare among all of them, and few enough to fit in memory.
const KEPT: f64 = 700_000.0;

/// A score that at least this many deals reach is left to the shuffles; rarer ones are bounded.
const RARE: usize = 20;

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
        return Err(Error::TooManyToDeal {
            people: people.unwrap_or_default(),
        });
    }
    let testing = Testing {
        individuals,
        definitions,
        gathering,
        factorials: Factorials::up_to(people.unwrap_or(0)),
        kept: (KEPT / (total as f64 * gathering.shuffles as f64)).min(1.0),
    };
    let found: Vec<Vec<Option<Found>>> = audit
        .subgroups
        .par_iter()
        .map(|subgroup| {
            let found = testing.subgroup(subgroup);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch.tell(Phase::Evidence, done, total)?;
            Ok(found)
        })
        .collect::<Result<_, Error>>()?;
    let mut families: Vec<Vec<Option<Found>>> = definitions
        .iter()
        .map(|_| Vec::with_capacity(found.len()))
        .collect();
    for by_definition in found {
        for (family, found) in families.iter_mut().zip(by_definition) {
            family.push(found);
        }
    }
    let families = families.into_par_iter().zip(definitions);
    Ok(families
        .map(|(family, definition)| testing.family(definition.id(), family))
        .collect())
}

struct Testing<'a> {
    individuals: &'a Individuals,
    definitions: &'a [Box<dyn Definition>],
    gathering: &'a Gathering,
    factorials: Factorials,
    /// p-values of shuffles up to this are kept.
    kept: f64,
}

/// What is known of one subgroup under one definition before the others are looked at.
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
    /// By scoring each deal.
    Shuffles,
    /// Not at all: a count that is needed was suppressed.
    Nothing,
}

impl Testing<'_> {
    fn subgroup(&self, subgroup: &Subgroup) -> Vec<Option<Found>> {
        let mut dealing = Dealing::new(self.individuals, subgroup);
        let totals = dealing.totals().to_vec();
        let plans: Vec<Plan<'_>> = self
            .definitions
            .iter()
            .map(|definition| self.plan(definition.as_ref(), subgroup, &totals))
            .collect();
        let drawn = self.drawn(&plans, &mut dealing, subgroup);
        let pooled = Pooled::new(subgroup, &totals, &self.factorials);
        let plans = plans.iter().zip(self.definitions).zip(drawn);
        plans
            .map(|((plan, definition), drawn)| match plan {
                Plan::Nothing => None,
                Plan::Exact { law, fisher, .. } => {
                    let count = self.tallied(definition.as_ref(), subgroup)?;
                    Some(self.exact(*law, fisher, count, &drawn, &subgroup.members))
                }
                Plan::Shuffles => {
                    let score = definition.assess(subgroup)?.score;
                    Some(self.by_shuffles(definition.as_ref(), &pooled, score, &drawn))
                }
            })
            .collect()
    }

    /// What each definition says in each deal: its score, or the p-value where that is exact.
    fn drawn(
        &self,
        plans: &[Plan<'_>],
        dealing: &mut Dealing,
        subgroup: &Subgroup,
    ) -> Vec<Vec<f64>> {
        let mut counts = vec![0; dealing.totals().len() * subgroup.groups()];
        let mut scratch = subgroup.clone();
        let mut drawn: Vec<Vec<f64>> = plans
            .iter()
            .map(|_| Vec::with_capacity(self.gathering.shuffles))
            .collect();
        let lot = Lot::new(self.gathering.seed);
        for shuffle in 0..self.gathering.shuffles {
            let lane = shuffle % LANES;
            if lane == 0 {
                dealing.deal(lot, shuffle as u64);
            }
            if plans.iter().any(|plan| matches!(plan, Plan::Shuffles)) {
                dealing.counts(lane, &mut counts);
                scratch.recount(&counts);
            }
            for ((plan, definition), drawn) in plans.iter().zip(self.definitions).zip(&mut drawn) {
                match plan {
                    Plan::Exact { set, fisher, .. } => {
                        drawn.push(fisher.p(dealing.count_of_first(*set, lane)));
                    }
                    Plan::Shuffles => {
                        // Counts of a deal are all known.
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
            return Plan::Shuffles;
        };
        let Some(tally) = definition.decided_by(subgroup) else {
            return Plan::Shuffles;
        };
        let set = match tally {
            Tally::Flipped { action } => action,
            Tally::Reached { level } => subgroup.actions.len() + level,
        };
        let law = Hypergeometric::new(&self.factorials, first + second, totals[set], first);
        Plan::Exact {
            set,
            law,
            fisher: law.fisher(),
        }
    }

    /// How many of the first group are in the count that decides.
    fn tallied(&self, definition: &dyn Definition, subgroup: &Subgroup) -> Option<u64> {
        match definition.decided_by(subgroup)? {
            Tally::Flipped { action } => subgroup.flips(action, 0).known(),
            Tally::Reached { level } => Some(
                subgroup
                    .ecd(crate::distribution::Viewpoint::Micro, 0, level + 1)?
                    .part,
            ),
        }
    }

    fn exact(
        &self,
        law: Hypergeometric<'_>,
        fisher: &Fisher,
        count: u64,
        drawn: &[f64],
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
                shuffled: self.keep(drawn.iter().copied()),
                could_pass: least_score.is_some(),
            },
            source: Source::Exact,
            least_score,
        }
    }

    fn by_shuffles(
        &self,
        definition: &dyn Definition,
        pooled: &Pooled<'_>,
        score: f64,
        drawn: &[f64],
    ) -> Found {
        // What was found counts as one of the deals.
        let mut sorted: Vec<f64> = drawn.iter().copied().chain([score]).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let steps = self.steps(definition, pooled, &sorted);
        let of = |score: f64| {
            let step = steps.partition_point(|step| step.score > score + SCORE_GAP);
            &steps[step.min(steps.len() - 1)]
        };
        let alpha = self.gathering.alpha;
        let passing = steps
            .iter()
            .filter(|step| step.p <= alpha && step.score > 0.0);
        let least_score = passing.map(|step| step.score).min_by(f64::total_cmp);
        Found {
            member: Member {
                p: of(score).p,
                shuffled: self.keep(drawn.iter().map(|&score| of(score).p)),
                could_pass: least_score.is_some(),
            },
            source: of(score).source,
            least_score,
        }
    }

    /// The p-value of each distinct score, the greatest first.
    fn steps(&self, definition: &dyn Definition, pooled: &Pooled<'_>, sorted: &[f64]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut reached = 0;
        let same = |a: &f64, b: &f64| a == b || a - b < SCORE_GAP;
        for tied in sorted.chunk_by(same) {
            reached += tied.len();
            let mut step = Step {
                score: tied[tied.len() - 1],
                p: reached as f64 / sorted.len() as f64,
                source: Source::Shuffles,
            };
            if reached <= RARE
                && step.score > 0.0
                && let Some(bound) = definition.chance(pooled, step.score)
                && bound < step.p
            {
                step.p = bound.max(UNHEARD_OF);
                step.source = Source::Bound;
            }
            // A greater score is not likelier.
            if let Some(before) = steps.last()
                && before.p > step.p
            {
                step.p = before.p;
            }
            steps.push(step);
        }
        steps
    }

    fn keep(&self, p: impl Iterator<Item = f64>) -> Vec<(u32, f64)> {
        (0..).zip(p).filter(|&(_, p)| p <= self.kept).collect()
    }

    fn family(&self, definition: String, found: Vec<Option<Found>>) -> Tests {
        let shuffles = self.gathering.shuffles;
        let mut rest = Vec::with_capacity(found.len());
        let mut members = Vec::with_capacity(found.len());
        for found in found {
            rest.push(found.map(|found| {
                members.push(found.member);
                (found.source, found.least_score)
            }));
        }
        let family_wise = step_down(&members, shuffles, self.kept);
        let false_discovery = false_discovery(&members);
        let mut adjusted = members.iter().zip(family_wise).zip(false_discovery);
        let tested = rest.into_iter().map(|rest| {
            let (source, least_score) = rest?;
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
            cut_off: cut_off(&members, shuffles, self.gathering.alpha),
            definition,
        }
    }
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
