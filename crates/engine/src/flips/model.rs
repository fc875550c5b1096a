//! The model under audit, and the checks on what it answers.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use super::Counterfactuals;
use crate::bits::Words;
use crate::error::{Error, ModelError};
use crate::population::{Column, Dictionaries, Value};

/// Any binary classifier.
///
/// [`predict`](Model::predict) is all that a model must offer. A model that can answer "whom does
/// this change flip?" without being sent whole rows overrides [`flips`](Model::flips): an additive
/// model adds differences, a tree ensemble walks the trees that look at a changed feature.
pub trait Model: Sync {
    /// The class of each row: booleans, numbers 0 and 1, or names.
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError>;

    /// How many batches may be predicted at the same time.
    fn concurrency(&self) -> usize {
        1
    }

    /// Which columns may come as dictionary arrays.
    fn dictionaries(&self) -> Dictionaries {
        Dictionaries::None
    }

    /// Whether the model is asked about counterfactual rows one by one, so that answers are worth
    /// keeping. A model that overrides [`flips`](Model::flips) says no.
    fn asks_for_rows(&self) -> bool {
        true
    }

    /// For each change the positions, among those that [need](Counterfactuals::needed) an answer,
    /// whose prediction turns favourable.
    ///
    /// By default each distinct counterfactual row that is not known yet is predicted once, in
    /// batches.
    fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
        ask.each_row_once(self)
    }
}

/// So many classes of an answer are kept in mind while it is read.
const FEW: usize = 16;

/// Which class is the favourable one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Favourable {
    /// `true`, or the number 1.
    #[default]
    Positive,
    /// The class with this name (or this number, as text); every other class is unfavourable.
    Class(String),
}

impl Favourable {
    /// Whether an answer of yes or no is favourable.
    pub(crate) fn of(&self, positive: bool) -> bool {
        match self {
            Self::Positive => positive,
            Self::Class(name) => Value::Boolean(positive).reads_as(&name.to_lowercase()),
        }
    }

    /// Reads a model's answer; one entry a row.
    pub(crate) fn read(&self, answer: &ArrayRef, asked: usize) -> Result<Vec<bool>, ModelError> {
        ModelError::check_rows(asked, answer.len())?;
        if answer.logical_null_count() > 0 {
            let nulls = answer.logical_nulls();
            let row = nulls.map_or(0, |nulls| {
                (0..asked).find(|&i| nulls.is_null(i)).unwrap_or(0)
            });
            return Err(not_a_class(
                row,
                "nothing (null)",
                "every row needs an answer",
            ));
        }
        match answer.data_type() {
            DataType::Boolean => Ok(answer
                .as_boolean()
                .values()
                .iter()
                .map(|v| self.of(v))
                .collect()),
            DataType::Float64 => self.read_numbers(
                answer
                    .as_primitive::<Float64Type>()
                    .values()
                    .iter()
                    .copied(),
            ),
            DataType::Float32 => {
                let values = answer.as_primitive::<Float32Type>().values().iter();
                self.read_numbers(values.map(|&v| f64::from(v)))
            }
            data_type => {
                // Integers and text, by their distinct values: there are few classes.
                let no_classes = || ModelError::NoClasses(data_type.to_string());
                let (column, codes) = Column::of("prediction", answer).map_err(|_| no_classes())?;
                let classes = column
                    .values()
                    .iter()
                    .enumerate()
                    .map(|(code, value)| {
                        self.of_label(&value.label()).map_err(|remedy| {
                            let row = column.first_row(code as u32) as usize - 1;
                            not_a_class(row, &value.label(), remedy)
                        })
                    })
                    .collect::<Result<Vec<bool>, _>>()?;
                Ok(codes.iter().map(|&code| classes[code as usize]).collect())
            }
        }
    }

    fn read_numbers(&self, numbers: impl Iterator<Item = f64>) -> Result<Vec<bool>, ModelError> {
        // There are few classes, and to read one takes longer than all else that is done with a row.
        let mut known: Vec<(f64, bool)> = Vec::new();
        let read = |(row, number): (usize, f64)| {
            if let Some((_, favourable)) = known
                .iter()
                .find(|(class, _)| class.to_bits() == number.to_bits())
            {
                return Ok(*favourable);
            }
            let refused = |remedy| not_a_class(row, &number.to_string(), remedy);
            if number.fract() != 0.0 || !number.is_finite() {
                let remedy = "if it is a probability, turn it into a class with a threshold";
                return Err(refused(remedy));
            }
            let favourable = self.of_label(&number.to_string()).map_err(refused)?;
            if known.len() < FEW {
                known.push((number, favourable));
            }
            Ok(favourable)
        };
        numbers.enumerate().map(read).collect()
    }

