//! **Equal (Conditional) Mean Recourse**: what does the way out cost on average?
//!
//! Micro only. Compares the mean, over the members who have an action that works for them, of the
//! cost of their cheapest one; ∞ for a group in which nobody has one. With `c_infinity` set, the
//! mean is over all members, those without recourse at that cost.

use super::{Assessment, Definition, Kind, Parameter, Syntax, compare};
use crate::distribution::{Pooled, Subgroup, Viewpoint};
use crate::error::Error;

const KIND: Kind = Kind {
    name: "equal-mean-recourse",
    title: "Equal (Conditional) Mean Recourse",
    question: "Does the cheapest way out cost the members of each group as much on average?",
    compares: "The mean cost of each member’s cheapest action that works, over those who have one; where a cost for having none is set, over all members.",
    worse_off: "The group that pays more is worse off; ∞ means that nobody of it has a way out.",
    zero: "The means are equal, or no group has recourse at all.",
    infinity: "Somebody in one group has a way out, and nobody in another has.",
    choose: "The classic question: how much harder is it on average?",
    beware: "It is the only one looked at: the conditional mean looks away from those without a way out, and a single dear case moves it.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "equal-mean-recourse[:C_INFINITY]",
    required: &[],
    parse: |parts| {
        Ok(Box::new(match parts.optional_decimal()? {
            None => EqualMeanRecourse::conditional(),
            Some(cost) => EqualMeanRecourse::over_all(cost.to_f64())?,
        }))
    },
};

/// The mean cost of recourse is the same for each group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualMeanRecourse {
    c_infinity: Option<f64>,
}

impl EqualMeanRecourse {
    /// The mean over those who can achieve recourse.
    pub fn conditional() -> Self {
        Self { c_infinity: None }
    }

    /// The mean over all members, those without recourse at this cost.
    pub fn over_all(c_infinity: f64) -> Result<Self, Error> {
        if !(c_infinity.is_finite() && c_infinity >= 0.0) {
            return Err(Error::BadParameter {
                what: "the cost of having no recourse",
                value: c_infinity.to_string(),
                must: "a finite number of at least 0",
            });
        }
        Ok(Self {
            c_infinity: Some(c_infinity),
        })
    }

    fn mean(&self, subgroup: &Subgroup, g: usize) -> Option<f64> {
        let mut total = 0.0;
        let mut helped = 0;
        for (level, cost) in subgroup.cost_levels.iter().enumerate() {
            let so_far = subgroup.ecd(Viewpoint::Micro, g, level + 1)?.part;
            total += (so_far - helped) as f64 * cost;
            helped = so_far;
        }
        Some(match self.c_infinity {
            None if helped == 0 => f64::INFINITY,
            None => total / helped as f64,
            Some(c_infinity) => {
                let members = subgroup.members[g];
                (total + (members - helped) as f64 * c_infinity) / members as f64
            }
        })
    }
}

impl Definition for EqualMeanRecourse {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        let symbol = "c∞";
        let cost = self.c_infinity.into_iter();
        cost.map(|value| Parameter::Other { symbol, value })
            .collect()
    }

    fn viewpoint(&self) -> Option<Viewpoint> {
        Some(Viewpoint::Micro)
    }

    fn title(&self) -> String {
        // The mean over all members is not conditional.
        match self.c_infinity {
            None => KIND.title.to_owned(),
            Some(cost) => format!("Equal Mean Recourse (c∞ = {cost})"),
        }
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let means = (0..subgroup.groups()).map(|g| self.mean(subgroup, g));
        Some(compare::costs(means.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        let means = (0..subgroup.groups()).map(|g| self.mean(subgroup, g));
        compare::score_of_costs(means)
    }

    fn possible_scores(&self, _: &Pooled<'_>) -> Vec<f64> {
        // Nobody of a group may have recourse, unless that has a cost too.
        let infinite = self.c_infinity.is_none().then_some(f64::INFINITY);
        infinite.into_iter().collect()
    }

    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        Some(pooled.gap_of_means(self.c_infinity, score))
    }
}
