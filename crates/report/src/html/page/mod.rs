//! What the page says, gathered from a report: plain data for the template, all texts unescaped.

mod evidence;

use std::cmp::Reverse;

use facts_engine::Group;
use facts_engine::actions::Validity;
use facts_engine::definitions::Definition;
use facts_engine::distribution::{Count, Share};
use facts_engine::flips::Favourable;
use facts_engine::population::{Direction, Distance, Kind, Levels, Step};
use facts_engine::ranking::{Filters, Ranking};

pub(super) use self::evidence::{HoldOutPart, Support};
use super::payload::viewpoint;
use super::words::{self, Words};
use crate::csc::{Condition, Csc, CscGroup, Recourse};
use crate::evidence::words::{best_of_value, of_definition as words_of, shares};
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::{SUPPRESSED, count, effectiveness, number, percent, value};

/// Findings shown under each definition.
const FINDINGS: usize = 3;
/// Actions written out for a group of a finding: the most effective ones; the others are counted.
const ACTIONS: usize = 3;
/// Subgroups without actions that are written out.
const WITHOUT_ACTIONS: usize = 20;
/// Group colours and marks that the style sheet knows.
const MARKS: usize = 6;

pub(super) struct Page {
    pub(super) protected: String,
    pub(super) made: String,
    pub(super) day: String,
    pub(super) tool: String,
    pub(super) data: String,
    pub(super) model: String,
    pub(super) figures: Vec<Figure>,
    pub(super) affected: String,
    pub(super) people: String,
    pub(super) headlines: Vec<String>,
    pub(super) groups: Vec<GroupRow>,
    pub(super) base_label: Option<String>,
    pub(super) set_aside: Vec<SetAsideRow>,
    pub(super) definitions: Vec<DefinitionPart>,
    pub(super) analysis: Vec<AnalysisRow>,
    pub(super) aggregated: Vec<AggregatedRow>,
    pub(super) kinds: Vec<KindPart>,
    pub(super) facts: Vec<FactTable>,
    pub(super) features: Vec<FeatureRow>,
    pub(super) notes: Vec<String>,
    pub(super) without_actions: Vec<WithoutRow>,
    pub(super) without_actions_more: Option<String>,
    pub(super) suppressed: bool,
    /// Whether any definition was tested.
    pub(super) tested: bool,
    pub(super) hold_out: Option<HoldOutPart>,
}

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

/// A share as text, in its parts and as the width of a bar.
pub(super) struct Rate {
    pub(super) part: String,
    pub(super) whole: String,
    pub(super) percent: String,
    pub(super) width: String,
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

pub(super) struct SetAsideRow {
    pub(super) name: String,
    pub(super) people: String,
    pub(super) affected: String,
    pub(super) why: String,
}

/// One definition: how unfair the subgroups are by it, and its first findings.
pub(super) struct DefinitionPart {
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) question: &'static str,
    pub(super) against: Vec<Slice>,
    pub(super) fair: Slice,
    pub(super) suppressed: Option<String>,
    pub(super) unfair: String,
    pub(super) ranked: String,
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
        let passing = Some("The most unfair of those that pass");
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
    pub(super) sides: Vec<Side>,
    pub(super) against: String,
    pub(super) definition: String,
    pub(super) viewpoint: String,
    pub(super) significant: Option<bool>,
    pub(super) support: Option<Support>,
}

impl Finding {
    /// Whether it was tested and does not pass.
    pub(super) fn is_grey(&self) -> bool {
        self.support.as_ref().is_some_and(|support| support.is_grey)
    }

    /// Whether it was tested and passes.
    fn passes(&self) -> bool {
        self.support.as_ref().is_some_and(|support| support.passes)
    }
}

/// One group of a finding.
pub(super) struct Side {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) covered: Rate,
    pub(super) compared: String,
    /// How far that may be off.
    pub(super) interval: Option<String>,
    pub(super) ways: Vec<Way>,
    pub(super) more: usize,
    /// How sure the intervals are.
    pub(super) confidence: String,
}

