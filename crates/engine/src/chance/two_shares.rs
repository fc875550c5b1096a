//! How far apart two shares can be, from counts: a bound that holds at any level, also at the small ones at which
//! the bounds of thousands of subgroups hold together. Intervals that rest on the normal curve do not: out there they
//! miss many times as often as they say.
//!
//! Say `x` of `n` people of one group have a way, and `y` of `m` of the other. Whatever the true shares p and q are,
//! P(X ≤ x | p) and P(Y ≥ y | q) are two independent p-values, so their product is at most k with probability
//! k·(1 − ln k) at most (Fisher's combination). The bound is the greatest p − q for which the product is not that small.
//!
//! With u = 1 − p and v = q both are tails from above, and what is sought is the least u + v. The logarithm of a tail
//! is concave in the share. So the least sum is convex in how much of the product is spent on u, and tangents bound
//! it from below: stopping early makes the bound a little too wide, never too narrow.

use super::binomial;

/// From so many people on, Chernoff's bound of a tail is taken for the tail: it is a p-value as well, and nearly as
/// small.
const MANY: u64 = 20_000;

/// How much too wide a bound may be because the search stopped.
const SLACK: f64 = 1e-5;

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

/// How far apart two shares can be, at one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// What the logarithms of both tails may come to, together, without their sign.
    spend: f64,
}

impl Apart {
    /// Such that a bound is below the truth with a probability of at most α.
    pub(crate) fn at(alpha: f64) -> Self {
        // exp(−t)·(1 + t) = α. Each step is a fraction of the one before, and all go up.
        let mut spend = -alpha.ln();
        for _ in 0..200 {
            spend = (1.0 + spend).ln() - alpha.ln();
        }
        Self { spend }
    }

    /// The greatest difference that there can be: the share of which `more` was seen, less the other.
    pub(crate) fn at_most(self, more: Counted, less: Counted) -> f64 {
        1.0 - self.least_sum(more.others().tail(), less.tail())
    }

    /// Whether the bound of these two is surely less than this, told without looking for it.
    pub(crate) fn is_surely_less(self, more: Counted, less: Counted, than: f64) -> bool {
        let (one, other) = (more.others(), less);
        let room = one.ratio() + other.ratio() - (1.0 - than);
        // −ln of a tail is at least n·KL, and that is at least the distance squared over twice the greatest
        // variance on the way.
        let spread = one.spread_within(room) + other.spread_within(room);
        room > 0.0 && room * room > 2.0 * self.spend * spread
    }

    fn least_sum(self, one: Tail, other: Tail) -> f64 {
        let all = self.spend;
        let alone = |tail: Tail| tail.least(all, None).share;
        let (from, to) = (one.floor(), all - other.floor());
        if one.0.part == 0 || other.0.part == 0 || from >= to {
            return alone(one) + alone(other);
        }
        let spread = (one.0.spread(), other.0.spread());
        let mut spent = (all * spread.0 / (spread.0 + spread.1)).clamp(from, to);
        let (mut before, mut after) = (None::<Split>, None::<Split>);
        loop {
            let near = before.or(after).map(|split| split.shares);
            let split = Split::new(one, other, spent, all, near);
            if split.slope < 0.0 {
                before = Some(split);
            } else {
                after = Some(split);
            }
            spent = match (before, after) {
                (Some(before), Some(after)) => {
                    let (crossing, least) = before.crossing(after);
                    if before.sum.min(after.sum) - least <= SLACK || crossing == spent {
                        return least.max(0.0);
                    }
                    crossing
                }
                (Some(before), None) if spent >= to => return before.tangent(all).max(0.0),
                (None, Some(after)) if spent <= from => return after.tangent(0.0).max(0.0),
                (Some(_), None) => (spent + all / 8.0).min(to),
                _ => (spent - all / 8.0).max(from),
            };
        }
    }
}

impl Counted {
    fn others(self) -> Self {
        Self {
            part: self.whole - self.part,
            whole: self.whole,
        }
    }

    fn tail(self) -> Tail {
        Tail(self)
    }

    fn ratio(self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }

