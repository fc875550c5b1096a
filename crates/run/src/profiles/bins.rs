//! Bins in the place of numbers: where they are cut, and what they are called.

use facts_engine::population::{self, Bins, Edges, Levels, PlacedBins, View};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Bins that cover all numbers: each ends at a cut and holds it, the last has no end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BinNames {
    /// Where one bin ends and the next begins, ascending.
    pub cuts: Vec<f64>,
    /// The values that stand for them, one more than there are cuts.
    pub labels: Vec<String>,
}

impl BinNames {
    /// Bins between these cuts, which ascend.
    pub fn new(cuts: Vec<f64>) -> Self {
        let labels = match (cuts.first(), cuts.last()) {
            (Some(first), Some(last)) => {
                let between = cuts.windows(2).map(|w| format!("({}, {}]", w[0], w[1]));
                let (first, last) = (format!("up to {first}"), format!("over {last}"));
                [first].into_iter().chain(between).chain([last]).collect()
            }
            _ => vec!["any number".to_owned()],
        };
        Self { cuts, labels }
    }

    /// Bins that hold equally many people, as far as numbers allow; numbers ascend, each with how many
    /// people hold it.
    pub fn by_quantiles(column: &str, people: &[(f64, u64)], bins: usize) -> Result<Self, Failure> {
        Self::at(column, &Edges::Quantiles(bins), people)
    }

    /// Bins at these edges, without ends; numbers ascend, each with how many people hold it.
    pub(crate) fn at(column: &str, at: &Edges, people: &[(f64, u64)]) -> Result<Self, Failure> {
        let edges = population::edges(column, at, people)?;
        Ok(Self::new(edges[1..edges.len() - 1].to_vec()))
    }

    /// The bins of a feature, without ends; none if its levels are no bins.
    pub(super) fn of(levels: &Levels) -> Option<Self> {
        let bounds: Vec<(f64, f64)> = (levels.levels.iter())
            .filter_map(|level| level.bounds)
            .collect();
        let cuts = bounds.iter().skip(1).map(|&(low, _)| low).collect();
        (!bounds.is_empty()).then(|| Self::new(cuts))
    }

    /// The bins that were placed while the table was read.
    pub(super) fn placed(placed: &PlacedBins) -> Self {
        Self::new(placed.cuts().to_vec())
    }

    /// The same bins at numbers that are told to three digits: of many numbers, each held by few, none is told.
    pub(crate) fn rounded(self) -> Self {
        let mut cuts: Vec<f64> = self.cuts.into_iter().map(to_three_digits).collect();
        cuts.dedup();
        Self::new(cuts)
    }

    /// The same bins, as they are placed over a column before it is read. Codes for missing values stay.
    pub(crate) fn over(&self, column: &str, codes: &[String]) -> Result<PlacedBins, Failure> {
        Ok(PlacedBins::between(column, &self.cuts, codes)?)
    }

    /// The bins as the engine knows them.
    pub(super) fn bins(&self) -> Bins {
        let mut edges = vec![f64::NEG_INFINITY];
        edges.extend(&self.cuts);
        edges.push(f64::INFINITY);
        Bins {
            edges: Edges::At(edges),
            labels: Some(self.labels.clone()),
            view: View::Label,
        }
    }
}

/// A number to three digits. Written and read again, because arithmetic leaves more digits than three.
fn to_three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}
