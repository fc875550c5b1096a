//! The six definitions of fairness of recourse.

use super::cost::SLACK;
use super::decimal::{Decimal, Gap, Share};
use super::ecd::Viewpoint;
use super::{SlowAudit, Subgroup};
use std::cmp::Ordering;

/// A definition, its viewpoint and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Definition {
    /// Compares `ecd(∞)`; lower is worse off.
    Effectiveness(Viewpoint),
    /// Compares the number of actions with effectiveness ≥ φ; fewer is worse off.
    Choice { phi: Decimal },
    /// Compares `ecd(c)`; lower is worse off.
    WithinBudget { view: Viewpoint, budget: f64 },
    /// Compares `ecd⁻¹(φ)`; dearer is worse off.
    CostOfEffectiveness { view: Viewpoint, phi: Decimal },
    /// The widest gap between the ecds; the lower one at the cheapest cost with that gap is worse
    /// off.
    TradeOff { view: Viewpoint, alpha: f64 },
    /// Compares the mean of each member's cheapest effective cost, over those who have one (∞ if
    /// nobody has), or over all members with the others at `c_infinity`; dearer is worse off.
    MeanRecourse { c_infinity: Option<f64> },
}

/// What a definition reads for one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Share(Share),
    Count(u64),
    /// Possibly ∞.
    Cost(f64),
}

/// What a definition says of one subgroup.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// One for each compared group. For Trade-Off: the ecd at the cost read.
    pub values: Vec<Value>,
    /// The largest pairwise difference; under 1e-9 it is 0. ∞ − ∞ = 0, ∞ − finite = ∞.
    pub score: f64,
    /// The worst-off group or groups, by name; nobody when the score is 0.
    pub against: Vec<String>,
    pub trade_off: Option<TradeOff>,
}

/// Where the ecds are widest apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TradeOff {
    /// The cheapest cost with the widest gap.
    pub cost: f64,
    /// Micro only: whether a pair that shows the widest gap (at any cost) exceeds
    /// `√(−ln(α/2)·(n0+n1)/(2·n0·n1))`.
    pub significant: Option<bool>,
}

/// `verdict` of a definition on a subgroup with at least one action.
pub fn verdict(audit: &SlowAudit, subgroup: &Subgroup, definition: &Definition) -> Verdict {
    let groups = 0..audit.groups.len();
    match definition {
        Definition::Effectiveness(view) => {
            let share = |group| Value::Share(subgroup.ecd(*view, group, f64::INFINITY));
            compared(audit, groups.map(share).collect())
        }
        Definition::Choice { phi } => {
            let count = |group| Value::Count(choices(subgroup, group, *phi));
            compared(audit, groups.map(count).collect())
        }
        Definition::WithinBudget { view, budget } => {
            let share = |group| Value::Share(subgroup.ecd(*view, group, *budget));
            compared(audit, groups.map(share).collect())
        }
        Definition::CostOfEffectiveness { view, phi } => {
            let cost = |group| Value::Cost(subgroup.inverse(*view, group, *phi));
            compared(audit, groups.map(cost).collect())
        }
        Definition::TradeOff { view, alpha } => trade_off(audit, subgroup, *view, *alpha),
        Definition::MeanRecourse { c_infinity } => {
            let mean = |group| Value::Cost(mean_recourse(subgroup, group, *c_infinity));
            compared(audit, groups.map(mean).collect())
        }
    }
}

/// The number of actions with effectiveness ≥ φ in the group.
fn choices(subgroup: &Subgroup, group: usize, phi: Decimal) -> u64 {
    let mut number = 0;
    for action in &subgroup.actions {
        if phi.reached_by(action.flips[group], subgroup.members[group]) {
            number += 1;
        }
    }
    number
}

