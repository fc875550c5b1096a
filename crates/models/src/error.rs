//! Why a model cannot be opened, and what to do about it.

use std::path::Path;

use facts_guard::secret;
use thiserror::Error;

/// Why a model cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A string that names no model.
    #[error("`{spec}` is no model that can be opened; write one of: {}", usages.join(", "))]
    UnknownFormat {
        /// What was given, without what may be secret.
        spec: String,
        /// What can be given.
        usages: Vec<String>,
    },
    /// A file that cannot be read.
    #[error("cannot read the model file {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{path} is not a valid {format} model: {why}")]
    Invalid {
        /// The file.
        path: String,
        /// The format it should have.
        format: &'static str,
        /// What is wrong, where, and what to do.
        why: String,
    },
    /// Something the model needs that is not there.
    #[error("{0}")]
    Unavailable(String),
}

impl OpenError {
    /// A file that cannot be read.
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File {
            path: secret::hidden_in_urls(&path.display().to_string()),
            source,
        }
    }

    /// A file that is not what it should be.
    pub(crate) fn invalid(path: &Path, format: &'static str, why: impl ToString) -> Self {
        Self::Invalid {
            path: path.display().to_string(),
            format,
            why: why.to_string(),
        }
    }
}
