//! The model that is audited: opened, or fitted on the user's own table.

use std::path::PathBuf;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use facts_engine::flips::{Favourable, Model};
use facts_engine::population::{Bins, Edges, Feature, Kind, Levels, Value, View};
use facts_models::train::{ClassWeights, Splitting, Training, split};
use facts_models::{AdditiveModel, Fit, Headers, Input, OpenOptions, Parity, Remembering};
use facts_report::{ModelOrigin, TrainingNote, text};
use tempfile::TempDir;

use crate::config::{self, ClassWeightsName, Config, Declared};
use crate::failure::Failure;
use crate::listener::Listener;
use crate::table::{Table, encoded, sha256, without_missing};

/// The seed of the split unless the user gives one.
const SEED: u64 = 131_313;
/// The part of the table that is audited when the model is fitted on the rest, in percent.
const TEST_PERCENT: u8 = 30;
/// Rows that a model is asked for at a time while its answers are kept, unless the user says otherwise.
const BATCH_ROWS: usize = 1 << 16;
/// Formats that are asked row by row and may be slow or fail: their answers are worth keeping.
const REMEMBERED: &[&str] = &["exec", "exec-csv", "http", "https", "onnx"];

/// A model, ready to be asked.
pub(crate) struct Ready {
    pub(crate) model: Box<dyn Model + Send>,
    pub(crate) inputs: Option<Vec<Input>>,
    pub(crate) origin: ModelOrigin,
    pub(crate) favourable: Favourable,
    /// Where the model's answers are kept.
    pub(crate) answers: Option<PathBuf>,
    /// The folder that goes with the model, if its answers are kept for this audit only.
    #[expect(dead_code, reason = "it is removed when the model goes")]
    kept: Option<TempDir>,
}

impl Ready {
    /// A model that is at hand.
    pub(crate) fn given(
        config: &Config,
        model: Box<dyn Model + Send>,
        origin: ModelOrigin,
    ) -> Self {
        Self {
            model,
            inputs: None,
            origin,
            favourable: favourable(config),
            answers: None,
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

/// Which class is favourable.
fn favourable(config: &Config) -> Favourable {
    match &config.model.favourable {
        None => Favourable::Positive,
        Some(class) => Favourable::Class(class.0.clone()),
    }
}

/// A model that was fitted elsewhere on the train part of a table, to be audited on the rest.
#[derive(Debug)]
pub struct FittedElsewhere {
    /// The model.
    pub model: AdditiveModel,
    /// What it is, in a few words.
    pub description: String,
}

/// A model fitted here, and the part of the table that it was not fitted on.
pub(crate) struct Fitted {
    pub(crate) ready: Ready,
    pub(crate) model: AdditiveModel,
    pub(crate) test: Vec<RecordBatch>,
    /// Rows left out of both parts because a feature is missing.
    pub(crate) dropped: usize,
}

/// Opens the model that the configuration names.
pub(crate) fn open(config: &Config, listener: &dyn Listener) -> Result<Ready, Failure> {
    let spec = config.model.spec.as_deref().ok_or_else(|| {
        Failure::usage(
            "no model is named; give --model SPEC (see `facts explain models`), or --model train --label COLUMN to fit one on this table",
        )
    })?;
    let options = options(config)?;
    let opened = facts_models::open(spec, &options)?;
    let sha256 = opened.file.as_deref().map(sha256).transpose()?;
    let prefix = spec.split(':').next().unwrap_or_default();
    let is_slow = REMEMBERED.contains(&prefix) || spec.ends_with(".onnx");
    let mut model = opened.model;
    let mut answers = None;
    if is_slow && let Some(path) = answers_path(config) {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::output(folder.display(), error))?;
        }
        let fingerprint = facts_models::fingerprint(spec, &options)?;
        let mut remembering =
            Remembering::open(model, &path, &fingerprint).map_err(Failure::model)?;
        if let Some(rows) = config.model.batch_rows {
            remembering = remembering.batch_rows(rows);
        }
        if remembering.remembered() > 0 {
            listener.note(&format!(
                "going on with {} answers from {}",
                text::count(remembering.remembered()),
                path.display()
            ));
        }
        model = Box::new(remembering);
        answers = Some(path);
    }
    Ok(Ready {
        model,
        inputs: opened.inputs,
        origin: ModelOrigin {
            spec: spec.to_owned(),
            description: opened.description,
            sha256,
            reads_protected: None,
            training: None,
        },
        favourable: favourable(config),
        answers,
        kept: None,
    })
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
        let value = match value.strip_prefix("env:") {
            None => value.clone(),
            Some(variable) => std::env::var(variable).map_err(|_| {
                Failure::usage(format!(
                    "header {name} is taken from the environment variable {variable}, which is not set"
                ))
            })?,
        };
        headers = headers.with(name, value);
    }
    options.headers = headers;
    Ok(options)
}

