//! The default: a model fitted here, for those who have a labelled table and no model yet.
//!
//! L2 logistic regression with one coefficient for each value of a text column and one for each
//! number, fitted on a stratified part of the table; the rest is for the audit. The objective is
//! scikit-learn's: `½‖w‖² + C · Σ log(1 + exp(−y·f(x)))`, the intercept free.
//!
//! It is fitted by Newton's method, not by a crate: the kept ones (`smartcore`, `linfa-logistic`)
//! know neither class weights nor weighted rows, and an exact second-order method on a few hundred
//! coefficients needs ten steps and no tolerance to tune.

mod newton;
mod scikit;
mod split;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::Model;
use facts_engine::population::{Column, Value};
use thiserror::Error;

use self::newton::{Problem, Row};
pub use self::split::{Split, Splitting, split};
use crate::additive::{AdditiveModel, Unseen};

/// More coefficients than this are refused: their matrix of second derivatives would not fit.
const MAX_COEFFICIENTS: usize = 4096;

/// How a model is to be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The column that holds the outcome.
    pub label: String,
    /// The value of that column that is favourable; every other is not.
    pub favourable: String,
    /// The inverse strength of regularisation, as scikit-learn's `C`.
    pub c: f64,
    /// How heavily each class counts.
    pub class_weights: ClassWeights,
    /// Columns that the model must not see.
    pub exclude: Vec<String>,
}

/// How heavily each class counts while fitting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ClassWeights {
    /// Every row counts once.
    #[default]
    Equal,
    /// Both classes count the same in all: rows of the rarer class count more.
    Balanced,
    /// These weights for a row of the unfavourable and of the favourable class.
    Given {
        /// For the unfavourable class.
        unfavourable: f64,
        /// For the favourable class.
        favourable: f64,
    },
}

/// Why a model cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainError {
    /// No such column.
    #[error("there is no column `{column}` to train on; the table has: {}", known.join(", "))]
    UnknownColumn {
        /// The column.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// Only one class in the label.
    #[error("label `{label}`: {why}")]
    OneClass {
        /// The label column.
        label: String,
        /// What was found, and what to do.
        why: String,
    },
    /// A column that cannot be used.
    #[error("column `{column}` cannot be trained on: {why}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Too many coefficients.
    #[error(
        "{coefficients} coefficients are too many (at most {MAX_COEFFICIENTS}): column `{column}` alone has {values} values; exclude it or give it fewer values"
    )]
    TooMany {
        /// Coefficients in all.
        coefficients: usize,
        /// The column with most values.
        column: String,
        /// How many it has.
        values: usize,
    },
    /// A parameter that makes no sense.
    #[error("{what} is {value}, but must be above 0")]
    Parameter {
        /// Which.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A seed that numpy's generator does not take.
    #[error("the seed is {seed}, and scikit-learn takes at most 4294967295")]
    Seed {
        /// What was given.
        seed: u64,
    },
    /// The table's batches do not fit together.
    #[error("{0}")]
    Table(String),
}

