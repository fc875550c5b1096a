//! The six definitions of fairness of recourse, one file each.
//!
//! A [`Definition`] reads a [`Subgroup`]'s counts and says how each group fares, how unequal that is
//! (the *unfairness score*, 0 when fair) and whom it is *against*. Its [`Kind`] says in plain words
//! who is worse off, what scores of 0 and ∞ mean, and when to choose it. A new definition is a new
//! file with a type that implements the trait, and one line in [`KINDS`]; one that is never written as
//! an id needs no such line.
//!
//! For two groups the score is the absolute difference of their values; for more, the largest
//! pairwise one. ∞ − ∞ = 0, and ∞ − finite = ∞.

mod compare;
mod equal_choice;
mod equal_cost;
mod equal_effectiveness;
mod mean_recourse;
mod syntax;
mod trade_off;
mod within_budget;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::equal_choice::EqualChoice;
pub use self::equal_cost::EqualCostOfEffectiveness;
pub use self::equal_effectiveness::EqualEffectiveness;
pub use self::mean_recourse::EqualMeanRecourse;
use self::syntax::Required;
pub use self::syntax::{KINDS, Syntax, expand, parse};
pub use self::trade_off::FairTradeOff;
pub use self::within_budget::EqualEffectivenessWithinBudget;
use crate::decimal::Phi;
use crate::distribution::{DecidingCount, PerGroup, Pooled, Share, Subgroup, Viewpoint};
pub use crate::distribution::{SCORE_GAP, Statistic};
use crate::error::Error;

/// How one group fares under a definition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupValue {
    /// A share of its members.
    Share(Share),
    /// A number of actions.
    Count(u64),
    /// A cost; may be infinite.
    #[serde(with = "crate::infinity")]
    Cost(f64),
}

impl GroupValue {
    /// The value as a number.
    pub fn number(self) -> f64 {
        match self {
            Self::Share(share) => share.ratio(),
            Self::Count(count) => count as f64,
            Self::Cost(cost) => cost,
        }
    }
}

/// What a definition says about one subgroup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// How each group fares.
    pub values: PerGroup<GroupValue>,
    /// The unfairness score: 0 is fair, ∞ is possible.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// The worse-off groups, in order of name; empty when the score is 0.
    pub against: PerGroup<usize>,
    /// Whether a significance test that is part of the definition is passed, if there is one.
    pub significant: Option<bool>,
}

/// What a score of 0 stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fair {
    /// The groups fare alike.
    Equal,
    /// Nobody gets there: no group reaches anything.
    OutOfReach,
}

impl Assessment {
    /// What being fair means here; none if it is not fair.
    pub fn fair(&self) -> Option<Fair> {
        let nowhere = |value: &GroupValue| match value {
            GroupValue::Share(share) => share.part == 0,
            GroupValue::Count(actions) => *actions == 0,
            GroupValue::Cost(cost) => cost.is_infinite(),
        };
        let fair = match self.values.iter().all(nowhere) {
            true => Fair::OutOfReach,
            false => Fair::Equal,
        };
        self.against.is_empty().then_some(fair)
    }
}

/// A way to say what makes recourse unfair.
pub trait Definition: fmt::Debug + Send + Sync {
    /// What is asked, whatever the parameters.
    fn kind(&self) -> &'static Kind;

    /// The parameters, in the order in which ids and titles name them.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// The viewpoint whose effectiveness–cost distribution it reads, if that is one of the two.
    fn viewpoint(&self) -> Option<Viewpoint> {
        (self.parameters().into_iter()).find_map(|parameter| match parameter {
            Parameter::Viewpoint(viewpoint) => Some(viewpoint),
            _ => None,
        })
    }

    /// The target effectiveness φ, if it has one.
    fn phi(&self) -> Option<Phi> {
        (self.parameters().into_iter()).find_map(|parameter| match parameter {
            Parameter::Phi(phi) => Some(phi),
            _ => None,
        })
    }

    /// The budget c, if it has one.
    fn budget(&self) -> Option<f64> {
        (self.parameters().into_iter()).find_map(|parameter| match parameter {
            Parameter::Budget(budget) => Some(budget),
            _ => None,
        })
    }

    /// The definition with its parameters as one writes it: `equal-effectiveness:micro`.
    fn id(&self) -> String {
        let parameters = self.parameters().into_iter();
        parameters.fold(self.kind().name.to_owned(), |id, parameter| {
            format!("{id}:{parameter}")
        })
    }

    /// The definition with its parameters as one reads it.
    fn title(&self) -> String {
        let parameters = self.parameters();
        let read: Vec<String> = parameters.iter().filter_map(Parameter::read).collect();
        match read.as_slice() {
            [] => self.kind().title.to_owned(),
            read => format!("{} ({})", self.kind().title, read.join(", ")),
        }
    }

    /// How a subgroup's groups compare; `None` if a count that is needed was suppressed.
    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment>;

