//! Does an exported model still answer as the original did?
//!
//! An export is a second program for the same model. ONNX computes in 32-bit floats where
//! scikit-learn computes in 64: a number that is scaled first and then compared with a tree's
//! split can fall on the other side of it. How often that happens depends on the rows, so it is
//! counted on the user's own.

use std::fmt;

use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{Column, Value};

/// How many rows a model answers otherwise than the one it was exported from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parity {
    /// Rows compared.
    pub rows: u64,
    /// The rows, from 1, in which the answers differ.
    pub differing: Vec<u64>,
}

impl Parity {
    /// Asks the model and compares with what the original answered, one class a row.
    ///
    /// Classes are compared by what they mean: 1, 1.0 and `true` are one class.
    pub fn check(
        model: &(impl Model + ?Sized),
        rows: &RecordBatch,
        original: &ArrayRef,
    ) -> Result<Self, ModelError> {
        let answered = classes(&model.predict(rows)?)?;
        let original = classes(original)?;
        ModelError::check_rows(original.len(), answered.len())?;
        let pairs = answered.iter().zip(&original).zip(1..);
        Ok(Self {
            rows: original.len() as u64,
            differing: pairs
                .filter(|((answered, original), _)| answered != original)
                .map(|(_, row)| row)
                .collect(),
        })
    }

    /// The share of rows that are answered alike.
    pub fn share(&self) -> f64 {
        if self.rows == 0 {
            return 1.0;
        }
        1.0 - self.differing.len() as f64 / self.rows as f64
    }
}

fn classes(array: &ArrayRef) -> Result<Vec<String>, ModelError> {
    let (column, codes) = Column::of("prediction", array)
        .map_err(|_| ModelError::NoClasses(array.data_type().to_string()))?;
    let name = |value: &Value| match value {
        Value::Boolean(yes) => u8::from(*yes).to_string(),
        Value::Float(number) => number.to_string(),
        other => match other.label().trim() {
            label if label.eq_ignore_ascii_case("true") => "1".to_owned(),
            label if label.eq_ignore_ascii_case("false") => "0".to_owned(),
            label => label.to_owned(),
        },
    };
    let names: Vec<String> = column.values().iter().map(name).collect();
    Ok(codes
        .iter()
        .map(|&code| names[code as usize].clone())
        .collect())
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differing.is_empty() {
            return write!(
                f,
                "the model answers all {} rows as the original did",
                self.rows
            );
        }
        let first: Vec<String> = self.differing.iter().take(5).map(u64::to_string).collect();
        write!(
            f,
            "the model answers {} of {} rows ({:.2} %) otherwise than the original, the first in row {}; few such rows come from 32-bit floats (do not scale numbers before trees), many from an export that changed the model (XGBoost takes the zeros of a sparse encoder for missing: encode with sparse_output=False)",
            self.differing.len(),
            self.rows,
            100.0 * (1.0 - self.share()),
            first.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray};
    use facts_engine::flips::FnModel;

    use super::*;

    #[test]
    fn answers_are_compared_by_meaning() {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let rows = RecordBatch::try_from_iter([("x", x)]).unwrap();
        let model =
            FnModel::new(|rows: &RecordBatch| (0..rows.num_rows()).map(|i| i > 0).collect());
        let check = |original: ArrayRef| Parity::check(&model, &rows, &original).unwrap();
        let same = check(Arc::new(StringArray::from(vec!["False", "True", "1"])));
        assert_eq!(
            same.to_string(),
            "the model answers all 3 rows as the original did"
        );
        let other = check(Arc::new(Int64Array::from(vec![1, 1, 1])));
        assert_eq!(other.differing, [1]);
        assert!(
            other
                .to_string()
                .starts_with("the model answers 1 of 3 rows (33.33 %) otherwise")
        );
    }
}
