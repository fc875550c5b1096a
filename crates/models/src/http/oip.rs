//! The Open Inference Protocol, version 2: `POST /v2/models/NAME/infer`, one tensor a column.
//!
//! MLServer, KServe and Triton speak it. The request says with MLServer's `content_type` that the
//! tensors together are a data frame; servers that do not know the parameter ignore it.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use facts_engine::flips::ModelError;
use serde::Serialize;
use serde_json::Value;

use super::json::{self, Column};
use crate::answer;
use crate::cells::{Cell, Cells};

#[derive(Serialize)]
struct Request<'a> {
    parameters: Parameters,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<[Output<'a>; 1]>,
    inputs: Vec<Tensor<'a>>,
}

#[derive(Serialize)]
struct Parameters {
    content_type: &'static str,
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Tensor<'a> {
    name: &'a str,
    shape: [usize; 2],
    datatype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Parameters>,
    data: Column,
}

/// The rows as a request, for one of the model's outputs if there are several.
pub(super) fn request(rows: &RecordBatch, output: Option<&str>) -> Result<Vec<u8>, ModelError> {
    let content_type = |content_type| Parameters { content_type };
    let (columns, rows) = (Cells::of(rows)?, rows.num_rows());
    let tensors = columns.iter().map(|column| {
        let datatype = datatype(column);
        Ok(Tensor {
            name: column.name(),
            shape: [rows, 1],
            datatype,
            parameters: (datatype == "BYTES").then(|| content_type("str")),
            data: Column::new(column, |cell| in_tensor(cell, datatype))?,
        })
    });
    json::body(&Request {
        parameters: content_type("pd"),
        outputs: output.map(|name| [Output { name }]),
        inputs: tensors.collect::<Result<_, ModelError>>()?,
    })
}

/// The type of a column's tensor. Where values are missing it is one with a NaN.
fn datatype(column: &Cells<'_>) -> &'static str {
    match column.data_type() {
        DataType::Utf8 | DataType::Null => "BYTES",
        DataType::Float32 | DataType::Float64 => "FP64",
        _ if column.any_missing() => "FP64",
        DataType::Boolean => "BOOL",
        DataType::UInt64 => "UINT64",
        _ => "INT64",
    }
}

fn in_tensor<'a>(cell: Cell<'a>, datatype: &str) -> Cell<'a> {
    match cell {
        Cell::Boolean(value) if datatype == "FP64" => Cell::Float(f64::from(u8::from(value))),
        cell => cell,
    }
}

/// The answers in a response: the only output, or the one of this name.
pub(super) fn answers(
    response: &Value,
    output: Option<&str>,
    asked: usize,
) -> Result<ArrayRef, ModelError> {
    let nothing = Vec::new();
    let outputs = response["outputs"].as_array().unwrap_or(&nothing);
    let name = |tensor: &Value| tensor["name"].as_str().unwrap_or("").to_owned();
    let chosen = match (output, outputs.as_slice()) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(output), outputs) => outputs.iter().find(|tensor| name(tensor) == output),
    };
    let Some(tensor) = chosen else {
        let names: Vec<String> = outputs.iter().map(name).collect();
        return Err(ModelError::Failed(match (output, names.is_empty()) {
            (_, true) => format!(
                "its response has no outputs: {}",
                json::excerpt(&response.to_string())
            ),
            (Some(output), _) => {
                format!(
                    "its response has no output `{output}`, only: {}",
                    names.join(", ")
                )
            }
            (None, _) => format!(
                "its response has several outputs; say which one is the answer: {}",
                names.join(", ")
            ),
        }));
    };
    let mut values = Vec::new();
    flatten(&tensor["data"], &mut values);
    if values.len() == 2 * asked && is_of_pairs(&tensor["shape"]) {
        // The probabilities of both classes: the second is that of the positive one.
        values = values.into_iter().skip(1).step_by(2).collect();
    }
    let values: Vec<Value> = values.into_iter().cloned().collect();
    answer::from_json(&values)
}

fn is_of_pairs(shape: &Value) -> bool {
    let sizes = shape.as_array().map(|sizes| sizes.as_slice());
    matches!(sizes, Some([_, second]) if second == 2)
}

/// Data may be nested as its shape is, or flat.
fn flatten<'a>(data: &'a Value, values: &mut Vec<&'a Value>) {
    match data {
        Value::Array(parts) => parts.iter().for_each(|part| flatten(part, values)),
        value => values.push(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::told_by_number;
    use crate::http::test_rows;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use serde_json::json;

    #[test]
    fn rows_are_sent_as_typed_tensors() {
        let body = request(&test_rows(), Some("predict_proba")).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let expected = json!({
            "parameters": {"content_type": "pd"},
            "outputs": [{"name": "predict_proba"}],
            "inputs": [
                {"name": "job", "shape": [3, 1], "datatype": "BYTES",
                 "parameters": {"content_type": "str"}, "data": ["cl\"erk", null, "é"]},
                {"name": "hours", "shape": [3, 1], "datatype": "FP64", "data": [40, null, -1]},
                {"name": "debt", "shape": [3, 1], "datatype": "FP64", "data": [1.0, 0.1, null]},
                {"name": "owner", "shape": [3, 1], "datatype": "FP64", "data": [1.0, 0.0, null]},
            ],
        });
        assert_eq!(body, expected);
        let by_number = request(&told_by_number(&test_rows()), None).unwrap();
        assert_eq!(by_number, request(&test_rows(), None).unwrap());
        let complete = request(&test_rows().slice(0, 1), None).unwrap();
        let complete: Value = serde_json::from_slice(&complete).unwrap();
        let types: Vec<&str> = (0..4)
            .map(|i| complete["inputs"][i]["datatype"].as_str().unwrap())
            .collect();
        assert_eq!(types, ["BYTES", "INT64", "FP64", "BOOL"]);
    }

    #[test]
    fn the_output_is_found_and_read() {
        let read = |response: Value, output: Option<&str>| {
            let answer = answers(&response, output, 2).map_err(|error| error.to_string())?;
            Ok::<_, String>(answer.as_primitive::<Float64Type>().values().to_vec())
        };
        let label = json!({"name": "label", "shape": [2, 1], "datatype": "INT64", "data": [1, 0]});
        let flat = json!({"name": "p", "shape": [2, 2], "data": [0.25, 0.75, 0.5, 0.5]});
        let nested = json!({"name": "p", "shape": [2, 2], "data": [[0.25, 0.75], [0.5, 0.5]]});
        assert_eq!(read(json!({"outputs": [label]}), None), Ok(vec![1.0, 0.0]));
        assert_eq!(read(json!({"outputs": [flat]}), None), Ok(vec![0.75, 0.5]));
        assert_eq!(
            read(json!({"outputs": [nested]}), None),
            Ok(vec![0.75, 0.5])
        );
        let both = json!({"outputs": [label, flat]});
        assert_eq!(read(both.clone(), Some("p")), Ok(vec![0.75, 0.5]));
        assert!(
            read(both.clone(), None)
                .unwrap_err()
                .ends_with("say which one is the answer: label, p")
        );
        assert!(
            read(both, Some("q"))
                .unwrap_err()
                .contains("no output `q`, only: label, p")
        );
        assert!(
            read(json!({"error": "x"}), None)
                .unwrap_err()
                .contains("no outputs")
        );
    }
}
