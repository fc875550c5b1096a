//! One refused person, where model and rows are at hand: what would turn the answer, and how people like
//! them fare in every group.

use std::sync::Arc;

use facts_report::person::{self, PersonPage, PersonRow};
use facts_run::Behind;
use serde::Serialize;
use serde_json::Value;

use super::command::Command;
use crate::desk::{Held, Source};
use crate::failure::Failed;
use crate::http::Request;

/// At most so many profiles at once.
const MOST: usize = 200;

/// Which profiles are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    group: Option<String>,
    conditions: String,
    from: usize,
    count: usize,
}

impl Asked {
    pub(crate) fn read(request: &Request) -> Result<Self, Failed> {
        let number = |name: &str, usual: usize| match request.parameter(name) {
            None => Ok(usual),
            Some(text) => (text.parse::<usize>())
                .map_err(|_| Failed::bad(format!("`{name}` is `{text}`, not a whole number"))),
        };
        let group = request.parameter("group").filter(|name| !name.is_empty());
        Ok(Self {
            group: group.map(str::to_owned),
            conditions: request.parameter("where").unwrap_or_default().to_owned(),
            from: number("from", 0)?,
            count: number("count", 50)?.min(MOST),
        })
    }
}

/// Refused profiles that meet the conditions.
#[derive(Serialize)]
struct People {
    /// How many profiles there are.
    matching: usize,
    /// How many people have them.
    people: u64,
    from: usize,
    rows: Vec<PersonRow>,
    command: String,
}

/// One of them.
#[derive(Serialize)]
struct One {
    #[serde(flatten)]
    page: PersonPage,
    command: String,
}

/// Whether people can be asked about one by one.
pub(crate) fn may_be_asked(held: &Held) -> bool {
    held.behind.is_some() && held.record.audit.suppression.is_none()
}

fn behind(held: &Held) -> Result<(Arc<Behind>, Source), Failed> {
    let behind = held.behind.as_ref().ok_or_else(|| {
        Failed::conflict("a saved audit holds counts and no people; start with --config")
    })?;
    // Said before anything is looked up, and as the command says it.
    behind
        .persons(&held.record.audit)
        .map_err(|refused| Failed::conflict(refused.to_string()))?;
    Ok((Arc::clone(behind), held.source.clone()))
}

/// The refused profiles that are asked for, those of most people first.
pub(crate) fn people(held: &Held, asked: &Asked) -> Result<Value, Failed> {
    let (behind, source) = behind(held)?;
    let asked = asked.clone();
    held.ask(move |desk| {
        let persons = behind.persons(&desk.record.audit)?;
        let group = asked.group.as_deref();
        let (place, wanted) = desk.record.people_wanted(group, &asked.conditions)?;
        let found = persons.matching(place, &wanted);
        let window = found.iter().skip(asked.from).take(asked.count);
        let window: Vec<usize> = window.copied().collect();
        let mut command = Command::show(&source).with("--person", &asked.conditions);
        if let Some(group) = group {
            command = command.with("--group", group);
        }
        let population = &behind.population;
        said(&People {
            matching: found.len(),
            people: found
                .iter()
                .map(|&profile| population.people(profile))
                .sum(),
            from: asked.from,
            rows: person::rows(&desk.report, population, &persons, &window),
            command: command.to_string(),
        })
    })
}

/// One refused person, by the number of their profile.
pub(crate) fn person(held: &Held, profile: usize) -> Result<Value, Failed> {
    let (behind, source) = behind(held)?;
    held.ask(move |desk| {
        let persons = behind.persons(&desk.record.audit)?;
        let page = person::page(&desk.report, &behind.population, &persons, profile);
        let page = page.ok_or_else(|| {
            Failed::unknown(format!(
                "no refused person of the compared groups has profile {profile}"
            ))
        })?;
        let command = Command::show(&source).with("--person", &profile.to_string());
        said(&One {
            page,
            command: command.to_string(),
        })
    })
}

fn said(answer: &impl Serialize) -> Result<Value, Failed> {
    serde_json::to_value(answer).map_err(|error| Failed::internal(error.to_string()))
}
