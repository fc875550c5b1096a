//! How far shares and gaps moved from one audit to the next, and whether chance could have done it.
//!
//! A gap between two groups moves by as much as the share of one moves more than that of the other.
//! So there is one rule for shares and gaps, and for two samples and the same people twice; only what
//! chance could do differs (`law.rs`).
//!
//! The p-value is the greater of two: of an exact test, of nothing having changed for either group; and
//! of the interval, by how far it must be widened to hold 0. So chance is held to α however small the
//! groups are, and what passes stands beside an interval that leaves out 0.

use serde::{Deserialize, Serialize};

use super::law::Law;
use crate::chance::{Factorials, normal};
use crate::distribution::Share;
use crate::evidence::Interval;

/// How far something moved, and whether chance could explain it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Now less before.
    pub by: f64,
    /// From where to where that may lie, at 1 − α, alone (Newcombe).
    pub interval: Interval,
    /// The p-value alone.
    pub p: f64,
    /// The p-value after correction for everything that was compared: at most α, and the move is shown.
    pub corrected: f64,
}

impl Moved {
    /// Whether it is shown to have moved.
    pub fn is_shown(&self, alpha: f64) -> bool {
        self.corrected <= alpha
    }
}

/// One group's share in both audits, with what chance could have done to it.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) before: Share,
    pub(super) now: Share,
    /// What the move adds and what it takes away: the shares themselves or, of the same people, those
    /// whose answer changed for the better and for the worse.
    gained: Share,
    lost: Share,
    law: Law,
}

impl Counted {
    /// Of two samples.
    pub(super) fn samples(factorials: &Factorials, before: Share, now: Share) -> Self {
        Self {
            before,
            now,
            gained: now,
            lost: before,
            law: Law::dealt(factorials, before, now),
        }
    }

    /// Of the same people twice: of `people`, `both` have it in both, and some in one alone; of those,
    /// the ones who are alike `changed` together.
    pub(super) fn people(
        people: u64,
        both: u64,
        (only_before, only_now): (u64, u64),
        changed: &[u64],
    ) -> Self {
        Self {
            before: Share::new(both + only_before, people),
            now: Share::new(both + only_now, people),
            gained: Share::new(only_now, people),
            lost: Share::new(only_before, people),
            law: Law::tossed(changed, people),
        }
    }

    fn by(&self) -> f64 {
        self.gained.ratio() - self.lost.ratio()
    }

    /// Whether the share moved.
    pub(super) fn moved(&self, alpha: f64) -> Moved {
        let p = self.law.at_least(&Law::still(), self.by());
        let interval = |z| self.gained.difference(self.lost, z);
        Moved::new(self.by(), p, interval, alpha)
    }

    /// Whether the gap moved by which this group lies above another.
    pub(super) fn moved_from(&self, other: &Self, alpha: f64) -> Moved {
        let by = self.by() - other.by();
        let p = self.law.at_least(&other.law, by);
        let interval = |z| {
            let (low, high) = self.gained.difference(self.lost, z);
            let (other_low, other_high) = other.gained.difference(other.lost, z);
            (
                by - (self.by() - low).hypot(other_high - other.by()),
                by + (high - self.by()).hypot(other.by() - other_low),
            )
        };
        Moved::new(by, p, interval, alpha)
    }
}

/// Beyond so many standard deviations nothing is told apart.
const FARTHEST: f64 = 37.0;

impl Moved {
    fn new(by: f64, exact: f64, interval: impl Fn(f64) -> (f64, f64), alpha: f64) -> Self {
        let (low, high) = interval(-normal::quantile(alpha / 2.0));
        let leaves_out_0 = |z: f64| {
            let (low, high) = interval(z);
            low > 0.0 || high < 0.0
        };
        // The widest interval that leaves out 0, by halving: intervals of more deviations are wider.
        let (mut out, mut holds) = (0.0, FARTHEST);
        if by != 0.0 {
            for _ in 0..50 {
                let z = f64::midpoint(out, holds);
                if leaves_out_0(z) {
                    out = z;
                } else {
                    holds = z;
                }
            }
        }
        let p = (2.0 * normal::probability(-out)).max(exact).min(1.0);
        Self {
            by,
            interval: Interval { low, high },
            p,
            corrected: p,
        }
    }
}

/// Corrects p-values for being many (Holm 1979), of which the whole may use one `part`-th of α.
pub(super) fn holm<'m>(moves: impl Iterator<Item = &'m mut Moved>, part: f64) {
    let mut moves: Vec<&mut Moved> = moves.collect();
    moves.sort_by(|a, b| a.p.total_cmp(&b.p));
    let all = moves.len();
    let mut least: f64 = 0.0;
    for (before, moved) in moves.into_iter().enumerate() {
        least = least.max((moved.p * (all - before) as f64 * part).min(1.0));
        moved.corrected = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z_95: f64 = 1.959_963_984_540_054;

    #[test]
    fn the_interval_leaves_out_0_where_the_move_is_shown() {
        let factorials = Factorials::up_to(1000);
        for (a, b, c, d) in [
            (10, 40, 12, 20),
            (30, 2, 5, 45),
            (0, 50, 0, 50),
            (9, 9, 9, 9),
        ] {
            let share = |part| Share::new(part, 50);
            let one = Counted::samples(&factorials, share(a), share(b));
            let two = Counted::samples(&factorials, share(c), share(d));
            for moved in [one.moved(0.05), two.moved_from(&one, 0.05)] {
                let Interval { low, high } = moved.interval;
                assert!(low <= moved.by && moved.by <= high);
                assert!(moved.p > 0.05 || low > 0.0 || high < 0.0, "{moved:?}");
            }
        }
    }

    #[test]
    fn without_a_second_group_it_is_newcombes_interval() {
        let factorials = Factorials::up_to(1000);
        let (before, now) = (Share::new(48, 80), Share::new(56, 70));
        let moved = Counted::samples(&factorials, before, now).moved(0.05);
        let (low, high) = now.difference(before, Z_95);
        assert!(
            (moved.interval.low - low).abs() < 1e-9 && (moved.interval.high - high).abs() < 1e-9
        );
        // Counted out with Python's whole numbers; the interval's own p-value is less.
        assert!((moved.p - 0.0125211297492092).abs() < 1e-12, "{}", moved.p);
    }

    /// `statsmodels.stats.multitest.multipletests(method="holm")`.
    #[test]
    fn many_are_corrected_as_holm_says() {
        let moved = |p| Moved {
            by: 0.0,
            interval: Interval {
                low: 0.0,
                high: 0.0,
            },
            p,
            corrected: p,
        };
        let mut moves = [0.01, 0.04, 0.03, 0.005].map(moved);
        holm(moves.iter_mut(), 1.0);
        let corrected = moves.map(|m| (m.corrected * 1e9).round() / 1e9);
        assert_eq!(corrected, [0.03, 0.06, 0.06, 0.02]);
    }
}
