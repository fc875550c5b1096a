//! From a configuration to a record, stage by stage. Each stage is a value that the next one takes:
//! read ([`Table`]) → roles (`columns/`) → people (`people.rs`) → model (`model/`) → audit (`audit.rs`) →
//! evidence (`evidence/`) → record.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use facts_engine::answer::{self, Persons, Reasons};
use facts_engine::evidence::{self, Evidence};
use facts_engine::flips::Model;
use facts_engine::population::{CostFunction, Population, TransitionRule};
use facts_engine::{Audit, Individuals, Options, Watch};
use facts_models::{Input, InputKind, ModelSpec, Spelling};
use facts_report::{ModelOrigin, Record, VERSION};
use serde_json::json;

use crate::audit::{self, Audited, Expected};
use crate::audited_profiles;
use crate::columns::Columns;
use crate::config::Config;
use crate::evidence::{Evidenced, Plan};
use crate::failure::Failure;
use crate::label::Label;
use crate::listener::Listener;
use crate::model::{self, AuditedModel, FittedElsewhere};
use crate::paired::Kept;
use crate::people::People;
use crate::profiles::Manifest;
use crate::readings;
use crate::table::Table;

/// The tool and its version, as records name it.
pub const TOOL: &str = concat!("facts ", env!("CARGO_PKG_VERSION"));

/// For so many stories it is asked why.
const EXPLAINED: usize = 10;

/// What comes from code, where a configuration cannot say it.
#[derive(Default)]
pub struct FromCode {
    /// A model that is at hand, and need not be opened or fitted.
    pub model: Option<(Box<dyn Model + Send>, ModelOrigin)>,
    /// The columns that the model at hand reads, if that is known.
    pub reads: Option<Vec<String>>,
    /// A model that was fitted elsewhere on the train part of the table, for a configuration that
    /// would train one.
    pub fitted: Option<FittedElsewhere>,
    /// What changing a feature costs, by the feature's name.
    pub costs: HashMap<String, CostFunction>,
    /// Which transitions of a feature are allowed, by the feature's name.
    pub allowed: HashMap<String, TransitionRule>,
}

impl std::fmt::Debug for FromCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FromCode")
            .field("model", &self.model.as_ref().map(|(_, origin)| origin))
            .field("reads", &self.reads)
            .field("fitted", &self.fitted)
            .field("costs", &self.costs.keys())
            .field("allowed", &self.allowed.keys())
            .finish()
    }
}

/// Audits a table that has been read.
pub fn run(config: &Config, table: &Table, listener: &dyn Listener) -> Result<Record, Failure> {
    let made = run_with(config, table, FromCode::default(), listener);
    made.map(|(record, _)| record)
}

/// Audits a table that has been read, with what comes from code; keeps the people behind the counts.
pub fn run_with(
    config: &Config,
    table: &Table,
    code: FromCode,
    listener: &dyn Listener,
) -> Result<(Record, Individuals), Failure> {
    audited(config, table, code, listener, |individuals, _, _| {
        Ok(individuals)
    })
}

/// The people behind an audit: what is known of each profile, and what was found for it.
#[derive(Debug)]
pub struct Behind {
    /// Who belongs to which subgroup, and whom each change helps.
    pub individuals: Individuals,
    /// The population that was audited.
    pub population: Population,
}

impl Behind {
    /// The people of their audit, one by one. Refused where `audit.suppress-below` hides single people.
    pub fn persons<'a>(&'a self, audit: &'a Audit) -> Result<Persons<'a>, Failure> {
        let persons = Persons::new(audit, &self.population, &self.individuals);
        persons.ok_or_else(|| {
            Failure::usage("`audit.suppress-below` hides single people, so none can be shown: audit without it where you may see the rows")
        })
    }
}

/// Audits a table that has been read, and keeps the people behind it, to be asked about one by one.
pub fn run_keeping_people(
    config: &Config,
    table: &Table,
    listener: &dyn Listener,
) -> Result<(Record, Behind), Failure> {
    let code = FromCode::default();
    audited(config, table, code, listener, |individuals, people, _| {
        Ok(Behind {
            individuals,
            population: people.population,
        })
    })
}

