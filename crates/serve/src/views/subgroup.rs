//! One subgroup in full, and its neighbours: those with one condition less or more.

use facts_engine::ranking::{Filters, Ranked, Ranking};
use facts_engine::subgroups::Item;
use facts_report::evidence::{Judging, words};
use facts_report::views::{self, Curve, Place, Row, Side};
use facts_report::{Column, Csc, Grid, Record, overview};
use serde::Serialize;
use serde_json::Value;

use super::command::{Command, lacking};
use crate::desk::{Desk, Source};
use crate::failure::Failed;

/// A subgroup, or everybody, with its neighbours.
#[derive(Serialize)]
struct One {
    /// Its conditions; none for everybody.
    conditions: Vec<Chip>,
    /// What is there if it is ranked.
    found: Option<Found>,
    /// Why it is not ranked, in words.
    not_ranked: Option<String>,
    /// With one condition less.
    parents: Vec<Neighbour>,
    /// With one condition more, those with most people at a loss first.
    children: Vec<Neighbour>,
    definition: String,
    title: String,
    /// The level at which findings pass.
    alpha: f64,
    /// Whether it is known what passes at α.
    tested: bool,
    command: String,
    /// What the command does not do, in a sentence.
    command_lacks: Option<String>,
}

/// A condition that can be taken away.
#[derive(Serialize)]
struct Chip {
    /// As conditions are written.
    text: String,
    /// In words.
    words: String,
}

/// A ranked subgroup in full.
#[derive(Serialize)]
struct Found {
    row: Row,
    predicate: String,
    /// What each group can do, as one reads it.
    sides: Vec<Side>,
    /// Whom it is against, and how much.
    verdict: String,
    /// The same for programs.
    csc: Csc,
    /// What supports the finding, in words.
    support: Vec<String>,
    /// How it fares in each variant of the audit, if that was asked for.
    variants: Option<Grid>,
    definitions: Grid,
    actions: Grid,
    curve: Curve,
    /// The story that tells it, by its number.
    told_by: Option<u32>,
    /// The shortest predicate with the same members, if that is another one.
    same_people: Option<String>,
}

/// A subgroup with one condition less or more.
#[derive(Serialize)]
struct Neighbour {
    /// The condition that is more or less.
    item: String,
    /// The whole predicate; empty for everybody.
    predicate: String,
    /// None if no valid action was mined, or if it is everybody.
    row: Option<Row>,
    members: Vec<u64>,
}

/// The subgroup of this predicate, or everybody if it is empty, by a definition.
pub(crate) fn subgroup(
    desk: &mut Desk<'_>,
    source: &Source,
    predicate: &str,
    definition: &str,
    alpha: Option<f64>,
) -> Result<Value, Failed> {
    let own_alpha = desk.alpha();
    let alpha = alpha.unwrap_or(own_alpha);
    let id = desk.column(definition)?.ranking.definition.clone();
    let record = desk.record;
    let items = items(record, predicate)?;
    let place = desk.places.get(&items);
    let not_ranked = match (place, items.is_empty()) {
        (Some(Place::Ranked(_)), _) | (_, true) => None,
        // Asked again in words, so that the reason is the report's own.
        _ => (record.find(predicate, std::iter::empty()).err()).map(|error| error.to_string()),
    };
    let around = Around::new(desk, &id, alpha)?;
    let (parents, children) = (around.parents(&items), around.children(&items));
    let found = match place {
        Some(Place::Ranked(subgroup)) => around.found(subgroup),
        _ => None,
    };
    let title = around.column.ranking.title.clone();
    let tested = around.judging().tests.is_some();
    let not_ranked = not_ranked.or_else(|| {
        let suppressed = found.is_none() && !items.is_empty();
        suppressed.then(|| format!("Not ranked by {title}: a count that it needs is suppressed."))
    });
    let features = &record.audit.features;
    let mut command = Command::show(source);
    let mut lacks = Vec::new();
    if let Some(found) = &found {
        command = command.with("-d", &id);
        if alpha != own_alpha {
            command = command.at_level(source, alpha, &mut lacks);
        }
        command = command.with("--subgroup", &found.predicate);
    }
    let one = One {
        conditions: (items.iter())
            .map(|item| Chip {
                text: item.text(features),
                words: facts_report::answer::words::condition(*item, features),
            })
            .collect(),
        found,
        not_ranked,
        parents,
        children,
        definition: id,
        title,
        alpha,
        tested,
        command: command.to_string(),
        command_lacks: lacking(&lacks),
    };
    serde_json::to_value(one).map_err(|error| Failed::internal(error.to_string()))
}

