//! Random samples of people: with replacement (the bootstrap) or without.
//!
//! People of one kind are only counted, never listed, so that a kind of a million people costs no more
//! than it must.

use super::Stream;
use super::binomial::{hypergeometric_step, ln_hypergeometric, ln_probability};

/// Up to so many people are drawn one by one; more are drawn kind by kind.
const ONE_BY_ONE: u64 = 1 << 16;

/// Of people drawn one by one, so many are drawn at once.
const AT_ONCE: usize = 64;

/// Draws bootstrap resamples of people of several kinds.
#[derive(Debug)]
pub(crate) struct Resampler {
    people: Vec<u64>,
    total: u64,
    /// The kind of each person, while they are drawn one by one.
    kinds: Vec<u32>,
}

impl Resampler {
    /// So many people of each kind.
    pub(crate) fn new(people: Vec<u64>) -> Self {
        let total = people.iter().sum();
        let kinds = if total > ONE_BY_ONE {
            Vec::new()
        } else {
            let repeated = |(&people, kind)| std::iter::repeat_n(kind, people as usize);
            people.iter().zip(0..).flat_map(repeated).collect()
        };
        Self {
            people,
            total,
            kinds,
        }
    }

    /// Draws as many people as there are, with replacement; how many of each kind.
    pub(crate) fn resample(&self, stream: Stream, drawn: &mut Vec<u64>) {
        drawn.clear();
        drawn.resize(self.people.len(), 0);
        if self.total > ONE_BY_ONE {
            self.draw_kinds(stream, drawn);
            return;
        }
        let mut people = [0; AT_ONCE];
        for start in (0..self.total).step_by(AT_ONCE) {
            stream.fill_below(start, self.total as u32, &mut people);
            let wanted = (self.total - start).min(AT_ONCE as u64) as usize;
            for &person in &people[..wanted] {
                drawn[self.kinds[person as usize] as usize] += 1;
            }
        }
    }

    /// How many are of a kind is binomial, given how many are left for it and the kinds after it.
    fn draw_kinds(&self, stream: Stream, drawn: &mut [u64]) {
        let (mut to_draw, mut left) = (self.total, self.total);
        for (kind, &people) in self.people.iter().enumerate() {
            if to_draw == 0 {
                break;
            }
            if people == left {
                drawn[kind] = to_draw;
                break;
            }
            drawn[kind] = draw_binomial(
                to_draw,
                people as f64 / left as f64,
                stream.substream(kind as u64),
            );
            to_draw -= drawn[kind];
            left -= people;
        }
    }
}

/// Samples `taken` of the people without replacement; how many of each kind.
pub(crate) fn sample_without_replacement(people: &[u64], taken: u64, stream: Stream) -> Vec<u64> {
    let mut left = people.iter().sum();
    let mut to_take = taken;
    let kinds = people.iter().zip(0..);
    kinds
        .map(|(&people, kind)| {
            let of_kind = draw_hypergeometric(people, to_take, left, stream.substream(kind));
            to_take -= of_kind;
            left -= people;
            of_kind
        })
        .collect()
}

/// How many of `n` succeed, each with probability `p`.
fn draw_binomial(n: u64, p: f64, stream: Stream) -> u64 {
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    let odds = p / (1.0 - p);
    let counts = Unimodal {
        mode,
        ln_mode: ln_probability(mode, n, p),
        ends: (0, n),
    };
    counts.draw(stream, |k| (n - k) as f64 / (k + 1) as f64 * odds)
}

/// How many of the `taken` are among the `marked`, when `taken` of `all` are taken.
pub(crate) fn draw_hypergeometric(marked: u64, taken: u64, all: u64, stream: Stream) -> u64 {
    let least = (marked + taken).saturating_sub(all);
    let most = marked.min(taken);
    if marked == 1 && least < most {
        return u64::from(stream.below(0, all) < taken);
    }
    let mode = (marked + 1) as f64 * (taken + 1) as f64 / (all + 2) as f64;
    let mode = (mode as u64).clamp(least, most);
    let counts = Unimodal {
        mode,
        ln_mode: ln_hypergeometric(mode, marked, taken, all),
        ends: (least, most),
    };
    counts.draw(stream, |k| hypergeometric_step(k, marked, taken, all))
}

/// A distribution of one mode, from which a number is drawn by walking outwards.
struct Unimodal {
    mode: u64,
    /// The logarithm of the mode's probability.
    ln_mode: f64,
    /// The least and the greatest number.
    ends: (u64, u64),
}

