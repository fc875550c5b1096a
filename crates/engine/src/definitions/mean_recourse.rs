//! **Equal (Conditional) Mean Recourse**: what does the way out cost on average?
//!
//! Micro only. Compares the mean, over the members who have an action that works for them, of the
//! cost of their cheapest one; ∞ for a group in which nobody has one. With `c_infinity` set, the
//! mean is over all members, those without recourse at that cost.

use super::{Assessment, Definition, Kind, Parameter, Statistic, Syntax, compare};
use crate::distribution::{PerGroup, Pooled, Subgroup, Viewpoint};
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

    /// The cheapest effective costs of group `g`'s members that the mean is over.
    fn costs(&self, subgroup: &Subgroup, g: usize) -> Option<Costs> {
        let mut costs = Costs::default();
        for (level, &cost) in subgroup.cost_levels.iter().enumerate() {
            let so_far = subgroup.ecd(Viewpoint::Micro, g, level + 1)?.part;
            costs.add(so_far - costs.people, cost);
        }
        costs.helped = costs.people;
        if let Some(c_infinity) = self.c_infinity {
            costs.add(subgroup.members[g] - costs.helped, c_infinity);
        }
        Some(costs)
    }

    /// The mean of group `g`.
    fn mean(&self, subgroup: &Subgroup, g: usize) -> Option<f64> {
        Some(self.costs(subgroup, g)?.mean())
    }
}

/// What the cheapest effective action costs some people.
#[derive(Clone, Copy, Default)]
struct Costs {
    people: u64,
    /// Those who have such an action.
    helped: u64,
    total: f64,
    squares: f64,
}

impl Costs {
    fn add(&mut self, people: u64, cost: f64) {
        self.people += people;
        self.total += people as f64 * cost;
        self.squares += people as f64 * cost * cost;
    }

    fn mean(&self) -> f64 {
        if self.people == 0 {
            f64::INFINITY
        } else {
            self.total / self.people as f64
        }
    }

    /// The squared standard error of the mean, and its degrees of freedom.
    fn error(&self) -> (f64, f64) {
        let n = self.people as f64;
        let spread = (self.squares - self.total * self.total / n).max(0.0) / (n - 1.0);
        (spread / n, n - 1.0)
    }
}

/// Fewer people than this in either group say nothing about a difference of means.
const FEWEST_HELPED: u64 = 5;

/// The quantile of Student's t with these degrees of freedom at the probability at which the normal
/// distribution's is `z`: the first four terms of its expansion (Abramowitz and Stegun, 26.7.5).
fn student(z: f64, freedom: f64) -> f64 {
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5)
            - 1920.0 * z.powi(3)
            - 945.0 * z)
            / 92160.0,
    ];
    let of_power = |(term, power): (f64, i32)| term / freedom.powi(power);
    z + terms.into_iter().zip(1..).map(of_power).sum::<f64>()
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

    fn gap_at_least(&self, subgroup: &Subgroup, z: f64) -> Option<f64> {
        // Welch's: the means of the cheapest and the dearest group, whose spreads may differ.
        let costs = (0..subgroup.groups()).map(|g| self.costs(subgroup, g));
        let costs = costs.collect::<Option<PerGroup<Costs>>>()?;
        if costs.iter().any(|costs| costs.helped < FEWEST_HELPED) {
            return None;
        }
        let dearest = costs.iter().max_by(|a, b| a.mean().total_cmp(&b.mean()))?;
        let cheapest = costs.iter().min_by(|a, b| a.mean().total_cmp(&b.mean()))?;
        let gap = dearest.mean() - cheapest.mean();
        let ((a, of_a), (b, of_b)) = (dearest.error(), cheapest.error());
        if a + b == 0.0 {
            return Some(gap);
        }
        let freedom = (a + b).powi(2) / (a * a / of_a + b * b / of_b);
        Some(gap - student(z, freedom) * (a + b).sqrt())
    }

    fn possible(&self, _: &Pooled<'_>) -> Vec<Statistic> {
        // Nobody of a group may have recourse, unless that has a cost too.
        let infinite = self.c_infinity.is_none().then_some(f64::INFINITY);
        infinite.into_iter().map(Statistic::of_score).collect()
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        Some(pooled.gap_of_means(self.c_infinity, least.score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.t.ppf(0.95, freedom)`.
    #[test]
    fn quantiles_are_students() {
        let z = 1.644_853_626_951_472_2;
        for (freedom, expected) in [(8.0, 1.859_548), (20.0, 1.724_718), (100.0, 1.660_234)] {
            assert!((student(z, freedom) - expected).abs() < 1e-4, "{freedom}");
        }
    }

    /// `scipy.stats.ttest_ind(a, b, equal_var=False, alternative="greater").confidence_interval(0.95)`
    #[test]
    fn bounds_are_welchs() {
        let mut a = Costs::default();
        let mut b = Costs::default();
        for (people, cost) in [(4, 2.0), (9, 4.0), (7, 6.0)] {
            a.add(people, cost);
        }
        for (people, cost) in [(12, 2.0), (10, 4.0), (3, 6.0)] {
            b.add(people, cost);
        }
        let ((ea, fa), (eb, fb)) = (a.error(), b.error());
        let freedom = (ea + eb).powi(2) / (ea * ea / fa + eb * eb / fb);
        let low =
            a.mean() - b.mean() - student(1.644_853_626_951_472_2, freedom) * (ea + eb).sqrt();
        assert!((low - 0.286_931_608).abs() < 1e-4, "{low}");
    }
}
