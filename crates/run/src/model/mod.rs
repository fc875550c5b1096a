//! Model: opened from its string, given by code, or fitted on the user's own table.

mod examples;
mod fit;

use std::path::PathBuf;
use std::time::Duration;

use facts_engine::flips::{Favourable, Model};
use facts_engine::population::{Column, Summary};
use facts_models::{Fit, Headers, Input, ModelSpec, OpenOptions, Parity, Remembering};
use facts_report::{ModelOrigin, text};
use tempfile::TempDir;

pub(crate) use self::fit::fit_on_part;
pub use self::fit::{FittedElsewhere, fit};
use crate::config::{Config, or_environment};
use crate::failure::Failure;
use crate::hashes::sha256;
use crate::listener::Listener;
use crate::people::People;

/// Rows that a model is asked for at a time while its answers are kept, unless the user says otherwise.
const BATCH_ROWS: usize = 1 << 16;

/// Rows that a model is asked for again whose answers were kept by an earlier run.
const ASKED_AGAIN: usize = 100;

/// A model that can be asked, and what is known about it.
pub(crate) struct AuditedModel {
    pub(crate) model: Box<dyn Model + Send>,
    /// What it reads, if it can tell.
    pub(crate) inputs: Option<Vec<Input>>,
    pub(crate) origin: ModelOrigin,
    /// Which class is favourable, where that follows from how the model was made.
    pub(crate) favourable: Option<Favourable>,
    /// Where the model's answers are kept.
    pub(crate) answers: Option<PathBuf>,
    /// What an auditor should know about its answers.
    pub(crate) note: Option<String>,
    /// The folder that goes with the model, if its answers are kept for this audit only.
    #[expect(dead_code, reason = "it is removed when the model goes")]
    kept: Option<TempDir>,
}

impl AuditedModel {
    /// A model that is at hand.
    pub(crate) fn at_hand(model: Box<dyn Model + Send>, origin: ModelOrigin) -> Self {
        Self {
            model,
            inputs: None,
            origin,
            favourable: None,
            answers: None,
            note: None,
            kept: None,
        }
    }

    /// Keeps the answers of a model that is asked row by row as long as the audit takes, so that
    /// what is asked again is not answered again. Answers that are kept already stay where they are.
    pub(crate) fn keeping_answers(self, config: &Config) -> Result<Self, Failure> {
        if self.answers.is_some() || !self.model.asks_for_rows() {
            return Ok(self);
        }
        let folder = tempfile::tempdir().map_err(|e| Failure::output("temporary folder", e))?;
        let remembering =
            Remembering::open(self.model, folder.path().join("answers"), "this audit")
                .map_err(Failure::model)?
                .batch_rows(config.model.batch_rows.unwrap_or(BATCH_ROWS));
        Ok(Self {
            model: Box::new(remembering),
            kept: Some(folder),
            ..self
        })
    }
}

/// Opens the model that the configuration names.
pub(crate) fn open(config: &Config, listener: &dyn Listener) -> Result<AuditedModel, Failure> {
    let spec = config.model.spec.as_ref().ok_or_else(|| {
        Failure::usage(
            "no model is named; name one with `model.spec`, or have one fitted on this table: `model.spec` train, with `label.column` naming the outcome",
        )
    })?;
    let options = options(config)?;
    let opened = spec.open(&options)?;
    let sha256 = opened.file.as_deref().map(sha256).transpose()?;
    let mut model = opened.model;
    let (mut answers, mut note) = (None, None);
    if model.asks_for_rows()
        && let Some(path) = answers_path(config)
    {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::output(folder.display(), error))?;
        }
        let fingerprint = spec.fingerprint(&options)?;
        let mut remembering =
            Remembering::open(model, &path, &fingerprint).map_err(Failure::model)?;
        if let Some(rows) = config.model.batch_rows {
            remembering = remembering.batch_rows(rows);
        }
        remembering = remembering.checking(ASKED_AGAIN);
        if remembering.remembered() > 0 {
            note = Some(format!(
                "answers that an earlier run kept are used; up to {ASKED_AGAIN} of them were asked for again, and the model answered the same"
            ));
            listener.note(&format!(
                "going on with {} answers from {}",
                text::count(remembering.remembered()),
                path.display()
            ));
        }
        model = Box::new(remembering);
        answers = Some(path);
    }
    let origin = ModelOrigin {
        spec: spec.to_string(),
        description: opened.description,
        sha256,
        reads_protected: None,
        training: None,
    };
    Ok(AuditedModel {
        inputs: opened.inputs,
        answers,
        note,
        ..AuditedModel::at_hand(model, origin)
    })
}

