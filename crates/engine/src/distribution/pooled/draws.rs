//! What people drawn at random without replacement pay together.
//!
//! The sum has no simple law. But of all ways to draw `h` of the people, those whose costs add up to at
//! least `a` are at most `e^(−ta) · z^(−h) · Π (1 + z·e^(t·cost))`, for any t ≥ 0 and any z > 0, since
//! each such draw adds at least 1 to the right side (Chernoff). The t and z for which that is smallest
//! are the saddle point, from which the tail itself follows nearly (Lugannani and Rice's formula for
//! conditional tails, as Skovgaard has it): the bound is often a hundred times too large, this a few
//! percent off. On few people it can be several times too large, the more so the farther out. Where few are drawn, sums
//! that lie on a grid are taken as such, and the very last one is counted; where there are few ways to
//! draw at all, all of them are.

use std::f64::consts::TAU;

use crate::actions::COST_GAP;
use crate::chance::{Factorials, normal};
use crate::distribution::SCORE_GAP;

/// A grid finer than this part of the costs' range is as good as none.
const FINEST: f64 = 1e-3;

/// Up to so many ways to draw, people who pay the same being the same, all are counted.
const FEW_WAYS: u64 = 2000;

/// What a saddle point says is multiplied by this, since it may be too small.
const SAFER: f64 = 1.5;

/// Costs less their mean, and how many people pay each.
pub(super) struct Draws<'f> {
    factorials: &'f Factorials,
    /// Cheapest first; each has somebody.
    payers: Vec<(f64, u64)>,
    people: u64,
    /// The step of the grid on which all costs lie, if there is one.
    step: Option<f64>,
}

