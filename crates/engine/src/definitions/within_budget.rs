//! **Equal Effectiveness within Budget (c)**: what share of each group can get out for at most c?
//!
//! Compares `ecd(c)`. The group with the lower share is worse off. A group without any action in
//! budget has the share 0. A score of 0 means equal shares; the score is never infinite.
//!
//! *Choose it* when there is a limit to what can be asked of people: a year of study, a sum of
//! money. *Not* when the costs are only rough, since the budget cuts sharply.

use super::{Assessment, Definition, Kind, Parameter, compare};
use crate::distribution::{DecidingCount, Pooled, Subgroup, Viewpoint};
use crate::error::Error;

pub(super) const KIND: Kind = Kind {
    name: "equal-effectiveness-within-budget",
    usage: "equal-effectiveness-within-budget:micro|macro:COST",
    about: "Can as large a share of each group achieve recourse at no more than a given cost?",
    worse_off: "The group of which a smaller share can get out within the budget is worse off; a group without any action in budget has the share 0.",
    parameters: &[Parameter::Viewpoint, Parameter::Budget],
    parse: |parameters| {
        let viewpoint = parameters.viewpoint()?;
        let budget = parameters.decimal()?.to_f64();
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
    fn id(&self) -> String {
        format!("{}:{}:{}", KIND.name, self.viewpoint, self.budget)
    }

    fn title(&self) -> String {
        // The id has the whole number; four decimals are enough to read.
        let budget = (self.budget * 1e4).round() / 1e4;
        format!(
            "Equal Effectiveness within Budget ({}, c = {budget})",
            self.viewpoint
        )
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let levels = subgroup.levels_within(self.budget);
        let shares = (0..subgroup.groups()).map(|g| subgroup.ecd(self.viewpoint, g, levels));
        Some(compare::shares(shares.collect::<Option<_>>()?))
    }

    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        subgroup.deciding_count(self.viewpoint, subgroup.levels_within(self.budget))
    }

    fn possible_scores(&self, pooled: &Pooled<'_>) -> Vec<f64> {
        pooled.widest_gaps(self.viewpoint, self.budget)
    }

    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        Some(pooled.gap_of_ecd(self.viewpoint, self.budget, score))
    }

    fn lists(&self, subgroup: &Subgroup, action: usize, _: usize) -> bool {
        (subgroup.actions[action].cost_level as usize) < subgroup.levels_within(self.budget)
    }
}
