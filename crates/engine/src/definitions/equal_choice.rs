//! **Equal Choice for Recourse (φ)**: does each group have as many actions that work?
//!
//! Compares the number of valid actions whose effectiveness is at least φ (macro only: an action
//! counts for a group as a whole).

use super::{Assessment, Definition, Kind, Parameter, Required, Syntax, compare};
use crate::decimal::Phi;
use crate::distribution::{PerGroup, Pooled, Share, Subgroup, Viewpoint};

const KIND: Kind = Kind {
    name: "equal-choice",
    title: "Equal Choice for Recourse",
    question: "Does each group have as many actions that work for at least a share φ of it?",
    compares: "The number of actions that work for at least a share φ of the group.",
    worse_off: "The group with fewer such actions is worse off.",
    zero: "Each group has equally many such actions, possibly none.",
    infinity: "Does not occur: the number of actions is finite.",
    choose: "People differ in which action suits them, so one way out is not as good as five.",
    beware: "Actions overlap so much that their number says little.",
};

pub(super) const SYNTAX: Syntax = Syntax {
    kind: &KIND,
    usage: "equal-choice:PHI",
    required: &[Required::Phi],
    parse: |parts| Ok(Box::new(EqualChoice::new(parts.phi()?))),
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
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::Phi(self.phi)]
    }

    fn viewpoint(&self) -> Option<Viewpoint> {
        Some(Viewpoint::Macro)
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let choices = self.choices(subgroup);
        Some(compare::counts(choices.collect::<Option<_>>()?))
    }

    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        compare::score_of_counts(self.choices(subgroup))
    }

    fn gap_at_least(&self, subgroup: &Subgroup, z: f64) -> Option<f64> {
        // Of all actions, the one that most surely works for one group and not for another.
        let surest = (0..subgroup.actions.len()).map(|action| {
            let shares = (0..subgroup.groups()).map(|g| subgroup.effectiveness(action, g));
            let shares = shares.collect::<Option<PerGroup<Share>>>()?;
            compare::either_side_of_phi_at_least(&shares, self.phi, z)
        });
        let surest = surest.collect::<Option<Vec<f64>>>()?;
        surest.into_iter().max_by(f64::total_cmp)
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
