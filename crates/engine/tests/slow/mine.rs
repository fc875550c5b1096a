//! Frequent itemsets by trying every one.

use super::Group;
use super::population::{Individual, Population};
use std::collections::BTreeMap;

/// How an item compares a person's level with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    Equal,
    AtLeast,
    AtMost,
}

/// Feature–operator–level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    pub feature: usize,
    pub op: Op,
    pub level: usize,
}

impl Item {
    /// Whether a level satisfies the item. `missing` has no place in an order.
    pub fn admits(&self, population: &Population, level: usize) -> bool {
        let missing = population.features[self.feature].is_missing(level);
        match self.op {
            Op::Equal => level == self.level,
            Op::AtLeast => !missing && level >= self.level,
            Op::AtMost => !missing && level <= self.level,
        }
    }

    fn text(&self, population: &Population) -> String {
        let op = match self.op {
            Op::Equal => "=",
            Op::AtLeast => ">=",
            Op::AtMost => "<=",
        };
        let name = &population.case.features[self.feature].name;
        let label = &population.features[self.feature].labels[self.level];
        format!("{name} {op} {label}")
    }
}

/// Items sorted by feature name; of two on one feature, `>=` comes before `<=`.
pub type Predicate = Vec<Item>;

/// Assignments feature → level, sorted by feature name.
pub type Assignments = Vec<(usize, usize)>;

/// A predicate that is frequent in every compared group.
#[derive(Debug, Clone)]
pub struct CommonSubgroup {
    pub predicate: Predicate,
    /// Indices into `Population::people`: the affected of the compared groups who satisfy it.
    pub members: Vec<usize>,
}

pub fn predicate_text(population: &Population, predicate: &[Item]) -> String {
    let items: Vec<String> = predicate.iter().map(|item| item.text(population)).collect();
    items.join(", ")
}

pub fn change_text(population: &Population, change: &[(usize, usize)]) -> String {
    let equal = |(feature, level): &(usize, usize)| Item {
        feature: *feature,
        op: Op::Equal,
        level: *level,
    };
    let items: Vec<Item> = change.iter().map(equal).collect();
    predicate_text(population, &items)
}

/// Features in code point order of their names.
fn features_by_name(population: &Population) -> Vec<usize> {
    let mut order: Vec<usize> = (0..population.features.len()).collect();
    order.sort_by_key(|f| &population.case.features[*f].name);
    order
}

/// `𝒢`: every predicate of no more items than allowed whose members weigh at least
/// `support · weight(D_g)`, and `min_members`, in every compared group. With ranges, of predicates with the same members only one stays: fewest items, then
/// fewest range items, then first in text order.
pub fn common_subgroups(population: &Population, groups: &[Group]) -> Vec<CommonSubgroup> {
    let affected: Vec<usize> = (0..population.people.len())
        .filter(|i| {
            let person = &population.people[*i];
            !person.favourable && groups.iter().any(|group| group.name == person.group)
        })
        .collect();

    let mut partial = vec![CommonSubgroup {
        predicate: Vec::new(),
        members: affected.clone(),
    }];
    for feature in features_by_name(population) {
        let choices = choices(population, feature, &affected);
        let mut longer = Vec::new();
        for start in &partial {
            for items in &choices {
                let mut predicate = start.predicate.clone();
                predicate.extend(items);
                let members: Vec<usize> = start
                    .members
                    .iter()
                    .copied()
                    .filter(|i| {
                        let level = population.people[*i].levels[feature];
                        items.iter().all(|item| item.admits(population, level))
                    })
                    .collect();
                // More items never bring members back, so an infrequent start ends here.
                if is_common(population, groups, &members) {
                    longer.push(CommonSubgroup { predicate, members });
                }
            }
        }
        partial.extend(longer);
    }
    partial.retain(|one| !one.predicate.is_empty());
    if population.case.options.ranges {
        partial = one_for_each_membership(population, partial);
    }
    let most = population.case.options.max_length.unwrap_or(usize::MAX);
    partial.retain(|one| one.predicate.len() <= most);
    partial
}

