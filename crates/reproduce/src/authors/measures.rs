//! The paper's columns, each computed from a list as the authors' code does.

use facts_engine::definitions;
use facts_engine::distribution::Viewpoint;

use super::lists::{Listed, Step};

/// One column of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Equal Cost of Effectiveness, macro, for an effectiveness φ.
    CostMacro(f64),
    /// Equal Choice for Recourse, for an effectiveness φ.
    Choice(f64),
    /// Equal Effectiveness, micro.
    Effectiveness,
    /// Equal Effectiveness within Budget, micro, for a budget.
    WithinBudget(f64),
    /// Equal Cost of Effectiveness, micro, for an effectiveness φ.
    CostMicro(f64),
    /// Equal (Conditional) Mean Recourse.
    MeanRecourse,
    /// Fair Effectiveness–Cost Trade-Off, micro.
    TradeOff,
}

/// How a subgroup fares under a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assessed {
    /// What each group has; the Trade-Off compares no single values.
    pub values: Option<[f64; 2]>,
    /// The unfairness score.
    pub score: f64,
    /// The group that the column names as worse off.
    pub against: Option<usize>,
}

impl Measure {
    /// The column for a definition's id, such as `equal-choice:0.7`, if the paper has it.
    pub fn parse(id: &str) -> Option<Self> {
        let definition = definitions::parse(id).ok()?;
        let phi = || Some(definition.phi()?.get().to_f64());
        Some(match (definition.kind().name, definition.viewpoint()?) {
            ("equal-cost-of-effectiveness", Viewpoint::Macro) => Self::CostMacro(phi()?),
            ("equal-cost-of-effectiveness", Viewpoint::Micro) => Self::CostMicro(phi()?),
            ("equal-choice", _) => Self::Choice(phi()?),
            ("equal-effectiveness", Viewpoint::Micro) => Self::Effectiveness,
            ("equal-effectiveness-within-budget", Viewpoint::Micro) => {
                Self::WithinBudget(definition.budget()?)
            }
            ("equal-mean-recourse", _) if definition.parameters().is_empty() => Self::MeanRecourse,
            ("fair-trade-off", Viewpoint::Micro) => Self::TradeOff,
            _ => return None,
        })
    }

    /// What a subgroup's groups have, how far apart that is, and who is worse off.
    pub fn assess(self, listed: &Listed) -> Assessed {
        if self == Self::TradeOff {
            return trade_off(listed);
        }
        let values = [0, 1].map(|g| self.value(listed, g));
        let gap = values[0] - values[1];
        // ∞ − ∞ is no number, and counts as no difference.
        let gap = if gap.is_nan() { 0.0 } else { gap };
        let more_is_better = matches!(self, Self::Effectiveness | Self::WithinBudget(_));
        let against = match (gap > 0.0) == more_is_better {
            _ if gap == 0.0 => None,
            false => Some(0),
            true => Some(1),
        };
        Assessed {
            values: Some(values),
            score: gap.abs(),
            against,
        }
    }

    fn value(self, listed: &Listed, g: usize) -> f64 {
        let atomic =
            || (listed.actions.iter()).map(|action| (action.effectiveness[g], action.cost));
        let cumulated = &listed.cumulated[g];
        let steps = || cumulated.iter().map(|step| (step.effectiveness, step.cost));
        match self {
            Self::CostMacro(phi) => cheapest(atomic(), phi),
            Self::CostMicro(phi) => cheapest(steps(), phi),
            // Counted downwards, so that less is worse here as with costs.
            Self::Choice(phi) => -(atomic().filter(|(share, _)| *share >= phi).count() as f64),
            Self::Effectiveness => steps().map(|(share, _)| share).fold(f64::MIN, f64::max),
            Self::WithinBudget(budget) => {
                let within = steps().filter(|(_, cost)| *cost <= budget);
                within
                    .map(|(share, _)| share)
                    .reduce(f64::max)
                    .unwrap_or(f64::INFINITY)
            }
            Self::MeanRecourse => mean_cost(cumulated),
            Self::TradeOff => f64::NAN,
        }
    }
}

