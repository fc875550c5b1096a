//! Why an audit was not made.

use std::fmt;

use facts_engine::flips::ModelError;

/// Whose fault it is, and so what to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was asked: an option, a configuration, a definition.
    Usage,
    /// A table or a saved audit that cannot be read or audited.
    Data,
    /// The model failed, or does not fit the table.
    Model,
    /// A result could not be written.
    Output,
    /// The user wanted to stop.
    Interrupted,
}

/// Why an audit was not made, in words for the user.
#[derive(Debug)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: Kind,
    message: String,
}

impl Failure {
    fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
        }
    }

    /// What was asked for cannot be done.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// The data cannot be used.
    pub fn data(message: impl fmt::Display) -> Self {
        Self::new(Kind::Data, message)
    }

    /// The model cannot be used.
    pub fn model(message: impl fmt::Display) -> Self {
        Self::new(Kind::Model, message)
    }

    /// A result could not be written.
    pub fn output(path: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(Kind::Output, format!("{path}: {error}"))
    }

    /// The user wanted to stop.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted; nothing was written")
    }

    /// An error of the engine about what the user wrote.
    pub fn engine_usage(error: facts_engine::Error) -> Self {
        Self::usage(error)
    }

    /// The same failure, said with what came before it.
    pub fn with(mut self, more: impl fmt::Display) -> Self {
        self.message = format!("{}\n{more}", self.message);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

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
            TrainError::Parameter { .. }
            | TrainError::UnknownColumn { .. }
            | TrainError::Seed { .. } => Self::usage(error),
            _ => Self::data(error),
        }
    }
}
