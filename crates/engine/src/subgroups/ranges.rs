//! Predicates with the same members are one finding, not several.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::{ItemSets, Mined, Operator};
use crate::bits::Layout;
use crate::population::Levels;

/// Of all predicates with the same members, keeps the one with the fewest items; then the fewest
/// range items; then the first in text order. The order of `mined` is kept.
pub(crate) fn one_for_each_set_of_members(
    mined: Vec<Mined>,
    layout: &Layout,
    items: &ItemSets,
    features: &[Levels],
) -> Vec<Mined> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut members = layout.none();
    let mut other = layout.none();
    // Predicates by a hash of their members: equal hashes are compared member by member.
    let mut classes: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut keep = vec![true; mined.len()];
    let order = |i: usize| {
        let predicate = &mined[i].predicate;
        let ranges = predicate
            .items()
            .iter()
            .filter(|item| item.operator != Operator::Is);
        (
            predicate.items().len(),
            ranges.count(),
            predicate.text(features),
        )
    };
    for (i, candidate) in mined.iter().enumerate() {
        items.members(candidate.predicate.items(), &mut members);
        let class = classes.entry(hasher.hash_one(&members)).or_default();
        let rival = class.iter_mut().find(|rival| {
            items.members(mined[**rival].predicate.items(), &mut other);
            members == other
        });
        match rival {
            None => class.push(i),
            Some(rival) if order(i) < order(*rival) => {
                keep[*rival] = false;
                *rival = i;
            }
            Some(_) => keep[i] = false,
        }
    }
    let mut keep = keep.into_iter();
    mined
        .into_iter()
        .filter(|_| keep.next().unwrap_or(false))
        .collect()
}
