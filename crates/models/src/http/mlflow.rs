//! MLflow's scoring protocol: `POST /invocations` with the rows as `dataframe_split`.
//!
//! MLflow's own server speaks it, and so do the endpoints of Databricks and SageMaker that are made
//! from MLflow models.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::ModelError;
use serde::Serialize;
use serde_json::Value;

use super::json::{self, Column, Each};
use crate::answer;
use crate::cells::Cells;

/// Names of columns, and rows.
#[derive(Serialize)]
struct Split<'a, D> {
    columns: Vec<&'a str>,
    data: D,
}

/// The rows as a request.
pub(super) fn request(rows: &RecordBatch) -> Result<Vec<u8>, ModelError> {
    let cells = Cells::of(rows)?;
    let columns = cells.iter().map(|column| Column::new(column, |cell| cell));
    let columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
    let columns = columns.as_slice();
    let split = Split {
        columns: cells.iter().map(Cells::name).collect(),
        data: Each(rows.num_rows(), |row: usize| {
            Each(columns.len(), move |column: usize| columns[column].get(row))
        }),
    };
    json::body(&BTreeMap::from([("dataframe_split", split)]))
}

/// The answers in a response: `{"predictions": [...]}`, or the bare list of old servers.
pub(super) fn answers(response: &Value) -> Result<ArrayRef, ModelError> {
    let predictions = response.get("predictions").unwrap_or(response);
    // Some models wrap once more: `{"predictions": {"predictions": [...]}}`.
    let predictions = predictions.get("predictions").unwrap_or(predictions);
    match predictions.as_array() {
        Some(predictions) => answer::from_json(predictions),
        None => Err(ModelError::Failed(format!(
            "its response has no list of predictions: {}",
            json::excerpt(&response.to_string())
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::told_by_number;
    use crate::http::test_rows;
    use serde_json::json;

    #[test]
    fn rows_are_sent_as_dataframe_split() {
        let body: Value = serde_json::from_slice(&request(&test_rows()).unwrap()).unwrap();
        let expected = json!({"dataframe_split": {
            "columns": ["job", "hours", "debt", "owner"],
            "data": [["cl\"erk", 40, 1.0, true], [null, null, 0.1, false], ["é", -1, null, null]],
        }});
        assert_eq!(body, expected);
        let by_number = request(&told_by_number(&test_rows())).unwrap();
        assert_eq!(by_number, request(&test_rows()).unwrap());
        // A float stays a float, or the server takes the column for integers.
        assert!(body.to_string().contains("1.0"));
    }

    #[test]
    fn answers_are_found() {
        let read = |response: Value| answers(&response).map(|a| a.len());
        assert_eq!(read(json!({"predictions": [0, 1]})).unwrap(), 2);
        assert_eq!(
            read(json!({"predictions": {"predictions": [0]}})).unwrap(),
            1
        );
        assert_eq!(read(json!([0, 1, 1])).unwrap(), 3);
        let error = read(json!({"outputs": 3})).unwrap_err().to_string();
        assert!(
            error.contains("no list of predictions: {\"outputs\":3}"),
            "{error}"
        );
    }
}
