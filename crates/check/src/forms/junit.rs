//! JUnit XML: a case a rule. A rule that fails as an error is a failure; one that is undecided, or fails
//! as less than that, is skipped with its reason, since JUnit knows no warnings.

use facts_report::text::visible_lines;

use super::Place;
use crate::gate::Gate;
use crate::judging::{Judged, Status};
use crate::settings::Severity;

/// So many findings are listed of a rule.
const LISTED: usize = 20;

pub(super) fn junit(gate: &Gate, place: &Place) -> Result<String, serde_json::Error> {
    let is = |rule: &&Judged, error: bool| {
        rule.status != Status::Holds && (rule.level() == Some(Severity::Error)) == error
    };
    let failures = gate.rules.iter().filter(|rule| is(rule, true)).count();
    let skipped = gate.rules.iter().filter(|rule| is(rule, false)).count();
    let tests = gate.rules.len();
    let mut page = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"facts check\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\">\n"
    );
    for rule in &gate.rules {
        page += &case(rule, place);
    }
    Ok(page + "  </testsuite>\n</testsuites>\n")
}

fn case(rule: &Judged, place: &Place) -> String {
    let head = format!(
        "    <testcase name=\"{}\" classname=\"{}\" time=\"0\"",
        escape(&rule.rule.name),
        escape(&place.config)
    );
    let reason = escape(&rule.reason);
    if rule.status == Status::Holds {
        return format!("{head}/>\n");
    }
    let counting: Vec<_> = rule.counting().collect();
    let mut text = String::new();
    for finding in counting.iter().take(LISTED) {
        text += &format!("[{}] {}\n", finding.id, finding.sentence);
    }
    if counting.len() > LISTED {
        text += &format!("… and {} more\n", counting.len() - LISTED);
    }
    let text = escape(&text);
    let inside = if rule.level() == Some(Severity::Error) {
        let kind = if rule.status == Status::Fails {
            "fails"
        } else {
            "undecided"
        };
        format!("<failure message=\"{reason}\" type=\"{kind}\">{text}</failure>")
    } else {
        let word = if rule.status == Status::Fails {
            "fails"
        } else {
            "undecided"
        };
        // Those who read the page see what is no failure, and why.
        format!("<skipped message=\"{word}: {reason}\"/>\n      <system-out>{text}</system-out>")
    };
    format!("{head}>\n      {inside}\n    </testcase>\n")
}

/// Text as XML holds it; what XML cannot hold at all, and what would command a terminal, is shown as a sign.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in visible_lines(text).chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}
