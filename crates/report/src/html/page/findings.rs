//! The first findings of each definition.

use std::cmp::Reverse;

use facts_engine::distribution::{Count, Share, Viewpoint};

use super::super::terms::terms;
use super::curve::{Curve, Deciding};
use super::evidence::{Support, support};
use super::{MARKS, Rate, quoted, width};
use crate::csc::{Condition, Csc, CscAction, CscGroup};
use crate::evidence::words::{best_of_value, of_definition, shares};
use crate::report::{Column, Report, Showing};
use crate::text::{count, effectiveness, number, unfair_and_fair, value};

/// Findings shown under each definition.
const FINDINGS: usize = 3;
/// Actions written out for a group of a finding: the most effective ones; the others are counted.
const ACTIONS: usize = 3;

/// One definition: how unfair the subgroups are by it, and its first findings.
pub(super) struct DefinitionPart {
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) question: &'static str,
    /// What the words of the title stand for.
    pub(super) terms: String,
    pub(super) against: Vec<Slice>,
    pub(super) fair: Slice,
    pub(super) suppressed: Option<String>,
    /// How many subgroups are unfair, and what being fair means for the others.
    pub(super) tally: String,
    /// How many findings pass, where that was tested.
    pub(super) passing: Option<String>,
    /// What is said about all findings together.
    pub(super) evidence: Option<String>,
    pub(super) findings: Vec<Finding>,
    /// The first of those that pass, if none of the findings above does.
    pub(super) passing_findings: Vec<Finding>,
}

impl DefinitionPart {
    /// The findings in rows, each with what stands over it.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Option<&'static str>, &Vec<Finding>)> {
        let passing = Some("The first of those that pass");
        let rows = [(None, &self.findings), (passing, &self.passing_findings)];
        rows.into_iter()
            .filter(|(_, findings)| !findings.is_empty())
    }
}

/// A part of a stacked bar.
pub(super) struct Slice {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) count: String,
    pub(super) start: String,
    pub(super) width: String,
}

pub(super) struct Finding {
    pub(super) subgroup: usize,
    pub(super) rank: String,
    pub(super) score: String,
    pub(super) conditions: Vec<Condition>,
    pub(super) groups: Vec<FindingGroup>,
    pub(super) against: String,
    pub(super) definition: String,
    /// The distributions that the definition reads; none where a count is suppressed.
    pub(super) curve: Option<Curve>,
    pub(super) significant: Option<bool>,
    pub(super) support: Option<Support>,
}

impl Finding {
    /// Whether it was tested and does not pass.
    pub(super) fn is_grey(&self) -> bool {
        self.support.as_ref().is_some_and(|support| support.is_grey)
    }
}

/// One group of a finding.
pub(super) struct FindingGroup {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) covered: Rate,
    pub(super) compared: String,
    /// How far that may be off.
    pub(super) interval: Option<String>,
    pub(super) actions: Vec<FindingAction>,
    /// What is true where nothing is listed.
    pub(super) none: Option<String>,
    pub(super) more: usize,
    /// How sure the intervals are.
    pub(super) confidence: String,
}

/// One action of a group.
pub(super) struct FindingAction {
    pub(super) change: String,
    pub(super) effectiveness: String,
    pub(super) width: Option<String>,
    pub(super) cost: String,
    /// How far the effectiveness may be off.
    pub(super) interval: Option<String>,
}

pub(super) fn definition_part(
    report: &Report<'_>,
    number: usize,
    column: &Column,
) -> DefinitionPart {
    let audit = &report.record.audit;
    let ranking = &column.ranking;
    let unfair = ranking.unfair();
    let ranked = ranking.ranked.len();
    let scale = ranked.max(1) as f64;
    let mut start = 0.0;
    let mut slice = |mark: usize, name: &str, number: usize, share: f64| {
        let slice = Slice {
            mark,
            name: name.trim().to_owned(),
            count: count(number as u64),
            start: width(start / scale),
            width: width(share / scale),
        };
        start += share;
        slice
    };
    // A subgroup that is unfair against two groups alike counts for both, but has one place in the
    // bar: half of it for each.
    let against = (0..audit.groups.len())
        .map(|g| {
            let hit = unfair.iter().map(|ranked| &ranked.assessment.against);
            let hit = hit.filter(|against| against.contains(&g));
            let (number, share) = hit.fold((0, 0.0), |(number, share), against| {
                (number + 1, share + 1.0 / against.len() as f64)
            });
            slice(g % MARKS, &audit.groups[g].name, number, share)
        })
        .collect();
    let fair = ranked - unfair.len();
    let shown = report.findings(column, &showing());
    let passing = report.first_passing(column, &showing(), &shown);
    let of_column = |found: Vec<Csc>| {
        let found = found.into_iter();
        found.map(|csc| finding(report, csc, column)).collect()
    };
    DefinitionPart {
        number,
        id: ranking.definition.clone(),
        title: ranking.title.clone(),
        question: column.definition.kind().question,
        terms: terms(column.definition.as_ref()),
        against,
        fair: slice(0, "", fair, fair as f64),
        suppressed: (!ranking.suppressed.is_empty())
            .then(|| count(ranking.suppressed.len() as u64)),
        tally: unfair_and_fair(ranking),
        passing: (report.tally(column)).map(|tally| count(tally.family_wise as u64)),
        evidence: of_definition(report, column),
        passing_findings: of_column(passing),
        findings: of_column(shown),
    }
}

