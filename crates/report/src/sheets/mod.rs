//! Everything as tables: all subgroups by all definitions, all pairs of a subgroup and an action, the
//! paper's tables. What [`csv`](crate::csv) and [`parquet`](crate::parquet) write, and what becomes a
//! data frame.

mod answer;
mod evidence;
mod impact;

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use facts_engine::distribution::{Count, Subgroup, Viewpoint};
use facts_engine::evidence::Tested;

pub use self::answer::{drivers, gaps, people, stories};
pub use self::evidence::{hold_out, intervals, pairs, stability, tests};
pub use self::impact::impact;
use crate::finding::finding_id;
use crate::gaps::GapRow;
use crate::report::Report;

/// A table in columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The columns with their names.
    pub columns: Vec<(String, Cells)>,
}

/// The cells of a column. Nothing stands where a count was suppressed.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Words.
    Text(Vec<String>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Numbers; may be infinite.
    Number(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
}

impl Cells {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Count(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
            Self::Flag(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sheet {
    fn new() -> Self {
        Self {
            columns: Vec::new(),
        }
    }

    fn text(&mut self, name: impl Into<String>, cells: impl Iterator<Item = String>) {
        let cells = Cells::Text(cells.collect());
        self.columns.push((name.into(), cells));
    }

    fn count(&mut self, name: impl Into<String>, cells: impl Iterator<Item = Option<u64>>) {
        let cells = Cells::Count(cells.collect());
        self.columns.push((name.into(), cells));
    }

    fn number(&mut self, name: impl Into<String>, cells: impl Iterator<Item = Option<f64>>) {
        let cells = Cells::Number(cells.collect());
        self.columns.push((name.into(), cells));
    }

    fn flag(&mut self, name: impl Into<String>, cells: impl Iterator<Item = Option<bool>>) {
        let cells = Cells::Flag(cells.collect());
        self.columns.push((name.into(), cells));
    }

    /// The sheet as an Arrow record batch.
    pub fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, cells) in &self.columns {
            let array: ArrayRef = match cells {
                Cells::Text(cells) => Arc::new(StringArray::from_iter_values(cells)),
                Cells::Count(cells) => Arc::new(UInt64Array::from(cells.clone())),
                Cells::Number(cells) => Arc::new(Float64Array::from(cells.clone())),
                Cells::Flag(cells) => Arc::new(BooleanArray::from(cells.clone())),
            };
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }
}

/// All subgroups by all definitions: a row for each, in order of definition and rank. Subgroups that
/// cannot be ranked because a count was suppressed come last, without a score.
pub fn subgroups(report: &Report<'_>) -> Sheet {
    let audit = &report.record.audit;
    let names: Vec<&str> = audit
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    let texts: Vec<String> = audit
        .subgroups
        .iter()
        .map(|subgroup| audit.text(&subgroup.predicate))
        .collect();
    let mut rows = Vec::new();
    for column in &report.columns {
        let ranked = column.ranking.ranked.iter();
        rows.extend(ranked.map(|ranked| (column, ranked.subgroup, Some(ranked))));
        let suppressed = column.ranking.suppressed.iter();
        rows.extend(suppressed.map(|&subgroup| (column, subgroup, None)));
    }
    let id = |definition: &str, s: usize| finding_id(&texts[s], definition, names.iter().copied());
    let mut sheet = Sheet::new();
    sheet.text(
        "finding",
        rows.iter().map(|(c, s, _)| id(&c.ranking.definition, *s)),
    );
    sheet.text(
        "definition",
        rows.iter().map(|(c, ..)| c.ranking.definition.clone()),
    );
    sheet.text("subgroup", rows.iter().map(|&(_, s, _)| texts[s].clone()));
    sheet.count(
        "rank",
        rows.iter()
            .map(|(.., r)| r.and_then(|r| r.rank).map(u64::from)),
    );
    sheet.number(
        "score",
        rows.iter().map(|(.., r)| r.map(|r| r.assessment.score)),
    );
    sheet.text(
        "against",
        rows.iter().map(|(.., ranked)| {
            let against = ranked.map_or(&[][..], |ranked| &ranked.assessment.against);
            let against: Vec<&str> = against.iter().map(|&g| names[g]).collect();
            against.join("; ")
        }),
    );
    for (g, name) in names.iter().enumerate() {
        let of = |s: usize| -> &Subgroup { &audit.subgroups[s] };
        sheet.count(
            format!("members {name}"),
            rows.iter().map(|&(_, s, _)| Some(of(s).members[g])),
        );
        sheet.number(
            format!("coverage {name}"),
            rows.iter().map(|&(_, s, _)| Some(audit.coverage(of(s), g))),
        );
        sheet.number(
            format!("value {name}"),
            rows.iter()
                .map(|(.., ranked)| ranked.map(|r| r.assessment.values[g].number())),
        );
    }
    evidence::add_tests(report, &rows, &mut sheet);
    let gaps: Vec<Option<&GapRow>> = rows.iter().map(|&(_, s, _)| report.gap(s)).collect();
    answer::add_gaps(&gaps, &mut sheet);
    sheet
}

/// All pairs of a subgroup and a valid action: larger subgroups and cheaper actions first.
pub fn actions(report: &Report<'_>) -> Sheet {
    let audit = &report.record.audit;
    let changes: Vec<String> = audit
        .changes
        .iter()
        .map(|change| change.text(&audit.features))
        .collect();
    let pairs: Vec<(&Subgroup, usize)> = audit
        .subgroups
        .iter()
        .flat_map(|subgroup| (0..subgroup.actions.len()).map(move |action| (subgroup, action)))
        .collect();
    let mut sheet = Sheet::new();
    sheet.text(
        "subgroup",
        pairs.iter().map(|(s, _)| audit.text(&s.predicate)),
    );
    sheet.text(
        "change",
        pairs
            .iter()
            .map(|&(s, a)| changes[s.actions[a].change as usize].clone()),
    );
    sheet.number("cost", pairs.iter().map(|&(s, a)| Some(s.actions[a].cost)));
    for (g, group) in audit.groups.iter().enumerate() {
        let name = &group.name;
        sheet.count(
            format!("members {name}"),
            pairs.iter().map(|(s, _)| Some(s.members[g])),
        );
        sheet.count(
            format!("flips {name}"),
            pairs.iter().map(|&(s, a)| Count::known(s.flips(a, g))),
        );
        sheet.number(
            format!("effectiveness {name}"),
            pairs
                .iter()
                .map(|&(s, a)| s.effectiveness(a, g).map(|share| share.ratio())),
        );
    }
    sheet
}

/// What a table of subgroups by definitions shows in each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The unfairness score.
    Score,
    /// The rank; nothing where the subgroup is fair.
    Rank,
    /// The groups that are worse off.
    Against,
    /// The p-value alone.
    P,
    /// The p-value among all subgroups of the definition.
    FamilyWise,
    /// The p-value after correction of the false discovery rate.
    FalseDiscovery,
}

/// A row for each subgroup, larger ones first, and a column for each definition.
pub fn by_definition(report: &Report<'_>, shows: Shows) -> Sheet {
    let audit = &report.record.audit;
    let mut sheet = Sheet::new();
    let subgroups = audit.subgroups.iter();
    sheet.text("subgroup", subgroups.map(|s| audit.text(&s.predicate)));
    for column in &report.columns {
        let ranking = &column.ranking;
        let mut ranked = vec![None; audit.subgroups.len()];
        for one in &ranking.ranked {
            ranked[one.subgroup] = Some(one);
        }
        let tested = |of: fn(&Tested) -> f64| {
            let each = ranked.iter().enumerate();
            each.map(move |(s, ranked)| ranked.and(report.tested(column, s)).map(of))
        };
        let (name, ranked) = (ranking.definition.clone(), ranked.iter().copied());
        match shows {
            Shows::P => sheet.number(name, tested(|one| one.p)),
            Shows::FamilyWise => sheet.number(name, tested(|one| one.family_wise)),
            Shows::FalseDiscovery => sheet.number(name, tested(|one| one.false_discovery)),
            Shows::Score => sheet.number(name, ranked.map(|r| Some(r?.assessment.score))),
            Shows::Rank => sheet.count(name, ranked.map(|r| r?.rank.map(u64::from))),
            Shows::Against => sheet.text(
                name,
                ranked.map(|ranked| {
                    let against = ranked.map_or(&[][..], |ranked| &ranked.assessment.against);
                    let names = against.iter().map(|&g| audit.groups[g].name.as_str());
                    names.collect::<Vec<_>>().join("; ")
                }),
            ),
        }
    }
    sheet
}

/// The effectiveness–cost distributions of one subgroup: a row for each cost level, a column for each
/// viewpoint and group.
pub fn distributions(report: &Report<'_>, subgroup: usize) -> Sheet {
    let audit = &report.record.audit;
    let subgroup = &audit.subgroups[subgroup];
    let mut sheet = Sheet::new();
    sheet.number("cost", subgroup.cost_levels.iter().copied().map(Some));
    for viewpoint in [Viewpoint::Micro, Viewpoint::Macro] {
        for (g, group) in audit.groups.iter().enumerate() {
            let levels = 1..=subgroup.cost_levels.len();
            let ecd = levels.map(|level| Some(subgroup.ecd(viewpoint, g, level)?.ratio()));
            sheet.number(format!("{viewpoint} {}", group.name), ecd);
        }
    }
    sheet
}

/// Ranking analysis: how many share rank 1, and against whom the findings are.
pub fn ranking_analysis(report: &Report<'_>) -> Sheet {
    let rows = report.ranking_analysis().rows;
    let mut sheet = Sheet::new();
    sheet.text("definition", rows.iter().map(|row| row.definition.clone()));
    let count = |n: usize| Some(n as u64);
    sheet.count("rank one", rows.iter().map(|row| count(row.rank_one)));
    for (g, group) in report.record.audit.groups.iter().enumerate() {
        sheet.count(
            format!("against {}", group.name),
            rows.iter().map(|row| count(row.against[g])),
        );
        sheet.count(
            format!("against {} in the top tenth", group.name),
            rows.iter().map(|row| count(row.against_in_top_tenth[g])),
        );
    }
    sheet
}

/// Aggregated rankings: where the first of each definition stand under the others.
pub fn aggregated_rankings(report: &Report<'_>) -> Sheet {
    let table = report.aggregated_rankings();
    let mut sheet = Sheet::new();
    sheet.text("definition", table.definitions.iter().cloned());
    for (j, definition) in table.definitions.iter().enumerate() {
        sheet.number(definition, table.cells.iter().map(|row| row[j]));
    }
    sheet
}
