//! Why rules cannot be used.

use thiserror::Error;

/// Why a gate cannot be judged: what was asked for makes no sense, or not of this audit.
#[derive(Debug, Error)]
pub enum CheckError {
    /// A rule that contradicts itself, or that says nothing.
    #[error("{rule}: {why}")]
    Rule {
        /// The rule, by its name or its number.
        rule: String,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// Two rules of one name.
    #[error("two rules are called `{0}`: give each a name of its own")]
    SameName(String),
    /// A baseline that cannot be read.
    #[error("this is not a baseline: {0}; `facts check --update-baseline` writes one")]
    NotABaseline(String),
    /// A baseline of another version.
    #[error(
        "the baseline is of version {found}, and this tool reads version {known}; write it again with --update-baseline"
    )]
    BaselineVersion {
        /// Its version.
        found: u32,
        /// The one that is known.
        known: u32,
    },
}
