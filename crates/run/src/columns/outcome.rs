//! What a column has to do with the outcome: whether it gives it away, and whether it follows it.

use facts_engine::population::{EncodedColumn, Value};

/// Rows with a known outcome that it takes to say anything.
const ENOUGH: usize = 20;

/// The outcome of each row.
#[derive(Debug)]
pub(super) struct Outcome {
    /// By row, the code of the outcome; none where it is missing.
    rows: Vec<Option<u32>>,
    /// The codes that occur.
    codes: Vec<u32>,
}

/// The rows that hold one value of a column.
#[derive(Clone, Debug, Default)]
struct Held {
    rows: usize,
    /// Those of them with the first outcome.
    first: usize,
    outcome: Option<u32>,
    is_mixed: bool,
}

impl Outcome {
    pub(super) fn new(label: &EncodedColumn, missing_codes: &[String]) -> Self {
        let missing = label.column().missing(missing_codes);
        let rows = label.codes().iter();
        let rows: Vec<Option<u32>> = (rows.copied())
            .map(|code| (!missing[code as usize]).then_some(code))
            .collect();
        let mut codes: Vec<u32> = rows.iter().copied().flatten().collect();
        codes.sort_unstable();
        codes.dedup();
        Self { rows, codes }
    }

    /// By value of a column, the rows that hold it and whose outcome is known; no missing value.
    fn held<'c>(&self, column: &'c EncodedColumn) -> Vec<(&'c Value, Held)> {
        let values = column.column().values();
        let mut held = vec![Held::default(); values.len()];
        for (&code, &outcome) in column.codes().iter().zip(&self.rows) {
            if let Some(outcome) = outcome {
                let held = &mut held[code as usize];
                held.rows += 1;
                held.first += usize::from(self.codes.first() == Some(&outcome));
                held.is_mixed |= held
                    .outcome
                    .replace(outcome)
                    .is_some_and(|other| other != outcome);
            }
        }
        let held = values.iter().zip(held);
        held.filter(|(value, held)| **value != Value::Null && held.rows > 0)
            .collect()
    }

    /// Whether a column determines the outcome: all rows of each value have one outcome, with five rows
    /// a value or more; or, for numbers, one threshold parts the outcomes.
    pub(super) fn is_determined_by(&self, column: &EncodedColumn) -> bool {
        let mut held = self.held(column);
        let rows: usize = held.iter().map(|(_, held)| held.rows).sum();
        if self.codes.len() < 2 || rows < ENOUGH || held.iter().any(|(_, held)| held.is_mixed) {
            return false;
        }
        let seen = |code: &u32| held.iter().any(|(_, held)| held.outcome == Some(*code));
        if !self.codes.iter().all(seen) {
            return false;
        }
        if held.len() * 5 <= rows {
            return true;
        }
        if !column.column().data_type().is_numeric() {
            return false;
        }
        held.sort_by(|a, b| {
            a.0.number()
                .unwrap_or(0.0)
                .total_cmp(&b.0.number().unwrap_or(0.0))
        });
        let turns = held
            .windows(2)
            .filter(|pair| pair[0].1.outcome != pair[1].1.outcome);
        turns.count() == 1
    }

    /// Whether the share of an outcome follows the order of a column's numbers: true unless the best
    /// rising or falling step fit leaves more than a third of the variance between the numbers, and more
    /// than three times what chance would leave. What cannot be told counts as following.
    pub(super) fn follows(&self, column: &EncodedColumn, special: &[(String, usize)]) -> bool {
        let held = self.held(column);
        let mut held: Vec<(f64, f64, f64)> = (held.iter())
            .filter(|(value, _)| !special.iter().any(|(code, _)| value.reads_as(code)))
            .filter_map(|(value, held)| {
                let rows = held.rows as f64;
                Some((value.number()?, rows, held.first as f64 / rows))
            })
            .collect();
        if self.codes.len() != 2 || held.len() < 3 {
            return true;
        }
        held.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut steps: Vec<(f64, f64)> =
            held.iter().map(|&(_, rows, share)| (rows, share)).collect();
        let rows: f64 = steps.iter().map(|step| step.0).sum();
        let mean = steps.iter().map(|(rows, share)| rows * share).sum::<f64>() / rows;
        let between: f64 = steps
            .iter()
            .map(|(rows, share)| rows * (share - mean).powi(2))
            .sum();
        let rising = left_by_rising(&steps);
        steps.reverse();
        let left = rising.min(left_by_rising(&steps));
        let by_chance = (steps.len() - 1) as f64 * mean * (1.0 - mean);
        left <= between / 3.0 || left <= 3.0 * by_chance
    }
}

/// What the best fit that never falls leaves of the variance between (rows, share): pool adjacent
/// violators.
fn left_by_rising(steps: &[(f64, f64)]) -> f64 {
    // Rows, mean, and how many steps were pooled.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for &(rows, share) in steps {
        let mut block = (rows, share, 1);
        while let Some(&(rows, mean, pooled)) = blocks.last()
            && mean > block.1
        {
            blocks.pop();
            let all = rows + block.0;
            block = (
                all,
                (mean * rows + block.1 * block.0) / all,
                pooled + block.2,
            );
        }
        blocks.push(block);
    }
    let fitted = blocks
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.1, block.2));
    let left = steps.iter().zip(fitted);
    left.map(|((rows, share), fitted)| rows * (share - fitted).powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use facts_engine::population::Table;

    use super::*;

    /// A column of `shares.len()` codes with 100 rows each, of which so many have outcome 1.
    fn table(shares: &[i64]) -> Table {
        let rows = || {
            shares
                .iter()
                .zip(0..)
                .flat_map(|(n, code)| (0..100).map(move |i| (code, i64::from(i < *n))))
        };
        let codes: Int64Array = rows().map(|row| Some(row.0)).collect();
        let outcome: Int64Array = rows().map(|row| Some(row.1)).collect();
        let columns = [
            ("code", Arc::new(codes) as ArrayRef),
            ("y", Arc::new(outcome)),
        ];
        Table::read([RecordBatch::try_from_iter(columns).unwrap()]).unwrap()
    }

    fn asked<T>(shares: &[i64], ask: impl Fn(&Outcome, &EncodedColumn) -> T) -> T {
        let table = table(shares);
        ask(
            &Outcome::new(table.column("y").unwrap(), &[]),
            table.column("code").unwrap(),
        )
    }

    #[test]
    fn counts_follow_the_outcome_and_codes_do_not() {
        for (shares, follows) in [
            (&[10, 20, 30, 40][..], true),
            (&[80, 60, 61, 20], true),
            (&[50, 51, 49, 50, 51], true),
            (&[10, 80, 20, 70], false),
            (&[60, 5, 60, 5, 60], false),
        ] {
            assert_eq!(
                asked(shares, |o, c| o.follows(c, &[])),
                follows,
                "{shares:?}"
            );
        }
    }

    #[test]
    fn a_column_that_gives_the_outcome_away_is_found() {
        assert!(asked(&[0, 100, 100, 0], Outcome::is_determined_by));
        assert!(!asked(&[0, 100, 99, 0], Outcome::is_determined_by));
        assert!(!asked(&[0, 0, 0], Outcome::is_determined_by));
    }
}
