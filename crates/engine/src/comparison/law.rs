//! What chance alone could have done to one group's share: every number that could have come out, and
//! how likely it is.

use std::collections::BTreeMap;

use crate::chance::{Factorials, Hypergeometric, UNLIKELY, binomial};
use crate::distribution::Share;

/// Two numbers that differ by less than this were reached in two ways and are the same.
const SAME: f64 = 1e-9;

/// By how much a share may move by chance alone, and how likely that is; ascending.
#[derive(Clone, Debug)]
pub(super) struct Law(Vec<(f64, f64)>);

impl Law {
    /// Nothing can move.
    pub(super) fn still() -> Self {
        Self(vec![(0.0, 1.0)])
    }

    /// Two samples: those with a way, of both together, are dealt to the two at random.
    pub(super) fn dealt(factorials: &Factorials, before: Share, now: Share) -> Self {
        let marked = before.part + now.part;
        let people = before.whole + now.whole;
        let dealt = Hypergeometric::new(factorials, people, marked, now.whole);
        let moved = |k: u64| {
            let others = Share::new(marked - k, before.whole);
            Share::new(k, now.whole).ratio() - others.ratio()
        };
        let range = (dealt.least(), dealt.most());
        Self::around(dealt.mode(), range, |k| dealt.exactly(k), moved)
    }

    /// The same people twice: those who are alike and whose answer changed have gained or lost together,
    /// either way with probability one half. `changed` says how many people they are, one entry for all
    /// who are alike.
    pub(super) fn tossed(changed: &[u64], people: u64) -> Self {
        let mut of_size = BTreeMap::new();
        for &size in changed {
            *of_size.entry(size).or_insert(0_u64) += 1;
        }
        // How many people gained less how many lost.
        let mut net = BTreeMap::from([(0_i64, 1.0)]);
        for (size, tosses) in of_size {
            let likely = |k| binomial::ln_probability(k, tosses, 0.5).exp();
            let gained = |k: u64| (2.0 * k as f64 - tosses as f64) * size as f64;
            let own = Self::around(tosses / 2, (0, tosses), likely, gained);
            let mut sum = BTreeMap::new();
            for (&so_far, &p) in &net {
                for &(gained, q) in &own.0 {
                    *sum.entry(so_far + gained as i64).or_insert(0.0) += p * q;
                }
            }
            sum.retain(|_, p| *p >= UNLIKELY);
            net = sum;
        }
        let moved = |(net, p): (i64, f64)| (net as f64 / people as f64, p);
        Self(net.into_iter().map(moved).collect())
    }

    /// Goes outwards from the likeliest number as long as numbers are likely enough to matter.
    fn around(
        mode: u64,
        (least, most): (u64, u64),
        likely: impl Fn(u64) -> f64,
        moved: impl Fn(u64) -> f64,
    ) -> Self {
        let enough = |&(_, p): &(u64, f64)| p >= UNLIKELY;
        let at = |k: u64| (k, likely(k));
        let mut numbers: Vec<(u64, f64)> = (least..mode).rev().map(at).take_while(enough).collect();
        numbers.reverse();
        numbers.extend((mode..=most).map(at).take_while(enough));
        Self(numbers.into_iter().map(|(k, p)| (moved(k), p)).collect())
    }

    /// How likely it is that this moves at least so far apart from another, either way. Never 0: what
    /// is left out is below anything that matters.
    pub(super) fn at_least(&self, other: &Self, apart: f64) -> f64 {
        let apart = apart.abs() - SAME;
        let below = sums(other.0.iter().copied());
        let mut above = sums(other.0.iter().rev().copied());
        above.reverse();
        let sum = |&(moved, likely): &(f64, f64)| {
            // Those of the other that lie so far below, and those that lie so far above.
            let low = other.0.partition_point(|&(m, _)| m <= moved - apart);
            let high = other.0.partition_point(|&(m, _)| m < moved + apart);
            let of = |sums: &[f64], place: Option<usize>| {
                place.and_then(|place| sums.get(place)).copied()
            };
            let far = of(&below, low.checked_sub(1)).unwrap_or(0.0)
                + of(&above, Some(high)).unwrap_or(0.0);
            likely * far.min(1.0)
        };
        let p: f64 = self.0.iter().map(sum).sum();
        p.clamp(UNLIKELY, 1.0)
    }
}

