//! How rare what is compared is: by permutations, and beyond them by a definition's own tail.

use std::cmp::Ordering;

use super::Source;
use crate::chance::UNHEARD_OF;
use crate::definitions::Definition;
use crate::distribution::{Pooled, SCORE_GAP, Statistic};

/// Up to this a p-value is the tail from pooled counts, beyond it what the permutations say. Fixed
/// beforehand, and the same however many permutations there are.
const SWITCH: f64 = 0.001;

/// What more permutations than this reach is left to them, if it is also more than
/// [`HARDLY_RARE`] of them.
const RARE: usize = 5;

/// See [`RARE`].
const HARDLY_RARE: f64 = 0.005;

/// Up to this share of the permutations, subgroups are compared by their tails; see [`Tails::scale`].
const RARE_SHARE: f64 = 0.1;

/// Of steps that so many times as few permutations reach, one tail is computed.
const THIN: usize = 3;

/// At least so many permutations say where the tail begins.
const FEWEST: usize = 10;

/// How rare what is compared is, in one subgroup under one definition.
///
/// The smaller of two p-values is none. So p is the tail where that is at most [`SWITCH`], and
/// elsewhere what the permutations say plus as much. That p is at most x then has a chance of at most x:
/// up to the switch only the tail can make it so small; beyond it either the tail is at most the
/// switch, or the permutations say at most x less the switch. And more permutations never make p larger
/// but by chance.
pub(super) struct Tails<'a> {
    definition: &'a dyn Definition,
    pooled: &'a Pooled<'a>,
    /// How many permutations there are, what was found being one.
    permutations: f64,
    /// Whether the definition knows its tail.
    has_tail: bool,
}

impl<'a> Tails<'a> {
    pub(super) fn new(
        definition: &'a dyn Definition,
        pooled: &'a Pooled<'a>,
        shuffles: usize,
    ) -> Self {
        let most = Statistic::of_score(f64::INFINITY);
        Self {
            definition,
            pooled,
            permutations: (shuffles + 1) as f64,
            has_tail: definition.chance(pooled, most).is_some(),
        }
    }

    /// The p-value of what so many permutations reach, itself among them.
    pub(super) fn p(&self, least: Statistic, reached: usize) -> (f64, Source) {
        let share = reached as f64 / self.permutations;
        if !self.has_tail {
            return (share.min(1.0), Source::Permutations);
        }
        let rare = reached <= RARE || share <= HARDLY_RARE;
        let tail = match rare && least.score > 0.0 {
            true => self.definition.chance(self.pooled, least),
            false => None,
        };
        match tail {
            Some(tail) if tail <= SWITCH => (tail.max(UNHEARD_OF), Source::Bound),
            _ => ((share + SWITCH).min(1.0), Source::Permutations),
        }
    }

    /// Whether what so many permutations reach, itself among them, passes at α.
    fn passes(&self, least: Statistic, reached: usize, alpha: f64) -> bool {
        let alpha = alpha * (1.0 + 1e-9);
        // Most often there is no need to ask for the tail.
        reached as f64 / self.permutations + SWITCH <= alpha || self.p(least, reached).0 <= alpha
    }

    /// How many of the greatest permutations are looked at one by one, if p-values up to `share` matter:
    /// beyond them nothing passes, is kept, or says where the tail begins.
    pub(super) fn looked_at(&self, share: f64) -> usize {
        let share = share.max(RARE_SHARE) * self.permutations;
        share as usize + RARE.max(FEWEST) + 1
    }

    /// What is told apart, the greatest first, with how many reach it: what was found is one of the
    /// permutations.
    pub(super) fn steps(&self, greatest: &Greatest, found: Statistic) -> Vec<Step> {
        let mut all = greatest.descending.clone();
        if greatest.holds(found) {
            all.push(found);
            all = descending(all);
        }
        let same = |a: &Statistic, b: &Statistic| a.ties_with(*b) && a.gap - b.gap < SCORE_GAP;
        let mut reached = 0;
        let steps = all.chunk_by(same).map(|tied| {
            reached += tied.len();
            self.step(tied[tied.len() - 1], reached)
        });
        let mut steps: Vec<Step> = steps.collect();
        let everything = self.permutations as usize;
        if greatest.is_all && reached < everything {
            steps.push(self.step(Statistic::of_score(0.0), everything));
        }
        steps
    }

