//! A model that remembers what it was asked, so that an audit can go on where it stopped.
//!
//! A program that dies for good, or a server that goes away, ends an audit; what it had answered
//! until then may have taken hours. [`Remembering`] stands between the audit and such a model. It
//! keeps each answered row in a file, batch after batch as the answers come, and asks the model only
//! for rows that are not in there. The same audit, begun again with the same file, is told at once
//! what is known and goes on from there; its result is the same, byte for byte.
//!
//! **When to use it:** for models that are slow or can fail: programs (`exec:`), servers (`http:`),
//! and large graphs (`onnx:`). Linear models and boosted trees are better left bare: they tell
//! [whom a change flips](Model::flips) without being sent rows, which is faster than looking
//! answers up, and a model that is wrapped is only ever asked row by row.

mod disk;
mod file;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array};
use arrow_select::take::take_record_batch;
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::{Column, Dictionaries, Value};
use twox_hash::XxHash3_128;

use self::file::AnswerFile;
pub use self::file::RememberError;
use crate::asking;
use crate::cells::{self, Cells};

/// How many rows the model is asked for, and then written down, at a time, unless said otherwise:
/// what a program takes at once, so that no call is split again.
const BATCH_ROWS: usize = 8192;
/// A batch in the file has its length in 32 bits.
const LARGEST_BATCH: usize = 1 << 24;

/// A model whose answers are kept in a file.
///
/// ```
/// # use facts_engine::flips::{FnModel, Model};
/// # use facts_models::Remembering;
/// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("answers");
/// # let hours: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![20, 40]));
/// # let rows = RecordBatch::try_from_iter([("hours", hours)])?;
/// # let model = || Box::new(FnModel::new(|rows: &RecordBatch| vec![true; rows.num_rows()]));
/// let first = Remembering::open(model(), &path, "loans, version 3")?;
/// first.predict(&rows)?;
/// assert_eq!((first.remembered(), first.asked()), (0, 2));
/// # drop(first);
///
/// // Later, perhaps after a crash:
/// let second = Remembering::open(model(), &path, "loans, version 3")?;
/// second.predict(&rows)?;
/// assert_eq!((second.remembered(), second.asked()), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Remembering {
    model: Box<dyn Model + Send>,
    batch_rows: usize,
    remembered: u64,
    cut_off: u64,
    asked: AtomicU64,
    /// How many remembered rows are still to be asked again, when one is met first.
    to_check: AtomicUsize,
    known: Mutex<Known>,
}

/// What is known, and the file that it is kept in.
struct Known {
    file: AnswerFile,
    /// By the hash of a row: its class, by place in `classes`.
    rows: HashMap<u128, u32>,
    classes: Vec<Class>,
}

/// A class as an audit tells them apart: numbers and text by how they are written, yes and no by
/// what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Answer(bool),
    Named(String),
}

impl Remembering {
    /// Wraps a model, with the answers that a file holds already.
    ///
    /// The file is made if it is not there. `fingerprint` is any text that stands for the model and
    /// everything that its answers depend on, such as [`ModelSpec::fingerprint`](crate::ModelSpec::fingerprint); a file that was
    /// begun with another one is refused. Rows of a table with other columns are other rows, so the
    /// table needs no part in it.
    pub fn open(
        model: Box<dyn Model + Send>,
        path: impl AsRef<Path>,
        fingerprint: &str,
    ) -> Result<Self, RememberError> {
        let mut rows = HashMap::new();
        let mut classes = Vec::new();
        let (file, cut_off) = AnswerFile::open(path.as_ref(), fingerprint, |batch| {
            let places: Vec<u32> = batch
                .classes
                .into_iter()
                .map(|class| place(&mut classes, class))
                .collect();
            for (row, class) in batch.rows {
                // The first answer stands, as it did when it was written.
                rows.entry(row).or_insert(places[class as usize]);
            }
        })?;
        Ok(Self {
            model,
            batch_rows: BATCH_ROWS,
            remembered: rows.len() as u64,
            cut_off,
            asked: AtomicU64::new(0),
            to_check: AtomicUsize::new(0),
            known: Mutex::new(Known {
                file,
                rows,
                classes,
            }),
        })
    }

