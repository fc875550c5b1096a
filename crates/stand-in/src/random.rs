//! SplitMix64: a small generator with a published sequence, so that a seed means the same rows on
//! every machine and in every version.

pub(crate) struct Random(u64);

impl Random {
    /// A generator for one purpose: two purposes with the same seed do not share draws.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self(seed ^ purpose.wrapping_mul(0xA076_1D64_78BD_642F));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n` (above 0), by multiplication: off from even by less than n in 2⁶⁴.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// The place that a draw falls on, given cumulated weights.
    pub(crate) fn pick(&mut self, cumulated: &[u64]) -> usize {
        let total = cumulated.last().copied().unwrap_or(0);
        let draw = self.below(total);
        cumulated.partition_point(|&up_to| up_to <= draw)
    }

    /// A draw near to a standard normal one, in millionths: the sum of twelve even draws less its
    /// mean. Whole numbers only.
    pub(crate) fn normal(&mut self) -> i64 {
        // Four draws of 16 bits from each word.
        let mut sum = 0_i64;
        for _ in 0..3 {
            let word = self.next();
            sum += (0..4)
                .map(|k| (word >> (16 * k) & 0xFFFF) as i64)
                .sum::<i64>();
        }
        (sum - 6 * 65_535) * 1_000_000 / 65_536
    }
}

/// Weights as a running total.
pub(crate) fn cumulate(weights: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut total = 0;
    weights
        .into_iter()
        .map(|weight| {
            total += weight;
            total
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights_and_never_fall_on_none() {
        let cumulated = cumulate([1, 0, 3]);
        let mut random = Random::new(7, 0);
        let mut seen = [0; 3];
        for _ in 0..40_000 {
            seen[random.pick(&cumulated)] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!((9_700..10_300).contains(&seen[0]), "{seen:?}");
    }

    #[test]
    fn the_normal_draw_has_mean_0_and_deviation_1() {
        let mut random = Random::new(7, 0);
        let draws: Vec<i64> = (0..50_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<i64>() / 50_000;
        let square = draws.iter().map(|d| d * d / 1_000_000).sum::<i64>() / 50_000;
        assert!(mean.abs() < 20_000, "{mean}");
        assert!((square - 1_000_000).abs() < 30_000, "{square}");
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut items: Vec<u32> = (0..1000).collect();
        Random::new(1, 2).shuffle(&mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
