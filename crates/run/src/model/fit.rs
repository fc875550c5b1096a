//! A model fitted on the user's own table: the default that needs nothing else.

use std::borrow::Cow;

use facts_engine::flips::Favourable;
use facts_models::AdditiveModel;
use facts_models::train::Training;
use facts_report::{ModelOrigin, TrainingNote, text};

use super::AuditedModel;
use super::examples::Examples;
use crate::columns::Columns;
use crate::config::Config;
use crate::failure::Failure;
use crate::label::Label;
use crate::people::People;
use crate::readings::ask_about_label;
use crate::table::Table;

/// The seed of the split unless the user gives one.
const SEED: u64 = 131_313;
/// The part of the table that is audited when the model is fitted on the rest, in percent.
const TEST_PERCENT: u8 = 30;

/// A model that was fitted elsewhere on the train part of a table, to be audited on the rest.
#[derive(Debug)]
pub struct FittedElsewhere {
    /// The model.
    pub model: AdditiveModel,
    /// What it is, in a few words.
    pub description: String,
}

/// A model fitted here, and the people that it was not fitted on.
pub(crate) struct Fitted<'a> {
    pub(crate) model: AuditedModel,
    /// The model itself, to be saved.
    pub(crate) additive: AdditiveModel,
    pub(crate) people: People<'a>,
    pub(crate) notes: Vec<String>,
}

/// The label that a model is fitted to.
fn label(config: &Config, columns: &Columns, table: &Table) -> Result<Label, Failure> {
    if let Some(label) = Label::of(config, table)? {
        return Ok(label);
    }
    let Some(column) = &config.label.column else {
        return Err(Failure::usage(
            "a model is fitted to a label, and none is named; name it with `label.column`",
        ));
    };
    let people = People::of(config, &columns.declaration, Cow::Borrowed(&table.cells))?;
    Err(ask_about_label(column, &people)?)
}

/// How a configuration fits a model to these examples.
fn training(config: &Config, table: &Table, examples: &Examples<'_>) -> Result<Training, Failure> {
    for name in &config.train.exclude {
        let known = table.cells.column(name);
        known.map_err(|error| Failure::usage(format!("`train.exclude`: {error}")))?;
    }
    let seen = |name: &&String| (examples.population.columns().iter()).any(|c| c.name() == **name);
    Ok(Training {
        c: config.train.c.unwrap_or(1.0),
        class_weights: config.train.class_weights.unwrap_or_default(),
        exclude: config.train.exclude.iter().filter(seen).cloned().collect(),
    })
}

/// Fits the model that a configuration would train, on all rows of a table: where the rows to audit
/// are in a table of their own. Bins that the model sees are those of this table.
pub fn fit(config: &Config, table: &Table) -> Result<AdditiveModel, Failure> {
    let mut columns = Columns::decide(config, &table.cells, None)?;
    let label = label(config, &columns, table)?;
    let examples = Examples::new(config, &mut columns, &label, table)?;
    examples.fit(&training(config, table, &examples)?, &examples.all())
}

/// Fits a model on part of a table, or takes one that was fitted elsewhere on that part; the rest of
/// the people are to be audited.
pub(crate) fn fit_on_part<'a>(
    config: &Config,
    columns: &mut Columns,
    table: &'a Table,
    elsewhere: Option<FittedElsewhere>,
) -> Result<Fitted<'a>, Failure> {
    let label = label(config, columns, table)?;
    let examples = Examples::new(config, columns, &label, table)?;
    let training = training(config, table, &examples)?;
    let seed = config.train.seed.unwrap_or(SEED);
    let test_percent = config.train.test_percent.unwrap_or(TEST_PERCENT);
    if !(1..=99).contains(&test_percent) {
        return Err(Failure::usage(format!(
            "`train.test-percent` is {test_percent}; give 1 to 99"
        )));
    }
    let (train, test) = examples.split(test_percent, seed)?;
    let fitted_here = elsewhere.is_none();
    let (mut additive, description) = match elsewhere {
        Some(elsewhere) => (elsewhere.model, elsewhere.description),
        None => {
            let model = examples.fit(&training, &train)?;
            let columns = model.columns().count();
            (model, format!("logistic regression, {columns} columns"))
        }
    };
    if let Some(threshold) = config.model.threshold {
        additive = additive.with_threshold(threshold).map_err(Failure::usage)?;
    }
    let left_out = table.rows() as u64 - examples.all().rows();
    let reads = |name: &&String| additive.columns().any(|column| column == name.as_str());
    let origin = ModelOrigin {
        spec: if fitted_here { "train" } else { "linear" }.to_owned(),
        description,
        sha256: None,
        reads_protected: Some(config.protected.keys().filter(reads).cloned().collect()),
        training: fitted_here.then_some(TrainingNote {
            label: label.column,
            favourable: label.favourable,
            left_out,
            train_rows: train.rows(),
            test_rows: test.rows(),
            seed,
            by_counts: examples.is_by_counts(),
            accuracy: examples.accuracy(&additive, &test)?,
        }),
    };
    let mut notes = Vec::new();
    // Where small counts are suppressed, the note about rows that are shared tells of them.
    if left_out > 0 && config.audit.suppress_below.is_none() {
        notes.push(format!(
            "{} of {} rows miss a value and were left out before the model was fitted",
            text::count(left_out),
            text::count(table.rows() as u64),
        ));
    }
    let people = People::of(
        config,
        &columns.declaration,
        Cow::Owned(examples.table(&test)),
    )?;
    let model = AuditedModel {
        favourable: Some(Favourable::Positive),
        ..AuditedModel::at_hand(Box::new(additive.clone()), origin)
    };
    Ok(Fitted {
        model,
        additive,
        people,
        notes,
    })
}