    /// Asks the model for at most so many rows at a time, and writes them down as soon as they are
    /// answered. A crash loses what is being asked at that moment. Default 8192.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.clamp(1, LARGEST_BATCH);
        self
    }

    /// Asks the model again for up to so many rows that the file has answers for, as soon as such rows are
    /// met, and fails if it answers one otherwise: then what stands behind the model has changed in a way
    /// that its fingerprint does not show, and old answers and new ones must not be mixed.
    #[must_use]
    pub fn checking(mut self, rows: usize) -> Self {
        self.to_check = AtomicUsize::new(rows);
        self
    }

    /// Asks again for some of the rows that are known, spread over all of them; once.
    fn check(&self, rows: &RecordBatch, hashes: &[u128]) -> Result<(), ModelError> {
        if self.remembered == 0 || self.to_check.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let known = self.known().known(hashes);
        if known.is_empty() {
            return Ok(());
        }
        let most = self.to_check.swap(0, Ordering::Relaxed);
        let step = known.len().div_ceil(most.max(1)).max(1);
        let again: Vec<u32> = known.into_iter().step_by(step).collect();
        let their_hashes: Vec<u128> = again.iter().map(|&row| hashes[row as usize]).collect();
        let asked = take_record_batch(rows, &UInt32Array::from(again))
            .map_err(|error| ModelError::Failed(error.to_string()))?;
        let (classes, codes) = classes(&self.model.predict(&asked)?, asked.num_rows())?;
        let known = self.known();
        let differs = |(hash, code): (&u128, &u32)| {
            let kept = known
                .rows
                .get(hash)
                .map(|&place| &known.classes[place as usize]);
            kept != Some(&classes[*code as usize])
        };
        let differing = their_hashes
            .iter()
            .zip(&codes)
            .filter(|&pair| differs(pair))
            .count();
        if differing == 0 {
            return Ok(());
        }
        Err(ModelError::Failed(format!(
            "it answers {differing} of {} rows otherwise than in {}, where its answers are kept: what stands behind it has changed; take that file away, or keep answers in another",
            codes.len(),
            known.file.path().display()
        )))
    }

    /// How many rows the file had answers for when it was opened.
    pub fn remembered(&self) -> u64 {
        self.remembered
    }

    /// How many rows the model itself has answered since.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// How many bytes at the end of the file were cut off when it was opened, because a crash had
    /// left them half written.
    pub fn cut_off(&self) -> u64 {
        self.cut_off
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has rows answered by the model, and writes each batch down when it is.
    fn ask(&self, rows: &RecordBatch, hashes: &[u128]) -> Result<(), ModelError> {
        let batches = rows.num_rows().div_ceil(self.batch_rows);
        asking::in_turn(batches, self.model.concurrency(), |batch| {
            let start = batch * self.batch_rows;
            let length = self.batch_rows.min(rows.num_rows() - start);
            let answer = self.model.predict(&rows.slice(start, length))?;
            let (classes, codes) = classes(&answer, length)?;
            self.known()
                .remember(classes, &codes, &hashes[start..start + length])?;
            self.asked.fetch_add(length as u64, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(())
    }
}

impl Model for Remembering {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let hashes = hashes(rows)?;
        self.check(rows, &hashes)?;
        let unknown = self.known().unknown(&hashes);
        if unknown.len() == rows.num_rows() {
            self.ask(rows, &hashes)?;
        } else if !unknown.is_empty() {
            let their_hashes: Vec<u128> = unknown.iter().map(|&row| hashes[row as usize]).collect();
            let unknown = take_record_batch(rows, &UInt32Array::from(unknown))
                .map_err(|error| ModelError::Failed(error.to_string()))?;
            self.ask(&unknown, &their_hashes)?;
        }
        self.known().answer(&hashes)
    }

    /// One: the batches of the wrapped model are asked at the same time in here, as many as it
    /// allows. If the audit did so too, they would multiply.
    fn concurrency(&self) -> usize {
        1
    }

    /// What the wrapped model takes. A row has the same hash however it comes.
    fn dictionaries(&self) -> Dictionaries {
        self.model.dictionaries()
    }
}

impl std::fmt::Debug for Remembering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remembering")
            .field("remembered", &self.remembered)
            .field("asked", &self.asked())
            .finish_non_exhaustive()
    }
}

impl Known {
    /// The rows that something is known of.
    fn known(&self, hashes: &[u128]) -> Vec<u32> {
        let is_known = |&row: &u32| self.rows.contains_key(&hashes[row as usize]);
        (0..hashes.len() as u32).filter(is_known).collect()
    }

    /// The rows that nothing is known of, each distinct one once.
    fn unknown(&self, hashes: &[u128]) -> Vec<u32> {
        let mut seen = HashSet::new();
        (0..hashes.len() as u32)
            .filter(|&row| {
                let hash = hashes[row as usize];
                !self.rows.contains_key(&hash) && seen.insert(hash)
            })
            .collect()
    }

    fn remember(
        &mut self,
        classes: Vec<Class>,
        codes: &[u32],
        hashes: &[u128],
    ) -> Result<(), ModelError> {
        self.file.append(&classes, codes, hashes).map_err(|error| {
            ModelError::Failed(format!(
                "its answers cannot be kept: {error}; make room, or do without keeping them"
            ))
        })?;
        let places: Vec<u32> = classes
            .into_iter()
            .map(|class| place(&mut self.classes, class))
            .collect();
        for (&hash, &code) in hashes.iter().zip(codes) {
            self.rows.entry(hash).or_insert(places[code as usize]);
        }
        Ok(())
    }

