//! An audit at a glance: the verdict, the people, what goes with the gap, the definitions.

use facts_engine::Group;
use facts_engine::answer::GroupPeople;
use facts_engine::evidence::Gathering;
use facts_engine::population::{Direction, Kind, Step};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::{self, AnswerDocument, words};
use crate::evidence::words::several;
use crate::grid::Grid;
use crate::overview::facts;
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::number;

/// An audit at a glance.
#[derive(Serialize)]
pub struct Overview<'a> {
    facts: Vec<(&'static str, String)>,
    notes: Vec<&'a String>,
    groups: &'a [Group],
    yes_means: String,
    /// What was audited, in a sentence.
    about: String,
    answer: Option<AnswerDocument<'a>>,
    /// Who is refused and who has a way out, by group.
    people: Option<Grid>,
    /// How the least open group compares with the most open, in words.
    ratio: Option<String>,
    not_said: &'static str,
    cost_unit: String,
    /// By group: the costs of ways, and how many people have a way within each.
    ways: Vec<Option<Vec<(f64, u64)>>>,
    definitions: Vec<DefinitionRow>,
    features: Vec<FeatureRow<'a>>,
    subgroups: usize,
    without_actions: usize,
    /// The greatest cost of an action.
    greatest_cost: f64,
    alpha: f64,
    tested: bool,
    /// The command that gives it; none where no command can name the audit.
    command: Option<String>,
}

/// One definition of an audit.
#[derive(Serialize)]
pub struct DefinitionRow {
    id: String,
    title: String,
    kind: &'static str,
    question: &'static str,
    compares: &'static str,
    beware: &'static str,
    viewpoint: Option<String>,
    phi: Option<String>,
    budget: Option<f64>,
    unfair: usize,
    tested: bool,
}

/// A feature and its levels.
#[derive(Serialize)]
pub struct FeatureRow<'a> {
    name: &'a str,
    levels: Vec<&'a str>,
    ordered: bool,
    immutable: bool,
    /// The one way that it may go, if there is one.
    only: Option<Direction>,
    /// How far one change may go, if not any way, in words.
    max_step: Option<String>,
    /// Whether it is a number in bins.
    binned: bool,
    weight: f64,
}

/// An audit at a glance, and the command that gives it, if there is one.
pub fn overview<'a>(report: &'a Report<'a>, command: Option<String>) -> Overview<'a> {
    let (record, audit) = (report.record, &report.record.audit);
    let answered = report.answered();
    let compared = answered.as_ref().and_then(|answered| answered.compared());
    let ratio = answered.as_ref().zip(compared);
    let features = audit.features.iter().map(|feature| FeatureRow {
        name: &feature.name,
        levels: (feature.levels.iter())
            .map(|level| level.label.as_str())
            .collect(),
        ordered: feature.is_ordered(),
        immutable: feature.rules.immutable,
        only: feature.rules.direction,
        max_step: feature.rules.max_step.map(|step| match step {
            Step::Levels(levels) => several(levels as u64, "level"),
            Step::Units(units) => number(units),
        }),
        binned: matches!(feature.kind, Kind::Binned(_)),
        weight: feature.weight,
    });
    let costs = (audit.subgroups.iter()).filter_map(|subgroup| subgroup.cost_levels.last());
    Overview {
        facts: facts(report),
        notes: record.all_notes().collect(),
        groups: &audit.groups,
        yes_means: record.yes_means(),
        ratio: ratio.and_then(|(answered, compared)| words::ratio(answered, &compared)),
        ways: (record.answer.iter())
            .flat_map(|answer| answer.people.iter().map(ways))
            .collect(),
        about: answer::about(report),
        people: (answered.as_ref()).map(|answered| answer::people_beside_plot(answered)),
        answer: answered.as_ref().map(|answered| answered.document()),
        not_said: words::NOT_SAID,
        cost_unit: words::cost_unit(audit),
        definitions: (report.columns.iter())
            .map(|column| row(report, column))
            .collect(),
        features: features.collect(),
        subgroups: audit.subgroups.len(),
        without_actions: audit.without_actions.len(),
        greatest_cost: costs.copied().fold(0.0, f64::max),
        alpha: alpha(record),
        tested: record.is_tested(),
        command,
    }
}

/// How many people have a way within each cost.
fn ways(people: &GroupPeople) -> Option<Vec<(f64, u64)>> {
    let mut so_far = 0;
    let ways = people.ways.as_ref()?.iter();
    let ways = ways.map(|ways| {
        so_far += ways.people;
        (ways.cost, so_far)
    });
    Some(ways.collect())
}

fn row(report: &Report<'_>, column: &Column) -> DefinitionRow {
    let definition = column.definition.as_ref();
    let kind = definition.kind();
    DefinitionRow {
        id: column.ranking.definition.clone(),
        title: column.ranking.title.clone(),
        kind: kind.name,
        question: kind.question,
        compares: kind.compares,
        beware: kind.beware,
        viewpoint: (definition.viewpoint()).map(|viewpoint| viewpoint.to_string()),
        phi: definition.phi().map(|phi| phi.to_string()),
        budget: definition.budget(),
        unfair: column.ranking.unfair().len(),
        tested: report.tests(column).is_some(),
    }
}

/// The level α that an audit was tested at, or the usual one.
pub fn alpha(record: &Record) -> f64 {
    let found = record.evidence.as_ref();
    found.map_or(Gathering::default().alpha, |found| found.gathering.alpha)
}

/// The least of an audit, to choose one by.
pub fn title(name: &str, record: &Record) -> Value {
    json!({
        "name": name,
        "made": record.made,
        "data": record.data.name,
        "model": record.model.description,
        "protected": record.protected,
    })
}
