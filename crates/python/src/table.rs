//! Tables from Python.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};
use facts_engine::population;
use facts_report::Origin;
use facts_run::grouped::Reads;
use facts_run::profiles::{BinNames, KEY, Kept, Manifest, Profiles};
use numpy::{Element, PyArrayLike1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::audit;
use crate::batch::Batch;
use crate::engine::PythonEngine;
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

/// The bins of a column: the cuts between them, and their names.
type CutBins = (Vec<f64>, Vec<String>);

/// A column of profiles: its name, its role, and its bins if it was cut.
type KeptColumn = (String, String, Option<CutBins>);

#[pymethods]
impl Table {
    /// Takes over any table that speaks the Arrow PyCapsule interface, without a copy.
    /// `count` names the column that says how many rows each row stands for, if there is one.
    #[staticmethod]
    #[pyo3(signature = (table, name, count=None))]
    fn from_arrow(
        py: Python<'_>,
        table: PyTable,
        name: String,
        count: Option<&str>,
    ) -> PyResult<Self> {
        let batches = batches_of(table).map_err(|error| failure::data(py, error))?;
        Self::new(py, &batches, name, count)
    }

    /// Reads a table that an engine groups, for an audit by this configuration. Where there are too many distinct
    /// rows, numbers of which the audit needs no more than their bins are cut there.
    ///
    /// `engine.rows(cuts, most)` gives an Arrow table, the name of its column that counts, and why there are too many
    /// rows, or None; more than `most` do not fit. A cut is a column, the numbers that stay, the least number of all bins, and for each bin its end and the
    /// number that stands for it. `engine.numbers(column)` gives the distinct numbers of a column, ascending, with
    /// how many rows hold each, in parts. `reads` are the columns that a model in Python reads, if that is known;
    /// with several models nothing is cut.
    #[staticmethod]
    #[pyo3(signature = (engine, name, config, overrides, folder=None, spec=None, reads=None, is_one_model=true))]
    #[expect(clippy::too_many_arguments, reason = "one call from one place")]
    fn grouped(
        py: Python<'_>,
        engine: Py<PyAny>,
        name: String,
        config: &str,
        overrides: &str,
        folder: Option<PathBuf>,
        spec: Option<String>,
        reads: Option<Vec<String>>,
        is_one_model: bool,
    ) -> PyResult<Self> {
        let config = audit::configuration(py, config, overrides, folder, spec)?;
        let reads = match &reads {
            _ if !is_one_model => Reads::Anything,
            Some(columns) => Reads::Columns(columns),
            None => Reads::Configured,
        };
        let origin = in_memory(name);
        let mut engine = PythonEngine::new(engine);
        let read = py.detach(|| facts_run::Table::grouped(&config, reads, &origin, &mut engine));
        engine.raised_or(py, read).map(|inner| Self { inner })
    }

    /// The profiles of a table: its distinct rows with their counts, and what they say about themselves.
    #[pyo3(signature = (columns, suppress_below=None))]
    fn profiles(
        &self,
        py: Python<'_>,
        columns: Vec<KeptColumn>,
        suppress_below: Option<u64>,
    ) -> PyResult<(Batch, String, String)> {
        let columns = columns.into_iter().map(|(name, role, bins)| Kept {
            bins: bins.map(|(cuts, labels)| BinNames { cuts, labels }),
            ..Kept::new(name, role)
        });
        let made = Profiles::counted(self.inner.clone(), columns.collect(), suppress_below);
        let made = made.and_then(|made| Ok((made.manifest.text()?, made)));
        let (text, made) = made.map_err(|error| failure::raise(py, &error))?;
        Ok((Batch::new(made.batch), KEY.to_owned(), text))
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
        Self::new(py, &[batch], name, None)
    }

    fn __len__(&self) -> usize {
        self.inner.rows()
    }
}

impl Table {
    fn new(
        py: Python<'_>,
        batches: &[RecordBatch],
        name: String,
        count: Option<&str>,
    ) -> PyResult<Self> {
        let origin = in_memory(name);
        let inner = py.detach(|| match count {
            Some(count) => facts_run::Table::counted(batches, count, origin),
            None => facts_run::Table::of(batches, origin),
        });
        let inner = inner.map_err(|error| failure::raise(py, &error))?;
        Ok(Self { inner })
    }
}

/// What a table from Python is called, of which nothing else is known.
fn in_memory(name: String) -> Origin {
    Origin {
        name,
        sha256: None,
        files: Vec::new(),
    }
}

/// The batches of an Arrow table, at least one.
pub(crate) fn batches_of(table: PyTable) -> Result<Vec<RecordBatch>, ArrowError> {
    let (batches, schema) = table.into_inner();
    let mut batches: Vec<RecordBatch> = batches
        .into_iter()
        .map(|batch| batch.with_schema(Arc::clone(&schema)))
        .collect::<Result<_, _>>()?;
    if batches.is_empty() {
        batches.push(RecordBatch::new_empty(schema));
    }
    Ok(batches)
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

/// The names of the bins between cuts.
#[pyfunction]
pub(crate) fn bin_names(cuts: Vec<f64>) -> Vec<String> {
    BinNames::new(cuts).labels
}

/// The bins that profiles in a file were cut into, by column: the cuts between them, and their names.
#[pyfunction]
pub(crate) fn bins_of(py: Python<'_>, path: PathBuf) -> PyResult<HashMap<String, CutBins>> {
    let manifest = py.detach(|| Manifest::of_file(&path));
    let manifest = manifest.map_err(failure::of(py))?;
    let columns = manifest.columns.into_iter();
    let cut = columns.filter_map(|column| {
        let bins = column.bins?;
        Some((column.name, (bins.cuts, bins.labels)))
    });
    Ok(cut.collect())
}

/// Where numbers, given ascending with how many people hold each, are cut into so many bins by quantiles.
/// With `shared_by`, no cut is a number of fewer people than that; `whole` says that the numbers are integers.
#[pyfunction]
#[pyo3(signature = (column, numbers, people, bins, shared_by=None, whole=false))]
pub(crate) fn quantile_cuts(
    py: Python<'_>,
    column: &str,
    numbers: PyArrayLike1<'_, f64>,
    people: PyArrayLike1<'_, u64>,
    bins: usize,
    shared_by: Option<u64>,
    whole: bool,
) -> PyResult<Vec<f64>> {
    let (numbers, people) = (numbers.as_array(), people.as_array());
    let counted = numbers.iter().copied().zip(people.iter().copied());
    let mut counted: Vec<(f64, u64)> = counted.collect();
    if let Some(k) = shared_by {
        let shared = population::shared_numbers(&counted, k);
        for ((number, _), shared) in counted.iter_mut().zip(shared) {
            *number = if whole { shared.round() } else { shared };
        }
    }
    BinNames::by_quantiles(column, &counted, bins)
        .map(|bins| bins.cuts)
        .map_err(|error| failure::raise(py, &error))
}
