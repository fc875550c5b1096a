//! The paper's two analysis tables.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::Ranking;

/// How a definition ranks, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankingRow {
    /// The definition's id.
    pub definition: String,
    /// How many subgroups share rank 1.
    pub rank_one: usize,
    /// How many unfair subgroups are against each group.
    pub against: Vec<usize>,
    /// The same among the first tenth (rounded down) of the unfair ones.
    pub against_in_top_tenth: Vec<usize>,
}

/// Ranking analysis: a row for each definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankingAnalysis {
    /// The rows, in the order of the rankings.
    pub rows: Vec<RankingRow>,
}

impl RankingAnalysis {
    pub(crate) fn new<R: Borrow<Ranking>>(rankings: &[R], groups: usize) -> Self {
        let rows = rankings.iter().map(Borrow::borrow).map(|ranking| {
            let unfair = ranking.unfair();
            let against = |ranked: &[super::Ranked]| {
                let count = |g| {
                    ranked
                        .iter()
                        .filter(|r| r.assessment.against.contains(&g))
                        .count()
                };
                (0..groups).map(count).collect()
            };
            RankingRow {
                definition: ranking.definition.clone(),
                rank_one: unfair
                    .iter()
                    .filter(|ranked| ranked.rank == Some(1))
                    .count(),
                against: against(unfair),
                against_in_top_tenth: against(&unfair[..unfair.len() / 10]),
            }
        });
        Self {
            rows: rows.collect(),
        }
    }
}

/// Aggregated rankings: where the first of one definition stand under the others.
///
/// Cell (i, j) is the mean rank, under definition j, of the subgroups with rank 1 under definition
/// i, divided by the worst rank plus 1; a fair subgroup counts as the worst rank plus 1. So values
/// lie in (0, 1]. The diagonal, and rows without a rank 1, are blank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregatedRankings {
    /// The definitions' ids, naming rows and columns.
    pub definitions: Vec<String>,
    /// The cells by row.
    pub cells: Vec<Vec<Option<f64>>>,
}

impl AggregatedRankings {
    pub(crate) fn new<R: Borrow<Ranking>>(rankings: &[R], subgroups: usize) -> Self {
        let rankings: Vec<&Ranking> = rankings.iter().map(Borrow::borrow).collect();
        let ranks: Vec<Vec<Option<u32>>> = rankings.iter().map(|r| r.ranks(subgroups)).collect();
        let cell = |i: usize, j: usize| {
            let first: Vec<usize> = (0..subgroups).filter(|&s| ranks[i][s] == Some(1)).collect();
            if i == j || first.is_empty() {
                return None;
            }
            let fair = u64::from(rankings[j].worst_rank) + 1;
            let sum: u64 = first
                .iter()
                .map(|&s| ranks[j][s].map_or(fair, u64::from))
                .sum();
            Some(sum as f64 / first.len() as f64 / fair as f64)
        };
        let columns = 0..rankings.len();
        Self {
            definitions: rankings.iter().map(|r| r.definition.clone()).collect(),
            cells: columns
                .clone()
                .map(|i| columns.clone().map(|j| cell(i, j)).collect())
                .collect(),
        }
    }
}
