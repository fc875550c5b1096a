//! A set of distinct rows, each a fixed number of codes, numbered in order of arrival.
//!
//! Profiles and counterfactual rows are both looked up here: rows lie one after another in a single
//! vector and the hash table holds their numbers only, so a million rows cost no million
//! allocations.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct rows of `width` codes.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    width: usize,
    codes: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

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

    /// How many distinct rows there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// About how much memory the rows take.
    pub(crate) fn bytes(&self) -> usize {
        (self.codes.capacity() + self.numbers.capacity()) * size_of::<u32>()
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
        let hash = self.hasher.hash_one(row);
        let (codes, width, hasher) = (&self.codes, self.width, &self.hasher);
        let at = |number: u32| &codes[number as usize * width..(number as usize + 1) * width];
        let entry = self.numbers.entry(
            hash,
            |&number| at(number) == row,
            |&number| hasher.hash_one(at(number)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => (*known.get() as usize, false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                // Four billion distinct rows would not fit any memory this runs in.
                let number = u32::try_from(self.codes.len() / self.width.max(1))
                    .expect("fewer than 2^32 distinct rows");
                free.insert(number);
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
}
