//! The answer: page one, its stories, and what goes with the gap.

use facts_engine::answer::{Story, Verdict};
use facts_engine::distribution::{Share, Viewpoint};

use super::curve::Curve;
use super::{MARKS, Rate, width};
use crate::answer::{Answered, StoryRow, about, words};
use crate::evidence::words::several;
use crate::report::Report;
use crate::text::{count, number};

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
    pub(super) rows: Vec<BarRow>,
}

/// A number that may lie below 0, with its bar.
pub(super) struct BarRow {
    pub(super) name: String,
    pub(super) points: String,
    pub(super) start: String,
    pub(super) width: String,
    pub(super) narrows: bool,
    pub(super) shares: [String; 2],
}

/// What one definition says of all stories.
pub(super) struct MatrixRow {
    pub(super) title: String,
    pub(super) cells: Vec<MatrixCell>,
}

/// What one definition says of one story.
pub(super) struct MatrixCell {
    pub(super) against: String,
    pub(super) passes: Option<bool>,
}

/// Which items go with the gap.
pub(super) struct DriversPart {
    pub(super) worse: String,
    pub(super) better: String,
    pub(super) gap: String,
    pub(super) predicates: String,
    pub(super) rows: Vec<BarRow>,
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
                let text = [low, high].map(words::whole_percent).join(" to ");
                (
                    Rate::new(open, row.refused),
                    [text, width(low), width(high - low)],
                )
            }),
        median: row.median_cost.map_or_else(|| "–".to_owned(), number),
        name: row.group,
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
    Curve::new(caption, &names(answered), &costs, &shares, None)
}

fn names<'a>(answered: &'a Answered<'_>) -> Vec<&'a str> {
    let groups = 0..answered.answer.people.len();
    groups.map(|g| answered.group(g)).collect()
}

fn story_part(answered: &Answered<'_>, story: &Story, row: StoryRow) -> StoryPart {
    let audit = &answered.report.record.audit;
    let subgroup = &audit.subgroups[story.subgroup];
    let full = row.number <= FULL;
    let at = |level: usize| {
        let groups = 0..subgroup.groups();
        groups
            .map(|g| subgroup.ecd(Viewpoint::Micro, g, level))
            .collect()
    };
    let shares: Option<Vec<Vec<Share>>> = (1..=subgroup.cost_levels.len()).map(at).collect();
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
                name: group.group,
                rate: Rate::new(group.with_a_way, group.people),
            })
            .collect(),
        curve: shares.filter(|_| full).and_then(|shares| {
            let (names, cost) = (names(answered), Some(story.cost));
            Curve::new(caption, &names, &subgroup.cost_levels, &shares, cost)
        }),
        why: row.why.zip(row.why_sentence).map(|(why, sentence)| {
            let protected = answered.report.record.protected.join(" and ");
            let mut parts = vec![(format!("The model’s use of {protected}"), why.swap)];
            parts.extend(
                why.composition
                    .map(|part| ("Other differences".to_owned(), part)),
            );
            parts.push(("Neither".to_owned(), why.rest));
            WhyPart {
                sentence,
                rows: bars(
                    parts
                        .into_iter()
                        .map(|(name, part)| (name, part, [Share::new(0, 0); 2])),
                ),
            }
        }),
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

/// Numbers with bars on one scale, which holds 0.
fn bars(parts: impl Iterator<Item = (String, f64, [Share; 2])>) -> Vec<BarRow> {
    let parts: Vec<_> = parts.collect();
    let low = parts.iter().map(|part| part.1).fold(0.0, f64::min);
    let high = parts.iter().map(|part| part.1).fold(0.0, f64::max);
    let scale = if high > low { high - low } else { 1.0 };
    let row = |(name, value, shares): (String, f64, [Share; 2])| BarRow {
        name,
        points: words::signed(value),
        start: width((value.min(0.0) - low) / scale),
        width: width(value.abs() / scale),
        narrows: value < 0.0,
        shares: shares.map(|share| words::whole_percent(share.ratio())),
    };
    parts.into_iter().map(row).collect()
}

fn matrix(report: &Report<'_>, stories: &[StoryRow]) -> Vec<MatrixRow> {
    let columns = report.columns.iter().enumerate();
    let cell = |place: usize, story: &StoryRow| {
        let said = &story.definitions[place];
        MatrixCell {
            against: said.against.join(" and "),
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
    let shown = widen.chain(narrow.into_iter().rev());
    Some(DriversPart {
        worse: answered.group(drivers.worse_off).to_owned(),
        better: answered.group(drivers.better_off).to_owned(),
        gap: words::points(drivers.gap),
        predicates: count(drivers.predicates as u64),
        rows: bars(shown.map(|row| (row.item.clone(), row.value, [row.worse, row.better]))),
    })
}
