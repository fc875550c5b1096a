//! Log-linear models: how common each combination of levels is, from an effect for each level and
//! for each pair of levels.
//!
//! Effects are natural logarithms in millionths. They are added as whole numbers, and the
//! exponential is made of additions and multiplications alone, which round the same way on every
//! machine; a library's `exp` does not promise that.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Effects by feature and level, in millionths.
pub(crate) type Effects = BTreeMap<String, BTreeMap<String, i64>>;

/// The effects of two features together; the second feature's level runs fastest.
#[derive(Deserialize)]
pub(crate) struct Pair {
    /// The group that it holds for; every group if none is named.
    pub(crate) race: Option<String>,
    of: [String; 2],
    effects: Vec<i64>,
}

/// All combinations of the levels of some features; the last feature's level runs fastest.
pub(crate) struct Grid {
    names: Vec<&'static str>,
    pub(crate) levels: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(
        names: &[&'static str],
        levels: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self, String> {
        let levels = names.iter().map(|&name| {
            levels
                .get(name)
                .cloned()
                .ok_or(format!("no levels of {name}"))
        });
        Ok(Self {
            names: names.to_vec(),
            levels: levels.collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn cells(&self) -> usize {
        self.levels.iter().map(Vec::len).product()
    }

    /// The level of each feature in a cell.
    pub(crate) fn levels_of(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut found: Vec<usize> = self
            .levels
            .iter()
            .rev()
            .map(|levels| {
                let level = rest % levels.len();
                rest /= levels.len();
                level
            })
            .collect();
        found.reverse();
        found
    }

    /// Effects by feature and level, in the order of the grid.
    pub(crate) fn lay_out(&self, effects: &Effects) -> Result<Vec<Vec<i64>>, String> {
        let of = |name: &str, level: &String| {
            let found = effects.get(name).and_then(|levels| levels.get(level));
            found
                .copied()
                .ok_or(format!("no effect of {name} = {level}"))
        };
        let features = self.names.iter().zip(&self.levels);
        features
            .map(|(name, levels)| levels.iter().map(|level| of(name, level)).collect())
            .collect()
    }

    /// The weight of each cell: 2⁴⁰ for the most common one.
    pub(crate) fn weights<'a>(
        &self,
        effects: &Effects,
        pairs: impl Iterator<Item = &'a Pair>,
    ) -> Result<Vec<u64>, String> {
        let effects = self.lay_out(effects)?;
        let place = |name: &String| {
            let found = self.names.iter().position(|known| known == name);
            found.ok_or(format!("no feature {name}"))
        };
        let pairs = pairs.map(|pair| {
            let [a, b] = [place(&pair.of[0])?, place(&pair.of[1])?];
            let width = self.levels[b].len();
            if pair.effects.len() != self.levels[a].len() * width {
                return Err(format!("{:?} has {} effects", pair.of, pair.effects.len()));
            }
            Ok((a, b, width, &pair.effects))
        });
        let pairs: Vec<_> = pairs.collect::<Result<_, String>>()?;
        let logarithms: Vec<i64> = (0..self.cells())
            .map(|cell| {
                let levels = self.levels_of(cell);
                let alone: i64 = levels.iter().zip(&effects).map(|(&l, e)| e[l]).sum();
                let together: i64 = pairs
                    .iter()
                    .map(|&(a, b, width, effects)| effects[levels[a] * width + levels[b]])
                    .sum();
                alone + together
            })
            .collect();
        let most = logarithms.iter().copied().max().unwrap_or(0);
        let weight = |logarithm: i64| (exp(logarithm - most) * (1_u64 << 40) as f64) as u64;
        Ok(logarithms.into_iter().map(weight).collect())
    }
}

/// e to the power of some millionths, the same to the last bit on every machine.
pub(crate) fn exp(millionths: i64) -> f64 {
    const SQUARINGS: i32 = 12;
    // At -40 the result no longer counts; above 40 nothing here ever is.
    let x = millionths.clamp(-40_000_000, 40_000_000) as f64 / 1e6 / f64::from(1 << SQUARINGS);
    // |x| < 0.01: eight terms leave an error below the last bit.
    let series = (1..=8)
        .rev()
        .fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum);
    (0..SQUARINGS).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_close_to_the_library_s() {
        for millionths in [-30_000_000, -1_234_567, -1, 0, 1, 693_147, 12_000_000] {
            let (here, there) = (exp(millionths), (millionths as f64 / 1e6).exp());
            assert!(
                (here / there - 1.0).abs() < 1e-11,
                "{millionths}: {here} {there}"
            );
        }
    }

    #[test]
    fn a_pair_raises_only_its_own_cell() {
        let levels = [("a", vec!["0", "1"]), ("b", vec!["x", "y", "z"])];
        let text = |levels: Vec<&str>| levels.into_iter().map(str::to_owned).collect();
        let levels = levels.map(|(name, levels)| (name.to_owned(), text(levels)));
        let grid = Grid::new(&["a", "b"], &levels.into()).unwrap();
        let none = |name: &str, levels: &[&str]| {
            (
                name.to_owned(),
                levels.iter().map(|l| ((*l).to_owned(), 0)).collect(),
            )
        };
        let effects: Effects = [none("a", &["0", "1"]), none("b", &["x", "y", "z"])].into();
        let pair = Pair {
            race: None,
            of: ["a".into(), "b".into()],
            effects: vec![0, 0, 0, 0, 0, 1_000_000],
        };
        let weights = grid.weights(&effects, [&pair].into_iter()).unwrap();
        assert_eq!(grid.levels_of(5), [1, 2]);
        assert_eq!(weights[5], 1 << 40);
        assert!(weights[..5].iter().all(|&w| w == weights[0] && w < 1 << 39));
    }
}