/// What the model of a configuration reads, if it is a file that can tell.
pub(crate) fn inputs(
    config: &Config,
    listener: &dyn Listener,
) -> Result<Option<Vec<Input>>, Failure> {
    let spec = config.model.spec.as_ref();
    match spec.is_some_and(ModelSpec::is_file) {
        true => Ok(open(config, listener)?.inputs),
        false => Ok(None),
    }
}

/// Where answers are kept: where the user says, or with the results.
fn answers_path(config: &Config) -> Option<PathBuf> {
    let beside = || Some(config.report.out.as_ref()?.join("answers"));
    config.model.answers.clone().or_else(beside)
}

/// How the model is to be opened.
fn options(config: &Config) -> Result<OpenOptions, Failure> {
    let model = &config.model;
    let mut options = OpenOptions::default();
    options.threshold = model.threshold;
    options.columns = model.columns.clone();
    options.order = model.order.clone();
    options.output = model.output.clone();
    options.workers = model.workers;
    options.batch_rows = model.batch_rows;
    options.ca = model.ca.clone();
    options.timeout = match model.timeout {
        None => None,
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
            Failure::usage(format!(
                "the time-out is {seconds} seconds; give a number above 0"
            ))
        })?),
    };
    let mut headers = Headers::default();
    for (name, value) in &model.headers {
        let value = or_environment(value, &format!("header {name}"))?;
        headers = headers.with(name, value);
    }
    options.headers = headers;
    Ok(options)
}

impl AuditedModel {
    /// Checks the table's columns against what the model reads; what is worth a note.
    pub(crate) fn check_columns(
        &mut self,
        columns: &[Column],
        protected: &[&str],
    ) -> Result<Vec<String>, Failure> {
        let Some(inputs) = &self.inputs else {
            return Ok(Vec::new());
        };
        let fit = Fit::check(inputs, columns, protected);
        if !fit.is_ok() {
            return Err(Failure::model(format!(
                "{fit}\nmap names with `model.columns`, give a column its type with `data.types`, or leave columns out with `data.ignore`"
            )));
        }
        self.origin.reads_protected = Some(fit.reads_protected.clone());
        let mut notes = Vec::new();
        for unseen in &fit.unseen {
            let what = if unseen.values.len() == 1 {
                "a value"
            } else {
                "some values"
            };
            let values: Vec<&str> = unseen.values.iter().take(5).map(String::as_str).collect();
            notes.push(format!(
                "the model does not know {what} of {}: {}",
                unseen.column,
                values.join(", ")
            ));
        }
        for respelled in &fit.respelled {
            notes.push(format!(
                "the model's `{}` is read from {}",
                respelled.input, respelled.column
            ));
        }
        Ok(notes)
    }

    /// What is told of how the model was fitted, without counts of fewer than k rows; the rows that are audited
    /// are those of the people who share rows.
    pub(crate) fn suppress(&mut self, audited: &Summary, k: u64) {
        if let Some(training) = &mut self.origin.training {
            let in_full = |rows: u64| rows / k.max(1) * k;
            training.left_out = in_full(training.left_out);
            training.train_rows = in_full(training.train_rows);
            training.test_rows = audited.rows;
            training.accuracy = (training.accuracy * 100.0).round() / 100.0;
        }
    }

    /// Compares the model's answers with what its original answered, row by row; a note about it.
    /// Not `counted`, it tells no number of rows and no row.
    pub(crate) fn check_answers(
        &self,
        column: &str,
        people: &People<'_>,
        counted: bool,
    ) -> Result<String, Failure> {
        let original = people.table.column(column);
        let original =
            original.map_err(|error| Failure::usage(format!("`model.check`: {error}")))?;
        let kept: Vec<(usize, usize)> = (people.rows.kept())
            .map(|(row, profile, _)| (row, profile))
            .collect();
        let rows = kept.iter().map(|&(row, _)| row).collect::<Vec<_>>();
        let original = original.array(&rows);
        let rows = people
            .population
            .model_rows(kept.iter().map(|&(_, profile)| profile));
        let parity = Parity::check(self.model.as_ref(), &rows, &original)?;
        let repeats = people.table.repeats();
        // By the number, from 1, of what the model was asked: the distinct row.
        let place = |at: u64| kept[at as usize - 1].0;
        let all = text::count(kept.iter().map(|&(row, _)| repeats[row]).sum());
        Ok(match parity.differing.first() {
            None if !counted => format!("the model answers all rows as `{column}` says"),
            Some(_) if !counted => format!(
                "the model answers some rows otherwise than `{column}` says: the audit is of the model as it answers here"
            ),
            None => format!("the model answers all {all} rows as `{column}` says"),
            Some(first) => format!(
                "the model answers {} of {all} rows otherwise than `{column}` says, row {} first: the audit is of the model as it answers here",
                text::count(parity.differing.iter().map(|at| repeats[place(*at)]).sum()),
                people.table.first_row(place(*first))
            ),
        })
    }
}
