//! Why an audit was not made.

use std::error::Error;
use std::fmt;

use facts_engine::flips::ModelError;
use facts_guard::secret;
use facts_models::OpenError;
use facts_models::train::TrainError;
use facts_report::AskError;

/// Whose fault it is, and so what to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
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

/// An error of a library, or a text.
type Cause = Box<dyn Error + Send + Sync>;

/// Why an audit was not made, in words for the user.
///
/// Settings are called by their keys in a configuration, in backticks: `` `audit.support` ``. Flags and
/// keyword arguments are for the command line and for Python to put in their place.
#[derive(Debug)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    error: Cause,
    more: String,
}

impl Failure {
    fn new(kind: FailureKind, error: impl Into<Cause>) -> Self {
        Self {
            kind,
            error: error.into(),
            more: String::new(),
        }
    }

    /// What was asked for cannot be done.
    pub fn usage(error: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Usage, error)
    }

    /// The data cannot be used.
    pub fn data(error: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Data, error)
    }

    /// The model cannot be used.
    pub fn model(error: impl Into<Cause>) -> Self {
        Self::new(FailureKind::Model, error)
    }

    /// A result could not be written.
    pub fn output(path: impl fmt::Display, why: impl Into<Cause>) -> Self {
        let unwritten = Unwritten {
            path: path.to_string(),
            why: why.into(),
        };
        Self::new(FailureKind::Output, unwritten)
    }

    /// The user wanted to stop.
    pub fn interrupted() -> Self {
        Self::new(FailureKind::Interrupted, "interrupted; nothing was written")
    }

    /// The user wanted to stop after some results had been written; says what is kept.
    pub fn interrupted_keeping(kept: impl fmt::Display) -> Self {
        Self::new(FailureKind::Interrupted, format!("interrupted; {kept}"))
    }

    /// The same failure, with more said after it.
    pub fn with(mut self, more: impl fmt::Display) -> Self {
        self.more += &format!("\n{more}");
        self
    }

    /// The error that it is made of, to look for one of a certain type.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.error.as_ref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}{}", self.error, self.more);
        // Whatever says what is wrong may quote an address.
        f.write_str(&secret::hidden_in_urls(&text))
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Something that could not be written.
#[derive(Debug)]
struct Unwritten {
    path: String,
    why: Cause,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

impl Error for Unwritten {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.why.as_ref())
    }
}

// What follows names every kind of error, so that a new one is not taken for bad data unnoticed.

impl From<facts_engine::Error> for Failure {
    fn from(error: facts_engine::Error) -> Self {
        use facts_engine::Error;
        match error {
            Error::Cancelled { .. } => Self::interrupted(),
            Error::Model(error) => error.into(),
            Error::NotADecimal { .. }
            | Error::ShareOutOfRange { .. }
            | Error::BadParameter { .. }
            | Error::UnknownDefinition { .. }
            | Error::NoAutomaticBudgets
            | Error::DeclaredTwice { .. }
            | Error::NoFeatures
            | Error::NoProtected
            | Error::UnknownColumn { .. }
            | Error::UnknownGroup { .. }
            | Error::UnknownLink { .. }
            | Error::NeedsOrder { .. }
            | Error::ImmutableMustChange { .. }
            | Error::BadFeatureWeight { .. }
            | Error::BadStep { .. }
            | Error::BadCost { .. }
            | Error::NoCostEntry { .. }
            | Error::MappedTwice { .. }
            | Error::BadBins { .. }
            | Error::Threads { .. } => Self::usage(error),
            Error::NeedsNumbers { .. }
            | Error::UnsupportedType { .. }
            | Error::SchemaChanged { .. }
            | Error::NonFinite { .. }
            | Error::NotANumber { .. }
            | Error::TextCannotMove { .. }
            | Error::MissingValue { .. }
            | Error::MissingLabelTaken { .. }
            | Error::BadWeight { .. }
            | Error::TooManyPeople { .. }
            | Error::TooManyToPermute { .. }
            | Error::NotInOrder { .. }
            | Error::BinsDoNotCover { .. }
            | Error::NoRows { .. }
            | Error::OneGroup { .. }
            | Error::TooFewGroups { .. }
            | Error::PartTooSmall { .. }
            | Error::OtherLevels { .. }
            | Error::NobodyAffected { .. }
            | Error::NobodyUnaffected { .. }
            | Error::TooManyItemsets { .. }
            | Error::ItemsetsTooLarge { .. }
            | Error::TooManyRows { .. }
            | Error::TableTooLarge { .. }
            | Error::OverBudget { .. }
            | Error::OtherPeople
            | Error::TooMuchMemory { .. }
            | Error::NobodyShares { .. } => Self::data(error),
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
            return failure.with("set `data.duplicates` to number to have them numbered");
        }
        failure
    }
}

impl From<facts_sql::SqlError> for Failure {
    fn from(error: facts_sql::SqlError) -> Self {
        use facts_sql::SqlError;
        match error {
            SqlError::NoQuery
            | SqlError::NoDatabase(_)
            | SqlError::BadDatabase { .. }
            | SqlError::NoDriver { .. }
            | SqlError::SameName { .. } => Self::usage(error),
            SqlError::NoFile(_) | SqlError::Refused { .. } | SqlError::Nothing(..) => {
                Self::data(error)
            }
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::model(error)
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Parameter { .. }
            | TrainError::UnknownColumn { .. }
            | TrainError::Seed { .. } => Self::usage(error),
            TrainError::OneOutcome
            | TrainError::Column { .. }
            | TrainError::TooMany { .. }
            | TrainError::Table(_) => Self::data(error),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Engine(error) => error.into(),
            AskError::Form { form, why } => Self::output(form, why),
            AskError::NothingTested
            | AskError::NotTested { .. }
            | AskError::Condition { .. }
            | AskError::NotAPredicate(_)
            | AskError::UnknownFinding(_)
            | AskError::NotRanked { .. }
            | AskError::UnknownSubgroup { .. }
            | AskError::UnknownForm { .. } => Self::usage(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_the_error_it_is_made_of_and_its_cause() {
        let options = facts_models::OpenOptions::default();
        let Err(error) = facts_models::open("nothing.txt", &options) else {
            panic!("there is no such file");
        };
        let failure = Failure::from(error).with("and more");
        assert!(failure.to_string().ends_with("(os error 2)\nand more"));
        assert!(failure.get_ref().downcast_ref::<OpenError>().is_some());
        let source = failure.source().unwrap();
        let system = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(system.kind(), std::io::ErrorKind::NotFound);

        let failure = Failure::output("a.csv", std::io::Error::other("full"));
        assert_eq!(failure.to_string(), "a.csv: full");
        assert_eq!(failure.source().unwrap().to_string(), "full");
        assert!(Failure::usage("a text").source().is_none());
    }
}
