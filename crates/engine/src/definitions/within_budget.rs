//! **Equal Effectiveness within Budget (c)**: what share of each group can get out for at most c?
//!
//! Compares `ecd(c)`. A group without any action in budget has the share 0.

use super::{Assessment, Definition, Kind, Parameter, Required, Statistic, Syntax, compare};
use crate::distribution::{DecidingCount, Pooled, Subgroup, Viewpoint};
use crate::error::Error;

const KIND: Kind = Kind {
    name: "equal-effectiveness-within-budget",
    title: "Equal Effectiveness within Budget",
    question: "Can as large a share of each group achieve recourse at no more than a given cost?",
    compares: "The share of each group that can achieve recourse at a cost of at most c.",
    worse_off: "The group of which a smaller share can get out within the budget is worse off; a group without any action in budget has the share 0.",
    zero: "The same share of each group gets out within the budget.",
    infinity: "Does not occur: shares differ by at most 1.",
    choose: "There is a limit to what can be asked of people: a year of study, a sum of money.",
    beware: "The costs are only rough: a budget cuts sharply.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "equal-effectiveness-within-budget:micro|macro:COST",
    required: &[Required::Viewpoint, Required::Budget],
    parse: |parts| {
        let viewpoint = parts.viewpoint()?;
        let budget = parts.decimal()?.to_f64();
        Ok(Box::new(EqualEffectivenessWithinBudget::new(
            viewpoint, budget,
        )?))
    },
};

/// The same share of each group can achieve recourse at no more than a given cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualEffectivenessWithinBudget {
    viewpoint: Viewpoint,
    budget: f64,
}

impl EqualEffectivenessWithinBudget {
    /// Read from a viewpoint, for a budget of at least 0.
    pub fn new(viewpoint: Viewpoint, budget: f64) -> Result<Self, Error> {
        if !(budget.is_finite() && budget >= 0.0) {
            return Err(Error::BadParameter {
                what: "the budget",
                value: budget.to_string(),
                must: "a finite number of at least 0",
            });
        }
        Ok(Self { viewpoint, budget })
    }
}

impl Definition for EqualEffectivenessWithinBudget {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::Viewpoint(self.viewpoint),
            Parameter::Budget(self.budget),
        ]
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let levels = subgroup.levels_within(self.budget);
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, levels));
        Some(compare::shares(shares.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        let levels = subgroup.levels_within(self.budget);
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, levels));
        compare::score_of_shares(shares)
    }

    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        subgroup.deciding_count(self.viewpoint, subgroup.levels_within(self.budget))
    }

    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        pooled.widest_gaps(self.viewpoint, self.budget)
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        Some(pooled.gap_of_ecd(self.viewpoint, self.budget, least.score))
    }

    fn could_differ(&self, pooled: &Pooled<'_>) -> bool {
        // Without an action in budget all shares are 0.
        !pooled.widest_gaps(self.viewpoint, self.budget).is_empty()
    }

    fn lists(&self, subgroup: &Subgroup, action: usize, _: usize) -> bool {
        (subgroup.actions[action].cost_level as usize) < subgroup.levels_within(self.budget)
    }
}
