//! Bins of a number: their edges, their printed labels, and which bin a number falls into.

use super::Level;
use super::column::Column;
use super::declare::{Bins, Edges, View};
use crate::error::Error;

/// Checked bins: ascending edges, one label a bin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    edges: Vec<f64>,
    levels: Vec<Level>,
}

/// More bins than this are a mistake: a level is something that people speak of.
const MOST_BINS: usize = 10_000;

impl Cut {
    /// Places the edges over the numbers of the population, given ascending with how many people
    /// hold each.
    pub(crate) fn new(feature: &str, bins: &Bins, people: &[(f64, u64)]) -> Result<Self, Error> {
        let bad = |why: String| Error::BadBins {
            feature: feature.to_owned(),
            why,
        };
        let (Some(&(least, _)), Some(&(greatest, _))) = (people.first(), people.last()) else {
            return Err(bad(
                "there is no number to cut into bins; every value is missing".into(),
            ));
        };
        let edges = match &bins.edges {
            Edges::Quantiles(0) | Edges::EqualWidth(0) => {
                return Err(bad("0 bins were asked for; ask for at least 1".into()));
            }
            Edges::Quantiles(count) | Edges::EqualWidth(count) if *count > MOST_BINS => {
                return Err(bad(format!(
                    "{count} bins were asked for; ask for at most {MOST_BINS}, or declare the feature numeric"
                )));
            }
            Edges::Quantiles(count) => quantiles(people, *count),
            Edges::EqualWidth(count) => equal_width(least, greatest, *count),
            Edges::At(edges) => edges.clone(),
        };
        if edges.len() < 2 {
            return Err(bad(format!(
                "bins need at least two edges, and there is {}; give more edges, or declare the feature numeric",
                edges.len()
            )));
        }
        if edges.iter().any(|e| e.is_nan()) || edges.windows(2).any(|w| w[0] >= w[1]) {
            return Err(bad(format!(
                "the edges {edges:?} do not ascend; sort them and drop repeats"
            )));
        }
        let labels = match &bins.labels {
            None => printed(&edges, &bins.edges),
            Some(labels) if labels.len() == edges.len() - 1 => labels.clone(),
            Some(labels) => {
                return Err(bad(format!(
                    "{} labels were given for {} bins; give one a bin{}",
                    labels.len(),
                    edges.len() - 1,
                    match bins.edges {
                        Edges::Quantiles(_) => " (quantiles that fall together make one bin fewer)",
                        _ => "",
                    }
                )));
            }
        };
        let levels = labels
            .into_iter()
            .enumerate()
            .map(|(i, label)| {
                // An open end stands at the outermost number that was observed, but never beyond
                // the bin's own finite edge.
                let low = if edges[i].is_finite() {
                    edges[i]
                } else {
                    least.min(edges[i + 1])
                };
                let high = if edges[i + 1].is_finite() {
                    edges[i + 1]
                } else {
                    greatest.max(low)
                };
                Level {
                    label,
                    // Halved first: a sum or a difference of very large ends would overflow.
                    number: Some(low / 2.0 + high / 2.0),
                    bounds: Some((low, high)),
                }
            })
            .collect();
        Ok(Self { edges, levels })
    }

    /// The edges, ascending.
    pub(super) fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The bins as levels, lowest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The bin a number falls into. NaN falls into none.
    pub(super) fn bin(&self, number: f64) -> Option<usize> {
        let last = self.edges.len() - 1;
        if !(self.edges[0]..=self.edges[last]).contains(&number) {
            return None;
        }
        // The first edge at or above the number closes its bin; the lowest edge is included.
        let closing = self.edges.partition_point(|&edge| edge < number);
        Some(closing.saturating_sub(1))
    }

    /// The bin that a value of a column falls into.
    pub(crate) fn bin_of(&self, column: &Column, code: u32) -> Result<usize, Error> {
        let number = column.number(code)?;
        if number.is_nan() {
            return Err(column.non_finite(code, number));
        }
        self.bin(number).ok_or_else(|| Error::BinsDoNotCover {
            column: column.name().to_owned(),
            row: column.first_row(code),
            value: number,
            low: self.edges[0],
            high: self.edges[self.edges.len() - 1],
        })
    }
}