    /// About the variance of the share, and never 0.
    fn spread(self) -> f64 {
        let (p, n) = (self.ratio(), self.whole as f64);
        (p * (1.0 - p) + 1.0 / n) / n
    }

    /// The greatest variance that the share has between here and so much less.
    fn spread_within(self, less: f64) -> f64 {
        if self.whole == 0 {
            return f64::INFINITY;
        }
        let high = self.ratio();
        let widest = 0.5_f64.clamp((high - less).clamp(0.0, high), high);
        widest * (1.0 - widest) / self.whole as f64
    }
}

/// That so many or more are counted.
#[derive(Clone, Copy, Debug)]
struct Tail(Counted);

/// A share, and how fast it falls as more is spent on it.
#[derive(Clone, Copy, Debug)]
struct Least {
    share: f64,
    falls: f64,
}

impl Tail {
    /// The logarithm of how likely that is, or a bound of it; and how fast it rises with that of the share.
    fn ln(self, p: f64) -> (f64, f64) {
        let Counted { part, whole } = self.0;
        if whole < MANY {
            return binomial::ln_at_least(part, whole, p);
        }
        let (yes, no) = (part as f64, (whole - part) as f64);
        let ln_other = (1.0 - self.0.ratio()).ln();
        let apart = if no == 0.0 {
            0.0
        } else {
            no * ((-p).ln_1p() - ln_other)
        };
        (
            yes * (p / self.0.ratio()).ln() + apart,
            yes - no * p / (1.0 - p),
        )
    }

    /// Less is never spent on it: the share would be above the one that was seen.
    fn floor(self) -> f64 {
        if self.0.part == 0 {
            return 0.0;
        }
        0.1 - self.ln(self.0.ratio()).0
    }

    /// The share of which so much is the logarithm.
    fn least(self, spent: f64, near: Option<f64>) -> Least {
        if self.0.part == 0 {
            return Least {
                share: 0.0,
                falls: 0.0,
            };
        }
        let start = near.unwrap_or_else(|| self.about(spent));
        let share = binomial::climb(start.ln(), -spent, |p| self.ln(p));
        Least {
            share,
            falls: share / self.ln(share).1,
        }
    }

    /// About that share, and below the one that was seen.
    fn about(self, spent: f64) -> f64 {
        let (p, n) = (self.0.ratio(), self.0.whole as f64);
        let by_curve = p - (2.0 * spent * p * (1.0 - p) / n).sqrt();
        let by_count = p * (-(2.0 * spent / self.0.part as f64).sqrt()).exp();
        by_curve.max(by_count).min(p * (1.0 - 1e-9))
    }
}

/// Both shares, when so much is spent on the first.
#[derive(Clone, Copy, Debug)]
struct Split {
    spent: f64,
    shares: (f64, f64),
    sum: f64,
    slope: f64,
}

impl Split {
    fn new(one: Tail, other: Tail, spent: f64, all: f64, near: Option<(f64, f64)>) -> Self {
        let one = one.least(spent, near.map(|near| near.0));
        let other = other.least(all - spent, near.map(|near| near.1));
        Self {
            spent,
            shares: (one.share, other.share),
            sum: one.share + other.share,
            slope: other.falls - one.falls,
        }
    }

    fn tangent(self, spent: f64) -> f64 {
        self.sum + self.slope * (spent - self.spent)
    }

