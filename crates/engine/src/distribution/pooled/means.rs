//! How likely two groups' mean costs differ, if group labels are random.
//!
//! A group is then a draw without replacement, and the sum of what its members pay has no simple
//! law. But it is bounded: of all ways to draw `h` of the people, those whose costs add up to at
//! least `a` are at most `e^(−ta) · z^(−h) · Π (1 + z·e^(t·cost))`, for any t ≥ 0 and any z > 0,
//! since each such draw adds at least 1 to the right side. The smallest of these bounds is near the
//! truth, however far in the tail.

use super::Pooled;
use crate::chance::{Hypergeometric, UNLIKELY};
use crate::distribution::{SCORE_GAP, Viewpoint};

impl Pooled<'_> {
    /// How likely, at most, two groups' mean costs differ by at least `gap`: over those who can
    /// achieve recourse, or over all members with the others at `c_infinity`.
    pub(crate) fn gap_of_means(&self, c_infinity: Option<f64>, gap: f64) -> f64 {
        let mut payers = self.newly_reached();
        let people: u64 = self.sizes().iter().sum();
        let helped: u64 = payers.iter().map(|payer| payer.1).sum();
        if let Some(cost) = c_infinity {
            payers.push((cost, people - helped));
        }
        payers.retain(|payer| payer.1 > 0);
        let paying: u64 = payers.iter().map(|payer| payer.1).sum();
        if paying == 0 {
            return 1.0;
        }
        let sum = |payer: &(f64, u64)| payer.0 * payer.1 as f64;
        let mean = payers.iter().map(sum).sum::<f64>() / paying as f64;
        for payer in &mut payers {
            payer.0 -= mean;
        }
        let two = self.sizes().len() == 2;
        let tails = Tails {
            payers: &payers,
            paying,
        };
        let of_group = |g: usize| {
            let law = self.of_group(g, paying);
            // Nobody to pay: a mean that is infinite.
            let mut chance = law.exactly(0);
            if gap < f64::INFINITY {
                let excess = |drawn: u64| {
                    let rest = (paying - drawn) as f64 / paying as f64;
                    // Two groups balance each other; of more, one is half the gap off the mean.
                    (gap - SCORE_GAP) * if two { rest } else { 0.5 }
                };
                chance += tails.above(&law, 1.0, excess);
                if !two {
                    chance += tails.above(&law, -1.0, excess);
                }
            }
            chance
        };
        (0..self.sizes().len()).map(of_group).sum::<f64>().min(1.0)
    }

    /// Costs, and how many people are first reached at each.
    fn newly_reached(&self) -> Vec<(f64, u64)> {
        let mut before = 0;
        let steps = self.steps(Viewpoint::Micro).into_iter();
        steps
            .map(|(cost, reached)| {
                let newly = reached - before;
                before = reached;
                (cost, newly)
            })
            .collect()
    }
}

/// Costs less their mean, and how many people pay each.
struct Tails<'a> {
    payers: &'a [(f64, u64)],
    paying: u64,
}

impl Tails<'_> {
    /// How likely the mean of those drawn is at least `excess` above the mean of all (or below it,
    /// with `sign` −1), where `law` says how many are drawn.
    fn above(&self, law: &Hypergeometric<'_>, sign: f64, excess: impl Fn(u64) -> f64) -> f64 {
        let middle = law.mode().max(1);
        let up = middle..law.most() + 1;
        let down = law.least()..middle;
        self.add_up(law, sign, &excess, up) + self.add_up(law, sign, &excess, down.rev())
    }

    /// Goes outwards from the likeliest number of people drawn.
    fn add_up(
        &self,
        law: &Hypergeometric<'_>,
        sign: f64,
        excess: &impl Fn(u64) -> f64,
        numbers: impl Iterator<Item = u64>,
    ) -> f64 {
        // So many numbers share one search for the best bound: it moves slowly.
        let together = (law.spread() / 16.0).max(1.0) as usize;
        let mut best = Saddle::START;
        let mut chance = 0.0;
        for (place, drawn) in numbers.enumerate() {
            // With nobody drawn, or nobody left, there is no mean to compare.
            if drawn == 0 || drawn == self.paying {
                continue;
            }
            let likely = law.exactly(drawn);
            if likely < UNLIKELY {
                // Nor is any number farther out likelier.
                return chance + law.at_least(drawn).min(law.at_most(drawn));
            }
            let sum = excess(drawn) * drawn as f64;
            if place % together == 0 {
                best = self.best_bound(sign, drawn, sum, best);
            }
            let ways = best.ln_ways(drawn, sum) - law.ln_ways_of_all(drawn);
            chance += likely * ways.exp().min(1.0);
        }
        chance
    }

    /// The best bound on the ways to draw `drawn` people whose costs, times `sign`, add up to at
    /// least `sum`. Looks for it from where the last one was found.
    fn best_bound(&self, sign: f64, drawn: u64, sum: f64, from: Saddle) -> Saddle {
        let (mut t, mut ln_z) = (from.t, from.ln_z);
        let mut best = Saddle::START;
        let mut least = f64::INFINITY;
        for _ in 0..Saddle::STEPS {
            let mut ln_product = 0.0;
            // First and second derivatives by t and by ln z.
            let (mut by_t, mut by_z) = (-sum, -(drawn as f64));
            let (mut tt, mut tz, mut zz) = (0.0, 0.0, 0.0);
            for &(cost, people) in self.payers {
                let (cost, people) = (sign * cost, people as f64);
                let x = ln_z + t * cost;
                // ln(1 + eˣ), without overflow.
                ln_product += people * (x.max(0.0) + (-x.abs()).exp().ln_1p());
                let share = 1.0 / (1.0 + (-x).exp());
                let spread = people * share * (1.0 - share);
                by_t += people * share * cost;
                by_z += people * share;
                tt += spread * cost * cost;
                tz += spread * cost;
                zz += spread;
            }
            let here = Saddle {
                t,
                ln_z,
                ln_product,
            };
            let bound = here.ln_ways(drawn, sum);
            let better = bound < least - 1e-6;
            if bound < least {
                (least, best) = (bound, here);
            }
            let determinant = tt * zz - tz * tz;
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

    /// The cost that is farthest from the mean.
    fn widest(&self) -> f64 {
        let distances = self.payers.iter().map(|payer| payer.0.abs());
        distances.fold(0.0, f64::max)
    }
}

/// A bound: t, the logarithm of z, and that of the product over all people.
#[derive(Clone, Copy, Debug)]
struct Saddle {
    t: f64,
    ln_z: f64,
    ln_product: f64,
}

impl Saddle {
    /// Steps of Newton's method; every one of them gives a bound, the last ones hardly a better.
    const STEPS: usize = 12;

    /// Where the search begins; it bounds nothing yet.
    const START: Self = Self {
        t: 0.0,
        ln_z: 0.0,
        ln_product: f64::INFINITY,
    };

    /// The logarithm of the bound on the ways to draw so many people with so large a sum.
    fn ln_ways(&self, drawn: u64, sum: f64) -> f64 {
        self.ln_product - self.t * sum - self.ln_z * drawn as f64
    }
}