/// One action.
pub(super) struct Way {
    pub(super) change: String,
    pub(super) effectiveness: String,
    pub(super) width: Option<String>,
    pub(super) cost: String,
    /// How far the effectiveness may be off.
    pub(super) interval: Option<String>,
}

pub(super) struct AnalysisRow {
    pub(super) number: usize,
    pub(super) title: String,
    pub(super) score: String,
    pub(super) rank_one: String,
    pub(super) against: Vec<String>,
    pub(super) top_tenth: Vec<String>,
}

pub(super) struct AggregatedRow {
    pub(super) number: usize,
    pub(super) title: String,
    pub(super) cells: Vec<Option<Cell>>,
}

/// One cell of the aggregated rankings: its text and how dark it is, from 0 to 9.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) shade: usize,
}

/// One kind of definition explained.
pub(super) struct KindPart {
    pub(super) name: &'static str,
    pub(super) title: String,
    pub(super) question: &'static str,
    pub(super) worse_off: &'static str,
    pub(super) words: Option<Words>,
    pub(super) columns: Vec<(usize, String)>,
}

/// A small table of names and what they stand for.
pub(super) struct FactTable {
    pub(super) title: &'static str,
    pub(super) rows: Vec<Fact>,
}

pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// Whether it is a hash or the like, to be set in a fixed-width font.
    pub(super) code: bool,
}

impl Fact {
    fn text(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
            code: false,
        }
    }

    fn code(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            code: true,
            ..Self::text(name, text)
        }
    }
}

pub(super) struct FeatureRow {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) levels: String,
    pub(super) cost: String,
    pub(super) rules: String,
}

pub(super) struct WithoutRow {
    pub(super) predicate: String,
    pub(super) members: Vec<String>,
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
            figures: figures(report),
            affected: count(affected),
            people: count(people),
            headlines: headlines(report),
            groups: group_rows(record),
            base_label: record
                .base_rates
                .as_ref()
                .map(|rates| format!("{} = {}", rates.label, rates.favourable)),
            set_aside: audit.set_aside.iter().map(set_aside_row).collect(),
            definitions: (report.columns.iter().enumerate())
                .map(|(index, column)| definition_part(report, index + 1, column))
                .collect(),
            analysis: analysis(report),
            aggregated: aggregated(report),
            kinds: kinds(report),
            facts: fact_tables(record),
            features: audit.features.iter().map(feature_row).collect(),
            notes: (record.notes.iter().chain(&audit.population.notices))
                .cloned()
                .collect(),
            without_actions: (audit.without_actions.iter().take(WITHOUT_ACTIONS))
                .map(|subgroup| WithoutRow {
                    predicate: audit.text(&subgroup.predicate),
                    members: subgroup.members.iter().map(|&n| count(n)).collect(),
                })
                .collect(),
            without_actions_more: (without > WITHOUT_ACTIONS)
                .then(|| count((without - WITHOUT_ACTIONS) as u64)),
            suppressed: audit.suppression.is_some(),
            tested: report.columns.iter().any(|c| report.tests(c).is_some()),
            hold_out: evidence::hold_out(report),
        }
    }

    /// Whether anything is unfair under any definition.
    pub(super) fn is_unfair(&self) -> bool {
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

/// `1 subgroup`, `2 subgroups`.
fn several(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(number as u64))
}

/// `7 people`, unless that was too few to be told.
fn told(number: Count, of: &str) -> String {
    match number {
        Count::Known(number) => format!("{} {of}", count(number)),
        Count::Suppressed => format!("a {SUPPRESSED} number of {of}"),
    }
}

