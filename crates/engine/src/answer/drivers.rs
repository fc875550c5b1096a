//! Drivers: which characteristics go with the gap between the groups.
//!
//! For any set of refused people, the gap is the share of the best-off group's who have a way out less
//! that of the worst-off group's. An item's driver is its *global Shapley value* (Pastor, de Alfaro and
//! Baralis, "Looking for Trouble", 2021): by how much adding the item to a predicate moves the gap,
//! averaged over all predicates and orders of adding. A person's way out does not depend on the
//! predicate they are looked at under, so predicates without a valid action of their own take part, and
//! so do all refused people together, from which a first item starts.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Compared, GroupPeople};
use crate::audit::{Audit, Individuals};
use crate::bits::{self, Words};
use crate::distribution::Share;
use crate::subgroups::{Item, Predicate};

/// What goes with the gap between two groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drivers {
    /// The group that is worse off among all refused people.
    pub worse_off: usize,
    /// The group that is best off.
    pub better_off: usize,
    /// The gap among all refused people.
    pub gap: f64,
    /// The items, those that widen the gap most first.
    pub items: Vec<Driver>,
    /// How many predicates they are averaged over.
    pub predicates: usize,
}

/// One item and what it does to the gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Driver {
    /// The item.
    pub item: Item,
    /// Its global Shapley value: above 0 it widens the gap.
    pub value: f64,
    /// Of the worse-off group's refused people who meet it, those who have a way out.
    pub worse: Share,
    /// The same of the best-off group.
    pub better: Share,
}

/// The drivers of the gap between the worst-off and the best-off group; none if there is no gap, if
/// counts are suppressed, or if predicates have ranges, of which not all are there to be averaged over.
pub(super) fn drivers(
    audit: &Audit,
    individuals: &Individuals,
    ways: &[f64],
    people: &[GroupPeople],
) -> Option<Drivers> {
    if audit.suppression.is_some() || audit.settings.ranges {
        return None;
    }
    let open: Vec<Share> = people
        .iter()
        .map(GroupPeople::open)
        .collect::<Option<_>>()?;
    let compared = Compared::new(&open, 0.0)?;
    if compared.worst == compared.best {
        return None;
    }
    let counting = Counting {
        individuals,
        with_a_way: with_a_way(individuals, ways),
        groups: [compared.worst, compared.best],
    };
    let ranked = audit.subgroups.iter().map(|subgroup| &subgroup.predicate);
    let others = audit
        .without_actions
        .iter()
        .map(|without| &without.predicate);
    let predicates: Vec<&Predicate> = ranked.chain(others).collect();
    let gaps: HashMap<&[Item], f64> = predicates
        .iter()
        .map(|predicate| (predicate.items(), counting.gap(predicate.items())))
        .chain([(&[][..], compared.difference)])
        .collect();
    let held = |feature: usize| {
        let items = individuals.items.items.iter();
        items
            .filter(|item| item.feature as usize == feature)
            .count()
    };
    let held: Vec<usize> = (0..audit.features.len()).map(held).collect();
    let mut values: HashMap<Item, f64> = HashMap::new();
    for predicate in &predicates {
        let items = predicate.items();
        let weight = weight(items, &held);
        for (place, &item) in items.iter().enumerate() {
            let without: Vec<Item> = (items[..place].iter())
                .chain(&items[place + 1..])
                .copied()
                .collect();
            // Every part of a common predicate is common, unless the search was cut short.
            if let Some(before) = gaps.get(without.as_slice()) {
                *values.entry(item).or_insert(0.0) += weight * (gaps[items] - before);
            }
        }
    }
    let mut items: Vec<Driver> = values
        .into_iter()
        .map(|(item, value)| {
            let [worse, better] = counting.shares(&[item]);
            Driver {
                item,
                value,
                worse,
                better,
            }
        })
        .collect();
    items.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.item.cmp(&b.item)));
    Some(Drivers {
        worse_off: compared.worst,
        better_off: compared.best,
        gap: compared.difference,
        items,
        predicates: predicates.len(),
    })
}

/// The affected who have a way out.
fn with_a_way(individuals: &Individuals, ways: &[f64]) -> Words {
    let mut set = individuals.layout.none();
    for (position, way) in ways.iter().enumerate() {
        if way.is_finite() {
            bits::insert(&mut set, position);
        }
    }
    set
}

/// Counts who has a way out among the people who meet some items.
struct Counting<'a> {
    individuals: &'a Individuals,
    with_a_way: Words,
    /// The worse-off group and the best-off.
    groups: [usize; 2],
}

impl Counting<'_> {
    fn shares(&self, items: &[Item]) -> [Share; 2] {
        let layout = &self.individuals.layout;
        let mut members = layout.none();
        self.individuals.items.members(items, &mut members);
        self.groups.map(|g| {
            let part = layout.count(g, &members, &self.with_a_way);
            Share::new(part, layout.count(g, &members, &members))
        })
    }

    fn gap(&self, items: &[Item]) -> f64 {
        let [worse, better] = self.shares(items);
        better.ratio() - worse.ratio()
    }
}

/// How much a predicate counts in the average: one over the number of features, of ways to choose the
/// features besides the item's own, and of ways to fill them all.
fn weight(items: &[Item], held: &[usize]) -> f64 {
    let (features, others) = (held.len() as f64, items.len() - 1);
    // others! · (features − others − 1)! / features!, which is 1 over features times a binomial.
    let mut weight = 1.0 / features;
    for step in 0..others {
        weight *= (step + 1) as f64 / (features - 1.0 - step as f64);
    }
    items.iter().fold(weight, |weight, item| {
        weight / held[item.feature as usize].max(1) as f64
    })
}
