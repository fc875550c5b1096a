//! Audits: made, loaded, asked.

use std::collections::HashMap;
use std::path::PathBuf;

use facts_engine::comparison::compare;
use facts_engine::definitions;
use facts_models::ModelSpec;
use facts_report::csv::Formulas;
use facts_report::diff::SeriesDiff;
use facts_report::sheets::{self, Sheet, Shows};
use facts_report::text::{self, Palette};
use facts_report::{
    Choice, Diff, ModelOrigin, Order, Record, Report, Showing, answer, evidence, overview,
};
use facts_run::files::Files;
use facts_run::gate::{BaselineFile, Place, form, judge};
use facts_run::{
    Config, Failure, FromCode, Kept, Silent, compare_people, definitions_for, files,
    own_definitions, paper_and_own, run_to_compare, run_with, saved,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::batch::Batch;
use crate::failure;
use crate::keywords::by_keywords;
use crate::model::{self, PythonModel, Raised};
use crate::table::Table;
use crate::watching::{Caller, Watching, ends_programs, errands, interruptible, released};

/// What an audit found.
#[pyclass(frozen, module = "facts._facts")]
pub(crate) struct Audit {
    record: Record,
    /// The people behind it, if they were to be kept.
    kept: Option<Kept>,
}

/// A function over batches, with what it is called, which columns it reads, and whether it wants text by number.
pub(crate) type Ask = (Py<PyAny>, String, Vec<String>, bool);

/// A model in Python, as the run takes it.
pub(crate) fn at_hand(ask: Option<Ask>, caller: &Caller, raised: &Raised) -> FromCode {
    let Some((ask, description, reads, takes_codes)) = ask else {
        return FromCode::default();
    };
    let origin = ModelOrigin {
        spec: "python".to_owned(),
        description,
        sha256: None,
        reads_protected: None,
        training: None,
    };
    let model = PythonModel::new(ask, takes_codes, caller.clone(), raised.clone());
    FromCode {
        reads: Some(reads),
        model: Some((Box::new(model), origin)),
        ..FromCode::default()
    }
}

/// What was made, or what is to be raised: Python code's own exception is the cause.
pub(crate) fn raised_or<T>(
    py: Python<'_>,
    raised: &Raised,
    made: Result<T, Failure>,
) -> PyResult<T> {
    match (raised.take(), made) {
        (Some((cause, _)), _) if ends_programs(py, &cause) => Err(cause),
        (Some((cause, Some(doing))), _) => {
            let error = failure::usage(py, format!("{doing}: {cause}"));
            error.set_cause(py, Some(cause));
            Err(error)
        }
        (cause, Err(why)) => {
            let error = failure::raise(py, &why);
            if let Some((cause, _)) = cause {
                error.set_cause(py, Some(cause));
            }
            Err(error)
        }
        (_, Ok(made)) => Ok(made),
    }
}

/// Refuses a configuration that changes what a model in Python would see.
pub(crate) fn check_changes(py: Python<'_>, config: &Config, in_python: bool) -> PyResult<()> {
    let data = &config.data;
    if in_python && !(data.replace.is_empty() && data.cut.is_empty()) {
        let message = "data.replace and data.cut change what the model sees; with a model in Python, change X itself";
        return Err(failure::usage(py, message));
    }
    Ok(())
}

/// A configuration from JSON, with what is said of single features and a model that is named by a string.
pub(crate) fn configuration(
    py: Python<'_>,
    config: &str,
    overrides: &str,
    folder: Option<PathBuf>,
    spec: Option<String>,
) -> PyResult<Config> {
    let mut config =
        Config::from_json(config, overrides, folder.as_deref()).map_err(failure::of(py))?;
    // Named by the caller: not beside the configuration.
    if let Some(spec) = spec {
        let spec: ModelSpec = spec.parse().map_err(|error| failure::usage(py, error))?;
        config.model.spec = Some(spec);
    }
    Ok(config)
}

/// Audits a model on a table. `config` is a configuration as JSON, and
/// `overrides` what is said of single features; `spec` names a model, or `ask` is
/// a function over batches with what it is called and which columns it reads; with neither, the configuration names one. Costs and rules are
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
    ask: Option<Ask>,
    costs: HashMap<String, Py<PyAny>>,
    allowed: HashMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    keep_individuals: bool,
) -> PyResult<Audit> {
    let raised = Raised::default();
    let config = configuration(py, config, overrides, folder, spec)?;
    check_changes(py, &config, ask.is_some())?;
    let table = table.inner.clone().prepared(&config.data);
    let table = table.map_err(failure::of(py))?;
    let (caller, errands) = errands();
    let given = FromCode {
        costs: model::costs(costs, &raised),
        allowed: model::rules(allowed, &raised),
        ..at_hand(ask, &caller, &raised)
    };
    let watching = Watching::new(progress);
    let made = interruptible(py, &watching, (caller, errands), || {
        if keep_individuals {
            let (record, kept) = run_to_compare(&config, &table, given, &watching)?;
            return Ok((record, Some(kept)));
        }
        let (record, _) = run_with(&config, &table, given, &watching)?;
        Ok((record, None))
    })?;
    let (record, kept) = raised_or(py, &raised, made)?;
    Ok(Audit { record, kept })
}

