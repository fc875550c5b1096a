//! A subgroup in which nobody knows who belongs to which group.
//!
//! What stays the same however the group labels are permuted: how many there are, how many of them each
//! action helps, and how many are reached at each cost. From these a definition can bound how
//! likely a score is under the null without a single permutation, far into tails that permutations
//! never reach.

mod draws;
mod means;

use super::{SCORE_GAP, Statistic, Subgroup, Viewpoint};
use crate::actions::COST_GAP;
use crate::chance::{Factorials, Hypergeometric};
use crate::decimal::Phi;

/// Up to so many people, all ways in which two groups of several can be ahead are added up.
const FEW: u64 = 20_000;

/// A subgroup with its groups forgotten.
#[derive(Debug)]
pub struct Pooled<'a> {
    /// The subgroup as it was found, for its actions and costs. Its counts by group are what chance
    /// is compared with, not what a bound may look at.
    subgroup: &'a Subgroup,
    people: u64,
    flips: &'a [u64],
    reached: &'a [u64],
    factorials: &'a Factorials,
}

impl<'a> Pooled<'a> {
    /// `totals` are the people each action flips, then those reached at each cost level.
    pub(crate) fn new(
        subgroup: &'a Subgroup,
        totals: &'a [u64],
        factorials: &'a Factorials,
    ) -> Self {
        let (flips, reached) = totals.split_at(subgroup.actions.len());
        Self {
            subgroup,
            people: subgroup.people(),
            flips,
            reached,
            factorials,
        }
    }

    /// What an effectiveness–cost distribution is made of, cheapest first: cost, and how many
    /// people it helps. Macro, one entry an action; micro, one a cost level.
    pub(crate) fn steps(&self, viewpoint: Viewpoint) -> Vec<(f64, u64)> {
        let levels = &self.subgroup.cost_levels;
        match viewpoint {
            Viewpoint::Micro => levels
                .iter()
                .copied()
                .zip(self.reached.iter().copied())
                .collect(),
            Viewpoint::Macro => {
                let actions = self.subgroup.actions.iter().zip(self.flips);
                let cost = |level: u32| levels[level as usize];
                actions
                    .map(|(action, &flips)| (cost(action.cost_level), flips))
                    .collect()
            }
        }
    }

    /// How many people one action helps.
    pub(crate) fn flipped(&self, action: usize) -> u64 {
        self.flips[action]
    }

