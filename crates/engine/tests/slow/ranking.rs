//! Ranks, the paper's columns, and the two tables made from ranks.

use super::SlowAudit;
use super::cost::SLACK;
use super::decimal::Decimal;
use super::definitions::{Definition, Verdict, verdict};
use super::ecd::Viewpoint::{Macro, Micro};
use super::population::quantile;
use std::cmp::Reverse;

/// All subgroups under one definition: unfair ones by rank, then the fair ones; inside a tie more
/// members first, then the predicate's text.
#[derive(Debug, Clone)]
pub struct Ranking {
    pub definition: Definition,
    pub rows: Vec<Ranked>,
    /// The greatest rank, 0 when all are fair.
    pub worst_rank: usize,
}

/// One subgroup in a ranking.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// Index into `SlowAudit::subgroups`.
    pub subgroup: usize,
    pub verdict: Verdict,
    /// From 1; `None` is "Fair".
    pub rank: Option<usize>,
}

/// How many subgroups share rank 1, and against whom the first 10 % of the unfair ones are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingAnalysis {
    pub first_ranked: usize,
    /// 10 % of the unfair ones, rounded down.
    pub looked_at: usize,
    /// For each compared group, how many of those are biased against it.
    pub against: Vec<(String, usize)>,
}

impl SlowAudit {
    /// Descending score, dense ranks: a gap of at least 1e-9 starts a new rank.
    pub fn ranking(&self, definition: &Definition) -> Ranking {
        let mut rows: Vec<Ranked> = Vec::new();
        for (i, subgroup) in self.subgroups.iter().enumerate() {
            rows.push(Ranked {
                subgroup: i,
                verdict: verdict(self, subgroup, definition),
                rank: None,
            });
        }
        rows.sort_by(|a, b| b.verdict.score.total_cmp(&a.verdict.score));

        let mut worst_rank = 0;
        let mut last = None;
        for row in &mut rows {
            let score = row.verdict.score;
            if score == 0.0 {
                continue;
            }
            let tied = last.is_some_and(|last: f64| last == score || last - score < SLACK);
            if !tied {
                worst_rank += 1;
            }
            row.rank = Some(worst_rank);
            last = Some(score);
        }
        rows.sort_by_key(|row| {
            let subgroup = &self.subgroups[row.subgroup];
            let rank = row.rank.unwrap_or(usize::MAX);
            (rank, Reverse(subgroup.size()), subgroup.text.clone())
        });
        Ranking {
            definition: *definition,
            rows,
            worst_rank,
        }
    }

    /// The 30th, 60th and 90th percentile of the finite micro `ecd⁻¹(0.5)` over all subgroups with
    /// actions and all groups, equal ones merged; `None` when no value is finite.
    pub fn automatic_budgets(&self) -> Option<Vec<f64>> {
        let mut values: Vec<f64> = Vec::new();
        for subgroup in &self.subgroups {
            for group in 0..self.groups.len() {
                let cost = subgroup.inverse(Micro, group, Decimal::of("0.5"));
                if cost.is_finite() {
                    values.push(cost);
                }
            }
        }
        if values.is_empty() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let mut budgets: Vec<f64> = Vec::new();
        for percent in [30, 60, 90] {
            let budget = quantile(&values, percent, 100);
            if budgets.last().is_none_or(|last| budget - last >= SLACK) {
                budgets.push(budget);
            }
        }
        Some(budgets)
    }

    /// The paper's columns, in the paper's order, with the automatic budgets: twelve, or fewer
    /// when budgets were merged.
    pub fn twelve_columns(&self) -> Option<Vec<Definition>> {
        let budgets = self.automatic_budgets()?;
        let (low, high) = (Decimal::of("0.3"), Decimal::of("0.7"));
        let cost = |view, phi| Definition::CostOfEffectiveness { view, phi };
        let mut columns = vec![
            cost(Macro, low),
            cost(Macro, high),
            Definition::Choice { phi: low },
            Definition::Choice { phi: high },
            Definition::Effectiveness(Micro),
        ];
        columns.extend(budgets.iter().map(|budget| Definition::WithinBudget {
            view: Micro,
            budget: *budget,
        }));
        columns.extend([
            cost(Micro, low),
            cost(Micro, high),
            Definition::MeanRecourse { c_infinity: None },
            Definition::TradeOff {
                view: Micro,
                alpha: 0.05,
            },
        ]);
        Some(columns)
    }

    pub fn ranking_analysis(&self, ranking: &Ranking) -> RankingAnalysis {
        let unfair: Vec<&Ranked> = ranking
            .rows
            .iter()
            .filter(|row| row.rank.is_some())
            .collect();
        let looked_at = unfair.len() / 10;
        let against = |name: &String| {
            let first = unfair[..looked_at].iter();
            first
                .filter(|row| row.verdict.against.contains(name))
                .count()
        };
        RankingAnalysis {
            first_ranked: unfair.iter().filter(|row| row.rank == Some(1)).count(),
            looked_at,
            against: self
                .groups
                .iter()
                .map(|group| (group.name.clone(), against(&group.name)))
                .collect(),
        }
    }

    /// Row i, column j: the mean rank under j of the subgroups that are first under i (a fair one
    /// counts as the worst rank + 1), divided by the worst rank + 1. Blank on the diagonal and in
    /// rows without a rank 1.
    pub fn aggregated_rankings(&self, rankings: &[Ranking]) -> Vec<Vec<Option<f64>>> {
        let mut table = Vec::new();
        for (i, row) in rankings.iter().enumerate() {
            let first: Vec<usize> = row
                .rows
                .iter()
                .filter(|ranked| ranked.rank == Some(1))
                .map(|ranked| ranked.subgroup)
                .collect();
            let mut cells = Vec::new();
            for (j, column) in rankings.iter().enumerate() {
                if i == j || first.is_empty() {
                    cells.push(None);
                    continue;
                }
                let mut sum = 0;
                for ranked in &column.rows {
                    if first.contains(&ranked.subgroup) {
                        sum += ranked.rank.unwrap_or(column.worst_rank + 1);
                    }
                }
                let mean = sum as f64 / first.len() as f64;
                cells.push(Some(mean / (column.worst_rank + 1) as f64));
            }
            table.push(cells);
        }
        table
    }

    /// One subgroup under several definitions: value a group, score, rank, against.
    pub fn one_subgroup(&self, subgroup: usize, rankings: &[Ranking]) -> Vec<Ranked> {
        rankings
            .iter()
            .flat_map(|ranking| &ranking.rows)
            .filter(|ranked| ranked.subgroup == subgroup)
            .cloned()
            .collect()
    }
}
