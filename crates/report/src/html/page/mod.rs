//! What the page says, gathered from a report: plain data for the template, all texts unescaped. One
//! file for each part of the page.

mod answer;
mod curve;
mod definitions;
mod evidence;
mod findings;
mod method;
mod overview;
mod rankings;

use askama::Template;
use facts_engine::distribution::Share;

use self::answer::AnswerPart;
pub use self::curve::{plot, plot_marks, plot_style};
use self::definitions::KindPart;
use self::evidence::HoldOutPart;
use self::findings::DefinitionPart;
use self::method::{FactTable, FeatureRow};
use self::overview::{Figure, GroupRow, SetAsideRow};
use self::rankings::{AggregatedRow, AnalysisRow};
use crate::report::Report;
use crate::text::{count, percent};

/// Subgroups without actions that are written out.
const WITHOUT_ACTIONS: usize = 20;
/// Group colours and marks that the style sheet knows.
const MARKS: usize = 6;

/// The page with what it carries.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Document<'a> {
    pub(super) policy: &'a str,
    pub(super) style: &'a str,
    pub(super) explorer_style: &'a str,
    pub(super) script: &'a str,
    pub(super) payload: &'a str,
    pub(super) page: &'a Page,
}

pub(super) struct Page {
    protected: String,
    made: String,
    day: String,
    tool: String,
    data: String,
    model: String,
    /// None in audits that were saved before there was one.
    answer: Option<AnswerPart>,
    /// How many are ranked.
    subgroups: String,
    figures: Vec<Figure>,
    affected: String,
    people: String,
    headlines: Vec<String>,
    groups: Vec<GroupRow>,
    base_label: Option<String>,
    set_aside: Vec<SetAsideRow>,
    definitions: Vec<DefinitionPart>,
    analysis: Vec<AnalysisRow>,
    aggregated: Vec<AggregatedRow>,
    kinds: Vec<KindPart>,
    facts: Vec<FactTable>,
    features: Vec<FeatureRow>,
    notes: Vec<String>,
    without_actions: Vec<WithoutRow>,
    without_actions_more: Option<String>,
    suppressed: bool,
    /// Whether any definition was tested.
    tested: bool,
    hold_out: Option<HoldOutPart>,
}

/// A share as text, in its parts and as the width of a bar.
struct Rate {
    part: String,
    whole: String,
    percent: String,
    width: String,
}

impl Rate {
    fn new(part: u64, whole: u64) -> Self {
        let share = Share::new(part, whole);
        Self {
            part: count(part),
            whole: count(whole),
            percent: percent(share),
            width: width(share.ratio()),
        }
    }
}

struct WithoutRow {
    predicate: String,
    members: Vec<String>,
}

impl Page {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let record = report.record;
        let audit = &record.audit;
        let (people, affected) = audit
            .groups
            .iter()
            .fold((0, 0), |(people, affected), group| {
                (people + group.people, affected + group.affected)
            });
        let without = audit.without_actions.len();
        Self {
            protected: list(&record.protected, "and"),
            made: record.made.clone(),
            day: record.made.split('T').next().unwrap_or_default().to_owned(),
            tool: record.tool.clone(),
            data: record.data.name.clone(),
            model: record.model.description.clone(),
            answer: answer::answer(report),
            subgroups: count(audit.subgroups.len() as u64),
            figures: overview::figures(report),
            affected: count(affected),
            people: count(people),
            headlines: overview::headlines(report),
            groups: overview::group_rows(record),
            base_label: record
                .base_rates
                .as_ref()
                .map(|rates| format!("{} = {}", rates.label, rates.favourable)),
            set_aside: audit
                .set_aside
                .iter()
                .map(overview::set_aside_row)
                .collect(),
            definitions: (report.columns.iter().enumerate())
                .map(|(index, column)| findings::definition_part(report, index + 1, column))
                .collect(),
            analysis: rankings::analysis(report),
            aggregated: rankings::aggregated(report),
            kinds: definitions::kinds(report),
            facts: method::fact_tables(record),
            features: audit.features.iter().map(method::feature_row).collect(),
            notes: record.all_notes().cloned().collect(),
            without_actions: (audit.without_actions.iter().take(WITHOUT_ACTIONS))
                .map(|subgroup| WithoutRow {
                    predicate: audit.text(&subgroup.predicate),
                    members: subgroup.members.iter().map(|&n| count(n)).collect(),
                })
                .collect(),
            without_actions_more: (without > WITHOUT_ACTIONS)
                .then(|| count((without - WITHOUT_ACTIONS) as u64)),
            suppressed: audit.suppression.is_some(),
            tested: report.is_tested(),
            hold_out: evidence::hold_out(report),
        }
    }

    /// Whether there is a story to tell.
    fn has_stories(&self) -> bool {
        let stories = self.answer.as_ref().map(|answer| &answer.stories);
        stories.is_some_and(|stories| !stories.is_empty())
    }

    /// Whether anything is unfair under any definition.
    fn is_unfair(&self) -> bool {
        self.definitions.iter().any(|d| !d.findings.is_empty())
    }
}

/// The width of a bar.
fn width(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// `a, b and c`.
fn list(names: &[String], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_sentences() {
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert_eq!(list(&names(&["race"]), "and"), "race");
        assert_eq!(list(&names(&["race", "sex"]), "and"), "race and sex");
        assert_eq!(list(&names(&["a", "b", "c"]), "or"), "a, b or c");
    }
}
