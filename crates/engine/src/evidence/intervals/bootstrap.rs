//! From resamples of a number to its intervals.

use super::{BootstrapIntervals, Interval};
use crate::chance::normal;
use crate::distribution::SCORE_GAP;

/// What is known of one number: what was found, its resamples, and what each person's leaving does.
pub(super) struct Resampled {
    /// What was found.
    pub(super) found: f64,
    /// One value a resample.
    pub(super) again: Vec<f64>,
    /// By group: the value without one person, and how many people it is the same for.
    pub(super) without: Vec<Vec<(f64, u64)>>,
}

impl Resampled {
    /// Both intervals at 1 − α.
    pub(super) fn intervals(mut self, alpha: f64) -> BootstrapIntervals {
        self.again.sort_unstable_by(f64::total_cmp);
        BootstrapIntervals {
            percentile: self.between(alpha / 2.0, 1.0 - alpha / 2.0),
            bca: self.bca(alpha),
        }
    }

    /// From the resample below which this share of them lies to the one above which that share does:
    /// always one of the resamples, since nothing lies halfway to ∞; never narrower than asked.
    fn between(&self, low: f64, high: f64) -> Interval {
        let all = self.again.len();
        // The k-th of n values has k/(n + 1) below it. What is whole but for rounding is whole.
        let place = |share: f64| share * (all + 1) as f64;
        let whole = |place: f64| (place - place.round()).abs() < 1e-6;
        let down = place(low);
        let down = if whole(down) {
            down.round()
        } else {
            down.floor()
        };
        let up = place(high);
        let up = if whole(up) { up.round() } else { up.ceil() };
        let at = |place: f64| self.again[(place as usize).clamp(1, all) - 1];
        Interval {
            low: at(down),
            high: at(up),
        }
    }

    /// The bias-corrected and accelerated interval (Efron 1987), for several groups drawn apart
    /// (Davison and Hinkley 1997).
    fn bca(&self, alpha: f64) -> Option<Interval> {
        if !self.found.is_finite() || self.again.first() == self.again.last() {
            return None;
        }
        let (low, high) = self.adjusted(alpha)?;
        Some(self.between(low, high))
    }

    /// The shares that stand in for α/2 and 1 − α/2.
    fn adjusted(&self, alpha: f64) -> Option<(f64, f64)> {
        let bias = normal::quantile(self.share_below());
        let acceleration = self.acceleration()?;
        let adjusted = |share: f64| {
            let z = bias + normal::quantile(share);
            let slack = 1.0 - acceleration * z;
            (z.is_finite() && slack > 0.0).then(|| normal::probability(bias + z / slack))
        };
        Some((adjusted(alpha / 2.0)?, adjusted(1.0 - alpha / 2.0)?))
    }

    /// The share of resamples below what was found; of those that equal it, half.
    fn share_below(&self) -> f64 {
        let found = self.found;
        let below = (self.again).partition_point(|&value| value < found - SCORE_GAP);
        let up_to = (self.again).partition_point(|&value| value <= found + SCORE_GAP);
        (below + up_to) as f64 / (2 * self.again.len()) as f64
    }

