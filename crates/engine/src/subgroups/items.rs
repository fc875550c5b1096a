//! Items and who satisfies them.

use super::{Item, Operator};
use crate::bits::{Layout, Words};
use crate::population::Population;

/// Items with the set of profiles that satisfy each.
#[derive(Debug)]
pub(crate) struct ItemSets {
    pub(crate) items: Vec<Item>,
    pub(crate) sets: Vec<Words>,
}

impl ItemSets {
    /// The profiles that satisfy an item.
    pub(crate) fn set(&self, item: Item) -> &Words {
        // Predicates are made of these items only.
        let index = self.items.binary_search(&item);
        &self.sets[index.expect("an item of a mined predicate")]
    }

    /// The profiles that satisfy all of these items.
    pub(crate) fn members(&self, items: &[Item], into: &mut [u64]) {
        match items.split_first() {
            None => into.fill(0),
            Some((first, rest)) => {
                into.copy_from_slice(self.set(*first));
                for item in rest {
                    crate::bits::intersect(into, self.set(*item));
                }
            }
        }
    }
}

impl ItemSets {
    /// Who satisfies an item, put together from these equalities.
    fn satisfied(&self, item: Item, missing: Option<u32>, layout: &Layout) -> Words {
        let mut set = layout.none();
        for (equality, satisfied) in self.items.iter().zip(&self.sets) {
            if equality.feature == item.feature && item.admits(equality.level, missing) {
                crate::bits::unite(&mut set, satisfied);
            }
        }
        set
    }
}

/// These items, whoever satisfies them.
pub(crate) fn given_items(
    population: &Population,
    layout: &Layout,
    mut items: Vec<Item>,
) -> ItemSets {
    items.sort_unstable();
    items.dedup();
    let equalities = equality_items(population, layout);
    let satisfied = |item: &Item| {
        let missing = population.features()[item.feature as usize].missing;
        equalities.satisfied(*item, missing, layout)
    };
    ItemSets {
        sets: items.iter().map(satisfied).collect(),
        items,
    }
}

/// `feature = level` for every feature and every level that somebody in the layout has.
pub(crate) fn equality_items(population: &Population, layout: &Layout) -> ItemSets {
    let (mut items, mut sets) = (Vec::new(), Vec::new());
    for (feature, levels) in population.features().iter().enumerate() {
        let mut by_level: Vec<Option<Words>> = vec![None; levels.levels.len()];
        for (position, profile) in layout.positions() {
            let level = population.level(feature, profile) as usize;
            let set = by_level[level].get_or_insert_with(|| layout.none());
            crate::bits::insert(set, position);
        }
        for (level, set) in by_level.into_iter().enumerate() {
            if let Some(set) = set {
                items.push(Item {
                    feature: feature as u32,
                    operator: Operator::Is,
                    level: level as u32,
                });
                sets.push(set);
            }
        }
    }
    ItemSets { items, sets }
}

/// The items of the affected: equalities and, with `ranges`, the bounds of ordered features that
/// not everybody satisfies.
pub(crate) fn affected_items(population: &Population, layout: &Layout, ranges: bool) -> ItemSets {
    let mut equalities = equality_items(population, layout);
    if !ranges {
        return equalities;
    }
    let everybody = layout.all();
    let mut found: Vec<(Item, Words)> = Vec::new();
    for (feature, levels) in population.features().iter().enumerate() {
        if !levels.is_ordered() {
            continue;
        }
        for operator in [Operator::AtLeast, Operator::AtMost] {
            for level in 0..levels.ranks() as u32 {
                let bound = Item {
                    feature: feature as u32,
                    operator,
                    level,
                };
                let set = equalities.satisfied(bound, levels.missing, layout);
                if set != everybody && set.iter().any(|&word| word != 0) {
                    found.push((bound, set));
                }
            }
        }
    }
    found.extend(equalities.items.drain(..).zip(equalities.sets.drain(..)));
    found.sort_by_key(|&(item, _)| item);
    let (items, sets) = found.into_iter().unzip();
    ItemSets { items, sets }
}
