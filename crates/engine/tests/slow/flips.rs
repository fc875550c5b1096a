//! Who is flipped by which action: the model is asked about every member and every action.

use super::cost::{cost, cost_levels, level_of};
use super::ecd;
use super::mine::{Assignments, CommonSubgroup, change_text, predicate_text, weight_in};
use super::moves::moved;
use super::population::Population;
use super::validity::applies;
use super::{Group, SlowError, Subgroup};

/// One valid action of a subgroup.
#[derive(Debug, Clone)]
pub struct ActionOutcome {
    /// `c(a, p)`.
    pub change: Assignments,
    /// Same form as a predicate's text.
    pub text: String,
    pub cost: f64,
    /// Index into the subgroup's cost levels.
    pub cost_level: usize,
    /// Weight of the members flipped, for each compared group.
    pub flips: Vec<u64>,
    /// The members flipped: indices into `Population::people`.
    pub flipped: Vec<usize>,
}

/// Costs, flips and cumulated counts of all valid actions of a subgroup.
pub fn outcome(
    population: &Population,
    groups: &[Group],
    subgroup: &CommonSubgroup,
    changes: Vec<Assignments>,
) -> Result<Subgroup, SlowError> {
    let mut actions = Vec::new();
    for change in changes {
        let flipped = flipped(population, subgroup, &change);
        actions.push(ActionOutcome {
            text: change_text(population, &change),
            cost: cost(population, subgroup, &change)?,
            cost_level: 0,
            flips: weights(population, groups, &flipped),
            flipped,
            change,
        });
    }
    let costs: Vec<f64> = actions.iter().map(|action| action.cost).collect();
    let cost_levels = cost_levels(&costs);
    for action in &mut actions {
        action.cost_level = level_of(&cost_levels, action.cost);
    }
    actions.sort_by(|a, b| (a.cost_level, &a.text).cmp(&(b.cost_level, &b.text)));

    let levels = cost_levels.len();
    Ok(Subgroup {
        predicate: subgroup.predicate.clone(),
        text: predicate_text(population, &subgroup.predicate),
        members: weights(population, groups, &subgroup.members),
        micro: (0..levels)
            .map(|level| weights(population, groups, &ecd::flipped_by_any(&actions, level)))
            .collect(),
        macro_: (0..levels)
            .map(|level| ecd::most_flipped(&actions, level, groups.len()))
            .collect(),
        cost_levels,
        actions,
    })
}

/// The members to whom the change applies and whose prediction it turns favourable.
fn flipped(
    population: &Population,
    subgroup: &CommonSubgroup,
    change: &[(usize, usize)],
) -> Vec<usize> {
    let mut flipped = Vec::new();
    for i in &subgroup.members {
        let person = &population.people[*i];
        if applies(population, person, change) {
            let row = moved(population, person, change);
            if population.case.model.favourable(&row) {
                flipped.push(*i);
            }
        }
    }
    flipped
}

fn weights(population: &Population, groups: &[Group], people: &[usize]) -> Vec<u64> {
    groups
        .iter()
        .map(|group| weight_in(population, people, &group.name))
        .collect()
}
