//! What the tests compare.

use super::SCORE_GAP;

/// What the tests compare: the score first; where scores are equal, the gap between the groups' shares
/// that decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistic {
    /// The unfairness score.
    pub score: f64,
    /// The gap between the shares of the best-off and the worst-off group, at the cost or by the action
    /// that decides; 0 where the score is 0, and for definitions whose scores hardly tie.
    pub gap: f64,
}

impl Statistic {
    /// A score whose ties nothing breaks.
    pub fn of_score(score: f64) -> Self {
        Self { score, gap: 0.0 }
    }

    /// Whether two scores are the same.
    pub(crate) fn ties_with(self, other: Self) -> bool {
        self.score == other.score || (self.score - other.score).abs() < SCORE_GAP
    }

    /// Whether this is at least as large as another.
    pub(crate) fn reaches(self, other: Self) -> bool {
        match self.ties_with(other) {
            true => self.gap > other.gap - SCORE_GAP,
            false => self.score > other.score,
        }
    }
}
