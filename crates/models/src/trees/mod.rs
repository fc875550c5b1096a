//! Tree ensembles, whoever grew them: what LightGBM and XGBoost have in common.
//!
//! A library's file becomes an [`Ensemble`] (all trees in flat arrays), its [`Inputs`] (which column
//! each feature comes from, and which number each value becomes) and an [`Output`] (how the sum of
//! leaves becomes a probability and a class). The three together are a [`TreeModel`]; what is
//! special to one library's file stays in the one file that reads it.

mod ensemble;
mod flips;
mod inputs;
mod model;
mod output;

use std::fmt::Display;
use std::path::Path;

pub(crate) use self::ensemble::{Ensemble, Place, Rows, Test};
pub(crate) use self::inputs::{Categories, Category, FeatureKind, Input, Inputs, Unknown};
pub use self::model::TreeModel;
pub(crate) use self::output::{Link, Output, Precision};

use crate::error::OpenError;

/// Why a file is not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is not what it says it is.
    Damaged(String),
    /// It is sound, but asks for something that is not there.
    Unsupported(String),
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self::Damaged(why)
    }
}

impl Refused {
    /// The same, with the tree that is damaged.
    pub(crate) fn in_tree(self, tree: impl Display) -> Self {
        match self {
            Self::Damaged(why) => Self::Damaged(format!("tree {tree}: {why}")),
            other => other,
        }
    }

    pub(crate) fn of(self, path: &Path, format: &'static str) -> OpenError {
        match self {
            Self::Damaged(why) => OpenError::invalid(path, format, why),
            Self::Unsupported(why) => OpenError::Unavailable(format!(
                "the {format} model {} cannot be audited: {why}",
                path.display()
            )),
        }
    }
}

/// Reads a sound model, then many damaged ones: cut off anywhere, single bytes changed, pieces
/// dropped. Each is refused or answers; none panics or runs forever.
#[cfg(test)]
pub(crate) fn assert_survives(sound: &[u8], read: impl Fn(&[u8]) -> Result<TreeModel, Refused>) {
    use proptest::prelude::*;

    let walk = |bytes: &[u8]| match read(bytes) {
        Ok(model) => {
            assert!(!model.sum_of_missing().is_nan());
            true
        }
        Err(refused) => {
            let error = refused.of(Path::new("model"), "test").to_string();
            assert!(error.contains("model"));
            false
        }
    };
    assert!(walk(sound));
    for end in 0..sound.len() {
        walk(&sound[..end]);
    }
    let damage = prop::collection::vec((0..sound.len(), any::<u8>(), 0..4_usize), 1..4);
    let bytes = b"0123456789-=, [{}]\n".as_slice();
    proptest!(ProptestConfig::with_cases(3000), |(damage in damage)| {
        let mut damaged = sound.to_vec();
        for (at, byte, how) in damage {
            let at = at % damaged.len();
            match how {
                0 => damaged[at] = byte,
                1 => damaged[at] = bytes[byte as usize % bytes.len()],
                2 => { damaged.remove(at); }
                _ => { damaged.drain(at..(at + byte as usize).min(damaged.len() - 1).max(at)); }
            }
        }
        walk(&damaged);
    });
}
