//! Splitting a table into a part to train on and a part to audit.

use serde::Deserialize;

use super::{TrainError, scikit};

/// How rows are drawn for the test part. Either way both parts have the same share of favourable
/// outcomes, as far as whole rows allow, and a seed gives the same rows everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// So many percent of each class, rounded to the nearest row; both parts keep the table's order.
    #[default]
    Own,
    /// The rows, in the order, of scikit-learn's
    /// `train_test_split(table, test_size=…, stratify=label, random_state=seed)`.
    ScikitLearn,
}

/// Splits rows, of each of which it is known whether its outcome is favourable: those to train on,
/// and `test_percent` of them for the audit.
pub fn split(
    favourable: &[bool],
    splitting: Splitting,
    test_percent: u8,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), TrainError> {
    Ok(match splitting {
        Splitting::Own => own_split(favourable, test_percent, seed),
        Splitting::ScikitLearn => {
            let seed = u32::try_from(seed).map_err(|_| TrainError::Seed(seed))?;
            scikit::train_test_split(favourable, test_percent.min(100), seed)
        }
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
    use super::*;

    #[test]
    fn both_parts_have_the_same_share_and_the_seed_decides() {
        let favourable: Vec<bool> = (0..100).map(|i| i % 4 == 0).collect();
        let part = |seed| split(&favourable, Splitting::Own, 30, seed).unwrap();
        let (train, test) = part(7);
        assert_eq!((train.len(), test.len()), (69, 31));
        assert_eq!(test.iter().filter(|&&row| favourable[row]).count(), 8);
        assert_eq!(part(7).1, test);
        assert_ne!(part(8).1, test);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
    }
}