    /// The classes of rows that are all known.
    fn answer(&self, hashes: &[u128]) -> Result<ArrayRef, ModelError> {
        let places: Vec<u32> = hashes
            .iter()
            .map(|hash| self.rows.get(hash).copied())
            .collect::<Option<_>>()
            .ok_or_else(|| ModelError::Failed("an answer was not kept".to_owned()))?;
        let mut used = vec![false; self.classes.len()];
        for &place in &places {
            used[place as usize] = true;
        }
        let used = || {
            let all = self.classes.iter().zip(&used);
            all.filter(|(_, used)| **used).map(|(class, _)| class)
        };
        if used().all(|class| matches!(class, Class::Named(_))) {
            let names = places
                .iter()
                .map(|&place| match &self.classes[place as usize] {
                    Class::Named(name) => name.as_str(),
                    Class::Answer(_) => "",
                });
            return Ok(Arc::new(StringArray::from_iter_values(names)));
        }
        // Probabilities come back as yes and no, but as they are if a whole batch of them happens
        // to be 0 and 1. Asked for in one batch they would all have been yes and no.
        let answers: Vec<Option<bool>> = self.classes.iter().map(Class::yes_or_no).collect();
        if let Some(other) = used().find(|class| class.yes_or_no().is_none()) {
            return Err(ModelError::Failed(format!(
                "it answered some rows with yes or no and others with {other:?}; all answers must be of one type"
            )));
        }
        let answers = places
            .iter()
            .map(|&place| answers[place as usize] == Some(true));
        Ok(Arc::new(BooleanArray::from(answers.collect::<Vec<_>>())))
    }
}

impl Class {
    fn yes_or_no(&self) -> Option<bool> {
        match self {
            Self::Answer(answer) => Some(*answer),
            Self::Named(name) if name == "1" => Some(true),
            Self::Named(name) if name == "0" => Some(false),
            Self::Named(_) => None,
        }
    }
}

/// The place of a class in a list, to which it is added if need be. There are few classes.
fn place(classes: &mut Vec<Class>, class: Class) -> u32 {
    let found = classes.iter().position(|known| *known == class);
    let place = found.unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    });
    place as u32
}

/// The distinct classes of an answer, and which one each row has.
///
/// What an audit would refuse is refused here, and so never remembered: the model may answer better
/// when it is asked again.
fn classes(answer: &ArrayRef, asked: usize) -> Result<(Vec<Class>, Vec<u32>), ModelError> {
    ModelError::check_rows(asked, answer.len())?;
    let (column, codes) = Column::of("prediction", answer)
        .map_err(|_| ModelError::NoClasses(answer.data_type().to_string()))?;
    let class = |(code, value): (usize, &Value)| {
        let not_a_class = |value: &str, remedy| ModelError::NotAClass {
            row: 1 + codes.iter().position(|&c| c as usize == code).unwrap_or(0),
            value: value.to_owned(),
            remedy,
        };
        match value {
            Value::Boolean(answer) => Ok(Class::Answer(*answer)),
            Value::Null => Err(not_a_class("nothing (null)", "every row needs an answer")),
            Value::Float(number) if number.fract() != 0.0 || !number.is_finite() => {
                Err(not_a_class(
                    &number.to_string(),
                    "if it is a probability, turn it into a class with a threshold",
                ))
            }
            // `1`, as an audit reads a float that is a class.
            Value::Float(number) => Ok(Class::Named(number.to_string())),
            other => Ok(Class::Named(other.label())),
        }
    };
    let values = column.values().iter().enumerate();
    Ok((values.map(class).collect::<Result<_, _>>()?, codes))
}

/// A hash of each row: of its columns' names and types, and of its cells.
///
/// 128 bits, so that two of a thousand million rows have the same one with a probability of about
/// 10^-21.
fn hashes(rows: &RecordBatch) -> Result<Vec<u128>, ModelError> {
    let rows = cells::as_the_model_calls_them(rows, &Default::default(), cells::plain)?;
    let mut bytes = Vec::new();
    for field in rows.schema_ref().fields() {
        let data_type = field.data_type().to_string();
        for text in [field.name(), &data_type] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
    }
    // In a place of its own before each row's cells.
    let columns = XxHash3_128::oneshot(&bytes).to_le_bytes();
    let cells = Cells::of(&rows)?;
    let hash = |row| {
        bytes.clear();
        bytes.extend(columns);
        for column in &cells {
            column.write(row, &mut bytes);
        }
        XxHash3_128::oneshot(&bytes)
    };
    Ok((0..rows.num_rows()).map(hash).collect())
}
