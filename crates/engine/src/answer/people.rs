//! Who has a way out, whatever subgroup shows it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::actions::COST_GAP;
use crate::audit::{Audit, Individuals};
use crate::bits;
use crate::chance::normal;
use crate::distribution::Share;
use crate::evidence::Interval;

/// The people of one group: how many are refused, and what a way out costs them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupPeople {
    /// People of the group, refused or not.
    pub people: u64,
    /// Those who are refused.
    pub refused: u64,
    /// Those of them who have a way out, by what the cheapest costs, cheapest first. Where counts are
    /// suppressed, costs are put together until enough people share one; none if too few have a way
    /// at all.
    pub ways: Option<Vec<WaysAtCost>>,
}

/// So many people have a way out that costs so much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaysAtCost {
    /// The least cost of an action that helps them.
    pub cost: f64,
    /// How many people they are.
    pub people: u64,
}

impl GroupPeople {
    /// Of those who are refused, the share that has a way out.
    pub fn open(&self) -> Option<Share> {
        self.open_within(f64::INFINITY)
    }

    /// Of those who are refused, the share that has a way out of at most this cost.
    pub fn open_within(&self, cost: f64) -> Option<Share> {
        let within = self.ways.as_ref()?.iter();
        let within = within.filter(|ways| ways.cost <= cost + COST_GAP);
        let people = within.map(|ways| ways.people).sum();
        Some(Share::new(people, self.refused))
    }

    /// Of all people of the group, the share that is refused.
    pub fn burden(&self) -> Share {
        Share::new(self.refused, self.people)
    }

    /// Of all people of the group, the share that is refused and has a way out.
    pub fn refused_with_a_way(&self) -> Option<Share> {
        Some(Share::new(self.open()?.part, self.people))
    }

    /// Of all people of the group, the share that is refused and has no way out.
    pub fn refused_without(&self) -> Option<Share> {
        Some(Share::new(self.refused - self.open()?.part, self.people))
    }

    /// What the way out costs the middle one of those who have one; the mean of the middle two.
    pub fn median_cost(&self) -> Option<f64> {
        let ways = self.ways.as_ref()?;
        let helped: u64 = ways.iter().map(|ways| ways.people).sum();
        let at = |place: u64| {
            let mut so_far = 0;
            let reaches = |ways: &&WaysAtCost| {
                so_far += ways.people;
                so_far > place
            };
            ways.iter().find(reaches).map(|ways| ways.cost)
        };
        let upper = at(helped / 2)?;
        let lower = at(helped.checked_sub(1)? / 2)?;
        Some(f64::midpoint(lower, upper))
    }

    /// What the way out costs on average, over those who have one.
    pub fn mean_cost(&self) -> Option<f64> {
        let ways = self.ways.as_ref()?;
        let helped: u64 = ways.iter().map(|ways| ways.people).sum();
        let total: f64 = ways.iter().map(|ways| ways.people as f64 * ways.cost).sum();
        (helped > 0).then(|| total / helped as f64)
    }
}

/// The group for which a share is lowest beside the one for which it is highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The group for which it is lowest.
    pub worst: usize,
    /// The group for which it is highest.
    pub best: usize,
    /// The highest less the lowest.
    pub difference: f64,
    /// From where to where that may lie (Newcombe).
    pub difference_interval: Interval,
    /// The lowest over the highest; none if nobody has what is compared.
    pub ratio: Option<f64>,
    /// From where to where that may lie (Donner and Zou, from the Wilson intervals of both).
    pub ratio_interval: Option<Interval>,
}

impl Compared {
    /// Compares shares, one a group, with intervals that miss what is true in at most a share `alpha`.
    pub fn at(shares: &[Share], alpha: f64) -> Option<Self> {
        Self::new(shares, -normal::quantile(alpha / 2.0))
    }

