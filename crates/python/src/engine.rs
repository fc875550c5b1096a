//! A table in an engine that Python reaches: what it is asked for, and what it gives.

use facts_engine::population::{Numbers, PlacedBins};
use facts_run::Failure;
use facts_run::grouped::{GroupedRows, Groups};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::failure;
use crate::table::batches_of;

/// A Python object with the methods `rows` and `numbers`.
pub(crate) struct PythonEngine {
    engine: Py<PyAny>,
    /// What it raised.
    raised: Option<PyErr>,
}

/// Where the numbers of a column are cut: its name, numbers that stay, the least number of all bins, and for each
/// bin its end and the number that stands for it.
type Cut = (String, Vec<f64>, f64, Vec<(f64, f64)>);

impl PythonEngine {
    pub(crate) fn new(engine: Py<PyAny>) -> Self {
        Self {
            engine,
            raised: None,
        }
    }

    /// What came of asking it, or what is to be raised.
    pub(crate) fn raised_or<T>(self, py: Python<'_>, made: Result<T, Failure>) -> PyResult<T> {
        match self.raised {
            Some(raised) => Err(raised),
            None => made.map_err(|why| failure::raise(py, &why)),
        }
    }

    /// Asks; what is raised is kept, and ends the reading.
    fn ask<T>(&mut self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failure> {
        Python::attach(|py| ask(self.engine.bind(py))).map_err(|raised| {
            self.raised = Some(raised);
            Failure::interrupted()
        })
    }
}

impl Groups for PythonEngine {
    fn rows(&mut self, cut: &[PlacedBins], most: u64) -> Result<GroupedRows, Failure> {
        let cuts: Vec<Cut> = cut.iter().map(told).collect();
        let asked = self.ask(|engine| {
            let found = engine.call_method1("rows", (cuts, most))?;
            found.extract::<(PyTable, String, Option<String>)>()
        });
        let (table, count, too_many) = asked?;
        Ok(GroupedRows {
            batches: batches_of(table).map_err(|error| Failure::data(error.to_string()))?,
            count,
            too_many: too_many.map(Failure::data),
        })
    }

    fn numbers(&mut self, column: &str, counted: &mut Numbers) -> Result<(), Failure> {
        self.ask(|engine| {
            for part in engine.call_method1("numbers", (column,))?.try_iter()? {
                let (numbers, rows): (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, u64>) =
                    part?.extract()?;
                for (&number, &rows) in numbers.as_array().iter().zip(rows.as_array()) {
                    counted.add(number, rows);
                }
            }
            Ok(())
        })
    }
}

fn told(placed: &PlacedBins) -> Cut {
    (
        placed.column().to_owned(),
        placed.missing().to_vec(),
        placed.least(),
        placed.ends().collect(),
    )
}