    /// The score alone, the same as that of [`assess`](Self::assess), for those who ask a million
    /// times.
    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        Some(self.assess(subgroup)?.score)
    }

    /// What the tests compare, in the data and in every permutation alike: the score, and what breaks its
    /// ties. For those who ask a million times.
    fn statistic(&self, subgroup: &Subgroup) -> Option<Statistic> {
        Some(Statistic::of_score(self.score(subgroup)?))
    }

    /// A one-sided lower bound of how far the worst-off group lies from the best-off, `z` standard
    /// deviations from what was found: what is left of the gap when chance is given its due. 0 or less
    /// where chance could explain all of it; `None` where there is no such bound. Findings are listed
    /// for people by it.
    fn gap_at_least(&self, subgroup: &Subgroup, z: f64) -> Option<f64> {
        let values = self.assess(subgroup)?.values;
        let shares = values.iter().map(|value| match value {
            GroupValue::Share(share) => Some(*share),
            _ => None,
        });
        compare::gap_of_shares_at_least(&shares.collect::<Option<PerGroup<Share>>>()?, z)
    }

    /// The count of members that alone decides, if the score is the gap between the groups' shares
    /// of it. Two groups can then be tested exactly.
    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        let _ = subgroup;
        None
    }

    /// The tail of what the tests compare, from pooled counts alone: how likely something as large is
    /// when the members' groups are permuted, or a bound on it, which may exceed 1. `None` if only
    /// drawn permutations can tell.
    fn chance(&self, pooled: &Pooled<'_>, least: Statistic) -> Option<f64> {
        let _ = (pooled, least);
        None
    }

    /// How likely a gap as wide as the one that breaks ties is, at the cost or by the action that
    /// decided, in whatever direction. `None` if ties are not broken, or nothing was found.
    fn chance_of_gap(&self, subgroup: &Subgroup, pooled: &Pooled<'_>) -> Option<f64> {
        let _ = (subgroup, pooled);
        None
    }

    /// What might be found, whoever belongs to which group; not all of it need be possible. Where
    /// permutations show few different scores, this says what else could have been found.
    fn possible(&self, pooled: &Pooled<'_>) -> Vec<Statistic> {
        let _ = pooled;
        Vec::new()
    }

    /// Whether any score above 0 could be found, whoever belongs to which group. Where none could, no
    /// permutation need be looked at.
    fn could_differ(&self, pooled: &Pooled<'_>) -> bool {
        let _ = pooled;
        true
    }

    /// Whether what is compared moves in steps, so that hardly anybody's leaving or joining moves it
    /// at all.
    fn moves_in_steps(&self) -> bool {
        false
    }

    /// Whether a comparative subgroup counterfactual lists an action for group `g`.
    fn lists(&self, subgroup: &Subgroup, action: usize, g: usize) -> bool {
        let _ = (subgroup, action, g);
        true
    }
}

/// What a definition asks, in the words that reports explain it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The first part of an id.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// What is compared between the groups.
    pub compares: &'static str,
    /// Who is worse off.
    pub worse_off: &'static str,
    /// What a score of 0 means.
    pub zero: &'static str,
    /// What a score of ∞ means.
    pub infinity: &'static str,
    /// When to look at it.
    pub choose: &'static str,
    /// When not to rely on it.
    pub beware: &'static str,
}

/// A parameter of a definition, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// Micro or macro.
    Viewpoint(Viewpoint),
    /// The target effectiveness φ.
    Phi(Phi),
    /// The budget c.
    Budget(f64),
    /// The level α of a significance test that is part of the definition.
    Alpha(f64),
    /// Any other number.
    Other {
        /// What it is called in titles.
        symbol: &'static str,
        /// The number.
        value: f64,
    },
}

impl fmt::Display for Parameter {
    /// As ids name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Viewpoint(viewpoint) => viewpoint.fmt(f),
            Self::Phi(phi) => phi.fmt(f),
            Self::Budget(value) | Self::Alpha(value) | Self::Other { value, .. } => value.fmt(f),
        }
    }
}

impl Parameter {
    /// As titles name it; none if they leave it out.
    fn read(&self) -> Option<String> {
        match self {
            Self::Viewpoint(viewpoint) => Some(viewpoint.to_string()),
            Self::Phi(phi) => Some(format!("φ = {phi}")),
            // The id has the whole number; four decimals are enough to read.
            Self::Budget(budget) => Some(format!("c = {}", (budget * 1e4).round() / 1e4)),
            Self::Alpha(_) => None,
            Self::Other { symbol, value } => Some(format!("{symbol} = {value}")),
        }
    }
}

/// The paper's columns: twelve, or fewer when budgets fall together.
pub fn paper_columns(budgets: &[f64]) -> Result<Vec<Box<dyn Definition>>, Error> {
    columns(&Phi::PAPER, budgets)
}

/// The paper's columns with other φ.
pub fn columns(phis: &[Phi], budgets: &[f64]) -> Result<Vec<Box<dyn Definition>>, Error> {
    use Viewpoint::{Macro, Micro};
    let cost_of = |viewpoint: Viewpoint| {
        let cost = move |&phi: &Phi| EqualCostOfEffectiveness::new(viewpoint, phi);
        phis.iter().map(cost).map(boxed)
    };
    let choice = phis.iter().map(|&phi| boxed(EqualChoice::new(phi)));
    let mut columns: Vec<Box<dyn Definition>> = cost_of(Macro).chain(choice).collect();
    columns.push(boxed(EqualEffectiveness::new(Micro)));
    for &budget in budgets {
        columns.push(boxed(EqualEffectivenessWithinBudget::new(Micro, budget)?));
    }
    columns.extend(cost_of(Micro));
    columns.push(boxed(EqualMeanRecourse::conditional()));
    columns.push(boxed(FairTradeOff::new(Micro)));
    Ok(columns)
}

fn boxed(definition: impl Definition + 'static) -> Box<dyn Definition> {
    Box::new(definition)
}
