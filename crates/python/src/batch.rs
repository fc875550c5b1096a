//! Rows on their way to Python: as Arrow, or column by column as numpy arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, downcast_integer};
use arrow_schema::{DataType, Field};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_stream_pycapsule};

/// Rows of a table. Any library that speaks the Arrow PyCapsule interface can take it over.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Batch {
    rows: RecordBatch,
}

impl Batch {
    pub(crate) fn new(rows: RecordBatch) -> Self {
        Self { rows }
    }

    fn column(&self, place: usize) -> PyResult<&ArrayRef> {
        let columns = self.rows.columns();
        columns
            .get(place)
            .ok_or_else(|| PyIndexError::new_err(format!("there is no column {place}")))
    }

    fn as_struct(&self) -> (Arc<Field>, StructArray) {
        let rows = StructArray::from(self.rows.clone());
        (
            Arc::new(Field::new("", rows.data_type().clone(), false)),
            rows,
        )
    }
}

/// Values, and where there is none.
type Masked<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyArray1<bool>>>);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        let schema = self.rows.schema();
        schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (field, rows) = self.as_struct();
        Ok(to_array_pycapsules(py, field, &rows, requested_schema)?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (field, rows) = self.as_struct();
        let rows: ArrayRef = Arc::new(rows);
        let stream = Box::new(ArrayIterator::new([Ok(rows)], field));
        Ok(to_stream_pycapsule(py, stream, requested_schema)?)
    }

    /// A column of text as places in `labels`; -1 where there is no value.
    fn codes<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        labels: &Labels,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let column = self.column(place)?;
        let place_of = |text: Option<&str>| match text {
            None => Ok(-1),
            Some(text) => labels.places.get(text).copied().ok_or_else(|| {
                PyTypeError::new_err(format!("`{text}` is none of the column's values"))
            }),
        };
        let codes: PyResult<Vec<i32>> = match numbered(column) {
            // Each distinct value is looked up once.
            Some((keys, values)) => {
                let places: Vec<_> = texts(values)?.into_iter().map(place_of).collect();
                let one = |&key: &u32| match &places[key as usize] {
                    Ok(place) => Ok(*place),
                    Err(error) => Err(error.clone_ref(py)),
                };
                keys.iter().map(one).collect()
            }
            None => texts(column)?.into_iter().map(place_of).collect(),
        };
        Ok(codes?.into_pyarray(py))
    }

    /// A column of numbers or Booleans as (values, where there is none); the second is None if every
    /// row has a value.
    fn numpy<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Masked<'py>> {
        let column = self.column(place)?;
        let missing = (column.null_count() > 0).then(|| {
            let missing: Vec<bool> = (0..column.len()).map(|i| column.is_null(i)).collect();
            missing.into_pyarray(py)
        });
        macro_rules! integers {
            ($type:ty) => {
                numbers::<$type>(py, column)
            };
        }
        let values = downcast_integer! {
            column.data_type() => (integers),
            DataType::Boolean => {
                let values = column.as_boolean().iter();
                let values: Vec<bool> = values.map(|v| v.unwrap_or_default()).collect();
                values.into_pyarray(py).into_any()
            }
            DataType::Float32 => numbers::<Float32Type>(py, column),
            DataType::Float64 => numbers::<Float64Type>(py, column),
            other => return Err(PyTypeError::new_err(format!("{other} is not a number"))),
        };
        Ok((values, missing))
    }

    /// A column of text as Python strings; None where there is no value.
    fn texts(&self, place: usize) -> PyResult<Vec<Option<String>>> {
        let texts = texts(self.column(place)?)?;
        Ok(texts.into_iter().map(|t| t.map(str::to_owned)).collect())
    }

    /// Whether a column holds text.
    fn is_text(&self, place: usize) -> PyResult<bool> {
        let column = self.column(place)?;
        let values = numbered(column).map_or(column, |(_, values)| values);
        Ok(matches!(
            values.data_type(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        ))
    }
}

/// Labels and their places.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Labels {
    places: HashMap<String, i32>,
}

#[pymethods]
impl Labels {
    #[new]
    fn new(labels: Vec<String>) -> Self {
        let places = labels.into_iter().zip(0..).collect();
        Self { places }
    }
}

/// The numbers and the distinct values of a column whose text is told by number, as the engine makes them:
/// every number has a value, which may be missing.
fn numbered(column: &ArrayRef) -> Option<(&[u32], &ArrayRef)> {
    let column = column.as_dictionary_opt::<UInt32Type>()?;
    Some((column.keys().values(), column.values()))
}

fn texts(column: &ArrayRef) -> PyResult<Vec<Option<&str>>> {
    if let Some((keys, values)) = numbered(column) {
        let values = texts(values)?;
        return Ok(keys.iter().map(|&key| values[key as usize]).collect());
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().collect(),
        DataType::Utf8View => column.as_string_view().iter().collect(),
        DataType::Null => vec![None; column.len()],
        other => return Err(PyTypeError::new_err(format!("{other} is not text"))),
    })
}

fn numbers<'py, T>(py: Python<'py>, column: &ArrayRef) -> Bound<'py, PyAny>
where
    T: ArrowPrimitiveType,
    T::Native: Element,
{
    let values = column.as_primitive::<T>().values().to_vec();
    values.into_pyarray(py).into_any()
}
