//! Audits: made, loaded, asked.

use std::collections::HashMap;
use std::path::PathBuf;

use facts_engine::definitions::{self, Definition};
use facts_engine::ranking::{ActionFilter, Filters};
use facts_engine::{Individuals, Phi};
use facts_report::sheets::{self, Sheet, Shows};
use facts_report::text::{self, Palette};
use facts_report::{
    Conditions, Diff, FORMS, ModelOrigin, Record, Report, Showing, evidence, finding_id, overview,
};
use facts_run::files::Files;
use facts_run::{Config, Failure, Given, Silent, files, run_with, saved};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::batch::Batch;
use crate::failure;
use crate::model::{self, PythonModel, Raised};
use crate::table::Table;
use crate::watching::{Watching, ends_programs, errands, interruptible, released};

/// What an audit found.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Audit {
    record: Record,
    individuals: Option<Individuals>,
}

/// Audits a model on a table. `config` is a configuration as JSON, and
/// `overrides` what is said of single features; `spec` names a model, or `ask` is
/// a function over batches with what it is called; with neither, the configuration names one. Costs and rules are
/// functions by feature; `progress` is told (phase, done, total).
#[pyfunction]
#[pyo3(signature = (table, config, overrides, folder=None, spec=None, ask=None, costs=HashMap::new(), allowed=HashMap::new(), progress=None, keep_individuals=false))]
#[expect(clippy::too_many_arguments, reason = "one call from one place")]
pub(crate) fn audit(
    py: Python<'_>,
    table: &Table,
    config: &str,
    overrides: &str,
    folder: Option<PathBuf>,
    spec: Option<String>,
    ask: Option<(Py<PyAny>, String)>,
    costs: HashMap<String, Py<PyAny>>,
    allowed: HashMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    keep_individuals: bool,
) -> PyResult<Audit> {
    let raised = Raised::default();
    let mut config = Config::from_json(config, overrides, folder.as_deref())
        .map_err(|error| failure::raise(py, &error))?;
    // Named by the caller: not beside the configuration.
    config.model.spec = spec.or(config.model.spec);
    let data = &config.data;
    if ask.is_some() && !(data.replace.is_empty() && data.cut.is_empty()) {
        let message = "data.replace and data.cut change what the model sees; with a model in Python, change X itself";
        return Err(failure::usage(py, message));
    }
    let (batches, origin) = (table.inner.batches.clone(), table.inner.origin.clone());
    let table = facts_run::Table::prepared(batches, origin, data)
        .map_err(|error| failure::raise(py, &error))?;
    let (caller, errands) = errands();
    let given = Given {
        model: ask.map(|(ask, description)| {
            let origin = ModelOrigin {
                spec: "python".to_owned(),
                description,
                sha256: None,
                reads_protected: None,
                training: None,
            };
            let model = PythonModel::new(ask, caller.clone(), raised.clone());
            (Box::new(model) as Box<_>, origin)
        }),
        costs: model::costs(costs, &raised),
        allowed: model::rules(allowed, &raised),
        ..Given::default()
    };
    let watching = Watching::new(progress);
    let made = interruptible(py, &watching, (caller, errands), || {
        run_with(&config, &table, given, &watching)
    })?;
    match (raised.take(), made) {
        (Some((cause, _)), _) if ends_programs(py, &cause) => Err(cause),
        (Some((cause, Some(doing))), _) => {
            let error = failure::usage(py, format!("{doing}: {cause}"));
            error.set_cause(py, Some(cause));
            Err(error)
        }
        (cause, Err(why)) => {
            let error = failure::raise(py, &why);
            error.set_cause(py, cause.map(|(cause, _)| cause));
            Err(error)
        }
        (_, Ok((record, individuals))) => Ok(Audit {
            record,
            individuals: keep_individuals.then_some(individuals),
        }),
    }
}

