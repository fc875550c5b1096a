//! Comparative subgroup counterfactuals, as data.

use facts_engine::definitions::{Definition, GroupValue};
use facts_engine::distribution::{Count, Subgroup, Viewpoint};
use facts_engine::evidence::{BootstrapIntervals, Evidence, Interval, clopper_pearson};
use facts_engine::ranking::Shown;
use facts_engine::{Audit, Phi};
use serde::Serialize;

use crate::evidence::{self, FindingEvidence, Judging};
use crate::finding::finding_id;
use crate::gaps::GapRow;
use crate::json::JsonNumber;
use crate::report::{Column, Report};
use crate::text::{effectiveness, number, percent};

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
    /// How its groups compare at any cost, and what is shown; none where a count is suppressed.
    pub gap: Option<GapRow>,
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
    /// What is true where it lists nothing.
    pub none: Option<String>,
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

/// Why nothing is listed for group `g`, and what comes closest.
fn none_listed(
    audit: &Audit,
    definition: &dyn Definition,
    subgroup: &Subgroup,
    g: usize,
) -> String {
    // The cheapest of those that work best.
    let helped = |action: usize| subgroup.flips(action, g).known();
    let mut best = None;
    for action in 0..subgroup.actions.len() {
        if helped(action).is_some_and(|here| here > best.and_then(helped).unwrap_or(0)) {
            best = Some(action);
        }
    }
    let Some(best) = best else {
        let suppressed = (0..subgroup.actions.len()).any(|action| helped(action).is_none());
        return if suppressed {
            "No action is listed; how often each works is suppressed.".to_owned()
        } else {
            "No valid action helps anybody here.".to_owned()
        };
    };
    let missed = match (
        definition.phi(),
        definition.viewpoint(),
        definition.budget(),
    ) {
        (Some(phi), Some(Viewpoint::Micro), _) => {
            let together = subgroup.ecd_at_any_cost(Viewpoint::Micro, g);
            let together =
                together.map_or_else(String::new, |share| format!(" {}", percent(share)));
            format!(
                "All actions together reach{together}, not {}.",
                share_of(phi)
            )
        }
        (Some(phi), _, _) => format!("No action reaches {}.", share_of(phi)),
        (_, _, Some(budget)) => format!("No action lies within cost {}.", number(budget)),
        _ => "No action is listed.".to_owned(),
    };
    format!(
        "{missed} The best: make {}, {} (cost {}).",
        subgroup.change(best, &audit.changes).text(&audit.features),
        effectiveness(subgroup.flips(best, g), subgroup.members[g]),
        number(subgroup.actions[best].cost)
    )
}

/// φ in percent.
fn share_of(phi: Phi) -> String {
    format!("{}%", number(phi.get().to_f64() * 100.0))
}

impl Csc {
    /// The same with how its groups compare at any cost.
    pub(crate) fn with_gap(self, gap: Option<&GapRow>) -> Self {
        Self {
            gap: gap.cloned(),
            ..self
        }
    }

    /// Puts together what is shown of one entry of a ranking, and what supports it.
    pub fn new(
        audit: &Audit,
        evidence: Option<&Evidence>,
        column: &Column,
        shown: &Shown<'_>,
    ) -> Self {
        let (ranking, definition) = (&column.ranking, column.definition.as_ref());
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
            none: actions
                .is_empty()
                .then(|| none_listed(audit, definition, subgroup, g)),
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
            gap: None,
        }
    }

    /// The same, judged by other tests than those of the audit, or at another level.
    pub fn judged(self, report: &Report<'_>, definition: &str, judging: &Judging<'_>) -> Self {
        let (audit, found) = (&report.record.audit, report.evidence());
        let known = found.is_some() || judging.tests.is_some();
        let place = self.subgroup;
        let evidence = known.then(|| evidence::of_judged(audit, found, definition, place, judging));
        Self { evidence, ..self }
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