/// Reads a saved audit from its bytes.
#[pyfunction]
pub(crate) fn unpack(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Audit> {
    let record = py.detach(|| saved::unpacked("a pickled audit", bytes));
    let record = record.map_err(failure::of(py))?;
    Ok(Audit { record, kept: None })
}

/// Reads a saved audit: its file, or the folder it lies in.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Audit> {
    let record = py.detach(|| saved::load(&path));
    let record = record.map_err(failure::of(py))?;
    Ok(Audit { record, kept: None })
}

/// Reads a `facts.toml` and gives it back as JSON.
#[pyfunction]
pub(crate) fn read_config(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let json = facts_run::config::as_json(&path);
    json.map_err(failure::of(py))
}

/// Writes a file whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, page: &[u8]) -> PyResult<()> {
    let written = py.detach(|| files::write(&path, page, &Silent));
    written.map_err(failure::of(py))
}

/// Every key of a configuration, explained.
#[pyfunction]
pub(crate) fn explain_config() -> &'static str {
    facts_run::config::REFERENCE
}

/// How findings are chosen, from keyword arguments.
fn choice(chosen: &Bound<'_, PyAny>) -> PyResult<Choice> {
    Ok(Choice {
        top: chosen.get_item("top")?.extract()?,
        wanted: chosen.get_item("where")?.extract()?,
        against: chosen.get_item("against")?.extract()?,
        passing: chosen.get_item("passing")?.extract()?,
        fair: !chosen.get_item("drop_fair")?.extract::<bool>()?,
        drop_contained: chosen.get_item("drop_contained")?.extract()?,
        all_actions: chosen.get_item("all_actions")?.extract()?,
        min_effectiveness: chosen.get_item("at_least")?.extract()?,
        max_cost: chosen.get_item("at_most")?.extract()?,
        least_cost: chosen.get_item("least_cost")?.extract()?,
        order: order(chosen.py(), &chosen.get_item("order")?.extract::<String>()?)?,
        formulas: Formulas::Kept,
    })
}

fn order(py: Python<'_>, name: &str) -> PyResult<Order> {
    Order::named(name).ok_or_else(|| {
        let names = Order::NAMES.join(" or ");
        failure::usage(py, format!("findings are ordered by {names}, not `{name}`"))
    })
}

impl Audit {
    /// An audit without the people behind it.
    pub(crate) fn of(record: Record) -> Self {
        Self { record, kept: None }
    }
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
            "notes": record.all_notes()
                .map(|note| by_keywords(note)).collect::<Vec<_>>(),
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

    /// What the audit comes to, as JSON; none in audits that were saved before there was an answer.
    fn answer(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let report = self.report(py, None)?;
        let answered = report.answered();
        let text = answered.map(|answered| serde_json::to_string(&answered.document()));
        text.transpose().map_err(|error| failure::data(py, error))
    }

    /// The answer in at most 30 lines.
    fn first_screen(&self, py: Python<'_>, colour: bool) -> PyResult<String> {
        let report = self.report(py, None)?;
        Ok(by_keywords(&answer::first_screen(
            &report,
            &[],
            palette(colour),
        )))
    }

    /// A part of the answer as a table: people, stories, drivers, gaps or pairs.
    fn answer_sheet(&self, py: Python<'_>, part: &str) -> PyResult<Batch> {
        let make = match part {
            "people" => sheets::people,
            "stories" => sheets::stories,
            "drivers" => sheets::drivers,
            "gaps" => sheets::gaps,
            "pairs" => sheets::pairs,
            other => {
                let message = format!(
                    "an answer has people, stories, drivers, gaps and pairs, not `{other}`"
                );
                return Err(failure::usage(py, message));
            }
        };
        self.sheet(py, None, make)
    }