fn figures(report: &Report<'_>) -> Vec<Figure> {
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
fn headlines(report: &Report<'_>) -> Vec<String> {
    let supported = crate::evidence::headline(report);
    if report.columns.iter().any(|c| report.tests(c).is_some()) {
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

fn group_rows(record: &Record) -> Vec<GroupRow> {
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

fn set_aside_row(group: &facts_engine::SetAside) -> SetAsideRow {
    SetAsideRow {
        name: group.name.trim().to_owned(),
        people: told(group.people, "people"),
        affected: told(group.affected, "affected"),
        why: group.why.clone(),
    }
}

fn definition_part(report: &Report<'_>, number: usize, column: &Column) -> DefinitionPart {
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
    let shown = findings(report, column.definition.as_ref(), ranking);
    DefinitionPart {
        number,
        id: ranking.definition.clone(),
        title: ranking.title.clone(),
        question: column.kind().map_or("", |kind| kind.about),
        against,
        fair: slice(0, "", fair, fair as f64),
        suppressed: (!ranking.suppressed.is_empty())
            .then(|| count(ranking.suppressed.len() as u64)),
        unfair: count(unfair.len() as u64),
        ranked: count(ranked as u64),
        passing: (report.tally(column)).map(|tally| count(tally.family_wise as u64)),
        evidence: words_of(report, column),
        passing_findings: if shown.iter().any(|finding| finding.passes()) {
            Vec::new()
        } else {
            findings(report, column.definition.as_ref(), &report.passing(column))
        },
        findings: shown,
    }
}

/// The most unfair subgroups, without those that only add conditions to one that is shown.
fn findings(report: &Report<'_>, definition: &dyn Definition, ranking: &Ranking) -> Vec<Finding> {
    let audit = &report.record.audit;
    let filters = Filters {
        drop_fair: true,
        drop_contained: true,
        ..Filters::default()
    };
    let shown = audit.show(ranking, definition, &filters);
    let first = shown.iter().take(FINDINGS);
    first
        .map(|shown| {
            let csc = Csc::new(audit, report.evidence(), ranking, shown);
            let support = evidence::support(&csc);
            Finding {
                subgroup: shown.ranked.subgroup,
                rank: csc
                    .rank
                    .map_or("Fair".to_owned(), |rank| format!("Rank {rank}")),
                score: number(csc.score),
                sides: sides(&csc),
                conditions: csc.items,
                against: (csc.against.iter().map(|name| quoted(name)))
                    .collect::<Vec<_>>()
                    .join(" and "),
                definition: csc.definition,
                viewpoint: viewpoint(&ranking.definition).to_string(),
                significant: csc.significant,
                support,
            }
        })
        .collect()
}

fn sides(csc: &Csc) -> Vec<Side> {
    let side = |(g, group): (usize, &CscGroup)| Side {
        mark: g % MARKS,
        name: group.name.trim().to_owned(),
        covered: Rate::new(group.members, group.affected),
        compared: value(group.value),
        interval: group.interval.and_then(|intervals| {
            let bounds = best_of_value(group.value, &intervals, group.members)?;
            Some(format!("{} interval {bounds}", csc.confidence()))
        }),
        ways: (most_effective(&group.recourses).into_iter())
            .map(|recourse| way(recourse, group.members))
            .collect(),
        more: group.recourses.len().saturating_sub(ACTIONS),
        confidence: csc.confidence(),
    };
    csc.groups.iter().enumerate().map(side).collect()
}

/// The most effective actions, the cheaper ones of equals, cheapest first.
fn most_effective(recourses: &[Recourse]) -> Vec<&Recourse> {
    // A suppressed count is above 0 and below every other known one.
    let helped = |place: usize| match recourses[place].flips {
        Count::Known(0) => 0,
        Count::Suppressed => 1,
        Count::Known(flips) => flips + 1,
    };
    let mut places: Vec<usize> = (0..recourses.len()).collect();
    places.sort_by_key(|&place| (Reverse(helped(place)), place));
    places.truncate(ACTIONS);
    places.sort_unstable();
    places.into_iter().map(|place| &recourses[place]).collect()
}

fn way(recourse: &Recourse, members: u64) -> Way {
    let share = recourse
        .flips
        .known()
        .map(|flips| Share::new(flips, members));
    Way {
        change: recourse.change.clone(),
        effectiveness: effectiveness(recourse.flips, members),
        width: share.map(|share| width(share.ratio())),
        cost: number(recourse.cost),
        interval: recourse.interval.as_ref().map(shares),
    }
}

fn analysis(report: &Report<'_>) -> Vec<AnalysisRow> {
    let analysis = report.ranking_analysis();
    let counts = |counts: &[usize]| counts.iter().map(|&n| count(n as u64)).collect();
    let rows = report.columns.iter().zip(&analysis.rows).enumerate();
    rows.map(|(index, (column, row))| AnalysisRow {
        number: index + 1,
        title: column.ranking.title.clone(),
        score: (column.ranking.unfair().first())
            .map_or("–".to_owned(), |first| number(first.assessment.score)),
        rank_one: count(row.rank_one as u64),
        against: counts(&row.against),
        top_tenth: counts(&row.against_in_top_tenth),
    })
    .collect()
}

fn aggregated(report: &Report<'_>) -> Vec<AggregatedRow> {
    let table = report.aggregated_rankings();
    let cell = |value: &Option<f64>| {
        value.map(|value| Cell {
            text: format!("{value:.2}"),
            // 0 is the darkest: the same subgroups come first under both definitions.
            shade: ((value * 10.0) as usize).min(9),
        })
    };
    let rows = report.columns.iter().zip(&table.cells).enumerate();
    rows.map(|(index, (column, cells))| AggregatedRow {
        number: index + 1,
        title: column.ranking.title.clone(),
        cells: cells.iter().map(cell).collect(),
    })
    .collect()
}

/// The kinds of definition that the report uses, in their order of appearance.
fn kinds(report: &Report<'_>) -> Vec<KindPart> {
    let mut kinds: Vec<KindPart> = Vec::new();
    for (index, column) in report.columns.iter().enumerate() {
        let Some(kind) = column.kind() else { continue };
        let named = (index + 1, column.ranking.title.clone());
        match kinds.iter_mut().find(|part| part.name == kind.name) {
            Some(part) => part.columns.push(named),
            None => kinds.push(KindPart {
                name: kind.name,
                // The title without its parameters, which stand in brackets at the end.
                title: bare(&column.ranking.title).to_owned(),
                question: kind.about,
                worse_off: kind.worse_off,
                words: words::about(kind.name),
                columns: vec![named],
            }),
        }
    }
    kinds
}

/// A title without the parameters in brackets at its end.
fn bare(title: &str) -> &str {
    match title.rfind(" (") {
        Some(start) if title.ends_with(')') => &title[..start],
        _ => title,
    }
}

fn fact_tables(record: &Record) -> Vec<FactTable> {
    vec![
        FactTable {
            title: "Data",
            rows: data_facts(record),
        },
        FactTable {
            title: "Model",
            rows: model_facts(record),
        },
        FactTable {
            title: "Method",
            rows: method_facts(record),
        },
        FactTable {
            title: "Evidence",
            rows: evidence::facts(record),
        },
        FactTable {
            title: "Size of the work",
            rows: size_facts(record),
        },
    ]
}

const NO_HASH: &str = "not known: it could not be read twice, or is no file";

fn data_facts(record: &Record) -> Vec<Fact> {
    let population = &record.audit.population;
    let mut facts = vec![
        Fact::text("Table", &record.data.name),
        match &record.data.sha256 {
            Some(hash) => Fact::code("SHA-256", hash),
            None => Fact::text("SHA-256", NO_HASH),
        },
        Fact::text("Rows read", count(population.rows)),
        Fact::text("People in the audit", count(population.people)),
        Fact::text(
            "Rows left out: protected value missing",
            count(population.excluded),
        ),
        Fact::text("Rows left out: a feature missing", dropped(record)),
        Fact::text("Rows of weight 0", count(population.weightless)),
    ];
    if !population.ignored_columns.is_empty() {
        facts.push(Fact::text(
            "Columns not used",
            population.ignored_columns.join(", "),
        ));
    }
    facts
}

/// `12 (age 7, job 5)`.
fn dropped(record: &Record) -> String {
    let population = &record.audit.population;
    let for_each: Vec<String> = (population.dropped_for.iter())
        .map(|(feature, rows)| format!("{feature} {}", count(*rows)))
        .collect();
    match for_each.as_slice() {
        [] => count(population.dropped),
        some => format!("{} ({})", count(population.dropped), some.join(", ")),
    }
}

fn model_facts(record: &Record) -> Vec<Fact> {
    let model = &record.model;
    let mut facts = vec![
        Fact::text("Model", &model.description),
        Fact::code("Opened from", &model.spec),
        match &model.sha256 {
            Some(hash) => Fact::code("SHA-256", hash),
            None => Fact::text("SHA-256", NO_HASH),
        },
        Fact::text(
            "Favourable prediction",
            match &record.audit.settings.favourable {
                Favourable::Positive => "true, or the number 1".to_owned(),
                Favourable::Class(class) => format!("the class {class}"),
            },
        ),
        Fact::text(
            "Protected attributes it reads",
            match &model.reads_protected {
                None => "not known: the model does not tell what it reads".to_owned(),
                Some(none) if none.is_empty() => "none".to_owned(),
                Some(some) => some.join(", "),
            },
        ),
    ];
    if let Some(training) = &model.training {
        facts.push(Fact::text(
            "Fitted for this audit",
            format!(
                "on {} rows, label {} = {}, seed {}; right on {:.2}% of the {} rows kept for the audit",
                count(training.train_rows),
                training.label,
                training.favourable,
                training.seed,
                training.accuracy * 100.0,
                count(training.test_rows)
            ),
        ));
    }
    facts
}

fn method_facts(record: &Record) -> Vec<Fact> {
    let audit = &record.audit;
    let settings = &audit.settings;
    let mut facts = vec![
        Fact::text("Protected", list(&record.protected, "and")),
        Fact::text(
            "Least share of each group’s affected (support)",
            settings.support.to_string(),
        ),
        Fact::text(
            "Valid actions",
            match settings.validity {
                Validity::Joint => {
                    "joint: what changes and what stays must together be common among the unaffected"
                }
                Validity::Subset => "subset: the change itself must be common among the unaffected",
            },
        ),
        Fact::text("Range items", if settings.ranges { "yes" } else { "no" }),
        Fact::text(
            "Most items of a predicate",
            settings
                .max_length
                .map_or("no limit".to_owned(), |n| n.to_string()),
        ),
        Fact::text(
            "Groups set aside under so many affected",
            count(settings.min_group_size),
        ),
    ];
    if let Some(suppression) = &audit.suppression {
        facts.push(Fact::text(
            "Small counts",
            format!(
                "from 1 to {} are suppressed; {} removed because a group has fewer than {} members",
                suppression.k.saturating_sub(1),
                several(suppression.removed, "subgroup"),
                suppression.k
            ),
        ));
    }
    facts.push(Fact::text("Made by", &record.tool));
    facts.push(Fact::text("Made at (UTC)", &record.made));
    facts
}

fn size_facts(record: &Record) -> Vec<Fact> {
    let sizes = &record.audit.sizes;
    let size = |name, number: u64| Fact::text(name, count(number));
    vec![
        size(
            "People with the favourable prediction",
            record.audit.unaffected,
        ),
        size("Distinct rows of the population", sizes.profiles as u64),
        size(
            "Distinct rows among the affected",
            sizes.affected_profiles as u64,
        ),
        size(
            "Subgroups common to all groups",
            sizes.common_subgroups as u64,
        ),
        size(
            "Frequent itemsets of the unaffected",
            sizes.action_itemsets as u64,
        ),
        size("Pairs of a subgroup and a valid action", sizes.pairs as u64),
        size("Distinct changes among them", sizes.changes as u64),
        size(
            "Subgroups without a mined action",
            record.audit.without_actions.len() as u64,
        ),
        size("Pairs of person and change decided", sizes.decisions),
        size("Rows the model was asked for", sizes.rows_asked),
        size(
            "Counterfactual rows it was asked for",
            sizes.counterfactual_rows_asked,
        ),
    ]
}

fn feature_row(feature: &Levels) -> FeatureRow {
    let distance = match &feature.distance {
        Distance::Categorical => "1 a change".to_owned(),
        Distance::Ordinal => "1 a step".to_owned(),
        Distance::Numeric { normalised: true } => "difference, as a share of the range".to_owned(),
        Distance::Numeric { normalised: false } => "difference".to_owned(),
        Distance::Table(table) => format!("a table of {}", several(table.len(), "transition")),
        Distance::Function(_) => "a function".to_owned(),
    };
    FeatureRow {
        name: feature.name.clone(),
        kind: match feature.kind {
            Kind::Categorical => "categorical",
            Kind::Ordinal(_) => "ordinal",
            Kind::Numeric => "numeric",
            Kind::Binned(_) => "numeric, in bins",
        },
        levels: count(feature.levels.len() as u64),
        cost: if feature.weight == 1.0 {
            distance
        } else {
            format!("{distance}, times {}", number(feature.weight))
        },
        rules: rules(feature),
    }
}

fn rules(feature: &Levels) -> String {
    let rules = &feature.rules;
    if rules.immutable {
        return "never changes".to_owned();
    }
    let mut said = Vec::new();
    match rules.direction {
        Some(Direction::Increase) => said.push("only up".to_owned()),
        Some(Direction::Decrease) => said.push("only down".to_owned()),
        None => {}
    }
    match rules.max_step {
        Some(Step::Levels(levels)) => said.push(format!("at most {}", several(levels, "level"))),
        Some(Step::Units(units)) => said.push(format!("by at most {}", number(units))),
        None => {}
    }
    if !rules.not_a_target.is_empty() {
        said.push(format!("never to {}", list(&rules.not_a_target, "or")));
    }
    for (from, to) in &rules.forbidden {
        said.push(format!("not from {from} to {to}"));
    }
    if !rules.linked.is_empty() {
        said.push(format!("only together with {}", list(&rules.linked, "and")));
    }
    if said.is_empty() {
        return "any change".to_owned();
    }
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_their_parameters_only() {
        assert_eq!(
            bare("Equal Choice for Recourse (φ = 0.3)"),
            "Equal Choice for Recourse"
        );
        assert_eq!(
            bare("Equal (Conditional) Mean Recourse"),
            "Equal (Conditional) Mean Recourse"
        );
    }

    #[test]
    fn the_most_effective_actions_are_written_out_cheapest_first() {
        let recourse = |cost: f64, flips| Recourse {
            change: String::new(),
            cost,
            flips,
            interval: None,
        };
        let known = Count::Known;
        let recourses = [
            recourse(1.0, known(0)),
            recourse(2.0, known(9)),
            recourse(3.0, Count::Suppressed),
            recourse(4.0, known(30)),
            recourse(5.0, known(9)),
            recourse(6.0, known(0)),
        ];
        let costs: Vec<f64> = most_effective(&recourses).iter().map(|r| r.cost).collect();
        assert_eq!(costs, [2.0, 4.0, 5.0]);
        assert_eq!(most_effective(&recourses[..1]).len(), 1);
    }

    #[test]
    fn lists_read_like_sentences() {
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert_eq!(list(&names(&["race"]), "and"), "race");
        assert_eq!(list(&names(&["race", "sex"]), "and"), "race and sex");
        assert_eq!(list(&names(&["a", "b", "c"]), "or"), "a, b or c");
        assert_eq!(several(1, "level"), "1 level");
        assert_eq!(several(1_200, "subgroup"), "1,200 subgroups");
    }
}
