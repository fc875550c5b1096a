//! Why a command did not do what was asked, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

use facts_engine::flips::ModelError;

/// What the exit codes mean; shown by `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and a finding scores over --fail-over
  2    wrong usage: an option, a configuration, a definition
  3    bad data: a table or a saved audit that cannot be read or audited
  4    the model failed, or does not fit the table
  5    a result could not be written
  130  interrupted";

/// Which exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Usage,
    Data,
    Model,
    Output,
    Interrupted,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    message: String,
}

impl Failure {
    fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
        }
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub(crate) fn data(message: impl fmt::Display) -> Self {
        Self::new(Kind::Data, message)
    }

    pub(crate) fn model(message: impl fmt::Display) -> Self {
        Self::new(Kind::Model, message)
    }

    pub(crate) fn output(path: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(Kind::Output, format!("{path}: {error}"))
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted; nothing was written")
    }

    /// An error of the engine about what the user wrote.
    pub(crate) fn engine_usage(error: facts_engine::Error) -> Self {
        Self::usage(error)
    }

    /// The same failure, said with what came before it.
    pub(crate) fn with(mut self, more: impl fmt::Display) -> Self {
        self.message = format!("{}\n{more}", self.message);
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Usage => 2,
            Kind::Data => 3,
            Kind::Model => 4,
            Kind::Output => 5,
            Kind::Interrupted => 130,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<facts_engine::Error> for Failure {
    fn from(error: facts_engine::Error) -> Self {
        use facts_engine::Error;
        match error {
            Error::Cancelled { .. } => Self::interrupted(),
            Error::Model(error) => error.into(),
            Error::BadParameter { .. }
            | Error::UnknownDefinition { .. }
            | Error::NoAutomaticBudgets
            | Error::DeclaredTwice { .. }
            | Error::NoFeatures
            | Error::NoProtected
            | Error::UnknownColumn { .. }
            | Error::UnknownGroup { .. }
            | Error::UnknownLink { .. }
            | Error::NeedsOrder { .. }
            | Error::TwoDirections { .. }
            | Error::ImmutableMustChange { .. }
            | Error::BadFeatureWeight { .. }
            | Error::BadStep { .. }
            | Error::BadCost { .. }
            | Error::NoCostEntry { .. }
            | Error::MappedTwice { .. }
            | Error::BadBins { .. }
            | Error::Threads { .. } => Self::usage(error),
            _ => Self::data(error),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::model(error)
    }
}

impl From<facts_input::InputError> for Failure {
    fn from(error: facts_input::InputError) -> Self {
        let duplicate = matches!(error, facts_input::InputError::DuplicateColumn { .. });
        let failure = Self::data(error);
        if duplicate {
            return failure.with("`--duplicates number` numbers them");
        }
        failure
    }
}

impl From<facts_models::OpenError> for Failure {
    fn from(error: facts_models::OpenError) -> Self {
        Self::model(error)
    }
}

impl From<facts_models::train::TrainError> for Failure {
    fn from(error: facts_models::train::TrainError) -> Self {
        use facts_models::train::TrainError;
        match error {
            TrainError::Parameter { .. } | TrainError::UnknownColumn { .. } => Self::usage(error),
            _ => Self::data(error),
        }
    }
}
