//! GitHub Actions: annotations, and the page that a step shows.

use facts_report::markdown::escape;
use facts_report::text::{visible, visible_lines};
use facts_report::{Grid, Side};

use super::Place;
use crate::gate::Gate;
use crate::judging::{Judged, Status};
use crate::settings::Severity;

/// GitHub shows at most ten annotations of a sort and step: one a rule, and this many findings in it.
const FINDINGS: usize = 3;

/// A line a rule that does not hold.
pub fn annotations(gate: &Gate, place: &Place) -> String {
    let rules = gate
        .rules
        .iter()
        .filter(|rule| rule.status != Status::Holds);
    rules.map(|rule| annotation(rule, place)).collect()
}

fn annotation(rule: &Judged, place: &Place) -> String {
    let command = match rule.level() {
        Some(Severity::Error) => "error",
        Some(Severity::Warn) => "warning",
        Some(Severity::Info) | None => "notice",
    };
    let word = if rule.status == Status::Fails {
        "fails"
    } else {
        "is undecided"
    };
    let mut message = rule.reason.clone();
    for finding in rule.counting().take(FINDINGS) {
        message += &format!("\n[{}] {}", finding.id, finding.sentence);
    }
    format!(
        "::{command} file={},line={},title={}::{}\n",
        property(&place.config),
        rule.rule.line.unwrap_or(1),
        property(&format!("facts: {} {word}", rule.rule.name)),
        data(&message)
    )
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    visible_lines(text).replace('%', "%25").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

/// The page that a step shows, in Markdown.
pub fn summary(gate: &Gate) -> String {
    let word = if gate.passed { "passed" } else { "failed" };
    let mut page = format!(
        "## facts check {word}\n\nVerdict: {}. {}\n\n",
        gate.verdict,
        escape(&gate.headline)
    );
    let mut grid = Grid::new([("rule", Side::Left), ("", Side::Left), ("why", Side::Left)]);
    for rule in &gate.rules {
        let status = match rule.status {
            Status::Holds => "holds",
            Status::Fails => "fails",
            Status::Undecided => "undecided",
        };
        grid.row([rule.rule.name.as_str(), status, &rule.reason]);
    }
    page += &grid.markdown();
    let mut findings = Grid::new([("finding", Side::Left), ("what was found", Side::Left)]);
    let mut any = false;
    for finding in gate.rules.iter().flat_map(Judged::counting).take(20) {
        any = true;
        findings.row([finding.id.as_str(), &finding.sentence]);
    }
    if any {
        page += &format!("\n{}", findings.markdown());
    }
    if !gate.waivers.is_empty() {
        let mut waivers = Grid::new([("waivers", Side::Left)]);
        for waived in &gate.waivers {
            waivers.row([waived.in_words()]);
        }
        page += &format!("\n{}", waivers.markdown());
    }
    page
}