    fn step(&self, least: Statistic, reached: usize) -> Step {
        Step {
            least,
            reached,
            scale: reached as f64 / self.permutations,
        }
    }

    /// How many permutations reach what was found, itself being one, and about how likely that is.
    pub(super) fn place(
        &self,
        steps: &[Step],
        drawn: &[Statistic],
        found: Statistic,
    ) -> (usize, f64) {
        let step = step_of(steps, found);
        if found.reaches(step.least) {
            return (step.reached, step.scale);
        }
        // Below all that was looked at one by one.
        let reached = drawn.iter().filter(|drawn| drawn.reaches(found)).count() + 1;
        let step = self.step(found, reached);
        (step.reached, step.scale)
    }

    /// By what subgroups of a family are compared with each other: about how likely each step is, the
    /// same for what was found and for every permutation.
    ///
    /// Permutations alone cannot say: the most extreme of each subgroup is one part in as many as there
    /// are of them, so in a large family every permutation is the most extreme of some subgroup, and
    /// nothing could ever be told from it. From where enough permutations say how likely something is,
    /// the tail from pooled counts therefore goes on, times what makes the two meet there. How far a
    /// tail is from the truth then hardly matters, nor how many permutations there are.
    pub(super) fn scale(&self, steps: &mut [Step]) {
        if !self.has_tail {
            return;
        }
        let enough = (RARE_SHARE * self.permutations).max(FEWEST as f64);
        let begins = steps.partition_point(|step| (step.reached as f64) < enough);
        let begins = begins.min(steps.len() - 1);
        let tail = |step: &Step| match step.least.score > 0.0 {
            true => self
                .definition
                .chance(self.pooled, step.least)
                .unwrap_or(1.0),
            false => 1.0,
        };
        let ln = |step: &Step| tail(step).max(UNHEARD_OF).ln();
        let meet = steps[begins].scale.ln() - ln(&steps[begins]);
        let (mut from, mut from_ln) = (begins, steps[begins].scale.ln());
        while from > 0 {
            // Tails change slowly: a few are computed, and those between them lie between them.
            let next = steps.partition_point(|step| step.reached * THIN <= steps[from].reached);
            let to = next.saturating_sub(1).min(from - 1);
            let to_ln = (ln(&steps[to]) + meet).min(from_ln);
            let of = |step: &Step| (step.reached as f64).ln();
            let (start, width) = (of(&steps[from]), of(&steps[to]) - of(&steps[from]));
            for step in &mut steps[to..from] {
                let part = (of(step) - start) / width;
                step.scale = (from_ln + part * (to_ln - from_ln)).exp().max(UNHEARD_OF);
            }
            (from, from_ln) = (to, to_ln);
        }
    }

    /// The least that would pass at α, alone, had it been found; none if nothing possible would. It
    /// does not depend on who belongs to which group: neither which tests are counted nor what they
    /// could have shown may be decided by what was found.
    pub(super) fn least(&self, greatest: &Greatest, alpha: f64) -> Option<Statistic> {
        let drawn = &greatest.descending;
        let mut all = drawn.clone();
        all.extend(self.definition.possible(self.pooled));
        all.retain(|statistic| statistic.score > 0.0);
        let mut all = descending(all);
        all.dedup();
        let passes = |&statistic: &Statistic| {
            let reached = drawn.partition_point(|drawn| drawn.reaches(statistic));
            self.passes(statistic, reached + 1, alpha)
        };
        let least = all[..all.partition_point(passes)].last().copied()?;
        // What no permutation showed may be impossible, and then so is all that is greater.
        let seen = drawn.first().is_some_and(|most| most.reaches(least));
        let chance = || self.definition.chance(self.pooled, least);
        (seen || chance().is_none_or(|chance| chance > 0.0)).then_some(least)
    }
}

/// The greatest of what permutations show.
pub(super) struct Greatest {
    /// Scores above 0, the greatest first.
    descending: Vec<Statistic>,
    /// Whether every score above 0 is among them.
    is_all: bool,
}

