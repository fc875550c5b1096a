//! What a column has to do with the outcome: whether it gives it away, and whether it follows it.

use facts_engine::population::{EncodedColumn, Value};

/// Rows with a known outcome that it takes to say anything.
const ENOUGH: usize = 20;

/// The share of the rows whose outcome follows from a column that nearly gives it away.
const NEARLY: f64 = 0.95;
/// Parts that many numbers are cut into, to see what they have to do with the outcome.
const PARTS: usize = 5;

/// The outcome of each row.
#[derive(Debug)]
pub(super) struct Outcome {
    /// By distinct row, the code of the outcome; none where it is missing.
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
        let rows = column.codes().iter().zip(column.repeats());
        for ((&code, &repeats), &outcome) in rows.zip(&self.rows) {
            if let Some(outcome) = outcome {
                let held = &mut held[code as usize];
                held.rows += repeats as usize;
                if self.codes.first() == Some(&outcome) {
                    held.first += repeats as usize;
                }
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

    /// The share of the rows whose outcome follows from a column's value: that of most rows which hold it.
    /// None where that says nothing: too few rows a value, or most rows have that outcome anyway.
    pub(super) fn nearly_determined_by(&self, column: &EncodedColumn) -> Option<f64> {
        let held = self.held(column);
        let rows: usize = held.iter().map(|(_, held)| held.rows).sum();
        if self.codes.len() != 2 || rows < ENOUGH || held.len() * 5 > rows {
            return None;
        }
        let of_most = |first: usize, rows: usize| first.max(rows - first);
        let all_first: usize = held.iter().map(|(_, held)| held.first).sum();
        let follows: usize = (held.iter())
            .map(|(_, held)| of_most(held.first, held.rows))
            .sum();
        let anyway = of_most(all_first, rows) as f64 / rows as f64;
        let share = follows as f64 / rows as f64;
        (share >= NEARLY && 1.0 - anyway >= 3.0 * (1.0 - share)).then_some(share)
    }

    /// The share of the outcome's variance that lies between the values of a column; between five parts of
    /// equal size if it has more numbers than that.
    pub(super) fn explained_by(&self, column: &EncodedColumn) -> f64 {
        let mut held = self.held(column);
        let number = |value: &Value| value.number().unwrap_or(0.0);
        held.sort_by(|a, b| number(a.0).total_cmp(&number(b.0)));
        let rows: usize = held.iter().map(|(_, held)| held.rows).sum();
        let first: usize = held.iter().map(|(_, held)| held.first).sum();
        let mean = first as f64 / rows.max(1) as f64;
        let in_parts = column.column().data_type().is_numeric() && held.len() > PARTS;
        let mut parts: Vec<(usize, usize)> = vec![(0, 0)];
        let mut seen = 0;
        for (_, held) in &held {
            let full = seen * PARTS >= parts.len() * rows;
            if seen > 0 && (full || !in_parts) {
                parts.push((0, 0));
            }
            seen += held.rows;
            if let Some(part) = parts.last_mut() {
                *part = (part.0 + held.rows, part.1 + held.first);
            }
        }
        let between: f64 = (parts.iter())
            .map(|&(n, first)| n as f64 * (first as f64 / n.max(1) as f64 - mean).powi(2))
            .sum();
        between / (rows as f64 * mean * (1.0 - mean)).max(1e-9)
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

    #[test]
    fn a_column_that_nearly_gives_the_outcome_away_is_found() {
        let nearly = |shares: &[i64]| asked(shares, Outcome::nearly_determined_by);
        assert_eq!(nearly(&[2, 96]), Some(0.97));
        // Too often wrong; and nearly everybody has that outcome anyway.
        assert_eq!(nearly(&[20, 96]), None);
        assert_eq!(nearly(&[1, 2, 5, 9]), None);
    }

    #[test]
    fn what_goes_with_the_outcome_explains_more_of_it() {
        let explained = |shares: &[i64]| asked(shares, Outcome::explained_by);
        assert!((explained(&[0, 100]) - 1.0).abs() < 1e-9);
        assert!(explained(&[30, 30, 30]).abs() < 1e-9);
        // Twelve numbers in five parts.
        let rising = [0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert!(explained(&rising) > explained(&[40, 50, 60]));
    }
}
