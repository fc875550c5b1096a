//! Bins that are placed before a table is read.
//!
//! A column of numbers of which nearly every one is different keeps rows apart. Where nobody needs more than
//! the bin that a number falls into, the table is read twice: first its numbers, for the edges of bins
//! ([`Numbers`]), then its rows, with one number for each bin. Who falls into which bin is exact; only
//! where the edges lie can be off.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};

use super::bins::Cut;
use super::declare::{Bins, Edges, View};
use super::numbers::{Numbers, numbers};
use crate::error::Error;

/// The bins of a column, at edges that are known before the table is read.
#[derive(Clone, Debug)]
pub struct PlacedBins {
    column: String,
    bins: Bins,
    cut: Cut,
    /// Numbers that mean "missing": they stay as they are.
    missing: Vec<f64>,
    off: u64,
    rows: u64,
}

impl PlacedBins {
    /// Places bins over the numbers of a column, codes for missing values left out, which must have been
    /// [counted apart](Numbers::apart). None if no number is left.
    pub fn new(
        column: &str,
        bins: &Bins,
        numbers: &Numbers,
        missing_codes: &[String],
    ) -> Result<Option<Self>, Error> {
        let missing = numbers_of(missing_codes);
        let numbers = numbers.clone().without(&missing);
        if numbers.rows() == 0 {
            return Ok(None);
        }
        let cut = Cut::new(column, bins, &numbers.counted())?;
        Ok(Some(Self {
            column: column.to_owned(),
            bins: Bins {
                edges: Edges::At(cut.edges().to_vec()),
                labels: Some(cut.levels().iter().map(|l| l.label.clone()).collect()),
                view: bins.view,
            },
            cut,
            missing,
            off: match bins.edges {
                Edges::Quantiles(_) => numbers.off(),
                // The least and the greatest number are exact.
                Edges::EqualWidth(_) | Edges::At(_) => 0,
            },
            rows: numbers.rows(),
        }))
    }

    /// Bins that cover all numbers: each ends at a cut and holds it, the last has no end. Cuts ascend. Codes
    /// for missing values stay as they are.
    pub fn between(column: &str, cuts: &[f64], missing_codes: &[String]) -> Result<Self, Error> {
        let mut edges = vec![f64::NEG_INFINITY];
        edges.extend(cuts);
        edges.push(f64::INFINITY);
        let bins = Bins {
            edges: Edges::At(edges),
            labels: None,
            view: View::Label,
        };
        // Any number will do for the last bin that the bin before does not hold.
        let least = cuts.first().copied().unwrap_or(0.0);
        let above = cuts.last().map_or(0.0, |last| last.next_up());
        Ok(Self {
            column: column.to_owned(),
            cut: Cut::new(column, &bins, &[(least, 1), (above, 1)])?,
            bins,
            missing: numbers_of(missing_codes),
            off: 0,
            rows: 0,
        })
    }

    /// The same bins, which were placed over these numbers: by how many rows an edge can be off is known.
    pub fn over(mut self, numbers: &Numbers) -> Self {
        (self.off, self.rows) = (numbers.off(), numbers.rows());
        self
    }

    /// The edges between bins, ascending.
    pub fn cuts(&self) -> &[f64] {
        let edges = self.cut.edges();
        &edges[1..edges.len() - 1]
    }

    /// The column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Its bins, at their edges and by name.
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    /// Numbers that mean "missing".
    pub fn missing(&self) -> &[f64] {
        &self.missing
    }

    /// The least number of all bins.
    pub fn least(&self) -> f64 {
        self.cut.edges()[0]
    }

    /// Up to which number each bin goes, ascending, and the number that stands for it.
    pub fn ends(&self) -> impl Iterator<Item = (f64, f64)> {
        let ends = self.cut.edges()[1..].iter().zip(self.cut.levels());
        ends.map(|(&end, level)| (end, level.bounds.map_or(end, |(_, high)| high)))
    }

    /// By how many rows the rank of an edge can be off.
    pub fn off(&self) -> u64 {
        self.off
    }