impl Unimodal {
    /// Draws a number. `ratio` tells how much likelier k + 1 is than k.
    fn draw(&self, stream: Stream, ratio: impl Fn(u64) -> f64) -> u64 {
        let at_mode = self.ln_mode.exp();
        let mut rest = stream.uniform(0) - at_mode;
        let (mut low, mut high) = (self.mode, self.mode);
        let (mut at_low, mut at_high) = (at_mode, at_mode);
        while rest >= 0.0 && (low, high) != self.ends && at_low + at_high > 0.0 {
            if high < self.ends.1 {
                at_high *= ratio(high);
                high += 1;
                rest -= at_high;
                if rest < 0.0 {
                    return high;
                }
            }
            if low > self.ends.0 {
                low -= 1;
                at_low /= ratio(low);
                rest -= at_low;
                if rest < 0.0 {
                    return low;
                }
            }
        }
        // At the mode; or all probabilities are used up, and what is left is rounding.
        self.mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether frequencies are as likely as they should be: each within five standard errors.
    fn assert_frequencies(draws: &[u64], probability: impl Fn(u64) -> f64, what: &str) {
        let n = draws.len() as f64;
        let most = draws.iter().copied().max().unwrap();
        for k in 0..=most + 1 {
            let p = probability(k);
            let seen = draws.iter().filter(|&&draw| draw == k).count() as f64;
            let error = (n * p * (1.0 - p)).sqrt().max(1.0);
            assert!(
                (seen - n * p).abs() < 5.0 * error,
                "{what}, {k}: {seen} of {n}, expected {}",
                n * p
            );
        }
    }

    #[test]
    fn drawn_counts_have_their_distribution() {
        let stream = Stream::new(3);
        for (n, p) in [(1, 0.3), (7, 0.5), (40, 0.02), (40, 0.97), (90_000, 0.0001)] {
            let draws: Vec<u64> = (0..20_000)
                .map(|i| draw_binomial(n, p, stream.substream(i)))
                .collect();
            let exact = |k| {
                if k > n {
                    0.0
                } else {
                    ln_probability(k, n, p).exp()
                }
            };
            assert_frequencies(&draws, exact, &format!("binomial {n}, {p}"));
        }
        for (marked, taken, all) in [(1u64, 3u64, 10u64), (5, 5, 10), (30, 20, 45), (2, 1, 3)] {
            let draws: Vec<u64> = (0..20_000)
                .map(|i| draw_hypergeometric(marked, taken, all, stream.substream(i)))
                .collect();
            let least = (marked + taken).saturating_sub(all);
            let exact = |k| {
                if k < least || k > marked.min(taken) {
                    return 0.0;
                }
                ln_hypergeometric(k, marked, taken, all).exp()
            };
            assert_frequencies(&draws, exact, &format!("hypergeometric {marked}"));
        }
    }

    #[test]
    fn people_drawn_again_are_as_many_as_before_and_as_often_of_each_kind() {
        for people in [vec![3, 0, 1, 6], vec![50_000, 0, 20_000, 30_000]] {
            let total: u64 = people.iter().sum();
            let resampler = Resampler::new(people.clone());
            let mut drawn = Vec::new();
            let mut sums = [0.0; 4];
            let mut squares = [0.0; 4];
            for i in 0..4_000 {
                resampler.resample(Stream::new(5).substream(i), &mut drawn);
                assert_eq!(drawn.iter().sum::<u64>(), total);
                for (kind, &n) in drawn.iter().enumerate() {
                    sums[kind] += n as f64 / 4_000.0;
                    squares[kind] += (n as f64 - people[kind] as f64).powi(2) / 4_000.0;
                }
            }
            for kind in 0..4 {
                let expected = people[kind] as f64;
                let variance = expected * (1.0 - expected / total as f64);
                let error = (variance / 4_000.0).sqrt();
                assert!((sums[kind] - expected).abs() <= 5.0 * error, "{sums:?}");
                let off = (squares[kind] - variance).abs();
                assert!(off <= 0.15 * variance, "{squares:?}");
            }
        }
    }

    #[test]
    fn nobody_is_sampled_twice_without_replacement() {
        let people = [1, 1, 1, 1, 6, 100_000];
        for i in 0..200 {
            let taken = sample_without_replacement(&people, 50_005, Stream::new(i));
            assert_eq!(taken.iter().sum::<u64>(), 50_005);
            assert!(taken.iter().zip(people).all(|(&taken, all)| taken <= all));
        }
        assert_eq!(
            sample_without_replacement(&people, 0, Stream::new(1)),
            [0; 6]
        );
        assert_eq!(
            sample_without_replacement(&people, 100_010, Stream::new(1)),
            people
        );
    }
}
