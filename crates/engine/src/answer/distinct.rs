//! Distinct sets of people: predicates with the same members are one subgroup to a reader.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::audit::{Audit, Individuals};

/// By subgroup: the shortest predicate with the same members; the first in order of text if several
/// are as short.
pub(super) fn same_as(audit: &Audit, individuals: &Individuals) -> Vec<u32> {
    let hashes: Vec<u64> = audit
        .subgroups
        .par_iter()
        .map(|subgroup| {
            let mut hasher = DefaultHasher::new();
            individuals.members(subgroup).hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    for (subgroup, hash) in hashes.into_iter().enumerate() {
        alike.entry(hash).or_default().push(subgroup);
    }
    let mut same_as: Vec<u32> = (0..).take(audit.subgroups.len()).collect();
    for mut left in alike.into_values().filter(|alike| alike.len() > 1) {
        // Equal hashes are no proof.
        while let Some(&first) = left.first() {
            let members = individuals.members(&audit.subgroups[first]);
            let (same, others): (Vec<usize>, Vec<usize>) = left
                .into_iter()
                .partition(|&s| s == first || individuals.members(&audit.subgroups[s]) == members);
            let shortest = shortest(audit, &same);
            for &subgroup in &same {
                same_as[subgroup] = shortest as u32;
            }
            left = others;
        }
    }
    same_as
}

/// The shortest of some predicates, the first in order of text.
pub(super) fn shortest(audit: &Audit, subgroups: &[usize]) -> usize {
    let predicate = |subgroup: usize| &audit.subgroups[subgroup].predicate;
    let shortest = subgroups.iter().copied().min_by_key(|&subgroup| {
        let predicate = predicate(subgroup);
        (predicate.items().len(), audit.text(predicate))
    });
    shortest.unwrap_or_default()
}
