//! Which changes are actions of a subgroup, and for whom.

use super::case::{MaxStep, Validity};
use super::cost::SLACK;
use super::mine::{Assignments, CommonSubgroup, Item};
use super::population::{Individual, Population};
use std::collections::BTreeSet;

/// The distinct changes `c(a, p)` of the valid actions of a subgroup:
/// - joint: `a` is an itemset over exactly p's features, and differs from p;
/// - subset: `a` is an itemset over some of p's features, and differs from p in all of them.
///
/// A change that applies to no member is not valid.
pub fn valid_changes(
    population: &Population,
    subgroup: &CommonSubgroup,
    itemsets: &[Assignments],
) -> Vec<Assignments> {
    let features: BTreeSet<usize> = subgroup.predicate.iter().map(|item| item.feature).collect();
    let mut changes: BTreeSet<Assignments> = BTreeSet::new();
    for itemset in itemsets {
        let assigned: BTreeSet<usize> = itemset.iter().map(|(feature, _)| *feature).collect();
        let change: Assignments = itemset
            .iter()
            .copied()
            .filter(|assignment| differs(population, &subgroup.predicate, *assignment))
            .collect();
        let valid = match population.case.options.validity {
            Validity::Joint => assigned == features && !change.is_empty(),
            Validity::Subset => assigned.is_subset(&features) && change.len() == itemset.len(),
        };
        if valid {
            changes.insert(change);
        }
    }
    changes
        .into_iter()
        .filter(|change| {
            subgroup
                .members
                .iter()
                .any(|i| applies(population, &population.people[*i], change))
        })
        .collect()
}

/// Whether an assignment differs from the predicate: it does unless the predicate's items on
/// that feature admit the assigned level alone.
fn differs(population: &Population, predicate: &[Item], assignment: (usize, usize)) -> bool {
    let (feature, assigned) = assignment;
    let admitted: Vec<usize> = (0..population.features[feature].labels.len())
        .filter(|level| {
            predicate
                .iter()
                .filter(|item| item.feature == feature)
                .all(|item| item.admits(population, *level))
        })
        .collect();
    admitted != [assigned]
}

/// The assignments that a person does not hold already.
pub fn differing(person: &Individual, change: &[(usize, usize)]) -> Assignments {
    change
        .iter()
        .copied()
        .filter(|(feature, level)| person.levels[*feature] != *level)
        .collect()
}

/// Whether a change applies to a person: at least one assignment differs from what the person
/// holds, every differing one is allowed, and every feature linked to one of them differs too.
pub fn applies(population: &Population, person: &Individual, change: &[(usize, usize)]) -> bool {
    let differing = differing(person, change);
    let changed = |name: &String| {
        differing
            .iter()
            .any(|(feature, _)| population.case.features[*feature].name == *name)
    };
    !differing.is_empty()
        && differing.iter().all(|(feature, to)| {
            transition_allowed(population, *feature, person.levels[*feature], *to)
                && population.case.features[*feature]
                    .rules
                    .linked
                    .iter()
                    .all(changed)
        })
}

/// Whether the rules of a feature allow it to go from one level to another: not immutable, a
/// permitted target, not a forbidden transition, in the right direction and not too far. A rule
/// about direction or step size forbids every change that starts at `missing`.
pub fn transition_allowed(population: &Population, feature: usize, from: usize, to: usize) -> bool {
    let rules = &population.case.features[feature].rules;
    let levels = &population.features[feature];
    let (from_label, to_label) = (&levels.labels[from], &levels.labels[to]);

    if rules.immutable || levels.is_missing(to) || rules.not_a_target.contains(to_label) {
        return false;
    }
    if rules
        .forbidden
        .iter()
        .any(|(a, b)| a == from_label && b == to_label)
    {
        return false;
    }
    let about_order = rules.increase || rules.decrease || rules.max_step.is_some();
    if about_order && levels.is_missing(from) {
        return false;
    }
    if (rules.increase && to < from) || (rules.decrease && to > from) {
        return false;
    }
    match rules.max_step {
        None => true,
        Some(MaxStep::Levels(most)) => to.abs_diff(from) <= most,
        Some(MaxStep::Units(most)) => {
            (levels.numbers[to] - levels.numbers[from]).abs() <= most + SLACK
        }
    }
}