/// Where bins of a number lie: the edges over numbers that are given ascending, with how many people hold
/// each.
pub fn edges(feature: &str, edges: &Edges, people: &[(f64, u64)]) -> Result<Vec<f64>, Error> {
    let bins = Bins {
        edges: edges.clone(),
        labels: None,
        view: View::Label,
    };
    Cut::new(feature, &bins, people).map(|cut| cut.edges)
}

/// Edges at i/count of the people, linearly interpolated; equal edges become one.
fn quantiles(people: &[(f64, u64)], count: usize) -> Vec<f64> {
    let all: u64 = people.iter().map(|&(_, weight)| weight).sum();
    let mut edges: Vec<f64> = (0..=count as u64)
        .map(|i| quantile(people, all, i, count as u64))
        .collect();
    edges.dedup();
    if edges.len() == 1 {
        // Everybody holds one number: a bin of no width is still a bin that holds it.
        edges.insert(0, edges[0] - 1.0);
    }
    edges
}

/// The number at `numerator/denominator` of the way through the people in ascending order.
fn quantile(people: &[(f64, u64)], all: u64, numerator: u64, denominator: u64) -> f64 {
    let position = u128::from(numerator) * u128::from(all - 1);
    let index = (position / u128::from(denominator)) as u64;
    let rest = (position % u128::from(denominator)) as f64 / denominator as f64;
    let low = nth(people, index);
    if rest == 0.0 {
        return low;
    }
    let high = nth(people, index + 1);
    // Interpolated from the nearer end, so that both ends are met exactly.
    if rest < 0.5 {
        low + (high - low) * rest
    } else {
        high - (high - low) * (1.0 - rest)
    }
}

/// The number held by the person at `index`, counted from 0 in ascending order.
fn nth(people: &[(f64, u64)], index: u64) -> f64 {
    let mut before = 0;
    for &(number, weight) in people {
        before += weight;
        if index < before {
            return number;
        }
    }
    people[people.len() - 1].0
}

/// The median of numbers given ascending with how many people hold each: the mean of the two
/// middle ones when their number is even.
pub(crate) fn median(people: &[(f64, u64)]) -> f64 {
    let all = people.iter().map(|&(_, weight)| weight).sum();
    quantile(people, all, 1, 2)
}

fn equal_width(least: f64, greatest: f64, count: usize) -> Vec<f64> {
    if least == greatest {
        return vec![least - 1.0, least];
    }
    let mut edges: Vec<f64> = (0..=count)
        .map(|i| least + (greatest - least) * (i as f64 / count as f64))
        .collect();
    edges[count] = greatest;
    edges
}

/// Intervals as pandas prints them.
fn printed(edges: &[f64], how: &Edges) -> Vec<String> {
    let mut shown = edges.to_vec();
    if let Edges::EqualWidth(_) = how {
        shown[0] -= (edges[edges.len() - 1] - edges[0]) * 0.001;
    }
    let precision = (3..20)
        .find(|&precision| {
            let rounded: Vec<f64> = shown.iter().map(|&e| round(e, precision)).collect();
            rounded.windows(2).all(|w| w[0] < w[1])
        })
        .unwrap_or(3);
    for edge in &mut shown {
        *edge = round(*edge, precision);
    }
    if let Edges::Quantiles(_) = how {
        // Rounded again: 17 − 0.001 is to print as 16.999, whatever its last binary digit.
        shown[0] = round(shown[0] - 10f64.powi(-(precision as i32)), precision);
    }
    shown
        .windows(2)
        .map(|w| format!("({:?}, {:?}]", w[0], w[1]))
        .collect()
}

