//! How likely two groups' mean costs differ, if group labels are random.
//!
//! How many of those who pay fall into a group is hypergeometric; what they pay together is a draw
//! without replacement, whose tail [`Draws`] knows.

use super::Pooled;
use super::draws::{Draws, Saddle};
use crate::actions::COST_GAP;
use crate::chance::{Hypergeometric, UNLIKELY};
use crate::distribution::{SCORE_GAP, Viewpoint};

impl Pooled<'_> {
    /// About how likely two groups' mean costs differ by at least `gap`: over those who can achieve
    /// recourse, or over all members with the others at `c_infinity`. With more than two groups at most
    /// about so likely.
    pub(crate) fn gap_of_means(&self, c_infinity: Option<f64>, gap: f64) -> f64 {
        let mut payers = self.newly_reached();
        let people: u64 = self.sizes().iter().sum();
        let helped: u64 = payers.iter().map(|payer| payer.1).sum();
        if let Some(cost) = c_infinity {
            payers.push((cost, people - helped));
        }
        let Some(draws) = Draws::new(payers, self.factorials) else {
            return 1.0;
        };
        let paying = draws.people();
        let two = self.sizes().len() == 2;
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
                chance += above(&draws, &law, 1.0, excess);
                if !two {
                    chance += above(&draws, &law, -1.0, excess);
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

/// How likely the mean of those drawn is at least `excess` above the mean of all (or below it, with
/// `sign` −1), where `law` says how many are drawn.
fn above(
    draws: &Draws<'_>,
    law: &Hypergeometric<'_>,
    sign: f64,
    excess: impl Fn(u64) -> f64 + Copy,
) -> f64 {
    if draws.are_few() {
        let is = |drawn: u64, sum: f64| {
            let compared = drawn > 0 && drawn < draws.people();
            compared && sign * sum > excess(drawn) * drawn as f64 - COST_GAP
        };
        return draws.counted(|drawn| law.exactly(drawn), is);
    }
    let middle = law.mode().max(1);
    let up = middle..law.most() + 1;
    let down = law.least()..middle;
    add_up(draws, law, sign, excess, up) + add_up(draws, law, sign, excess, down.rev())
}

/// Goes outwards from the likeliest number of people drawn.
fn add_up(
    draws: &Draws<'_>,
    law: &Hypergeometric<'_>,
    sign: f64,
    excess: impl Fn(u64) -> f64,
    numbers: impl Iterator<Item = u64>,
) -> f64 {
    // So many numbers share one saddle point: it moves slowly.
    let together = (law.spread() / 16.0).max(1.0) as usize;
    let mut saddle = Saddle::START;
    let mut sharper = 1.0;
    let mut chance = 0.0;
    for (place, drawn) in numbers.enumerate() {
        // With nobody drawn, or nobody left, there is no mean to compare.
        if drawn == 0 || drawn == draws.people() {
            continue;
        }
        let likely = law.exactly(drawn);
        if likely < UNLIKELY {
            // Nor is any number farther out likelier.
            return chance + law.at_least(drawn).min(law.at_most(drawn));
        }
        let sum = excess(drawn) * drawn as f64;
        if together == 1 {
            let (share, found) = draws.tail(sign, drawn, sum, saddle);
            saddle = found;
            chance += likely * share;
            continue;
        }
        if place % together == 0 {
            saddle = draws.saddle(sign, drawn, sum, saddle);
            sharper = draws.sharper(&saddle, drawn, sum, None);
        }
        chance += likely * (sharper * draws.bound(&saddle, drawn, sum)).min(1.0);
    }
    chance
}