/// Reads a saved audit from its bytes.
#[pyfunction]
pub(crate) fn unpack(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Audit> {
    let record = py.detach(|| saved::unpacked("a pickled audit", bytes));
    let record = record.map_err(|error| failure::raise(py, &error))?;
    Ok(Audit {
        record,
        individuals: None,
    })
}

/// Reads a saved audit: its file, or the folder it lies in.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Audit> {
    let record = py.detach(|| saved::load(&path));
    let record = record.map_err(|error| failure::raise(py, &error))?;
    Ok(Audit {
        record,
        individuals: None,
    })
}

/// Reads a `facts.toml` and gives it back as JSON.
#[pyfunction]
pub(crate) fn read_config(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let json = facts_run::config::as_json(&path);
    json.map_err(|error| failure::raise(py, &error))
}

/// Writes a file whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, page: &[u8]) -> PyResult<()> {
    let written = py.detach(|| files::write(&path, page, &Silent));
    written.map_err(|error| failure::raise(py, &error))
}

/// Every key of a configuration, explained.
#[pyfunction]
pub(crate) fn explain_config() -> &'static str {
    facts_run::config::REFERENCE
}

/// How findings are chosen, as keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choice {
    top: usize,
    drop_fair: bool,
    drop_contained: bool,
    against: Option<String>,
    all_actions: bool,
    at_least: Option<String>,
    at_most: Option<f64>,
    least_cost: bool,
    passing: bool,
    #[pyo3(item("where"))]
    wanted: Option<String>,
}

#[pymethods]
impl Audit {
    /// All about the audit except the findings, as JSON.
    fn about(&self, py: Python<'_>) -> PyResult<String> {
        let record = &self.record;
        let audit = &record.audit;
        let about = serde_json::json!({
            "tool": record.tool,
            "made": record.made,
            "data": record.data,
            "model": record.model,
            "protected": record.protected,
            "base_rates": record.base_rates,
            "notes": record.notes.iter().chain(&audit.population.notices).collect::<Vec<_>>(),
            "groups": audit.groups,
            "set_aside": audit.set_aside,
            "unaffected": audit.unaffected,
            "sizes": audit.sizes,
            "settings": audit.settings,
            "population": audit.population,
            "subgroups": audit.subgroups.len(),
            "evidence": record.evidence.as_ref().map(|found| serde_json::json!({
                "gathering": found.gathering,
                "tests": found.tests.iter().map(|tests| &tests.definition).collect::<Vec<_>>(),
                "intervals": !found.intervals.is_empty(),
                "variants": found.stability.as_ref().map(|stability| &stability.variants),
                "hold_out": found.hold_out.as_ref().map(|held| held.share),
            })),
            "without_actions": audit.without_actions.iter()
                .map(|one| audit.text(&one.predicate)).collect::<Vec<_>>(),
        });
        serde_json::to_string(&about).map_err(|error| failure::data(py, error))
    }

    /// The definitions that the audit is reported by, as (id, title).
    fn definitions(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let parse = |id: &String| definitions::parse(id);
        let parsed = self.record.definitions.iter().map(parse);
        let parsed: Vec<_> = parsed.collect::<Result<_, _>>().map_err(engine(py))?;
        Ok(parsed.iter().map(|d| (d.id(), d.title())).collect())
    }

    /// The ids that a definition stands for, with φ and budgets filled in where it leaves them open.
    fn expand(&self, py: Python<'_>, definition: &str) -> PyResult<Vec<String>> {
        let budgets = self.record.audit.automatic_budgets().unwrap_or_default();
        let expanded = if definition == "paper" {
            definitions::paper_columns(&budgets)
        } else {
            definitions::expand(definition, &Phi::PAPER, &budgets)
        };
        let expanded = expanded.map_err(engine(py))?;
        Ok(expanded.iter().map(|definition| definition.id()).collect())
    }

    /// The automatic budgets.
    fn budgets(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.record.audit.automatic_budgets().map_err(engine(py))
    }

    /// All subgroups by these definitions.
    fn subgroups(&self, py: Python<'_>, definitions: Vec<String>) -> PyResult<Batch> {
        self.sheet(py, Some(&definitions), sheets::subgroups)
    }

