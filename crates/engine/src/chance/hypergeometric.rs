//! How many of some marked people fall into a group that is drawn at random.

use super::binomial::{hypergeometric_step, ln_factorial};

/// Logarithms of factorials, so that a probability is a few additions.
#[derive(Debug)]
pub(crate) struct Factorials {
    logarithms: Vec<f64>,
}

impl Factorials {
    /// Beyond this they are not kept but computed.
    const KEPT: u64 = 1 << 20;

    /// Those of all numbers up to `most`.
    pub(crate) fn up_to(most: u64) -> Self {
        let kept = 0..=most.min(Self::KEPT);
        Self {
            logarithms: kept.map(ln_factorial).collect(),
        }
    }

    fn ln(&self, number: u64) -> f64 {
        let kept = self.logarithms.get(number as usize).copied();
        kept.unwrap_or_else(|| ln_factorial(number))
    }

    /// The logarithm of the number of ways to choose `k` of `n`.
    pub(crate) fn ln_choose(&self, n: u64, k: u64) -> f64 {
        self.ln(n) - self.ln(k) - self.ln(n - k)
    }
}

/// The number of marked people in a group drawn at random: of `people`, `marked` are marked, and
/// `drawn` are in the group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hypergeometric<'f> {
    factorials: &'f Factorials,
    people: u64,
    marked: u64,
    drawn: u64,
}

/// Probabilities that differ by less than this, relatively, are equal: the same number reached in
/// two ways may differ in its last digits.
const SAME: f64 = 1e-7;

/// A term this much smaller than the sum so far adds nothing to it.
const NEGLIGIBLE: f64 = 1e-18;

impl<'f> Hypergeometric<'f> {
    pub(crate) fn new(factorials: &'f Factorials, people: u64, marked: u64, drawn: u64) -> Self {
        debug_assert!(marked <= people && drawn <= people);
        Self {
            factorials,
            people,
            marked,
            drawn,
        }
    }

    /// How many people are marked.
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }

    /// The least number there can be.
    pub(crate) fn least(&self) -> u64 {
        (self.marked + self.drawn).saturating_sub(self.people)
    }

    /// The greatest number there can be.
    pub(crate) fn most(&self) -> u64 {
        self.marked.min(self.drawn)
    }

    /// How likely exactly `k` is: above 0 if it is possible, however unlikely.
    pub(crate) fn exactly(&self, k: u64) -> f64 {
        if k < self.least() || k > self.most() {
            return 0.0;
        }
        let f = self.factorials;
        let ways = f.ln_choose(self.marked, k)
            + f.ln_choose(self.people - self.marked, self.drawn - k)
            - f.ln_choose(self.people, self.drawn);
        ways.exp().max(f64::MIN_POSITIVE)
    }

    /// `P(k + 1) / P(k)`.
    fn step_up(&self, k: u64) -> f64 {
        hypergeometric_step(k, self.marked, self.drawn, self.people)
    }

    /// How likely `k` or more is.
    pub(crate) fn at_least(&self, k: u64) -> f64 {
        let k = k.max(self.least());
        if k > self.most() {
            return 0.0;
        }
        if k <= self.mode() {
            return (1.0 - self.at_most_below_mode(k)).clamp(0.0, 1.0);
        }
        self.tail(k, k..self.most(), |term, at| term * self.step_up(at))
    }

    /// How likely a number and those beyond it are, each term from the one before it.
    fn tail(
        &self,
        first: u64,
        beyond: impl Iterator<Item = u64>,
        next: impl Fn(f64, u64) -> f64,
    ) -> f64 {
        let mut term = self.exactly(first);
        let mut sum = term;
        for at in beyond {
            term = next(term, at);
            sum += term;
            if term < sum * NEGLIGIBLE {
                break;
            }
        }
        sum.min(1.0)
    }

    /// How likely `k` or fewer is.
    pub(crate) fn at_most(&self, k: u64) -> f64 {
        if k < self.least() {
            return 0.0;
        }
        if k >= self.most() {
            return 1.0;
        }
        if k < self.mode() {
            self.at_most_below_mode(k + 1)
        } else {
            (1.0 - self.at_least(k + 1)).clamp(0.0, 1.0)
        }
    }

    /// How likely fewer than `k` is, for `k` up to the mode.
    fn at_most_below_mode(&self, k: u64) -> f64 {
        if k <= self.least() {
            return 0.0;
        }
        let beyond = (self.least()..k - 1).rev();
        self.tail(k - 1, beyond, |term, at| term / self.step_up(at))
    }

    /// The standard deviation.
    pub(crate) fn spread(&self) -> f64 {
        let (people, marked, drawn) = (self.people as f64, self.marked as f64, self.drawn as f64);
        let left = (people - marked) * (people - drawn);
        (drawn * marked / people * left / (people * (people - 1.0).max(1.0))).sqrt()
    }

    /// The likeliest number.
    pub(crate) fn mode(&self) -> u64 {
        let mode = (u128::from(self.marked) + 1) * (u128::from(self.drawn) + 1)
            / (u128::from(self.people) + 2);
        (mode as u64).clamp(self.least(), self.most())
    }

    /// The expected value of something between 0 and 1 that depends on the number, from above.
    pub(crate) fn expected(&self, of: impl Fn(u64) -> f64) -> f64 {
        let mode = self.mode();
        let up = mode..self.most() + 1;
        let down = (self.least()..mode).rev();
        self.outwards(up, &of) + self.outwards(down, &of)
    }

    /// Goes outwards from the mode, as long as numbers are likely enough to matter.
    fn outwards(&self, numbers: impl Iterator<Item = u64>, of: &impl Fn(u64) -> f64) -> f64 {
        let mut sum = 0.0;
        for k in numbers {
            let likely = self.exactly(k);
            if likely < UNLIKELY {
                return sum + self.at_least(k).min(self.at_most(k));
            }
            sum += likely * of(k);
        }
        sum
    }

    /// Fisher's exact test, two-sided, for every number there can be.
    pub(crate) fn fisher(&self) -> Fisher {
        let mode = self.mode();
        let at_mode = self.exactly(mode);
        let mut above = vec![at_mode];
        let mut likely = at_mode;
        for k in mode..self.most() {
            likely *= self.step_up(k);
            if likely < UNHEARD_OF {
                break;
            }
            above.push(likely);
        }
        let mut below = Vec::new();
        likely = at_mode;
        for k in (self.least()..mode).rev() {
            likely /= self.step_up(k);
            if likely < UNHEARD_OF {
                break;
            }
            below.push(likely);
        }
        Fisher::new(mode - below.len() as u64, below, &above)
    }
}

