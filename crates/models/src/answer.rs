//! Making classes of what a model in another process answers: labels, probabilities, or scores.
//!
//! Every number is compared with the threshold if there is one. Without a threshold whole numbers
//! are classes, and numbers between 0 and 1 are probabilities of the positive class, which is the
//! answer from 0.5 on.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_schema::DataType;
use facts_engine::flips::ModelError;
use serde_json::Value;

use crate::cells::Cells;

/// From which probability on a model that answers with one says yes.
const HALF: f64 = 0.5;

/// Makes classes of an answer.
pub(crate) fn classes(answer: ArrayRef, threshold: Option<f64>) -> Result<ArrayRef, ModelError> {
    let data_type = answer.data_type();
    let no_classes = || ModelError::NoClasses(data_type.to_string());
    if matches!(
        data_type,
        DataType::Boolean
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Dictionary(_, _)
    ) {
        return match threshold {
            None => Ok(answer),
            Some(threshold) => Err(ModelError::Failed(format!(
                "a threshold of {threshold} was given, but the model answers with classes ({data_type}); leave the threshold out, or let the model answer with probabilities"
            ))),
        };
    }
    if !data_type.is_numeric() {
        return Err(no_classes());
    }
    let cells = Cells::new("answer", &answer).map_err(|_| no_classes())?;
    let numbers = (0..answer.len()).map(|row| cells.exact(row).number());
    if let Some(threshold) = threshold {
        return above(numbers, threshold);
    }
    let all = |test: fn(f64) -> bool| numbers.clone().flatten().all(test);
    if all(|n| n.fract() == 0.0) {
        return Ok(answer);
    }
    let outside = |n: &f64| !(0.0..=1.0).contains(n);
    match (0..)
        .zip(numbers.clone())
        .find_map(|(row, n)| Some((row, n.filter(outside)?)))
    {
        None => above(numbers, HALF),
        Some((row, number)) => Err(ModelError::NotAClass {
            row: row + 1,
            value: number.to_string(),
            remedy: "and no probability between 0 and 1 either; if it is a score, give a threshold",
        }),
    }
}

/// Yes from the threshold on.
fn above(
    numbers: impl Iterator<Item = Option<f64>>,
    threshold: f64,
) -> Result<ArrayRef, ModelError> {
    let yes = numbers.enumerate().map(|(row, number)| match number {
        Some(number) if !number.is_nan() => Ok(number >= threshold),
        number => Err(ModelError::NotAClass {
            row: row + 1,
            value: number.map_or("nothing (null)".to_owned(), |n| n.to_string()),
            remedy: "every row needs an answer",
        }),
    });
    let yes: Vec<bool> = yes.collect::<Result<_, _>>()?;
    Ok(Arc::new(BooleanArray::from(yes)))
}

/// Text answers as numbers, if all of them are; otherwise as they are.
pub(crate) fn numbers_if_all(answer: ArrayRef) -> ArrayRef {
    let Some(texts) = answer.as_string_opt::<i32>() else {
        return answer;
    };
    let numbers: Option<Vec<Option<f64>>> = texts
        .iter()
        .map(|text| match text {
            None => Some(None),
            Some(text) => text.trim().parse().ok().map(Some),
        })
        .collect();
    match numbers {
        Some(numbers) => Arc::new(Float64Array::from(numbers)),
        None => answer,
    }
}

/// Answers written as JSON: one label, number or pair of probabilities a row.
pub(crate) fn from_json(answers: &[Value]) -> Result<ArrayRef, ModelError> {
    let answers: Vec<&Value> = answers.iter().map(of_row).collect::<Result<_, _>>()?;
    let kind = answers.iter().find(|answer| !answer.is_null());
    let mixed = || {
        ModelError::Failed(
            "its answer mixes numbers, text and booleans; all answers must be of one type"
                .to_owned(),
        )
    };
    /// One entry a row, null for null; nothing if a value is of another type.
    fn typed<'a, T>(
        answers: &[&'a Value],
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<Vec<Option<T>>> {
        let one = |answer: &&'a Value| match answer {
            Value::Null => Some(None),
            answer => read(answer).map(Some),
        };
        answers.iter().map(one).collect()
    }
    Ok(match kind {
        Some(Value::Bool(_)) => {
            let answers = typed(&answers, Value::as_bool).ok_or_else(mixed)?;
            Arc::new(BooleanArray::from(answers))
        }
        Some(Value::String(_)) => {
            let answers = typed(&answers, Value::as_str).ok_or_else(mixed)?;
            Arc::new(StringArray::from(answers))
        }
        _ => {
            let answers = typed(&answers, Value::as_f64).ok_or_else(mixed)?;
            Arc::new(Float64Array::from(answers))
        }
    })
}

