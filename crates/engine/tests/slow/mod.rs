//! The slow, obvious reference: the whole method as nested loops over people.
//!
//! It is written from the method's definitions and from `docs/decisions.md`, and shares no code
//! with the engine, so that a mistake in one is not repeated in the other. Nothing here is fast
//! or clever: membership is a list of people, an effectiveness is a count of people for whom the
//! model was asked, a comparison of shares is a cross-multiplication of counts. The files follow
//! the data: `case` (what comes in), `population`, `mine`, `validity`, `moves`, `cost`, `flips`,
//! `ecd`, `definitions`, `ranking`, `filters`, `answer`, `paired`; `generate` makes random cases, `decimal` holds the
//! numbers that a user wrote in decimals.

// A helper module of a test binary: not every test uses every part, and none of it is exported.
#![allow(dead_code, unreachable_pub)]

pub mod answer;
pub mod case;
pub mod cost;
pub mod decimal;
pub mod definitions;
pub mod ecd;
pub mod filters;
pub mod flips;
pub mod generate;
pub mod mine;
pub mod moves;
pub mod paired;
pub mod population;
pub mod ranking;
#[cfg(test)]
mod tests;
pub mod validity;

use case::Case;
use flips::ActionOutcome;
use mine::Predicate;
use population::{LeftOut, Population};

/// Why a case cannot be audited.
#[derive(Debug, Clone, PartialEq)]
pub enum SlowError {
    /// A missing value in a feature that declares missing values an error.
    MissingValue { feature: String },
    /// NaN, an infinity, or a text where a number belongs.
    NotANumber { feature: String },
    /// A number where a text belongs.
    NotAText { feature: String },
    /// A label that the declared order does not hold.
    UnknownLabel { feature: String, label: String },
    /// A number that no explicit bin holds.
    OutsideBins { feature: String, number: f64 },
    /// A rule or a cost that the kind of feature cannot have.
    Misdeclared { feature: String },
    /// Every row is left out.
    NoRows,
    /// A number to cut into bins that is missing in every row.
    NothingToBin { feature: String },
    /// A feature that must change whenever another does, and is immutable.
    ImmutableMustChange { feature: String, because: String },
    /// Everybody has the same protected value.
    OneGroup,
    /// The model favours everybody.
    NobodyAffected,
    /// The model favours nobody, so there is nobody to learn actions from.
    NobodyUnaffected,
    /// Fewer than two groups have enough affected people.
    TooFewGroups,
    /// A cost table was asked for a transition that it does not hold.
    MissingTransition {
        feature: String,
        from: String,
        to: String,
    },
}

/// A protected group and how many people (weights) stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    /// Weight of `D_g`.
    pub affected: u64,
    /// Weight of the whole group, affected or not.
    pub people: u64,
}

/// One subgroup `G_p` with its valid actions.
#[derive(Debug, Clone)]
pub struct Subgroup {
    pub predicate: Predicate,
    /// Items sorted by feature name, `feature op label`, joined by `", "`.
    pub text: String,
    /// Weight of `G_{p,g}`, a number for each compared group.
    pub members: Vec<u64>,
    /// Valid actions, by cost level, then text.
    pub actions: Vec<ActionOutcome>,
    /// The value of each cost level: the least cost in it, ascending.
    pub cost_levels: Vec<f64>,
    /// `micro[level][group]`: weight of the members flipped by at least one action of that level
    /// or a cheaper one.
    pub micro: Vec<Vec<u64>>,
    /// `macro_[level][group]`: the most members flipped by any one action of that level or a
    /// cheaper one.
    pub macro_: Vec<Vec<u64>>,
}

impl Subgroup {
    /// Members in all compared groups together.
    pub fn size(&self) -> u64 {
        self.members.iter().sum()
    }
}

/// What an audit finds, before any definition is asked.
#[derive(Debug, Clone)]
pub struct SlowAudit {
    /// The compared groups, by name.
    pub groups: Vec<Group>,
    /// The groups that were too small to compare, by name.
    pub set_aside: Vec<Group>,
    pub left_out: LeftOut,
    /// Weight of the unaffected, groups set aside included.
    pub unaffected: u64,
    /// The common subgroups with at least one valid action ("ranked"), by text.
    pub subgroups: Vec<Subgroup>,
    /// The common subgroups for which no action was mined, by text.
    pub without_actions: Vec<Subgroup>,
    /// How many predicates are frequent in every compared group.
    pub common_subgroups: usize,
    /// How many itemsets are frequent among the unaffected.
    pub action_itemsets: usize,
}

/// The method, step by step.
pub fn audit(case: &Case) -> Result<SlowAudit, SlowError> {
    let population = Population::judged(case)?;
    refuse_contradictions(case)?;
    let (groups, set_aside) = compared_groups(&population);
    if groups.len() + set_aside.len() < 2 {
        return Err(SlowError::OneGroup);
    }
    if population.people.iter().all(|person| person.favourable) {
        return Err(SlowError::NobodyAffected);
    }
    if !population.people.iter().any(|person| person.favourable) {
        return Err(SlowError::NobodyUnaffected);
    }
    if groups.len() < 2 {
        return Err(SlowError::TooFewGroups);
    }

    let common = mine::common_subgroups(&population, &groups);
    let itemsets = mine::action_itemsets(&population);

    let mut subgroups = Vec::new();
    let mut without_actions = Vec::new();
    for one in &common {
        let changes = validity::valid_changes(&population, one, &itemsets);
        let subgroup = flips::outcome(&population, &groups, one, changes)?;
        if subgroup.actions.is_empty() {
            without_actions.push(subgroup);
        } else {
            subgroups.push(subgroup);
        }
    }
    subgroups.sort_by(|a, b| a.text.cmp(&b.text));
    without_actions.sort_by(|a, b| a.text.cmp(&b.text));

    Ok(SlowAudit {
        groups,
        set_aside,
        left_out: population.left_out.clone(),
        unaffected: population.unaffected_weight(),
        subgroups,
        without_actions,
        common_subgroups: common.len(),
        action_itemsets: itemsets.len(),
    })
}

/// A feature that may change cannot require a change of one that may not.
fn refuse_contradictions(case: &Case) -> Result<(), SlowError> {
    for feature in &case.features {
        for linked in &feature.rules.linked {
            let fixed = |other: &case::Feature| other.name == *linked && other.rules.immutable;
            if !feature.rules.immutable && case.features.iter().any(fixed) {
                return Err(SlowError::ImmutableMustChange {
                    feature: linked.clone(),
                    because: feature.name.clone(),
                });
            }
        }
    }
    Ok(())
}

/// A group is compared when its affected people number at least `min_group_size`, and at least
/// one; the others are set aside.
fn compared_groups(population: &Population) -> (Vec<Group>, Vec<Group>) {
    let mut names: Vec<&str> = population
        .people
        .iter()
        .map(|person| person.group.as_str())
        .collect();
    names.sort();
    names.dedup();

    let mut compared = Vec::new();
    let mut set_aside = Vec::new();
    for name in names {
        let mut group = Group {
            name: name.to_string(),
            affected: 0,
            people: 0,
        };
        for person in &population.people {
            if person.group == name {
                group.people += person.weight;
                if !person.favourable {
                    group.affected += person.weight;
                }
            }
        }
        if group.affected >= population.case.min_group_size && group.affected > 0 {
            compared.push(group);
        } else {
            set_aside.push(group);
        }
    }
    (compared, set_aside)
}
