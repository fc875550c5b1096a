//! Additive models: an intercept, a coefficient for each level of a column, a coefficient for each
//! number. Logistic regression, linear models and scorecards are of this form.
//!
//! The score is the sum; above 0 is the positive class. Because a change only replaces some terms
//! of the sum, whom it flips is found by adding differences: no row is ever built. The additions
//! are only trusted where rounding cannot matter; close to 0 the whole sum is taken again, in the
//! order in which [`predict`](Model::predict) takes it, so both always agree.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::{Assigned, Counterfactuals, Model, ModelError};
use facts_engine::population::{Column, Value};
use facts_engine::{Error, Words};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::columns;
use crate::error::OpenError;
use crate::open::{self, Format, Input, InputKind, Opened, Spelling};

/// A sum of terms, one for each column that it looks at.
///
/// As JSON:
///
/// ```
/// # use facts_models::AdditiveModel;
/// let model: AdditiveModel = serde_json::from_str(
///     r#"{
///         "intercept": -2.0,
///         "levels": { "job": { "clerk": 0.5, "manager": 1.75 } },
///         "numbers": { "hours": 0.03 },
///         "unseen": "zero"
///     }"#,
/// )?;
/// assert_eq!(model.columns().collect::<Vec<_>>(), ["job", "hours"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdditiveModel {
    /// The score of nobody in particular.
    pub intercept: f64,
    /// By column, what each of its values adds. Values are written as the table holds them.
    #[serde(default)]
    pub levels: BTreeMap<String, BTreeMap<String, f64>>,
    /// By column, what one unit of its number adds.
    #[serde(default)]
    pub numbers: BTreeMap<String, f64>,
    /// By column, what a missing value adds. A column that is not listed here has no missing value, or
    /// one that `levels` does not list.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, f64>,
    /// What a value adds that `levels` does not list.
    #[serde(default)]
    pub unseen: Unseen,
}

/// What an additive model does with a value that it has no coefficient for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// Stop with an error that names the value.
    #[default]
    Error,
    /// It adds nothing, as after a one-hot encoder that ignores unknown categories.
    Zero,
}

/// The names in its JSON.
const PARTS: [&str; 5] = ["intercept", "levels", "numbers", "missing", "unseen"];

pub(crate) const FORMAT: Format = Format {
    prefix: "linear",
    usage: "model.json",
    about: "an intercept, a coefficient per level and per number, as JSON",
    recognises: Some(|path, start| {
        let names = open::top_names(start);
        let is_ours = |name: &String| PARTS.contains(&name.as_str());
        path.extension().is_some_and(|e| e == "json")
            && !names.is_empty()
            && names.iter().all(is_ours)
    }),
    open: |rest, options| {
        let path = Path::new(rest);
        let text = facts_guard::read_text(path, facts_guard::LARGEST_MODEL)
            .map_err(|error| OpenError::file(path, error))?;
        let model: AdditiveModel = serde_json::from_str(&text)
            .map_err(|error| OpenError::invalid(path, "linear", error))?;
        let mut model = model.renamed(&options.columns);
        if let Some(threshold) = options.threshold {
            model = model
                .with_threshold(threshold)
                .map_err(|why| OpenError::invalid(path, "linear", why))?;
        }
        Ok(Opened {
            inputs: Some(model.inputs()),
            description: format!("linear, {} columns", model.columns().count()),
            file: Some(path.to_owned()),
            model: Box::new(model),
        })
    },
};

/// What one column adds, by value code.
struct Term {
    column: usize,
    adds: Vec<f64>,
}