    /// Whether a class given as text is favourable, or what to do if it is no class.
    fn of_label(&self, label: &str) -> Result<bool, &'static str> {
        match self {
            Self::Class(name) => Ok(Value::Text(label.into()).reads_as(name)),
            Self::Positive => match label.trim() {
                "1" => Ok(true),
                "0" => Ok(false),
                other if other.eq_ignore_ascii_case("true") => Ok(true),
                other if other.eq_ignore_ascii_case("false") => Ok(false),
                _ => Err("answers must be 1 or 0, unless you say which class is favourable"),
            },
        }
    }
}

fn not_a_class(row: usize, value: &str, remedy: &'static str) -> ModelError {
    ModelError::NotAClass {
        row: row + 1,
        value: value.to_owned(),
        remedy,
    }
}

/// A model made of any Rust closure over a batch: one answer a row, `true` for the favourable.
pub struct FnModel<F>(F);

impl<F> FnModel<F>
where
    F: Fn(&RecordBatch) -> Vec<bool> + Sync,
{
    /// Wraps a closure.
    pub fn new(predict: F) -> Self {
        Self(predict)
    }
}

impl<F> Model for FnModel<F>
where
    F: Fn(&RecordBatch) -> Vec<bool> + Sync,
{
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        Ok(Arc::new(BooleanArray::from((self.0)(rows))))
    }

    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }
}

impl<F> fmt::Debug for FnModel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnModel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, Int32Array, StringArray};

    fn read(
        favourable: &Favourable,
        answer: impl Array + 'static,
        asked: usize,
    ) -> Result<Vec<bool>, String> {
        favourable
            .read(&(Arc::new(answer) as ArrayRef), asked)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn classes_come_in_many_types() {
        let positive = Favourable::Positive;
        assert_eq!(
            read(&positive, Int32Array::from(vec![1, 0]), 2),
            Ok(vec![true, false])
        );
        assert_eq!(
            read(&positive, Float64Array::from(vec![0.0, 1.0]), 2),
            Ok(vec![false, true])
        );
        assert_eq!(
            read(&positive, StringArray::from(vec!["True", "0"]), 2),
            Ok(vec![true, false])
        );
        let rich = Favourable::Class(">50K".into());
        assert_eq!(
            read(&rich, StringArray::from(vec![" >50K", "<=50K"]), 2),
            Ok(vec![true, false])
        );
        let zero = Favourable::Class("0".into());
        assert_eq!(
            read(&zero, BooleanArray::from(vec![true, false]), 2),
            Ok(vec![false, true])
        );
        assert_eq!(
            read(&zero, Int32Array::from(vec![1, 0]), 2),
            Ok(vec![false, true])
        );
    }

    #[test]
    fn what_is_no_class_is_refused() {
        let positive = Favourable::Positive;
        assert_eq!(
            read(&positive, Int32Array::from(vec![1]), 2).unwrap_err(),
            "the model was asked for 2 rows and answered 1; it must give one class a row, in order"
        );
        assert_eq!(
            read(&positive, Float64Array::from(vec![1.0, 0.37]), 2).unwrap_err(),
            "the model answered 0.37 for row 2 of a batch, which is not a class; if it is a probability, turn it into a class with a threshold"
        );
        assert_eq!(
            read(&positive, Int32Array::from(vec![Some(1), None]), 2).unwrap_err(),
            "the model answered nothing (null) for row 2 of a batch, which is not a class; every row needs an answer"
        );
        assert_eq!(
            read(&positive, StringArray::from(vec!["yes"]), 1).unwrap_err(),
            "the model answered yes for row 1 of a batch, which is not a class; answers must be 1 or 0, unless you say which class is favourable"
        );
        assert_eq!(
            read(&positive, arrow_array::Date32Array::from(vec![1]), 1).unwrap_err(),
            "the model answered with values of type Date32; classes are booleans, numbers or text"
        );
    }
}
