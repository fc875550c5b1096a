//! The answer: page one, its stories, and what goes with the gap.

use facts_engine::answer::{Story, Verdict, Why};
use facts_engine::definitions::Fair;
use facts_engine::distribution::{Share, Viewpoint};

use super::curve::{Curve, Deciding};
use super::{MARKS, Rate, width};
use crate::answer::{Answered, DriverRow, StoryRow, about, words};
use crate::evidence::words::several;
use crate::report::Report;
use crate::text::{SUPPRESSED, count, number};

/// Stories on page one.
const FIRST: usize = 3;

/// Stories shown with plot and people; of those after them the sentences.
const FULL: usize = 7;

/// What was assumed that fits on page one.
const ASSUMPTIONS: usize = 4;

/// Items shown that widen the gap, and that narrow it.
const WIDEN: usize = 10;
const NARROW: usize = 5;

/// The answer as the page shows it.
pub(super) struct AnswerPart {
    pub(super) about: String,
    /// The class that colours the verdict.
    pub(super) tone: &'static str,
    pub(super) verdict: String,
    pub(super) headline: String,
    pub(super) reason: String,
    pub(super) people: Vec<PeopleLine>,
    pub(super) sureness: String,
    pub(super) ratio: Option<String>,
    pub(super) curve: Option<Curve>,
    pub(super) stories: Vec<StoryPart>,
    /// What each definition says of each story.
    pub(super) matrix: Vec<MatrixRow>,
    pub(super) drivers: Option<DriversPart>,
    pub(super) assumptions: Vec<String>,
    pub(super) more_assumptions: usize,
    pub(super) cost_unit: String,
    pub(super) not_said: &'static str,
}

impl AnswerPart {
    /// The stories on page one.
    pub(super) fn first_stories(&self) -> &[StoryPart] {
        &self.stories[..self.stories.len().min(FIRST)]
    }
}

/// The people of one group.
pub(super) struct PeopleLine {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) people: String,
    pub(super) refused: Rate,
    /// Those with a way, and from where to where their share may lie: text, start and width.
    pub(super) open: Option<(Rate, [String; 3])>,
    pub(super) median: String,
}

/// One story.
pub(super) struct StoryPart {
    pub(super) number: usize,
    pub(super) subgroup: usize,
    pub(super) predicate: String,
    pub(super) sentence: String,
    pub(super) full: bool,
    pub(super) cost: String,
    pub(super) groups: Vec<StoryPeople>,
    pub(super) curve: Option<Curve>,
    pub(super) why: Option<WhyPart>,
    pub(super) sharper: Vec<(usize, String, String)>,
    /// How many more sets of people it stands for.
    pub(super) stands_for: Option<String>,
    /// Under how many definitions it passes, and which: place and title.
    pub(super) passes: Option<String>,
    pub(super) passing: Vec<(usize, String)>,
}

/// The people of one group whom a story tells of.
pub(super) struct StoryPeople {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) rate: Rate,
}

/// What a gap is made of.
pub(super) struct WhyPart {
    pub(super) sentence: String,
    pub(super) rows: Vec<(String, Bar)>,
}

/// A difference in points, as text and as a bar on a scale that holds 0.
pub(super) struct Bar {
    pub(super) points: String,
    pub(super) start: String,
    pub(super) width: String,
    pub(super) narrows: bool,
}

/// An item and what it does to the gap.
pub(super) struct DriverLine {
    pub(super) item: String,
    pub(super) bar: Bar,
    /// Of those who meet it, the shares that have a way: of the worse off, and of the best off.
    pub(super) open: [String; 2],
}

/// What one definition says of all stories.
pub(super) struct MatrixRow {
    pub(super) title: String,
    pub(super) cells: Vec<MatrixCell>,
}

/// What one definition says of one story.
pub(super) struct MatrixCell {
    pub(super) against: String,
    /// What it says if it is against nobody.
    pub(super) fair: &'static str,
    pub(super) passes: Option<bool>,
}

/// Which items go with the gap.
pub(super) struct DriversPart {
    pub(super) worse: String,
    pub(super) better: String,
    pub(super) gap: String,
    pub(super) predicates: String,
    pub(super) rows: Vec<DriverLine>,
}

