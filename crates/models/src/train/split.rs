//! Splitting a table into a part to train on and a part to audit.

use facts_engine::population::draw;
use serde::Deserialize;

use super::{TrainError, scikit};

/// How rows are drawn for the test part. Each way both parts have the same share of favourable
/// outcomes, as far as whole rows allow, and a seed gives the same rows everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// So many percent of each class, rounded to the nearest row, drawn by their places in the table; both
    /// parts keep the table's order.
    #[default]
    Own,
    /// So many percent of each class, rounded to the nearest row, drawn by what rows are: of rows that agree
    /// it is drawn how many are for the test. The order of rows plays no part.
    Counts,
    /// The rows, in the order, of scikit-learn's
    /// `train_test_split(table, test_size=…, stratify=label, random_state=seed)`.
    ScikitLearn,
}

/// So many percent of some rows, rounded to the nearest.
fn percent_of(rows: u64, percent: u8) -> u64 {
    // At most 64 + 7 bits, and at most as many as there are rows.
    ((u128::from(rows) * u128::from(percent.min(100)) + 50) / 100) as u64
}

/// Splits rows by counts: of each kind of rows it is known whether their outcome is favourable and how
/// many there are. How many of each kind are for the audit, `test_percent` of each class in all.
///
/// Whoever wants the same split from the same rows gives the kinds in the same order.
pub fn split_counts(kinds: &[(bool, u64)], test_percent: u8, seed: u64) -> Vec<u64> {
    let mut test = vec![0; kinds.len()];
    for (class, purpose) in [(false, "split: unfavourable"), (true, "split: favourable")] {
        let places = (0..kinds.len()).filter(|&kind| kinds[kind].0 == class);
        let places: Vec<usize> = places.collect();
        let counts: Vec<u64> = places.iter().map(|&kind| kinds[kind].1).collect();
        let taken = percent_of(counts.iter().sum(), test_percent);
        for (place, drawn) in places.into_iter().zip(draw(&counts, taken, seed, purpose)) {
            test[place] = drawn;
        }
    }
    test
}

/// Splits rows by their places, of each of which it is known whether its outcome is favourable: those to train on,
/// and `test_percent` of them for the audit.
pub fn split(
    favourable: &[bool],
    splitting: Splitting,
    test_percent: u8,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), TrainError> {
    Ok(match splitting {
        Splitting::Own => own_split(favourable, test_percent, seed),
        // Every row is a kind of its own.
        Splitting::Counts => {
            let kinds: Vec<(bool, u64)> = favourable.iter().map(|&class| (class, 1)).collect();
            let test = split_counts(&kinds, test_percent, seed);
            (0..favourable.len()).partition(|&row| test[row] == 0)
        }
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
        let test = percent_of(rows.len() as u64, test_percent) as usize;
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
    fn counts_are_split_like_rows() {
        let kinds: Vec<(bool, u64)> = (0..40).map(|i| (i % 4 == 0, 1 + i * i)).collect();
        let test = split_counts(&kinds, 30, 7);
        assert_eq!(split_counts(&kinds, 30, 7), test);
        assert_ne!(split_counts(&kinds, 30, 8), test);
        for class in [false, true] {
            let of_class = || (0..kinds.len()).filter(|&kind| kinds[kind].0 == class);
            let all: u64 = of_class().map(|kind| kinds[kind].1).sum();
            let drawn: u64 = of_class().map(|kind| test[kind]).sum();
            assert_eq!(drawn, (all * 30 + 50) / 100);
        }
        assert!(
            test.iter()
                .zip(&kinds)
                .all(|(drawn, kind)| *drawn <= kind.1)
        );
    }

    /// Each row of a kind is as likely to be drawn as any other of its class.
    #[test]
    fn kinds_are_drawn_in_proportion() {
        let kinds = [(true, 1), (true, 10), (true, 89), (false, 40), (false, 60)];
        let mut drawn = [0; 5];
        for seed in 0..2000 {
            for (sum, drawn) in drawn.iter_mut().zip(split_counts(&kinds, 30, seed)) {
                *sum += drawn;
            }
        }
        for (sum, (_, rows)) in drawn.iter().zip(kinds) {
            let expected = 600.0 * rows as f64;
            // The variance of a hypergeometric count is below that of a binomial one.
            let spread = (2000.0 * rows as f64 * 0.3 * 0.7).sqrt();
            assert!((*sum as f64 - expected).abs() < 5.0 * spread, "{drawn:?}");
        }
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
    }
}
