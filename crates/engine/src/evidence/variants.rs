//! What is drawn at random to make variants of an audit.

use crate::chance::Stream;

/// Seeds of samples of the people, by number: for
/// [`Population::resampled`](crate::population::Population::resampled).
pub fn sample_seed(seed: u64, sample: u64) -> u64 {
    Stream::new(seed).named("samples").draw(sample)
}

/// Which of so many cost weights are lowered; the others are raised. Each draw is followed by its
/// mirror image, no two are the same, and none lowers or raises all.
///
/// So many pairs are drawn, or as many as there are.
pub fn weight_draws(weights: usize, pairs: usize, seed: u64) -> Vec<Vec<bool>> {
    let stream = Stream::new(seed).named("cost weights");
    let mut draws: Vec<Vec<bool>> = Vec::new();
    // Of the two that mirror each other, one raises the first weight: 2^(n − 1) − 1 of those lower
    // some other.
    let others = weights.saturating_sub(1).min(32) as u32;
    let there_are = usize::try_from((1u64 << others) - 1).unwrap_or(usize::MAX);
    for draw in 0.. {
        if draws.len() / 2 == pairs.min(there_are) {
            break;
        }
        let lowered =
            |weight: usize| weight > 0 && stream.substream(draw).draw(weight as u64) >> 63 == 1;
        let lowered: Vec<bool> = (0..weights).map(lowered).collect();
        if lowered.contains(&true) && !draws.contains(&lowered) {
            let mirrored = lowered.iter().map(|lowered| !lowered).collect();
            draws.extend([lowered, mirrored]);
        }
    }
    draws
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn draws_come_in_pairs_and_differ() {
        for (weights, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (4, 4), (5, 4), (100, 4)] {
            let draws = weight_draws(weights, 4, 9);
            assert_eq!(draws.len(), 2 * pairs, "{weights}");
            assert_eq!(draws.iter().collect::<HashSet<_>>().len(), draws.len());
            for pair in draws.chunks(2) {
                assert_eq!(pair[0].len(), weights);
                assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| a != b));
                assert!(pair[0].contains(&true) && pair[0].contains(&false));
            }
        }
        assert_eq!(weight_draws(8, 4, 9), weight_draws(8, 4, 9));
        assert_ne!(weight_draws(8, 4, 9), weight_draws(8, 4, 10));
    }

    #[test]
    fn every_weight_is_lowered_now_and_then() {
        let lowered = |seed| weight_draws(5, 1, seed)[0].clone();
        let mut counts = [0; 5];
        for draw in (0..400).map(lowered) {
            for (count, lowered) in counts.iter_mut().zip(draw) {
                *count += usize::from(lowered);
            }
        }
        // 8 of the 15 draws that raise the first weight lower the second, and so on.
        assert_eq!(counts[0], 0);
        assert!(
            counts[1..].iter().all(|count| (170..260).contains(count)),
            "{counts:?}"
        );
    }
}
