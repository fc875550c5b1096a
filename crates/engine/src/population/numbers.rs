//! The numbers of a column, counted for their quantiles while a table is read.
//!
//! Different numbers are counted one by one as long as they are few. More go into a sketch: buffers of
//! numbers that stand for 1, 2, 4, … rows each. A full buffer is sorted, and every second of its numbers
//! goes on to the next buffer, where it stands for twice as many. No chance is involved, so the same
//! numbers in the same order give the same sketch, and how far a rank can be off is added up as it
//! happens, not estimated. Sketches can be merged.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, downcast_integer};
use arrow_schema::DataType;

/// So many different numbers are counted one by one.
const EXACT: usize = 1 << 19;

/// So many numbers fill a buffer. An even number, so that halving it loses no row.
const FULL: usize = 1 << 16;

/// Numbers with how many rows hold each: exactly, or in a sketch.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Rows that hold a number which is not counted apart; of these the least and the greatest.
    rows: u64,
    least: f64,
    greatest: f64,
    held: Held,
    /// Numbers that are always counted one by one, whatever becomes of the others.
    apart: Vec<(f64, u64)>,
    /// When they stop being counted one by one, and when a buffer is full.
    exact: usize,
    full: usize,
}

#[derive(Clone, Debug)]
enum Held {
    /// By their bits.
    Exactly(HashMap<u64, u64, hashbrown::DefaultHashBuilder>),
    Sketched(Sketch),
}

/// Buffers by level: a number at level h stands for 2^h rows.
#[derive(Clone, Debug, Default)]
struct Sketch {
    levels: Vec<Level>,
    /// A rank is off by at most so many rows.
    off: u64,
}

#[derive(Clone, Debug, Default)]
struct Level {
    numbers: Vec<f64>,
    /// Which of two neighbours goes on next time: the lower and the upper by turns, so that errors cancel.
    upper: bool,
}

impl Default for Numbers {
    fn default() -> Self {
        Self::within(EXACT, FULL)
    }
}

impl Numbers {
    /// None yet. So many are counted one by one; buffers hold so many.
    fn within(exact: usize, full: usize) -> Self {
        Self {
            rows: 0,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            held: Held::Exactly(HashMap::default()),
            apart: Vec::new(),
            exact,
            full,
        }
    }

    /// None yet. Numbers that may stand for something else, such as codes for missing values, are counted
    /// apart: a sketch could not tell afterwards what is left [without](Self::without) them, such as the
    /// least of the others.
    pub fn apart(numbers: &[f64]) -> Self {
        Self {
            apart: numbers.iter().map(|&number| (number, 0)).collect(),
            ..Self::default()
        }
    }

    /// The same numbers without some of those that were counted apart.
    pub fn without(mut self, numbers: &[f64]) -> Self {
        self.apart.retain(|(number, _)| !numbers.contains(number));
        self
    }

    /// How many rows hold a number.
    pub fn rows(&self) -> u64 {
        let apart = self.apart.iter().map(|&(_, rows)| rows);
        self.rows + apart.sum::<u64>()
    }

    /// By how many rows the rank of a number can be off; 0 while all are counted one by one.
    pub fn off(&self) -> u64 {
        match &self.held {
            Held::Exactly(_) => 0,
            // The least and the greatest number are told, whatever the sketch kept.
            Held::Sketched(sketch) => sketch.off + 2,
        }
    }

    /// Adds a number that so many rows hold. One that is not finite has no rank and is not counted.
    pub fn add(&mut self, number: f64, rows: u64) {
        if !number.is_finite() || rows == 0 {
            return;
        }
        if let Some((_, counted)) = self.apart.iter_mut().find(|(apart, _)| *apart == number) {
            *counted += rows;
            return;
        }
        self.rows += rows;
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        match &mut self.held {
            Held::Exactly(counts) => {
                *counts.entry(number.to_bits()).or_default() += rows;
                if counts.len() > self.exact {
                    self.sketch();
                }
            }
            Held::Sketched(sketch) => sketch.add(number, rows, self.full),
        }
    }

    /// Gives up counting one by one.
    fn sketch(&mut self) {
        let mut sketch = Sketch::default();
        // In order, so that the sketch does not depend on how numbers hash.
        for (number, rows) in in_order(self.told()) {
            sketch.add(number, rows, self.full);
        }
        self.held = Held::Sketched(sketch);
    }