    /// Members by group.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.subgroup.members
    }

    /// All ordered pairs of groups.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = self.subgroup.groups();
        (0..groups).flat_map(move |a| (0..groups).filter(move |&b| b != a).map(move |b| (a, b)))
    }

    /// The steps that help enough people for some group to reach φ by them.
    pub(crate) fn steps_to(&self, viewpoint: Viewpoint, phi: Phi) -> Vec<(f64, u64)> {
        let sizes = self.sizes().iter();
        let enough = sizes.map(|&size| phi.get().least_of(size)).min();
        let mut steps = self.steps(viewpoint);
        steps.retain(|&(_, helped)| enough.is_some_and(|enough| helped >= enough));
        steps
    }

    fn of_group(&self, g: usize, marked: u64) -> Hypergeometric<'a> {
        Hypergeometric::new(self.factorials, self.people, marked, self.sizes()[g])
    }

    /// How likely two groups' shares of `marked` people differ by at least `gap`, for any two.
    pub(crate) fn gap(&self, marked: u64, gap: f64) -> f64 {
        let gap = gap - SCORE_GAP;
        if gap <= 0.0 {
            return 1.0;
        }
        let pairs = self.pairs();
        pairs
            .map(|(a, b)| self.lead(a, b, marked, gap))
            .sum::<f64>()
            .min(1.0)
    }

    /// How likely the groups' effectiveness–cost distributions at a budget differ by at least `gap`;
    /// macro an upper bound: where the best of one group is ahead of the best of another, so is
    /// that action itself.
    pub(crate) fn gap_of_ecd(&self, viewpoint: Viewpoint, budget: f64, gap: f64) -> f64 {
        let mut steps = self.steps(viewpoint);
        steps.retain(|&(cost, _)| cost <= budget + COST_GAP);
        if viewpoint == Viewpoint::Micro {
            // All that counts is who has been reached in the end.
            steps.drain(..steps.len().saturating_sub(1));
        }
        if steps.is_empty() {
            return 1.0;
        }
        let chances = steps.into_iter().map(|(_, helped)| self.gap(helped, gap));
        chances.sum()
    }

    /// The widest gaps that there could be between two groups' shares of those whom one step helps.
    pub(crate) fn widest_gaps(&self, viewpoint: Viewpoint, budget: f64) -> Vec<Statistic> {
        let mut steps = self.steps(viewpoint);
        steps.retain(|&(cost, _)| cost <= budget + COST_GAP);
        let gaps = steps
            .into_iter()
            .flat_map(|(_, marked)| self.widest_gaps_of(marked));
        gaps.map(Statistic::of_score).collect()
    }

    /// By pair of groups, the widest gap that there could be between their shares of `marked` people.
    pub(crate) fn widest_gaps_of(&self, marked: u64) -> impl Iterator<Item = f64> {
        self.pairs().map(move |(a, b)| {
            let (na, nb) = (self.sizes()[a], self.sizes()[b]);
            let first = marked.min(na);
            // The others take in as many as they can before any falls to the second.
            let second = (marked - first).saturating_sub(self.people - na - nb);
            first as f64 / na as f64 - second as f64 / nb as f64
        })
    }

    /// How likely group `a`'s share of `marked` people is at least `gap` above group `b`'s.
    fn lead(&self, a: usize, b: usize, marked: u64, gap: f64) -> f64 {
        let (na, nb) = (self.sizes()[a], self.sizes()[b]);
        let least = |both: u64| self.needed_to_lead(a, b, both, gap);
        if na + nb == self.people {
            return self.of_group(a, marked).at_least(least(marked));
        }
        if self.people > FEW {
            return self.lead_apart(a, b, marked, gap);
        }
        let both = Hypergeometric::new(self.factorials, self.people, marked, na + nb);
        both.expected(|k| {
            let first = Hypergeometric::new(self.factorials, na + nb, k, na);
            first.at_least(least(k))
        })
    }

    /// An upper bound of [`lead`](Self::lead) where others take part and adding up takes too long: one
    /// share must be above that of all people by a part of the gap, or the other below it by the rest.
    fn lead_apart(&self, a: usize, b: usize, marked: u64, gap: f64) -> f64 {
        let (na, nb, all) = (
            self.sizes()[a] as f64,
            self.sizes()[b] as f64,
            self.people as f64,
        );
        // The gap is divided as the shares spread; any division gives a bound.
        let spread = |n: f64| ((all - n) / n).sqrt();
        let part = spread(na) / (spread(na) + spread(nb));
        let mean = marked as f64 / all;
        // A hair is given away on the safe side.
        let above = (mean + part * gap) * na * (1.0 - 1e-9);
        let below = (mean - (1.0 - part) * gap) * nb + 1e-9 * nb;
        let high = self.of_group(a, marked).at_least(above.ceil() as u64);
        if below < 0.0 {
            return high;
        }
        high + self.of_group(b, marked).at_most(below.floor() as u64)
    }

    /// How likely at least φ of group `a`, and less than φ of group `b`, are among `marked` people, the
    /// two shares at least `gap` apart; with more than two groups an upper bound.
    pub(crate) fn only_reaches(&self, a: usize, b: usize, marked: u64, phi: Phi, gap: f64) -> f64 {
        let enough = phi.get().least_of(self.sizes()[a]);
        let gap = gap - SCORE_GAP;
        if self.subgroup.groups() > 2 {
            let reaches = self.of_group(a, marked).at_least(enough);
            let either = reaches.min(self.short_of(b, marked, phi));
            return match gap > 0.0 {
                true => either.min(self.lead(a, b, marked, gap)),
                false => either,
            };
        }
        let left = marked + 1;
        let too_few_for_b = left.saturating_sub(phi.get().least_of(self.sizes()[b]));
        let mut needed = enough.max(too_few_for_b);
        if gap > 0.0 {
            needed = needed.max(self.needed_to_lead(a, b, marked, gap));
        }
        self.of_group(a, marked).at_least(needed)
    }

    /// Of the people marked in two groups together, how many must fall to the first for its share to be
    /// at least `gap` above the second's?
    fn needed_to_lead(&self, a: usize, b: usize, both: u64, gap: f64) -> u64 {
        let (na, nb) = (self.sizes()[a], self.sizes()[b]);
        let share = gap + both as f64 / nb as f64;
        let needed = share * na as f64 * nb as f64 / (na + nb) as f64;
        // A hair less is the same number reached in another way.
        (needed - 1e-9 * needed).ceil().max(0.0) as u64
    }

    /// How likely less than φ of group `g` is among `marked` people.
    pub(crate) fn short_of(&self, g: usize, marked: u64, phi: Phi) -> f64 {
        match phi.get().least_of(self.sizes()[g]) {
            0 => 0.0,
            enough => self.of_group(g, marked).at_most(enough - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::Layout;
    use crate::subgroups::Predicate;

    proptest! {
        #[test]
        fn groups_looked_at_apart_bound_groups_together(
            sizes in prop::collection::vec(1u64..40, 3..5), marked in 0u64..120, gap in 0.01f64..1.0,
        ) {
            let people: u64 = sizes.iter().sum();
            let marked = marked.min(people);
            let factorials = Factorials::up_to(people);
            let layout = Layout::new(&vec![Vec::new(); sizes.len()]);
            let everybody = Predicate::new(Vec::new());
            let subgroup = Subgroup::count(everybody, &sizes, &[], &[], &[], &layout);
            let pooled = Pooled::new(&subgroup, &[], &factorials);
            for (a, b) in pooled.pairs() {
                let (exact, bound) = (pooled.lead(a, b, marked, gap), pooled.lead_apart(a, b, marked, gap));
                prop_assert!(bound >= exact * (1.0 - 1e-9) - 1e-15, "{exact} {bound}");
            }
        }
    }
}