    /// Compares shares, one a group, with intervals of `z` standard deviations to either side.
    pub fn new(shares: &[Share], z: f64) -> Option<Self> {
        let numbered = || shares.iter().enumerate();
        let (worst, low) = numbered().min_by(|a, b| a.1.compare(*b.1))?;
        // The first of several that are as high, as of those that are as low.
        let (best, high) = numbered().rev().max_by(|a, b| a.1.compare(*b.1))?;
        let (least, most) = high.difference(*low, z);
        Some(Self {
            worst,
            best,
            difference: high.ratio() - low.ratio(),
            difference_interval: Interval {
                low: least,
                high: most,
            },
            ratio: (high.part > 0).then(|| low.ratio() / high.ratio()),
            ratio_interval: (high.part > 0).then(|| ratio_interval(*low, *high, z)),
        })
    }

    /// The cost at which the shares of the refused who have a way lie farthest apart, the cheapest such
    /// cost, and how they compare there; none if nobody has a way, or counts are suppressed. Intervals hold
    /// at all costs together but in a share `alpha`, since the cost was chosen by looking at all of them.
    pub fn widest(people: &[GroupPeople], alpha: f64) -> Option<(f64, Self)> {
        let mut costs: Vec<f64> = Vec::new();
        for group in people {
            costs.extend(group.ways.as_ref()?.iter().map(|ways| ways.cost));
        }
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        let each = alpha / costs.len().max(1) as f64;
        let mut widest: Option<(f64, Self)> = None;
        for cost in costs {
            let within = people.iter().map(|group| group.open_within(cost));
            let compared = Self::at(&within.collect::<Option<Vec<Share>>>()?, each)?;
            // Rounding does not decide between equal gaps.
            if widest.is_none_or(|(_, w)| compared.difference > w.difference + 1e-12) {
                widest = Some((cost, compared));
            }
        }
        widest
    }
}

/// The ratio of two shares, from the Wilson interval of each (Donner and Zou 2012).
fn ratio_interval(of: Share, to: Share, z: f64) -> Interval {
    let ((l1, u1), (l2, u2)) = (of.wilson(z), to.wilson(z));
    let (p1, p2) = (of.ratio(), to.ratio());
    let product = p1 * p2;
    let root = |a: f64, b: f64| (product * product - a * b).max(0.0).sqrt();
    let low = (product - root(l1 * (2.0 * p1 - l1), u2 * (2.0 * p2 - u2))) / (u2 * (2.0 * p2 - u2));
    let high =
        (product + root(u1 * (2.0 * p1 - u1), l2 * (2.0 * p2 - l2))) / (l2 * (2.0 * p2 - l2));
    Interval {
        low: if low.is_finite() { low.max(0.0) } else { 0.0 },
        high: if high.is_finite() && high >= 0.0 {
            high
        } else {
            f64::INFINITY
        },
    }
}

/// By position of the affected: the least cost of a valid action that flips the person, over all
/// subgroups that they belong to; ∞ if there is none.
pub(crate) fn ways(audit: &Audit, individuals: &Individuals) -> Vec<f64> {
    let nowhere = || vec![f64::INFINITY; individuals.layout.len()];
    audit
        .subgroups
        .par_iter()
        .fold(nowhere, |mut ways, subgroup| {
            // Actions come cheapest first: whoever is reached is not reached more cheaply later.
            let mut left = individuals.members(subgroup);
            for action in &subgroup.actions {
                let flips = &individuals.flips[action.change as usize];
                let reached = bits::intersection(&left, flips);
                for position in bits::iter(&reached) {
                    ways[position] = ways[position].min(action.cost);
                }
                bits::subtract(&mut left, flips);
            }
            ways
        })
        .reduce(nowhere, |mut ways, others| {
            for (way, other) in ways.iter_mut().zip(others) {
                *way = way.min(other);
            }
            ways
        })
}

/// The people of each group, from the way of each of them.
pub(super) fn of_groups(
    audit: &Audit,
    individuals: &Individuals,
    ways: &[f64],
) -> Vec<GroupPeople> {
    let layout = &individuals.layout;
    let mut by_group = vec![Vec::new(); audit.groups.len()];
    for (position, _) in layout.positions() {
        if ways[position].is_finite() {
            by_group[layout.group(position)].push((ways[position], layout.weight(position)));
        }
    }
    let groups = audit.groups.iter().zip(by_group);
    groups
        .map(|(group, found)| {
            let at_cost = at_costs(found);
            GroupPeople {
                people: group.people,
                refused: group.affected,
                ways: match audit.suppression {
                    None => Some(at_cost),
                    Some(suppression) => coarser(at_cost, suppression.k),
                },
            }
        })
        .collect()
}

