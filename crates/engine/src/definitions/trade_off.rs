//! **Fair Effectiveness–Cost Trade-Off**: do the groups fare alike at every budget?
//!
//! The score is the widest gap between the groups' effectiveness–cost distributions at any cost:
//! the two-sample Kolmogorov–Smirnov statistic. The group that is lower at the widest gap (at the
//! cheapest cost with that gap) is worse off; the values shown are those at that cost.
//!
//! Micro only, the definition also tells whether the statistic D passes
//! `√(−ln(α/2) · (n₀ + n₁) / (2·n₀·n₁))` with n the members. The macro curve is no empirical
//! distribution, so no test is claimed for it.

use super::{Assessment, Definition, Kind, Parameter, Required, Statistic, Syntax, compare};
use crate::decimal::Decimal;
use crate::distribution::{DecidingCount, Pooled, Subgroup, Viewpoint};
use crate::error::Error;

const KIND: Kind = Kind {
    name: "fair-trade-off",
    title: "Fair Effectiveness–Cost Trade-Off",
    question: "Do the groups fare alike at every budget?",
    compares: "The groups’ effectiveness–cost distributions at every cost; the score is the widest gap between them.",
    worse_off: "The group that is lower where the gap is widest is worse off.",
    zero: "The distributions are identical.",
    infinity: "Does not occur: shares differ by at most 1.",
    choose: "No single budget or target can be defended.",
    beware: "The question is how large a difference in price is: this measures shares.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "fair-trade-off:micro[:ALPHA]|macro",
    required: &[Required::Viewpoint],
    parse: |parts| {
        let viewpoint = parts.viewpoint()?;
        let plain = FairTradeOff::new(viewpoint);
        Ok(Box::new(match viewpoint {
            Viewpoint::Macro => plain,
            Viewpoint::Micro => match parts.optional_decimal()? {
                None => plain,
                Some(alpha) => plain.alpha(alpha)?,
            },
        }))
    },
};

/// The groups' effectiveness–cost distributions are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairTradeOff {
    viewpoint: Viewpoint,
    alpha: f64,
}

impl FairTradeOff {
    /// Read from a viewpoint; micro tests at α = 0.05.
    pub fn new(viewpoint: Viewpoint) -> Self {
        Self {
            viewpoint,
            alpha: 0.05,
        }
    }

    /// Tests at another α, above 0 and below 1.
    pub fn alpha(mut self, alpha: Decimal) -> Result<Self, Error> {
        self.alpha = alpha.to_f64();
        if self.alpha > 0.0 && self.alpha < 1.0 {
            return Ok(self);
        }
        Err(Error::BadParameter {
            what: "the significance level α",
            value: alpha.to_string(),
            must: "above 0 and below 1",
        })
    }

    /// The gap that two groups of these sizes must show to pass the test.
    fn threshold(&self, n0: u64, n1: u64) -> f64 {
        let (n0, n1) = (n0 as f64, n1 as f64);
        (-(self.alpha / 2.0).ln() * (n0 + n1) / (2.0 * n0 * n1)).sqrt()
    }
}

impl Definition for FairTradeOff {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::Viewpoint(self.viewpoint)];
        if self.viewpoint == Viewpoint::Micro {
            parameters.push(Parameter::Alpha(self.alpha));
        }
        parameters
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let widest = subgroup.widest_gap(self.viewpoint)?;
        let mut assessment = compare::shares(widest.shares);
        if self.viewpoint == Viewpoint::Micro {
            let members = &subgroup.members;
            let passes =
                |(a, b): (usize, usize)| assessment.score > self.threshold(members[a], members[b]);
            assessment.significant = Some(widest.pairs.into_iter().any(passes));
        }
        Some(assessment)
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        let [first, second] = *subgroup.members else {
            return Some(self.assess(subgroup)?.score);
        };
        // All gaps of two groups have one denominator.
        let mut widest = 0;
        for levels in 1..=subgroup.cost_levels.len() {
            let of = |g| Some(u128::from(subgroup.ecd(self.viewpoint, g, levels)?.part));
            let (a, b) = (of(0)? * u128::from(second), of(1)? * u128::from(first));
            widest = widest.max(a.abs_diff(b));
        }
        let denominator = u128::from(first) * u128::from(second);
        Some(compare::zero_if_tiny(widest as f64 / denominator as f64))
    }

    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        // With a single cost there is a single gap.
        let levels = subgroup.cost_levels.len();
        (levels == 1).then(|| subgroup.deciding_count(self.viewpoint, levels))?
    }

    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        pooled.widest_gaps(self.viewpoint, f64::INFINITY)
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        // The widest gap is that of some cost level or action.
        let steps = pooled.steps(self.viewpoint).into_iter();
        let chances = steps.map(|(_, helped)| pooled.gap(helped, least.score));
        Some(chances.sum())
    }
}
