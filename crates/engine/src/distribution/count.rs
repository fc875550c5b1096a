//! Counts and ratios of counts.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::decimal::Phi;

/// A number of people, unless it was too small to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<u64>", into = "Option<u64>")]
pub enum Count {
    /// So many.
    Known(u64),
    /// From 1 to k − 1, where k was chosen when the audit was suppressed.
    Suppressed,
}

impl Count {
    /// The number, if it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Self::Known(count) => Some(count),
            Self::Suppressed => None,
        }
    }

    /// Hides a number from 1 to k − 1.
    pub(crate) fn suppress(&mut self, k: u64) {
        if matches!(self, Self::Known(count) if (1..k).contains(count)) {
            *self = Self::Suppressed;
        }
    }
}

impl From<Option<u64>> for Count {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Suppressed, Self::Known)
    }
}

impl From<Count> for Option<u64> {
    fn from(count: Count) -> Self {
        count.known()
    }
}

/// The greatest of some counts, 0 if there are none; `None` if it is a suppressed one.
///
/// A known positive count is at least k, and so greater than any suppressed one.
pub(crate) fn greatest(counts: impl Iterator<Item = Count>) -> Option<u64> {
    let (mut greatest, mut suppressed) = (0, false);
    for count in counts {
        match count {
            Count::Known(count) => greatest = greatest.max(count),
            Count::Suppressed => suppressed = true,
        }
    }
    (greatest > 0 || !suppressed).then_some(greatest)
}

/// A ratio of counts: so many members of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub part: u64,
    /// Of how many.
    pub whole: u64,
}

impl Share {
    /// `part` of `whole`.
    pub fn new(part: u64, whole: u64) -> Self {
        Self { part, whole }
    }

    /// The ratio; 0 of 0 is 0.
    pub fn ratio(self) -> f64 {
        if self.whole == 0 {
            0.0
        } else {
            self.part as f64 / self.whole as f64
        }
    }

    /// Whether the share is at least φ, exactly.
    pub(crate) fn reaches(self, phi: Phi) -> bool {
        phi.get().is_reached_by(self.part, self.whole)
    }

    /// The absolute difference, rounded once.
    pub(crate) fn gap(self, other: Self) -> f64 {
        let (numerator, denominator) = self.exact_gap(other);
        if denominator == 0 {
            0.0
        } else {
            numerator as f64 / denominator as f64
        }
    }

    /// The absolute difference as a fraction.
    pub(crate) fn exact_gap(self, other: Self) -> (u128, u128) {
        let (a, b) = (
            u128::from(self.part) * u128::from(other.whole),
            u128::from(other.part) * u128::from(self.whole),
        );
        (
            a.abs_diff(b),
            u128::from(self.whole) * u128::from(other.whole),
        )
    }

    /// Wilson's score interval: from where to where the true share may lie, `z` standard deviations to
    /// either side. Of nobody nothing is known: 0 to 1.
    pub fn wilson(self, z: f64) -> (f64, f64) {
        if self.whole == 0 {
            return (0.0, 1.0);
        }
        let (n, p, z2) = (self.whole as f64, self.ratio(), z * z);
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        // At the ends rounding must not lead past the share itself.
        ((middle - half).clamp(0.0, p), (middle + half).clamp(p, 1.0))
    }

    /// Newcombe's interval for the difference of two shares, this one less the other, from the Wilson
    /// interval of each.
    pub fn difference(self, other: Self, z: f64) -> (f64, f64) {
        let ((low, high), (other_low, other_high)) = (self.wilson(z), other.wilson(z));
        let (p, q) = (self.ratio(), other.ratio());
        (
            p - q - (p - low).hypot(other_high - q),
            p - q + (high - p).hypot(q - other_low),
        )
    }

    /// Which of two shares is greater, exactly; 1 of 2 equals 2 of 4.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        let left = u128::from(self.part) * u128::from(other.whole);
        left.cmp(&(u128::from(other.part) * u128::from(self.whole)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `statsmodels.stats.proportion`: `proportion_confint(method="wilson")` and
    /// `confint_proportions_2indep(compare="diff", method="newcomb")`, at 95 %.
    #[test]
    fn intervals_are_those_of_statsmodels() {
        let z = 1.959_963_984_540_054;
        let close = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!(
                (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9,
                "{a} {b}, not {c} {d}"
            );
        };
        close(
            Share::new(31, 78).wilson(z),
            (0.29611864644382385, 0.5083814170868827),
        );
        close(Share::new(0, 10).wilson(z), (0.0, 0.2775327998628892));
        let (better, worse) = (Share::new(56, 70), Share::new(48, 80));
        close(
            better.difference(worse, z),
            (0.052431472402365065, 0.333872654036906),
        );
        close(
            Share::new(10, 10).difference(Share::new(0, 10), z),
            (0.6075093504305242, 1.0),
        );
        assert_eq!(Share::new(0, 0).wilson(z), (0.0, 1.0));
    }
}
