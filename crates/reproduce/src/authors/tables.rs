//! Ranks, and the paper's two analysis tables, as the authors' code makes them.

use super::lists::Lists;
use super::measures::{Assessed, Measure};

/// The subgroups of a run under some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    columns: Vec<Column>,
}

/// How the subgroups rank under one column, in the order of the lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What each subgroup has.
    pub assessed: Vec<Assessed>,
    /// Its rank from 1; `None` for a score of exactly 0.
    pub ranks: Vec<Option<u32>>,
    /// The greatest rank.
    pub worst_rank: u32,
}

/// A row of the ranking analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How many subgroups share rank 1.
    pub rank_one: usize,
    /// How many subgroups the column is against each group for, fair ones that it names included.
    pub against: [usize; 2],
    /// The same among the first tenth of the unfair ones.
    pub against_in_top_tenth: [usize; 2],
}

impl Column {
    fn new(lists: &Lists, measure: Measure) -> Self {
        let assessed: Vec<Assessed> = lists.subgroups.iter().map(|s| measure.assess(s)).collect();
        let mut scores: Vec<f64> = assessed.iter().map(|a| a.score).collect();
        scores.retain(|score| *score != 0.0);
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.dedup();
        let rank = |assessed: &Assessed| {
            let higher = scores.partition_point(|score| *score > assessed.score);
            (assessed.score != 0.0).then_some(higher as u32 + 1)
        };
        Self {
            ranks: assessed.iter().map(rank).collect(),
            assessed,
            worst_rank: scores.len() as u32,
        }
    }

    /// Which subgroups are unfair, in order of rank; inside a rank in the order of mining.
    fn unfair(&self) -> Vec<usize> {
        let mut unfair: Vec<usize> = (0..self.ranks.len())
            .filter(|&s| self.ranks[s].is_some())
            .collect();
        unfair.sort_by_key(|&s| self.ranks[s]);
        unfair
    }

    fn against(&self, subgroups: impl Iterator<Item = usize> + Clone) -> [usize; 2] {
        [0, 1].map(|g| {
            let is_against = |s: &usize| self.assessed[*s].against == Some(g);
            subgroups.clone().filter(is_against).count()
        })
    }
}

impl Tables {
    /// Ranks the subgroups by each column.
    pub fn new(lists: &Lists, measures: &[Measure]) -> Self {
        Self {
            columns: (measures.iter())
                .map(|measure| Column::new(lists, *measure))
                .collect(),
        }
    }

    /// The columns, in the order asked for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The ranking analysis: a row for each column.
    pub fn ranking_analysis(&self) -> Vec<Row> {
        let row = |column: &Column| {
            let unfair = column.unfair();
            Row {
                rank_one: column.ranks.iter().filter(|r| **r == Some(1)).count(),
                against: column.against(0..column.ranks.len()),
                against_in_top_tenth: column.against(unfair[..unfair.len() / 10].iter().copied()),
            }
        };
        self.columns.iter().map(row).collect()
    }

    /// The aggregated rankings, to three decimals: where the first of column i stand under column j.
    pub fn aggregated_rankings(&self) -> Vec<Vec<Option<f64>>> {
        let cell = |i: usize, j: usize| {
            let ranks = self.columns[i].ranks.iter().enumerate();
            let first: Vec<usize> = ranks
                .filter(|(_, r)| **r == Some(1))
                .map(|(s, _)| s)
                .collect();
            if i == j || first.is_empty() {
                return None;
            }
            let column = &self.columns[j];
            let fair = f64::from(column.worst_rank + 1);
            let rank = |s: &usize| column.ranks[*s].map_or(fair, f64::from);
            let mean = first.iter().map(rank).sum::<f64>() / first.len() as f64;
            Some(rounded(rounded(mean, 10.0) / fair, 1000.0))
        };
        let all = 0..self.columns.len();
        all.clone()
            .map(|i| all.clone().map(|j| cell(i, j)).collect())
            .collect()
    }
}

/// To a decimal, halves to the even side.
fn rounded(value: f64, places: f64) -> f64 {
    (value * places).round_ties_even() / places
}
