//! Which changes a person can make.
//!
//! Feasibility is a question about a person and a change. Of the change's assignments only those
//! that differ from the person's own levels count; the change *applies* to the person if there is
//! such an assignment, every one of them is allowed, and each feature linked to one of them is
//! among them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

use super::{Assignment, COST_GAP};
use crate::error::Error;
use crate::population::{Direction, Level, Levels, Step, TransitionRule};

/// The feasibility rules of all features, checked.
#[derive(Clone, Debug)]
pub(crate) struct Feasibility {
    features: Vec<FeatureRules>,
}

#[derive(Clone, Debug)]
struct FeatureRules {
    immutable: bool,
    direction: Option<Direction>,
    max_step: Option<Step>,
    /// By level: whether an action may lead there.
    target: Vec<bool>,
    forbidden: HashSet<(u32, u32)>,
    linked: Vec<usize>,
    missing: Option<u32>,
    numbers: Vec<Option<f64>>,
    allowed: Option<Allowed>,
}

/// A rule given as code, which may be slow (it may live in another language): answers are kept.
#[derive(Clone, Debug)]
struct Allowed {
    rule: TransitionRule,
    levels: Vec<Level>,
    known: Arc<RwLock<HashMap<(u32, u32), bool>>>,
}

impl Allowed {
    fn allows(&self, from: u32, to: u32) -> bool {
        let known = self.known.read().ok();
        if let Some(&answer) = known.as_ref().and_then(|known| known.get(&(from, to))) {
            return answer;
        }
        drop(known);
        let answer = (self.rule).allows(&self.levels[from as usize], &self.levels[to as usize]);
        if let Ok(mut known) = self.known.write() {
            known.insert((from, to), answer);
        }
        answer
    }
}

impl Feasibility {
    /// Checks the declared rules. Rules that name levels nobody has are noticed, not refused: the
    /// same declaration must serve next month's table too.
    pub(crate) fn new(features: &[Levels], notices: &mut Vec<String>) -> Result<Self, Error> {
        let features = features
            .iter()
            .map(|feature| FeatureRules::new(feature, features, notices))
            .collect::<Result<_, _>>()?;
        Ok(Self { features })
    }

    /// Whether one feature may go from a level to another.
    pub(crate) fn allows(&self, feature: usize, from: u32, to: u32) -> bool {
        self.features[feature].allows(from, to)
    }

    /// Whether a change applies to a person whose level in each feature is told by `level`.
    pub(crate) fn applies(&self, change: &[Assignment], level: impl Fn(usize) -> u32) -> bool {
        let differs = |a: &Assignment| level(a.feature()) != a.level;
        let mut any = false;
        for assignment in change.iter().filter(|a| differs(a)) {
            any = true;
            let rules = &self.features[assignment.feature()];
            let linked_differ = rules
                .linked
                .iter()
                .all(|&other| change.iter().any(|a| a.feature() == other && differs(a)));
            if !linked_differ || !rules.allows(level(assignment.feature()), assignment.level) {
                return false;
            }
        }
        any
    }
}

impl FeatureRules {
    fn new(feature: &Levels, all: &[Levels], notices: &mut Vec<String>) -> Result<Self, Error> {
        let rules = &feature.rules;
        let needs_order = |what| Error::NeedsOrder {
            feature: feature.name.clone(),
            what,
        };
        if rules.direction.is_some() && !feature.is_ordered() {
            return Err(needs_order("a direction of change"));
        }
        match rules.max_step {
            Some(Step::Levels(_)) if !feature.is_ordered() => {
                return Err(needs_order("a greatest step in levels"));
            }
            Some(Step::Units(step)) if !(step.is_finite() && step >= 0.0) => {
                return Err(Error::BadStep {
                    feature: feature.name.clone(),
                    step,
                });
            }
            Some(Step::Units(_)) => feature.require_numbers("a greatest step in units")?,
            _ => {}
        }
        let mut find = |label: &str, what: &str| {
            let level = feature.find(label);
            if level.is_none() {
                notices.push(format!(
                    "feature `{}`: nobody has the level `{label}`, which {what} names",
                    feature.name
                ));
            }
            level
        };
        let mut target = vec![true; feature.levels.len()];
        if let Some(missing) = feature.missing {
            target[missing as usize] = false;
        }
        for label in &rules.not_a_target {
            if let Some(level) = find(label, "not-a-target") {
                target[level as usize] = false;
            }
        }
        let mut forbidden = HashSet::new();
        for (from, to) in &rules.forbidden {
            let what = "a forbidden transition";
            if let (Some(from), Some(to)) = (find(from, what), find(to, what)) {
                forbidden.insert((from, to));
            }
        }
        let mut linked = Vec::new();
        for name in &rules.linked {
            let other = all.iter().position(|f| f.name == *name);
            let other = other.ok_or_else(|| Error::UnknownLink {
                feature: feature.name.clone(),
                linked: name.clone(),
                known: all.iter().map(|f| f.name.clone()).collect(),
            })?;
            if all[other].rules.immutable && !rules.immutable {
                return Err(Error::ImmutableMustChange {
                    feature: name.clone(),
                    because: feature.name.clone(),
                });
            }
            linked.push(other);
        }
        Ok(Self {
            immutable: rules.immutable,
            direction: rules.direction,
            max_step: rules.max_step,
            target,
            forbidden,
            linked,
            missing: feature.missing,
            numbers: feature.levels.iter().map(|level| level.number).collect(),
            allowed: rules.allowed.clone().map(|rule| Allowed {
                rule,
                levels: feature.levels.clone(),
                known: Arc::default(),
            }),
        })
    }

    fn allows(&self, from: u32, to: u32) -> bool {
        // The code last: it is asked only about what the other rules allow.
        self.declared_rules_allow(from, to)
            && (self.allowed.as_ref()).is_none_or(|allowed| allowed.allows(from, to))
    }

    fn declared_rules_allow(&self, from: u32, to: u32) -> bool {
        if self.immutable || !self.target[to as usize] || self.forbidden.contains(&(from, to)) {
            return false;
        }
        if self.direction.is_none() && self.max_step.is_none() {
            return true;
        }
        // Missing has no place in the order from which a direction or a step could be told.
        if self.missing == Some(from) {
            return false;
        }
        let direction = match self.direction {
            None => true,
            Some(Direction::Increase) => to > from,
            Some(Direction::Decrease) => to < from,
        };
        direction
            && match self.max_step {
                None => true,
                Some(Step::Levels(most)) => from.abs_diff(to) as usize <= most,
                Some(Step::Units(most)) => {
                    let number = |level: u32| self.numbers[level as usize].unwrap_or(f64::NAN);
                    (number(to) - number(from)).abs() <= most + COST_GAP
                }
            }
    }
}