    /// How many rows hold a number that is not missing.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// An array of numbers with one for each bin: its upper end, and for the least number of all that number.
    /// What is missing or falls into no bin stays as it is, and what is not finite, to be refused when people
    /// are taken in. An array of another type stays as it is.
    pub(super) fn coarse(&self, array: &ArrayRef) -> ArrayRef {
        let Some(numbers) = numbers(array.as_ref()) else {
            return Arc::clone(array);
        };
        let bin = |number: f64| self.cut.bin(number).filter(|_| number.is_finite());
        let coarse = |number: f64| match bin(number) {
            Some(_) if self.missing.contains(&number) => number,
            Some(_) if number == self.cut.edges()[0] => number,
            Some(bin) => self.cut.levels()[bin]
                .bounds
                .map_or(number, |(_, high)| high),
            None => number,
        };
        let numbers = numbers.into_iter().map(|number| number.map(coarse));
        Arc::new(numbers.collect::<Float64Array>())
    }
}

/// The numbers among codes for missing values.
pub fn numbers_of<'a>(codes: impl IntoIterator<Item = &'a String>) -> Vec<f64> {
    let numbers = codes
        .into_iter()
        .filter_map(|code| code.trim().parse().ok());
    numbers.filter(|number: &f64| number.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More numbers than are counted one by one, and codes for missing ones below and above them: what is cut is the
    /// others, from their least to their greatest.
    #[test]
    fn codes_move_no_edge() {
        let codes = ["-9".to_owned(), "9999999".to_owned()];
        let numbers = (0..600_000).map(|row| f64::from(row) + 0.5);
        let missing = [-9.0, 9_999_999.0];
        let mut counted = Numbers::apart(&missing);
        // Codes first, so that they are the ends of what a sketch begins with.
        for number in missing.into_iter().chain(numbers) {
            counted.add(number, 1);
        }
        assert!(counted.off() > 0, "it is a sketch");
        for edges in [Edges::Quantiles(4), Edges::EqualWidth(4)] {
            let bins = Bins {
                edges,
                labels: None,
                view: View::Label,
            };
            let placed = PlacedBins::new("pay", &bins, &counted, &codes);
            let placed = placed.unwrap().unwrap();
            assert_eq!(placed.rows(), 600_000);
            let Edges::At(edges) = &placed.bins().edges else {
                panic!("they are placed");
            };
            assert_eq!((edges[0], edges[4]), (0.5, 599_999.5));
            for (at, edge) in edges.iter().enumerate() {
                let rank = 150_000.0 * at as f64;
                assert!((edge - rank).abs() < 100.0, "{edges:?}");
            }
            let least_and_codes = [0.5, -9.0, 9_999_999.0];
            let array: ArrayRef = Arc::new(Float64Array::from(least_and_codes.to_vec()));
            assert_eq!(&placed.coarse(&array), &array);
        }
    }

    /// Without ends, every number falls into a bin, and keeps the bin that it is in.
    #[test]
    fn bins_between_cuts_hold_all_numbers() {
        let codes = ["-9".to_owned(), "none".to_owned()];
        let placed = PlacedBins::between("pay", &[10.0, 20.0], &codes).unwrap();
        assert_eq!(placed.cuts(), [10.0, 20.0]);
        let numbers = vec![-1e300, 10.0, 10.5, 20.0, 20.0_f64.next_up(), 1e300, -9.0];
        let array: ArrayRef = Arc::new(Float64Array::from(numbers));
        let over = 20.0_f64.next_up();
        let expected: ArrayRef = Arc::new(Float64Array::from(vec![
            10.0, 10.0, 20.0, 20.0, over, over, -9.0,
        ]));
        assert_eq!(&placed.coarse(&array), &expected);
        let one = PlacedBins::between("pay", &[], &[]).unwrap();
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0; 7]));
        assert_eq!(&one.coarse(&array), &zeros);
        assert!(PlacedBins::between("pay", &[2.0, 1.0], &[]).is_err());
    }
}
