//! Many models on one table.

use std::collections::HashMap;
use std::path::PathBuf;

use facts_report::Report;
use facts_report::csv::Formulas;
use facts_report::models::{MODEL_FORMS, ModelRow, Models};
use facts_run::files::Files;
use facts_run::models::{NamedModel, run_models, summary};
use facts_run::{Config, Failure, Silent, config};
use pyo3::prelude::*;

use crate::audit::{Ask, Audit, at_hand, check_changes, raised_or};
use crate::batch::Batch;
use crate::failure;
use crate::model::{self, Raised};
use crate::table::Table;
use crate::watching::{Watching, errands, interruptible};

/// Models side by side.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Summary {
    models: Models,
}

#[pymethods]
impl Summary {
    /// The summary as text.
    fn text(&self) -> String {
        self.models.text()
    }

    /// A row for each model.
    fn sheet(&self, py: Python<'_>) -> PyResult<Batch> {
        let rows = self.models.sheet().batch();
        Ok(Batch::new(rows.map_err(|error| failure::data(py, error))?))
    }

    /// The names of the models, in the order in which they are shown.
    fn names(&self) -> Vec<&str> {
        let models = self.models.models.iter();
        models.map(|row| row.name.as_str()).collect()
    }

    /// Writes the summary into a folder, in all its forms.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let write = || -> Result<(), Failure> {
            let mut files = Files::of_folder(&folder, &Silent)?;
            for form in MODEL_FORMS {
                let bytes = (form.write)(&self.models, Formulas::Kept);
                let bytes = bytes.map_err(|error| Failure::output(form.file, error))?;
                files.add(folder.join(form.file), &bytes)?;
            }
            files.publish(&Silent).map(|_| ())
        };
        py.detach(write).map_err(failure::of(py))
    }
}

/// A model by its name, with its string, or a function over batches, and its own keys of `[model]` as JSON.
type Named = (String, Option<String>, Option<Ask>, String);

/// What came of one model: the audit, or the exception that it ended with.
type Made = (String, Option<Audit>, Option<Py<PyAny>>);

/// Audits each model on one table. What is said of all of them is said as for one; the audits come in the order
/// of the models.
#[pyfunction]
#[pyo3(signature = (table, config, overrides, models, folder=None, costs=HashMap::new(), allowed=HashMap::new(), progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call from one place")]
pub(crate) fn audit_models(
    py: Python<'_>,
    table: &Table,
    config: &str,
    overrides: &str,
    models: Vec<Named>,
    folder: Option<PathBuf>,
    costs: HashMap<String, Py<PyAny>>,
    allowed: HashMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Made>, Summary)> {
    let config =
        Config::from_json(config, overrides, folder.as_deref()).map_err(failure::of(py))?;
    check_changes(
        py,
        &config,
        models.iter().any(|(_, _, ask, _)| ask.is_some()),
    )?;
    let table = table.inner.clone().prepared(&config.data);
    let table = table.map_err(failure::of(py))?;
    let (caller, errands) = errands();
    let mut named = Vec::with_capacity(models.len());
    let (mut asks, mut raised) = (Vec::new(), Vec::new());
    for (name, spec, ask, own) in models {
        let spec = spec.map(|spec| spec.parse()).transpose();
        let own = serde_json::from_str(&own);
        let model = config::Model {
            spec: spec.map_err(|error: facts_models::OpenError| failure::usage(py, error))?,
            ..own.map_err(|error| failure::usage(py, format!("models[`{name}`]: {error}")))?
        };
        named.push(NamedModel { name, model });
        asks.push(ask);
        raised.push(Raised::default());
    }
    // What functions of costs and rules raise ends all audits: they are the same for every model.
    let of_all = Raised::default();
    let (costs, allowed) = (model::costs(costs, &of_all), model::rules(allowed, &of_all));
    let watching = Watching::new(progress);
    let given = caller.clone();
    let mut place = 0;
    let made = interruptible(py, &watching, (caller, errands), || {
        let made = run_models(
            &config,
            &table,
            named,
            &watching,
            |place| facts_run::FromCode {
                costs: costs.clone(),
                allowed: allowed.clone(),
                ..at_hand(asks[place].take(), &given, &raised[place])
            },
            |name, _, found| {
                let found = found.and_then(|record| {
                    let row = ModelRow::audited(name, &Report::new(&record)?);
                    Ok((record, row))
                });
                place += 1;
                if found.is_err() && (of_all.any() || raised[place - 1].ends()) {
                    return Err(Failure::interrupted());
                }
                Ok((name.to_owned(), found))
            },
        )?;
        let rows = made.iter().map(|(name, found)| match found {
            Ok((_, row)) => row.clone(),
            Err(why) => ModelRow::failed(name, why.to_string()),
        });
        let summary = summary(&config, &table, rows.collect())?;
        Ok::<_, Failure>((made, summary))
    })?;
    if let Some(place) = raised.iter().position(Raised::ends) {
        return raised_or(py, &raised[place], Err(Failure::interrupted()));
    }
    let (made, models) = raised_or(py, &of_all, made)?;
    let mut audits = Vec::with_capacity(made.len());
    for ((name, found), raised) in made.into_iter().zip(&raised) {
        audits.push(match raised_or(py, raised, found) {
            Ok((record, _)) => (name, Some(Audit::of(record)), None),
            Err(error) => (name, None, Some(error.into_value(py).into_any())),
        });
    }
    Ok((audits, Summary { models }))
}
