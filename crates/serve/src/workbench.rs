//! What-if: the audit again, under other settings.
//!
//! A what-if is a list of settings, `KEY=VALUE` as `--set` takes them, over the configuration that the
//! command line named. It may say what may change, what that costs, who is compared and how; which table
//! is read and which model is asked is for the command line alone to say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use facts_engine::Watch;
use facts_engine::definitions;
use facts_engine::evidence::{self, Gathering};
use facts_run::config::Evidence;
use facts_run::{Config, Failure, Listener, Table};
use serde::Deserialize;

use crate::desk::{Held, Source};
use crate::failure::Failed;
use crate::jobs::Job;
use crate::state::State;

/// What a what-if may set: everything below these keys.
const MAY_SET: [&str; 6] = [
    "features.",
    "protected.",
    "audit.",
    "evidence.",
    "report.phi",
    "report.budgets",
];

/// What it may not set, though it lies below one of them: who may be seen is for the command line to say.
const HIDES_PEOPLE: &str = "audit.suppress-below";

/// At most so many settings.
const MOST: usize = 200;

/// A table and a configuration at hand, so that audits can be made.
#[derive(Debug)]
pub struct Workbench {
    /// The configuration's file; without one there are no what-ifs, which are settings put over it.
    pub file: Option<PathBuf>,
    /// Settings that the command line puts over it.
    pub settings: Vec<String>,
    /// What `facts audit` is given to make the first audit.
    pub arguments: Vec<String>,
    /// What both come to.
    pub config: Config,
    /// The table.
    pub table: Table,
}

/// A what-if that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) settings: Vec<String>,
}

impl Scenario {
    /// Reads and checks what is asked for.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Failed> {
        let refuse =
            |error: serde_json::Error| Failed::bad(format!("the what-if cannot be read: {error}"));
        let mut scenario: Self = serde_json::from_slice(body).map_err(refuse)?;
        scenario.name = scenario.name.trim().chars().take(80).collect();
        if scenario.name.is_empty() {
            return Err(Failed::bad("give the what-if a name"));
        }
        if scenario.settings.len() > MOST {
            return Err(Failed::bad(format!(
                "a what-if has at most {MOST} settings"
            )));
        }
        for setting in &scenario.settings {
            let key = setting.split('=').next().unwrap_or_default().trim();
            if key == HIDES_PEOPLE {
                return Err(Failed::bad(format!(
                    "a what-if may not set `{key}`: who may be seen is said on the command line"
                )));
            }
            if setting.contains(char::is_control) || !MAY_SET.iter().any(|may| key.starts_with(may))
            {
                return Err(Failed::bad(format!(
                    "a what-if may not set `{key}`: table, model and results are named on the command line"
                )));
            }
        }
        Ok(scenario)
    }
}

impl Workbench {
    /// Whether there may be what-ifs.
    pub(crate) fn may_change(&self) -> bool {
        self.file.is_some()
    }

    /// Refuses a what-if where there may be none.
    pub(crate) fn check_may_change(&self) -> Result<(), Failed> {
        let refuse = |refused: Failure| Failed::conflict(refused.to_string());
        self.file().map(drop).map_err(refuse)
    }

    /// The file that what-ifs are put over.
    fn file(&self) -> Result<&Path, Failure> {
        self.file.as_deref().ok_or_else(|| {
            Failure::usage("a what-if is put over a configuration: `facts init DATA` writes one, `facts serve --config facts.toml` uses it")
        })
    }

    /// All settings of a what-if.
    fn all(&self, settings: &[String]) -> Vec<String> {
        self.settings.iter().chain(settings).cloned().collect()
    }

    fn source(&self, settings: &[String]) -> Source {
        Source::Made {
            arguments: self.arguments.clone(),
            settings: settings.to_vec(),
        }
    }

    /// The configuration of a what-if. Whatever its settings say, table, model and results are those of
    /// the command line.
    fn config(&self, settings: &[String]) -> Result<Config, Failure> {
        let base = &self.config;
        let mut config = match settings {
            [] => base.clone(),
            settings => Config::load(Some(self.file()?), &self.all(settings))?,
        };
        config.data = base.data.clone();
        config.model = base.model.clone();
        config.train = base.train.clone();
        config.train.save = None;
        config.label = base.label.clone();
        config.check = base.check.clone();
        config.report.out = None;
        config.report.profiles = None;
        // However its key is written.
        config.audit.suppress_below = base.audit.suppress_below;
        for name in config.protected.keys() {
            config.features.shift_remove(name);
        }
        Ok(config)
    }