impl<'f> Draws<'f> {
    /// Costs, and how many people pay each; `None` if nobody does.
    pub(super) fn new(mut payers: Vec<(f64, u64)>, factorials: &'f Factorials) -> Option<Self> {
        payers.retain(|payer| payer.1 > 0);
        payers.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The cost of having no way out may be that of one.
        payers.dedup_by(|next, same| {
            let is_same = next.0 - same.0 < COST_GAP;
            same.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        let people: u64 = payers.iter().map(|payer| payer.1).sum();
        if people == 0 {
            return None;
        }
        let sum = |payer: &(f64, u64)| payer.0 * payer.1 as f64;
        let mean = payers.iter().map(sum).sum::<f64>() / people as f64;
        for payer in &mut payers {
            payer.0 -= mean;
        }
        Some(Self {
            factorials,
            step: common_step(&payers),
            payers,
            people,
        })
    }

    pub(super) fn people(&self) -> u64 {
        self.people
    }

    /// Whether all ways to draw can be counted.
    pub(super) fn are_few(&self) -> bool {
        let ways = self.payers.iter().map(|payer| payer.1 + 1);
        ways.fold(1, u64::saturating_mul) <= FEW_WAYS
    }

    /// How likely something is of those drawn, by counting all ways: `likely` says how likely each number
    /// of them is, and `is` whether it is so of a number and the sum of their costs.
    pub(super) fn counted(
        &self,
        likely: impl Fn(u64) -> f64,
        is: impl Fn(u64, f64) -> bool,
    ) -> f64 {
        let mut ways = vec![(0, 0.0, 0.0)];
        for &(cost, people) in &self.payers {
            let more = |&(drawn, sum, ln_ways): &(u64, f64, f64)| {
                let take = move |n| (drawn + n, sum + cost * n as f64, n, ln_ways);
                (0..=people).map(take)
            };
            let ln = |n| self.factorials.ln_choose(people, n);
            let more = ways.iter().flat_map(more);
            ways = more
                .map(|(drawn, sum, n, before)| (drawn, sum, before + ln(n)))
                .collect();
        }
        let so = ways.into_iter().filter(|&(drawn, sum, _)| is(drawn, sum));
        let chance = |(drawn, _, ln_ways): (u64, f64, f64)| {
            likely(drawn) * (ln_ways - self.ln_ways_of_all(drawn)).exp()
        };
        so.map(chance).sum()
    }

    /// About how likely the costs of so many people, times `sign`, add up to at least `sum`; and the
    /// saddle point, from which that of the next number may be looked for.
    pub(super) fn tail(&self, sign: f64, drawn: u64, sum: f64, from: Saddle) -> (f64, Saddle) {
        let (greatest, ln_ways_to_it) = self.greatest(sign, drawn);
        let sum = self.next_on_grid(sign, drawn, sum);
        let hair = SCORE_GAP * drawn as f64 + COST_GAP;
        if sum > greatest + hair {
            return (0.0, from);
        }
        if sum > greatest - hair {
            let ln_share = ln_ways_to_it - self.ln_ways_of_all(drawn);
            return (ln_share.exp(), from);
        }
        let saddle = self.saddle(sign, drawn, sum, from);
        let sharper = self.sharper(&saddle, drawn, sum, self.step);
        ((sharper * self.bound(&saddle, drawn, sum)).min(1.0), saddle)
    }

    fn ln_ways_of_all(&self, drawn: u64) -> f64 {
        self.factorials.ln_choose(self.people, drawn)
    }

    /// How likely at most the costs of so many people add up to so much: Chernoff's bound from any point.
    pub(super) fn bound(&self, saddle: &Saddle, drawn: u64, sum: f64) -> f64 {
        (saddle.ln_ways(drawn, sum) - self.ln_ways_of_all(drawn)).exp()
    }

    /// The least sum of at least this that there can be, as far as the grid says.
    fn next_on_grid(&self, sign: f64, drawn: u64, sum: f64) -> f64 {
        let Some(step) = self.step else { return sum };
        let origin = sign * self.payers[0].0 * drawn as f64;
        let steps = (sum - origin) / step;
        origin + (steps - COST_GAP / step).ceil() * step
    }

    /// The greatest sum of so many people's costs, and the logarithm of the ways to it.
    fn greatest(&self, sign: f64, drawn: u64) -> (f64, f64) {
        let (mut left, mut sum, mut ln_ways) = (drawn, 0.0, 0.0);
        let mut take = |&(cost, people): &(f64, u64)| {
            let taken = people.min(left);
            left -= taken;
            sum += sign * cost * taken as f64;
            if taken < people && taken > 0 {
                ln_ways = self.factorials.ln_choose(people, taken);
            }
        };
        match sign > 0.0 {
            true => self.payers.iter().rev().for_each(&mut take),
            false => self.payers.iter().for_each(&mut take),
        }
        (sum, ln_ways)
    }

    /// The saddle point for drawing `drawn` people whose costs, times `sign`, add up to at least `sum`.
    /// Looks for it from where the last one was found.
    pub(super) fn saddle(&self, sign: f64, drawn: u64, sum: f64, from: Saddle) -> Saddle {
        let (mut t, mut ln_z) = (from.t, from.ln_z);
        let mut best = Saddle::START;
        let mut least = f64::INFINITY;
        for _ in 0..Saddle::STEPS {
            let mut ln_product = 0.0;
            // First and second derivatives by t and by ln z.
            let (mut by_t, mut by_z) = (-sum, -(drawn as f64));
            let (mut tt, mut tz, mut zz) = (0.0, 0.0, 0.0);
            for &(cost, people) in &self.payers {
                let (cost, people) = (sign * cost, people as f64);
                let x = ln_z + t * cost;
                // ln(1 + eˣ), without overflow.
                let small = (-x.abs()).exp();
                ln_product += people * (x.max(0.0) + small.ln_1p());
                let share = if x > 0.0 { 1.0 } else { small } / (1.0 + small);
                let spread = people * small / ((1.0 + small) * (1.0 + small));
                by_t += people * share * cost;
                by_z += people * share;
                tt += spread * cost * cost;
                tz += spread * cost;
                zz += spread;
            }
            let determinant = tt * zz - tz * tz;
            let here = Saddle {
                t,
                ln_z,
                ln_product,
                determinant,
            };
            let bound = here.ln_ways(drawn, sum);
            let better = bound < least - 1e-6;
            if bound < least {
                (least, best) = (bound, here);
            }
            if !better || determinant <= 1e-12 * tt * zz {
                break;
            }
            let step_t = (by_t * zz - by_z * tz) / determinant;
            let step_z = (by_z * tt - by_t * tz) / determinant;
            // Never far at once, and never t below 0, where nothing is bounded.
            let limit = 4.0 / (1.0 + step_z.abs().max(step_t.abs() * self.widest()));
            let limit = limit.min(1.0);
            t = (t - limit * step_t).max(0.0);
            ln_z -= limit * step_z;
        }
        best
    }

    /// By what the bound is to be multiplied to be about the tail; at most 1. `step`: that of the grid on
    /// which the sums lie, where that matters.
    pub(super) fn sharper(&self, saddle: &Saddle, drawn: u64, sum: f64, step: Option<f64>) -> f64 {
        let (k, all) = (drawn as f64, self.people as f64);
        let rest = all - k;
        // What the bound is for any sum at all.
        let of_all = all * all.ln() - k * k.ln() - rest * rest.ln();
        let below = of_all - saddle.ln_ways(drawn, sum);
        let w = (2.0 * below.max(0.0)).sqrt();
        let spread = (saddle.determinant * all / (k * rest)).sqrt();
        let t = step.map_or(saddle.t, |step| -(-saddle.t * step).exp_m1() / step);
        let u = t * spread;
        if w < NEAR_THE_MEAN || u <= 0.0 {
            return 1.0;
        }
        let tail = (normal::tail_over_density(w) + 1.0 / u - 1.0 / w) / TAU.sqrt();
        let overstated = (of_all - self.ln_ways_of_all(drawn)).exp();
        (SAFER * tail / overstated).clamp(0.0, 1.0)
    }

    /// The cost that is farthest from the mean.
    fn widest(&self) -> f64 {
        let ends = [self.payers[0].0, self.payers[self.payers.len() - 1].0];
        ends[0].abs().max(ends[1].abs())
    }
}

/// The largest number of which all differences between costs are multiples; `None` if it is too small
/// to matter, or costs do not differ.
fn common_step(payers: &[(f64, u64)]) -> Option<f64> {
    let first = payers[0].0;
    let range = payers[payers.len() - 1].0 - first;
    let mut step = range;
    for &(cost, _) in payers {
        let mut rest = cost - first;
        // Euclid's algorithm.
        while rest > COST_GAP {
            (step, rest) = (rest, step % rest);
            // Just short of a multiple.
            if step - rest < COST_GAP {
                rest = 0.0;
            }
        }
    }
    (step > COST_GAP && step > FINEST * range).then_some(step)
}

/// A saddle point: t, the logarithm of z, that of the product over all people, and the determinant of
/// its second derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saddle {
    t: f64,
    ln_z: f64,
    ln_product: f64,
    determinant: f64,
}

impl Saddle {
    /// Steps of Newton's method; every one of them gives a bound, the last ones hardly a better.
    const STEPS: usize = 12;

