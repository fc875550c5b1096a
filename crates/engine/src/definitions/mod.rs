//! The six definitions of fairness of recourse, one file each.
//!
//! A [`Definition`] reads a [`Subgroup`]'s counts and says how each group fares, how unequal that
//! is (the *unfairness score*, 0 when fair) and whom it is *against*. A new definition is a new file
//! with a type that implements the trait, and one line in [`KINDS`].
//!
//! For two groups the score is the absolute difference of their values; for more, the largest
//! pairwise one. ∞ − ∞ = 0, and ∞ − finite = ∞.

mod compare;
mod equal_choice;
mod equal_cost;
mod equal_effectiveness;
mod mean_recourse;
mod trade_off;
mod within_budget;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::equal_choice::EqualChoice;
pub use self::equal_cost::EqualCostOfEffectiveness;
pub use self::equal_effectiveness::EqualEffectiveness;
pub use self::mean_recourse::EqualMeanRecourse;
pub use self::trade_off::FairTradeOff;
pub use self::within_budget::EqualEffectivenessWithinBudget;
use crate::decimal::{Decimal, Phi};
pub use crate::distribution::SCORE_GAP;
use crate::distribution::{DecidingCount, PerGroup, Pooled, Share, Subgroup, Viewpoint};
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

/// A way to say what makes recourse unfair.
pub trait Definition: fmt::Debug + Send + Sync {
    /// The definition with its parameters as one writes it: `equal-effectiveness:micro`.
    fn id(&self) -> String;

    /// The definition with its parameters as one reads it.
    fn title(&self) -> String;

    /// How a subgroup's groups compare; `None` if a count that is needed was suppressed.
    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment>;

    /// The score alone, the same as that of [`assess`](Self::assess), for those who ask a million
    /// times.
    fn score(&self, subgroup: &Subgroup) -> Option<f64> {
        Some(self.assess(subgroup)?.score)
    }

    /// The count of members that alone decides, if the score is the gap between the groups' shares
    /// of it. Two groups can then be tested exactly.
    fn decided_by(&self, subgroup: &Subgroup) -> Option<DecidingCount> {
        let _ = subgroup;
        None
    }

    /// How likely a score of at least `score` is at most, if group labels are random. `None`, if only
    /// permutations can tell.
    fn chance(&self, pooled: &Pooled<'_>, score: f64) -> Option<f64> {
        let _ = (pooled, score);
        None
    }

    /// Scores that might be found, whoever belongs to which group; not all of them need be possible.
    /// Where permutations show few different scores, these say what else could have been found.
    fn possible_scores(&self, pooled: &Pooled<'_>) -> Vec<f64> {
        let _ = pooled;
        Vec::new()
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

/// One kind of definition: its name and how its parameters are read.
pub struct Kind {
    /// The first part of an id.
    pub name: &'static str,
    /// How an id is written.
    pub usage: &'static str,
    /// The question it answers.
    pub about: &'static str,
    /// Who is worse off, in plain words.
    pub worse_off: &'static str,
    /// What has to be said besides the name.
    pub parameters: &'static [Parameter],
    parse: fn(&mut Parameters<'_>) -> Result<Box<dyn Definition>, Error>,
}

/// What a kind of definition has to be told, in the order of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Micro or macro.
    Viewpoint,
    /// The target effectiveness φ.
    Phi,
    /// The budget c.
    Budget,
}

/// All kinds of definitions there are.
pub const KINDS: &[Kind] = &[
    equal_effectiveness::KIND,
    equal_choice::KIND,
    within_budget::KIND,
    equal_cost::KIND,
    trade_off::KIND,
    mean_recourse::KIND,
];

/// Reads a definition from its id, such as `equal-cost-of-effectiveness:macro:0.3`.
pub fn parse(id: &str) -> Result<Box<dyn Definition>, Error> {
    let mut parts = id.trim().split(':');
    let name = parts.next().unwrap_or_default();
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let usages: Vec<&str> = KINDS.iter().map(|kind| kind.usage).collect();
        return Err(Error::UnknownDefinition {
            text: id.to_owned(),
            remedy: format!("write one of: {}", usages.join(", ")),
        });
    };
    let mut parameters = Parameters { id, kind, parts };
    let definition = (kind.parse)(&mut parameters)?;
    match parameters.parts.next() {
        None => Ok(definition),
        Some(_) => Err(parameters.misread()),
    }
}

/// Reads a definition of which parameters may be left open: an id as in [`parse`], or the start of
/// one, which stands for every viewpoint, every one of these φ and every one of these budgets that
/// it leaves open.
pub fn expand(
    text: &str,
    phis: &[Phi],
    budgets: &[f64],
) -> Result<Vec<Box<dyn Definition>>, Error> {
    let name = text.trim().split(':').next().unwrap_or_default();
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        return Ok(vec![parse(text)?]);
    };
    let said = text.trim().split(':').count() - 1;
    let mut ids = vec![text.trim().to_owned()];
    for parameter in kind.parameters.iter().skip(said) {
        let values: Vec<String> = match parameter {
            Parameter::Viewpoint => vec!["micro".to_owned(), "macro".to_owned()],
            Parameter::Phi => phis.iter().map(Phi::to_string).collect(),
            Parameter::Budget => budgets.iter().map(f64::to_string).collect(),
        };
        ids = ids
            .iter()
            .flat_map(|id| values.iter().map(move |value| format!("{id}:{value}")))
            .collect();
    }
    if ids.is_empty() {
        // Nothing to fill a gap with: say how it is written out.
        return Ok(vec![parse(text)?]);
    }
    ids.iter().map(|id| parse(id)).collect()
}