    /// Takes in the numbers of other rows, of which the same were counted apart.
    pub fn merge(&mut self, other: &Self) {
        for &(number, rows) in &other.apart {
            self.add(number, rows);
        }
        match &other.held {
            Held::Exactly(_) => {
                for (number, rows) in in_order(other.told()) {
                    self.add(number, rows);
                }
            }
            Held::Sketched(sketch) => {
                if let Held::Exactly(_) = self.held {
                    self.sketch();
                }
                self.rows += other.rows;
                self.least = self.least.min(other.least);
                self.greatest = self.greatest.max(other.greatest);
                if let Held::Sketched(own) = &mut self.held {
                    own.merge(sketch, self.full);
                }
            }
        }
    }

    /// The numbers, ascending, with how many rows hold each: as counted, or as sketched with the least and
    /// the greatest in their places.
    pub fn counted(&self) -> Vec<(f64, u64)> {
        let apart = self.apart.iter().filter(|&&(_, rows)| rows > 0);
        let mut counted = self.told();
        counted.extend(apart);
        in_order(counted)
    }

    /// The numbers that are not counted apart, in no order; a number may come twice.
    fn told(&self) -> Vec<(f64, u64)> {
        match &self.held {
            Held::Exactly(counts) => {
                let counts = counts.iter();
                counts
                    .map(|(&bits, &rows)| (f64::from_bits(bits), rows))
                    .collect()
            }
            Held::Sketched(sketch) => {
                let levels = (0..).zip(&sketch.levels);
                let numbers = levels.flat_map(|(level, held): (u32, &Level)| {
                    held.numbers.iter().map(move |&number| (number, 1 << level))
                });
                numbers
                    .chain([(self.least, 1), (self.greatest, 1)])
                    .collect()
            }
        }
    }
}

/// Numbers in ascending order, each once with all of its rows.
fn in_order(mut counted: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    counted.sort_by(|a, b| a.0.total_cmp(&b.0));
    counted.dedup_by(|next, kept| {
        let same = next.0.to_bits() == kept.0.to_bits();
        if same {
            kept.1 += next.1;
        }
        same
    });
    counted
}

impl Sketch {
    fn add(&mut self, number: f64, rows: u64, full: usize) {
        for level in (0..u64::BITS).filter(|level| rows >> level & 1 == 1) {
            self.push(level as usize, number, full);
        }
    }

    fn push(&mut self, level: usize, number: f64, full: usize) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Level::default);
        }
        self.levels[level].numbers.push(number);
        if self.levels[level].numbers.len() >= full {
            self.halve(level, full);
        }
    }

    /// Every second number of a buffer goes on to the next. Of the numbers up to any point half go on,
    /// or one more or one less than half: each stands for 2^h rows, and no rank moves by more than that.
    fn halve(&mut self, level: usize, full: usize) {
        let mut numbers = std::mem::take(&mut self.levels[level].numbers);
        numbers.sort_unstable_by(f64::total_cmp);
        let upper = self.levels[level].upper;
        self.levels[level].upper = !upper;
        self.off += 1 << level;
        for &number in numbers.iter().skip(usize::from(upper)).step_by(2) {
            self.push(level + 1, number, full);
        }
    }

    fn merge(&mut self, other: &Self, full: usize) {
        self.off += other.off;
        for (level, held) in other.levels.iter().enumerate() {
            for &number in &held.numbers {
                self.push(level, number, full);
            }
        }
    }
}

