//! Intervals for a share of which the counts are known: so many members of so many.

use super::Interval;
use crate::chance::binomial;

/// Clopper and Pearson's interval for a share at 1 − α: however large the true share is, the
/// interval holds it with at least that probability. Of nobody nothing is known: 0 to 1.
///
/// α lies strictly between 0 and 1, and `part` is at most `whole`.
pub fn clopper_pearson(part: u64, whole: u64, alpha: f64) -> Interval {
    Interval {
        low: binomial::least_share(part, whole, (alpha / 2.0).ln()),
        high: 1.0 - binomial::least_share(whole - part, whole, (alpha / 2.0).ln()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::binomial::ln_probability;

    fn assert_close(interval: Interval, low: f64, high: f64, what: &str) {
        let off = (interval.low - low).abs().max((interval.high - high).abs());
        assert!(off < 1e-12, "{what}: {interval:?}, not {low} to {high}");
    }

    #[test]
    fn ends_are_those_of_scipy() {
        // scipy.stats.binomtest(part, whole).proportion_ci(1 - alpha, method="exact")
        for (part, whole, alpha, low, high) in [
            (0, 10, 0.05, 0.0, 0.30849710781876294),
            (1, 1, 0.05, 0.025000000000000022, 1.0),
            (3, 10, 0.05, 0.06673951117773447, 0.652452850060008),
            (31, 78, 0.05, 0.2883032156258468, 0.5146009212061381),
            (78, 78, 0.01, 0.9343285409261692, 1.0),
            (64, 64, 0.05, 0.9439909106133634, 1.0),
            (
                500,
                100000,
                0.05,
                0.004572244150070557,
                0.0054568411770586816,
            ),
            (
                123456,
                1000000,
                0.1,
                0.12291521487208755,
                0.1239983963793161,
            ),
        ] {
            let what = format!("{part} of {whole}");
            assert_close(clopper_pearson(part, whole, alpha), low, high, &what);
        }
    }

    #[test]
    fn of_nobody_nothing_is_known() {
        let interval = clopper_pearson(0, 0, 0.05);
        assert_eq!((interval.low, interval.high), (0.0, 1.0));
    }

    /// How often an interval holds a true share, counted out.
    fn coverage(whole: u64, p: f64, interval: impl Fn(u64) -> Interval) -> f64 {
        let held = (0..=whole).filter(|&part| {
            let Interval { low, high } = interval(part);
            low <= p && p <= high
        });
        held.map(|part| ln_probability(part, whole, p).exp()).sum()
    }

    #[test]
    fn clopper_and_pearson_hold_every_share_often_enough() {
        for whole in [1, 2, 5, 10, 37, 78] {
            for alpha in [0.05, 0.2] {
                let ends: Vec<Interval> = (0..=whole)
                    .map(|part| clopper_pearson(part, whole, alpha))
                    .collect();
                for step in 1..1000 {
                    let p = f64::from(step) / 1000.0;
                    let held = coverage(whole, p, |part| ends[part as usize]);
                    assert!(held >= 1.0 - alpha - 1e-12, "{whole}, {p}: {held}");
                }
            }
        }
    }
}
