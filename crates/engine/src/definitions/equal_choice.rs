//! **Equal Choice for Recourse (φ)**: does each group have as many actions that work?
//!
//! Compares the number of valid actions whose effectiveness is at least φ (macro only: an action
//! counts for a group as a whole). The group with fewer is worse off. A score of 0 means equally
//! many, none included; the score is never infinite.
//!
//! *Choose it* when people differ in which action suits them, so that one way out is not as good as
//! five. *Not* when actions overlap so much that their number says little.

use super::{Assessment, Definition, Kind, Parameter, compare};
use crate::decimal::Phi;
use crate::distribution::{Pooled, Subgroup, Viewpoint};

pub(super) const KIND: Kind = Kind {
    name: "equal-choice",
    usage: "equal-choice:PHI",
    about: "Does each group have as many actions that work for at least a share φ of it?",
    worse_off: "The group with fewer such actions is worse off.",
    parameters: &[Parameter::Phi],
    parse: |parameters| Ok(Box::new(EqualChoice::new(parameters.phi()?))),
};

/// Each group has as many sufficiently effective actions to choose from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualChoice {
    phi: Phi,
}

impl EqualChoice {
    /// Counts actions of at least this effectiveness.
    pub fn new(phi: Phi) -> Self {
        Self { phi }
    }

    /// How many actions work for each group.
    fn choices(&self, subgroup: &Subgroup) -> impl Iterator<Item = Option<u64>> {
        (0..subgroup.groups()).map(|g| {
            (0..subgroup.actions.len()).try_fold(0, |choices, action| {
                let works = subgroup.effectiveness(action, g)?.reaches(self.phi);
                Some(choices + u64::from(works))
            })
        })
    }
}

impl Definition for EqualChoice {
    fn id(&self) -> String {
        format!("{}:{}", KIND.name, self.phi)
    }

    fn title(&self) -> String {
        format!("Equal Choice for Recourse (φ = {})", self.phi)
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let choices = self.choices(subgroup);
        Some(compare::counts(choices.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        compare::score_of_counts(self.choices(subgroup))
    }

    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        // At least `score` actions must work for one group and not for another; how likely so many
        // are is at most their expected number over `score`, as Markov says.
        let actions = pooled.steps(Viewpoint::Macro);
        let expected = |(a, b)| -> f64 {
            let actions = actions.iter();
            let alone = actions.map(|&(_, helped)| pooled.only_reaches(a, b, helped, self.phi));
            alone.sum()
        };
        let chances = pooled.pairs().map(|pair| expected(pair) / score);
        Some(chances.sum::<f64>().min(1.0))
    }

    fn possible_scores(&self, pooled: &Pooled<'_>) -> Vec<f64> {
        let actions = pooled.steps(Viewpoint::Macro).len();
        (1..=actions).map(|choices| choices as f64).collect()
    }

    fn moves_in_steps(&self) -> bool {
        true
    }

    fn lists(&self, subgroup: &Subgroup, action: usize, g: usize) -> bool {
        let share = subgroup.effectiveness(action, g);
        share.is_some_and(|share| share.reaches(self.phi))
    }
}
