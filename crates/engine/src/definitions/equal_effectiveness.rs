//! **Equal Effectiveness**: can as large a share of each group achieve recourse, whatever it costs?
//!
//! Compares `ecd(∞)`: micro, the share of members for whom at least one action works; macro, the
//! effectiveness of the single best action.

use super::{Assessment, Definition, Kind, Parameter, Required, Statistic, Syntax, compare};
use crate::distribution::{DecidingCount, Pooled, Subgroup, Viewpoint};

const KIND: Kind = Kind {
    name: "equal-effectiveness",
    title: "Equal Effectiveness",
    question: "Can as large a share of each group achieve recourse, whatever it costs?",
    compares: "The share of each group that can achieve recourse at any cost.",
    worse_off: "The group of which a smaller share can get out is worse off.",
    zero: "The same share of each group can get out.",
    infinity: "Does not occur: shares differ by at most 1.",
    choose: "Costs are unknown or contested: this definition does not look at them.",
    beware: "Everybody can get out somehow, and the question is how dearly they pay.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "equal-effectiveness:micro|macro",
    required: &[Required::Viewpoint],
    parse: |parts| Ok(Box::new(EqualEffectiveness::new(parts.viewpoint()?))),
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
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::Viewpoint(self.viewpoint)]
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd_at_any_cost(self.viewpoint, g));
        Some(compare::shares(shares.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd_at_any_cost(self.viewpoint, g));
        compare::score_of_shares(shares)
    }

    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        subgroup.deciding_count(self.viewpoint, subgroup.cost_levels.len())
    }

    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        pooled.widest_gaps(self.viewpoint, f64::INFINITY)
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        Some(pooled.gap_of_ecd(self.viewpoint, f64::INFINITY, least.score))
    }
}
