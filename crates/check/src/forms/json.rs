//! The gate as JSON: everything, for programs.

use serde::Serialize;

use super::Place;
use crate::gate::Gate;
use crate::judging::Judged;
use crate::settings::Severity;

/// The version of the form.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    version: u32,
    audit: &'a str,
    config: &'a str,
    #[serde(flatten)]
    gate: &'a Gate,
    levels: Vec<Option<Severity>>,
}

pub(super) fn json(gate: &Gate, place: &Place) -> Result<String, serde_json::Error> {
    let document = Document {
        kind: "facts-check",
        version: VERSION,
        audit: &place.audit,
        config: &place.config,
        gate,
        levels: gate.rules.iter().map(Judged::level).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