impl Training {
    /// With scikit-learn's defaults: C = 1, every row counts once.
    pub fn new(label: impl Into<String>, favourable: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            favourable: favourable.into(),
            c: 1.0,
            class_weights: ClassWeights::default(),
            exclude: Vec::new(),
        }
    }

    /// Fits a model to a table.
    pub fn fit(&self, table: &RecordBatch) -> Result<AdditiveModel, TrainError> {
        if !(self.c.is_finite() && self.c > 0.0) {
            return Err(TrainError::Parameter {
                what: "C",
                value: self.c,
            });
        }
        let favourable = self.outcomes(table)?;
        let weights = self.row_weights(&favourable)?;
        let terms = self.terms(table)?;
        let coefficients: usize = terms.iter().map(Term::coefficients).sum();
        if coefficients > MAX_COEFFICIENTS {
            let widest = terms.iter().max_by_key(|term| term.coefficients());
            return Err(TrainError::TooMany {
                coefficients,
                column: widest.map_or_else(String::new, |t| t.column.name().to_owned()),
                values: widest.map_or(0, Term::coefficients),
            });
        }
        let rows = (0..table.num_rows()).map(|i| Row {
            favourable: favourable[i],
            weight: weights[usize::from(favourable[i])] * self.c,
            entries: terms.iter().map(|term| term.entry(i)).collect(),
        });
        let solved = Problem {
            coefficients,
            rows: rows.collect(),
        }
        .solve();
        let mut model = AdditiveModel {
            intercept: solved.intercept,
            unseen: Unseen::Zero,
            ..AdditiveModel::default()
        };
        for term in &terms {
            term.write(&solved.coefficients, &mut model);
        }
        Ok(model)
    }

    /// The share of rows for which a model's answer is the outcome.
    pub fn accuracy(&self, model: &AdditiveModel, table: &RecordBatch) -> Result<f64, TrainError> {
        let outcomes = self.outcomes(table)?;
        let answer: ArrayRef = model
            .predict(table)
            .map_err(|error| TrainError::Table(error.to_string()))?;
        let answer = answer.as_any().downcast_ref::<BooleanArray>();
        let right = answer.map_or(0, |answer| {
            outcomes
                .iter()
                .enumerate()
                .filter(|&(i, outcome)| answer.value(i) == *outcome)
                .count()
        });
        Ok(right as f64 / outcomes.len().max(1) as f64)
    }

    /// Whether each row's outcome is favourable.
    pub(crate) fn outcomes(&self, table: &RecordBatch) -> Result<Vec<bool>, TrainError> {
        let (column, codes) = encode(table, &self.label)?;
        let favourable: Vec<bool> = column
            .values()
            .iter()
            .map(|value| value.label().trim() == self.favourable.trim())
            .collect();
        if column.values().contains(&Value::Null) {
            return Err(TrainError::OneClass {
                label: self.label.clone(),
                why: "some rows have no outcome; drop them".to_owned(),
            });
        }
        if favourable.iter().all(|f| *f) || !favourable.contains(&true) {
            let mut values: Vec<String> = column.values().iter().map(Value::label).collect();
            values.truncate(12);
            return Err(TrainError::OneClass {
                label: self.label.clone(),
                why: format!(
                    "`{}` must be one of at least two values, and the column has: {}",
                    self.favourable,
                    values.join(", ")
                ),
            });
        }
        Ok(codes
            .iter()
            .map(|&code| favourable[code as usize])
            .collect())
    }

    /// The weight of a row of the unfavourable and of the favourable class.
    fn row_weights(&self, favourable: &[bool]) -> Result<[f64; 2], TrainError> {
        let weights = match self.class_weights {
            ClassWeights::Equal => [1.0, 1.0],
            ClassWeights::Balanced => {
                let yes = favourable.iter().filter(|f| **f).count();
                let share = |of: usize| favourable.len() as f64 / (2.0 * of as f64);
                [share(favourable.len() - yes), share(yes)]
            }
            ClassWeights::Given {
                unfavourable,
                favourable,
            } => [unfavourable, favourable],
        };
        match weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            None => Ok(weights),
            Some(&value) => Err(TrainError::Parameter {
                what: "a class weight",
                value,
            }),
        }
    }

    fn terms(&self, table: &RecordBatch) -> Result<Vec<Term>, TrainError> {
        let schema = table.schema();
        let known = || schema.fields().iter().map(|f| f.name().clone()).collect();
        if let Some(unknown) = self
            .exclude
            .iter()
            .find(|name| schema.index_of(name).is_err())
        {
            return Err(TrainError::UnknownColumn {
                column: unknown.clone(),
                known: known(),
            });
        }
        let mut first = 0;
        let mut terms = Vec::new();
        for field in schema.fields() {
            if *field.name() == self.label || self.exclude.contains(field.name()) {
                continue;
            }
            let (column, codes) = encode(table, field.name())?;
            let is_number = field.data_type().is_numeric();
            let numbers = if is_number {
                Some(numbers(&column)?)
            } else {
                None
            };
            let term = Term {
                first,
                column,
                codes,
                numbers,
            };
            first += term.coefficients();
            terms.push(term);
        }
        Ok(terms)
    }
}

/// What one column contributes: a coefficient for each of its values, or one for its number.
struct Term {
    /// The place of its first coefficient.
    first: usize,
    column: Column,
    /// The value of each row.
    codes: Vec<u32>,
    /// The number behind each value, if it is a column of numbers.
    numbers: Option<Vec<f64>>,
}

impl Term {
    fn coefficients(&self) -> usize {
        if self.numbers.is_some() {
            1
        } else {
            self.column.values().len()
        }
    }

    /// The coefficient that a row uses, and what it is multiplied by.
    fn entry(&self, row: usize) -> (usize, f64) {
        let code = self.codes[row] as usize;
        match &self.numbers {
            Some(numbers) => (self.first, numbers[code]),
            None => (self.first + code, 1.0),
        }
    }

    fn write(&self, coefficients: &[f64], model: &mut AdditiveModel) {
        let name = self.column.name().to_owned();
        if self.numbers.is_some() {
            model.numbers.insert(name, coefficients[self.first]);
            return;
        }
        let values = self.column.values().iter().zip(&coefficients[self.first..]);
        // A missing value has no text to stand for it; like an unseen one it adds nothing.
        let levels = values.filter(|(value, _)| **value != Value::Null);
        let levels = levels.map(|(value, coefficient)| (value.label(), *coefficient));
        model.levels.insert(name, levels.collect());
    }
}

fn encode(table: &RecordBatch, name: &str) -> Result<(Column, Vec<u32>), TrainError> {
    let array = table
        .column_by_name(name)
        .ok_or_else(|| TrainError::UnknownColumn {
            column: name.to_owned(),
            known: table
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect(),
        })?;
    Column::of(name, array).map_err(|error| TrainError::Column {
        column: name.to_owned(),
        why: error.to_string(),
    })
}

fn numbers(column: &Column) -> Result<Vec<f64>, TrainError> {
    let refuse = |why: &str| TrainError::Column {
        column: column.name().to_owned(),
        why: why.to_owned(),
    };
    let number = |value: &Value| match value.number() {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(refuse(
            "it holds NaN or an infinity; drop those rows or exclude the column",
        )),
        None => Err(refuse(
            "it holds missing numbers; drop those rows or exclude the column",
        )),
    };
    column.values().iter().map(number).collect()
}
