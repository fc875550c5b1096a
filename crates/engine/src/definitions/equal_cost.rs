//! **Equal Cost of Effectiveness (φ)**: what does it cost each group until a share φ gets out?
//!
//! Compares `ecd⁻¹(φ)`, the least cost at which a share φ of the group achieves recourse; a
//! group that never gets there pays ∞.

use super::{Assessment, Definition, Kind, Parameter, Required, SCORE_GAP, Syntax, compare};
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

    /// What φ costs each group.
    fn costs(&self, subgroup: &Subgroup) -> impl Iterator<Item = Option<f64>> {
        let cost = |g| subgroup.cost_of_effectiveness(self.viewpoint, g, self.phi);
        (0..subgroup.groups()).map(cost)
    }
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

    fn gap_at_least(&self, subgroup: &Subgroup, z: f64) -> Option<f64> {
        // What decides is who has reached φ when the first group does.
        let mut first: Option<usize> = None;
        for g in 0..subgroup.groups() {
            let level = subgroup.level_of_effectiveness(self.viewpoint, g, self.phi)?;
            first = first.into_iter().chain(level).min();
        }
        let levels = first? + 1;
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, levels));
        let shares = shares.collect::<Option<PerGroup<Share>>>()?;
        compare::either_side_of_phi_at_least(&shares, self.phi, z)
    }

    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        // One group reaches φ at some step, which the other does not, nor at any step that costs
        // less than `score` more: each step is at most as likely as the least likely of these.
        let steps = pooled.steps(self.viewpoint);
        let at_step = |a: usize, b: usize, (cost, helped): (f64, u64)| -> f64 {
            let cheaper = |step: &&(f64, u64)| step.0 < cost + score - SCORE_GAP;
            let most = steps
                .iter()
                .filter(cheaper)
                .map(|&(_, helped)| helped)
                .max();
            let short = most.map_or(1.0, |most| pooled.short_of(b, most, self.phi));
            pooled.only_reaches(a, b, helped, self.phi).min(short)
        };
        let chance = |(a, b)| -> f64 { steps.iter().map(|&step| at_step(a, b, step)).sum() };
        Some(pooled.pairs().map(chance).sum::<f64>().min(1.0))
    }

    fn possible_scores(&self, pooled: &Pooled<'_>) -> Vec<f64> {
        // Only a step that helps enough people can be the first at which a group reaches φ.
        let sizes = pooled.sizes().iter();
        let enough = sizes.map(|&size| self.phi.get().least_of(size)).min();
        let mut steps = pooled.steps(self.viewpoint);
        steps.retain(|&(_, helped)| enough.is_some_and(|enough| helped >= enough));
        let mut costs: Vec<f64> = steps.into_iter().map(|(cost, _)| cost).collect();
        costs.dedup();
        let dearer = |(place, &from): (usize, &f64)| {
            let dearer = costs[place + 1..].iter();
            dearer.map(move |to| to - from).collect::<Vec<_>>()
        };
        let differences = costs.iter().enumerate().flat_map(dearer);
        differences.chain([f64::INFINITY]).collect()
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
