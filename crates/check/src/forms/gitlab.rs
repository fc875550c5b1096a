//! GitLab's code quality report: an issue a finding that counts, or a rule that is undecided.

use serde_json::{Value, json};

use super::Place;
use crate::gate::Gate;
use crate::judging::{Judged, Status};
use crate::settings::Severity;

/// The first findings of each rule; all of thousands would hide the others.
const LISTED: usize = 100;

pub(super) fn gitlab(gate: &Gate, place: &Place) -> Result<String, serde_json::Error> {
    let issues: Vec<Value> = (gate.rules.iter())
        .flat_map(|rule| issues(rule, place))
        .collect();
    Ok(serde_json::to_string_pretty(&issues)? + "\n")
}

fn issues(rule: &Judged, place: &Place) -> Vec<Value> {
    let severity = match rule.level() {
        Some(Severity::Error) => "major",
        Some(Severity::Warn) => "minor",
        Some(Severity::Info) | None => "info",
    };
    let issue = |fingerprint: String, description: &str| {
        json!({
            "description": description,
            "check_name": rule.rule.name,
            "fingerprint": fingerprint,
            "severity": severity,
            "location": { "path": place.config, "lines": { "begin": rule.rule.line.unwrap_or(1) } },
        })
    };
    let mut issues: Vec<Value> = (rule.counting().take(LISTED))
        // One finding may be found by two rules, and GitLab wants each fingerprint once.
        .map(|finding| {
            issue(
                format!("{}/{}", rule.rule.name, finding.id),
                &finding.sentence,
            )
        })
        .collect();
    if rule.status == Status::Undecided {
        let why = format!("Undecided: {}", rule.reason);
        issues.push(issue(format!("{}/undecided", rule.rule.name), &why));
    }
    issues
}
