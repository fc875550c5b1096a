//! How the definitions rank, beside each other.

use crate::report::Report;
use crate::text::{count, number};

pub(super) struct AnalysisRow {
    pub(super) number: usize,
    pub(super) title: String,
    pub(super) score: String,
    pub(super) rank_one: String,
    pub(super) against: Vec<String>,
    pub(super) top_tenth: Vec<String>,
}

pub(super) struct AggregatedRow {
    pub(super) number: usize,
    pub(super) title: String,
    pub(super) cells: Vec<Option<Cell>>,
}

/// One cell of the aggregated rankings: its text and how dark it is, from 0 to 9.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) shade: usize,
}

pub(super) fn analysis(report: &Report<'_>) -> Vec<AnalysisRow> {
    let analysis = report.ranking_analysis();
    let counts = |counts: &[usize]| counts.iter().map(|&n| count(n as u64)).collect();
    let rows = report.columns.iter().zip(&analysis.rows).enumerate();
    rows.map(|(index, (column, row))| AnalysisRow {
        number: index + 1,
        title: column.ranking.title.clone(),
        score: (column.ranking.unfair().first())
            .map_or("–".to_owned(), |first| number(first.assessment.score)),
        rank_one: count(row.rank_one as u64),
        against: counts(&row.against),
        top_tenth: counts(&row.against_in_top_tenth),
    })
    .collect()
}

pub(super) fn aggregated(report: &Report<'_>) -> Vec<AggregatedRow> {
    let table = report.aggregated_rankings();
    let cell = |value: &Option<f64>| {
        value.map(|value| Cell {
            text: format!("{value:.2}"),
            // 0 is the darkest: the same subgroups come first under both definitions.
            shade: ((value * 10.0) as usize).min(9),
        })
    };
    let rows = report.columns.iter().zip(&table.cells).enumerate();
    rows.map(|(index, (column, cells))| AggregatedRow {
        number: index + 1,
        title: column.ranking.title.clone(),
        cells: cells.iter().map(cell).collect(),
    })
    .collect()
}