    /// Where the tangents of two splits meet, one falling and one not, and how low.
    fn crossing(self, after: Self) -> (f64, f64) {
        let spent = (after.tangent(0.0) - self.tangent(0.0)) / (self.slope - after.slope);
        (spent, self.tangent(spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(part: u64, whole: u64) -> Counted {
        Counted { part, whole }
    }

    /// How often the bound is below the true difference, counted out over all that can be seen.
    fn misses(apart: Apart, (n, p): (u64, f64), (m, q): (u64, f64)) -> f64 {
        let chance = |k, n, p| binomial::ln_probability(k, n, p).exp();
        let mut missed = 0.0;
        for x in 0..=n {
            for y in 0..=m {
                if apart.at_most(counted(x, n), counted(y, m)) < p - q {
                    missed += chance(x, n, p) * chance(y, m, q);
                }
            }
        }
        missed
    }

    #[test]
    fn the_truth_is_seldom_missed_at_any_level() {
        for alpha in [0.2, 0.05, 1e-3, 1e-6] {
            let apart = Apart::at(alpha);
            for (n, m) in [(1, 1), (5, 30), (24, 24), (90, 40)] {
                for (p, q) in [
                    (0.5, 0.2),
                    (0.9, 0.1),
                    (0.6, 0.5),
                    (0.98, 0.9),
                    (0.07, 0.01),
                    (0.3, 0.3),
                ] {
                    let missed = misses(apart, (n, p), (m, q));
                    assert!(missed <= alpha, "{alpha}: {p} of {n}, {q} of {m}: {missed}");
                }
            }
        }
    }

    #[test]
    fn the_bound_is_the_greatest_difference_that_is_not_refused() {
        for alpha in [0.2, 0.05, 1e-4, 1e-8] {
            let apart = Apart::at(alpha);
            for (x, n, y, m) in [
                (7, 20, 3, 30),
                (20, 20, 0, 5),
                (1, 400, 1, 3),
                (100, 400, 9, 150),
                (399, 400, 149, 150),
                (60, 100, 90, 100),
                (3, 19_000, 18_990, 19_000),
            ] {
                let bound = apart.at_most(counted(x, n), counted(y, m));
                // Every way to part what may be spent, one after the other.
                let (one, other) = (counted(n - x, n), counted(y, m));
                let share = |of: Counted, spent: f64| bisected(of, -spent);
                let steps = 400;
                let sums = (0..=steps).map(|step| {
                    let spent = apart.spend * f64::from(step) / f64::from(steps);
                    share(one, spent) + share(other, apart.spend - spent)
                });
                let slow = 1.0 - sums.fold(f64::INFINITY, f64::min);
                assert!(
                    bound >= slow - 1e-9,
                    "{x} of {n}, {y} of {m}: {bound}, {slow}"
                );
                // Where nearly all is best spent on one of them, tangents reach a little further.
                assert!(
                    bound <= slow + 5e-3,
                    "{x} of {n}, {y} of {m}: {bound}, {slow}"
                );
            }
        }
    }

    /// The share at which the logarithm of the tail is at a level, by halves and by the whole sum.
    fn bisected(of: Counted, level: f64) -> f64 {
        let tail = |p: f64| -> f64 {
            let terms =
                (of.part..=of.whole).map(|k| binomial::ln_probability(k, of.whole, p).exp());
            terms.sum()
        };
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        if of.part == 0 {
            return 0.0;
        }
        for _ in 0..45 {
            let middle = (low + high) / 2.0;
            if tail(middle).ln() < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    #[test]
    fn of_many_the_bound_is_a_little_wider() {
        let apart = Apart::at(1e-5);
        let exact = apart.at_most(counted(4_999, 19_999), counted(2_000, 19_999));
        let chernoff = apart.at_most(counted(5_000, 20_000), counted(2_000, 20_000));
        assert!(
            exact < chernoff && chernoff < exact + 0.005,
            "{exact}, {chernoff}"
        );
        let most = apart.at_most(counted(1 << 40, 1 << 40), counted(0, 1 << 40));
        assert!(most > 1.0 - 1e-9);
    }

    #[test]
    fn what_is_surely_less_is_less() {
        let apart = Apart::at(1e-4);
        let mut told = 0;
        for x in 0..=30 {
            for y in 0..=12 {
                for than in [0.2, 0.5, 0.7, 0.9, 0.99] {
                    let (more, less) = (counted(x, 30), counted(y, 12));
                    if apart.is_surely_less(more, less, than) {
                        told += 1;
                        assert!(apart.at_most(more, less) < than, "{x}, {y}, {than}");
                    }
                }
            }
        }
        assert!(told > 300, "{told}");
        assert!(!apart.is_surely_less(counted(0, 0), counted(3, 9), 0.99));
    }

    #[test]
    fn of_nobody_nothing_is_known() {
        assert_eq!(Apart::at(0.05).at_most(counted(0, 0), counted(0, 0)), 1.0);
    }
}
