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
use serde::Deserialize;
use thiserror::Error;

use self::newton::{Problem, Row};
pub use self::split::{Splitting, split, split_counts};
use crate::additive::{AdditiveModel, Unseen};

/// More coefficients than this are refused: their matrix of second derivatives would not fit.
const MAX_COEFFICIENTS: usize = 4096;

/// How a model is to be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The inverse strength of regularisation, as scikit-learn's `C`.
    pub c: f64,
    /// How heavily each class counts.
    pub class_weights: ClassWeights,
    /// Columns that the model must not see.
    pub exclude: Vec<String>,
}

/// How heavily each class counts while fitting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "ClassWeightsText")]
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

/// Class weights as they are written: a name, or a pair of weights.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected equal, balanced, or [unfavourable, favourable] such as [1, 10]"
)]
enum ClassWeightsText {
    Named(String),
    Given(f64, f64),
}

impl TryFrom<ClassWeightsText> for ClassWeights {
    type Error = String;

    fn try_from(text: ClassWeightsText) -> Result<Self, String> {
        match text {
            ClassWeightsText::Named(name) if name == "equal" => Ok(Self::Equal),
            ClassWeightsText::Named(name) if name == "balanced" => Ok(Self::Balanced),
            ClassWeightsText::Named(name) => Err(format!(
                "`{name}` is no way to weigh classes: write equal, balanced, or [unfavourable, favourable]"
            )),
            ClassWeightsText::Given(unfavourable, favourable) => Ok(Self::Given {
                unfavourable,
                favourable,
            }),
        }
    }
}

/// Rows to fit a model to or to try it on: as the model sees them, each with its outcome, and with how many
/// rows of the table it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Examples<'a> {
    /// The rows.
    pub rows: &'a RecordBatch,
    /// Whether the outcome of each is favourable.
    pub favourable: &'a [bool],
    /// How many rows of the table each stands for; each for itself, if nothing is said.
    pub repeats: Option<&'a [u64]>,
}

impl<'a> Examples<'a> {
    /// Rows that stand for themselves.
    pub fn new(rows: &'a RecordBatch, favourable: &'a [bool]) -> Self {
        Self {
            rows,
            favourable,
            repeats: None,
        }
    }

    fn repeats(&self, row: usize) -> u64 {
        self.repeats.map_or(1, |repeats| repeats[row])
    }

    /// How many rows of the table there are for which this holds.
    fn count(&self, is_counted: impl Fn(usize) -> bool) -> u64 {
        let rows = (0..self.favourable.len()).filter(|&row| is_counted(row));
        rows.map(|row| self.repeats(row)).sum()
    }
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
    /// Only one outcome.
    #[error("every row has the same outcome; a model needs rows of both to be fitted")]
    OneOutcome,
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
    #[error("the seed is {0}, and scikit-learn takes at most 4294967295")]
    Seed(u64),
    /// The table's batches do not fit together.
    #[error("{0}")]
    Table(String),
}

/// With scikit-learn's defaults: C = 1, every row counts once.
impl Default for Training {
    fn default() -> Self {
        Self {
            c: 1.0,
            class_weights: ClassWeights::default(),
            exclude: Vec::new(),
        }
    }
}

