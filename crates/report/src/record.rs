//! An audit as it is saved and handed over: what was found, and from what.

use std::fmt;

use facts_engine::Audit;
use facts_engine::answer::Answer;
use facts_engine::comparison::Side;
use facts_engine::evidence::{Evidence, Tests};
use facts_engine::flips::Favourable;
use serde::{Deserialize, Serialize};

use crate::text::count;

/// The version of the saved form of a [`Record`].
///
/// Version 2 added the [answer](Record::answer).
pub const VERSION: u32 = 2;

/// The earliest version that is still read.
pub const EARLIEST_VERSION: u32 = 1;

/// The level α where no evidence was gathered that says another.
const ALPHA: f64 = 0.05;

/// An audit with where it comes from: everything that a report needs, and nothing about a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The version of the saved form.
    pub version: u32,
    /// The tool and its version.
    pub tool: String,
    /// When it was made, in UTC: `2026-01-31T12:00:00Z`.
    pub made: String,
    /// The table.
    pub data: Origin,
    /// The model.
    pub model: ModelOrigin,
    /// The protected attributes.
    pub protected: Vec<String>,
    /// How often the label is favourable in each group, if a label was named.
    pub base_rates: Option<BaseRates>,
    /// The definitions asked for, by id.
    pub definitions: Vec<String>,
    /// What was taken for granted about the table's columns, because nobody said it.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// What the auditor should know about how it was made.
    pub notes: Vec<String>,
    /// What was found.
    pub audit: Audit,
    /// What supports it; none if no evidence was gathered.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// What it comes to; none in audits that were saved before there was an answer.
    #[serde(default)]
    pub answer: Option<Answer>,
}

impl Record {
    /// Which outcome is the yes, as a person says it: `income = >50K`.
    pub fn yes_means(&self) -> String {
        let answer = match &self.audit.settings.favourable {
            Favourable::Positive => "1 or true",
            Favourable::Class(class) => class.trim(),
        };
        let of_label = |label: &str, value: &str| format!("{label} = {}", value.trim());
        match (&self.model.training, &self.base_rates) {
            (Some(fitted), _) => of_label(&fitted.label, &fitted.favourable),
            (None, Some(rates)) if rates.favourable.trim() == answer => {
                of_label(&rates.label, answer)
            }
            (None, Some(rates)) => {
                let outcome = of_label(&rates.label, &rates.favourable);
                format!("the model answers {answer}, which stands for {outcome}")
            }
            (None, None) => format!("the model answers {answer}"),
        }
    }

    /// All that an auditor should know: what was assumed, how the audit was made, what the engine saw.
    pub fn all_notes(&self) -> impl Iterator<Item = &String> {
        let notices = &self.audit.population.notices;
        self.assumptions.iter().chain(&self.notes).chain(notices)
    }

    /// The level α that the evidence was gathered at, or the usual one.
    pub fn alpha(&self) -> f64 {
        let evidence = self.evidence.as_ref();
        evidence.map_or(ALPHA, |found| found.gathering.alpha)
    }

    /// What the engine compares of it with another audit.
    pub fn side(&self) -> Side<'_> {
        let answer = self.answer.as_ref();
        Side {
            audit: &self.audit,
            people: answer.map(|answer| answer.people.as_slice()),
        }
    }

    /// Whether any definition was tested, so that findings can pass.
    pub fn is_tested(&self) -> bool {
        let tests = self.evidence.as_ref().map(|found| found.tests.len());
        tests.is_some_and(|tests| tests > 0)
    }

    /// The tests of a definition, by its id; none if it was not tested.
    pub fn tests_of(&self, definition: &str) -> Option<&Tests> {
        let tests = &self.evidence.as_ref()?.tests;
        tests.iter().find(|tests| tests.definition == definition)
    }
}

/// What stands in the place of a hash that cannot be had.
pub(crate) const NO_HASH: &str = "not known: it could not be read twice, or is no file";