    /// The configuration with all settings of an audit, as text.
    pub(crate) fn text(&self, settings: &[String]) -> Result<String, Failed> {
        let file = self.file()?;
        let text = std::fs::read_to_string(file)?;
        let name = file.display().to_string();
        Ok(Config::text_with(&name, &text, &self.all(settings))?)
    }

    /// Whether asking the model twice costs little: it is read here, no program and no server.
    fn asks_cheaply(config: &Config) -> bool {
        config.is_train()
            || config
                .model
                .spec
                .as_ref()
                .is_some_and(|spec| spec.is_file())
    }

    fn held(
        &self,
        name: &str,
        settings: &[String],
        config: &Config,
        listener: &dyn Listener,
    ) -> Result<Held, Failed> {
        let (record, behind) = facts_run::run_keeping_people(config, &self.table, listener)?;
        Held::new(name.to_owned(), self.source(settings), record, Some(behind))
    }

    /// The numbers of the configuration as it stands: without tests where they can come later.
    pub(crate) fn first(&self, listener: &dyn Listener) -> Result<(Held, bool), Failed> {
        let mut config = self.config(&[])?;
        let later = Self::asks_cheaply(&config);
        if later {
            config.evidence = Evidence::none();
        }
        Ok((self.held("as configured", &[], &config, listener)?, later))
    }
}

/// Makes the audit of a what-if: its numbers first, then all of it.
pub(crate) fn scenario(
    state: &State,
    bench: &Workbench,
    scenario: &Scenario,
    job: &Job,
) -> Result<usize, Failed> {
    let Scenario { name, settings } = scenario;
    let config = bench.config(settings)?;
    let mut key = None;
    if Workbench::asks_cheaply(&config) {
        let quick = Config {
            evidence: Evidence::none(),
            ..config.clone()
        };
        let place = state.add(bench.held(name, settings, &quick, job)?);
        job.numbers(place);
        key = Some(place);
    }
    complete(state, bench, name, settings, &config, key, job)
}

/// Makes the whole audit, and puts it in the place of its numbers.
fn complete(
    state: &State,
    bench: &Workbench,
    name: &str,
    settings: &[String],
    config: &Config,
    key: Option<usize>,
    job: &Job,
) -> Result<usize, Failed> {
    let held = bench.held(name, settings, config, job)?;
    match key {
        Some(key) => state.replace(key, held),
        None => Ok(state.add(held)),
    }
}

/// Tests what the first audit found, in the place where its numbers stand.
pub(crate) fn complete_first(state: &State, bench: &Workbench, job: &Job) -> Result<usize, Failed> {
    job.numbers(0);
    complete(
        state,
        bench,
        "as configured",
        &[],
        &bench.config(&[])?,
        Some(0),
        job,
    )
}

/// What is to be tested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Untested {
    pub(crate) definition: String,
    pub(crate) alpha: f64,
}

/// Tests one definition at one level, and fills it in.
pub(crate) fn test(
    held: &Arc<Held>,
    key: usize,
    asked: &Untested,
    job: &Job,
) -> Result<usize, Failed> {
    let Some(behind) = &held.behind else {
        return Err(Failed::conflict(
            "a saved audit has no people to test with; start with --config",
        ));
    };
    if !(asked.alpha > 0.0 && asked.alpha < 1.0) {
        return Err(Failed::bad("`alpha` must lie between 0 and 1"));
    }
    let gathered = held.record.evidence.as_ref().map(|found| found.gathering);
    let usual = Gathering::default();
    let gathering = Gathering {
        alpha: asked.alpha,
        ..gathered
            .filter(|gathered| gathered.shuffles > 0)
            .unwrap_or(usual)
    };
    let definitions = [definitions::parse(&asked.definition)?];
    let watch = |progress| job.progress(progress);
    let audit = &held.record.audit;
    let tests = evidence::test(
        audit,
        &behind.individuals,
        &definitions,
        &gathering,
        Watch::new(&watch),
    )?;
    for tests in tests {
        held.ask(move |desk| {
            desk.keep(gathering.alpha, tests);
            Ok(())
        })?;
    }
    Ok(key)
}
