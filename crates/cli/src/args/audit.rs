//! What is typed after `facts audit`.

use std::path::{Path, PathBuf};

use clap::Args;
use facts_models::ModelSpec;
use facts_run::config::{Paths, Text};
use facts_run::{Config, Failure};

use super::engine::EngineArgs;
use super::features::FeatureArgs;
use super::model::ModelArgs;
use super::{
    DefinitionArgs, EvidenceArgs, PartArgs, ReadingArgs, ShowingArgs, form_names, number, replace,
};

pub(super) const AUDIT_HELP: &str = "\
Everything can also stand in facts.toml (`facts init DATA` writes one); flags win. Without DATA and
--config, facts.toml in the current folder is used. Whatever has no flag of its own is reached with
--set: `--set features.age.max-step=2`. `facts explain config` lists all keys.

Models: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, exec-csv:COMMAND,
http(s)://…, or train (`facts explain models`). A file may stand without a prefix.
Definitions: `facts explain definitions`. What tells findings from chance: `facts explain evidence`.

Examples:
  facts audit people.csv --protected sex --model train --label income --favourable '>50K'
  facts audit people.parquet --protected race --model onnx:model.onnx --out result
  facts audit people.csv --protected sex --model 'exec:python predict.py' --support 0.05
  facts audit people.csv --protected sex --models lenders.toml --out result
  facts audit sql:people --database duckdb:lake.duckdb --protected sex --model model.txt
  facts audit --config facts.toml --definition equal-effectiveness:micro --fail-over 0.3
  facts audit --config facts.toml --person 'job = clerk' --group Female
  facts audit --config facts.toml --stability --hold-out 0.5 --passing --out result
  zcat people.csv.gz | facts audit - --protected sex --model model.txt --increase age \\
      --immutable race --bins age=5 --cost-weight occupation=4";

/// What is audited, and how.
#[derive(Debug, Args)]
pub(crate) struct WhatArgs {
    /// The configuration
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Do not use the facts.toml in this folder, even if it is about this table
    #[arg(long, conflicts_with = "config")]
    no_config: bool,
    /// Any key of the configuration; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The protected attribute; repeat to cross several
    #[arg(long, short, value_name = "COLUMN")]
    protected: Vec<String>,
    /// The model: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, http://…, train
    #[arg(long, short, value_name = "SPEC")]
    model: Option<ModelSpec>,
    /// The class that is favourable; 1 and true unless said
    #[arg(long, value_name = "CLASS")]
    favourable: Option<String>,
    #[command(flatten)]
    model_args: ModelArgs,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// The table: CSV, Parquet or Arrow, compressed or not; a folder of them, a glob, several files, or
    /// addresses such as `s3://bucket/people.parquet`; a query of a database, `sql:people` or
    /// `'sql:SELECT …'`; `-` is standard input
    pub(crate) data: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) what: WhatArgs,
    /// Audit each model of a list on this table: a TOML file with a `[[model]]` for each, which has a name
    /// and keys of `[model]`; results go to --out/NAME, and a summary says which models are unfair
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "person", "dry_run", "fail_over", "story", "stories", "subgroup", "tables", "wanted", "against", "top", "full", "passing"])]
    pub(crate) models: Option<PathBuf>,
    /// Only tell what the audit would be about, how many subgroups it would have, and how long it would take
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    #[command(flatten)]
    part: PartArgs,
    #[command(flatten)]
    person: PersonArgs,
    /// The folder to write the audit and all reports to
    #[arg(long, short, value_name = "DIR", help_heading = "Results")]
    out: Option<PathBuf>,
    /// What to print: a form of report instead of the summary and findings
    #[arg(long, value_name = "FORM", value_parser = form_names(), help_heading = "Results")]
    pub(crate) format: Option<String>,
    /// Exit with 1 if a finding by the definitions asked for scores over this; of those that
    /// --passing, --against and --where leave
    #[arg(long, value_name = "SCORE", help_heading = "Results", value_parser = number)]
    pub(crate) fail_over: Option<f64>,
}