    /// The definitions that the audit is reported by, as (id, title).
    fn definitions(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let parsed = own_definitions(&self.record).map_err(failure::of(py))?;
        Ok(parsed.iter().map(|d| (d.id(), d.title())).collect())
    }

    /// The ids that a definition stands for, with φ and budgets filled in where it leaves them open.
    fn expand(&self, py: Python<'_>, definition: String) -> PyResult<Vec<String>> {
        let mut config = Config::default();
        config.report.definitions = vec![definition];
        let expanded = definitions_for(&config, &self.record.audit);
        let expanded = expanded.map_err(failure::of(py))?;
        Ok(expanded.all.iter().map(|d| d.id()).collect())
    }

    /// The automatic budgets.
    fn budgets(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.record
            .audit
            .automatic_budgets()
            .map_err(failure::of(py))
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
        let definitions = self.record.definitions.iter().map(String::as_str);
        let found = self.record.find(subgroup, definitions);
        found.map_err(failure::of(py))
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
        let head = by_keywords(&text::overview(&report, palette(colour)));
        Ok(format!("{head}\n{table}\n"))
    }

    /// The findings, for people.
    fn findings(
        &self,
        py: Python<'_>,
        definitions: Option<Vec<String>>,
        chosen: &Bound<'_, PyAny>,
        colour: bool,
    ) -> PyResult<String> {
        let report = self.report(py, definitions.as_deref())?;
        let showing = choice(chosen)?.showing(&report).map_err(failure::of(py))?;
        Ok(text::findings(&report, &showing, palette(colour))
            + &text::hold_out(&report, palette(colour)))
    }

    /// One subgroup under all definitions, for people.
    fn subgroup(&self, py: Python<'_>, subgroup: usize) -> PyResult<String> {
        self.check_place(subgroup)?;
        let definitions = paper_and_own(&self.record).map_err(failure::of(py))?.all;
        let report = released(py, || Report::by(&self.record, definitions))?;
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
        chosen: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let report = self.report(py, definitions.as_deref())?;
        let showing = choice(chosen)?.showing(&report).map_err(failure::of(py))?;
        let bytes = released(py, || report.form(name, &showing))?;
        let bytes = bytes.map_err(failure::of(py))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Saves the audit: to a file, or with all reports to a folder, as the command line does.
    fn save(&self, py: Python<'_>, path: PathBuf, whole: bool) -> PyResult<()> {
        let write = || -> Result<(), Failure> {
            let report = Report::new(&self.record)?;
            if !whole {
                return files::write(&path, &saved::packed(&self.record)?, &Silent);
            }
            let mut all = Files::of_folder(&path, &Silent)?;
            saved::whole(&path, &report, &Showing::top(10), &mut all, &Silent)?;
            all.publish(&Silent)?;
            Ok(())
        };
        released(py, write)?.map_err(failure::of(py))
    }

    /// Judges the audit by the rules of a configuration, given as JSON: what the gate says as JSON and in
    /// words. Files that the configuration names lie in `folder`; `baseline` is the path of one, and `""
    /// stands for the one of the configuration.
    fn check(
        &self,
        py: Python<'_>,
        config: &str,
        folder: Option<PathBuf>,
        baseline: Option<PathBuf>,
        update: bool,
        called: (String, String),
    ) -> PyResult<(String, String)> {
        let checked = || -> Result<(String, String), Failure> {
            let config = Config::from_json(config, "{}", folder.as_deref())?;
            let file = folder.as_deref().map(|folder| folder.join("facts.toml"));
            let kept = baseline.map(|path| match path.as_os_str().is_empty() {
                true => BaselineFile::of(&config, file.as_deref()),
                false => BaselineFile::at(path),
            });
            let before = match &kept {
                Some(kept) if !update => kept.load()?,
                _ => None,
            };
            let report = Report::new(&self.record)?;
            let today = facts_run::today()?;
            let mut gate = judge(&report, &config, before.as_ref(), &today)?;
            if let Some(kept) = kept.filter(|_| update) {
                let mut written = Files::default();
                let baseline = kept.update(&self.record, &gate, &mut written)?;
                written.publish(&Silent)?;
                let before = (baseline, self.record.clone());
                gate = judge(&report, &config, Some(&before), &today)?;
            }
            let (config, audit) = called;
            let place = Place { config, audit };
            Ok((form(&gate, &place, "json")?, form(&gate, &place, "text")?))
        };
        released(py, checked)?.map_err(failure::of(py))
    }

    /// The audit as bytes, for pickling.
    fn pack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| saved::packed(&self.record));
        let bytes = bytes.map_err(failure::of(py))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What changed since an older audit, tested: as JSON and in words. With `same_people`, by the people
    /// whose answer changed; both audits must have kept theirs.
    #[pyo3(signature = (older, same_people=false, alpha=None, top=10, colour=false))]
    fn compare(
        &self,
        py: Python<'_>,
        older: &Self,
        same_people: bool,
        alpha: Option<f64>,
        top: usize,
        colour: bool,
    ) -> PyResult<(String, String)> {
        let alpha = checked_alpha(py, alpha)?.unwrap_or(self.record.alpha());
        let diff = released(py, || self.compared(older, same_people, alpha))?;
        let diff = diff.map_err(failure::of(py))?;
        let json = serde_json::to_string(&diff).map_err(|error| failure::data(py, error))?;
        Ok((json, by_keywords(&diff.text(top, palette(colour)))))
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
        let kept = self.kept.as_ref();
        let kept = kept.ok_or_else(|| failure::usage(py, "the audit holds counts only"))?;
        Ok(kept.individuals.reached_in_order(subgroup, group, &order))
    }
}