/// The least cost at which a share of φ is reached.
fn cheapest(shares: impl Iterator<Item = (f64, f64)>, phi: f64) -> f64 {
    shares
        .filter(|(share, _)| *share >= phi)
        .map(|(_, cost)| cost)
        .fold(f64::INFINITY, f64::min)
}

/// The mean cost of those who achieve recourse: what each step adds, times what it costs.
fn mean_cost(steps: &[Step]) -> f64 {
    let mut before = 0.0;
    let added: Vec<f64> = steps
        .iter()
        .map(|step| step.effectiveness - std::mem::replace(&mut before, step.effectiveness))
        .collect();
    let reached = numpy_sum(&added);
    if reached <= 0.0 {
        return f64::INFINITY;
    }
    let costs = added
        .iter()
        .zip(steps)
        .map(|(added, step)| added * step.cost);
    costs.sum::<f64>() / reached
}

/// A sum in the order in which numpy adds: one after another up to seven terms, else in eight lanes.
/// Lists are short of the length from which it adds by halves.
fn numpy_sum(terms: &[f64]) -> f64 {
    if terms.len() < 8 {
        return terms.iter().fold(0.0, |sum, term| sum + term);
    }
    let chunks = terms.chunks_exact(8);
    let rest = chunks.remainder();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        for (lane, term) in lanes.iter_mut().zip(chunk) {
            *lane += term;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(sum, |sum, term| sum + term)
}

/// The widest gap after any action of the two lists; the lower group there, the first when they are equal.
fn trade_off(listed: &Listed) -> Assessed {
    let [first, second] = &listed.cumulated;
    let mut widest = (f64::NEG_INFINITY, 0);
    for (a, b) in first.iter().zip(second) {
        let (a, b) = (a.effectiveness, b.effectiveness);
        let gap = (a - b).abs();
        if gap > widest.0 {
            widest = (gap, usize::from(b < a));
        }
    }
    Assessed {
        values: None,
        score: widest.0.max(0.0),
        against: Some(widest.1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Atomic;
    use super::*;

    fn listed() -> Listed {
        let step = |cost, effectiveness| Step {
            cost,
            effectiveness,
        };
        let action = |cost, first, second| Atomic {
            cost,
            effectiveness: [first, second],
        };
        Listed {
            predicate: "job = clerk".to_owned(),
            actions: vec![action(2.0, 0.4, 0.2), action(2.0, 0.1, 0.3)],
            cumulated: [
                vec![step(2.0, 0.4), step(2.0, 0.5)],
                vec![step(2.0, 0.2), step(2.0, 0.5)],
            ],
        }
    }

    #[test]
    fn the_trade_off_stops_inside_a_tie_of_costs() {
        let assessed = Measure::TradeOff.assess(&listed());
        assert_eq!((assessed.score, assessed.against), (0.2, Some(1)));
        // At the end of the tie both groups have the same, which is what the method looks at.
        assert_eq!(Measure::Effectiveness.assess(&listed()).score, 0.0);
    }

    #[test]
    fn a_budget_without_actions_is_infinite_and_fair() {
        let assessed = Measure::WithinBudget(1.0).assess(&listed());
        assert_eq!(assessed.values, Some([f64::INFINITY; 2]));
        assert_eq!((assessed.score, assessed.against), (0.0, None));
    }

    #[test]
    fn less_effect_fewer_choices_and_higher_costs_are_worse() {
        let against = |id: &str| Measure::parse(id).unwrap().assess(&listed()).against;
        assert_eq!(against("equal-choice:0.3"), None);
        assert_eq!(against("equal-choice:0.4"), Some(1));
        assert_eq!(against("equal-cost-of-effectiveness:macro:0.4"), Some(1));
        assert_eq!(against("equal-effectiveness:micro"), None);
        assert_eq!(Measure::parse("equal-effectiveness:macro"), None);
    }
}
