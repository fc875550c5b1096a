//! The formats of models, and what an opened model tells of itself.
//!
//! A format is one file with a [`Format`] in it, and one line in [`FORMATS`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use facts_engine::flips::Model;

use crate::additive;
use crate::error::OpenError;
use crate::exec;
use crate::http::{self, Headers};
use crate::lightgbm;
#[cfg(feature = "onnx")]
use crate::onnx;
use crate::xgboost;

/// One kind of model that can be opened.
pub struct Format {
    /// What stands before the colon: `onnx`.
    pub prefix: &'static str,
    /// What comes after it, for help texts: `model.onnx`.
    pub usage: &'static str,
    /// One line about it, for help texts.
    pub about: &'static str,
    /// Whether a file without a prefix is of this format, told by its name and its first bytes;
    /// none if its models lie in no file. Must not claim a file that another format could claim too.
    pub(crate) recognises: Option<fn(path: &Path, start: &[u8]) -> bool>,
    /// Opens what comes after the colon.
    pub(crate) open: fn(rest: &str, options: &OpenOptions) -> Result<Opened, OpenError>,
}

impl Format {
    /// What a string of this format looks like: `onnx:model.onnx`.
    pub fn example(&self) -> String {
        format!("{}:{}", self.prefix, self.usage)
    }

    /// Whether a file is of this format, by its name and its first bytes.
    pub(crate) fn fits(&self, path: &Path, start: &[u8]) -> bool {
        self.recognises
            .is_some_and(|recognises| recognises(path, start))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.prefix == other.prefix
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix)
    }
}

/// All formats there are.
pub const FORMATS: &[Format] = &[
    additive::FORMAT,
    lightgbm::FORMAT,
    xgboost::FORMAT,
    #[cfg(feature = "onnx")]
    onnx::FORMAT,
    exec::FORMAT,
    exec::CSV_FORMAT,
    http::FORMAT,
    http::HTTPS_FORMAT,
];

/// How a model is to be opened.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// From which probability on the answer is yes, for models that answer with one. Default: what
    /// the model itself decides, or 0.5.
    pub threshold: Option<f64>,
    /// The table's column for each of the model's inputs that is called otherwise.
    pub columns: BTreeMap<String, String>,
    /// The table's columns in the order in which the model takes them side by side, for models that
    /// do not know their names.
    pub order: Vec<String>,
    /// The output that holds the answer, for models that have several.
    pub output: Option<String>,
    /// How long a batch may take, for models in another process. Default: a minute.
    pub timeout: Option<Duration>,
    /// How many batches may be out at the same time, for models in another process: processes of a
    /// program, requests to a server. Default: up to four.
    pub workers: Option<usize>,
    /// How many rows a batch has at most, for models in another process. Default: 8192 for
    /// programs, 4096 for servers.
    pub batch_rows: Option<usize>,
    /// What is sent along with each request to a server, such as a token.
    pub headers: Headers,
    /// A PEM file of the certificates that a server's own must lead to. Default: Mozilla's list.
    pub ca: Option<PathBuf>,
}

/// An opened model and what is known about it.
pub struct Opened {
    /// The model itself.
    pub model: Box<dyn Model + Send>,
    /// What it reads, if it can tell.
    pub inputs: Option<Vec<Input>>,
    /// What it is, for reports: `LightGBM, 100 trees`.
    pub description: String,
    /// The file behind it, for a hash in reports.
    pub file: Option<PathBuf>,
}

/// One input of a model, under the name of the table's column.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The table's column.
    pub column: String,
    /// What it must hold.
    pub kind: InputKind,
    /// How the model's file may spell the column's name.
    pub spelling: Spelling,
}

/// How a model's file may spell the name of a table's column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// As it is.
    #[default]
    Exact,
    /// With `_` for each blank, as LightGBM does.
    Blanks,
    /// With `_` for each character that is no letter, digit, `_` or `+`, and before a leading digit,
    /// as skl2onnx does; or as LightGBM does.
    Exported,
}

/// What an input must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum InputKind {
    /// Numbers.
    Number,
    /// Text; if the categories are known, one of these.
    Text(Option<Vec<String>>),
    /// The model does not tell.
    Any,
}

/// The names at the top of a JSON object of which only the beginning is there, in order; none if it
/// is no object.
///
/// A file is told by these: what stands deeper can be anything, such as a column that is called as
/// another format's part is.
pub(crate) fn top_names(start: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    if !start.trim_ascii_start().starts_with(b"{") {
        return names;
    }
    let (mut at, mut depth, mut is_name) = (0, 0_usize, false);
    while let Some(&byte) = start.get(at) {
        let from = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                is_name = depth == 0;
                depth += 1;
            }
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            b',' => is_name = depth == 1,
            b'"' => {
                while let Some(&byte) = start.get(at) {
                    at += if byte == b'\\' { 2 } else { 1 };
                    if byte == b'"' {
                        break;
                    }
                }
                if is_name {
                    // One that is cut off is no text, and is left out.
                    let text = start.get(from..at).unwrap_or_default();
                    names.extend(serde_json::from_slice::<String>(text));
                }
                is_name = false;
            }
            _ => {}
        }
    }
    names
}
