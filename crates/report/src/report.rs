//! A record under the definitions that are to be reported: what every form of report starts from.

use std::borrow::Cow;
use std::sync::OnceLock;

use facts_engine::Error;
use facts_engine::definitions::{self, Definition};
use facts_engine::ranking::{AggregatedRankings, Filters, Ranking, RankingAnalysis};

use crate::conditions::Conditions;
use crate::csc::Csc;
use crate::csv::Formulas;
use crate::finding::finding_id;
use crate::gaps::Gaps;
use crate::record::Record;

/// What is shown of an audit for which nobody named definitions: one question each about who gets out
/// at all, what it costs, and how much choice there is.
pub const HEADLINES: [&str; 3] = [
    "equal-effectiveness:micro",
    "equal-cost-of-effectiveness:macro:0.3",
    "equal-choice:0.7",
];

/// A record and its rankings.
#[derive(Debug)]
pub struct Report<'a> {
    /// The audit and where it comes from.
    pub record: &'a Record,
    /// The definitions reported, in order.
    pub columns: Vec<Column>,
    /// The gaps of all subgroups, once they were asked for.
    pub(crate) gaps: OnceLock<Gaps>,
}

/// One definition and how the subgroups rank by it.
#[derive(Debug)]
pub struct Column {
    /// The definition.
    pub definition: Box<dyn Definition>,
    /// The subgroups, most unfair first.
    pub ranking: Ranking,
}

/// Which findings are shown, and how.
#[derive(Clone, Debug, Default)]
pub struct Showing {
    /// How many of each definition.
    pub top: usize,
    /// What is left out.
    pub filters: Filters,
    /// Only subgroups whose predicate meets them.
    pub conditions: Option<Conditions>,
    /// Only findings that pass.
    pub passing: bool,
    /// Which findings come first.
    pub order: Order,
    /// What becomes of formulas in CSV.
    pub formulas: Formulas,
}

/// Which findings come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those with most people at a loss, when chance is given its due.
    #[default]
    People,
    /// Those with the greatest score, as the paper ranks.
    Score,
}

impl Order {
    /// What it is called.
    pub const NAMES: [&'static str; 2] = ["people", "score"];

    /// The order of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "people" => Some(Self::People),
            "score" => Some(Self::Score),
            _ => None,
        }
    }
}

impl Showing {
    /// The first `top` unfair findings of each definition.
    pub fn top(top: usize) -> Self {
        Self {
            top,
            filters: Filters {
                drop_fair: true,
                ..Filters::default()
            },
            ..Self::default()
        }
    }
}

impl<'a> Report<'a> {
    /// Ranks by the definitions that the record asks for.
    pub fn new(record: &'a Record) -> Result<Self, Error> {
        let definitions = record.definitions.iter().map(|id| definitions::parse(id));
        Ok(Self::by(record, definitions.collect::<Result<_, _>>()?))
    }

    /// Ranks by other definitions.
    pub fn by(record: &'a Record, definitions: Vec<Box<dyn Definition>>) -> Self {
        let rankings = record.audit.rank_all(&definitions);
        let columns = definitions.into_iter().zip(rankings);
        Self {
            record,
            columns: columns
                .map(|(definition, ranking)| Column {
                    definition,
                    ranking,
                })
                .collect(),
            gaps: OnceLock::new(),
        }
    }

    /// What is shown of one of the columns.
    pub fn findings(&self, column: &Column, showing: &Showing) -> Vec<Csc> {
        let audit = &self.record.audit;
        let definition = column.definition.as_ref();
        let mut ranking = Cow::Borrowed(&column.ranking);
        if showing.passing {
            ranking = Cow::Owned(self.passing(column));
        }
        if showing.order == Order::People {
            ranking = Cow::Owned(ranking.for_people(definition, &audit.subgroups));
        }
        let shown = audit.show(&ranking, definition, &showing.filters);
        shown
            .iter()
            .filter(|shown| {
                let predicate = &audit.subgroups[shown.ranked.subgroup].predicate;
                let conditions = showing.conditions.as_ref();
                conditions.is_none_or(|conditions| conditions.admit(predicate))
            })
            .take(showing.top)
            .map(|shown| {
                let csc = Csc::new(audit, self.evidence(), column, shown);
                csc.with_gap(self.gap(shown.ranked.subgroup))
            })
            .collect()
    }

    /// The first findings that pass, if none of those shown does: they are listed after them.
    pub fn first_passing(&self, column: &Column, showing: &Showing, shown: &[Csc]) -> Vec<Csc> {
        if shown.is_empty() || shown.iter().any(Csc::passes) {
            return Vec::new();
        }
        let passing = Showing {
            passing: true,
            ..showing.clone()
        };
        self.findings(column, &passing)
    }

    /// The budgets that definitions name, ascending.
    pub fn budgets(&self) -> Vec<f64> {
        let columns = self.columns.iter();
        let mut budgets: Vec<f64> = columns.filter_map(|c| c.definition.budget()).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        budgets
    }

    /// How each definition ranks.
    pub fn ranking_analysis(&self) -> RankingAnalysis {
        self.record.audit.ranking_analysis(&self.rankings())
    }

    /// Where the first of each definition stand under the others.
    pub fn aggregated_rankings(&self) -> AggregatedRankings {
        self.record.audit.aggregated_rankings(&self.rankings())
    }

    /// The id of a finding about the audit's groups.
    pub fn finding_id(&self, predicate: &str, definition: &str) -> String {
        let groups = self.record.audit.groups.iter();
        finding_id(
            predicate,
            definition,
            groups.map(|group| group.name.as_str()),
        )
    }

    fn rankings(&self) -> Vec<&Ranking> {
        self.columns.iter().map(|column| &column.ranking).collect()
    }
}
