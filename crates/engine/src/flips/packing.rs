//! Rows in as few bits as their columns need.
//!
//! A black box can be asked for millions of distinct rows, and each must be kept to be known again. A code of
//! a column with 16 values needs 4 bits, not 32: a row of twelve columns then fits into eight bytes. Nothing is
//! lost, so equal packed rows are equal rows.

use crate::population::Column;

/// Where the code of a column stands in a packed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    word: usize,
    shift: u32,
    mask: u32,
}

impl Place {
    /// The code that a packed row has here.
    pub(super) fn code(self, packed: &[u32]) -> u32 {
        packed[self.word] >> self.shift & self.mask
    }

    /// Puts a code here.
    pub(super) fn put(self, packed: &mut [u32], code: u32) {
        let word = &mut packed[self.word];
        *word = *word & !(self.mask << self.shift) | code << self.shift;
    }
}

/// How rows of certain columns are packed.
#[derive(Debug)]
pub(super) struct Packing {
    places: Vec<Place>,
    words: usize,
}

impl Packing {
    /// Finds a place for the codes of each column: in the first word with enough bits left.
    pub(super) fn new(columns: &[Column]) -> Self {
        Self::of(columns.iter().map(|column| column.values().len()))
    }

    fn of(values: impl Iterator<Item = usize>) -> Self {
        let mut used: Vec<u32> = vec![0];
        let places = values.map(|values| {
            // Codes are numbers of 32 bits, so the greatest is one too.
            let greatest = values.saturating_sub(1) as u32;
            let bits = u32::BITS - greatest.leading_zeros();
            if bits == 0 {
                return Place {
                    word: 0,
                    shift: 0,
                    mask: 0,
                };
            }
            let free = used.iter().position(|&used| used + bits <= u32::BITS);
            let word = free.unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let shift = used[word];
            used[word] += bits;
            Place {
                word,
                shift,
                mask: u32::MAX >> (u32::BITS - bits),
            }
        });
        let places = places.collect();
        Self {
            places,
            words: used.len(),
        }
    }

    /// How many words a packed row takes.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Where each column's code stands.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Packs a row.
    pub(super) fn pack(&self, row: &[u32], packed: &mut [u32]) {
        packed.fill(0);
        for (place, &code) in self.places.iter().zip(row) {
            place.put(packed, code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_can_be_read_and_replaced() {
        let values = [16, 1, 73, 2, 123, 1 << 20, usize::pow(2, 32), 0, 42];
        let packing = Packing::of(values.into_iter());
        // 4 + 7 + 1 + 7 + 6 bits, 20 bits, and 32 bits.
        assert_eq!(packing.words(), 3);
        let row = [15, 0, 72, 1, 122, (1 << 20) - 1, u32::MAX, 0, 41];
        let mut packed = vec![u32::MAX; packing.words()];
        packing.pack(&row, &mut packed);
        let read: Vec<u32> = packing.places().iter().map(|p| p.code(&packed)).collect();
        assert_eq!(read, row);
        for (column, place) in packing.places().iter().enumerate() {
            let mut changed = row;
            changed[column] = row[column] / 2;
            let mut other = packed.clone();
            place.put(&mut other, changed[column]);
            let read: Vec<u32> = packing.places().iter().map(|p| p.code(&other)).collect();
            assert_eq!(read, changed);
        }
    }

    #[test]
    fn rows_without_columns_take_a_word() {
        assert_eq!(Packing::of(std::iter::empty()).words(), 1);
    }
}
