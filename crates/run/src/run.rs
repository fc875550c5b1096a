//! From a configuration to a record, stage by stage. Each stage is a value that the next one takes:
//! read ([`Table`]) → roles (`columns/`), model (`model/`) and people (`people.rs`), together [`Prepared`] →
//! audit (`audit.rs`), evidence (`evidence/`), answer and record (`found.rs`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use facts_engine::answer::Persons;
use facts_engine::flips::Model;
use facts_engine::population::{CostFunction, Population, TransitionRule};
use facts_engine::{Audit, Individuals};
use facts_models::ModelSpec;
use facts_report::{ModelOrigin, Record};

use crate::audit::{self, Expected};
use crate::config::Config;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model::FittedElsewhere;
use crate::paired::Kept;
use crate::people::People;
use crate::prepared::{Basis, Prepared, Taken, with_shared_numbers};
use crate::readings;
use crate::table::Table;

/// The tool and its version, as records name it.
pub const TOOL: &str = concat!("facts ", env!("CARGO_PKG_VERSION"));

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
            population: Arc::unwrap_or_clone(people).population,
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
    keep: impl FnOnce(Individuals, Arc<People<'_>>, &Audit) -> Result<K, Failure>,
) -> Result<(Record, K), Failure> {
    let basis = Basis::new(config, table, listener)?;
    audited_on(&basis, None, config, code, listener, keep)
}

/// Audits one model on what may serve others too. People that were taken in for another model that sees the
/// same columns are taken from `taken`, if that is given.
pub(crate) fn audited_on<'a, K>(
    basis: &'a Basis<'_>,
    taken: Option<&mut Taken<'a>>,
    config: &Config,
    code: FromCode,
    listener: &dyn Listener,
    keep: impl FnOnce(Individuals, Arc<People<'a>>, &Audit) -> Result<K, Failure>,
) -> Result<(Record, K), Failure> {
    let config = &basis.table.says(config);
    let prepared = Prepared::new(config, &basis.table, code, taken, listener)?;
    let ready = prepared.shared(config, listener)?.ready(config, basis)?;
    let mut found = ready.audit(listener)?;
    let evidence = found.evidence(listener)?;
    let answer = found.answer(evidence.as_ref(), listener)?;
    let (record, individuals, people) = found.record(evidence, answer)?;
    let kept = keep(individuals, people, &record.audit)?;
    Ok((record, kept))
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
    let options = audit::options(config, table)?;
    let table = with_shared_numbers(config, table)?;
    let prepared = Prepared::new(config, &table, FromCode::default(), None, listener)?;
    let prepared = prepared.shared(config, listener)?;
    let (model, people) = (&prepared.model, &prepared.people);
    let options = options.favourable(readings::favourable(config, model, people)?);
    Expected::search(config, people, model, &options, listener)
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
