//! What became of the gap between two groups: the one place that says whether it grew, shrank, turned, or
//! narrowed because somebody lost.

use serde::{Deserialize, Serialize};

use super::{GroupMoved, Moved};

/// What became of the gap between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GapMoved {
    /// The two groups; the gap is the share of the second less that of the first.
    pub pair: (usize, usize),
    /// The gap in the older audit.
    pub before: f64,
    /// The gap in the newer audit.
    pub now: f64,
    /// How far it moved.
    pub moved: Moved,
}

/// What became of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It is wider.
    Grew,
    /// It is narrower.
    Shrank,
    /// It is against the other group now.
    Turned,
    /// Chance could explain how it moved.
    TooClose,
}

impl GapMoved {
    /// What became of the gap, at level α.
    pub fn direction(&self, alpha: f64) -> Direction {
        if !self.moved.is_shown(alpha) {
            Direction::TooClose
        } else if self.before * self.now < 0.0 {
            Direction::Turned
        } else if self.now.abs() > self.before.abs() {
            Direction::Grew
        } else {
            Direction::Shrank
        }
    }

    /// The group that was better off, and the one that was worse off; none if there was no gap.
    pub fn was_better_and_worse(&self) -> Option<(usize, usize)> {
        let (first, second) = self.pair;
        if self.before == 0.0 {
            None
        } else if self.before > 0.0 {
            Some((second, first))
        } else {
            Some((first, second))
        }
    }

    /// Whether it is shown to have moved against a group of the pair: to have widened, if that is the
    /// worse-off one now.
    pub fn moved_against(&self, worse: usize, alpha: f64) -> bool {
        let against = if self.pair.0 == worse {
            self.moved.by > 0.0
        } else {
            self.moved.by < 0.0
        };
        against && self.moved.is_shown(alpha)
    }

    /// Whether it is shown to have narrowed, and only because those who were better off lost: those who were
    /// worse off did not gain. That they did not is what was counted, not tested.
    pub fn levelled_down(&self, groups: &[GroupMoved], alpha: f64) -> bool {
        let Some((better, worse)) = self.was_better_and_worse() else {
            return false;
        };
        let (better, worse) = (&groups[better].moved, &groups[worse].moved);
        let narrower = self.now.abs() < self.before.abs();
        narrower && better.by < 0.0 && worse.by <= 0.0 && self.moved.is_shown(alpha)
    }
}

/// What became of the gaps of many subgroups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Shown to be wider.
    pub grew: usize,
    /// Shown to be narrower, and not by levelling down.
    pub shrank: usize,
    /// Shown to be against the other group now.
    pub turned: usize,
    /// Narrower only because the better-off lost.
    pub levelled_down: usize,
    /// Chance could explain how they moved.
    pub too_close: usize,
    /// Subgroups in which the share of some group with a way is shown to have fallen, whatever the gap.
    pub fell: usize,
    /// Subgroups in which that of some group is shown to have risen.
    pub rose: usize,
}

/// The gap that was or is widest; of several, the first.
pub(super) fn widest<'g>(
    gaps: impl DoubleEndedIterator<Item = &'g GapMoved>,
) -> Option<&'g GapMoved> {
    let width = |gap: &GapMoved| gap.before.abs().max(gap.now.abs());
    gaps.rev().max_by(|a, b| width(a).total_cmp(&width(b)))
}

/// The gap between two groups, in either order.
pub(super) fn between(gaps: &[GapMoved], a: usize, b: usize) -> Option<&GapMoved> {
    gaps.iter()
        .find(|gap| gap.pair == (a, b) || gap.pair == (b, a))
}
