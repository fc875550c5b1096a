//! What a change costs, and which costs count as equal.

use super::SlowError;
use super::case::Cost;
use super::mine::CommonSubgroup;
use super::population::{Individual, Population};
use super::validity::{differing, transition_allowed};

/// Costs and scores closer than this are one.
pub const SLACK: f64 = 1e-9;

/// `cost(a, p)`: the greatest, over all members, of what the change costs that member. Without
/// range items it is the same for all of them. A member whose forbidden transition is not in the
/// table is left out of the greatest.
pub fn cost(
    population: &Population,
    subgroup: &CommonSubgroup,
    change: &[(usize, usize)],
) -> Result<f64, SlowError> {
    let mut greatest: f64 = 0.0;
    for i in &subgroup.members {
        if let Some(own) = cost_of_member(population, &population.people[*i], change)? {
            greatest = greatest.max(own);
        }
    }
    Ok(greatest)
}

/// `Σ_f weight_f · d_f(from, to)` over the features that change for this person.
fn cost_of_member(
    population: &Population,
    person: &Individual,
    change: &[(usize, usize)],
) -> Result<Option<f64>, SlowError> {
    let mut sum = 0.0;
    for (feature, to) in differing(person, change) {
        match distance(population, feature, person.levels[feature], to)? {
            Some(distance) => sum += population.case.features[feature].weight * distance,
            None => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// `d_f(from, to)`; `None` for a forbidden transition that the table does not hold.
///
/// Categorical: 1. Ordinal: |rank difference|. Numeric: |difference|, divided by `max − min` over
/// the population when normalised. From `missing`: the longest possible move.
fn distance(
    population: &Population,
    feature: usize,
    from: usize,
    to: usize,
) -> Result<Option<f64>, SlowError> {
    let declared = &population.case.features[feature];
    let levels = &population.features[feature];
    let from_missing = levels.is_missing(from);
    let misdeclared = Err(SlowError::Misdeclared {
        feature: declared.name.clone(),
    });
    match &declared.cost {
        Cost::Categorical => Ok(Some(1.0)),
        Cost::Ordinal if !levels.ordered => misdeclared,
        Cost::Ordinal if from_missing => Ok(Some((levels.ranks() - 1) as f64)),
        Cost::Ordinal => Ok(Some(to.abs_diff(from) as f64)),
        Cost::Numeric { .. } if levels.numbers.is_empty() => misdeclared,
        Cost::Numeric { normalised: true } if from_missing => Ok(Some(1.0)),
        Cost::Numeric { normalised: false } if from_missing => Ok(Some(levels.span())),
        Cost::Numeric { normalised } => {
            let difference = (levels.numbers[to] - levels.numbers[from]).abs();
            Ok(Some(if *normalised {
                difference / levels.span()
            } else {
                difference
            }))
        }
        Cost::Table(table) => {
            let (from_label, to_label) = (&levels.labels[from], &levels.labels[to]);
            let entry = table
                .iter()
                .find(|(a, b, _)| a == from_label && b == to_label);
            match entry {
                Some((_, _, cost)) => Ok(Some(*cost)),
                None if !transition_allowed(population, feature, from, to) => Ok(None),
                None => Err(SlowError::MissingTransition {
                    feature: declared.name.clone(),
                    from: from_label.clone(),
                    to: to_label.clone(),
                }),
            }
        }
    }
}

/// The value of each cost level: costs are sorted, a gap of at least 1e-9 starts a new level, and
/// a level's value is the least cost in it.
pub fn cost_levels(costs: &[f64]) -> Vec<f64> {
    let mut sorted = costs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut levels: Vec<f64> = Vec::new();
    for (i, cost) in sorted.iter().enumerate() {
        if i == 0 || cost - sorted[i - 1] >= SLACK {
            levels.push(*cost);
        }
    }
    levels
}

/// The level of a cost: the dearest level that does not cost more.
pub fn level_of(levels: &[f64], cost: f64) -> usize {
    let mut found = 0;
    for (i, level) in levels.iter().enumerate() {
        if *level <= cost {
            found = i;
        }
    }
    found
}

/// How many levels are within a budget: `level ≤ c + 1e-9`.
pub fn levels_within(levels: &[f64], budget: f64) -> usize {
    levels
        .iter()
        .filter(|level| **level <= budget + SLACK)
        .count()
}