/// How likely each number or one before it is.
fn sums(numbers: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let mut sum = 0.0;
    numbers
        .map(|(_, p)| {
            sum += p;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that can be dealt, one by one.
    fn slow(groups: [(Share, Share); 2], apart: f64) -> f64 {
        let choose =
            |n: u64, k: u64| -> f64 { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() };
        let all = groups.map(|(before, now)| {
            let (marked, people) = (before.part + now.part, before.whole + now.whole);
            let possible = (0..=marked).filter(|&k| k <= now.whole && marked - k <= before.whole);
            possible
                .map(|k| {
                    let ways = choose(marked, k) * choose(people - marked, now.whole - k);
                    let moved =
                        k as f64 / now.whole as f64 - (marked - k) as f64 / before.whole as f64;
                    (moved, ways / choose(people, now.whole))
                })
                .collect::<Vec<_>>()
        });
        let mut p = 0.0;
        for &(a, first) in &all[0] {
            for &(b, second) in &all[1] {
                if (b - a).abs() >= apart.abs() - 1e-9 {
                    p += first * second;
                }
            }
        }
        p
    }

    #[test]
    fn two_groups_dealt_again_are_counted_out() {
        let factorials = Factorials::up_to(200);
        let share = Share::new;
        for groups in [
            [(share(3, 9), share(5, 7)), (share(2, 8), share(2, 11))],
            [(share(0, 5), share(0, 6)), (share(4, 4), share(1, 9))],
            [(share(20, 40), share(10, 50)), (share(1, 30), share(9, 31))],
        ] {
            let law = |(before, now)| Law::dealt(&factorials, before, now);
            let by = |(before, now): (Share, Share)| now.ratio() - before.ratio();
            let apart = by(groups[1]) - by(groups[0]);
            let ours = law(groups[0]).at_least(&law(groups[1]), apart);
            let slow = slow(groups, apart);
            assert!((ours - slow).abs() < 1e-12, "{ours}, not {slow}");
        }
    }

    /// `scipy.stats.binomtest(9, 12, 0.5)` and `(3, 3, 0.5)`.
    #[test]
    fn the_same_people_are_mcnemars_exact_test() {
        let alone = |only_now: u64, changed: usize| {
            let moved = (2.0 * only_now as f64 - changed as f64) / 100.0;
            Law::tossed(&vec![1; changed], 100).at_least(&Law::still(), moved)
        };
        assert!((alone(9, 12) - 0.145_996_093_75).abs() < 1e-12);
        assert!((alone(3, 3) - 0.25).abs() < 1e-12);
        assert_eq!(alone(0, 0), 1.0);
    }

    #[test]
    fn those_who_are_alike_are_tossed_together() {
        let sizes = [1, 1, 1, 4, 4, 7, 10];
        let mut far = 0;
        for tossed in 0..1_u32 << sizes.len() {
            let sign = |i: usize| if tossed >> i & 1 == 1 { 1 } else { -1 };
            let net: i64 = (sizes.iter().enumerate())
                .map(|(i, &size)| sign(i) * size as i64)
                .sum();
            far += usize::from(net.abs() >= 12);
        }
        let slow = far as f64 / f64::from(1_u32 << sizes.len());
        let ours = Law::tossed(&sizes, 50).at_least(&Law::still(), 12.0 / 50.0);
        assert!((ours - slow).abs() < 1e-12, "{ours}, not {slow}");
        // Ten people who are alike say no more than one person does.
        let together = Law::tossed(&[10], 50).at_least(&Law::still(), 10.0 / 50.0);
        assert_eq!(together, 1.0);
    }
}
