//! Which people's counterfactual rows can be equal.
//!
//! A change leaves most columns as they are. People who differ in a column that no change assigns never come
//! to the same row, so they can be looked at one part after the other, and only the rows of one part have to be
//! kept at a time.

use super::Counterfactuals;
use crate::bits::{self, Words};
use crate::rows::Rows;

/// So many rows are met in a part at most, if people differ enough: as many as a processor has at hand. Looking a
/// row up among millions takes three times as long.
const ROWS: usize = 1 << 17;

/// People none of whom comes to a row that somebody of another part comes to.
#[derive(Debug)]
pub(super) struct Part {
    /// Their positions.
    pub(super) members: Words,
    /// Profiles of the population, affected or not, whose rows they may come to.
    pub(super) profiles: Vec<u32>,
}

/// Divides people into parts in which about `rows` rows are met at most, their own among them.
pub(super) fn parts(ask: &Counterfactuals<'_>, rows: usize) -> Vec<Part> {
    let changed = ask.changed_columns();
    let kept: Vec<usize> = (0..changed.len()).filter(|&c| !changed[c]).collect();
    let mut keys = Rows::new(kept.len());
    let mut key = Vec::with_capacity(kept.len());
    let mut key_of = |row: &[u32]| {
        key.clear();
        key.extend(kept.iter().map(|&column| row[column]));
        keys.insert(&key).0
    };
    // Keys are numbered in the order of positions, so parts follow it as well.
    let positions: Vec<(usize, usize)> = (ask.positions())
        .map(|position| (position, key_of(ask.row(position))))
        .collect();
    let keys_asked = positions.iter().map(|&(_, key)| key + 1).max();
    let mut met = vec![0; keys_asked.unwrap_or(0)];
    // What a person is asked about differs little from one to the next.
    let a_person = ask.decisions.div_ceil(positions.len().max(1));
    for &(_, key) in &positions {
        met[key] += a_person;
    }
    // Nobody comes to the row of a profile that has a key of its own.
    let profiles: Vec<(u32, usize)> = (0..ask.population.profiles())
        .map(|profile| (profile as u32, key_of(ask.population.row(profile))))
        .filter(|&(_, key)| key < met.len())
        .collect();
    for &(_, key) in &profiles {
        met[key] += 1;
    }
    let part_of = filled(&met, ROWS.min(rows));
    let count = part_of.last().map_or(0, |last| last + 1);
    let mut parts: Vec<Part> = (0..count)
        .map(|_| Part {
            members: ask.nobody(),
            profiles: Vec::new(),
        })
        .collect();
    for (position, key) in positions {
        bits::insert(&mut parts[part_of[key]].members, position);
    }
    for (profile, key) in profiles {
        parts[part_of[key]].profiles.push(profile);
    }
    parts
}

/// Fills parts with so many rows, key by key: the part of each key.
fn filled(met: &[usize], enough: usize) -> Vec<usize> {
    let (mut part, mut inside) = (0, 0);
    let of_key = met.iter().map(|&rows| {
        if inside > 0 && inside + rows > enough {
            part += 1;
            inside = 0;
        }
        inside += rows;
        part
    });
    of_key.collect()
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn parts_are_filled_key_by_key() {
        assert_eq!(filled(&[3, 3, 3, 10, 1, 1], 6), [0, 0, 1, 2, 3, 3]);
        assert_eq!(filled(&[7], 1), [0]);
        assert!(filled(&[], 1).is_empty());
    }
}