/// Rounds to a number of decimals; below 1, to as many digits after the leading zeros.
fn round(value: f64, precision: usize) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let decimals = if value.trunc() == 0.0 {
        let leading = (-value.abs().log10().floor()) as usize - 1;
        leading + precision
    } else {
        precision
    };
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::declare::{Move, View};

    fn cut(edges: Edges, numbers: &[f64]) -> Cut {
        let people: Vec<(f64, u64)> = numbers.iter().map(|&n| (n, 1)).collect();
        let bins = Bins {
            edges,
            labels: None,
            view: View::Raw(Move::Linear),
        };
        Cut::new("x", &bins, &people).unwrap()
    }

    fn labels(cut: &Cut) -> Vec<&str> {
        cut.levels().iter().map(|l| l.label.as_str()).collect()
    }

    #[test]
    fn quantiles_print_as_pandas_prints_them() {
        let numbers: Vec<f64> = (17..=90).map(f64::from).collect();
        let cut = cut(Edges::Quantiles(5), &numbers);
        // pd.qcut(range(17, 91), 5)
        assert_eq!(
            labels(&cut),
            [
                "(16.999, 31.6]",
                "(31.6, 46.2]",
                "(46.2, 60.8]",
                "(60.8, 75.4]",
                "(75.4, 90.0]"
            ]
        );
        assert_eq!(cut.bin(17.0), Some(0));
        assert_eq!(cut.bin(31.6), Some(0));
        assert_eq!(cut.bin(31.7), Some(1));
        assert_eq!(cut.bin(90.0), Some(4));
        assert_eq!(cut.bin(16.9995), None);
        assert_eq!(cut.bin(f64::NAN), None);
    }

    #[test]
    fn equal_widths_print_as_pandas_prints_them() {
        let cut = cut(Edges::EqualWidth(4), &[0.0, 3.0, 10.0]);
        // pd.cut([0, 3, 10], 4)
        assert_eq!(
            labels(&cut),
            ["(-0.01, 2.5]", "(2.5, 5.0]", "(5.0, 7.5]", "(7.5, 10.0]"]
        );
        assert_eq!(cut.levels()[1].number, Some(3.75));
    }

    #[test]
    fn close_edges_print_with_more_digits() {
        let cut = cut(Edges::At(vec![1.0, 1.0001, 1.0002]), &[1.00005]);
        assert_eq!(labels(&cut), ["(1.0, 1.0001]", "(1.0001, 1.0002]"]);
    }

    #[test]
    fn open_ends_stand_at_the_observed_extremes() {
        let edges = Edges::At(vec![f64::NEG_INFINITY, 10.0, f64::INFINITY]);
        let cut = cut(edges, &[4.0, 12.0, 30.0]);
        assert_eq!(labels(&cut), ["(-inf, 10.0]", "(10.0, inf]"]);
        assert_eq!(cut.levels()[0].bounds, Some((4.0, 10.0)));
        assert_eq!(cut.levels()[1].number, Some(20.0));
    }

    #[test]
    fn quantiles_count_people_not_rows() {
        let people = [(1.0, 3), (2.0, 1), (9.0, 4)];
        let one_by_one = [
            (1.0, 1),
            (1.0, 1),
            (1.0, 1),
            (2.0, 1),
            (9.0, 1),
            (9.0, 1),
            (9.0, 1),
            (9.0, 1),
        ];
        assert_eq!(quantiles(&people, 3), quantiles(&one_by_one, 3));
        assert_eq!(median(&people), 5.5);
    }

    #[test]
    fn bins_that_cannot_be_are_refused() {
        let refuse = |edges: Edges, labels: Option<Vec<String>>| {
            let bins = Bins {
                edges,
                labels,
                view: View::Label,
            };
            Cut::new("age", &bins, &[(1.0, 1), (2.0, 1)])
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refuse(Edges::At(vec![3.0, 1.0]), None),
            "feature `age`: the edges [3.0, 1.0] do not ascend; sort them and drop repeats"
        );
        assert_eq!(
            refuse(Edges::At(vec![0.0, 1.0, 2.0]), Some(vec!["a".into()])),
            "feature `age`: 1 labels were given for 2 bins; give one a bin"
        );
        assert_eq!(
            refuse(Edges::Quantiles(0), None),
            "feature `age`: 0 bins were asked for; ask for at least 1"
        );
    }
}
