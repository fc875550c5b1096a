//! Splitting a table into a part to train on and a part to audit.

use arrow_array::{RecordBatch, UInt64Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::{TrainError, Training, scikit};

/// How rows are drawn for the test part. Either way both parts have the same share of favourable
/// outcomes, as far as whole rows allow, and a seed gives the same rows everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splitting {
    /// So many percent of each class, rounded to the nearest row; both parts keep the table's order.
    #[default]
    Own,
    /// The rows, in the order, of scikit-learn's
    /// `train_test_split(table, test_size=…, stratify=label, random_state=seed)`.
    ScikitLearn,
}

/// A table in two parts.
#[derive(Clone, Debug)]
pub struct Split {
    /// What a model is fitted on.
    pub train: RecordBatch,
    /// What it is audited on.
    pub test: RecordBatch,
}

/// Splits a table: `test_percent` of its rows are for the audit, the others to train on.
pub fn split(
    batches: &[RecordBatch],
    training: &Training,
    splitting: Splitting,
    test_percent: u8,
    seed: u64,
) -> Result<Split, TrainError> {
    let first = batches
        .first()
        .ok_or_else(|| TrainError::Table("the table has no rows".into()))?;
    let table = concat_batches(&first.schema(), batches)
        .map_err(|error| TrainError::Table(error.to_string()))?;
    let favourable = training.outcomes(&table)?;
    let (train, test) = match splitting {
        Splitting::Own => own_split(&favourable, test_percent, seed),
        Splitting::ScikitLearn => {
            let seed = u32::try_from(seed).map_err(|_| TrainError::Seed { seed })?;
            scikit::train_test_split(&favourable, test_percent.min(100), seed)
        }
    };
    let part = |rows: Vec<usize>| {
        let rows = rows.into_iter().map(|row| row as u64);
        take_record_batch(&table, &UInt64Array::from_iter_values(rows))
            .map_err(|error| TrainError::Table(error.to_string()))
    };
    Ok(Split {
        train: part(train)?,
        test: part(test)?,
    })
}

fn own_split(favourable: &[bool], test_percent: u8, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut random = SplitMix(seed);
    let mut in_test = vec![false; favourable.len()];
    for class in [false, true] {
        let mut rows: Vec<usize> = (0..favourable.len())
            .filter(|&i| favourable[i] == class)
            .collect();
        let test = (rows.len() * usize::from(test_percent.min(100)) + 50) / 100;
        // The first draws of a Fisher–Yates shuffle are the sample.
        for i in 0..test {
            let j = i + random.below(rows.len() - i);
            rows.swap(i, j);
            in_test[rows[i]] = true;
        }
    }
    (0..in_test.len()).partition(|&row| !in_test[row])
}

/// SplitMix64: a small generator with a published sequence, so that a seed means the same split on
/// every platform and in every version.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, each as likely: draws that would favour some are thrown away.
    fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        let fair = u64::MAX - u64::MAX % n;
        loop {
            let draw = self.next();
            if draw < fair {
                return (draw % n) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    #[test]
    fn both_parts_have_the_same_share_and_the_seed_decides() {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
        let outcomes = (0..100).map(|i| if i % 4 == 0 { "yes" } else { "no" });
        let outcomes: ArrayRef = Arc::new(StringArray::from_iter_values(outcomes));
        let table = RecordBatch::try_from_iter([("id", ids), ("outcome", outcomes)]).unwrap();
        let training = Training::new("outcome", "yes");
        let one = split(
            &[table.slice(0, 40), table.slice(40, 60)],
            &training,
            Splitting::Own,
            30,
            7,
        )
        .unwrap();
        assert_eq!((one.train.num_rows(), one.test.num_rows()), (69, 31));
        let yes = training
            .outcomes(&one.test)
            .unwrap()
            .iter()
            .filter(|yes| **yes)
            .count();
        assert_eq!(yes, 8);
        let again = split(
            std::slice::from_ref(&table),
            &training,
            Splitting::Own,
            30,
            7,
        )
        .unwrap();
        assert_eq!(again.test, one.test);
        let other = split(&[table], &training, Splitting::Own, 30, 8).unwrap();
        assert_ne!(other.test, one.test);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
    }
}