/// The comparative subgroup counterfactual of a ranked subgroup by a definition.
pub(crate) fn csc(
    desk: &mut Desk<'_>,
    id: &str,
    alpha: Option<f64>,
    subgroup: usize,
) -> Result<Csc, Failed> {
    let alpha = alpha.unwrap_or_else(|| desk.alpha());
    let csc = Around::new(desk, id, alpha)?.csc(subgroup);
    csc.ok_or_else(|| Failed::unknown("this subgroup cannot be ranked: a count is suppressed"))
}

/// The items of a predicate as it is written; none of them for everybody.
fn items(record: &Record, predicate: &str) -> Result<Vec<Item>, Failed> {
    if predicate.trim().is_empty() {
        return Ok(Vec::new());
    }
    let audit = &record.audit;
    // As reports write it, whatever names and levels contain.
    let all = audit.subgroups.iter().map(|one| &one.predicate);
    let mut all = all.chain(audit.without_actions.iter().map(|one| &one.predicate));
    if let Some(known) = all.find(|known| audit.text(known) == predicate) {
        return Ok(known.items().to_vec());
    }
    let read = facts_report::Conditions::parse(predicate, &audit.features).map_err(Failed::bad)?;
    let exactly = read.exactly();
    exactly.ok_or_else(|| facts_report::AskError::NotAPredicate(predicate.to_owned()).into())
}

/// What neighbours are looked up in.
struct Around<'d, 'a> {
    desk: &'d Desk<'a>,
    column: &'d Column,
    /// Entries of the ranking, by subgroup.
    ranked: Vec<Option<&'d Ranked>>,
    alpha: f64,
}

impl<'d, 'a> Around<'d, 'a> {
    fn new(desk: &'d mut Desk<'a>, id: &str, alpha: f64) -> Result<Self, Failed> {
        // Ranks it, if it is not ranked yet.
        desk.column(id)?;
        let desk: &'d Desk<'a> = desk;
        let column = desk.known(id).ok_or_else(Failed::gone)?;
        let mut ranked = vec![None; desk.texts.len()];
        for entry in &column.ranking.ranked {
            ranked[entry.subgroup] = Some(entry);
        }
        Ok(Self {
            desk,
            column,
            ranked,
            alpha,
        })
    }