/// Checks the table's columns against what the model reads; what is worth a note.
pub(crate) fn check_fit(
    ready: &mut Ready,
    columns: &[facts_engine::population::Column],
    protected: &[&str],
) -> Result<Vec<String>, Failure> {
    let Some(inputs) = &ready.inputs else {
        return Ok(Vec::new());
    };
    let fit = Fit::check(inputs, columns, protected);
    if !fit.is_ok() {
        return Err(Failure::model(format!(
            "{fit}\nmap names with model.columns, give a column its type with data.types, or leave columns out with data.ignore"
        )));
    }
    ready.origin.reads_protected = Some(fit.reads_protected.clone());
    let mut notes = Vec::new();
    for unseen in &fit.unseen {
        notes.push(format!(
            "the model does not know {} of {}: {}",
            if unseen.values.len() == 1 {
                "a value"
            } else {
                "some values"
            },
            unseen.column,
            unseen
                .values
                .iter()
                .take(5)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
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

/// Compares the model's answers with what its original answered, row by row; a note about it.
pub(crate) fn check_answers(
    ready: &Ready,
    column: &str,
    batches: &[RecordBatch],
) -> Result<String, Failure> {
    let (mut rows, mut differing) = (0, Vec::new());
    for batch in batches {
        let original = batch.column_by_name(column);
        let original = original.ok_or_else(|| {
            Failure::usage(format!("--check-against: there is no column `{column}`"))
        })?;
        let parity = Parity::check(ready.model.as_ref(), batch, original)?;
        differing.extend(parity.differing.iter().map(|row| rows + row));
        rows += parity.rows;
    }
    let all = text::count(rows);
    Ok(match differing.first() {
        None => format!("the model answers all {all} rows as `{column}` says"),
        Some(first) => format!(
            "the model answers {} of {all} rows otherwise than `{column}` says, row {first} first: the audit is of the model as it answers here",
            text::count(differing.len() as u64)
        ),
    })
}

/// What a model is to be fitted to, and the rows that it can be fitted on.
struct Lesson {
    training: Training,
    favourable: String,
    batches: Vec<RecordBatch>,
    /// Rows left out because a feature, the label or a protected value is missing.
    dropped: usize,
}

impl Lesson {
    fn new(
        config: &Config,
        declared: &mut Declared,
        batches: &[RecordBatch],
    ) -> Result<Self, Failure> {
        let label = config.label.column.clone().ok_or_else(|| {
            Failure::usage("--model train fits a model to a label; name it with --label COLUMN")
        })?;
        let favourable = (config
            .label
            .favourable
            .as_ref()
            .or(config.model.favourable.as_ref()))
        .map_or_else(
            || guessed_favourable(batches, &label),
            |text| Ok(text.0.clone()),
        )?;
        let codes = config.data.missing_codes.clone().unwrap_or_default();
        let mut complete = declared.dropping.clone();
        complete.push((label.clone(), codes.clone()));
        complete.extend(
            config
                .protected
                .keys()
                .map(|name| (name.clone(), codes.clone())),
        );
        let (batches, dropped) = without_missing(batches, &complete)?;
        fix_label_bins(declared, &batches)?;

        let exclude = columns_unseen(config, declared, &batches, &label);
        let training = Training {
            c: config.train.c.unwrap_or(1.0),
            class_weights: match config.train.class_weights {
                None | Some(config::ClassWeights::Named(ClassWeightsName::Equal)) => {
                    ClassWeights::Equal
                }
                Some(config::ClassWeights::Named(ClassWeightsName::Balanced)) => {
                    ClassWeights::Balanced
                }
                Some(config::ClassWeights::Given(unfavourable, favourable)) => {
                    ClassWeights::Given {
                        unfavourable,
                        favourable,
                    }
                }
            },
            exclude,
            ..Training::new(&label, favourable.trim())
        };
        Ok(Self {
            training,
            favourable,
            batches,
            dropped,
        })
    }
}

/// Fits the model that a configuration would train, on all rows of a table: where the rows to audit
/// are in a table of their own. Bins that the model sees are those of this table.
pub fn fit(config: &Config, table: &Table) -> Result<AdditiveModel, Failure> {
    let mut declared = config::declare(config, &config::guess(&table.batches)?, None)?;
    let lesson = Lesson::new(config, &mut declared, &table.batches)?;
    let first = lesson.batches.first().map(RecordBatch::schema);
    let schema = first.ok_or_else(|| Failure::data("the table to train on has no rows"))?;
    let rows = concat_batches(&schema, &lesson.batches).map_err(Failure::data)?;
    Ok(lesson.training.fit(&as_model_sees(&declared, &rows)?)?)
}

/// Fits a model on part of a table, as the default that needs nothing else; or takes one that was
/// fitted elsewhere on that part.
pub(crate) fn train(
    config: &Config,
    declared: &mut Declared,
    batches: &[RecordBatch],
    given: Option<FittedElsewhere>,
) -> Result<Fitted, Failure> {
    let Lesson {
        training,
        favourable,
        batches,
        dropped,
    } = Lesson::new(config, declared, batches)?;
    let label = training.label.clone();
    let seed = config.train.seed.unwrap_or(SEED);
    let test_percent = config.train.test_percent.unwrap_or(TEST_PERCENT);
    if !(1..=99).contains(&test_percent) {
        return Err(Failure::usage(format!(
            "{test_percent} percent are to be audited; give 1 to 99"
        )));
    }
    let splitting = match config.train.split {
        None | Some(config::Splitting::Own) => Splitting::Own,
        Some(config::Splitting::ScikitLearn) => Splitting::ScikitLearn,
    };
    let parts = split(&batches, &training, splitting, test_percent, seed)?;
    let fitted_here = given.is_none();
    let (mut model, description) = match given {
        Some(given) => (given.model, given.description),
        None => {
            let model = training.fit(&as_model_sees(declared, &parts.train)?)?;
            let columns = model.columns().count();
            (model, format!("logistic regression, {columns} columns"))
        }
    };
    if let Some(threshold) = config.model.threshold {
        model = model.with_threshold(threshold).map_err(Failure::usage)?;
    }
    let accuracy = training.accuracy(&model, &as_model_sees(declared, &parts.test)?)?;
    let inputs: Vec<String> = model.columns().map(str::to_owned).collect();
    Ok(Fitted {
        ready: Ready {
            inputs: None,
            origin: ModelOrigin {
                spec: if fitted_here { "train" } else { "linear" }.to_owned(),
                description,
                sha256: None,
                reads_protected: Some(
                    config
                        .protected
                        .keys()
                        .filter(|name| inputs.contains(name))
                        .cloned()
                        .collect(),
                ),
                training: fitted_here.then(|| TrainingNote {
                    label,
                    favourable,
                    train_rows: parts.train.num_rows() as u64,
                    test_rows: parts.test.num_rows() as u64,
                    seed,
                    accuracy,
                }),
            },
            favourable: Favourable::Positive,
            model: Box::new(model.clone()),
            answers: None,
            kept: None,
        },
        model,
        test: vec![parts.test],
        dropped,
    })
}

/// The favourable value of a label that nothing was said about: 1 or true, if it has one.
fn guessed_favourable(batches: &[RecordBatch], label: &str) -> Result<String, Failure> {
    let (column, _) = encoded(batches, label)?;
    let labels: Vec<String> = column.values().iter().map(Value::label).collect();
    let positive = |text: &&String| ["1", "true"].contains(&text.trim().to_lowercase().as_str());
    labels.iter().find(positive).cloned().ok_or_else(|| {
        let some: Vec<&str> = labels.iter().take(8).map(|label| label.trim()).collect();
        Failure::usage(format!(
            "which value of `{label}` is favourable? give it with --favourable; the column has: {}",
            some.join(", ")
        ))
    })
}

/// Columns that a model fitted here does not see: what was not declared, and what is excluded.
fn columns_unseen(
    config: &Config,
    declared: &Declared,
    batches: &[RecordBatch],
    label: &str,
) -> Vec<String> {
    let seen = |name: &str| {
        declared
            .features
            .iter()
            .any(|feature| feature.name() == name)
            || config.protected.contains_key(name)
            || declared.context.iter().any(|column| column == name)
    };
    let schema = batches.first().map(RecordBatch::schema);
    let names = schema
        .iter()
        .flat_map(|schema| schema.fields().iter().map(|f| f.name().clone()));
    names
        .filter(|name| name != label)
        .filter(|name| !seen(name) || config.train.exclude.contains(name))
        .chain(
            config
                .train
                .exclude
                .iter()
                .filter(|name| !seen(name))
                .cloned(),
        )
        .collect()
}

/// Where the model sees the labels of bins, fixes the bins on the whole table: the part that it is
/// fitted on and the part that is audited must be cut alike.
fn fix_label_bins(declared: &mut Declared, batches: &[RecordBatch]) -> Result<(), Failure> {
    if declared.labelled.is_empty() {
        return Ok(());
    }
    let whole = declared.declaration().read(batches)?;
    for name in declared.labelled.clone() {
        let Some(levels) = whole.features().iter().find(|levels| levels.name == name) else {
            continue;
        };
        let (edges, labels) = edges_and_labels(levels);
        let fixed = Kind::Binned(Bins {
            edges: Edges::At(edges),
            labels: Some(labels),
            view: View::Label,
        });
        for feature in &mut declared.features {
            if feature.name() == name {
                *feature = Feature::clone(feature).with_kind(fixed.clone());
            }
        }
    }
    Ok(())
}

fn edges_and_labels(levels: &Levels) -> (Vec<f64>, Vec<String>) {
    let bins = levels
        .levels
        .iter()
        .filter_map(|level| Some((level.bounds?, &level.label)));
    let mut edges = Vec::new();
    let mut labels = Vec::new();
    for ((low, high), label) in bins {
        if edges.is_empty() {
            edges.push(low);
        }
        edges.push(high);
        labels.push(label.clone());
    }
    (edges, labels)
}

/// A table as the model sees it: labels in the place of numbers where that was declared.
fn as_model_sees(declared: &Declared, table: &RecordBatch) -> Result<RecordBatch, Failure> {
    let schema = table.schema();
    let mut fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone()).collect();
    let mut columns = table.columns().to_vec();
    for feature in &declared.features {
        let Kind::Binned(Bins {
            edges: Edges::At(edges),
            labels: Some(labels),
            view: View::Label,
        }) = feature.kind()
        else {
            continue;
        };
        let Some((place, field)) = schema.column_with_name(feature.name()) else {
            continue;
        };
        let (column, codes) = encoded(std::slice::from_ref(table), field.name())?;
        let label = |value: &Value| -> Option<&str> {
            let number = value.number()?;
            let bin = edges
                .partition_point(|&edge| edge < number)
                .saturating_sub(1);
            labels.get(bin).map(String::as_str)
        };
        let by_code: Vec<Option<&str>> = column.values().iter().map(label).collect();
        let cells: StringArray = codes.iter().map(|&code| by_code[code as usize]).collect();
        columns[place] = std::sync::Arc::new(cells) as ArrayRef;
        fields[place] = Field::new(feature.name(), DataType::Utf8, true);
    }
    RecordBatch::try_new(std::sync::Arc::new(Schema::new(fields)), columns).map_err(Failure::data)
}
