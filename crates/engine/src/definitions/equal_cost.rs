//! **Equal Cost of Effectiveness (φ)**: what does it cost each group until a share φ gets out?
//!
//! Compares `ecd⁻¹(φ)`, the least cost at which a share φ of the group achieves recourse. The group
//! for which that is dearer is worse off; a group that never gets there pays ∞. The score is ∞ when
//! one group gets there and another does not, and 0 when all pay the same or none gets there.
//!
//! *Choose it* when "most people can" is the goal and the price is the question. *Not* when no φ
//! stands out: the finding can hinge on a single person at the threshold.

use super::{Assessment, Definition, Kind, Parameter, SCORE_GAP, compare};
use crate::decimal::Phi;
use crate::distribution::{Pooled, Subgroup, Viewpoint};

pub(super) const KIND: Kind = Kind {
    name: "equal-cost-of-effectiveness",
    usage: "equal-cost-of-effectiveness:micro|macro:PHI",
    about: "Does it cost each group as much until a share φ of it achieves recourse?",
    worse_off: "The group that has to pay more is worse off; ∞ means that it never gets there, whatever it pays.",
    parameters: &[Parameter::Viewpoint, Parameter::Phi],
    parse: |parameters| {
        let viewpoint = parameters.viewpoint()?;
        Ok(Box::new(EqualCostOfEffectiveness::new(
            viewpoint,
            parameters.phi()?,
        )))
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
    fn id(&self) -> String {
        format!("{}:{}:{}", KIND.name, self.viewpoint, self.phi)
    }

    fn title(&self) -> String {
        format!(
            "Equal Cost of Effectiveness ({}, φ = {})",
            self.viewpoint, self.phi
        )
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let costs = self.costs(subgroup);
        Some(compare::costs(costs.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        compare::score_of_costs(self.costs(subgroup))
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
