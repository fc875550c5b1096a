//! How likely counts are: binomial probabilities to almost all digits, however many people there are.
//!
//! Factorials of large numbers cancel and take digits with them. Here what cancels is left out
//! beforehand: a probability is that of the normal curve times small corrections (Loader 2000, "Fast
//! and accurate computation of binomial probabilities").

use std::f64::consts::TAU;

use super::series;

/// The logarithm of the probability of `k` of `n`, each with probability `p`; `k` is at most `n`.
pub(crate) fn ln_probability(k: u64, n: u64, p: f64) -> f64 {
    let q = 1.0 - p;
    let all = n as f64;
    // A power of 0 would be 0 · −∞.
    let times_ln = |count: f64, ln: f64| if count == 0.0 { 0.0 } else { count * ln };
    if k == 0 {
        return times_ln(all, (-p).ln_1p());
    }
    if k == n {
        return times_ln(all, p.ln());
    }
    let (yes, no) = (k as f64, (n - k) as f64);
    let corrections = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
    0.5 * (all / (TAU * yes * no)).ln() + corrections
        - deviance(yes, all * p)
        - deviance(no, all * q)
}

/// The logarithm of the probability of `k` or more of `n`, each with probability p, for a p of at most k/n; and
/// how fast it rises with the logarithm of p. It is concave in both.
pub(crate) fn ln_at_least(k: u64, n: u64, p: f64) -> (f64, f64) {
    let ratio = at_least_over_first(k, n, p);
    (ln_probability(k, n, p) + ratio.ln(), k as f64 / ratio)
}

/// The probability of `k` or more over that of `k`, for a p of at most k/n: the terms fall.
fn at_least_over_first(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let mut term = 1.0;
    let terms = (k..n).map(|j| {
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
        term
    });
    series(1.0, terms)
}

/// The share at which `k` or more of `n` would be seen with a probability of which this is the logarithm,
/// no more than what k/n itself gives it; 0 where k is.
pub(crate) fn least_share(k: u64, n: u64, ln_level: f64) -> f64 {
    if k == 0 {
        return 0.0;
    }
    climb((k as f64 / n as f64).ln(), ln_level, |p| {
        ln_at_least(k, n, p)
    })
}

/// Where a logarithm, concave in that of p, is at a level. Newton's first step lands below the solution, wherever
/// it starts, and the others climb to it.
pub(super) fn climb(start: f64, level: f64, of: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut ln = start;
    for _ in 0..100 {
        let (value, slope) = of(ln.exp());
        let step = (value - level) / slope;
        ln -= step;
        if step.abs() < 1e-15 * ln.abs().max(1.0) {
            break;
        }
    }
    ln.exp()
}

/// The logarithm of the probability that `k` of the `taken` are among the `marked`, when `taken` of
/// `all` are taken at random.
pub(crate) fn ln_hypergeometric(k: u64, marked: u64, taken: u64, all: u64) -> f64 {
    if taken == 0 || taken == all {
        return 0.0;
    }
    // Whatever the probability with which each is taken, it cancels; this one keeps all three large.
    let p = taken as f64 / all as f64;
    ln_probability(k, marked, p) + ln_probability(taken - k, all - marked, p)
        - ln_probability(taken, all, p)
}

/// How much likelier `k` + 1 of the `taken` are among the `marked` than `k` are.
pub(crate) fn hypergeometric_step(k: u64, marked: u64, taken: u64, all: u64) -> f64 {
    let more = (marked - k) as f64 * (taken - k) as f64;
    let unmarked_left_out = all + k + 1 - marked - taken;
    more / ((k + 1) as f64 * unmarked_left_out as f64)
}

/// The logarithm of n!.
pub(crate) fn ln_factorial(n: u64) -> f64 {
    let x = n as f64;
    if n < 2 {
        return 0.0;
    }
    (x + 0.5) * x.ln() - x + 0.5 * TAU.ln() + stirling_error(n)
}

/// What Stirling's formula lacks of ln n!.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: u64 = (1..=n).product();
        return if n == 0 {
            0.0
        } else {
            (factorial as f64).ln() - (x + 0.5) * x.ln() + x - 0.5 * TAU.ln()
        };
    }
    // The asymptotic series; what is left out is below 1e-16.
    let s = 1.0 / (x * x);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / x
}

/// x·ln(x/m) + m − x, without cancelling where x is close to m.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() > 0.1 {
        return x * (x / m).ln() + m - x;
    }
    // ln(x/m) = 2·(v + v³/3 + v⁵/5 + …), and 2xv + m − x = (x − m)·v.
    let mut power = 2.0 * x * v;
    let terms = (3..).step_by(2).map(|odd: i32| {
        power *= v * v;
        power / f64::from(odd)
    });
    series((x - m) * v, terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_exact() {
        // mpmath, 30 digits: log(binomial(n, k)) + k*log(p) + (n-k)*log(1-p)
        for (k, n, p, ln) in [
            (0, 10, 0.3, -3.5667494393873245),
            (3, 10, 0.3, -1.321151277766889),
            (10, 10, 0.3, -12.03972804325936),
            (39, 64, 0.25, -20.72469789595304),
            (500_123, 1_000_000, 0.5, -7.163804851674066),
        ] {
            let ours = ln_probability(k, n, p);
            assert!((ours - ln).abs() < 1e-13, "{k} of {n}: {ours}, not {ln}");
        }
        // mpmath, 30 digits, from loggamma; scipy.stats has ten right digits of the last one.
        for (k, marked, taken, all, ln) in [
            (3, 7, 10, 40, -1.7350388358482016),
            (0, 7, 10, 40, -2.214611916110088),
            (5_000, 10_000, 50_000, 100_000, -4.778306558581642),
        ] {
            let ours = ln_hypergeometric(k, marked, taken, all);
            assert!((ours - ln).abs() < 1e-12, "{k}: {ours}, not {ln}");
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (n, p) in [(1, 0.4), (15, 0.01), (16, 0.99), (300, 0.37), (5_000, 0.5)] {
            let sum: f64 = (0..=n).map(|k| ln_probability(k, n, p).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{n}: {sum}");
        }
        for (marked, taken, all) in [(1u64, 1u64, 2u64), (30, 20, 45), (400, 900, 1000)] {
            let least = (marked + taken).saturating_sub(all);
            let sum: f64 = (least..=marked.min(taken))
                .map(|k| ln_hypergeometric(k, marked, taken, all).exp())
                .sum();
            assert!((sum - 1.0).abs() < 1e-13, "{marked}: {sum}");
        }
    }
}