/// The items that a predicate can have on one feature: one equality, one bound, or a bound on
/// each side. A bound that every affected person satisfies is no item.
fn choices(population: &Population, feature: usize, affected: &[usize]) -> Vec<Vec<Item>> {
    let levels = &population.features[feature];
    let mut choices: Vec<Vec<Item>> = (0..levels.labels.len())
        .map(|level| {
            vec![Item {
                feature,
                op: Op::Equal,
                level,
            }]
        })
        .collect();
    if !population.case.options.ranges || !levels.ordered {
        return choices;
    }
    let bounds = |op: Op| -> Vec<Item> {
        (0..levels.ranks())
            .map(|level| Item { feature, op, level })
            .filter(|item| {
                affected
                    .iter()
                    .any(|i| !item.admits(population, population.people[*i].levels[feature]))
            })
            .collect()
    };
    for least in bounds(Op::AtLeast) {
        choices.push(vec![least]);
        for most in bounds(Op::AtMost) {
            choices.push(vec![least, most]);
        }
    }
    choices.extend(bounds(Op::AtMost).into_iter().map(|most| vec![most]));
    choices
}

fn is_common(population: &Population, groups: &[Group], members: &[usize]) -> bool {
    groups.iter().all(|group| {
        let weight = weight_in(population, members, &group.name);
        weight > 0
            && weight >= population.case.options.min_members
            && population
                .case
                .options
                .support
                .reached_by(weight, group.affected)
    })
}

/// Weight of the members who belong to the group.
pub fn weight_in(population: &Population, members: &[usize], group: &str) -> u64 {
    let mut weight = 0;
    for i in members {
        if population.people[*i].group == group {
            weight += population.people[*i].weight;
        }
    }
    weight
}

fn one_for_each_membership(
    population: &Population,
    all: Vec<CommonSubgroup>,
) -> Vec<CommonSubgroup> {
    let mut best: BTreeMap<Vec<usize>, (usize, usize, String, Predicate)> = BTreeMap::new();
    for one in all {
        let ranges = one.predicate.iter().filter(|item| item.op != Op::Equal);
        let candidate = (
            one.predicate.len(),
            ranges.count(),
            predicate_text(population, &one.predicate),
            one.predicate,
        );
        match best.get(&one.members) {
            Some(better) if *better <= candidate => {}
            _ => {
                best.insert(one.members, candidate);
            }
        }
    }
    best.into_iter()
        .map(|(members, (_, _, _, predicate))| CommonSubgroup { predicate, members })
        .collect()
}

/// `A`: every set of assignments, no longer than a predicate may be, held by at least `support` of all
/// the unaffected.
pub fn action_itemsets(population: &Population) -> Vec<Assignments> {
    let unaffected: Vec<&Individual> = population
        .people
        .iter()
        .filter(|person| person.favourable)
        .collect();
    let all: u64 = unaffected.iter().map(|person| person.weight).sum();

    let mut partial: Vec<Assignments> = vec![Vec::new()];
    for feature in features_by_name(population) {
        let mut longer = Vec::new();
        for start in &partial {
            for level in 0..population.features[feature].labels.len() {
                let mut itemset = start.clone();
                itemset.push((feature, level));
                let mut weight = 0;
                for person in &unaffected {
                    if itemset.iter().all(|(f, level)| person.levels[*f] == *level) {
                        weight += person.weight;
                    }
                }
                if weight > 0 && population.case.options.support.reached_by(weight, all) {
                    longer.push(itemset);
                }
            }
        }
        partial.extend(longer);
    }
    let most = population.case.options.max_length.unwrap_or(usize::MAX);
    partial.retain(|itemset| !itemset.is_empty() && itemset.len() <= most);
    partial
}
