//! The stories: what each says, what a budget buys its groups, who is in several, and under which
//! definitions it is found.

use facts_engine::Audit;
use facts_engine::subgroups::{Item, Operator};
use serde::Serialize;

use super::curve::Curve;
use super::places::{Place, Places};
use super::row::fair_words;
use crate::answer::StoryRow;
use crate::report::{Column, Report};
use crate::text::{number, value};

/// All stories.
#[derive(Serialize)]
pub struct Stories {
    stories: Vec<Story>,
    /// The command that tells them; none where no command can name the audit.
    command: Option<String>,
}

/// A story with what its card and its line of the matrix show.
#[derive(Serialize)]
pub struct Story {
    #[serde(flatten)]
    row: StoryRow,
    subgroup: usize,
    /// All members by group, told by earlier stories or not.
    members: Vec<u64>,
    curve: Curve,
    matrix: Vec<Option<Cell>>,
    /// People who are members of this story and of each other one.
    overlaps: Vec<Overlap>,
    command: Option<String>,
}

/// What one definition says of a story's subgroup.
#[derive(Serialize)]
pub struct Cell {
    values: Vec<String>,
    score: String,
    /// How large the score is beside the greatest finite one of the definition, from 0 to 1.
    weight: f64,
    against: Vec<usize>,
    /// Which kind of fair it is; none if it is not.
    fair: Option<&'static str>,
    passes: Option<bool>,
    rank: Option<u32>,
}

/// How many people are in two stories.
#[derive(Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Overlap {
    /// So many, by group.
    Counted {
        /// By group.
        members: Vec<u64>,
    },
    /// Nobody can be: the conditions exclude each other.
    Nobody,
    /// The people who meet both are too few of some group to be a subgroup of the audit.
    NotCommon,
}

/// All stories. `command` is asked for the command that tells one of them by its number, or all.
pub fn stories(
    report: &Report<'_>,
    places: &Places<'_>,
    command: &dyn Fn(Option<usize>) -> Option<String>,
) -> Stories {
    let audit = &report.record.audit;
    let rows = report.answered().map(|answered| answered.stories());
    let rows = rows.unwrap_or_default();
    let subgroups: Vec<usize> = rows.iter().map(|row| row.subgroup).collect();
    let told = rows.into_iter().map(|row| {
        let subgroup = &audit.subgroups[row.subgroup];
        Story {
            subgroup: row.subgroup,
            members: subgroup.members.clone(),
            curve: Curve::new(audit, subgroup),
            matrix: (report.columns.iter())
                .map(|column| cell(report, column, row.subgroup))
                .collect(),
            overlaps: (subgroups.iter())
                .map(|&other| overlap(audit, places, row.subgroup, other))
                .collect(),
            command: command(Some(row.number)),
            row,
        }
    });
    Stories {
        stories: told.collect(),
        command: command(None),
    }
}

fn cell(report: &Report<'_>, column: &Column, subgroup: usize) -> Option<Cell> {
    let ranked = || column.ranking.ranked.iter();
    let here = ranked().find(|ranked| ranked.subgroup == subgroup)?;
    let scores = ranked().map(|ranked| ranked.assessment.score);
    let greatest = scores.filter(|score| score.is_finite()).fold(0.0, f64::max);
    let found = &here.assessment;
    let tests = report.evidence().zip(report.tests(column));
    Some(Cell {
        values: (found.values.iter())
            .map(|&compared| value(compared))
            .collect(),
        score: number(found.score),
        weight: match found.score {
            score if score.is_infinite() => 1.0,
            score if greatest > 0.0 => score / greatest,
            _ => 0.0,
        },
        against: found.against.to_vec(),
        fair: found.fair().map(fair_words),
        passes: tests.map(|(evidence, tests)| evidence.passes_together(tests, subgroup)),
        rank: here.rank,
    })
}

/// How many people two subgroups share: the members of the subgroup that meets the conditions of both.
fn overlap(audit: &Audit, places: &Places<'_>, one: usize, other: usize) -> Overlap {
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
    match places.get(&both) {
        Some(Place::Ranked(place)) => Overlap::Counted {
            members: audit.subgroups[place].members.clone(),
        },
        Some(Place::WithoutActions(place)) => Overlap::Counted {
            members: audit.without_actions[place].members.clone(),
        },
        None => Overlap::NotCommon,
    }
}
