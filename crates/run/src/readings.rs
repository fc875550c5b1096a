//! Which outcome is good is never guessed: where nobody says it, both readings are shown.

use std::fmt::Write;

use arrow_array::Array;
use facts_engine::flips::{Favourable, Model, ModelError};
use facts_engine::population::{Column, Value};
use facts_report::text;

use crate::config::Config;
use crate::failure::Failure;
use crate::model::AuditedModel;
use crate::people::People;

/// Profiles that a model is asked about at most, to show what its answers would mean.
const MOST_PROFILES: usize = 20_000;
/// Outcomes that are written out at most.
const MOST_OUTCOMES: usize = 8;

/// Which class of a model is the yes.
pub(crate) fn favourable(
    config: &Config,
    model: &AuditedModel,
    people: &People<'_>,
) -> Result<Favourable, Failure> {
    if let Some(favourable) = &model.favourable {
        return Ok(favourable.clone());
    }
    let (of_model, of_label) = (&config.model.favourable, &config.label.favourable);
    if let Some(class) = of_model {
        refuse_contradiction(config, people)?;
        return Ok(Favourable::Class(class.0.clone()));
    }
    let answers = answered(model.model.as_ref(), people)?;
    let known = |class: &str| answers.outcomes.iter().any(|value| value.reads_as(class));
    match (of_label, &config.label.column) {
        (Some(class), _) if known(&class.0) => Ok(Favourable::Class(class.0.clone())),
        (Some(class), Some(label)) => Err(Failure::usage(format!(
            "the yes of {label} is `{class}`, but the model never answers that; which of its answers is the yes? Say it with `model.favourable`:\n{}",
            answers.readings(),
            class = class.0,
        ))),
        _ => Err(Failure::usage(format!(
            "which answer of the model is the yes? The data cannot tell; say it with `model.favourable`:\n{}",
            answers.readings()
        ))),
    }
}

/// Refuses two keys that name different outcomes of the same label.
fn refuse_contradiction(config: &Config, people: &People<'_>) -> Result<(), Failure> {
    let (Some(class), Some(value)) = (&config.model.favourable, &config.label.favourable) else {
        return Ok(());
    };
    let Some(label) = &config.label.column else {
        return Ok(());
    };
    let outcomes = people.table.column(label)?.column().values();
    let mut named = outcomes.iter().filter(|outcome| outcome.reads_as(&class.0));
    // Named in other words, as classes of a model may be, or the same outcome: no contradiction.
    if named.all(|outcome| outcome.reads_as(&value.0)) {
        return Ok(());
    }
    // A value that the label never has is told by whoever looks for it.
    if !outcomes.iter().any(|outcome| outcome.reads_as(&value.0)) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`model.favourable` says that `{}` is the yes, and `label.favourable` says `{}`; `{label}` has both values, so one of the two is wrong: take it out",
        class.0, value.0
    )))
}

/// Which value of a label is the yes, when a model is to be fitted to it and nobody says.
pub(crate) fn ask_about_label(label: &str, people: &People<'_>) -> Result<Failure, Failure> {
    let column = people.table.column(label)?;
    let mut outcomes = Outcomes::new(column.column(), people);
    for (row, profile, weight) in people.rows.kept() {
        let group = people.population.group(profile);
        outcomes.people[column.codes()[row] as usize][group] += weight;
    }
    Ok(Failure::usage(format!(
        "which value of `{label}` is the yes? The data cannot tell; say it with `label.favourable`:\n{}",
        outcomes.readings()
    )))
}

/// What the model answers each profile.
pub(crate) fn answers(model: &dyn Model, people: &People<'_>) -> Result<Vec<String>, Failure> {
    let all: Vec<usize> = (0..people.population.profiles()).collect();
    let mut answers = Vec::with_capacity(all.len());
    for profiles in all.chunks(MOST_PROFILES) {
        let rows = people.population.model_rows(profiles.iter().copied());
        let answer = model.predict(&rows)?;
        ModelError::check_rows(profiles.len(), answer.len())?;
        let (column, codes) = Column::of("answer", &answer)?;
        let label = |code: u32| column.values()[code as usize].label();
        answers.extend(codes.into_iter().map(label));
    }
    Ok(answers)
}

/// What the model answers people.
fn answered(model: &dyn Model, people: &People<'_>) -> Result<Outcomes, Failure> {
    let population = &people.population;
    let profiles = 0..population.profiles().min(MOST_PROFILES);
    let answer = model.predict(&population.model_rows(profiles.clone()))?;
    ModelError::check_rows(profiles.len(), answer.len())?;
    let (column, codes) = Column::of("answer", &answer)?;
    let is_share = |value: &&Value| matches!(value, Value::Float(number) if number.fract() != 0.0);
    if let Some(share) = column.values().iter().find(is_share) {
        return Err(Failure::model(format!(
            "the model answers {}, which is no class; if it is a probability, turn it into a class with `model.threshold`",
            share.label()
        )));
    }
    let mut outcomes = Outcomes::new(&column, people);
    for (profile, code) in profiles.zip(codes) {
        outcomes.people[code as usize][population.group(profile)] += population.people(profile);
    }
    Ok(outcomes)
}

/// Outcomes, and how many people of each group have each.
struct Outcomes {
    outcomes: Vec<Value>,
    groups: Vec<String>,
    people: Vec<Vec<u64>>,
}

impl Outcomes {
    fn new(column: &Column, people: &People<'_>) -> Self {
        let groups = people.population.groups().to_vec();
        Self {
            outcomes: column.values().to_vec(),
            people: vec![vec![0; groups.len()]; column.values().len()],
            groups,
        }
    }

    fn readings(&self) -> String {
        let outcomes = self.outcomes.iter().zip(&self.people);
        let outcomes: Vec<(String, &[u64])> = outcomes
            .filter(|(outcome, _)| **outcome != Value::Null)
            .map(|(outcome, people)| (outcome.label().trim().to_owned(), people.as_slice()))
            .collect();
        readings(&self.groups, &outcomes)
    }
}

/// A line for each outcome that could be the yes: who would be refused then. Each outcome comes with its
/// people by group.
pub(crate) fn readings(groups: &[String], outcomes: &[(String, &[u64])]) -> String {
    let in_group = |g: usize| outcomes.iter().map(|(_, of)| of[g]).sum::<u64>();
    let all: u64 = outcomes.iter().flat_map(|(_, of)| *of).sum();
    let share = |refused: u64, of: u64| {
        let share = refused as f64 / of.max(1) as f64;
        format!("{:.1} %", 100.0 * share)
    };
    let mut ordered: Vec<&(String, &[u64])> = outcomes.iter().collect();
    ordered.sort_by(|a, b| a.0.cmp(&b.0));
    let mut text = String::new();
    for (outcome, of) in ordered.into_iter().take(MOST_OUTCOMES) {
        let groups: Vec<String> = (groups.iter().enumerate())
            .map(|(g, name)| {
                let all = in_group(g);
                format!("{} {}", name.trim(), share(all - of[g], all))
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  if `{outcome}` is the yes, {} of {} people are refused ({})",
            share(all - of.iter().sum::<u64>(), all),
            text::count(all),
            groups.join(", ")
        );
    }
    text.trim_end().to_owned()
}
