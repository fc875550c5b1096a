//! Comparative subgroup counterfactuals, as data.

use facts_engine::Audit;
use facts_engine::definitions::GroupValue;
use facts_engine::distribution::Count;
use facts_engine::ranking::{Ranking, Shown};
use serde::Serialize;

use crate::finding::finding_id;
use crate::json::Real;

/// One subgroup under one definition: who they are, what each group can do, and whom it favours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Csc {
    /// The finding's id: the same in every audit that speaks of it.
    pub finding: String,
    /// The subgroup's rank; none if it is fair.
    pub rank: Option<u32>,
    /// The unfairness score.
    #[serde(serialize_with = "Real::write")]
    pub score: f64,
    /// The worse-off groups.
    pub against: Vec<String>,
    /// The definition as one reads it.
    pub definition: String,
    /// The predicate as one reads it.
    pub predicate: String,
    /// The predicate item by item.
    pub items: Vec<Condition>,
    /// The groups under comparison.
    pub groups: Vec<CscGroup>,
    /// Whether a significance test that is part of the definition is passed, if there is one.
    pub significant: Option<bool>,
}

/// One condition of a predicate, or one assignment of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The feature.
    pub feature: String,
    /// `=`, `>=` or `<=`.
    pub operator: &'static str,
    /// The level.
    pub level: String,
}

/// One group of a subgroup.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CscGroup {
    /// The group's name.
    pub name: String,
    /// Its affected members in the subgroup.
    pub members: u64,
    /// All its affected.
    pub affected: u64,
    /// What the definition compares.
    #[serde(serialize_with = "Real::write_value")]
    pub value: GroupValue,
    /// What the definition lists for it, cheapest first.
    #[serde(rename = "actions")]
    pub recourses: Vec<Recourse>,
}

/// One action and how well it works for a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recourse {
    /// What changes, as one reads it.
    pub change: String,
    /// What it costs.
    pub cost: f64,
    /// Members it flips.
    pub flips: Count,
}

impl Csc {
    /// Puts together what is shown of one entry of a ranking.
    pub fn new(audit: &Audit, ranking: &Ranking, shown: &Shown<'_>) -> Self {
        let subgroup = &audit.subgroups[shown.ranked.subgroup];
        let assessment = &shown.ranked.assessment;
        let recourse = |g: usize, action: usize| Recourse {
            change: subgroup
                .change(action, &audit.changes)
                .text(&audit.features),
            cost: subgroup.actions[action].cost,
            flips: subgroup.flips(action, g),
        };
        let group = |(g, actions): (usize, &Vec<usize>)| CscGroup {
            name: audit.groups[g].name.clone(),
            members: subgroup.members[g],
            affected: audit.groups[g].affected,
            value: assessment.values[g],
            recourses: actions.iter().map(|&action| recourse(g, action)).collect(),
        };
        let predicate = audit.text(&subgroup.predicate);
        let condition = |item: &facts_engine::subgroups::Item| {
            let feature = &audit.features[item.feature as usize];
            Condition {
                feature: feature.name.clone(),
                operator: item.operator.symbol(),
                level: feature.label(item.level).to_owned(),
            }
        };
        Self {
            finding: finding_id(
                &predicate,
                &ranking.definition,
                audit.groups.iter().map(|group| group.name.as_str()),
            ),
            rank: shown.ranked.rank,
            score: assessment.score,
            against: assessment
                .against
                .iter()
                .map(|&g| audit.groups[g].name.clone())
                .collect(),
            definition: ranking.title.clone(),
            predicate,
            items: subgroup.predicate.items().iter().map(condition).collect(),
            groups: shown.actions.iter().enumerate().map(group).collect(),
            significant: assessment.significant,
        }
    }
}
