//! Tables from Python.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use facts_report::Origin;
use numpy::{Element, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::failure;

/// A table, ready to be audited.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Table {
    pub(crate) inner: facts_run::Table,
}

/// A column: its name, values, labels and where there is no value.
type NumpyColumn<'py> = (
    String,
    Bound<'py, PyAny>,
    Option<Vec<String>>,
    Option<PyReadonlyArray1<'py, bool>>,
);

#[pymethods]
impl Table {
    /// Takes over any table that speaks the Arrow PyCapsule interface, without a copy.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, table: PyTable, name: String) -> PyResult<Self> {
        let (mut batches, schema) = table.into_inner();
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        Self::new(py, &batches, name)
    }

    /// Takes columns as (name, numpy array, labels or None, missing or None). With labels, the array
    /// holds places among them as 32-bit numbers, negative for a missing value; without, it holds
    /// numbers or Booleans, and `missing` says where there is none.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        columns: Vec<NumpyColumn<'_>>,
        rows: usize,
        name: String,
    ) -> PyResult<Self> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (column, values, labels, missing) in columns {
            let missing = missing.map(|missing| missing.as_array().to_vec());
            let array = match labels {
                Some(labels) => coded(&values.extract()?, &labels)?,
                None => numbers(&values, missing.as_deref()).ok_or_else(|| {
                    failure::data(py, format!("column `{column}`: its numbers cannot be read"))
                })?,
            };
            fields.push(Field::new(column, array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)
            .map_err(|error| failure::data(py, error))?;
        Self::new(py, &[batch], name)
    }

    fn __len__(&self) -> usize {
        self.inner.rows()
    }
}

impl Table {
    fn new(py: Python<'_>, batches: &[RecordBatch], name: String) -> PyResult<Self> {
        let origin = Origin {
            name,
            sha256: None,
            files: Vec::new(),
        };
        let inner = py.detach(|| facts_run::Table::of(batches, origin));
        let inner = inner.map_err(|error| failure::raise(py, &error))?;
        Ok(Self { inner })
    }
}

/// Text by places among labels.
fn coded(codes: &PyReadonlyArray1<'_, i32>, labels: &[String]) -> PyResult<ArrayRef> {
    let codes = codes.as_array();
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for &code in codes {
        match usize::try_from(code).ok().and_then(|code| labels.get(code)) {
            Some(label) => builder.append_value(label),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Numbers or Booleans of whatever width.
fn numbers(values: &Bound<'_, PyAny>, missing: Option<&[bool]>) -> Option<ArrayRef> {
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, bool>>() {
        let values = values.as_array();
        let cell = |(i, &value): (usize, &bool)| (!is_missing(missing, i)).then_some(value);
        let array: BooleanArray = values.iter().enumerate().map(cell).collect();
        return Some(Arc::new(array));
    }
    primitive::<Int64Type>(values, missing)
        .or_else(|| primitive::<Float64Type>(values, missing))
        .or_else(|| primitive::<Float32Type>(values, missing))
        .or_else(|| primitive::<Int32Type>(values, missing))
        .or_else(|| primitive::<Int16Type>(values, missing))
        .or_else(|| primitive::<Int8Type>(values, missing))
        .or_else(|| primitive::<UInt8Type>(values, missing))
        .or_else(|| primitive::<UInt16Type>(values, missing))
        .or_else(|| primitive::<UInt32Type>(values, missing))
        .or_else(|| primitive::<UInt64Type>(values, missing))
}

fn primitive<T>(values: &Bound<'_, PyAny>, missing: Option<&[bool]>) -> Option<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Element,
{
    let values = values.extract::<PyReadonlyArray1<'_, T::Native>>().ok()?;
    debug_assert_eq!(missing.map_or(values.len(), <[bool]>::len), values.len());
    let values = values.as_array();
    let array: PrimitiveArray<T> = match missing {
        None => PrimitiveArray::from_iter_values(values.iter().copied()),
        Some(_) => values
            .iter()
            .enumerate()
            .map(|(i, &value)| (!is_missing(missing, i)).then_some(value))
            .collect(),
    };
    Some(Arc::new(array))
}

fn is_missing(missing: Option<&[bool]>, row: usize) -> bool {
    missing.is_some_and(|missing| missing.get(row).copied().unwrap_or(true))
}