    /// All pairs of a subgroup and an action.
    fn actions(&self, py: Python<'_>) -> PyResult<Batch> {
        self.sheet(py, Some(&[]), sheets::actions)
    }

    /// Subgroups by definitions: scores, ranks, or against whom.
    fn by_definition(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
        shows: &str,
    ) -> PyResult<Batch> {
        let shows = match shows {
            "score" => Shows::Score,
            "rank" => Shows::Rank,
            "against" => Shows::Against,
            "p" => Shows::P,
            "family_wise" => Shows::FamilyWise,
            "false_discovery" => Shows::FalseDiscovery,
            other => {
                let message = format!(
                    "a table shows score, rank, against, p, family_wise or false_discovery, not `{other}`"
                );
                return Err(failure::usage(py, message));
            }
        };
        self.sheet(py, definitions.as_deref(), |report| {
            sheets::by_definition(report, shows)
        })
    }

    /// The effectiveness–cost distributions of a subgroup.
    fn distributions(&self, py: Python<'_>, subgroup: usize) -> PyResult<Batch> {
        self.check_place(subgroup)?;
        self.sheet(py, Some(&[]), |report| {
            sheets::distributions(report, subgroup)
        })
    }

    /// How each definition ranks.
    fn ranking_analysis(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
    ) -> PyResult<Batch> {
        self.sheet(py, definitions.as_deref(), sheets::ranking_analysis)
    }

    /// Where the first of each definition stand under the others.
    fn aggregated_rankings(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
    ) -> PyResult<Batch> {
        self.sheet(py, definitions.as_deref(), sheets::aggregated_rankings)
    }

    /// What supports the findings by these definitions: tests, intervals, stability or the hold-out.
    fn evidence(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
        part: &str,
    ) -> PyResult<Batch> {
        let make = match part {
            "tests" => sheets::tests,
            "intervals" => sheets::intervals,
            "stability" => sheets::stability,
            "hold_out" => sheets::hold_out,
            other => {
                let message = format!("there is no evidence called `{other}`");
                return Err(failure::usage(py, message));
            }
        };
        self.sheet(py, definitions.as_deref(), make)
    }

    /// The place of a subgroup, by its predicate or by the id of one of its findings.
    fn find(&self, py: Python<'_>, subgroup: &str) -> PyResult<usize> {
        let audit = &self.record.audit;
        let is_it = |place: &usize| audit.text(&audit.subgroups[*place].predicate) == subgroup;
        if let Some(place) = (0..audit.subgroups.len()).find(is_it) {
            return Ok(place);
        }
        if let Some(place) = self.by_finding(subgroup) {
            return Ok(place);
        }
        let conditions = Conditions::parse(subgroup, &audit.features)
            .map_err(|error| failure::usage(py, format!("`{subgroup}`: {error}")))?;
        let items = conditions.exactly();
        let is_it =
            |place: &usize| items.as_deref() == Some(audit.subgroups[*place].predicate.items());
        (0..audit.subgroups.len()).find(is_it).ok_or_else(|| {
            let without = audit.without_actions.iter();
            let unranked = without
                .into_iter()
                .any(|one| items.as_deref() == Some(one.predicate.items()));
            let why = if unranked {
                "no valid action was mined for it, so it is not ranked"
            } else {
                "there is no such subgroup: it is not frequent in every group"
            };
            failure::usage(py, format!("`{subgroup}`: {why}"))
        })
    }

    /// A subgroup's predicate.
    fn text(&self, subgroup: usize) -> PyResult<String> {
        self.check_place(subgroup)?;
        let audit = &self.record.audit;
        Ok(audit.text(&audit.subgroups[subgroup].predicate))
    }

    /// The summary, for people.
    fn overview(&self, py: Python<'_>, colour: bool) -> PyResult<String> {
        let report = self.report(py, None)?;
        let table = overview::ranking_analysis(&report).text(2);
        let head = text::overview(&report, palette(colour));
        Ok(format!("{head}\n{table}\n"))
    }