    /// Where the search begins; it bounds nothing yet.
    pub(super) const START: Self = Self {
        t: 0.0,
        ln_z: 0.0,
        ln_product: f64::INFINITY,
        determinant: 0.0,
    };

    /// The logarithm of the bound on the ways to draw so many people with so large a sum.
    pub(super) fn ln_ways(&self, drawn: u64, sum: f64) -> f64 {
        self.ln_product - self.t * sum - self.ln_z * drawn as f64
    }
}

/// So near the mean the formula is a difference of two large numbers.
const NEAR_THE_MEAN: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How many ways there are to draw so many people with each sum: whole costs, counted out.
    fn ways(payers: &[(u64, u64)], drawn: u64) -> Vec<f64> {
        let most: u64 = payers.iter().map(|payer| payer.0).max().unwrap_or(0) * drawn;
        let mut ways = vec![vec![0.0; most as usize + 1]; drawn as usize + 1];
        ways[0][0] = 1.0;
        for &(cost, people) in payers {
            for _ in 0..people {
                for k in (1..=drawn as usize).rev() {
                    for sum in (cost as usize..=most as usize).rev() {
                        ways[k][sum] += ways[k - 1][sum - cost as usize];
                    }
                }
            }
        }
        ways.swap_remove(drawn as usize)
    }

    proptest! {
        #[test]
        fn tails_are_near_what_is_counted(
            payers in prop::collection::vec((0u64..12, 4u64..16), 3..6), part in 0.1f64..0.9,
        ) {
            let people: u64 = payers.iter().map(|payer| payer.1).sum();
            let factorials = Factorials::up_to(people);
            let costs = payers.iter().map(|&(cost, people)| (cost as f64, people));
            let draws = Draws::new(costs.collect(), &factorials).unwrap();
            let drawn = ((people as f64 * part) as u64).clamp(1, people);
            if drawn == people {
                return Ok(());
            }
            let ways = ways(&payers, drawn);
            let all: f64 = ways.iter().sum();
            let mean = payers.iter().map(|&(cost, people)| (cost * people) as f64).sum::<f64>()
                / people as f64 * drawn as f64;
            for sum in 0..ways.len() {
                let excess = sum as f64 - mean;
                let exact = ways[sum..].iter().sum::<f64>() / all;
                // Where it is asked for: what can be, and chance seldom shows.
                if ways[sum] == 0.0 || excess <= 0.0 || exact > 0.1 {
                    continue;
                }
                let (tail, _) = draws.tail(1.0, drawn, excess, Saddle::START);
                let bound = draws.bound(&draws.saddle(1.0, drawn, excess, Saddle::START), drawn, excess);
                prop_assert!(bound >= exact * (1.0 - 1e-6), "{sum}: {exact} {bound}");
                // Where it is used. On so few people it may be several times too large, the more so the
                // farther out: never too small by much.
                let used = !draws.are_few();
                let most = if exact < 1e-4 { 1000.0 } else { 10.0 };
                prop_assert!(!used || tail >= 0.25 * exact, "{sum}: {exact} {tail}");
                prop_assert!(!used || tail <= most * exact, "{sum}: {exact} {tail}");
                let reaches = |k: u64, s: f64| k == drawn && s > excess - 1e-9;
                let counted = draws.counted(|k| f64::from(u8::from(k == drawn)), reaches);
                prop_assert!((counted / exact - 1.0).abs() < 1e-9, "{sum}: {exact} {counted}");
            }
        }
    }
}
