//! How findings stand in one of the two audits, by the text of predicates.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::json::JsonNumber;
use crate::report::{Column, Report};
use crate::text::number;

/// How a finding stands in one of the two audits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Standing {
    /// Unfair.
    Unfair {
        /// Its rank.
        rank: u32,
        /// Its score.
        #[serde(serialize_with = "JsonNumber::write")]
        score: f64,
        /// The worse-off groups.
        against: Vec<String>,
        /// Whether it passes; none if it was not tested.
        passes: Option<bool>,
    },
    /// A ranked subgroup with score 0.
    Fair,
    /// A common subgroup for which no valid action was mined.
    WithoutActions,
    /// Not a common subgroup, or not told.
    Absent,
}

impl Standing {
    pub(super) fn is_unfair(&self) -> bool {
        matches!(self, Self::Unfair { .. })
    }

    pub(super) fn is_ranked(&self) -> bool {
        matches!(self, Self::Unfair { .. } | Self::Fair)
    }

    /// Whether it passes; none if it was not tested, or is no finding.
    pub fn passes(&self) -> Option<bool> {
        match self {
            Self::Unfair { passes, .. } => *passes,
            _ => None,
        }
    }

    /// The score; 0 where nothing is unfair.
    pub(super) fn score(&self) -> f64 {
        match self {
            Self::Unfair { score, .. } => *score,
            _ => 0.0,
        }
    }

    /// The worse-off groups.
    pub(super) fn against(&self) -> &[String] {
        match self {
            Self::Unfair { against, .. } => against,
            _ => &[],
        }
    }

    /// As a person reads it.
    pub fn words(&self) -> String {
        match self {
            Self::Unfair {
                rank,
                score,
                against,
                passes,
            } => {
                let against: Vec<&str> = against.iter().map(|name| name.trim()).collect();
                let passes = match passes {
                    None => "",
                    Some(true) => ", passes",
                    Some(false) => ", does not pass",
                };
                format!(
                    "{} against {} (rank {rank}{passes})",
                    number(*score),
                    against.join(" and ")
                )
            }
            Self::Fair => "fair".to_owned(),
            Self::WithoutActions => "no action mined".to_owned(),
            Self::Absent => "not a common subgroup".to_owned(),
        }
    }
}

/// One of the two audits, by the text of predicates.
pub(super) struct Audited<'a> {
    report: &'a Report<'a>,
    texts: Vec<String>,
    without: HashSet<String>,
}

impl<'a> Audited<'a> {
    pub(super) fn new(report: &'a Report<'a>) -> Self {
        let audit = &report.record.audit;
        let text = |predicate| audit.text(predicate);
        Self {
            report,
            texts: audit.subgroups.iter().map(|s| text(&s.predicate)).collect(),
            without: audit
                .without_actions
                .iter()
                .map(|s| text(&s.predicate))
                .collect(),
        }
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.report.record.audit.groups.iter();
        groups.map(|group| group.name.as_str())
    }

    /// How each ranked subgroup stands under one definition.
    pub(super) fn standings(&self, column: &Column) -> HashMap<&str, Standing> {
        let groups = &self.report.record.audit.groups;
        let ranked = column.ranking.ranked.iter();
        ranked
            .map(|ranked| {
                let standing = match ranked.rank {
                    None => Standing::Fair,
                    Some(rank) => Standing::Unfair {
                        rank,
                        score: ranked.assessment.score,
                        against: (ranked.assessment.against.iter())
                            .map(|&g| groups[g].name.clone())
                            .collect(),
                        passes: self.report.passes(column, ranked.subgroup),
                    },
                };
                (self.texts[ranked.subgroup].as_str(), standing)
            })
            .collect()
    }

    /// How a subgroup stands that is not ranked.
    pub(super) fn other(&self, predicate: &str) -> Standing {
        if self.without.contains(predicate) {
            Standing::WithoutActions
        } else {
            Standing::Absent
        }
    }
}
