//! What is shown: the actions that a CSC lists, and the filters on subgroups and actions.

use super::cost::{SLACK, levels_within};
use super::decimal::Decimal;
use super::definitions::Definition;
use super::ecd::Viewpoint;
use super::mine::Item;
use super::ranking::Ranking;
use super::{SlowAudit, Subgroup};

/// The filters a user can ask for; the default shows what the definition lists.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// List all valid actions, whatever the definition.
    pub all_actions: bool,
    /// Only actions with at least this effectiveness in the group.
    pub at_least: Option<Decimal>,
    /// Only actions within this cost.
    pub at_most: Option<f64>,
    /// Of what is left in a group, only the actions of the least cost level.
    pub least_cost: bool,
    pub drop_fair: bool,
    /// Only subgroups with a bias against this group (alone or with others).
    pub against: Option<String>,
    pub drop_contained: bool,
}

/// A subgroup that is shown, and its actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Index into `SlowAudit::subgroups`.
    pub subgroup: usize,
    /// For each compared group, indices into `Subgroup::actions`; none is "no recourse".
    pub actions: Vec<Vec<usize>>,
}

/// The ranking's subgroups that pass the filters, in its order. Filters on actions come first,
/// then fair ones and other groups are dropped, then contained subgroups.
pub fn shown(audit: &SlowAudit, ranking: &Ranking, filters: &Filters) -> Vec<Shown> {
    let mut list: Vec<(Shown, f64)> = Vec::new();
    for row in &ranking.rows {
        let against = &row.verdict.against;
        let fair = filters.drop_fair && row.rank.is_none();
        let other = filters
            .against
            .as_ref()
            .is_some_and(|name| !against.contains(name));
        if fair || other {
            continue;
        }
        let subgroup = &audit.subgroups[row.subgroup];
        let actions = (0..audit.groups.len())
            .map(|group| shown_actions(subgroup, group, &ranking.definition, filters))
            .collect();
        let shown = Shown {
            subgroup: row.subgroup,
            actions,
        };
        list.push((shown, row.verdict.score));
    }
    if filters.drop_contained {
        return without_contained(audit, &list);
    }
    list.into_iter().map(|(shown, _)| shown).collect()
}

/// The actions that a CSC lists for a group. Cost of Effectiveness: the cheapest that pass φ
/// (macro), or those up to the cost at which φ is passed (micro); Choice: all that pass φ; Within
/// Budget: all within c; the others: all.
pub fn listed_actions(subgroup: &Subgroup, group: usize, definition: &Definition) -> Vec<usize> {
    let all = 0..subgroup.actions.len();
    let level = |action: usize| subgroup.actions[action].cost_level;
    let passes = |action: usize, phi: Decimal| {
        phi.reached_by(
            subgroup.actions[action].flips[group],
            subgroup.members[group],
        )
    };
    match definition {
        Definition::CostOfEffectiveness {
            view: Viewpoint::Macro,
            phi,
        } => least_cost(
            subgroup,
            all.filter(|action| passes(*action, *phi)).collect(),
        ),
        Definition::CostOfEffectiveness {
            view: Viewpoint::Micro,
            phi,
        } => match subgroup.inverse_level(Viewpoint::Micro, group, *phi) {
            None => Vec::new(),
            Some(most) => all.filter(|action| level(*action) <= most).collect(),
        },
        Definition::Choice { phi } => all.filter(|action| passes(*action, *phi)).collect(),
        Definition::WithinBudget { budget, .. } => {
            let within = levels_within(&subgroup.cost_levels, *budget);
            all.filter(|action| level(*action) < within).collect()
        }
        Definition::Effectiveness(_)
        | Definition::TradeOff { .. }
        | Definition::MeanRecourse { .. } => all.collect(),
    }
}

fn shown_actions(
    subgroup: &Subgroup,
    group: usize,
    definition: &Definition,
    filters: &Filters,
) -> Vec<usize> {
    let mut actions = if filters.all_actions {
        (0..subgroup.actions.len()).collect()
    } else {
        listed_actions(subgroup, group, definition)
    };
    if let Some(phi) = filters.at_least {
        let members = subgroup.members[group];
        actions.retain(|i| phi.reached_by(subgroup.actions[*i].flips[group], members));
    }
    if let Some(budget) = filters.at_most {
        let within = levels_within(&subgroup.cost_levels, budget);
        actions.retain(|i| subgroup.actions[*i].cost_level < within);
    }
    if filters.least_cost {
        actions = least_cost(subgroup, actions);
    }
    actions
}

fn least_cost(subgroup: &Subgroup, actions: Vec<usize>) -> Vec<usize> {
    let level = |action: &usize| subgroup.actions[*action].cost_level;
    let Some(least) = actions.iter().map(level).min() else {
        return actions;
    };
    actions
        .into_iter()
        .filter(|action| level(action) == least)
        .collect()
}

/// `p'` extends `p` when it has all items of `p` and more, and no action shown for `p'` changes a
/// feature of the extra items. Of such a pair the one with the smaller score is dropped, the
/// longer one when the scores are equal. All pairs are judged on the list as it came.
fn without_contained(audit: &SlowAudit, list: &[(Shown, f64)]) -> Vec<Shown> {
    let mut dropped = vec![false; list.len()];
    for (short, (p, p_score)) in list.iter().enumerate() {
        for (long, (extended, extended_score)) in list.iter().enumerate() {
            if !extends(audit, extended, p) {
                continue;
            }
            if *extended_score > *p_score && extended_score - p_score >= SLACK {
                dropped[short] = true;
            } else {
                dropped[long] = true;
            }
        }
    }
    let kept = list.iter().zip(dropped).filter(|(_, dropped)| !dropped);
    kept.map(|((shown, _), _)| shown.clone()).collect()
}

fn extends(audit: &SlowAudit, long: &Shown, short: &Shown) -> bool {
    let subgroup = &audit.subgroups[long.subgroup];
    let of_short = &audit.subgroups[short.subgroup].predicate;
    let (held, extra): (Vec<Item>, Vec<Item>) = subgroup
        .predicate
        .iter()
        .copied()
        .partition(|item| of_short.contains(item));
    let changes_extra = |action: &usize| {
        let change = &subgroup.actions[*action].change;
        extra
            .iter()
            .any(|item| change.iter().any(|(feature, _)| *feature == item.feature))
    };
    held.len() == of_short.len()
        && !extra.is_empty()
        && !long.actions.iter().flatten().any(changes_extra)
}
