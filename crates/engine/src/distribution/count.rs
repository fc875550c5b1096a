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
    pub fn reaches(self, phi: Phi) -> bool {
        phi.get().is_reached_by(self.part, self.whole)
    }

    /// The absolute difference, rounded once.
    pub fn gap(self, other: Self) -> f64 {
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

    /// Which of two shares is greater, exactly; 1 of 2 equals 2 of 4.
    pub fn compare(self, other: Self) -> Ordering {
        let left = u128::from(self.part) * u128::from(other.whole);
        left.cmp(&(u128::from(other.part) * u128::from(self.whole)))
    }
}