impl AdditiveModel {
    /// The columns that the model looks at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.levels
            .keys()
            .chain(self.numbers.keys())
            .map(String::as_str)
    }

    /// The model that says yes from this probability on instead of from 0.5 on, its score being the
    /// log-odds, as that of logistic regression is.
    pub fn with_threshold(mut self, threshold: f64) -> Result<Self, String> {
        if !(threshold > 0.0 && threshold < 1.0) {
            return Err(format!(
                "the threshold is {threshold}, but must be a probability above 0 and below 1"
            ));
        }
        self.intercept -= (threshold / (1.0 - threshold)).ln();
        Ok(self)
    }

    /// The model with its inputs called as the table calls them.
    fn renamed(mut self, columns: &BTreeMap<String, String>) -> Self {
        fn renamed<T>(
            part: BTreeMap<String, T>,
            columns: &BTreeMap<String, String>,
        ) -> BTreeMap<String, T> {
            let name = |input: String| columns.get(&input).cloned().unwrap_or(input);
            part.into_iter()
                .map(|(input, c)| (name(input), c))
                .collect()
        }
        self.levels = renamed(self.levels, columns);
        self.numbers = renamed(self.numbers, columns);
        self.missing = renamed(self.missing, columns);
        self
    }

    fn inputs(&self) -> Vec<Input> {
        let levels = self.levels.iter().map(|(column, coefficients)| Input {
            column: column.clone(),
            kind: InputKind::Text(Some(coefficients.keys().cloned().collect())),
            spelling: Spelling::Exact,
        });
        let numbers = self.numbers.keys().map(|column| Input {
            column: column.clone(),
            kind: InputKind::Number,
            spelling: Spelling::Exact,
        });
        levels.chain(numbers).collect()
    }

    /// What each value of a column adds, for all columns that the model looks at, in a fixed order.
    fn terms(&self, columns: &[&Column]) -> Result<Vec<Term>, ModelError> {
        let find = |name: &str| {
            let found = columns.iter().position(|column| column.name() == name);
            found.ok_or_else(|| columns::not_given(name))
        };
        let mut terms = Vec::new();
        for (name, coefficients) in &self.levels {
            let column = find(name)?;
            let adds = columns[column].values().iter();
            let adds = adds.map(|value| self.level_adds(name, coefficients, value));
            terms.push(Term {
                column,
                adds: adds.collect::<Result<_, _>>()?,
            });
        }
        for (name, coefficient) in &self.numbers {
            let column = find(name)?;
            let adds = columns[column].values().iter().map(|value| {
                if let Some(missing) = self.missing_adds(name, value) {
                    return Ok(missing);
                }
                let number = value.number().ok_or_else(|| {
                    let why = match value {
                        Value::Null => {
                            "it has a missing value, and a number is needed; drop such rows"
                                .to_owned()
                        }
                        other => format!("`{}` is not a number", other.label()),
                    };
                    ModelError::column(name, why)
                })?;
                Ok(coefficient * number)
            });
            terms.push(Term {
                column,
                adds: adds.collect::<Result<_, ModelError>>()?,
            });
        }
        self.refuse_overflow(&terms, columns)?;
        Ok(terms)
    }

    /// Fails if some row's sum would be too large for a number: whatever it is compared with would be wrong.
    fn refuse_overflow(&self, terms: &[Term], columns: &[&Column]) -> Result<(), ModelError> {
        let mut most = self.intercept.abs();
        for term in terms {
            most += term.adds.iter().fold(0.0, |most, add| add.abs().max(most));
            if !most.is_finite() {
                let why = "its coefficients are so large that the score overflows; scale them down";
                return Err(ModelError::column(
                    columns[term.column].name(),
                    why.to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// What a missing value adds, if this is one and the model knows it.
    fn missing_adds(&self, column: &str, value: &Value) -> Option<f64> {
        let known = self.missing.get(column).copied();
        known.filter(|_| *value == Value::Null)
    }

    fn level_adds(
        &self,
        column: &str,
        coefficients: &BTreeMap<String, f64>,
        value: &Value,
    ) -> Result<f64, ModelError> {
        if let Some(missing) = self.missing_adds(column, value) {
            return Ok(missing);
        }
        match (coefficients.get(&value.label()), self.unseen) {
            (Some(coefficient), _) if *value != Value::Null => Ok(*coefficient),
            (_, Unseen::Zero) => Ok(0.0),
            (_, Unseen::Error) => Err(ModelError::column(column, match value {
                Value::Null => "it has a missing value, for which there is no coefficient; drop such rows, or let unseen values add zero".to_owned(),
                other => format!("there is no coefficient for `{}`; add one, or let unseen values add zero", other.label()),
            })),
        }
    }

    /// The whole sum, always in the same order.
    fn score(&self, terms: &[Term], code: impl Fn(usize) -> u32) -> f64 {
        let adds = |term: &Term| term.adds[code(term.column) as usize];
        terms
            .iter()
            .fold(self.intercept, |score, term| score + adds(term))
    }
}

impl Model for AdditiveModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let mut columns = Vec::with_capacity(rows.num_columns());
        let mut codes = Vec::with_capacity(rows.num_columns());
        for name in self.columns() {
            let Some(array) = rows.column_by_name(name) else {
                continue;
            };
            let (column, column_codes) = Column::of(name, array)
                .map_err(|error| ModelError::column(name, error.to_string()))?;
            columns.push(column);
            codes.push(column_codes);
        }
        let terms = self.terms(&columns.iter().collect::<Vec<_>>())?;
        let positive = (0..rows.num_rows()).map(|row| self.score(&terms, |c| codes[c][row]) > 0.0);
        Ok(Arc::new(BooleanArray::from(
            positive.collect::<Vec<bool>>(),
        )))
    }

    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }

    fn asks_for_rows(&self) -> bool {
        false
    }

    fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
        let terms = self.terms(&ask.columns().iter().collect::<Vec<_>>())?;
        let sums = Sums::new(self, &terms, ask);
        let done = AtomicUsize::new(0);
        ask.tell(0)?;
        (0..ask.changes())
            .into_par_iter()
            .map(|change| {
                let flips = sums.flips(change);
                ask.tell(done.fetch_add(1, Ordering::Relaxed) + 1)?;
                Ok(flips)
            })
            .collect()
    }
}

