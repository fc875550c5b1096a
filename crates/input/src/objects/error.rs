//! Why an object could not be fetched.
//!
//! What a store or a client says may hold an address with a signature in it, so
//! none of it is passed on: what went wrong is recognised, and said anew.

use std::error::Error;

use object_store::client::{HttpError, HttpErrorKind};

/// Why an object could not be fetched, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfetched {
    /// There is no such object.
    #[error("no such object or folder; check the bucket and the name")]
    NotFound,
    /// The store does not let this user read it.
    #[error(
        "access was refused{0}; check the credentials in the environment, and that they may list and read it"
    )]
    Refused(String),
    /// The bucket lies elsewhere.
    #[error("the bucket lies in another region{0}; set AWS_REGION to its region")]
    Region(String),
    /// Nobody answers.
    #[error(
        "the store cannot be reached; check the network and the name of the host, and AWS_ENDPOINT_URL if it is set"
    )]
    Unreachable,
    /// The answer does not come.
    #[error("the store did not answer in time; try again")]
    Timeout,
    /// The connection was cut, again and again.
    #[error("the connection broke off, {0} times; try again")]
    Broken(usize),
    /// The object is another one than at the start.
    #[error("it was changed while it was read; start again")]
    Changed,
    /// The server cannot send a part of a file.
    #[error(
        "the server sends whole files only (it ignores range requests); download the file first"
    )]
    WholeOnly,
    /// The settings make no sense.
    #[error("the store cannot be used as it is set up: {0}")]
    SetUp(&'static str),
    /// Any other answer.
    #[error("the store answered with an error{0}; try again, or ask those who run it")]
    Answer(String),
}

impl Unfetched {
    /// What a store's error comes to.
    pub(super) fn of(error: &object_store::Error) -> Self {
        use object_store::Error as E;
        let text = texts(error);
        let told = told(&text);
        match error {
            E::NotFound { .. } => Self::NotFound,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Self::Refused(told),
            E::Precondition { .. } => Self::Changed,
            E::UnknownConfigurationKey { .. } => {
                Self::SetUp("a setting in the environment is not known")
            }
            _ if is_about_the_machine(&text) => Self::SetUp(
                "no credentials are in the environment, and this machine hands out none; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket (docs/scale.md has those of the other stores)",
            ),
            _ if is_about_region(&text) => Self::Region(told),
            _ if status(&text) == Some(404) => Self::NotFound,
            _ if matches!(status(&text), Some(401 | 403)) => Self::Refused(told),
            E::NotSupported { .. } => Self::WholeOnly,
            _ if text.contains("non-partial response") => Self::WholeOnly,
            _ => match connection(error) {
                Some(HttpErrorKind::Connect) => Self::Unreachable,
                Some(HttpErrorKind::Timeout) => Self::Timeout,
                Some(_) => Self::Broken(1),
                None if status(&text).is_none() && is_set_up(&text) => Self::SetUp(
                    "credentials or the name of the account are missing, or cannot be read",
                ),
                None => Self::Answer(told),
            },
        }
    }

    /// Whether it may go well the next time.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Broken(_))
    }
}

/// An error with all that caused it. It is looked at, and never shown.
fn texts(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push('\n');
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

fn connection(error: &(dyn Error + 'static)) -> Option<HttpErrorKind> {
    let mut cause = Some(error);
    while let Some(inner) = cause {
        if let Some(http) = inner.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        cause = inner.source();
    }
    None
}

/// Whether credentials were asked of the service that a machine in a cloud has for it.
fn is_about_the_machine(text: &str) -> bool {
    [
        "169.254.169.254",
        "169.254.170.2",
        "metadata.google.internal",
        "metadata/identity",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

fn is_about_region(text: &str) -> bool {
    [
        "redirect without LOCATION",
        "PermanentRedirect",
        "AuthorizationHeaderMalformed",
    ]
    .iter()
    .any(|sign| text.contains(sign))
        || matches!(status(text), Some(301 | 307))
}

fn is_set_up(text: &str) -> bool {
    ["redential", "ccount", "Missing", "metadata"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// The status of an answer, where there is one.
fn status(text: &str) -> Option<u16> {
    let (_, after) = text.split_once("status code: ")?;
    after.get(..3)?.parse().ok()
}

/// The status and the store's own word for what is wrong: ` (403, AccessDenied)`. The word is one word of
/// letters, so it holds no secret.
fn told(text: &str) -> String {
    let word = text
        .split_once("<Code>")
        .and_then(|(_, after)| after.split_once("</Code>"))
        .map(|(word, _)| word)
        .filter(|word| word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    match (status(text), word) {
        (Some(status), Some(word)) => format!(" ({status}, {word})"),
        (Some(status), None) => format!(" ({status})"),
        (None, Some(word)) => format!(" ({word})"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &'static str) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: text.into(),
        }
    }

    #[test]
    fn only_the_stores_word_is_passed_on() {
        let answer = "Error performing GET https://h/k?sig=hush - Server returned non-2xx status code: 503 Service Unavailable: <Code>SlowDown</Code> hush";
        let said = Unfetched::of(&generic(answer)).to_string();
        assert!(said.contains("(503, SlowDown)"), "{said}");
        assert!(!said.contains("hush"), "{said}");
        let no_word = "status code: 500: <Code>hush hush</Code>";
        assert_eq!(
            Unfetched::of(&generic(no_word)),
            Unfetched::Answer(" (500)".into())
        );
    }

    #[test]
    fn another_region_is_recognised() {
        for text in [
            "Received redirect without LOCATION, this normally indicates",
            "Server returned non-2xx status code: 301 Moved Permanently: ",
            "status code: 400 Bad Request: <Code>AuthorizationHeaderMalformed</Code>",
        ] {
            let said = Unfetched::of(&generic(text)).to_string();
            assert!(said.contains("AWS_REGION"), "{said}");
        }
    }
}