/// The same, to be compared with another audit of the same people.
pub fn run_to_compare(
    config: &Config,
    table: &Table,
    code: FromCode,
    listener: &dyn Listener,
) -> Result<(Record, Kept), Failure> {
    if config.audit.suppress_below.is_some() {
        return Err(Failure::usage(
            "two audits of the same people are compared person by person, and `audit.suppress-below` hides single people: save both audits and compare those",
        ));
    }
    audited(
        config,
        table,
        code,
        listener,
        |individuals, people, audit| Kept::new(individuals, &people, audit),
    )
}

/// Audits, and keeps of the people behind the counts what `keep` makes of them.
fn audited<K>(
    config: &Config,
    table: &Table,
    code: FromCode,
    listener: &dyn Listener,
    keep: impl FnOnce(Individuals, People<'_>, &Audit) -> Result<K, Failure>,
) -> Result<(Record, K), Failure> {
    let config = &table.says(config);
    let plan = Plan::new(config)?;
    let options = audit::options(config)?;
    if table.rows() == 0 {
        let name = &table.origin.name;
        return Err(Failure::data(format!("{name}: the table has no rows")));
    }
    listener.event(
        "read",
        json!({ "rows": table.rows(), "data": table.origin.name }),
    );
    listener.check()?;

    let shared = with_shared_numbers(config, table)?;
    let table = shared.as_ref().unwrap_or(table);
    let Prepared {
        columns,
        mut model,
        people,
        own,
        mut notes,
    } = prepare(config, table, code, listener)?.shared(config, listener)?;
    notes.extend(table.manifest.as_deref().and_then(Manifest::note));
    let protected: Vec<&str> = config.protected.keys().map(String::as_str).collect();
    notes.extend(model.check_columns(people.population.columns(), &protected)?);
    if plan.is_some_and(|plan| plan.asks_again()) {
        model = model.keeping_answers(config)?;
    }

    let favourable = readings::favourable(config, &model, &people)?;
    let options = options.favourable(favourable);
    let audited = audit::audit(config, &people, &model, &options, listener)?;
    let audit = &audited.audit;
    let options = audit::as_chosen(options, audit);
    notes.extend(audited.notes.iter().cloned());
    if let Some(path) = &config.report.profiles {
        let individuals = &audited.individuals;
        audited_profiles::write(path, &people.population, audit, individuals, listener)?;
    }
    let mut base_rates = None;
    if let Some(label) = Label::of(config, table)? {
        base_rates = label.base_rates(&people, audit, config.audit.suppress_below)?;
        if base_rates.is_none() {
            notes.push(
                "base rates are left out: they rest on counts that are suppressed".to_owned(),
            );
        }
    }
    listener.event(
        "audited",
        json!({ "subgroups": audit.subgroups.len(), "pairs": audit.sizes.pairs }),
    );

    let evidence = match plan {
        None => None,
        Some(plan) => {
            if let Some(column) = &config.data.weight {
                notes.push(format!(
                    "tests and intervals take the weights in {column} as so many people; survey or sampling weights are not, and would make chance pass for a finding"
                ));
            }
            let evidenced = Evidenced {
                declaration: &columns.declaration,
                people: &people,
                model: model.model.as_ref(),
                options: &options,
                audited: &audited,
                suppress_below: config.audit.suppress_below,
                listener,
            };
            let gathered = evidenced.gather(plan);
            listener.clear();
            let (mut evidence, more) = gathered?;
            notes.extend(more);
            if let Some(own) = &own {
                let confirming = (own, &model, &options);
                notes.extend(confirm(
                    config,
                    confirming,
                    &audited,
                    &mut evidence,
                    listener,
                )?);
            }
            Some(evidence)
        }
    };
    listener.step("putting the answer together");
    let mut answer = options.work(|| {
        let delta = config.evidence.delta.unwrap_or(answer::DELTA);
        answer::answer(
            &audited.audit,
            &audited.individuals,
            &audited.definitions,
            evidence.as_ref(),
            delta,
        )
    })?;
    let reads = model.inputs.as_ref().map(|inputs| {
        let columns = people.population.columns().iter();
        let read = columns.filter(|c| facts_models::input_of(inputs, c.name()).is_some());
        read.map(|column| column.name().to_owned())
            .collect::<Vec<_>>()
    });
    let reasons = Reasons {
        population: &people.population,
        model: model.model.as_ref(),
        audit: &audited.audit,
        individuals: &audited.individuals,
        reads: reads.as_deref(),
        options: &options,
    };
    let watch = |progress| listener.progress(progress);
    let explained = reasons.explain(&mut answer, EXPLAINED, Watch::new(&watch));
    listener.clear();
    explained?;
    let definitions = audited.definitions.iter();
    let record = Record {
        version: VERSION,
        tool: TOOL.to_owned(),
        made: now()?,
        data: table.origin.clone(),
        model: model.origin,
        protected: config.protected.keys().cloned().collect(),
        base_rates,
        definitions: definitions.map(|definition| definition.id()).collect(),
        assumptions: columns.notes,
        notes,
        audit: audited.audit,
        evidence,
        answer: Some(answer),
    };
    let kept = keep(audited.individuals, people, &record.audit)?;
    Ok((record, kept))
}

/// Leaves out of the evidence for rows that people share what does not pass among the people as they are, so
/// that nothing is claimed of them that does not hold of them. Says how much that is, in hundredths.
fn confirm(
    config: &Config,
    (own, model, options): (&People<'_>, &AuditedModel, &Options),
    audited: &Audited,
    evidence: &mut Evidence,
    listener: &dyn Listener,
) -> Result<Option<String>, Failure> {
    if evidence.tests.is_empty() {
        return Ok(None);
    }
    let mut config = config.clone();
    config.audit.suppress_below = None;
    let exact = audit::audit(&config, own, model, options, listener)?;
    let watch = |progress| listener.progress(progress);
    let tests = options.work(|| {
        let (audit, individuals) = (&exact.audit, &exact.individuals);
        let gathering = &evidence.gathering;
        evidence::test(
            audit,
            individuals,
            &audited.definitions,
            gathering,
            Watch::new(&watch),
        )
    })??;
    listener.clear();
    let (passing, confirmed) = evidence.confirm(&audited.audit, &exact.audit, &tests);
    Ok((passing > 0).then(|| {
        let percent = (100.0 * confirmed as f64 / passing as f64).floor();
        format!(
            "of the findings that pass among shared rows, {percent} % pass among the people as they are; no test of the others is told"
        )
    }))
}

/// How much an audit under this configuration would have to do. The model is fitted or opened, and asked
/// about everybody; nothing is written. Fails where the audit would, and where asking the model means to run
/// a program or to call a server.
pub fn expected(
    config: &Config,
    table: &Table,
    listener: &dyn Listener,
) -> Result<Expected, Failure> {
    let is_file = config.model.spec.as_ref().is_some_and(ModelSpec::is_file);
    if !(config.is_train() || is_file) {
        return Err(Failure::usage(match config.model.spec {
            None => "no model is named",
            Some(_) => "no program is run and no server called to learn who is refused",
        }));
    }
    let mut config = table.says(config).into_owned();
    config.train.save = None;
    config.model.answers = None;
    config.model.check = None;
    config.report.out = None;
    config.report.profiles = None;
    let config = &config;
    let options = audit::options(config)?;
    let shared = with_shared_numbers(config, table)?;
    let table = shared.as_ref().unwrap_or(table);
    let prepared = prepare(config, table, FromCode::default(), listener)?;
    let prepared = prepared.shared(config, listener)?;
    let (model, people) = (&prepared.model, &prepared.people);
    let options = options.favourable(readings::favourable(config, model, people)?);
    Expected::search(config, people, model, &options, listener)
}

/// What an audit is made of.
struct Prepared<'a> {
    columns: Columns,
    model: AuditedModel,
    people: People<'a>,
    /// The people as they are, where they share rows.
    own: Option<People<'a>>,
    notes: Vec<String>,
}

/// The table whose numbers at least k people hold, if small counts are to be suppressed.
fn with_shared_numbers(config: &Config, table: &Table) -> Result<Option<Table>, Failure> {
    let Some(k) = config.audit.suppress_below else {
        return Ok(None);
    };
    let label = config.label.column.as_deref();
    let checked = config.model.check.as_deref();
    let exact = [config.data.weight.as_deref(), label, checked];
    let names = table.names().into_iter();
    let names: Vec<&str> = names.filter(|name| !exact.contains(&Some(*name))).collect();
    let mut origin = table.origin.clone();
    for file in &mut origin.files {
        // All but whole multiples of k would tell, by subtraction, how few are left out.
        file.rows = file.rows / k.max(1) * k;
    }
    Ok(Some(Table {
        cells: table.cells.with_shared_numbers(&names, k)?,
        origin,
        manifest: table.manifest.clone(),
    }))
}

impl Prepared<'_> {
    /// The same with rows that people share, if small counts are to be suppressed. What can only be asked of
    /// people as they are is asked before.
    fn shared(mut self, config: &Config, listener: &dyn Listener) -> Result<Self, Failure> {
        let k = config.audit.suppress_below;
        if k.is_some() || config.model.check.is_some() {
            let protected: Vec<&str> = config.protected.keys().map(String::as_str).collect();
            (self.model).check_columns(self.people.population.columns(), &protected)?;
        }
        if let Some(column) = &config.model.check {
            let note = (self.model).check_answers(column, &self.people, k.is_none())?;
            self.notes.push(note);
        }
        let Some(k) = k else {
            return Ok(self);
        };
        listener.step("putting people together who are alike");
        let declaration = std::mem::take(&mut self.columns.declaration);
        let declaration = declaration.with_edges_of(&self.people.population);
        let model = self.model.model.as_ref();
        let (people, note) = self.people.shared(config, &declaration, model, k)?;
        self.columns.declaration = declaration;
        self.own = Some(std::mem::replace(&mut self.people, people));
        self.model.suppress(self.people.population.summary(), k);
        self.notes.push(note);
        Ok(self)
    }
}

