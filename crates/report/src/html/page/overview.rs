//! Who is affected, and what was found in a few sentences.

use std::cmp::Reverse;

use facts_engine::distribution::Count;
use facts_engine::{Group, SetAside};

use super::{MARKS, Rate, quoted};
use crate::evidence::headline;
use crate::record::Record;
use crate::report::Report;
use crate::text::{SUPPRESSED, count};

/// One headline number.
pub(super) struct Figure {
    pub(super) number: String,
    pub(super) what: &'static str,
}

pub(super) struct GroupRow {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) affected: Rate,
    pub(super) base: Option<Rate>,
}

pub(super) struct SetAsideRow {
    pub(super) name: String,
    pub(super) people: String,
    pub(super) affected: String,
    pub(super) why: String,
}

/// `7 people`, unless that was too few to be told.
fn told(number: Count, of: &str) -> String {
    match number {
        Count::Known(number) => format!("{} {of}", count(number)),
        Count::Suppressed => format!("a {SUPPRESSED} number of {of}"),
    }
}

pub(super) fn figures(report: &Report<'_>) -> Vec<Figure> {
    let audit = &report.record.audit;
    let figure = |number: usize, what| Figure {
        number: count(number as u64),
        what,
    };
    let actions = audit.subgroups.iter().map(|s| s.actions.len()).sum();
    vec![
        figure(audit.subgroups.len(), "subgroups ranked"),
        figure(actions, "pairs of subgroup and action"),
        figure(report.columns.len(), "definitions of fairness"),
        figure(
            audit.without_actions.len(),
            "subgroups without a mined action",
        ),
    ]
}

/// What was found, in a few sentences: of the findings that pass, if there were tests.
pub(super) fn headlines(report: &Report<'_>) -> Vec<String> {
    let supported = headline(report);
    if report.is_tested() {
        return supported;
    }
    let mut lines = untested_headlines(report);
    lines.extend(supported);
    lines
}

/// For each group, under how many definitions most unfair subgroups are against it.
fn untested_headlines(report: &Report<'_>) -> Vec<String> {
    let audit = &report.record.audit;
    let analysis = report.ranking_analysis();
    let mut most = vec![0; audit.groups.len()];
    let (mut even, mut none) = (0, 0);
    for row in &analysis.rows {
        let greatest = row.against.iter().copied().max().unwrap_or(0);
        let holders: Vec<usize> = (0..most.len())
            .filter(|&g| row.against[g] == greatest)
            .collect();
        match holders.as_slice() {
            _ if greatest == 0 => none += 1,
            [g] => most[*g] += 1,
            _ => even += 1,
        }
    }
    let all = report.columns.len();
    if none == all {
        return vec!["No subgroup is unfair under any definition.".to_owned()];
    }
    let mut order: Vec<usize> = (0..most.len()).filter(|&g| most[g] > 0).collect();
    order.sort_by_key(|&g| Reverse(most[g]));
    let under = |number: usize| match (number, all) {
        (_, 1) => "By the definition reported".to_owned(),
        _ if number == all => format!("Under all {all} definitions"),
        _ => format!("Under {number} of {all} definitions"),
    };
    let mut lines: Vec<String> = order
        .iter()
        .map(|&g| {
            let (under, name) = (under(most[g]), quoted(&audit.groups[g].name));
            format!("{under}, most unfair subgroups are unfair against {name}.")
        })
        .collect();
    if even > 0 {
        lines.push(format!("{}, no group stands out.", under(even)));
    }
    if none > 0 {
        lines.push(format!("{}, no subgroup is unfair.", under(none)));
    }
    lines
}

pub(super) fn group_rows(record: &Record) -> Vec<GroupRow> {
    let row = |(g, group): (usize, &Group)| {
        let rates = record.base_rates.as_ref().map(|rates| &rates.groups);
        let base = rates.and_then(|groups| groups.iter().find(|base| base.name == group.name));
        GroupRow {
            mark: g % MARKS,
            name: group.name.trim().to_owned(),
            affected: Rate::new(group.affected, group.people),
            base: base.map(|base| Rate::new(base.favourable, base.people)),
        }
    };
    record.audit.groups.iter().enumerate().map(row).collect()
}

pub(super) fn set_aside_row(group: &SetAside) -> SetAsideRow {
    SetAsideRow {
        name: group.name.trim().to_owned(),
        people: told(group.people, "people"),
        affected: told(group.affected, "affected"),
        why: group.why.clone(),
    }
}