/// A file, and how to recognise it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What it was called.
    pub name: String,
    /// The SHA-256 of its bytes; none for what cannot be read twice, such as a pipe, and for several
    /// files, which have one each.
    pub sha256: Option<String>,
    /// The files that it is made of, in the order in which they were read, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileOrigin>,
}

/// One of several files that a table is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOrigin {
    /// Its path, from the folder that was named.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// The SHA-256 of its bytes; none for an object of a store of which only parts were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What a store says about its object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
}

/// What a store says about an object: its own word, where a hash is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// How many bytes it has.
    pub bytes: u64,
    /// What the store calls this version of it, if it calls it anything.
    pub e_tag: Option<String>,
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", count(self.bytes))?;
        match &self.e_tag {
            Some(tag) => write!(f, ", e-tag {}", tag.trim_matches('"')),
            None => f.write_str(", without an e-tag"),
        }
    }
}

impl Origin {
    /// What can tell that two tables are of the same bytes: the hashes of its files; none if not known.
    pub fn hashes(&self) -> Option<Vec<&str>> {
        if let Some(hash) = &self.sha256 {
            return Some(vec![hash]);
        }
        let files = self.files.iter().map(|file| file.sha256.as_deref());
        let hashes: Option<Vec<&str>> = files.collect();
        hashes.filter(|hashes| !hashes.is_empty())
    }

    /// Why there is no hash of the whole, in words, and what there is instead.
    pub fn without_hash(&self) -> String {
        match self.files.as_slice() {
            [] => NO_HASH.to_owned(),
            [
                FileOrigin {
                    stored: Some(stored),
                    ..
                },
            ] => {
                format!(
                    "not computed: only parts of the object were read; its store says: {stored}"
                )
            }
            files if files.iter().all(|file| file.sha256.is_some()) => format!(
                "one for each of {} files, in the saved audit",
                count(files.len() as u64)
            ),
            files => format!(
                "not computed: only parts of {} objects were read; what their store says of each is in the saved audit",
                count(files.len() as u64)
            ),
        }
    }
}

/// The model, and how to recognise it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelOrigin {
    /// The string it was opened from: `onnx:model.onnx`, or `train`.
    pub spec: String,
    /// What it is: `LightGBM, 100 trees`.
    pub description: String,
    /// The SHA-256 of its file, if it is one.
    pub sha256: Option<String>,
    /// The protected attributes that it reads; none if it cannot tell what it reads.
    pub reads_protected: Option<Vec<String>>,
    /// How it was fitted, if that was done for this audit.
    pub training: Option<TrainingNote>,
}

/// How a model was fitted for an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingNote {
    /// The column that holds the outcome.
    pub label: String,
    /// Its favourable value.
    pub favourable: String,
    /// Rows that miss a value or a label, and were left out before the model was fitted.
    #[serde(default)]
    pub left_out: u64,
    /// Rows that the model was fitted on.
    pub train_rows: u64,
    /// Rows that were kept for the audit.
    pub test_rows: u64,
    /// The seed of the split.
    pub seed: u64,
    /// Whether the two parts were drawn by counts of rows that agree, and not by the places of rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_counts: bool,
    /// The share of the test rows on which the model's answer is the outcome.
    pub accuracy: f64,
}

impl TrainingNote {
    /// How the two parts were drawn: `seed 7`.
    pub fn split(&self) -> String {
        let how = match self.by_counts {
            true => "split by counts, ",
            false => "",
        };
        format!("{how}seed {}", self.seed)
    }
}

/// How often the label is favourable in each group compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseRates {
    /// The column that holds the outcome.
    pub label: String,
    /// Its favourable value.
    pub favourable: String,
    /// People and those with the favourable outcome, in the order of the audit's groups.
    pub groups: Vec<BaseRate>,
}

/// How often the label is favourable in one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseRate {
    /// The group's name.
    pub name: String,
    /// People with a label.
    pub people: u64,
    /// Those whose label is favourable.
    pub favourable: u64,
}