    /// The findings, for people.
    fn findings(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
        choice: Choice,
        colour: bool,
    ) -> PyResult<String> {
        let report = self.report(py, definitions.as_deref())?;
        let showing = self.showing(py, choice)?;
        Ok(text::findings(&report, &showing, palette(colour))
            + &text::hold_out(&report, palette(colour)))
    }

    /// One subgroup under all definitions, for people.
    fn subgroup(&self, py: Python<'_>, subgroup: usize) -> PyResult<String> {
        self.check_place(subgroup)?;
        let report = self.report(py, None)?;
        let all = overview::all_definitions(&report, subgroup).text(2);
        let parts = evidence::of_subgroup(&report, subgroup);
        let parts: String = parts
            .iter()
            .map(|part| format!("\n{}\n{}", part.title, part.text))
            .collect();
        Ok(format!("{}\n{all}{parts}", self.text(subgroup)?))
    }

    /// A report in one of the forms of the command line.
    fn form<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        definitions: Option<Vec<String>>,
        choice: Choice,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let form = FORMS.iter().find(|form| form.name == name);
        let form = form.ok_or_else(|| failure::usage(py, format!("there is no form `{name}`")))?;
        let report = self.report(py, definitions.as_deref())?;
        let showing = self.showing(py, choice)?;
        let bytes = released(py, || (form.write)(&report, &showing))?;
        let bytes = bytes.map_err(|error| failure::data(py, error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Saves the audit: to a file, or with all reports to a folder, as the command line does.
    fn save(&self, py: Python<'_>, path: PathBuf, whole: bool) -> PyResult<()> {
        let write = || -> Result<(), Failure> {
            let report = Report::new(&self.record)?;
            if !whole {
                return files::write(&path, &saved::packed(&self.record)?, &Silent);
            }
            let mut all = Files::default();
            saved::whole(&path, &report, &Showing::top(10), &mut all, &Silent)?;
            all.publish(&Silent)?;
            Ok(())
        };
        released(py, write)?.map_err(|error| failure::raise(py, &error))
    }

    /// The audit as bytes, for pickling.
    fn pack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| saved::packed(&self.record));
        let bytes = bytes.map_err(|error| failure::raise(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What is new, gone or changed from an older audit, for people.
    fn diff(&self, py: Python<'_>, older: &Self, top: usize, colour: bool) -> PyResult<String> {
        let ids = &self.record.definitions;
        let diff = released(py, || Diff::new(&older.record, &self.record, ids))?;
        let diff = diff.map_err(engine(py))?;
        Ok(diff.text(top, palette(colour)))
    }

    /// Subgroups as (items, members by group, actions), items as (feature, label) and actions as
    /// (changed items, flips by group).
    #[expect(clippy::type_complexity, reason = "tuples are what Python takes apart")]
    fn counts(
        &self,
    ) -> Vec<(
        Vec<(&str, &str)>,
        &[u64],
        Vec<(Vec<(&str, &str)>, Vec<Option<u64>>)>,
    )> {
        let audit = &self.record.audit;
        let item = |feature: usize, level: u32| {
            let levels = &audit.features[feature];
            (levels.name.as_str(), levels.label(level))
        };
        let subgroups = audit.subgroups.iter();
        subgroups
            .map(|subgroup| {
                let items = subgroup.predicate.items().iter();
                let items = items.map(|i| item(i.feature as usize, i.level)).collect();
                let actions = (0..subgroup.actions.len()).map(|action| {
                    let change = subgroup.change(action, &audit.changes);
                    let change = change.assignments().iter();
                    let change = change.map(|a| item(a.feature as usize, a.level)).collect();
                    let groups = 0..subgroup.groups();
                    let flips = groups.map(|g| subgroup.flips(action, g).known());
                    (change, flips.collect())
                });
                (items, subgroup.members.as_slice(), actions.collect())
            })
            .collect()
    }

    /// Members of a group that are flipped by at least one of the actions so far, after each action
    /// of `order`. Only for an audit that kept its individuals.
    fn reached_in_order(
        &self,
        py: Python<'_>,
        subgroup: usize,
        group: usize,
        order: Vec<usize>,
    ) -> PyResult<Vec<u64>> {
        self.check_place(subgroup)?;
        let subgroup = &self.record.audit.subgroups[subgroup];
        let actions = subgroup.actions.len();
        if group >= subgroup.groups() || order.iter().any(|&action| action >= actions) {
            return Err(PyIndexError::new_err("no such group or action"));
        }
        let individuals = self.individuals.as_ref();
        let individuals =
            individuals.ok_or_else(|| failure::usage(py, "the audit holds counts only"))?;
        Ok(individuals.reached_in_order(subgroup, group, &order))
    }
}

impl Audit {
    fn report(&self, py: Python<'_>, definitions: Option<&[String]>) -> PyResult<Report<'_>> {
        let parsed = definitions.unwrap_or(&self.record.definitions).iter();
        let parsed: Vec<Box<dyn Definition>> = parsed
            .map(|id| definitions::parse(id))
            .collect::<Result<_, _>>()
            .map_err(engine(py))?;
        released(py, || Report::by(&self.record, parsed))
    }

    fn sheet(
        &self,
        py: Python<'_>,
        definitions: Option<&[String]>,
        make: impl FnOnce(&Report<'_>) -> Sheet + Send,
    ) -> PyResult<Batch> {
        let report = self.report(py, definitions)?;
        let batch = released(py, || make(&report).batch())?;
        Ok(Batch::new(batch.map_err(|error| failure::data(py, error))?))
    }

    fn showing(&self, py: Python<'_>, choice: Choice) -> PyResult<Showing> {
        let audit = &self.record.audit;
        if choice.passing && !self.record.is_tested() {
            let message = "nothing was tested in this audit, so nothing can pass; audit again with evidence=True";
            return Err(failure::usage(py, message));
        }
        let against = choice.against.map(|name| {
            let place = audit.groups.iter().position(|group| group.name == name);
            place.ok_or_else(|| {
                let names: Vec<&str> = audit.groups.iter().map(|g| g.name.as_str()).collect();
                let message = format!(
                    "there is no group `{name}`; there are: {}",
                    names.join(", ")
                );
                failure::usage(py, message)
            })
        });
        let mut actions = Vec::new();
        if let Some(phi) = choice.at_least {
            actions.push(ActionFilter::AtLeast(phi.parse().map_err(engine(py))?));
        }
        if let Some(cost) = choice.at_most {
            actions.push(ActionFilter::AtMost(cost));
        }
        if choice.least_cost {
            actions.push(ActionFilter::LeastCost);
        }
        let conditions = choice.wanted.map(|text| {
            Conditions::parse(&text, &audit.features).map_err(|error| failure::usage(py, error))
        });
        Ok(Showing {
            top: choice.top,
            filters: Filters {
                drop_fair: choice.drop_fair,
                drop_contained: choice.drop_contained,
                against: against.transpose()?,
                all_actions: choice.all_actions,
                actions,
            },
            conditions: conditions.transpose()?,
            passing: choice.passing,
        })
    }

    fn by_finding(&self, id: &str) -> Option<usize> {
        let audit = &self.record.audit;
        (0..audit.subgroups.len()).find(|&place| {
            let text = audit.text(&audit.subgroups[place].predicate);
            let names = || audit.groups.iter().map(|group| group.name.as_str());
            let mut ids = self.record.definitions.iter();
            ids.any(|definition| finding_id(&text, definition, names()) == id)
        })
    }

    fn check_place(&self, subgroup: usize) -> PyResult<()> {
        let all = self.record.audit.subgroups.len();
        if subgroup < all {
            return Ok(());
        }
        let message = format!("there are {all} subgroups, numbered from 0; {subgroup} is none");
        Err(PyIndexError::new_err(message))
    }
}

fn engine(py: Python<'_>) -> impl Fn(facts_engine::Error) -> PyErr + '_ {
    move |error| failure::raise(py, &error.into())
}

fn palette(colour: bool) -> &'static Palette {
    if colour {
        &Palette::COLOURED
    } else {
        &Palette::PLAIN
    }
}
