//! Writing JSON as it goes: a batch of rows as a tree of values would take ten times its size. A value that many
//! rows share is written once and then copied.

use facts_engine::flips::ModelError;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::cells::{Cell, Cells, Converted};

/// So many things, each made when its turn comes.
pub(super) struct Each<F>(pub(super) usize, pub(super) F);

impl<T: Serialize, F: Fn(usize) -> T> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0).map(&self.1))
    }
}

/// A column of values as they stand in a request. NaN and infinities are null: JSON has no word for them.
pub(super) struct Column(Converted<Box<RawValue>>);

impl Column {
    /// The cells of a column, each as `told`.
    pub(super) fn new<'a>(
        cells: &Cells<'a>,
        told: impl Fn(Cell<'a>) -> Cell<'a>,
    ) -> Result<Self, ModelError> {
        let write = |cell: Cell<'a>| to_raw_value(&told(cell.finite())).map_err(failed);
        cells.converted(write).map(Self)
    }

    /// The value of a row.
    pub(super) fn get(&self, row: usize) -> &RawValue {
        self.0.get(row)
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// What is sent.
pub(super) fn body(request: &impl Serialize) -> Result<Vec<u8>, ModelError> {
    serde_json::to_vec(request).map_err(failed)
}

fn failed(error: serde_json::Error) -> ModelError {
    ModelError::Failed(error.to_string())
}

/// The beginning of a long text, for error messages.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
