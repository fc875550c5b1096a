//! Intervals for a share of which the counts are known: so many members of so many.

use super::Interval;
use crate::chance::{binomial, series};

/// Clopper and Pearson's interval for a share at 1 − α: however large the true share is, the
/// interval holds it with at least that probability. Of nobody nothing is known: 0 to 1.
///
/// α lies strictly between 0 and 1, and `part` is at most `whole`.
pub fn clopper_pearson(part: u64, whole: u64, alpha: f64) -> Interval {
    Interval {
        low: lower_end(part, whole, alpha),
        high: 1.0 - lower_end(whole - part, whole, alpha),
    }
}

/// The share at which `part` or more would be seen with probability α/2.
fn lower_end(part: u64, whole: u64, alpha: f64) -> f64 {
    if part == 0 {
        return 0.0;
    }
    let wanted = (alpha / 2.0).ln();
    // In the logarithm of the share, the logarithm of the tail is concave: Newton's first step from
    // above lands below the solution, and the others climb to it.
    let mut ln = (part as f64 / whole as f64).ln();
    for _ in 0..100 {
        let p = ln.exp();
        let ratio = tail_over_first(part, whole, p);
        let tail = binomial::ln_probability(part, whole, p) + ratio.ln();
        let step = (tail - wanted) * ratio / part as f64;
        ln -= step;
        if step.abs() < 1e-15 * ln.abs().max(1.0) {
            break;
        }
    }
    ln.exp()
}

/// The probability of `k` or more over that of `k`, for a share p of at most k/n: the terms fall.
fn tail_over_first(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let mut term = 1.0;
    let terms = (k..n).map(|j| {
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
        term
    });
    series(1.0, terms)
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
