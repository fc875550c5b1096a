//! Comparative subgroup counterfactuals, as data.

use facts_engine::Audit;
use facts_engine::definitions::GroupValue;
use facts_engine::distribution::Count;
use facts_engine::evidence::{BootstrapIntervals, Evidence, Interval, clopper_pearson};
use facts_engine::ranking::{Ranking, Shown};
use serde::Serialize;

use crate::evidence::{self, FindingEvidence};
use crate::finding::finding_id;
use crate::json::JsonNumber;

/// One subgroup under one definition: who they are, what each group can do, and whom it favours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Csc {
    /// The finding's id: the same in every audit that speaks of it.
    pub finding: String,
    /// The subgroup, by its place in the audit.
    #[serde(skip)]
    pub subgroup: usize,
    /// The subgroup's rank; none if it is fair.
    pub rank: Option<u32>,
    /// The unfairness score.
    #[serde(serialize_with = "JsonNumber::write")]
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
    /// What supports it; none if no evidence was gathered.
    pub evidence: Option<FindingEvidence>,
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
    #[serde(serialize_with = "JsonNumber::write_value")]
    pub value: GroupValue,
    /// How far that may be off, if the finding was looked at closely.
    pub interval: Option<BootstrapIntervals>,
    /// What the definition lists for it, cheapest first.
    pub actions: Vec<CscAction>,
}

/// One action and how well it works for a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CscAction {
    /// What changes, as one reads it.
    pub change: String,
    /// What it costs.
    pub cost: f64,
    /// Members it flips.
    pub flips: Count,
    /// The exact interval of its effectiveness, after Clopper and Pearson; none if no evidence was
    /// gathered, or the count was suppressed.
    pub interval: Option<Interval>,
}

impl Csc {
    /// Puts together what is shown of one entry of a ranking, and what supports it.
    pub fn new(
        audit: &Audit,
        evidence: Option<&Evidence>,
        ranking: &Ranking,
        shown: &Shown<'_>,
    ) -> Self {
        let place = shown.ranked.subgroup;
        let subgroup = &audit.subgroups[place];
        let id = ranking.definition.as_str();
        let assessment = &shown.ranked.assessment;
        let listed = |g: usize, action: usize| {
            let flips = subgroup.flips(action, g);
            CscAction {
                change: subgroup
                    .change(action, &audit.changes)
                    .text(&audit.features),
                cost: subgroup.actions[action].cost,
                flips,
                interval: evidence.and_then(|found| {
                    let alpha = found.gathering.alpha;
                    Some(clopper_pearson(flips.known()?, subgroup.members[g], alpha))
                }),
            }
        };
        let group = |(g, actions): (usize, &Vec<usize>)| CscGroup {
            name: audit.groups[g].name.clone(),
            members: subgroup.members[g],
            affected: audit.groups[g].affected,
            value: assessment.values[g],
            interval: evidence.and_then(|found| evidence::of_value(found, id, place, g)),
            actions: actions.iter().map(|&action| listed(g, action)).collect(),
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
                id,
                audit.groups.iter().map(|group| group.name.as_str()),
            ),
            subgroup: place,
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
            evidence: evidence.map(|found| evidence::of_finding(audit, found, id, place)),
        }
    }

    /// How sure the intervals of its actions are, such as `95%`.
    pub fn confidence(&self) -> String {
        let alpha = self.evidence.as_ref().map_or(0.0, |found| found.alpha);
        evidence::words::confidence(alpha)
    }

    /// Its rank in words.
    pub(crate) fn standing(&self) -> String {
        self.rank
            .map_or("Fair".into(), |rank| format!("Rank {rank}"))
    }

    /// Whether the finding passes; none if it is fair or was not tested.
    fn tested(&self) -> Option<bool> {
        let evidence = self.evidence.as_ref().filter(|_| !self.against.is_empty());
        evidence?.passes()
    }

    /// Whether the finding was tested and passes.
    pub fn passes(&self) -> bool {
        self.tested() == Some(true)
    }

    /// Whether the finding was tested and does not pass: it is shown in grey.
    pub fn is_grey(&self) -> bool {
        self.tested() == Some(false)
    }
}
