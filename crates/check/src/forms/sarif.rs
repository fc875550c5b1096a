//! SARIF 2.1.0. A result is a finding, or a rule that is undecided; its place is the rule's line in the
//! configuration, since what is at fault stands in no line of code.

use serde_json::{Value, json};

use super::Place;
use crate::gate::Gate;
use crate::judging::{Finding, Judged, State, Status};
use crate::settings::Severity;

/// GitHub shows 5,000 results of a run and refuses over 25,000: the first of each rule, up to this many
/// of all rules together.
const RESULTS: usize = 5_000;

/// GitHub refuses more than 20 tags of a rule and longer texts than this.
const TEXT: usize = 1_000;

pub(super) fn sarif(gate: &Gate, place: &Place) -> Result<String, serde_json::Error> {
    let each = RESULTS / gate.rules.len().max(1);
    let mut results = Vec::new();
    let mut left_out = Vec::new();
    for (index, rule) in gate.rules.iter().enumerate() {
        let findings = rule.findings.iter().take(each);
        results.extend(findings.map(|finding| result(gate, rule, index, finding, place)));
        if rule.findings.len() > each {
            left_out.push(json!({
                "level": "note",
                "message": { "text": format!(
                    "{}: {} findings are left out; facts check --format json has all",
                    rule.rule.name,
                    rule.findings.len() - each
                ) }
            }));
        }
        if rule.status == Status::Undecided {
            results.push(undecided(rule, index, place));
        }
    }
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "facts",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": gate.rules.iter().map(rule).collect::<Vec<Value>>(),
            } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": left_out,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }]
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// A name that other programs take for an id.
fn rule_id(name: &str) -> String {
    let mut id = String::new();
    for character in name.chars() {
        if character.is_alphanumeric() {
            id.extend(character.to_lowercase());
        } else if !id.ends_with('-') && !id.is_empty() {
            id.push('-');
        }
    }
    let id = id.trim_end_matches('-');
    format!("facts/{}", if id.is_empty() { "rule" } else { id })
}

fn level(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Error) => "error",
        Some(Severity::Warn) => "warning",
        Some(Severity::Info) => "note",
        None => "none",
    }
}

fn rule(judged: &Judged) -> Value {
    json!({
        "id": rule_id(&judged.rule.name),
        "name": judged.rule.name,
        "shortDescription": { "text": cut(&judged.rule.in_words()) },
        "fullDescription": { "text": cut(&judged.rule.in_words()) },
        "help": { "text": "facts show AUDIT --subgroup ID looks into a finding. facts check --update-baseline accepts what is found; [[check.waive]] in facts.toml lets one finding through for a while." },
        "defaultConfiguration": { "level": level(Some(judged.rule.severity)) },
        "properties": { "tags": ["fairness", "recourse"] },
    })
}

fn location(line: Option<usize>, place: &Place) -> Value {
    json!([{
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.config) },
            "region": { "startLine": line.unwrap_or(1) },
        }
    }])
}

fn result(gate: &Gate, rule: &Judged, index: usize, finding: &Finding, place: &Place) -> Value {
    let waiver = finding.waived.map(|place| &gate.waivers[place]);
    let state = match finding.state {
        State::New => "new",
        State::Grown => "updated",
        State::Known | State::Unlisted => "unchanged",
    };
    let counts = if finding.counts() {
        level(rule.level())
    } else {
        "note"
    };
    let mut result = json!({
        "ruleId": rule_id(&rule.rule.name),
        "ruleIndex": index,
        "kind": "fail",
        "level": counts,
        "message": { "text": cut(&finding.sentence) },
        "locations": location(rule.rule.line, place),
        "partialFingerprints": fingerprints(&finding.id),
        "suppressions": waiver.iter().map(|waived| json!({
            "kind": "external",
            "status": "accepted",
            "justification": format!("{} ({}, until {})", waived.reason, waived.owner, waived.until),
        })).collect::<Vec<Value>>(),
        "properties": { "against": finding.against, "value": facts_report::text::number(finding.value) },
    });
    if gate.baseline.is_some() {
        result["baselineState"] = json!(state);
    }
    result
}

fn undecided(rule: &Judged, index: usize, place: &Place) -> Value {
    // A level other than none goes with the kind `fail` only.
    let (kind, level) = match rule.level() {
        None => ("open", "none"),
        Some(severity) => ("fail", level(Some(severity))),
    };
    json!({
        "ruleId": rule_id(&rule.rule.name),
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": { "text": cut(&format!("Undecided: {}", rule.reason)) },
        "locations": location(rule.rule.line, place),
        "partialFingerprints": fingerprints(&format!("undecided/{}", rule_id(&rule.rule.name))),
    })
}

/// What a result is known by. GitHub takes the second alone, and would else make one from the text of the
/// line, which is the same for every finding of a rule.
fn fingerprints(id: &str) -> Value {
    json!({ "factsFinding/v1": id, "primaryLocationLineHash": format!("{id}:1") })
}

/// A path as the part of a URI that it is.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TEXT {
        return text.to_owned();
    }
    text.chars()
        .take(TEXT - 1)
        .chain(std::iter::once('…'))
        .collect()
}