/// The answer for one row: itself, the only entry, or the second of two probabilities.
fn of_row(answer: &Value) -> Result<&Value, ModelError> {
    let unknown = |what: String| {
        Err(ModelError::Failed(format!(
            "it answered a row with {what}; a label, a number, or the probabilities of the two classes is needed"
        )))
    };
    match answer {
        Value::Array(parts) => match parts.as_slice() {
            [one] => of_row(one),
            [_, positive] if parts.iter().all(Value::is_number) => Ok(positive),
            parts => unknown(format!("a list of {}", parts.len())),
        },
        Value::Object(parts) => {
            let positive = ["prediction", "1", "true", "True"]
                .iter()
                .find_map(|key| parts.get(*key));
            match (parts.values().next(), positive) {
                (Some(only), _) if parts.len() == 1 => of_row(only),
                (_, Some(positive)) => of_row(positive),
                _ => {
                    let keys: Vec<&str> = parts.keys().map(String::as_str).collect();
                    unknown(format!("an object of {}", keys.join(", ")))
                }
            }
        }
        plain => Ok(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Date32Array, Int64Array};
    use serde_json::json;

    fn read(answer: impl Array + 'static, threshold: Option<f64>) -> Result<String, String> {
        let read = classes(Arc::new(answer), threshold).map_err(|error| error.to_string())?;
        Ok(match read.as_boolean_opt() {
            Some(yes) => yes
                .iter()
                .map(|y| if y == Some(true) { 'y' } else { 'n' })
                .collect(),
            None => read.data_type().to_string(),
        })
    }

    #[test]
    fn numbers_are_classes_or_probabilities_or_scores() {
        let floats = |numbers: &[f64]| Float64Array::from(numbers.to_vec());
        assert_eq!(read(floats(&[0.0, 1.0]), None).unwrap(), "Float64");
        assert_eq!(read(floats(&[0.0, 0.5, 0.49]), None).unwrap(), "nyn");
        assert_eq!(read(floats(&[0.0, 0.5, 0.8]), Some(0.8)).unwrap(), "nny");
        assert_eq!(
            read(Int64Array::from(vec![590, 600]), Some(600.0)).unwrap(),
            "ny"
        );
        assert_eq!(read(Int64Array::from(vec![1, 2]), None).unwrap(), "Int64");
        assert_eq!(
            read(floats(&[0.5, -3.25]), None).unwrap_err(),
            "the model answered -3.25 for row 2 of a batch, which is not a class; and no probability between 0 and 1 either; if it is a score, give a threshold"
        );
        assert!(read(floats(&[0.5, f64::NAN]), Some(0.5)).is_err());
        assert!(read(floats(&[0.5, f64::NAN]), None).is_err());
    }

    #[test]
    fn a_threshold_needs_numbers() {
        let texts = || StringArray::from(vec!["good", "bad"]);
        assert_eq!(read(texts(), None).unwrap(), "Utf8");
        assert!(
            read(texts(), Some(0.5))
                .unwrap_err()
                .contains("leave the threshold out")
        );
        assert!(
            read(Date32Array::from(vec![1]), None)
                .unwrap_err()
                .contains("Date32")
        );
    }

    #[test]
    fn json_answers_come_in_many_shapes() {
        let read = |answers: Value| {
            let read = from_json(answers.as_array().unwrap()).map_err(|error| error.to_string())?;
            Ok::<_, String>(format!("{:?}", numbers_if_all(read)))
        };
        let numbers = format!(
            "{:?}",
            Arc::new(Float64Array::from(vec![0.25, 1.0])) as ArrayRef
        );
        assert_eq!(read(json!([0.25, 1])).unwrap(), numbers);
        assert_eq!(read(json!([[0.25], [1]])).unwrap(), numbers);
        assert_eq!(read(json!([[0.75, 0.25], [0, 1]])).unwrap(), numbers);
        assert_eq!(
            read(json!([{"0": 0.75, "1": 0.25}, {"0": 0, "1": 1}])).unwrap(),
            numbers
        );
        assert_eq!(read(json!([{"y": 0.25}, {"y": 1}])).unwrap(), numbers);
        assert_eq!(read(json!(["0.25", "1"])).unwrap(), numbers);
        assert!(read(json!(["good", "bad"])).unwrap().contains("good"));
        assert!(read(json!([true, null])).unwrap().contains("null"));
        assert!(read(json!([true, 1])).unwrap_err().contains("mixes"));
        assert!(
            read(json!([[0.1, 0.2, 0.7]]))
                .unwrap_err()
                .contains("a list of 3")
        );
        assert!(
            read(json!([{"a": 1, "b": 2}]))
                .unwrap_err()
                .contains("an object of a, b")
        );
    }
}
