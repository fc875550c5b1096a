//! What `facts.toml` may say under `[check]`.

#![expect(
    missing_docs,
    reason = "the reference of the configuration shows every key, and a test sees to it"
)]

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

/// What a release must meet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Where the baseline lies.
    pub baseline: Option<PathBuf>,
    /// What becomes of rules that are undecided, unless they say otherwise.
    pub on_undecided: Option<OnUndecided>,
    /// How far ahead a waiver may end.
    pub max_waiver_days: Option<i64>,
    pub rule: Vec<RuleSettings>,
    pub waive: Vec<WaiverSettings>,
}

/// One rule, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleSettings {
    pub name: Option<String>,
    pub definition: Option<String>,
    pub verdict: Option<VerdictWanted>,
    pub max_loss: Option<f64>,
    pub max_score: Option<f64>,
    pub min_ratio: Option<f64>,
    pub groups: Vec<String>,
    #[serde(rename = "where")]
    pub condition: Option<String>,
    pub severity: Option<Severity>,
    pub on_undecided: Option<OnUndecided>,
    pub evidence: Option<EvidenceWanted>,
    /// The line of the file that it starts at.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// A finding that is let through for a while, as it is written. Whatever is missing or cannot be read
/// makes the finding count, and is said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WaiverSettings {
    pub id: Option<String>,
    pub reason: Option<String>,
    pub owner: Option<String>,
    #[serde(deserialize_with = "day")]
    pub until: Option<String>,
    /// The line of the file that it starts at.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// How bad it is if a rule fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It is told.
    Info,
    /// It is a warning.
    Warn,
    /// The gate fails.
    #[default]
    Error,
}

/// What becomes of a rule that is undecided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnUndecided {
    /// It is a warning.
    #[default]
    Warn,
    /// It is as bad as if the rule failed.
    Fail,
    /// It is told.
    Pass,
}

/// The verdict that a rule wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWanted {
    /// Fair within δ, and nothing less.
    Fair,
    /// Anything but unfair.
    NotUnfair,
}

/// Which findings count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceWanted {
    /// Those that pass for all definitions together.
    #[default]
    Together,
    /// Those that pass among all subgroups of their definition.
    Definition,
    /// All, chance included.
    None,
}

/// A date of TOML, or text. Whether it is a date is looked at later: a waiver that cannot be read must
/// not keep the rules from being judged.
fn day<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    struct Day;

    impl<'de> serde::de::Visitor<'de> for Day {
        type Value = Option<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a date such as 2026-01-31")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(text.to_owned()))
        }

        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        // TOML's own dates come as a map with one entry, the date as text.
        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let entry: Option<(String, String)> = map.next_entry()?;
            Ok(entry.map(|(_, date)| date))
        }
    }

    from.deserialize_any(Day)
}
