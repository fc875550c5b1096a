//! Why a question is not answered, for whoever asked.

use crate::http::Response;

/// Why a question is not answered.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) status: u16,
    pub(crate) why: String,
}

impl Failed {
    /// The question makes no sense.
    pub(crate) fn bad(why: impl Into<String>) -> Self {
        Self {
            status: 400,
            why: why.into(),
        }
    }

    /// There is no such thing.
    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        Self {
            status: 404,
            why: why.into(),
        }
    }

    /// Not now, or not here.
    pub(crate) fn conflict(why: impl Into<String>) -> Self {
        Self {
            status: 409,
            why: why.into(),
        }
    }

    /// The server's fault.
    pub(crate) fn internal(why: impl Into<String>) -> Self {
        Self {
            status: 500,
            why: why.into(),
        }
    }

    /// The audit cannot be asked any more: its thread has ended.
    pub(crate) fn gone() -> Self {
        Self::internal("this audit cannot be asked any more; start `facts serve` again")
    }

    pub(crate) fn response(&self) -> Response {
        Response::error(self.status, &self.why)
    }
}

impl From<facts_engine::Error> for Failed {
    fn from(error: facts_engine::Error) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<facts_report::AskError> for Failed {
    fn from(error: facts_report::AskError) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<facts_run::Failure> for Failed {
    fn from(failure: facts_run::Failure) -> Self {
        Self::bad(failure.to_string())
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::internal(error.to_string())
    }
}