/// The most unfair subgroups, without those that only add conditions to one that is shown.
fn showing() -> Showing {
    let mut showing = Showing::top(FINDINGS);
    showing.filters.drop_contained = true;
    showing
}

fn finding(report: &Report<'_>, csc: Csc, column: &Column) -> Finding {
    Finding {
        subgroup: csc.subgroup,
        rank: csc.standing(),
        score: number(csc.score),
        groups: groups(&csc),
        against: (csc.against.iter().map(|name| quoted(name)))
            .collect::<Vec<_>>()
            .join(" and "),
        support: support(&csc),
        curve: curve(report, &csc, column),
        significant: csc.significant,
        conditions: csc.items,
        definition: csc.definition,
    }
}

/// The distributions of a finding's subgroup, with what the definition asks of them.
fn curve(report: &Report<'_>, csc: &Csc, column: &Column) -> Option<Curve> {
    let audit = &report.record.audit;
    let subgroup = &audit.subgroups[csc.subgroup];
    // A definition that reads neither distribution is shown beside what each member can do.
    let viewpoint = (column.definition.viewpoint()).unwrap_or(Viewpoint::Micro);
    let names: Vec<&str> = audit.groups.iter().map(|group| group.name.trim()).collect();
    let caption = format!("Effectiveness within a cost, {viewpoint}");
    let deciding = Deciding {
        cost: (column.definition.budget()).map(|budget| (budget, "the budget")),
        share: (column.definition.phi()).map(|phi| phi.get().to_f64()),
    };
    Curve::of_subgroup(caption, &names, subgroup, viewpoint, deciding)
}

fn groups(csc: &Csc) -> Vec<FindingGroup> {
    let of_group = |(g, group): (usize, &CscGroup)| FindingGroup {
        mark: g % MARKS,
        name: group.name.trim().to_owned(),
        covered: Rate::new(group.members, group.affected),
        compared: value(group.value),
        interval: group.interval.and_then(|intervals| {
            let bounds = best_of_value(group.value, &intervals, group.members)?;
            Some(format!("{} interval {bounds}", csc.confidence()))
        }),
        actions: (most_effective(&group.actions).into_iter())
            .map(|action| of_action(action, group.members))
            .collect(),
        none: group.none.clone(),
        more: group.actions.len().saturating_sub(ACTIONS),
        confidence: csc.confidence(),
    };
    csc.groups.iter().enumerate().map(of_group).collect()
}

/// The most effective actions, the cheaper ones of equals, cheapest first.
fn most_effective(actions: &[CscAction]) -> Vec<&CscAction> {
    // A suppressed count is above 0 and below every other known one.
    let helped = |place: usize| match actions[place].flips {
        Count::Known(0) => 0,
        Count::Suppressed => 1,
        Count::Known(flips) => flips + 1,
    };
    let mut places: Vec<usize> = (0..actions.len()).collect();
    places.sort_by_key(|&place| (Reverse(helped(place)), place));
    places.truncate(ACTIONS);
    places.sort_unstable();
    places.into_iter().map(|place| &actions[place]).collect()
}

fn of_action(action: &CscAction, members: u64) -> FindingAction {
    let flips = action.flips.known();
    let share = flips.map(|flips| Share::new(flips, members));
    FindingAction {
        change: action.change.clone(),
        effectiveness: effectiveness(action.flips, members),
        width: share.map(|share| width(share.ratio())),
        cost: number(action.cost),
        interval: action.interval.as_ref().map(shares),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_effective_actions_are_written_out_cheapest_first() {
        let action = |cost: f64, flips| CscAction {
            change: String::new(),
            cost,
            flips,
            interval: None,
        };
        let known = Count::Known;
        let actions = [
            action(1.0, known(0)),
            action(2.0, known(9)),
            action(3.0, Count::Suppressed),
            action(4.0, known(30)),
            action(5.0, known(9)),
            action(6.0, known(0)),
        ];
        let costs: Vec<f64> = most_effective(&actions).iter().map(|r| r.cost).collect();
        assert_eq!(costs, [2.0, 4.0, 5.0]);
        assert_eq!(most_effective(&actions[..1]).len(), 1);
    }
}
