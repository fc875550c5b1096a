//! **Equal Cost of Effectiveness (φ)**: what does it cost each group until a share φ gets out?
//!
//! Compares `ecd⁻¹(φ)`, the least cost at which a share φ of the group achieves recourse; a
//! group that never gets there pays ∞.

use super::{
    Assessment, Definition, Kind, Parameter, Required, SCORE_GAP, Statistic, Syntax, compare,
};
use crate::decimal::Phi;
use crate::distribution::{PerGroup, Pooled, Share, Subgroup, Viewpoint};

const KIND: Kind = Kind {
    name: "equal-cost-of-effectiveness",
    title: "Equal Cost of Effectiveness",
    question: "Does it cost each group as much until a share φ of it achieves recourse?",
    compares: "The least cost at which a share φ of the group achieves recourse.",
    worse_off: "The group that has to pay more is worse off; ∞ means that it never gets there, whatever it pays.",
    zero: "Each group pays the same until a share φ is out, or none ever gets there.",
    infinity: "One group gets there and another never does, whatever it pays.",
    choose: "“Most people can” is the goal, and the price is the question.",
    beware: "No φ stands out: the finding can hinge on a single person at the threshold.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "equal-cost-of-effectiveness:micro|macro:PHI",
    required: &[Required::Viewpoint, Required::Phi],
    parse: |parts| {
        let viewpoint = parts.viewpoint()?;
        let phi = parts.phi()?;
        Ok(Box::new(EqualCostOfEffectiveness::new(viewpoint, phi)))
    },
};

/// Reaching a share φ costs each group the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualCostOfEffectiveness {
    viewpoint: Viewpoint,
    phi: Phi,
}

impl EqualCostOfEffectiveness {
    /// Read from a viewpoint, for a share φ.
    pub fn new(viewpoint: Viewpoint, phi: Phi) -> Self {
        Self { viewpoint, phi }
    }

    /// The cost level at which each group reaches φ, if it does.
    fn levels(&self, subgroup: &Subgroup) -> Option<PerGroup<Option<usize>>> {
        let level = |g| subgroup.level_of_effectiveness(self.viewpoint, g, self.phi);
        (0..subgroup.groups()).map(level).collect()
    }

    /// The gap between the highest and the lowest share at a cost level.
    fn gap_at(&self, subgroup: &Subgroup, level: usize) -> Option<f64> {
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, level + 1));
        let (least, most) = compare::ends_of_shares(shares)?;
        Some(most.gap(least))
    }

    /// What φ costs each group.
    fn costs(&self, subgroup: &Subgroup) -> impl Iterator<Item = Option<f64>> {
        let cost = |g| subgroup.cost_of_effectiveness(self.viewpoint, g, self.phi);
        (0..subgroup.groups()).map(cost)
    }
}

/// The cost level that decides: where the first group reaches φ, if any does.
fn first(levels: &[Option<usize>]) -> Option<usize> {
    levels.iter().copied().flatten().min()
}

impl Definition for EqualCostOfEffectiveness {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::Viewpoint(self.viewpoint),
            Parameter::Phi(self.phi),
        ]
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let costs = self.costs(subgroup);
        Some(compare::costs(costs.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        compare::score_of_costs(self.costs(subgroup))
    }

    fn statistic(&self, subgroup: &Subgroup) -> Option<Statistic> {
        let levels = self.levels(subgroup)?;
        let cost = |level: &Option<usize>| {
            Some(level.map_or(f64::INFINITY, |level| subgroup.cost_levels[level]))
        };
        let score = compare::score_of_costs(levels.iter().map(cost))?;
        let gap = match first(&levels) {
            Some(level) if score > 0.0 => self.gap_at(subgroup, level)?,
            _ => 0.0,
        };
        Some(Statistic { score, gap })
    }

    fn gap_at_least(&self, subgroup: &Subgroup, z: f64) -> Option<f64> {
        let levels = first(&self.levels(subgroup)?)? + 1;
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, levels));
        let shares = shares.collect::<Option<PerGroup<Share>>>()?;
        compare::either_side_of_phi_at_least(&shares, self.phi, z)
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        let steps = pooled.steps(self.viewpoint);
        // One group reaches φ at some step, which the other does not, nor at any step that costs
        // less than so much more: each step is at most as likely as the least likely of these.
        let dearer = |a: usize, b: usize, (cost, helped): (f64, u64), by: f64| -> f64 {
            let cheaper = steps.iter().filter(|step| step.0 < cost + by);
            let most = cheaper.map(|&(_, helped)| helped).max();
            let short = most.map_or(1.0, |most| pooled.short_of(b, most, self.phi));
            short.min(pooled.only_reaches(a, b, helped, self.phi, 0.0))
        };
        let pairs = || pooled.pairs();
        let scores = |step, by: f64| pairs().map(|(a, b)| dearer(a, b, step, by)).sum::<f64>();
        let wide = |(_, helped): (f64, u64)| -> f64 {
            let reach = |(a, b)| pooled.only_reaches(a, b, helped, self.phi, least.gap);
            pairs().map(reach).sum()
        };
        // A greater score; or one as great, and as wide a gap.
        let at_step = |&step: &(f64, u64)| -> f64 {
            let as_dear = scores(step, least.score - SCORE_GAP);
            let more = match least.score < f64::INFINITY {
                true => scores(step, least.score + SCORE_GAP),
                false => 0.0,
            };
            as_dear.min(more + wide(step))
        };
        Some(steps.iter().map(at_step).sum())
    }

    fn chance_of_gap(&self, subgroup: &Subgroup, pooled: &Pooled<'_>) -> Option<f64> {
        let level = first(&self.levels(subgroup)?)?;
        let (gap, cost) = (self.gap_at(subgroup, level)?, subgroup.cost_levels[level]);
        Some(pooled.gap_of_ecd(self.viewpoint, cost, gap))
    }

    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        // Only a step that helps enough people can be the first at which a group reaches φ.
        let steps = pooled.steps_to(self.viewpoint, self.phi);
        let gaps = steps
            .iter()
            .flat_map(|&(_, helped)| pooled.widest_gaps_of(helped));
        let gap = gaps.fold(0.0, f64::max);
        let mut costs: Vec<f64> = steps.into_iter().map(|(cost, _)| cost).collect();
        costs.dedup();
        let dearer = |(place, &from): (usize, &f64)| {
            let dearer = costs[place + 1..].iter();
            dearer.map(move |to| to - from).collect::<Vec<_>>()
        };
        let differences = costs.iter().enumerate().flat_map(dearer);
        let scores = differences.chain([f64::INFINITY]);
        scores.map(|score| Statistic { score, gap }).collect()
    }

    fn could_differ(&self, pooled: &Pooled<'_>) -> bool {
        !pooled.steps_to(self.viewpoint, self.phi).is_empty()
    }

    fn moves_in_steps(&self) -> bool {
        true
    }

    fn lists(&self, subgroup: &Subgroup, action: usize, g: usize) -> bool {
        let reached = subgroup.level_of_effectiveness(self.viewpoint, g, self.phi);
        let Some(Some(reached)) = reached else {
            return false;
        };
        let level = subgroup.actions[action].cost_level as usize;
        match self.viewpoint {
            Viewpoint::Micro => level <= reached,
            Viewpoint::Macro => {
                let share = subgroup.effectiveness(action, g);
                level == reached && share.is_some_and(|share| share.reaches(self.phi))
            }
        }
    }
}
