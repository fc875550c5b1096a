//! The stories: what each says, what a budget buys its groups, who is in several, and under which
//! definitions it is found.

use facts_engine::subgroups::{Item, Operator};
use facts_report::Column;
use facts_report::answer::StoryRow;
use facts_report::text::{number, value};
use serde::Serialize;
use serde_json::{Value, json};

use super::command::Command;
use super::parts::Curve;
use crate::desk::{Desk, Place, Source};
use crate::failure::Failed;

/// A story with what its card and its line of the matrix show.
#[derive(Serialize)]
struct Story {
    #[serde(flatten)]
    row: StoryRow,
    subgroup: usize,
    /// All members by group, told by earlier stories or not.
    members: Vec<u64>,
    curve: Curve,
    matrix: Vec<Option<Cell>>,
    /// People who are members of this story and of each other one.
    overlaps: Vec<Overlap>,
    command: String,
}

/// What one definition says of a story's subgroup.
#[derive(Serialize)]
struct Cell {
    values: Vec<String>,
    score: String,
    /// How large the score is beside the greatest finite one of the definition, from 0 to 1.
    weight: f64,
    against: Vec<usize>,
    passes: Option<bool>,
    rank: Option<u32>,
}

/// How many people are in two stories.
#[derive(Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
enum Overlap {
    /// So many, by group.
    Counted { members: Vec<u64> },
    /// Nobody can be: the conditions exclude each other.
    Nobody,
    /// The people who meet both are too few of some group to be a subgroup of the audit.
    NotCommon,
}

pub(crate) fn stories(desk: &Desk<'_>, source: &Source) -> Result<Value, Failed> {
    let Some(answered) = desk.report.answered() else {
        return Ok(json!({ "stories": [] }));
    };
    let audit = &desk.record.audit;
    let rows = answered.stories();
    let subgroups: Vec<usize> = rows.iter().map(|row| row.subgroup).collect();
    let told = rows.into_iter().map(|row| {
        let subgroup = &audit.subgroups[row.subgroup];
        let columns = desk.report.columns.iter();
        Story {
            subgroup: row.subgroup,
            members: subgroup.members.clone(),
            curve: Curve::new(audit, subgroup),
            matrix: columns
                .map(|column| cell(desk, column, row.subgroup))
                .collect(),
            overlaps: (subgroups.iter())
                .map(|&other| overlap(desk, row.subgroup, other))
                .collect(),
            command: Command::show(source)
                .with("--story", &row.number.to_string())
                .to_string(),
            row,
        }
    });
    let told: Vec<Story> = told.collect();
    Ok(json!({ "stories": told, "command": Command::show(source).flag("--stories").to_string() }))
}

fn cell(desk: &Desk<'_>, column: &Column, subgroup: usize) -> Option<Cell> {
    let ranked = (column.ranking.ranked.iter()).find(|ranked| ranked.subgroup == subgroup)?;
    let scores = column
        .ranking
        .ranked
        .iter()
        .map(|ranked| ranked.assessment.score);
    let greatest = scores.filter(|score| score.is_finite()).fold(0.0, f64::max);
    let found = &ranked.assessment;
    let evidence = desk.record.evidence.as_ref();
    let tests = evidence.zip(desk.report.tests(column));
    Some(Cell {
        values: found
            .values
            .iter()
            .map(|&compared| value(compared))
            .collect(),
        score: number(found.score),
        weight: match found.score {
            score if score.is_infinite() => 1.0,
            score if greatest > 0.0 => score / greatest,
            _ => 0.0,
        },
        against: found.against.to_vec(),
        passes: tests.map(|(evidence, tests)| evidence.passes_together(tests, subgroup)),
        rank: ranked.rank,
    })
}

/// How many people two subgroups share: the members of the subgroup that meets the conditions of both.
fn overlap(desk: &Desk<'_>, one: usize, other: usize) -> Overlap {
    let audit = &desk.record.audit;
    let items = |subgroup: usize| audit.subgroups[subgroup].predicate.items();
    let mut both: Vec<Item> = items(one).to_vec();
    for &item in items(other) {
        if both.contains(&item) {
            continue;
        }
        let excluded = |known: &Item| {
            let is = known.operator == Operator::Is && item.operator == Operator::Is;
            is && known.feature == item.feature
        };
        if both.iter().any(excluded) {
            return Overlap::Nobody;
        }
        both.push(item);
    }
    both.sort();
    match desk.places.get(both.as_slice()) {
        Some(Place::Ranked(place)) => Overlap::Counted {
            members: audit.subgroups[*place].members.clone(),
        },
        Some(Place::WithoutActions(place)) => Overlap::Counted {
            members: audit.without_actions[*place].members.clone(),
        },
        None => Overlap::NotCommon,
    }
}
