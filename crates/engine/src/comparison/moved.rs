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
    /// Whether these are two cells of one count: of the same people, nobody is both.
    of_one_count: bool,
    /// By how much wider than that of single people the interval is, because some are alike.
    wider: f64,
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
            of_one_count: false,
            wider: 1.0,
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
        let sum = |power: i32| -> f64 { changed.iter().map(|&n| (n as f64).powi(power)).sum() };
        let tossed_together = if changed.is_empty() {
            1.0
        } else {
            sum(2) / sum(1)
        };
        Self {
            before: Share::new(both + only_before, people),
            now: Share::new(both + only_now, people),
            gained: Share::new(only_now, people),
            lost: Share::new(only_before, people),
            of_one_count: true,
            wider: tossed_together.sqrt(),
            law: Law::tossed(changed, people),
        }
    }

    fn by(&self) -> f64 {
        self.gained.ratio() - self.lost.ratio()
    }

    /// How far below and above what was seen the move may lie: Newcombe's interval of a difference, from the
    /// Wilson interval of each share. Two cells of one count are correlated: the more have gained, the fewer
    /// are left to lose, and their difference spreads wider than that of two shares that know nothing of
    /// each other.
    fn reach(&self, z: f64) -> (f64, f64) {
        let (gained, lost) = (self.gained, self.lost);
        let (p, q) = (gained.ratio(), lost.ratio());
        let z = z * self.wider;
        let ((p_low, p_high), (q_low, q_high)) = (gained.wilson(z), lost.wilson(z));
        let rest = (1.0 - p) * (1.0 - q);
        let correlation = if self.of_one_count && rest > 0.0 {
            -(p * q / rest).sqrt()
        } else {
            0.0
        };
        // Never below 0 but for rounding.
        let side = |a: f64, b: f64| (a * a + b * b - 2.0 * correlation * a * b).max(0.0).sqrt();
        (side(p - p_low, q_high - q), side(p_high - p, q - q_low))
    }

    /// Whether the share moved.
    pub(super) fn moved(&self, alpha: f64) -> Moved {
        let by = self.by();
        let p = self.law.at_least(&Law::still(), by);
        let interval = |z| {
            let (below, above) = self.reach(z);
            (by - below, by + above)
        };
        Moved::new(by, p, interval, alpha)
    }

    /// Whether the gap moved by which this group lies above another.
    pub(super) fn moved_from(&self, other: &Self, alpha: f64) -> Moved {
        let by = self.by() - other.by();
        let p = self.law.at_least(&other.law, by);
        let interval = |z| {
            let ((below, above), (other_below, other_above)) = (self.reach(z), other.reach(z));
            (by - below.hypot(other_above), by + above.hypot(other_below))
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

    /// How often the interval of the same people's move holds the truth, over all counts of those who gained
    /// and of those who lost that there can be.
    fn coverage(factorials: &Factorials, people: u64, gain: f64, lose: f64) -> f64 {
        let stay = 1.0 - gain - lose;
        let ln = |p: f64, times: u64| match times {
            0 => 0.0,
            times => times as f64 * p.ln(),
        };
        let mut held = 0.0;
        for gained in 0..=people {
            for lost in 0..=people - gained {
                let ways = factorials.ln_choose(people, gained)
                    + factorials.ln_choose(people - gained, lost);
                let rest = people - gained - lost;
                let likely = (ways + ln(gain, gained) + ln(lose, lost) + ln(stay, rest)).exp();
                if likely < 1e-13 {
                    continue;
                }
                let changed = vec![1; (gained + lost) as usize];
                let counted = Counted::people(people, 0, (lost, gained), &changed);
                let (below, above) = counted.reach(Z_95);
                let (by, truth) = (counted.by(), gain - lose);
                let holds = by - below <= truth + 1e-12 && truth <= by + above + 1e-12;
                held += if holds { likely } else { 0.0 };
            }
        }
        held
    }

    #[test]
    fn the_same_peoples_interval_holds_as_often_as_it_says() {
        let factorials = Factorials::up_to(60);
        for people in [20, 60] {
            for (gain, lose) in [
                (0.05, 0.05),
                (0.1, 0.0),
                (0.2, 0.1),
                (0.3, 0.3),
                (0.5, 0.4),
                (0.6, 0.2),
                (0.45, 0.45),
            ] {
                let held = coverage(&factorials, people, gain, lose);
                assert!(held > 0.94, "{people} {gain} {lose}: {held}");
            }
        }
    }

    #[test]
    fn alike_people_are_as_few_as_they_are_kinds() {
        // Ten kinds of five people each are ten people, as far as the width of the interval goes.
        let alike = Counted::people(500, 0, (15, 35), &[5; 10]).reach(Z_95);
        let single = Counted::people(100, 0, (3, 7), &[1; 10]).reach(Z_95);
        assert!((alike.0 - single.0).abs() < 1e-12 && (alike.1 - single.1).abs() < 1e-12);
        let nobody = Counted::people(100, 40, (0, 0), &[]).moved(0.05);
        assert!(nobody.interval.low < 0.0 && nobody.interval.high > 0.0 && nobody.p == 1.0);
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