/// The scores of everybody before any change, and what is needed to change them.
struct Sums<'a> {
    model: &'a AdditiveModel,
    terms: &'a [Term],
    ask: &'a Counterfactuals<'a>,
    /// By position.
    scores: Vec<f64>,
    /// By column: what each value adds, all terms together, and the value of each position.
    adds: Vec<Vec<f64>>,
    codes: Vec<Vec<u32>>,
    /// Scores this close to 0 are summed again.
    doubt: f64,
}

impl<'a> Sums<'a> {
    fn new(model: &'a AdditiveModel, terms: &'a [Term], ask: &'a Counterfactuals<'a>) -> Self {
        let columns = ask.columns();
        let mut adds: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| vec![0.0; column.values().len()])
            .collect();
        for term in terms {
            for (sum, add) in adds[term.column].iter_mut().zip(&term.adds) {
                *sum += add;
            }
        }
        let mut scores = vec![0.0; ask.end()];
        let mut codes = vec![vec![0; ask.end()]; columns.len()];
        for position in ask.positions() {
            let row = ask.row(position);
            scores[position] = model.score(terms, |column| row[column]);
            for (codes, code) in codes.iter_mut().zip(row) {
                codes[position] = *code;
            }
        }
        // Every partial sum is at most this large, and each of the few dozen additions rounds by
        // less than 2^-52 of it: doubt a thousand times more than that.
        let largest: f64 = model.intercept.abs()
            + terms
                .iter()
                .map(|term| {
                    term.adds
                        .iter()
                        .fold(0.0, |most: f64, add| most.max(add.abs()))
                })
                .sum::<f64>();
        Self {
            model,
            terms,
            ask,
            scores,
            adds,
            codes,
            doubt: largest * f64::EPSILON * 1000.0 * (terms.len() + 1) as f64,
        }
    }

    /// Hot: once for each distinct pair of profile and change. Bounded by the gathers of what old
    /// and new values add.
    fn flips(&self, change: usize) -> Words {
        let mut flips = self.ask.nobody();
        let assigned: Vec<Assigned<'_>> = self.ask.assigned(change).collect();
        for position in self.ask.needed(change) {
            let mut score = self.scores[position];
            for assigned in &assigned {
                let old = self.codes[assigned.column][position];
                let adds = &self.adds[assigned.column];
                score += adds[assigned.value(old) as usize] - adds[old as usize];
            }
            if score.abs() <= self.doubt {
                score = self.score_again(&assigned, position);
            }
            if self.ask.is_favourable(score > 0.0) {
                flips[position / 64] |= 1 << (position % 64);
            }
        }
        flips
    }

    #[cold]
    fn score_again(&self, assigned: &[Assigned<'_>], position: usize) -> f64 {
        let mut row = self.ask.row(position).to_vec();
        for assigned in assigned {
            row[assigned.column] = assigned.value(row[assigned.column]);
        }
        self.model.score(self.terms, |column| row[column])
    }
}
