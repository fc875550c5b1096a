//! A set of distinct rows, each a fixed number of codes, numbered in order of arrival.
//!
//! Profiles and counterfactual rows are both looked up here: rows lie one after another in a single
//! vector and the hash table holds their numbers only, so a million rows cost no million
//! allocations.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry as Place;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct rows of `width` codes.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    width: usize,
    codes: Vec<u32>,
    numbers: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

/// A row's number, with a hash of the row: rows that differ are told apart without a look at them, which would be
/// a look into memory far away, and the table grows without one.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    number: u32,
}

impl Entry {
    /// The same hash in as many bits as the table wants.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// So many rows are looked up together, each step for all of them before the next: the memory that the rows of one
/// step lie in is then fetched for several of them at the same time.
const TOGETHER: usize = 64;

impl Rows {
    /// No rows yet.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            codes: Vec::new(),
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Forgets all rows, and keeps the room for as many.
    pub(crate) fn clear(&mut self) {
        self.codes.clear();
        self.numbers.clear();
    }

    /// How many distinct rows there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// About how much memory the rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.codes.capacity() * size_of::<u32>() + self.numbers.capacity() * size_of::<Entry>()
    }

    /// Row `number`.
    pub(crate) fn row(&self, number: usize) -> &[u32] {
        &self.codes[number * self.width..(number + 1) * self.width]
    }

    /// The codes of all rows, column by column.
    pub(crate) fn by_column(&self) -> Vec<Vec<u32>> {
        let column = |at: usize| {
            let codes = self.codes.iter().skip(at).step_by(self.width);
            codes.copied().collect()
        };
        (0..self.width).map(column).collect()
    }

    /// The number of a row, and whether it is new.
    pub(crate) fn insert(&mut self, row: &[u32]) -> (usize, bool) {
        debug_assert_eq!(row.len(), self.width);
        self.insert_hashed(row, self.hash(row))
    }

    /// Inserts `count` rows, one after another in `rows`, and hands on for each in turn its place among them, its
    /// number, and whether it is new.
    pub(crate) fn insert_all(
        &mut self,
        rows: &[u32],
        count: usize,
        mut hand_on: impl FnMut(usize, usize, bool),
    ) {
        let width = self.width;
        debug_assert_eq!(rows.len(), count * width);
        for start in (0..count).step_by(TOGETHER) {
            let count = TOGETHER.min(count - start);
            let row = |i: usize| &rows[i * width..(i + 1) * width];
            let (mut hashes, mut likely) = ([0; TOGETHER], [None; TOGETHER]);
            for (i, hash) in hashes[..count].iter_mut().enumerate() {
                *hash = self.hash(row(start + i));
            }
            for (&hash, likely) in hashes[..count].iter().zip(&mut likely) {
                let found = self.numbers.find(Entry::spread(hash), |e| e.hash == hash);
                *likely = found.map(|entry| entry.number as usize);
            }
            for i in 0..count {
                let row = row(start + i);
                let (number, is_new) = match likely[i] {
                    Some(number) if self.row(number) == row => (number, false),
                    _ => self.insert_hashed(row, hashes[i]),
                };
                hand_on(start + i, number, is_new);
            }
        }
    }

    fn hash(&self, row: &[u32]) -> u32 {
        let hash = self.hasher.hash_one(row);
        (hash ^ (hash >> 32)) as u32
    }

    fn insert_hashed(&mut self, row: &[u32], hash: u32) -> (usize, bool) {
        let (codes, width) = (&self.codes, self.width);
        let at = |number: u32| &codes[number as usize * width..(number as usize + 1) * width];
        let place = self.numbers.entry(
            Entry::spread(hash),
            |entry| entry.hash == hash && at(entry.number) == row,
            |entry| Entry::spread(entry.hash),
        );
        match place {
            Place::Occupied(known) => (known.get().number as usize, false),
            Place::Vacant(free) => {
                // Four billion distinct rows would not fit any memory this runs in.
                let number = u32::try_from(self.codes.len() / self.width.max(1))
                    .expect("fewer than 2^32 distinct rows");
                free.insert(Entry { hash, number });
                self.codes.extend_from_slice(row);
                (number as usize, true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_share_a_number() {
        let mut rows = Rows::new(2);
        assert_eq!(rows.insert(&[1, 2]), (0, true));
        assert_eq!(rows.insert(&[2, 1]), (1, true));
        assert_eq!(rows.insert(&[1, 2]), (0, false));
        assert_eq!(rows.row(1), [2, 1]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.by_column(), [[1, 2], [2, 1]]);
    }

    #[test]
    fn rows_inserted_together_have_the_numbers_of_rows_inserted_in_turn() {
        for width in [0, 1, 3] {
            let codes: Vec<u32> = (0..500 * width as u32).map(|i| i * i % 7).collect();
            let (mut together, mut in_turn) = (Rows::new(width), Rows::new(width));
            let mut numbers = Vec::new();
            for part in [0..200, 200..500] {
                let part_codes = &codes[part.start * width..part.end * width];
                together.insert_all(part_codes, part.len(), |row, number, is_new| {
                    assert_eq!(numbers.len(), part.start + row);
                    numbers.push((number, is_new));
                });
            }
            let expected =
                (0..500).map(|row| in_turn.insert(&codes[row * width..(row + 1) * width]));
            assert_eq!(numbers, expected.collect::<Vec<_>>());
            assert_eq!(together.by_column(), in_turn.by_column());
        }
    }
}
