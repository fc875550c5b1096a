//! What the gate says, to people and to other programs: one file a form, and one line in [`FORMS`].

mod github;
mod gitlab;
mod json;
mod junit;
mod sarif;
mod text;

pub use self::github::{annotations, summary};
pub use self::text::text;
use crate::gate::Gate;

/// Where a gate stands: what locations in other programs' files point at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The configuration that holds the rules, as it is to be named.
    pub config: String,
    /// What was checked.
    pub audit: String,
}

/// A form of what the gate says.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What it is called.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes it.
    pub write: fn(&Gate, &Place) -> Result<String, serde_json::Error>,
}

/// All forms.
pub const FORMS: &[Form] = &[
    Form {
        name: "text",
        about: "For people: the answer first, at most 30 lines",
        write: |gate, place| Ok(text(gate, place, &facts_report::text::Palette::PLAIN)),
    },
    Form {
        name: "json",
        about: "Everything, for programs (docs/schema/check.schema.json)",
        write: json::json,
    },
    Form {
        name: "junit",
        about: "JUnit XML, a case a rule: Jenkins, GitLab, Azure",
        write: junit::junit,
    },
    Form {
        name: "sarif",
        about: "SARIF 2.1.0: GitHub code scanning, and many viewers",
        write: sarif::sarif,
    },
    Form {
        name: "github",
        about: "Annotations of GitHub Actions, a line a rule that does not hold",
        write: |gate, place| Ok(annotations(gate, place)),
    },
    Form {
        name: "gitlab",
        about: "GitLab's code quality report",
        write: gitlab::gitlab,
    },
];
