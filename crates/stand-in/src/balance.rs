//! Rounding expected counts to whole people so that the margins stay what they were.
//!
//! Rounding each cell by chance would move the margins by chance too, and a regression fitted to few
//! conversions would take that chance for an effect. So the cells are taken in random
//! order, and each is rounded to the side that keeps the margins (a cell counts in one margin per
//! feature) nearest to what is wanted; then roundings are turned, alone and in pairs, as long as
//! that helps. All of it is in whole numbers.

use crate::random::Random;

/// One person, in the fixed-point numbers of this module.
pub(crate) const ONE: i64 = 1 << 20;

/// What is to be rounded, and what must hold afterwards.
pub(crate) struct Balance<'a> {
    /// What is expected of each cell, in parts of [`ONE`].
    pub(crate) expected: &'a [i64],
    /// The most that each cell can hold.
    pub(crate) at_most: &'a [i64],
    /// The margins that each cell counts in.
    pub(crate) margins: &'a [Vec<usize>],
    /// What each margin should be, in parts of [`ONE`], where that is published; else what is
    /// expected.
    pub(crate) wanted: &'a [Option<i64>],
    /// The whole, in people.
    pub(crate) total: i64,
    /// Fractions below this, in parts of [`ONE`], are always rounded down.
    pub(crate) least: i64,
}

impl Balance<'_> {
    /// Whole people for each cell.
    pub(crate) fn round(&self, random: &mut Random) -> Vec<i64> {
        let mut people: Vec<i64> = self.expected.iter().map(|e| e / ONE).collect();
        // Cells that may go either way, in random order.
        let mut open: Vec<usize> = (0..people.len())
            .filter(|&c| self.fraction(c) >= self.least && people[c] < self.at_most[c])
            .collect();
        random.shuffle(&mut open);
        let mut off = self.off(&people, &open);
        let mut up = vec![false; people.len()];
        for &cell in &open {
            let fraction = self.fraction(cell);
            // Until now the cell counted with its fraction.
            let above = ONE - fraction;
            let pull: i64 = self.margins[cell]
                .iter()
                .map(|&m| weight(self.wanted[m]) * (2 * off[m] + above - fraction))
                .sum();
            up[cell] = pull < 0;
            let moved = if up[cell] { above } else { -fraction };
            self.margins[cell].iter().for_each(|&m| off[m] += moved);
        }
        for _ in 0..20 {
            let mut turned = false;
            for &cell in &open {
                let step = if up[cell] { -ONE } else { ONE };
                if self.change(&off, cell, step) < 0 {
                    self.margins[cell].iter().for_each(|&m| off[m] += step);
                    up[cell] = !up[cell];
                    turned = true;
                }
            }
            if !turned {
                break;
            }
        }
        while self.swap(&open, &mut up, &mut off) {}
        for &cell in &open {
            people[cell] += i64::from(up[cell]);
        }
        self.settle(&mut people);
        people
    }

    fn fraction(&self, cell: usize) -> i64 {
        self.expected[cell] % ONE
    }

    /// How far each margin is from what is wanted, the open cells counted as expected.
    fn off(&self, people: &[i64], open: &[usize]) -> Vec<i64> {
        let mut is_open = vec![false; people.len()];
        open.iter().for_each(|&c| is_open[c] = true);
        let mut off: Vec<i64> = self.wanted.iter().map(|w| -w.unwrap_or(0)).collect();
        for (cell, margins) in self.margins.iter().enumerate() {
            let now = if is_open[cell] {
                self.expected[cell]
            } else {
                people[cell] * ONE
            };
            for &m in margins {
                let hoped = if self.wanted[m].is_some() {
                    0
                } else {
                    self.expected[cell]
                };
                off[m] += now - hoped;
            }
        }
        off
    }

    /// What a step of one cell does to the weighted sum of squares, less what it has in common with
    /// every other step: divided by [`ONE`].
    fn change(&self, off: &[i64], cell: usize, step: i64) -> i64 {
        let sign = step.signum();
        let of = |&m: &usize| weight(self.wanted[m]) * (2 * sign * off[m] + ONE);
        self.margins[cell].iter().map(of).sum()
    }

    /// Turns one cell up and another down for the sake of the published margin that is furthest off.
    fn swap(&self, open: &[usize], up: &mut [bool], off: &mut [i64]) -> bool {
        let published = (0..off.len()).filter(|&m| self.wanted[m].is_some());
        let Some(worst) = published.max_by_key(|&m| off[m].abs()) else {
            return false;
        };
        if off[worst].abs() * 2 < ONE {
            return false;
        }
        let too_many = off[worst] > 0;
        let step = if too_many { -ONE } else { ONE };
        let of = |cell: usize| self.margins[cell].contains(&worst);
        // A few dozen of the first are plenty: the order is random.
        let first = open.iter().copied().filter(|&c| up[c] == too_many && of(c));
        let mut best = (0, 0, 0);
        for a in first.take(48) {
            let alone = self.change(off, a, step);
            for &b in open.iter().filter(|&&b| up[b] != too_many && !of(b)) {
                let shared = self.margins[a]
                    .iter()
                    .filter(|m| self.margins[b].contains(m));
                let shared: i64 = shared.map(|&m| 2 * weight(self.wanted[m]) * ONE).sum();
                let both = alone + self.change(off, b, -step) - shared;
                best = best.min((both, a, b));
            }
        }
        let (gain, a, b) = best;
        if gain >= 0 {
            return false;
        }
        for (cell, step) in [(a, step), (b, -step)] {
            self.margins[cell].iter().for_each(|&m| off[m] += step);
            up[cell] = !up[cell];
        }
        true
    }

    /// Makes the whole exact, at the cost of the largest cells.
    fn settle(&self, people: &mut [i64]) {
        let mut order: Vec<usize> = (0..people.len()).collect();
        order.sort_by_key(|&c| (-self.expected[c], c));
        let mut missing = self.total - people.iter().sum::<i64>();
        while missing != 0 {
            let before = missing;
            for &cell in &order {
                let step = missing.signum();
                if step != 0 && (0..=self.at_most[cell]).contains(&(people[cell] + step)) {
                    people[cell] += step;
                    missing -= step;
                }
            }
            if missing == before {
                break;
            }
        }
    }
}