/// The entries of a column of numbers; none if it is of another type.
pub(super) fn numbers(array: &dyn Array) -> Option<Vec<Option<f64>>> {
    macro_rules! integers {
        ($type:ty) => {
            Some(integers::<$type>(array))
        };
    }
    downcast_integer! {
        array.data_type() => (integers),
        DataType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>().iter();
            Some(numbers.map(|number| number.map(f64::from)).collect())
        }
        DataType::Float64 => Some(array.as_primitive::<Float64Type>().iter().collect()),
        _ => None,
    }
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Option<f64>>
where
    T::Native: TryInto<i64>,
{
    let numbers = array.as_primitive::<T>().iter();
    numbers
        // One over 2^63 is refused where the table is read; none is counted here.
        .map(|number| number?.try_into().ok().map(|number: i64| number as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows below a number, and rows up to it.
    fn ranks(all: &[f64], number: f64) -> (u64, u64) {
        let below = all.partition_point(|&other| other < number);
        let up_to = all.partition_point(|&other| other <= number);
        (below as u64, up_to as u64)
    }

    /// Every number that is told lies, among all numbers, within the error of the place that it is told at.
    fn within_the_error(numbers: &Numbers, mut all: Vec<f64>) {
        all.sort_by(f64::total_cmp);
        assert_eq!(numbers.rows(), all.len() as u64);
        let counted = numbers.counted();
        assert_eq!(counted.first().map(|c| c.0), all.first().copied());
        assert_eq!(counted.last().map(|c| c.0), all.last().copied());
        let mut told = 0;
        for (number, rows) in counted {
            let (below, up_to) = ranks(&all, number);
            assert!(below <= told + numbers.off(), "{number}: {below} {told}");
            told += rows;
            assert!(up_to + numbers.off() >= told, "{number}: {up_to} {told}");
        }
        assert!(told.abs_diff(numbers.rows()) <= 2);
    }

    #[test]
    fn few_numbers_are_counted_one_by_one() {
        let mut numbers = Numbers::within(100, 8);
        for number in 0..1000 {
            numbers.add(f64::from(number % 100), 2);
        }
        numbers.add(f64::NAN, 1);
        assert_eq!((numbers.rows(), numbers.off()), (2000, 0));
        let expected: Vec<(f64, u64)> = (0..100).map(|number| (f64::from(number), 20)).collect();
        assert_eq!(numbers.counted(), expected);
    }

    /// What is counted apart is exact, and neither the least nor the greatest of the others.
    #[test]
    fn some_numbers_are_counted_apart() {
        for exact in [0, 10_000] {
            let mut parts = [(); 2].map(|()| Numbers {
                apart: Numbers::apart(&[-9.0, 9999.0, 5.0]).apart,
                ..Numbers::within(exact, 8)
            });
            for row in 0..1000 {
                let number = [-9.0, 9999.0, 100.0 + f64::from(row)][row as usize % 3];
                parts[row as usize % 2].add(number, 1);
            }
            let [mut numbers, other] = parts;
            numbers.merge(&other);
            assert_eq!(numbers.rows(), 1000);
            let counted = numbers.counted();
            assert_eq!(counted[0], (-9.0, 334));
            assert_eq!(counted[counted.len() - 1], (9999.0, 333));
            let others = numbers.without(&[-9.0, 9999.0]);
            assert_eq!(others.rows(), 333);
            let counted = others.counted();
            assert_eq!(
                (counted[0].0, counted[counted.len() - 1].0),
                (102.0, 1098.0)
            );
        }
    }

    /// What is stated for the sizes that are used: a rank is off by less than one row in six thousand.
    #[test]
    fn a_million_numbers_are_told_closely() {
        let mut numbers = Numbers::default();
        let number = |row: u64| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64;
        for row in 0..1_000_000 {
            numbers.add(number(row), 1);
        }
        assert!(numbers.off() > 0 && numbers.off() * 6000 < numbers.rows());
        within_the_error(&numbers, (0..1_000_000).map(number).collect());
    }

    proptest! {
        /// In any order, with any counts, from one place or merged from several.
        #[test]
        fn ranks_are_within_the_stated_error(
            rows in proptest::collection::vec((-1000i32..1000, 1u64..40), 1..600),
            parts in 1usize..4,
            exact in 0usize..50,
            half in 1usize..20,
        ) {
            let mut merged = Numbers::within(exact, 2 * half);
            let mut all = Vec::new();
            for part in rows.chunks(rows.len().div_ceil(parts)) {
                let mut numbers = Numbers::within(exact, 2 * half);
                for &(number, count) in part {
                    let number = f64::from(number) / 8.0;
                    numbers.add(number, count);
                    all.extend(std::iter::repeat_n(number, count as usize));
                }
                merged.merge(&numbers);
            }
            within_the_error(&merged, all);
        }
    }
}
