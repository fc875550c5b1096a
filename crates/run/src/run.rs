//! An audit from a configuration: read, declare, open or fit, audit, record.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use facts_engine::actions::Validity;
use facts_engine::definitions::{self, Definition};
use facts_engine::flips::Model;
use facts_engine::population::{CostFunction, Declaration, Feature, Missing, TransitionRule};
use facts_engine::{Audit, Individuals, Options, Watch};
use facts_report::{BaseRate, BaseRates, ModelOrigin, Record, VERSION, text};
use serde_json::json;

use crate::config::{self, Config, Declared, declare, guess};
use crate::evidence::{Made, Plan};
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model::{self, FittedElsewhere, Ready};
use crate::table::Table;

/// The tool and its version, as records name it.
pub const TOOL: &str = concat!("facts ", env!("CARGO_PKG_VERSION"));

/// What comes from code, where a configuration cannot say it.
#[derive(Default)]
pub struct Given {
    /// A model that is at hand, and need not be opened or fitted.
    pub model: Option<(Box<dyn Model + Send>, ModelOrigin)>,
    /// A model that was fitted elsewhere on the train part of the table, for a configuration that
    /// would train one.
    pub fitted: Option<FittedElsewhere>,
    /// What changing a feature costs, by the feature's name.
    pub costs: HashMap<String, CostFunction>,
    /// Which transitions of a feature are allowed, by the feature's name.
    pub allowed: HashMap<String, TransitionRule>,
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given")
            .field("model", &self.model.as_ref().map(|(_, origin)| origin))
            .field("fitted", &self.fitted)
            .field("costs", &self.costs.keys())
            .field("allowed", &self.allowed.keys())
            .finish()
    }
}

/// Audits a table that has been read.
pub fn run(config: &Config, table: &Table, listener: &dyn Listener) -> Result<Record, Failure> {
    let made = run_with(config, table, Given::default(), listener);
    made.map(|(record, _)| record)
}

/// Audits a table that has been read, with what comes from code; keeps the people behind the counts.
pub fn run_with(
    config: &Config,
    table: &Table,
    given: Given,
    listener: &dyn Listener,
) -> Result<(Record, Individuals), Failure> {
    if table.rows() == 0 {
        let name = &table.origin.name;
        return Err(Failure::data(format!("{name}: the table has no rows")));
    }
    if config.protected.is_empty() {
        return Err(no_protected(table)?);
    }
    let plan = Plan::new(config)?;
    listener.event(
        "read",
        json!({ "rows": table.rows(), "data": table.origin.name }),
    );
    listener.check()?;
    listener.step("looking at the columns");
    let guessed = guess(&table.batches)?;
    let mut notes = Vec::new();
    let (mut ready, mut declared, fitted);
    if let Some((model, origin)) = given.model {
        ready = Ready::given(config, model, origin);
        declared = declare(config, &guessed, None)?;
        fitted = None;
    } else if config::is_train(config) {
        let mut columns = declare(config, &guessed, None)?;
        listener.step("fitting a model");
        let trained = model::train(config, &mut columns, &table.batches, given.fitted)?;
        if trained.dropped > 0 {
            notes.push(format!(
                "{} of {} rows miss a value and were left out before the model was fitted",
                text::count(trained.dropped as u64),
                text::count(table.rows() as u64),
            ));
        }
        if let Some(path) = &config.train.save {
            save_model(path, &trained.model, listener)?;
        }
        (ready, declared, fitted) = (trained.ready, columns, Some(trained.test));
    } else {
        listener.step("opening the model");
        ready = model::open(config, listener)?;
        declared = declare(config, &guessed, ready.inputs.as_deref())?;
        fitted = None;
    }
    if plan.is_some_and(|plan| plan.asks_again()) {
        ready = ready.keeping_answers(config)?;
    }
    declared.take_code(given.costs, given.allowed)?;
    let batches = fitted.as_ref().unwrap_or(&table.batches);
    listener.event("model", json!({ "model": ready.origin.description }));
    listener.check()?;

    listener.step("taking in the population");
    let population = declared.declaration().read(batches)?;
    let protected: Vec<&str> = config.protected.keys().map(String::as_str).collect();
    notes.extend(declared.notes.iter().cloned());
    notes.extend(model::check_fit(
        &mut ready,
        population.columns(),
        &protected,
    )?);
    if let Some(column) = &config.model.check {
        notes.push(model::check_answers(&ready, column, batches)?);
    }
    let watch = |progress| listener.progress(progress);
    let options = options(config)?.favourable(ready.favourable.clone());
    let found = facts_engine::audit_with_individuals(
        &population,
        ready.model.as_ref(),
        &options,
        Watch::new(&watch),
    );
    listener.clear();
    let (mut audit, individuals) = found.map_err(|error| about_answers(error, &ready))?;
    if let Some(k) = config.audit.suppress_below {
        audit = audit.suppressed(k);
    }
    let definitions = definitions_for(config, &audit, &mut notes)?;
    if audit.subgroups.is_empty() {
        notes.push(format!(
            "no subgroup is common to all {} groups with a valid action at this support; lower --support, raise --min-group-size to set small groups aside, or merge groups",
            audit.groups.len()
        ));
    }
    let base_rates = base_rates(config, &declared, batches, &audit)?;
    let base_rates = base_rates.filter(|rates| {
        let told = may_be_told(rates, config.audit.suppress_below);
        if !told {
            notes.push(
                "base rates are left out: they rest on counts that are suppressed".to_owned(),
            );
        }
        told
    });
    listener.event(
        "audited",
        json!({ "subgroups": audit.subgroups.len(), "pairs": audit.sizes.pairs }),
    );
    if let (Some(_), Some(column)) = (plan, &config.data.weight) {
        notes.push(format!(
            "tests and intervals take the weights in {column} as so many people; survey or sampling weights are not, and would make chance pass for a finding"
        ));
    }
    let evidence = match plan {
        None => None,
        Some(plan) => {
            let made = Made {
                declared: &declared,
                batches,
                population: &population,
                ready: &ready,
                options: &options,
                audit: &audit,
                individuals: &individuals,
                definitions: &definitions,
                suppress_below: config.audit.suppress_below,
                listener,
            };
            let gathered = made.gather(plan, &mut notes);
            listener.clear();
            Some(gathered?)
        }
    };
    let record = Record {
        version: VERSION,
        tool: TOOL.to_owned(),
        made: now()?,
        data: table.origin.clone(),
        model: ready.origin,
        protected: config.protected.keys().cloned().collect(),
        base_rates,
        definitions: definitions
            .iter()
            .map(|definition| definition.id())
            .collect(),
        notes,
        audit,
        evidence,
    };
    Ok((record, individuals))
}