impl Training {
    /// Fits a model to examples. One that stands for several rows counts as often: the objective is that of
    /// the rows one by one, and its minimum is theirs but for rounding.
    pub fn fit(&self, examples: Examples<'_>) -> Result<AdditiveModel, TrainError> {
        let Examples {
            rows: table,
            favourable,
            ..
        } = examples;
        if !(self.c.is_finite() && self.c > 0.0) {
            return Err(TrainError::Parameter {
                what: "C",
                value: self.c,
            });
        }
        if favourable.iter().all(|yes| *yes) || !favourable.contains(&true) {
            return Err(TrainError::OneOutcome);
        }
        let weights = self.row_weights(examples)?;
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
            weight: weights[usize::from(favourable[i])] * self.c * examples.repeats(i) as f64,
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

    /// The weight of a row of the unfavourable and of the favourable class.
    fn row_weights(&self, examples: Examples<'_>) -> Result<[f64; 2], TrainError> {
        let weights = match self.class_weights {
            ClassWeights::Equal => [1.0, 1.0],
            ClassWeights::Balanced => {
                let yes = examples.count(|row| examples.favourable[row]);
                let all = examples.count(|_| true);
                let share = |of: u64| all as f64 / (2.0 * of as f64);
                [share(all - yes), share(yes)]
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
        let is_unknown = |name: &&String| schema.index_of(name).is_err();
        if let Some(unknown) = self.exclude.iter().find(is_unknown) {
            return Err(TrainError::UnknownColumn {
                column: unknown.clone(),
                known: schema.fields().iter().map(|f| f.name().clone()).collect(),
            });
        }
        let mut first = 0;
        let mut terms = Vec::new();
        for (field, array) in schema.fields().iter().zip(table.columns()) {
            let name = field.name();
            if self.exclude.contains(name) {
                continue;
            }
            let encoded = Column::of(name, array);
            let (column, codes) = encoded.map_err(|error| TrainError::Column {
                column: name.clone(),
                why: error.to_string(),
            })?;
            let is_number = field.data_type().is_numeric();
            let numbers = is_number.then(|| numbers(&column)).transpose()?;
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

/// The share of rows for which a model's answer is the outcome.
pub fn accuracy(model: &AdditiveModel, examples: Examples<'_>) -> Result<f64, TrainError> {
    let answer: ArrayRef = model
        .predict(examples.rows)
        .map_err(|error| TrainError::Table(error.to_string()))?;
    let answer = answer.as_any().downcast_ref::<BooleanArray>();
    let right = answer.map_or(0, |answer| {
        examples.count(|row| answer.value(row) == examples.favourable[row])
    });
    Ok(right as f64 / examples.count(|_| true).max(1) as f64)
}

/// What one column contributes: a coefficient for each of its values, or one for its number; and one
/// for a missing value, if it has any.
struct Term {
    /// The place of its first coefficient.
    first: usize,
    column: Column,
    /// The value of each row.
    codes: Vec<u32>,
    /// The number behind each value that is not missing, if it is a column of numbers.
    numbers: Option<Vec<Option<f64>>>,
}

impl Term {
    fn coefficients(&self) -> usize {
        let values = self.column.values();
        match &self.numbers {
            Some(_) => 1 + usize::from(values.contains(&Value::Null)),
            None => values.len(),
        }
    }

    /// The coefficient that a row uses, and what it is multiplied by.
    fn entry(&self, row: usize) -> (usize, f64) {
        let code = self.codes[row] as usize;
        match &self.numbers {
            Some(numbers) => match numbers[code] {
                Some(number) => (self.first, number),
                None => (self.first + 1, 1.0),
            },
            None => (self.first + code, 1.0),
        }
    }

    fn write(&self, coefficients: &[f64], model: &mut AdditiveModel) {
        let name = self.column.name();
        let values = self.column.values();
        let missing = match &self.numbers {
            Some(_) => {
                model
                    .numbers
                    .insert(name.to_owned(), coefficients[self.first]);
                self.first + 1
            }
            None => {
                let levels = values.iter().zip(&coefficients[self.first..]);
                let levels = levels.filter(|(value, _)| **value != Value::Null);
                let levels = levels.map(|(value, coefficient)| (value.label(), *coefficient));
                model.levels.insert(name.to_owned(), levels.collect());
                let missing = values.iter().position(|value| *value == Value::Null);
                self.first + missing.unwrap_or(0)
            }
        };
        if values.contains(&Value::Null) {
            model.missing.insert(name.to_owned(), coefficients[missing]);
        }
    }
}

fn numbers(column: &Column) -> Result<Vec<Option<f64>>, TrainError> {
    let number = |value: &Value| match value.number() {
        Some(number) if !number.is_finite() => Err(TrainError::Column {
            column: column.name().to_owned(),
            why: "it holds NaN or an infinity; drop those rows or exclude the column".to_owned(),
        }),
        number => Ok(number),
    };
    column.values().iter().map(number).collect()
}