/// The mean of each member's cheapest effective cost. At each cost level, those flipped for the
/// first time are those flipped up to it less those flipped below it.
fn mean_recourse(subgroup: &Subgroup, group: usize, c_infinity: Option<f64>) -> f64 {
    let mut sum = 0.0;
    let mut flipped = 0;
    for (level, cost) in subgroup.cost_levels.iter().enumerate() {
        let so_far = subgroup.micro[level][group];
        sum += cost * (so_far - flipped) as f64;
        flipped = so_far;
    }
    match c_infinity {
        None if flipped == 0 => f64::INFINITY,
        None => sum / flipped as f64,
        Some(c_infinity) => {
            let members = subgroup.members[group];
            (sum + c_infinity * (members - flipped) as f64) / members as f64
        }
    }
}

/// Score and worst-off of one value a group.
fn compared(audit: &SlowAudit, values: Vec<Value>) -> Verdict {
    let mut score: f64 = 0.0;
    for a in &values {
        for b in &values {
            score = score.max(difference(*a, *b));
        }
    }
    if score < SLACK {
        score = 0.0;
    }
    let against = if score == 0.0 {
        Vec::new()
    } else {
        // Worst off: nobody is worse.
        let names = audit
            .groups
            .iter()
            .zip(&values)
            .filter(|(_, own)| values.iter().all(|other| !is_worse(*other, **own)));
        names.map(|(group, _)| group.name.clone()).collect()
    };
    Verdict {
        values,
        score,
        against,
        trade_off: None,
    }
}

/// `|a − b|`, with ∞ − ∞ = 0.
fn difference(a: Value, b: Value) -> f64 {
    match (a, b) {
        (Value::Share(a), Value::Share(b)) => a.gap(b).value(),
        (Value::Count(a), Value::Count(b)) => a.abs_diff(b) as f64,
        (Value::Cost(a), Value::Cost(b)) if a.is_infinite() && b.is_infinite() => 0.0,
        (Value::Cost(a), Value::Cost(b)) => (a - b).abs(),
        _ => unreachable!("a definition gives values of one kind"),
    }
}

/// Whether `a` is worse off than `b`: shares exactly, costs by at least 1e-9.
fn is_worse(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Share(a), Value::Share(b)) => a.compare(b) == Ordering::Less,
        (Value::Count(a), Value::Count(b)) => a < b,
        (Value::Cost(dearer), Value::Cost(cheaper)) => {
            dearer > cheaper && difference(a, b) >= SLACK
        }
        _ => unreachable!("a definition gives values of one kind"),
    }
}

/// The widest gap of any pair at any cost level; it is read at the cheapest level that shows it.
fn trade_off(audit: &SlowAudit, subgroup: &Subgroup, view: Viewpoint, alpha: f64) -> Verdict {
    let groups = audit.groups.len();
    let mut widest = Gap { above: 0, below: 1 };
    let mut level_read = 0;
    for level in 0..subgroup.cost_levels.len() {
        for a in 0..groups {
            for b in 0..a {
                let gap = gap_at(subgroup, view, level, a, b);
                if gap.compare(widest) == Ordering::Greater {
                    widest = gap;
                    level_read = level;
                }
            }
        }
    }

    let mut significant = false;
    for level in 0..subgroup.cost_levels.len() {
        for a in 0..groups {
            for b in 0..a {
                let gap = gap_at(subgroup, view, level, a, b);
                let (n0, n1) = (subgroup.members[a] as f64, subgroup.members[b] as f64);
                let threshold = (-(alpha / 2.0).ln() * (n0 + n1) / (2.0 * n0 * n1)).sqrt();
                if gap.compare(widest) == Ordering::Equal && gap.value() > threshold {
                    significant = true;
                }
            }
        }
    }

    let at_read = |group| Value::Share(subgroup.ecd_at_level(view, group, level_read));
    Verdict {
        trade_off: Some(TradeOff {
            cost: subgroup.cost_levels[level_read],
            significant: (view == Viewpoint::Micro).then_some(significant),
        }),
        ..compared(audit, (0..groups).map(at_read).collect())
    }
}

fn gap_at(subgroup: &Subgroup, view: Viewpoint, level: usize, a: usize, b: usize) -> Gap {
    let own = subgroup.ecd_at_level(view, a, level);
    own.gap(subgroup.ecd_at_level(view, b, level))
}
