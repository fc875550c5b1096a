//! The standard normal distribution, to almost all digits of a double.

use std::f64::consts::TAU;

use super::series;

/// Below this the continued fraction converges quickly, and from here up the series does.
const TAIL: f64 = -2.0;

/// The density.
fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / TAU.sqrt()
}

/// The probability of a number up to x.
pub(crate) fn probability(x: f64) -> f64 {
    if x < TAIL {
        density(x) * tail_over_density(-x)
    } else if x > -TAIL {
        1.0 - probability(-x)
    } else {
        // Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + x⁷/(3·5·7) + …), all terms of one sign.
        let mut term = x;
        let terms = (3..).step_by(2).map(|odd: i32| {
            term *= x * x / f64::from(odd);
            term
        });
        0.5 + density(x) * series(x, terms)
    }
}

/// (1 − Φ(x)) / φ(x), for x of at least 0.
pub(crate) fn tail_over_density(x: f64) -> f64 {
    if x <= -TAIL {
        return probability(-x) / density(x);
    }
    // 1/(x + 1/(x + 2/(x + 3/(x + …)))), from the inside out; so many levels are enough.
    let mut fraction = x;
    let levels = (400.0 / (x * x)) as u32 + 8;
    for level in (1..=levels).rev() {
        fraction = x + f64::from(level) / fraction;
    }
    1.0 / fraction
}

/// The number up to which the probability is p; −∞ for 0 and ∞ for 1.
pub(crate) fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // ln Φ is concave, and Φ(−t) ≤ ½·exp(−t²/2): Newton's steps start below and only ever rise.
    let mut x = -(-2.0 * p.ln()).sqrt();
    for _ in 0..100 {
        let below = probability(x);
        let step = (below / p).ln() * below / density(x);
        let next = x - step;
        if next <= x || !next.is_finite() {
            break;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_exact() {
        // mpmath.ncdf(x), 30 digits
        for (x, p) in [
            (-37.5, 4.605353009581955e-308),
            (-8.0, 6.220960574271784e-16),
            (-2.5, 0.006209665325776135),
            (-2.0, 0.02275013194817921),
            (-1.0, 0.15865525393145707),
            (-0.1, 0.460172162722971),
            (0.0, 0.5),
            (0.5, 0.6914624612740131),
            (2.0, 0.9772498680518208),
            (3.0, 0.9986501019683699),
        ] {
            let ours = probability(x);
            assert!((ours / p - 1.0).abs() < 1e-14, "Φ({x}) = {ours}, not {p}");
        }
        // scipy.stats.norm.ppf(p)
        for (p, x) in [
            (1e-300, -37.0470962993612),
            (1e-12, -7.034483825301131),
            (0.001, -3.090232306167813),
            (0.025, -1.9599639845400545),
            (0.3, -0.5244005127080409),
            (0.5, 0.0),
            (0.7, 0.5244005127080407),
            (0.975, 1.959963984540054),
            (0.9999, 3.719016485455709),
        ] {
            let ours = quantile(p);
            assert!(
                (ours - x).abs() < 4e-15 * x.abs().max(1.0),
                "{p}: {ours}, not {x}"
            );
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn the_quantile_undoes_the_probability() {
        for step in 1..400 {
            let p = f64::from(step) / 400.0;
            assert!((probability(quantile(p)) - p).abs() < 1e-15, "{p}");
        }
    }
}