/// The answer of a report; none in audits that were saved before there was one.
pub(super) fn answer(report: &Report<'_>) -> Option<AnswerPart> {
    let answered = report.answered()?;
    let record = report.record;
    let rows = answered.stories();
    let more = record.assumptions.len().saturating_sub(ASSUMPTIONS);
    Some(AnswerPart {
        about: about(report),
        tone: match answered.answer.verdict {
            Some(Verdict::Unfair { .. }) => "unfair",
            Some(Verdict::FairWithin { .. }) => "fair",
            _ => "open",
        },
        verdict: words::verdict(&answered),
        headline: words::headline(&answered),
        reason: words::reason(&answered),
        people: people(&answered),
        sureness: words::sureness(&answered),
        ratio: (answered.compared()).and_then(|compared| words::ratio(&answered, &compared)),
        curve: overall(&answered),
        matrix: matrix(report, &rows),
        stories: (answered.answer.stories.iter().zip(rows))
            .map(|(story, row)| story_part(&answered, story, row))
            .collect(),
        drivers: drivers(&answered),
        assumptions: record
            .assumptions
            .iter()
            .take(ASSUMPTIONS)
            .cloned()
            .collect(),
        more_assumptions: more,
        cost_unit: words::cost_unit(&record.audit),
        not_said: words::NOT_SAID,
    })
}

fn people(answered: &Answered<'_>) -> Vec<PeopleLine> {
    let rows = answered.people().into_iter().enumerate();
    rows.map(|(g, row)| PeopleLine {
        mark: g % MARKS,
        people: count(row.people),
        refused: Rate::new(row.refused, row.people),
        open: row
            .with_a_way
            .zip(row.open_interval)
            .map(|(open, between)| {
                let [low, high] = [between.low, between.high];
                let text = [low, high].map(words::short_percent).join(" to ");
                (
                    Rate::new(open, row.refused),
                    [text, width(low), width(high - low)],
                )
            }),
        median: row.median_cost.map_or_else(|| "–".to_owned(), number),
        name: answered.called(g),
    })
    .collect()
}

/// Of all refused people, who has a way within a cost.
fn overall(answered: &Answered<'_>) -> Option<Curve> {
    let people = &answered.answer.people;
    let ways = people.iter().map(|group| group.ways.as_ref());
    let ways: Vec<_> = ways.collect::<Option<_>>()?;
    let mut costs: Vec<f64> = ways.into_iter().flatten().map(|ways| ways.cost).collect();
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    let at = |&cost: &f64| people.iter().map(|group| group.open_within(cost)).collect();
    let shares: Vec<Vec<Share>> = costs.iter().map(at).collect::<Option<_>>()?;
    let caption = "Refused people who have a way out, by what it costs at most".to_owned();
    let names = names(answered);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Curve::new(caption, &names, &costs, &shares, Deciding::default())
}

fn names(answered: &Answered<'_>) -> Vec<String> {
    let groups = 0..answered.answer.people.len();
    groups.map(|g| answered.called(g)).collect()
}

fn story_part(answered: &Answered<'_>, story: &Story, row: StoryRow) -> StoryPart {
    let audit = &answered.report.record.audit;
    let subgroup = &audit.subgroups[story.subgroup];
    let full = row.number <= FULL;
    let told: u64 = story.told.iter().map(|share| share.whole).sum();
    let members = if told == subgroup.people() {
        ""
    } else {
        ", those told of before among them"
    };
    let caption = format!(
        "All {}{members}: who has a way, by what it costs at most",
        several(subgroup.people(), "member")
    );
    let tested = row
        .definitions
        .iter()
        .filter(|d| d.passes.is_some())
        .count();
    let numbered = row.definitions.iter().enumerate();
    let passing: Vec<(usize, String)> = numbered
        .filter(|(_, definition)| definition.passes == Some(true))
        .map(|(place, definition)| (place + 1, definition.title.clone()))
        .collect();
    let sharper = story.sharper.iter().zip(row.sharper);
    StoryPart {
        number: row.number,
        subgroup: story.subgroup,
        predicate: row.predicate,
        sentence: row.sentence,
        full,
        cost: number(story.cost),
        groups: (row.groups.into_iter().enumerate())
            .map(|(g, group)| StoryPeople {
                mark: g % MARKS,
                name: answered.called(g),
                rate: Rate::new(group.with_a_way, group.people),
            })
            .collect(),
        curve: full.then_some(caption).and_then(|caption| {
            let called = names(answered);
            let names: Vec<&str> = called.iter().map(String::as_str).collect();
            let deciding = Deciding {
                cost: Some((story.cost, "where the gap is widest")),
                share: None,
            };
            Curve::of_subgroup(caption, &names, subgroup, Viewpoint::Micro, deciding)
        }),
        why: (row.why.as_ref().zip(row.why_sentence))
            .map(|(why, sentence)| why_part(answered, story, why, sentence)),
        sharper: sharper
            .map(|(inside, (text, gap))| (inside.subgroup, text, words::points(gap)))
            .collect(),
        stands_for: (row.stands_for > 1).then(|| count(row.stands_for as u64 - 1)),
        passes: (tested > 0).then(|| {
            format!(
                "{} of {}",
                passing.len(),
                several(tested as u64, "definition")
            )
        }),
        passing,
    }
}

