//! How definitions are written as ids, and read back.

use super::{
    Definition, Kind, equal_choice, equal_cost, equal_effectiveness, mean_recourse, trade_off,
    within_budget,
};
use crate::decimal::{Decimal, Phi};
use crate::distribution::Viewpoint;
use crate::error::Error;

/// How the ids of one kind of definition are written.
pub struct Syntax {
    /// The kind.
    pub kind: &'static Kind,
    /// How an id is written.
    pub usage: &'static str,
    /// What has to be said besides the name, in the order of the id.
    pub(super) required: &'static [Required],
    pub(super) parse: fn(&mut Parts<'_>) -> Result<Box<dyn Definition>, Error>,
}

/// A parameter that an id must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Required {
    Viewpoint,
    Phi,
    Budget,
}

/// All kinds of definitions that can be read from an id.
pub const KINDS: &[Syntax] = &[
    equal_effectiveness::SYNTAX,
    equal_choice::SYNTAX,
    within_budget::SYNTAX,
    equal_cost::SYNTAX,
    trade_off::SYNTAX,
    mean_recourse::SYNTAX,
];

/// How the ids of a kind that begins a text are written.
fn syntax_of(text: &str) -> Option<&'static Syntax> {
    let name = text.trim().split(':').next();
    KINDS.iter().find(|syntax| Some(syntax.kind.name) == name)
}

/// Reads a definition from its id, such as `equal-cost-of-effectiveness:macro:0.3`.
pub fn parse(id: &str) -> Result<Box<dyn Definition>, Error> {
    let Some(syntax) = syntax_of(id) else {
        let usages: Vec<&str> = KINDS.iter().map(|syntax| syntax.usage).collect();
        return Err(Error::UnknownDefinition {
            text: id.to_owned(),
            remedy: format!("write one of: {}", usages.join(", ")),
        });
    };
    let mut left = id.trim().split(':');
    left.next();
    let mut parts = Parts { id, syntax, left };
    let definition = (syntax.parse)(&mut parts)?;
    match parts.left.next() {
        None => Ok(definition),
        Some(_) => Err(parts.misread()),
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
    let Some(syntax) = syntax_of(text) else {
        return Ok(vec![parse(text)?]);
    };
    let said = text.trim().split(':').count() - 1;
    let mut ids = vec![text.trim().to_owned()];
    for parameter in syntax.required.iter().skip(said) {
        let values: Vec<String> = match parameter {
            Required::Viewpoint => vec!["micro".to_owned(), "macro".to_owned()],
            Required::Phi => phis.iter().map(Phi::to_string).collect(),
            Required::Budget => budgets.iter().map(f64::to_string).collect(),
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
pub(super) struct Parts<'a> {
    id: &'a str,
    syntax: &'a Syntax,
    left: std::str::Split<'a, char>,
}

impl Parts<'_> {
    fn misread(&self) -> Error {
        Error::UnknownDefinition {
            text: self.id.to_owned(),
            remedy: format!("write {}", self.syntax.usage),
        }
    }

    pub(super) fn viewpoint(&mut self) -> Result<Viewpoint, Error> {
        match self.left.next() {
            Some("micro") => Ok(Viewpoint::Micro),
            Some("macro") => Ok(Viewpoint::Macro),
            _ => Err(self.misread()),
        }
    }

    pub(super) fn phi(&mut self) -> Result<Phi, Error> {
        self.left.next().ok_or_else(|| self.misread())?.parse()
    }

    pub(super) fn optional_decimal(&mut self) -> Result<Option<Decimal>, Error> {
        self.left.next().map(str::parse).transpose()
    }

    pub(super) fn decimal(&mut self) -> Result<Decimal, Error> {
        self.optional_decimal()?.ok_or_else(|| self.misread())
    }
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
        let phis = Phi::PAPER;
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