    /// How fast the spread changes with the number: the skewness of what each person contributes;
    /// none if somebody's leaving makes the number infinite, or nobody's moves it.
    fn acceleration(&self) -> Option<f64> {
        let (mut squares, mut cubes) = (0.0, 0.0);
        for group in &self.without {
            let people: u64 = group.iter().map(|&(_, people)| people).sum();
            if people < 2 {
                continue;
            }
            let n = people as f64;
            let sum: f64 = group
                .iter()
                .map(|&(value, people)| value * people as f64)
                .sum();
            for &(value, people) in group {
                let influence = (n - 1.0) / n * (sum / n - value);
                squares += people as f64 * influence.powi(2);
                cubes += people as f64 * influence.powi(3);
            }
        }
        let acceleration = cubes / (6.0 * squares.powf(1.5));
        // Contributions of nobody, or of rounding alone.
        (acceleration.is_finite() && squares > 1e-24).then_some(acceleration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resampled(found: f64, again: impl IntoIterator<Item = f64>) -> Resampled {
        Resampled {
            found,
            again: again.into_iter().collect(),
            without: vec![vec![(1.0, 5), (2.0, 5)]],
        }
    }

    #[test]
    fn percentiles_are_resamples() {
        let values = (1..1000).rev().map(f64::from);
        let intervals = resampled(500.0, values).intervals(0.05);
        assert_eq!(
            intervals.percentile,
            Interval {
                low: 25.0,
                high: 975.0
            }
        );
        // Too few to leave any out.
        let few = resampled(2.0, [3.0, 1.0, 2.0]).intervals(0.05);
        assert_eq!(
            few.percentile,
            Interval {
                low: 1.0,
                high: 3.0
            }
        );
    }

    #[test]
    fn an_end_may_be_infinite() {
        let values = (1..1000).map(|i| if i > 900 { f64::INFINITY } else { f64::from(i) });
        let intervals = resampled(500.0, values).intervals(0.05);
        assert_eq!(intervals.percentile.high, f64::INFINITY);
        assert!(intervals.bca.is_some());
    }

    #[test]
    fn bca_is_the_percentile_interval_without_bias_and_skewness() {
        let mut symmetric = resampled(500.0, (1..1000).map(f64::from));
        symmetric.without = vec![vec![(1.0, 5), (2.0, 5)], vec![(3.0, 7)]];
        let intervals = symmetric.intervals(0.05);
        assert_eq!(intervals.bca, Some(intervals.percentile));
    }

    #[test]
    fn bca_is_undefined_where_nothing_moves_or_all_is_infinite() {
        assert_eq!(resampled(1.0, [1.0; 99]).intervals(0.05).bca, None);
        let infinite = resampled(f64::INFINITY, (1..100).map(f64::from));
        assert_eq!(infinite.intervals(0.05).bca, None);
        let mut unmoved = resampled(50.0, (1..100).map(f64::from));
        unmoved.without = vec![vec![(50.0, 10)]];
        assert_eq!(unmoved.intervals(0.05).bca, None);
        let mut lost = resampled(50.0, (1..100).map(f64::from));
        lost.without = vec![vec![(f64::INFINITY, 1), (50.0, 9)]];
        assert_eq!(lost.intervals(0.05).bca, None);
    }

    #[test]
    fn adjusted_shares_are_those_of_scipy() {
        // The difference of two means, resamples 0.01 to 9.99:
        // scipy.stats._resampling._bca_interval((first, second), difference, -1, 0.025, ...)
        let first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 30.0_f64];
        let second = [2.0, 2.0, 4.0, 11.0_f64];
        let without_first = |x: &f64| ((75.0 - x) / 9.0 - 4.75, 1);
        let without_second = |x: &f64| (7.5 - (19.0 - x) / 3.0, 1);
        let resampled = Resampled {
            found: 2.75,
            again: (1..1000).map(|i| f64::from(i) / 100.0).collect(),
            without: vec![
                first.iter().map(without_first).collect(),
                second.iter().map(without_second).collect(),
            ],
        };
        let acceleration = resampled.acceleration().unwrap();
        assert!(
            (acceleration - 0.042_507_372_661_735_46).abs() < 1e-12,
            "{acceleration}"
        );
        let (low, high) = resampled.adjusted(0.05).unwrap();
        assert!((low - 0.001_831_014_558_664_569_8).abs() < 1e-12, "{low}");
        assert!((high - 0.801_427_903_044_559).abs() < 1e-12, "{high}");
        // People alike count as often as they are.
        let mut alike = resampled;
        alike.without[1] = vec![
            without_second(&2.0),
            without_second(&4.0),
            without_second(&11.0),
        ];
        alike.without[1][0].1 = 2;
        assert!((alike.acceleration().unwrap() - acceleration).abs() < 1e-12);
    }
}
