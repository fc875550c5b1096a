//! Writing JSON as it goes: a batch of rows as a tree of values would take ten times its size.

use facts_engine::flips::ModelError;
use serde::{Serialize, Serializer};

/// So many things, each made when its turn comes.
pub(super) struct Each<F>(pub(super) usize, pub(super) F);

impl<T: Serialize, F: Fn(usize) -> T> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0).map(&self.1))
    }
}

/// What is sent.
pub(super) fn body(request: &impl Serialize) -> Result<Vec<u8>, ModelError> {
    serde_json::to_vec(request).map_err(|error| ModelError::Failed(error.to_string()))
}

/// The beginning of a long text, for error messages.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
