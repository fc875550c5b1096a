//! **Equal Choice for Recourse (φ)**: does each group have as many actions that work?
//!
//! Compares the number of valid actions whose effectiveness is at least φ (macro only: an action
//! counts for a group as a whole).

use super::{
    Assessment, Definition, Kind, Parameter, Required, SCORE_GAP, Statistic, Syntax, compare,
};
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

    /// Of the actions that work for one group and not for another, the one with the widest gap between
    /// shares, and that gap; the first of several.
    fn widest(&self, subgroup: &Subgroup) -> Option<Option<(usize, f64)>> {
        let mut widest: Option<(usize, f64)> = None;
        for action in 0..subgroup.actions.len() {
            let shares = (0..subgroup.groups()).map(|g| subgroup.effectiveness(action, g));
            let (least, most) = compare::ends_of_shares(shares)?;
            if most.reaches(self.phi) && !least.reaches(self.phi) {
                let gap = most.gap(least);
                if widest.is_none_or(|(_, widest)| gap > widest + SCORE_GAP) {
                    widest = Some((action, gap));
                }
            }
        }
        Some(widest)
    }

    /// What is compared between two groups, in one go: all gaps have one denominator.
    fn statistic_of_two(&self, subgroup: &Subgroup, members: [u64; 2]) -> Option<Statistic> {
        let enough = members.map(|members| self.phi.get().least_of(members));
        let mut more: i64 = 0;
        let mut widest = None;
        for action in 0..subgroup.actions.len() {
            let flips = |g: usize| subgroup.flips(action, g).known();
            let flips = [flips(0)?, flips(1)?];
            let works = [0, 1].map(|g| flips[g] >= enough[g]);
            if works[0] != works[1] {
                more += if works[0] { 1 } else { -1 };
                let share = |g: usize| Share::new(flips[g], members[g]);
                let (gap, denominator) = share(0).exact_gap(share(1));
                widest = widest.max(Some((gap, denominator)));
            }
        }
        let score = more.unsigned_abs() as f64;
        let gap = match widest {
            Some((gap, denominator)) if more != 0 => gap as f64 / denominator as f64,
            _ => 0.0,
        };
        Some(Statistic { score, gap })
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

/// How likely at least so many of some events happen together, at most. Leave out the likeliest few: of
/// the rest at least as many less happen, and that is at most as likely as their expected number over
/// it, as Markov says. The best of these bounds.
fn so_many(mut chances: Vec<f64>, least: f64) -> f64 {
    chances.sort_by(f64::total_cmp);
    let mut best = f64::INFINITY;
    let mut sum = 0.0;
    for (place, chance) in chances.iter().enumerate() {
        sum += chance;
        let still = least - (chances.len() - 1 - place) as f64;
        if still > SCORE_GAP {
            best = best.min(sum / still);
        }
    }
    // More than there are do not happen.
    if least > chances.len() as f64 + SCORE_GAP {
        0.0
    } else {
        best
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

    fn statistic(&self, subgroup: &Subgroup) -> Option<Statistic> {
        if let [first, second] = *subgroup.members {
            return self.statistic_of_two(subgroup, [first, second]);
        }
        let score = self.score(subgroup)?;
        let gap = match score > 0.0 {
            true => self.widest(subgroup)?.map_or(0.0, |(_, gap)| gap),
            false => 0.0,
        };
        Some(Statistic { score, gap })
    }

    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        let actions = pooled.steps(Viewpoint::Macro);
        if least.score > actions.len() as f64 + SCORE_GAP {
            // More than there are do not work.
            return Some(0.0);
        }
        // How likely each action works for one group and not for another, shares so far apart.
        let alone = |(a, b), gap| -> Vec<f64> {
            let actions = actions.iter();
            let alone =
                actions.map(|&(_, helped)| pooled.only_reaches(a, b, helped, self.phi, gap));
            alone.collect()
        };
        // More such actions; or so many, of which one has so wide a gap.
        let at_least = |choices: f64| -> f64 {
            let pairs = pooled.pairs();
            pairs.map(|pair| so_many(alone(pair, 0.0), choices)).sum()
        };
        let wide: f64 = pooled.pairs().flat_map(|pair| alone(pair, least.gap)).sum();
        let as_many = at_least(least.score);
        Some(as_many.min(at_least(least.score + 1.0) + wide))
    }

    fn chance_of_gap(&self, subgroup: &Subgroup, pooled: &Pooled<'_>) -> Option<f64> {
        let (action, gap) = self.widest(subgroup)??;
        Some(pooled.gap(pooled.flipped(action), gap))
    }

    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        let actions = pooled.steps(Viewpoint::Macro);
        let gaps = actions
            .iter()
            .flat_map(|&(_, helped)| pooled.widest_gaps_of(helped));
        let gap = gaps.fold(0.0, f64::max);
        let choices = 1..=actions.len();
        let statistic = |choices: usize| Statistic {
            score: choices as f64,
            gap,
        };
        choices.map(statistic).collect()
    }

    fn could_differ(&self, pooled: &Pooled<'_>) -> bool {
        !pooled.steps_to(Viewpoint::Macro, self.phi).is_empty()
    }

    fn moves_in_steps(&self) -> bool {
        true
    }

    fn lists(&self, subgroup: &Subgroup, action: usize, g: usize) -> bool {
        let share = subgroup.effectiveness(action, g);
        share.is_some_and(|share| share.reaches(self.phi))
    }
}