impl Greatest {
    /// So many of those with a score above 0, and all that are the same as the last of them.
    pub(super) fn of(drawn: &[Statistic], many: usize) -> Self {
        let positive = drawn.iter().filter(|drawn| drawn.score > 0.0);
        let mut greatest: Vec<Statistic> = positive.copied().collect();
        let is_all = greatest.len() <= many;
        if !is_all {
            let (_, last, rest) = greatest.select_nth_unstable_by(many - 1, greater_first);
            let last = *last;
            let rest = rest.to_vec();
            // Scores that are the same though not to the last digit are not in order yet.
            let in_order = |other: &Statistic| other.score == last.score || !other.ties_with(last);
            let is_same: fn(Statistic, Statistic) -> bool = match greatest.iter().all(in_order) {
                true => Statistic::reaches,
                false => Statistic::ties_with,
            };
            greatest.truncate(many);
            greatest.extend(rest.into_iter().filter(|&other| is_same(other, last)));
        }
        Self {
            descending: descending(greatest),
            is_all,
        }
    }

    /// Whether a score above 0 has its place among these.
    fn holds(&self, statistic: Statistic) -> bool {
        let last = self.descending.last();
        let not_below = self.is_all || last.is_some_and(|last| statistic.reaches(*last));
        statistic.score > 0.0 && not_below
    }
}

/// The first step that something reaches; the last if it reaches none.
pub(super) fn step_of(steps: &[Step], statistic: Statistic) -> &Step {
    let step = steps.partition_point(|step| !statistic.reaches(step.least));
    &steps[step.min(steps.len() - 1)]
}

fn greater_first(a: &Statistic, b: &Statistic) -> Ordering {
    let by_score = b.score.total_cmp(&a.score);
    by_score.then_with(|| b.gap.total_cmp(&a.gap))
}

/// The greatest first: by score, of which those that are the same become the same number, then by gap.
fn descending(mut all: Vec<Statistic>) -> Vec<Statistic> {
    all.sort_by(greater_first);
    for tied in all.chunk_by_mut(|a, b| a.ties_with(*b)) {
        let score = tied[tied.len() - 1].score;
        for statistic in tied.iter_mut() {
            statistic.score = score;
        }
        tied.sort_by(|a, b| b.gap.total_cmp(&a.gap));
    }
    all
}

/// What is told apart from anything smaller.
pub(super) struct Step {
    pub(super) least: Statistic,
    /// How many permutations reach it, what was found being one.
    pub(super) reached: usize,
    /// About how likely that is.
    pub(super) scale: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chance::Factorials;
    use crate::definitions;
    use crate::distribution::Subgroup;

    /// A score and a gap that often tie, some of them but for rounding.
    fn statistic() -> impl Strategy<Value = Statistic> {
        (0u8..6, 0u8..3, 0u8..8).prop_map(|(score, off, gap)| Statistic {
            score: match score {
                0 => 0.0,
                5 => f64::INFINITY,
                score => f64::from(score) + f64::from(off) * 1e-13,
            },
            gap: if score == 0 {
                0.0
            } else {
                f64::from(gap) / 7.0
            },
        })
    }

    proptest! {
        /// Looking at the greatest alone says the same as looking at all of them.
        #[test]
        fn the_greatest_are_enough(
            drawn in prop::collection::vec(statistic(), 60..400), found in statistic(), kept in 0.0f64..0.6,
        ) {
            let factorials = Factorials::up_to(1);
            let layout = crate::bits::Layout::new(&[Vec::new(), Vec::new()]);
            let everybody = crate::subgroups::Predicate::new(Vec::new());
            let subgroup = Subgroup::count(everybody, &[1, 1], &[], &[], &[], &layout);
            let pooled = Pooled::new(&subgroup, &[], &factorials);
            let definition = definitions::parse("equal-effectiveness:micro").unwrap();
            let tails = Tails::new(definition.as_ref(), &pooled, drawn.len());
            let few = Greatest::of(&drawn, tails.looked_at(kept));
            let all = Greatest::of(&drawn, usize::MAX);
            let (steps, all_steps) = (tails.steps(&few, found), tails.steps(&all, found));
            let matters = all_steps.iter().filter(|step| step.scale <= kept.max(RARE_SHARE));
            for (step, matters) in steps.iter().zip(matters) {
                prop_assert_eq!(step.reached, matters.reached);
                prop_assert!(step.least.ties_with(matters.least) && step.least.gap == matters.least.gap);
            }
            prop_assert!(steps.last().is_some_and(|last| last.scale > kept));
            let (place, in_all) = (tails.place(&steps, &drawn, found), tails.place(&all_steps, &drawn, found));
            prop_assert_eq!(place, in_all);
        }
    }
}