/// Audits in the order of time, each compared with the first at one level over all looks: as JSON and in
/// words.
#[pyfunction]
#[pyo3(signature = (audits, names, alpha=None, top=10, colour=false))]
pub(crate) fn series(
    py: Python<'_>,
    audits: Vec<PyRef<'_, Audit>>,
    names: Vec<String>,
    alpha: Option<f64>,
    top: usize,
    colour: bool,
) -> PyResult<(String, String)> {
    let records = audits.iter().map(|audit| &audit.record);
    let mut named: Vec<(String, &Record)> = names.into_iter().zip(records).collect();
    if named.len() < 2 {
        return Err(failure::usage(py, "a series needs two audits at least"));
    }
    let (first, old) = named.remove(0);
    let newest = named.last().map_or(old, |(_, record)| record);
    let alpha = checked_alpha(py, alpha)?.unwrap_or(newest.alpha());
    let series = released(py, || {
        SeriesDiff::new((&first, old), &named, &old.definitions, alpha)
    })?;
    let series = series.map_err(failure::of(py))?;
    let json = serde_json::to_string(&series).map_err(|error| failure::data(py, error))?;
    Ok((json, by_keywords(&series.text(top, palette(colour)))))
}

fn checked_alpha(py: Python<'_>, alpha: Option<f64>) -> PyResult<Option<f64>> {
    match alpha {
        Some(alpha) if !(alpha > 0.0 && alpha < 1.0) => {
            let message = format!("alpha is {alpha}; give a number between 0 and 1");
            Err(failure::usage(py, message))
        }
        alpha => Ok(alpha),
    }
}

impl Audit {
    fn compared(&self, older: &Self, same_people: bool, alpha: f64) -> Result<Diff, Failure> {
        let ids = &older.record.definitions;
        let definitions = ids.iter().map(|id| definitions::parse(id));
        let definitions = definitions.collect::<Result<_, _>>()?;
        let budgets = Report::by(&older.record, definitions).budgets();
        let comparison = if same_people {
            let (Some(was), Some(is)) = (&older.kept, &self.kept) else {
                return Err(Failure::usage(
                    "the people of an audit were not kept; make both audits with keep_people=True",
                ));
            };
            let old = (&older.record, was);
            compare_people(old, (&self.record, is), &budgets, alpha)?.0
        } else {
            compare(older.record.side(), self.record.side(), &budgets, alpha)
        };
        Ok(Diff::with(
            &older.record,
            &self.record,
            ids,
            comparison.as_ref(),
        )?)
    }

    fn report(&self, py: Python<'_>, definitions: Option<&[String]>) -> PyResult<Report<'_>> {
        let parsed = match definitions {
            Some(ids) => ids.iter().map(|id| definitions::parse(id)).collect(),
            None => Ok(own_definitions(&self.record).map_err(failure::of(py))?),
        };
        let parsed = parsed.map_err(failure::of(py))?;
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

    fn check_place(&self, subgroup: usize) -> PyResult<()> {
        let all = self.record.audit.subgroups.len();
        if subgroup < all {
            return Ok(());
        }
        let message = format!("there are {all} subgroups, numbered from 0; {subgroup} is none");
        Err(PyIndexError::new_err(message))
    }
}

fn palette(colour: bool) -> &'static Palette {
    if colour {
        &Palette::COLOURED
    } else {
        &Palette::PLAIN
    }
}