/// How many people have a way of each cost, cheapest first, from the ways and how many people have each.
pub(super) fn at_costs(mut found: Vec<(f64, u64)>) -> Vec<WaysAtCost> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut at_cost: Vec<WaysAtCost> = Vec::new();
    let mut previous = f64::NEG_INFINITY;
    for (cost, people) in found {
        match at_cost.last_mut() {
            Some(last) if cost - previous < COST_GAP => last.people += people,
            _ => at_cost.push(WaysAtCost { cost, people }),
        }
        previous = cost;
    }
    at_cost
}

/// Puts costs together, each under the dearest of them, until at least `k` people share one.
fn coarser(ways: Vec<WaysAtCost>, k: u64) -> Option<Vec<WaysAtCost>> {
    let mut coarse: Vec<WaysAtCost> = Vec::new();
    let dearest = ways.last().map_or(0.0, |ways| ways.cost);
    let mut waiting = 0;
    for ways in ways {
        waiting += ways.people;
        if waiting >= k {
            coarse.push(WaysAtCost {
                cost: ways.cost,
                people: std::mem::take(&mut waiting),
            });
        }
    }
    match coarse.last_mut() {
        None if waiting > 0 => return None,
        Some(last) => {
            last.people += waiting;
            last.cost = dearest;
        }
        None => {}
    }
    Some(coarse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(ways: &[(f64, u64)], refused: u64) -> GroupPeople {
        let ways = ways.iter();
        GroupPeople {
            people: 2 * refused,
            refused,
            ways: Some(
                ways.map(|&(cost, people)| WaysAtCost { cost, people })
                    .collect(),
            ),
        }
    }

    #[test]
    fn medians_and_means_are_over_those_who_have_a_way() {
        let some = group(&[(1.0, 2), (3.0, 1), (5.0, 1)], 10);
        assert_eq!(some.median_cost(), Some(2.0));
        assert_eq!(some.mean_cost(), Some(2.5));
        assert_eq!(some.open(), Some(Share::new(4, 10)));
        assert_eq!(some.open_within(3.0), Some(Share::new(3, 10)));
        assert_eq!(some.refused_without(), Some(Share::new(6, 20)));
        assert_eq!(group(&[(1.0, 3)], 3).median_cost(), Some(1.0));
        assert_eq!(group(&[], 3).median_cost(), None);
        assert_eq!(group(&[], 3).mean_cost(), None);
    }

    #[test]
    fn few_people_are_not_told_apart() {
        let ways = |ways: &[(f64, u64)]| group(ways, 0).ways.unwrap();
        let coarse = coarser(
            ways(&[(1.0, 3), (2.0, 9), (3.0, 2), (4.0, 10), (5.0, 1)]),
            10,
        );
        assert_eq!(coarse, Some(ways(&[(2.0, 12), (5.0, 13)])));
        assert_eq!(coarser(ways(&[(1.0, 3)]), 10), None);
        assert_eq!(coarser(Vec::new(), 10), Some(Vec::new()));
    }

    /// `statsmodels.stats.proportion.confint_proportions_2indep(compare="ratio", method="score")` gives
    /// 0.39 to 0.52 for these; intervals from Wilson's lie close to it.
    #[test]
    fn ratios_have_intervals() {
        let found = Compared::new(&[Share::new(475, 1000), Share::new(216, 1000)], 1.96).unwrap();
        assert_eq!((found.worst, found.best), (1, 0));
        let interval = found.ratio_interval.unwrap();
        assert!((interval.low - 0.397).abs() < 0.005, "{interval:?}");
        assert!((interval.high - 0.520).abs() < 0.005, "{interval:?}");
        let nobody = Compared::new(&[Share::new(0, 10), Share::new(0, 10)], 1.96).unwrap();
        assert_eq!((nobody.worst, nobody.best, nobody.ratio), (0, 0, None));
    }
}