    /// By which tests its findings are judged.
    fn judging(&self) -> Judging<'d> {
        self.desk
            .judging(&self.column.ranking.definition, self.alpha)
    }

    fn row(&self, subgroup: usize) -> Option<Row> {
        let tests = self.judging().tests;
        let ranked = self.ranked[subgroup]?;
        let audit = &self.desk.record.audit;
        Some(Row::new(
            audit,
            &self.desk.texts[subgroup],
            ranked,
            tests,
            self.alpha,
        ))
    }

    fn neighbour(&self, place: Place, item: Item) -> Neighbour {
        let audit = &self.desk.record.audit;
        let item = item.text(&audit.features);
        match place {
            Place::Ranked(subgroup) => Neighbour {
                item,
                predicate: self.desk.texts[subgroup].clone(),
                row: self.row(subgroup),
                members: audit.subgroups[subgroup].members.clone(),
            },
            Place::WithoutActions(place) => {
                let without = &audit.without_actions[place];
                Neighbour {
                    item,
                    predicate: audit.text(&without.predicate),
                    row: None,
                    members: without.members.clone(),
                }
            }
        }
    }

    /// With one condition less. Everybody is the parent of a single condition.
    fn parents(&self, items: &[Item]) -> Vec<Neighbour> {
        let audit = &self.desk.record.audit;
        let parent = |&less: &Item| {
            let others: Vec<Item> = items.iter().copied().filter(|&item| item != less).collect();
            if others.is_empty() {
                return Some(Neighbour {
                    item: less.text(&audit.features),
                    predicate: String::new(),
                    row: None,
                    members: audit.groups.iter().map(|group| group.affected).collect(),
                });
            }
            let place = self.desk.places.get(&others)?;
            Some(self.neighbour(place, less))
        };
        items.iter().filter_map(parent).collect()
    }

    /// With one condition more: the ranked in the order for people, then those without actions.
    fn children(&self, items: &[Item]) -> Vec<Neighbour> {
        let audit = &self.desk.record.audit;
        let extra = |child: &[Item]| {
            let fits = child.len() == items.len() + 1 && items.iter().all(|i| child.contains(i));
            fits.then(|| child.iter().copied().find(|item| !items.contains(item)))?
        };
        let of_ranked = |ranked: &Ranked| {
            let more = extra(audit.subgroups[ranked.subgroup].predicate.items())?;
            Some((ranked.clone(), more))
        };
        let found = self.column.ranking.ranked.iter().filter_map(of_ranked);
        let (ranked, more): (Vec<Ranked>, Vec<Item>) = found.unzip();
        let items_of: std::collections::HashMap<usize, Item> =
            ranked.iter().map(|one| one.subgroup).zip(more).collect();
        let definition = self.column.definition.as_ref();
        let ordered = self.only(ranked).for_people(definition, &audit.subgroups);
        let ranked = ordered
            .ranked
            .iter()
            .map(|one| self.neighbour(Place::Ranked(one.subgroup), items_of[&one.subgroup]));
        let without = audit.without_actions.iter().enumerate();
        let without = without.filter_map(|(place, one)| {
            let more = extra(one.predicate.items())?;
            Some(self.neighbour(Place::WithoutActions(place), more))
        });
        ranked.chain(without).collect()
    }

    /// The ranking with some of its entries alone.
    fn only(&self, ranked: Vec<Ranked>) -> Ranking {
        let all = &self.column.ranking;
        Ranking {
            definition: all.definition.clone(),
            title: all.title.clone(),
            ranked,
            worst_rank: all.worst_rank,
            suppressed: Vec::new(),
        }
    }

    fn csc(&self, subgroup: usize) -> Option<Csc> {
        let audit = &self.desk.record.audit;
        let one = self.only(vec![self.ranked[subgroup]?.clone()]);
        let definition = self.column.definition.as_ref();
        let shown = audit.show(&one, definition, &Filters::default());
        let evidence = self.desk.report.evidence();
        let csc = Csc::new(audit, evidence, self.column, shown.first()?);
        let id = &self.column.ranking.definition;
        let mut csc = csc.judged(&self.desk.report, id, &self.judging());
        csc.gap = self.desk.report.gap(subgroup).cloned();
        Some(csc)
    }

    fn found(&self, subgroup: usize) -> Option<Found> {
        let (desk, audit) = (self.desk, &self.desk.record.audit);
        let row = self.row(subgroup)?;
        let csc = self.csc(subgroup)?;
        let fair = self.ranked[subgroup].and_then(|ranked| ranked.assessment.fair());
        let found = &audit.subgroups[subgroup];
        let answer = desk.record.answer.as_ref();
        let told_by = answer.and_then(|answer| *answer.told_by.get(subgroup)?);
        let same = answer.and_then(|answer| answer.same_as.get(subgroup).copied());
        let same = same
            .map(|same| same as usize)
            .filter(|&same| same != subgroup);
        Some(Found {
            row,
            predicate: desk.texts[subgroup].clone(),
            sides: views::sides(&csc),
            verdict: views::verdict(&csc, fair),
            support: words::lines(&csc),
            variants: views::variants(&csc),
            csc,
            definitions: overview::all_definitions_judged(&desk.report, subgroup, &|column| {
                desk.judging(&column.ranking.definition, self.alpha)
            }),
            actions: overview::all_actions(&desk.report, subgroup),
            curve: Curve::new(audit, found),
            told_by: told_by.map(|story| story + 1),
            same_people: same.map(|same| desk.texts[same].clone()),
        })
    }
}
