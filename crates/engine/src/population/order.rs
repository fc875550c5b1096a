//! One order of values, and of profiles by their values.
//!
//! Whoever is drawn at random is drawn by number. So numbers must not depend on the order in which rows
//! come: the same people give the same audit from one file, from its parts in any order, from counts
//! that were merged, and from a database, which promises no order at all.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use super::column::{Column, Value};
use crate::rows::Rows;

/// A total order of the values of one column: a missing value first, numbers by size, texts by code point.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Null, _) | (_, Value::Null) => (*a != Value::Null).cmp(&(*b != Value::Null)),
        (a, b) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.label().cmp(&b.label()),
        },
    }
}

impl Column {
    /// The codes of all values, in the order of the values.
    fn codes_in_order(&self) -> Vec<u32> {
        let values = self.values();
        // Fewer than 2^32 values: see `Column::code`.
        let mut codes: Vec<u32> = (0..values.len() as u32).collect();
        codes.par_sort_by(|&a, &b| compare(&values[a as usize], &values[b as usize]));
        codes
    }

    /// The place of each value in the order of values, by code.
    pub(super) fn ranks(&self) -> Vec<u32> {
        ranks(&self.codes_in_order())
    }

    /// The column with its values in order, and the new code of each by the old one.
    pub(super) fn in_order(&self) -> (Self, Vec<u32>) {
        let codes = self.codes_in_order();
        let mut ordered = Self::empty_like(self);
        for &code in &codes {
            ordered.take(self, code);
        }
        (ordered, ranks(&codes))
    }
}

/// The place of each number in a list that has each once.
fn ranks(numbers: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; numbers.len()];
    for (rank, &number) in (0..).zip(numbers) {
        ranks[number as usize] = rank;
    }
    ranks
}

/// The numbers of rows, ascending by their codes; columns are compared in the order that is given.
pub(super) fn rows_in_order(rows: &Rows, columns: &[usize]) -> Vec<u32> {
    // Fewer than 2^32 rows: see `Rows`.
    let mut numbers: Vec<u32> = (0..rows.len() as u32).collect();
    let key = |number: u32| {
        let row = rows.row(number as usize);
        columns.iter().map(|&column| row[column])
    };
    numbers.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    numbers
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::*;
    use crate::population::{Declaration, Edges, Feature, Population, Protected};

    #[test]
    fn a_missing_value_is_no_empty_text() {
        let values = [
            Value::Null,
            Value::Text("".into()),
            Value::Text("10".into()),
            Value::Text("9".into()),
        ];
        for (place, a) in values.iter().enumerate() {
            for (other, b) in values.iter().enumerate() {
                assert_eq!(compare(a, b), place.cmp(&other), "{a:?} {b:?}");
            }
        }
        assert!(compare(&Value::Float(-0.0), &Value::Float(0.0)).is_lt());
    }

    fn population(rows: &[usize], columns: [usize; 4]) -> Population {
        let text = |row: usize| ["b", "", "a"].get(row * 7 % 4).copied();
        let texts: StringArray = rows.iter().map(|&row| text(row)).collect();
        let group: StringArray = rows.iter().map(|row| Some(["x", "y"][row % 2])).collect();
        let number: Float64Array = rows
            .iter()
            .map(|row| (row * 13 % 29) as f64 / 4.0)
            .collect();
        let binned: Int64Array = rows.iter().map(|row| (row * 11 % 23) as i64).collect();
        let all: [(&str, ArrayRef); 4] = [
            ("text", Arc::new(texts)),
            ("group", Arc::new(group)),
            ("number", Arc::new(number)),
            ("binned", Arc::new(binned)),
        ];
        let batch = RecordBatch::try_from_iter(columns.map(|column| all[column].clone()));
        Declaration::new()
            .feature(Feature::categorical("text"))
            .feature(Feature::numeric("number"))
            .feature(Feature::binned("binned", Edges::Quantiles(3)))
            .protected(Protected::attribute("group"))
            .read([batch.unwrap()])
            .unwrap()
    }

    /// Values, levels, group and people of each profile, by number.
    fn told(population: &Population) -> Vec<String> {
        let mut columns: Vec<usize> = (0..population.columns().len()).collect();
        columns.sort_by_key(|&column| population.columns()[column].name());
        let profile = |profile: usize| {
            let row = population.row(profile);
            let values = columns.iter().map(|&column| {
                let values = population.columns()[column].values();
                (row[column], &values[row[column] as usize])
            });
            let values: Vec<_> = values.collect();
            let levels = 0..population.features().len();
            let levels: Vec<u32> = levels.map(|f| population.level(f, profile)).collect();
            let people = population.people(profile);
            format!(
                "{values:?} {levels:?} {} {people}",
                population.group(profile)
            )
        };
        (0..population.profiles()).map(profile).collect()
    }

    /// Rows in any order, and columns in any order, are the same profiles with the same numbers.
    #[test]
    fn profiles_do_not_depend_on_the_order_of_rows() {
        let rows: Vec<usize> = (0..500).collect();
        let expected = told(&population(&rows, [0, 1, 2, 3]));
        assert!(expected.len() > 100);
        let backwards: Vec<usize> = rows.iter().rev().copied().collect();
        let mixed: Vec<usize> = rows.iter().map(|row| row * 263 % 500).collect();
        for rows in [backwards, mixed] {
            assert_eq!(told(&population(&rows, [0, 1, 2, 3])), expected);
            assert_eq!(told(&population(&rows, [3, 1, 0, 2])), expected);
        }
    }
}