/// One refused person.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is shown")]
pub(crate) struct PersonArgs {
    /// What would turn the answer for one refused person, and how people like them fare: by the number
    /// of their profile, or by conditions such as "job = clerk, age >= 30"; several profiles are listed
    #[arg(long, value_name = "WHO", conflicts_with_all = ["out", "format", "fail_over", "dry_run", "story", "stories", "subgroup", "tables", "wanted", "against", "top", "full", "passing"])]
    pub(crate) person: Option<String>,
    /// Only people of this group, for --person
    #[arg(long, value_name = "GROUP", requires = "person")]
    pub(crate) group: Option<String>,
}

impl WhatArgs {
    /// Whether it is said how a table is to be audited.
    pub(crate) fn says_how(&self) -> bool {
        self.config.is_some() || self.model.is_some() || !self.protected.is_empty()
    }

    /// The configuration, with what the flags say put over it; also, the file that was found in this folder
    /// and not named.
    pub(crate) fn config(self, data: Vec<PathBuf>) -> Result<(Config, Option<PathBuf>), Failure> {
        let local = PathBuf::from("facts.toml");
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None if self.no_config || !local.is_file() => None,
            None if !data.is_empty() && !is_about(&local, &data) => None,
            None => Some(local),
        };
        let found = file
            .clone()
            .filter(|_| self.config.is_none() && !data.is_empty());
        let mut config = Config::load(file.as_deref(), &self.set)?;
        let data = (!data.is_empty()).then_some(Paths(data));
        replace(&mut config.data.path, data);
        self.reading.apply(&mut config);
        replace(&mut config.model.spec, self.model);
        if let Some(favourable) = self.favourable {
            // What is typed wins over the file, wherever the file says it.
            let favourable = Some(Text(favourable));
            if config.model.favourable != favourable {
                config.model.favourable = favourable;
                config.label.favourable = None;
            }
        }
        if !self.protected.is_empty() {
            let named = self.protected.into_iter();
            config.protected = named
                .map(|name| {
                    let known = config.protected.get(&name).cloned().unwrap_or_default();
                    (name, known)
                })
                .collect();
        }
        for name in config.protected.keys() {
            config.features.shift_remove(name);
        }
        self.model_args.apply(&mut config)?;
        self.features.apply(&mut config)?;
        self.engine.apply(&mut config);
        self.evidence.apply(&mut config);
        self.definitions.apply(&mut config);
        Ok((config, found))
    }
}

impl AuditArgs {
    /// The configuration and what is to become of the audit.
    pub(crate) fn config(self) -> Result<(Config, Results), Failure> {
        let (mut config, found) = self.what.config(self.data)?;
        replace(&mut config.report.out, self.out);
        replace(&mut config.report.top, self.showing.top);
        Ok((
            config,
            Results {
                showing: self.showing,
                part: self.part,
                person: self.person,
                format: self.format,
                fail_over: self.fail_over,
                found,
                dry_run: self.dry_run,
                models: self.models,
            },
        ))
    }
}

/// Whether a configuration says how to audit just this table, as one that `facts init` wrote for it
/// does. One that cannot be read is about it: whoever typed the command should hear what is wrong.
fn is_about(file: &Path, data: &[PathBuf]) -> bool {
    let Ok(config) = Config::load(Some(file), &[]) else {
        return true;
    };
    let real = |paths: &[PathBuf]| -> Option<Vec<PathBuf>> {
        let real = |path: &PathBuf| match facts_run::is_elsewhere(path) {
            true => Some(path.clone()),
            false => path.canonicalize().ok(),
        };
        paths.iter().map(real).collect()
    };
    let named = config.data.path.and_then(|paths| real(&paths.0));
    named.is_some() && named == real(data)
}

/// What a command line says that no configuration does: what to do with the audit.
pub(crate) struct Results {
    /// The configuration that was found in this folder, and not named.
    pub(crate) found: Option<PathBuf>,
    pub(crate) showing: ShowingArgs,
    pub(crate) part: PartArgs,
    pub(crate) person: PersonArgs,
    pub(crate) format: Option<String>,
    pub(crate) fail_over: Option<f64>,
    pub(crate) dry_run: bool,
    /// The list of models, if there are several.
    pub(crate) models: Option<PathBuf>,
}