/// Roles, model and people. A model that is opened tells what it reads before roles are given; one
/// that is fitted here reads what was given a role, and leaves some of the people for the audit.
fn prepare<'a>(
    config: &Config,
    table: &'a Table,
    code: FromCode,
    listener: &dyn Listener,
) -> Result<Prepared<'a>, Failure> {
    let decide = |inputs: Option<&[Input]>| {
        listener.step("looking at the columns");
        let mut columns = Columns::decide(config, &table.cells, inputs)?;
        columns.take_code(code.costs, code.allowed)?;
        Ok::<_, Failure>(columns)
    };
    let prepared = if code.model.is_none() && config.is_train() {
        let mut columns = decide(None)?;
        listener.step("fitting a model");
        let fitted = model::fit_on_part(config, &mut columns, table, code.fitted)?;
        if let Some(path) = &config.train.save {
            save_model(path, &fitted.additive, listener)?;
        }
        Prepared {
            columns,
            model: fitted.model,
            people: fitted.people,
            own: None,
            notes: fitted.notes,
        }
    } else {
        let model = match code.model {
            Some((model, origin)) => AuditedModel::at_hand(model, origin),
            None => {
                listener.step("opening the model");
                model::open(config, listener)?
            }
        };
        let reads = code.reads.map(|columns| {
            let input = |column| Input {
                column,
                kind: InputKind::Any,
                spelling: Spelling::Exact,
            };
            columns.into_iter().map(input).collect::<Vec<_>>()
        });
        let columns = decide(reads.as_deref().or(model.inputs.as_deref()))?;
        listener.step("taking in the population");
        Prepared {
            people: People::of(config, &columns.declaration, Cow::Borrowed(&table.cells))?,
            columns,
            own: None,
            notes: model.note.iter().cloned().collect(),
            model,
        }
    };
    listener.event(
        "model",
        json!({ "model": prepared.model.origin.description }),
    );
    listener.check()?;
    Ok(prepared)
}