/// Asks for the protected attribute, with what the table suggests.
fn no_protected(table: &Table) -> Result<Failure, Failure> {
    let guessed = guess(&table.batches)?;
    let maybe: Vec<&str> = (guessed.iter())
        .filter(|guess| guess.maybe_protected)
        .map(|guess| guess.name.as_str())
        .collect();
    let hint = if maybe.is_empty() {
        format!("the table has: {}", table.names().join(", "))
    } else {
        format!("this table has: {}", maybe.join(", "))
    };
    Ok(Failure::usage(format!(
        "no protected attribute is named; whose recourse is to be compared? give --protected COLUMN; {hint}"
    )))
}

/// What a model answered before it failed is kept; says so.
fn about_answers(error: facts_engine::Error, ready: &Ready) -> Failure {
    use facts_engine::Error;
    use facts_engine::flips::ModelError;
    let failed = matches!(
        error,
        Error::Model(ModelError::Failed(_)) | Error::Cancelled { .. }
    );
    let failure: Failure = error.into();
    match &ready.answers {
        Some(path) if failed => failure.with(format!(
            "what the model answered until then is kept in {}: run the same command again to go on from there",
            path.display()
        )),
        Some(path) => failure.with(format!(
            "the model's answers are kept in {}: remove it if the model answers otherwise now",
            path.display()
        )),
        None => failure,
    }
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

/// The engine's options.
fn options(config: &Config) -> Result<Options, Failure> {
    let audit = &config.audit;
    let mut options = Options::new();
    if let Some(support) = &audit.support {
        options = options.support(support.0.parse().map_err(Failure::engine_usage)?);
    }
    if let Some(validity) = audit.validity {
        options = options.validity(match validity {
            config::Validity::Joint => Validity::Joint,
            config::Validity::Subset => Validity::Subset,
        });
    }
    if let Some(ranges) = audit.ranges {
        options = options.ranges(ranges);
    }
    if let Some(items) = audit.max_length {
        options = options.max_length(items);
    }
    if let Some(subgroups) = audit.max_subgroups {
        options = options.max_subgroups(subgroups);
    }
    if let Some(mib) = audit.max_memory_mib {
        options = options.max_memory(mib.saturating_mul(1 << 20));
    }
    // A group too small to be told of is not compared, only named.
    let least = audit
        .min_group_size
        .unwrap_or(1)
        .max(audit.suppress_below.unwrap_or(1));
    options = options.min_group_size(least);
    if let Some(groups) = &audit.compare {
        options = options.compare(groups);
    }
    if let Some(rows) = config.model.batch_rows {
        options = options.batch_rows(rows);
    }
    if audit.threads == Some(0) {
        return Err(Failure::usage("0 threads can do no work; give at least 1"));
    }
    if let Some(threads) = audit.threads {
        options = options.threads(threads);
    }
    Ok(options)
}

/// The definitions asked for, or the paper's columns.
pub fn definitions_for(
    config: &Config,
    audit: &Audit,
    notes: &mut Vec<String>,
) -> Result<Vec<Box<dyn Definition>>, Failure> {
    let report = &config.report;
    let automatic = || match audit.automatic_budgets() {
        Err(facts_engine::Error::NoAutomaticBudgets) => Ok(Vec::new()),
        other => other,
    };
    let budgets = if report.budgets.is_empty() {
        automatic()?
    } else {
        report.budgets.clone()
    };
    if budgets.is_empty() {
        notes.push(
            "no subgroup reaches effectiveness 0.5 at any cost, so no budget could be chosen; give --budget to rank within a budget"
                .to_owned(),
        );
    }
    let phis = config.phis()?;
    if report.definitions.is_empty() {
        return Ok(definitions::columns(&phis, &budgets)?);
    }
    let mut all = Vec::new();
    for text in &report.definitions {
        if text == "paper" {
            all.extend(definitions::columns(&phis, &budgets)?);
        } else {
            all.extend(definitions::expand(text, &phis, &budgets)?);
        }
    }
    // Asked for twice, a definition is still one.
    let mut seen = HashSet::new();
    all.retain(|definition| seen.insert(definition.id()));
    Ok(all)
}

/// How often the label is favourable in each group, among the people of the audit.
fn base_rates(
    config: &Config,
    declared: &Declared,
    batches: &[arrow_array::RecordBatch],
    audit: &Audit,
) -> Result<Option<BaseRates>, Failure> {
    let Some(label) = &config.label.column else {
        return Ok(None);
    };
    let said = config
        .label
        .favourable
        .as_ref()
        .or(config.model.favourable.as_ref());
    let favourable = said.map_or_else(|| "1".to_owned(), |text| text.0.trim().to_owned());
    // The label joins as one more feature, so that exactly the people of the audit are counted.
    let column = Feature::categorical(label).missing(Missing::Level);
    let declaration: Declaration = declared.declaration().feature(column);
    let population = declaration.read(batches)?;
    let Some(f) = population
        .features()
        .iter()
        .position(|levels| levels.name == *label)
    else {
        return Ok(None);
    };
    let levels = &population.features()[f];
    let is_favourable: Vec<bool> = (levels.levels.iter())
        .map(|level| {
            let label = level.label.trim();
            label == favourable || (said.is_none() && label.eq_ignore_ascii_case("true"))
        })
        .collect();
    if !is_favourable.contains(&true) {
        let some: Vec<&str> = levels
            .levels
            .iter()
            .take(8)
            .map(|l| l.label.trim())
            .collect();
        return Err(Failure::usage(format!(
            "the label `{label}` never has the favourable value `{favourable}`; it has: {}; give --label-favourable",
            some.join(", ")
        )));
    }
    let groups = audit.groups.iter().map(|group| {
        let mut rate = BaseRate {
            name: group.name.clone(),
            people: 0,
            favourable: 0,
        };
        for profile in 0..population.profiles() {
            let level = population.level(f, profile);
            if population.groups()[population.group(profile)] == group.name
                && levels.missing != Some(level)
            {
                rate.people += population.people(profile);
                if is_favourable[level as usize] {
                    rate.favourable += population.people(profile);
                }
            }
        }
        rate
    });
    Ok(Some(BaseRates {
        label: label.clone(),
        favourable,
        groups: groups.collect(),
    }))
}

/// Whether base rates hold no count that is to be suppressed, nor one that can be had by subtracting.
fn may_be_told(rates: &BaseRates, suppress_below: Option<u64>) -> bool {
    let small = |count: u64| suppress_below.is_some_and(|k| (1..k).contains(&count));
    let groups = rates.groups.iter();
    !groups.into_iter().any(|group| {
        small(group.people) || small(group.favourable) || small(group.people - group.favourable)
    })
}

/// The time, or what SOURCE_DATE_EPOCH says, so that the same audit can give the same bytes.
fn now() -> Result<String, Failure> {
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        Err(_) => SystemTime::now(),
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
