//! What supports the findings about one subgroup, definition by definition, in full.

use facts_engine::evidence::Evidence;
use facts_engine::ranking::Ranked;

use super::{FindingEvidence, grids, of_finding, of_value, words};
use crate::report::{Column, Report};
use crate::text::{value, visible};

/// What supports the findings about a subgroup by one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionEvidence {
    /// Which definition.
    pub title: String,
    /// What there is, as text.
    pub text: String,
}

/// What supports the findings about a subgroup: a part for each definition under which it was looked
/// at closely.
pub fn of_subgroup(report: &Report<'_>, subgroup: usize) -> Vec<DefinitionEvidence> {
    let Some(found) = report.evidence() else {
        return Vec::new();
    };
    let parts = report.columns.iter().filter_map(|column| {
        let mut ranked = column.ranking.ranked.iter();
        let ranked = ranked.find(|ranked| ranked.subgroup == subgroup)?;
        let audit = &report.record.audit;
        let evidence = of_finding(audit, found, &column.ranking.definition, subgroup);
        let is_close = evidence.intervals.is_some() || evidence.stability.is_some();
        is_close.then(|| DefinitionEvidence {
            title: format!("Evidence by {}", column.ranking.title),
            text: in_full(report, found, column, ranked, &evidence),
        })
    });
    parts.collect()
}

fn in_full(
    report: &Report<'_>,
    found: &Evidence,
    column: &Column,
    ranked: &Ranked,
    evidence: &FindingEvidence,
) -> String {
    let assessment = &ranked.assessment;
    let mut text = String::new();
    let mut line = |line: String| text += &format!("  {}\n", visible(&line));
    words::about_finding(evidence, assessment.score, ranked.rank.is_none())
        .into_iter()
        .for_each(&mut line);
    let groups = report.record.audit.groups.iter().zip(&assessment.values);
    for (g, (group, &compared)) in groups.enumerate() {
        let definition = &column.ranking.definition;
        let members = report.record.audit.subgroups[ranked.subgroup].members[g];
        let intervals = of_value(found, definition, ranked.subgroup, g);
        let told = intervals.and_then(|of| words::of_value(compared, &of, members));
        if let Some(told) = told {
            line(format!(
                "{}: {}, {} interval {told}.",
                group.name.trim(),
                value(compared),
                words::confidence(evidence.alpha),
            ));
        }
    }
    if let Some(followed) = &evidence.stability {
        text += "\n";
        text += &grids::variants(followed).text(2);
    }
    text
}
