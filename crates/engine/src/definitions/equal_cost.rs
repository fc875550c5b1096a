//! **Equal Cost of Effectiveness (φ)**: what does it cost each group until a share φ gets out?
//!
//! Compares `ecd⁻¹(φ)`, the least cost at which a share φ of the group achieves recourse. The group
//! for which that is dearer is worse off; a group that never gets there pays ∞. The score is ∞ when
//! one group gets there and another does not, and 0 when all pay the same or none gets there.
//!
//! *Choose it* when "most people can" is the goal and the price is the question. *Not* when no φ
//! stands out: the finding can hinge on a single person at the threshold.

use super::{Assessment, Definition, Kind, Parameter, compare};
use crate::decimal::Phi;
use crate::distribution::{Subgroup, Viewpoint};

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
        let cost = |g| subgroup.cost_of_effectiveness(self.viewpoint, g, self.phi);
        let costs = (0..subgroup.groups()).map(cost);
        Some(compare::costs(costs.collect::<Option<_>>()?))
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