/// Numbers less likely than this are not looked at one by one.
pub(crate) const UNLIKELY: f64 = 1e-25;

/// What is less likely than this is not told apart, and never said to be impossible.
pub(crate) const UNHEARD_OF: f64 = 1e-290;

/// Two-sided p-values of a count: how likely the numbers are that are no likelier than it.
#[derive(Debug)]
pub(crate) struct Fisher {
    /// The number that the first p-value belongs to.
    first: u64,
    p: Vec<f64>,
}

impl Fisher {
    /// From how likely the numbers below the mode are, outwards, and those from it on.
    fn new(first: u64, mut below: Vec<f64>, above: &[f64]) -> Self {
        below.reverse();
        below.extend_from_slice(above);
        let likely = below;
        let mut p = vec![0.0; likely.len()];
        // Numbers grow likelier up to the mode and less likely after it: the least likely of those
        // left is always at an end.
        let (mut low, mut high) = (0, likely.len());
        let mut sum = 0.0;
        while low < high {
            let limit = likely[low].min(likely[high - 1]) * (1.0 + SAME);
            let (from, to) = (low, high);
            while low < high && likely[low] <= limit {
                sum += likely[low];
                low += 1;
            }
            while low < high && likely[high - 1] <= limit {
                high -= 1;
                sum += likely[high];
            }
            p[from..low].fill(f64::min(sum, 1.0));
            p[high..to].fill(f64::min(sum, 1.0));
        }
        Self { first, p }
    }

    /// The p-value of a number.
    pub(crate) fn p(&self, number: u64) -> f64 {
        let place = number.checked_sub(self.first);
        let p = place.and_then(|place| self.p.get(place as usize));
        p.copied().unwrap_or(UNHEARD_OF)
    }

    /// The numbers that are told apart, with their p-values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, f64)> + Clone {
        (self.first..).zip(self.p.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pascal's triangle, as an obvious reference.
    fn choose(n: u64, k: u64) -> f64 {
        (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
    }

    proptest! {
        #[test]
        fn probabilities_are_ratios_of_ways(people in 1u64..60, marked in 0u64..60, drawn in 0u64..60, k in 0u64..60) {
            let (marked, drawn) = (marked.min(people), drawn.min(people));
            let factorials = Factorials::up_to(people);
            let h = Hypergeometric::new(&factorials, people, marked, drawn);
            let exactly = |k: u64| if k > marked || k > drawn || drawn - k > people - marked { 0.0 } else {
                choose(marked, k) * choose(people - marked, drawn - k) / choose(people, drawn)
            };
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-10 * b.max(1e-3);
            prop_assert!(near(h.exactly(k), exactly(k)));
            let at_least: f64 = (k..=people).map(exactly).sum();
            let at_most: f64 = (0..=k).map(exactly).sum();
            prop_assert!(near(h.at_least(k), at_least), "{} {}", h.at_least(k), at_least);
            prop_assert!(near(h.at_most(k), at_most), "{} {}", h.at_most(k), at_most);
            for (at, p) in h.fisher().iter() {
                let no_likelier = |x: &u64| exactly(*x) <= exactly(at) * (1.0 + 1e-7);
                let sum: f64 = (0..=people).filter(no_likelier).map(exactly).sum();
                prop_assert!(near(p, sum.min(1.0)));
                prop_assert_eq!(h.fisher().p(at), p);
            }
        }
    }

    /// `scipy.stats.fisher_exact([[a, b], [c, d]])`, SciPy 1.14.
    #[test]
    fn fisher_is_scipys() {
        for ([a, b, c, d], p) in [
            ([8, 2, 1, 5], 0.034_965_034_965_034_975),
            ([31, 47, 2, 62], 6.212_772_892_480_847e-8),
            ([3, 97, 40, 260], 0.002_525_643_140_096_498),
        ] {
            let factorials = Factorials::up_to(a + b + c + d);
            let h = Hypergeometric::new(&factorials, a + b + c + d, a + c, a + b);
            let ours = h.fisher().p(a);
            assert!((ours - p).abs() < 1e-10 * p, "{ours} {p}");
        }
    }
}