/// Margins that are published weigh more than those that are only expected.
fn weight(wanted: Option<i64>) -> i64 {
    if wanted.is_some() { 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of 3 × 4 × 5 cells with uneven expectations.
    fn table() -> (Vec<i64>, Vec<Vec<usize>>) {
        let cells = (0..60_usize).map(|c| (c / 20, c / 5 % 4, c % 5));
        let expected = (0..60)
            .map(|c| ONE * (c * c % 17) / 3 + 12_345 * c)
            .collect();
        (
            expected,
            cells.map(|(a, b, c)| vec![a, 3 + b, 7 + c]).collect(),
        )
    }

    #[test]
    fn margins_stay_within_one_and_the_whole_is_exact() {
        let (expected, margins) = table();
        let total = (expected.iter().sum::<i64>() + ONE / 2) / ONE;
        for seed in 0..20 {
            let people = Balance {
                expected: &expected,
                at_most: &vec![i64::MAX; 60],
                margins: &margins,
                wanted: &[None; 12],
                total,
                least: 1,
            }
            .round(&mut Random::new(seed, 0));
            assert_eq!(people.iter().sum::<i64>(), total);
            for m in 0..12 {
                let inside = |c: &usize| margins[*c].contains(&m);
                let here: i64 = (0..60).filter(inside).map(|c| people[c] * ONE).sum();
                let there: i64 = (0..60).filter(inside).map(|c| expected[c]).sum();
                assert!(
                    (here - there).abs() <= 3 * ONE / 2,
                    "{seed} {m}: {here} {there}"
                );
            }
        }
    }

    #[test]
    fn published_margins_are_met_exactly() {
        let (expected, margins) = table();
        let mut wanted = vec![None; 12];
        for (m, wanted) in wanted.iter_mut().enumerate().take(3) {
            let there: i64 = (0..60)
                .filter(|c| margins[*c].contains(&m))
                .map(|c| expected[c])
                .sum();
            *wanted = Some((there + ONE / 2) / ONE * ONE);
        }
        let total = wanted.iter().flatten().sum::<i64>() / ONE;
        let people = Balance {
            expected: &expected,
            at_most: &vec![i64::MAX; 60],
            margins: &margins,
            wanted: &wanted,
            total,
            least: 1,
        }
        .round(&mut Random::new(3, 0));
        for (m, wanted) in wanted.iter().enumerate().take(3) {
            let here: i64 = (0..60)
                .filter(|c| margins[*c].contains(&m))
                .map(|c| people[c])
                .sum();
            assert_eq!(Some(here * ONE), *wanted);
        }
    }

    #[test]
    fn no_cell_holds_more_than_it_can() {
        let (expected, margins) = table();
        let at_most: Vec<i64> = expected.iter().map(|e| e / ONE).collect();
        let people = Balance {
            expected: &expected,
            at_most: &at_most,
            margins: &margins,
            wanted: &[None; 12],
            total: 10_000,
            least: 1,
        }
        .round(&mut Random::new(3, 0));
        assert_eq!(people, at_most);
    }
}