fn save_model(
    path: &Path,
    model: &facts_models::AdditiveModel,
    listener: &dyn Listener,
) -> Result<(), Failure> {
    let mut text =
        serde_json::to_vec_pretty(model).map_err(|e| Failure::output(path.display(), e))?;
    text.push(b'\n');
    crate::files::write(path, &text, listener)
}

/// Today's date in UTC, or that of SOURCE_DATE_EPOCH: `2026-01-31`.
pub fn today() -> Result<String, Failure> {
    let mut now = now()?;
    now.truncate("2026-01-31".len());
    Ok(now)
}

/// The time, or what SOURCE_DATE_EPOCH says, so that the same audit can give the same bytes.
pub(crate) fn now() -> Result<String, Failure> {
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        // A clock that stands before 1970 tells no time.
        Err(_) => SystemTime::now().max(SystemTime::UNIX_EPOCH),
        Ok(text) => {
            let refuse = || {
                Failure::usage(format!(
                    "SOURCE_DATE_EPOCH is `{text}`, not a number of seconds"
                ))
            };
            let seconds: u64 = text.parse().map_err(|_| refuse())?;
            let since = std::time::Duration::from_secs(seconds);
            SystemTime::UNIX_EPOCH
                .checked_add(since)
                .ok_or_else(refuse)?
        }
    };
    Ok(humantime::format_rfc3339_seconds(time).to_string())
}
