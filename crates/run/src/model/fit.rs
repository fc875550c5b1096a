//! A model fitted on the user's own table: the default that needs nothing else.

use std::borrow::Cow;

use facts_engine::flips::Favourable;
use facts_engine::population::Population;
use facts_models::AdditiveModel;
use facts_models::train::{Training, accuracy, split};
use facts_report::{ModelOrigin, TrainingNote, text};

use super::AuditedModel;
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

/// The rows that a model can be fitted on: in the audit, with a known outcome.
struct Examples {
    population: Population,
    /// Row, profile and outcome of each.
    rows: Vec<(usize, usize, bool)>,
}

impl Examples {
    /// Finds them, and fixes bins that the model sees where they lie among all of them: the part that
    /// it is fitted on and the part that is audited must be cut alike.
    fn new(
        config: &Config,
        columns: &mut Columns,
        label: &Label,
        table: &Table,
    ) -> Result<Self, Failure> {
        let known = label.known(table.cells.column(&label.column)?);
        let order = table.cells.order();
        let outcome = |row: usize| known[order[row] as usize];
        let rows: Vec<usize> = (0..order.len())
            .filter(|&row| outcome(row).is_some())
            .collect();
        let everybody = columns.declaration.clone().everybody();
        let People {
            population,
            rows: profiles,
            table: selected,
        } = People::of(config, &everybody, Cow::Owned(table.cells.select(&rows)))?;
        columns.declaration = std::mem::take(&mut columns.declaration).with_bins_of(&population);
        let kept = selected
            .order()
            .into_iter()
            .zip(rows)
            .filter_map(|(distinct, row)| {
                let profile = profiles.profile(distinct as usize)?;
                Some((row, profile, outcome(row)?))
            });
        Ok(Self {
            rows: kept.collect(),
            population,
        })
    }

    fn outcomes(&self, places: &[usize]) -> Vec<bool> {
        places.iter().map(|&place| self.rows[place].2).collect()
    }

    /// These examples as the model sees them.
    fn rows(&self, places: &[usize]) -> arrow_array::RecordBatch {
        let profiles = places.iter().map(|&place| self.rows[place].1);
        self.population.model_rows(profiles)
    }

    fn fit(&self, training: &Training, places: &[usize]) -> Result<AdditiveModel, Failure> {
        Ok(training.fit(&self.rows(places), &self.outcomes(places))?)
    }
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
fn training(config: &Config, table: &Table, examples: &Examples) -> Result<Training, Failure> {
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
    let all: Vec<usize> = (0..examples.rows.len()).collect();
    examples.fit(&training(config, table, &examples)?, &all)
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
    let all: Vec<usize> = (0..examples.rows.len()).collect();
    let splitting = config.train.split.unwrap_or_default();
    let (train, test) = split(&examples.outcomes(&all), splitting, test_percent, seed)?;
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
    let accuracy = accuracy(&additive, &examples.rows(&test), &examples.outcomes(&test))?;
    let reads = |name: &&String| additive.columns().any(|column| column == name.as_str());
    let origin = ModelOrigin {
        spec: if fitted_here { "train" } else { "linear" }.to_owned(),
        description,
        sha256: None,
        reads_protected: Some(config.protected.keys().filter(reads).cloned().collect()),
        training: fitted_here.then_some(TrainingNote {
            label: label.column,
            favourable: label.favourable,
            left_out: (table.rows() - examples.rows.len()) as u64,
            train_rows: train.len() as u64,
            test_rows: test.len() as u64,
            seed,
            accuracy,
        }),
    };
    let mut notes = Vec::new();
    let left_out = table.rows() - examples.rows.len();
    // Where small counts are suppressed, the note about rows that are shared tells of them.
    if left_out > 0 && config.audit.suppress_below.is_none() {
        notes.push(format!(
            "{} of {} rows miss a value and were left out before the model was fitted",
            text::count(left_out as u64),
            text::count(table.rows() as u64),
        ));
    }
    let rows: Vec<usize> = test.iter().map(|&place| examples.rows[place].0).collect();
    let rows = Cow::Owned(table.cells.select(&rows));
    let people = People::of(config, &columns.declaration, rows)?;
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
