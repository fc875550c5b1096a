//! A series of audits: has anything moved since the first, whenever one looks?
//!
//! Each look is compared with the first. The j-th look after it may spend α/(j·(j + 1)): whatever number
//! of looks follows, that adds up to α at most. Nothing is assumed of how looks hang together, so they
//! may share the first audit, and people.

use serde::{Deserialize, Serialize};

use super::{Comparison, Side, compare};

/// A series of audits, each compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The level α of all looks together.
    pub alpha: f64,
    /// All audits but the first, in their order.
    pub looks: Vec<Look>,
}

/// One look at how things stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// How much of α it may spend.
    pub spends: f64,
    /// The comparison with the first audit, at that level; none if other groups are compared.
    pub comparison: Option<Comparison>,
}

impl Look {
    /// Whether anything is shown to have moved since the first audit.
    pub fn shows_change(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(Comparison::anything_moved)
    }
}

impl Series {
    /// The first look that shows a change, by its place in the series; the first audit is at 0.
    pub fn first_change(&self) -> Option<usize> {
        let found = self.looks.iter().position(Look::shows_change);
        found.map(|place| place + 1)
    }
}

/// What the look at a place may spend of α; the first that is compared with the first audit is at 1.
pub fn spent(alpha: f64, place: usize) -> f64 {
    let place = place.max(1) as f64;
    alpha / (place * (place + 1.0))
}

/// Compares each audit with the first, such that chance shows a change in any of the looks with
/// probability α at most.
pub fn series(audits: &[Side<'_>], budgets: &[f64], alpha: f64) -> Series {
    let looks = audits
        .split_first()
        .map_or_else(Vec::new, |(first, later)| {
            let look = |(place, &now): (usize, &Side<'_>)| {
                let spends = spent(alpha, place + 1);
                Look {
                    spends,
                    comparison: compare(*first, now, budgets, spends),
                }
            };
            later.iter().enumerate().map(look).collect()
        });
    Series { alpha, looks }
}

#[cfg(test)]
mod tests {
    use super::spent;

    #[test]
    fn no_number_of_looks_spends_more_than_alpha() {
        assert_eq!(spent(0.05, 1), 0.025);
        let all: f64 = (1..=100_000).map(|place| spent(0.05, place)).sum();
        assert!(all < 0.05 && all > 0.0499);
    }
}