/// The parameters of an id, read one after another.
struct Parameters<'a> {
    id: &'a str,
    kind: &'a Kind,
    parts: std::str::Split<'a, char>,
}

impl Parameters<'_> {
    fn misread(&self) -> Error {
        Error::UnknownDefinition {
            text: self.id.to_owned(),
            remedy: format!("write {}", self.kind.usage),
        }
    }

    fn viewpoint(&mut self) -> Result<Viewpoint, Error> {
        match self.parts.next() {
            Some("micro") => Ok(Viewpoint::Micro),
            Some("macro") => Ok(Viewpoint::Macro),
            _ => Err(self.misread()),
        }
    }

    fn phi(&mut self) -> Result<Phi, Error> {
        self.parts.next().ok_or_else(|| self.misread())?.parse()
    }

    fn optional_decimal(&mut self) -> Result<Option<Decimal>, Error> {
        self.parts.next().map(str::parse).transpose()
    }

    fn decimal(&mut self) -> Result<Decimal, Error> {
        self.optional_decimal()?.ok_or_else(|| self.misread())
    }
}

/// The paper's columns: twelve, or fewer when budgets fall together.
pub fn paper_columns(budgets: &[f64]) -> Result<Vec<Box<dyn Definition>>, Error> {
    columns(&["0.3".parse()?, "0.7".parse()?], budgets)
}

/// The paper's columns with other φ.
pub fn columns(phis: &[Phi], budgets: &[f64]) -> Result<Vec<Box<dyn Definition>>, Error> {
    let mut columns: Vec<Box<dyn Definition>> = Vec::new();
    for &phi in phis {
        columns.push(Box::new(EqualCostOfEffectiveness::new(
            Viewpoint::Macro,
            phi,
        )));
    }
    for &phi in phis {
        columns.push(Box::new(EqualChoice::new(phi)));
    }
    columns.push(Box::new(EqualEffectiveness::new(Viewpoint::Micro)));
    for &budget in budgets {
        columns.push(Box::new(EqualEffectivenessWithinBudget::new(
            Viewpoint::Micro,
            budget,
        )?));
    }
    for &phi in phis {
        columns.push(Box::new(EqualCostOfEffectiveness::new(
            Viewpoint::Micro,
            phi,
        )));
    }
    columns.push(Box::new(EqualMeanRecourse::conditional()));
    columns.push(Box::new(FairTradeOff::new(Viewpoint::Micro)));
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back() {
        for id in [
            "equal-effectiveness:micro",
            "equal-effectiveness:macro",
            "equal-choice:0.3",
            "equal-effectiveness-within-budget:micro:5.07",
            "equal-cost-of-effectiveness:macro:0.7",
            "fair-trade-off:micro:0.05",
            "fair-trade-off:macro",
            "equal-mean-recourse",
            "equal-mean-recourse:20",
        ] {
            assert_eq!(parse(id).unwrap().id(), id);
        }
        assert_eq!(
            parse("fair-trade-off:micro").unwrap().id(),
            "fair-trade-off:micro:0.05"
        );
    }

    #[test]
    fn what_is_left_open_is_filled_in() {
        let phis: [Phi; 2] = ["0.3".parse().unwrap(), "0.7".parse().unwrap()];
        let ids = |text: &str| -> Vec<String> {
            let expanded = expand(text, &phis, &[5.0, 10.5]).unwrap();
            expanded.iter().map(|definition| definition.id()).collect()
        };
        assert_eq!(
            ids("equal-choice"),
            ["equal-choice:0.3", "equal-choice:0.7"]
        );
        assert_eq!(ids("equal-choice:0.5"), ["equal-choice:0.5"]);
        assert_eq!(
            ids("equal-effectiveness-within-budget:macro"),
            [
                "equal-effectiveness-within-budget:macro:5",
                "equal-effectiveness-within-budget:macro:10.5"
            ]
        );
        assert_eq!(ids("equal-cost-of-effectiveness").len(), 4);
        assert_eq!(
            ids("fair-trade-off:micro:0.01"),
            ["fair-trade-off:micro:0.01"]
        );
        assert_eq!(ids("equal-mean-recourse"), ["equal-mean-recourse"]);
        let unfilled = expand("equal-choice", &[], &[]).unwrap_err().to_string();
        assert!(unfilled.ends_with("write equal-choice:PHI"), "{unfilled}");
        assert!(expand("fairness", &phis, &[]).is_err());
        assert!(expand("equal-effectiveness:mikro", &phis, &[]).is_err());
    }

    #[test]
    fn a_wrong_id_says_what_to_write() {
        let message = |id: &str| parse(id).unwrap_err().to_string();
        assert_eq!(
            message("equal-choice"),
            "`equal-choice` is no definition of fairness; write equal-choice:PHI"
        );
        assert_eq!(
            message("equal-effectiveness:micro:1"),
            "`equal-effectiveness:micro:1` is no definition of fairness; write equal-effectiveness:micro|macro"
        );
        assert!(message("fairness").starts_with("`fairness` is no definition of fairness; write one of: equal-effectiveness:micro|macro, "));
        assert_eq!(
            message("equal-choice:30"),
            "the effectiveness φ is 30, but must be above 0 and at most 1; write one percent as 0.01"
        );
    }
}
