//! **Equal Effectiveness**: can as large a share of each group achieve recourse, whatever it costs?
//!
//! Compares `ecd(∞)`: micro, the share of members for whom at least one action works; macro, the
//! effectiveness of the single best action. The group with the lower share is worse off. A score of
//! 0 means equal shares; the score is never infinite.
//!
//! *Choose it* when costs are unknown or contested: it does not look at them. *Not* when everybody
//! can get out somehow and the question is how dearly they pay.

use super::{Assessment, Definition, Kind, Parameter, compare};
use crate::distribution::{DecidingCount, Pooled, Subgroup, Viewpoint};

pub(super) const KIND: Kind = Kind {
    name: "equal-effectiveness",
    usage: "equal-effectiveness:micro|macro",
    about: "Can as large a share of each group achieve recourse, whatever it costs?",
    worse_off: "The group of which a smaller share can get out is worse off.",
    parameters: &[Parameter::Viewpoint],
    parse: |parameters| Ok(Box::new(EqualEffectiveness::new(parameters.viewpoint()?))),
};

/// The same share of each group can achieve recourse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualEffectiveness {
    viewpoint: Viewpoint,
}

impl EqualEffectiveness {
    /// Read from a viewpoint.
    pub fn new(viewpoint: Viewpoint) -> Self {
        Self { viewpoint }
    }
}

impl Definition for EqualEffectiveness {
    fn id(&self) -> String {
        format!("{}:{}", KIND.name, self.viewpoint)
    }

    fn title(&self) -> String {
        format!("Equal Effectiveness ({})", self.viewpoint)
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd_at_any_cost(self.viewpoint, g));
        Some(compare::shares(shares.collect::<Option<_>>()?))
    }

    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        subgroup.deciding_count(self.viewpoint, subgroup.cost_levels.len())
    }

    fn possible_scores(&self, pooled: &Pooled<'_>) -> Vec<f64> {
        pooled.widest_gaps(self.viewpoint, f64::INFINITY)
    }

    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        Some(pooled.gap_of_ecd(self.viewpoint, f64::INFINITY, score))
    }
}