fn why_part(answered: &Answered<'_>, story: &Story, why: &Why, sentence: String) -> WhyPart {
    let protected = answered.report.record.protected.join(" and ");
    let parts = [
        (format!("The model’s use of {protected}"), Some(why.swap)),
        ("Other differences".to_owned(), why.composition),
        ("Neither".to_owned(), Some(why.rest)),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(name, part)| Some((name, part?)));
    let (names, values): (Vec<String>, Vec<f64>) = parts.unzip();
    WhyPart {
        sentence,
        rows: names
            .into_iter()
            .zip(bars(&values, words::why_points(story, why)))
            .collect(),
    }
}

/// Differences as bars on one scale, which holds 0, each with its text.
fn bars(values: &[f64], texts: Vec<String>) -> Vec<Bar> {
    let low = values.iter().copied().fold(0.0, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let scale = if high > low { high - low } else { 1.0 };
    let bar = |(&value, points): (&f64, String)| Bar {
        points,
        start: width((value.min(0.0) - low) / scale),
        width: width(value.abs() / scale),
        narrows: value < 0.0,
    };
    values.iter().zip(texts).map(bar).collect()
}

fn matrix(report: &Report<'_>, stories: &[StoryRow]) -> Vec<MatrixRow> {
    let columns = report.columns.iter().enumerate();
    let cell = |place: usize, story: &StoryRow| {
        let said = &story.definitions[place];
        let subgroup = &report.record.audit.subgroups[story.subgroup];
        let found = report.columns[place].definition.assess(subgroup);
        MatrixCell {
            against: said.against.join(" and "),
            fair: match found.and_then(|found| found.fair()) {
                Some(Fair::OutOfReach) => "out of reach",
                Some(Fair::Equal) => "equal",
                None => SUPPRESSED,
            },
            passes: said.passes,
        }
    };
    columns
        .map(|(place, column)| MatrixRow {
            title: column.ranking.title.clone(),
            cells: stories.iter().map(|story| cell(place, story)).collect(),
        })
        .collect()
}

/// The items that widen the gap most, then those that narrow it most.
fn drivers(answered: &Answered<'_>) -> Option<DriversPart> {
    let drivers = answered.answer.drivers.as_ref()?;
    let rows = answered.drivers();
    let widen = rows.iter().filter(|row| row.value > 0.0).take(WIDEN);
    let narrow = rows.iter().rev().filter(|row| row.value < 0.0).take(NARROW);
    let narrow: Vec<_> = narrow.collect();
    let shown: Vec<_> = widen.chain(narrow.into_iter().rev()).collect();
    let values: Vec<f64> = shown.iter().map(|row| row.value).collect();
    // Most move the gap by less than a point.
    let text = |value: &f64| format!("{:.2}", value * 100.0).replace('-', "−");
    let texts = values.iter().map(text).collect();
    let line = |(row, bar): (&DriverRow, Bar)| DriverLine {
        item: row.item.clone(),
        bar,
        open: [row.worse, row.better].map(|share| words::short_percent(share.ratio())),
    };
    Some(DriversPart {
        worse: answered.called(drivers.worse_off),
        better: answered.called(drivers.better_off),
        gap: words::points(drivers.gap),
        predicates: count(drivers.predicates as u64),
        rows: shown
            .into_iter()
            .zip(bars(&values, texts))
            .map(line)
            .collect(),
    })
}
