//! The gate in at most 30 lines of 100 columns, the answer first.

use anstyle::Style;
use facts_report::text::{Palette, count, hanging, visible};

use super::Place;
use crate::gate::Gate;
use crate::judging::{Finding, Judged, State, Status, several};
use crate::settings::Severity;

/// The most lines of the whole.
const LINES: usize = 30;

/// So many findings are shown of a rule, if there is room.
const EXAMPLES: usize = 5;

/// What came of all rules, for people.
pub fn text(gate: &Gate, place: &Place, palette: &Palette) -> String {
    let page = Page {
        gate,
        palette,
        closing: closing(gate, place),
        asides: asides(gate),
    };
    let lines = page.fitting();
    lines.into_iter().map(|line| line + "\n").collect()
}

/// What there is to say, before it is known how much fits.
struct Page<'a> {
    gate: &'a Gate,
    palette: &'a Palette,
    closing: Vec<String>,
    asides: Vec<String>,
}

impl Page<'_> {
    /// As much as fits: examples go first, then rules that hold, then what is said of waivers and the
    /// baseline.
    fn fitting(&self) -> Vec<String> {
        let (rules, asides) = (self.gate.rules.len(), self.asides.len());
        let fewer_examples = (0..=EXAMPLES).rev().map(|n| (n, rules, asides));
        let fewer_rules = (1..rules).rev().map(|n| (0, n, asides.min(5)));
        let fewer_asides = (0..asides.min(5)).rev().map(|n| (0, 1, n));
        let mut lines = Vec::new();
        for (examples, rules, asides) in fewer_examples.chain(fewer_rules).chain(fewer_asides) {
            lines = self.lines(examples, rules, asides);
            if lines.len() <= LINES {
                break;
            }
        }
        lines.truncate(LINES);
        lines
    }

    fn lines(&self, examples: usize, rules: usize, asides: usize) -> Vec<String> {
        let gate = self.gate;
        let mut lines = vec![answer(gate, self.palette)];
        if !gate.headline.is_empty() {
            let headline = format!("Verdict: {}. {}", gate.verdict, gate.headline);
            lines.extend(plain(&headline, "", ""));
        }
        lines.push(String::new());
        let mut order: Vec<&Judged> = gate.rules.iter().collect();
        // The worst first; of those that are as bad, in the order written.
        order.sort_by_key(|rule| std::cmp::Reverse((rule.level(), rule.status == Status::Fails)));
        for rule in order.iter().take(rules) {
            lines.extend(self.rule(rule, examples));
        }
        if rules < order.len() {
            let more = several((order.len() - rules) as u64, "rule", "rules");
            lines.push(format!("… and {more}; --format json has all"));
        }
        let shown = self.asides.iter().take(asides);
        lines.extend(shown.flat_map(|aside| plain(aside, "", "  ")));
        if asides < self.asides.len() {
            lines.push(format!(
                "… and {} more to be said; --format json has all",
                self.asides.len() - asides
            ));
        }
        lines.extend(self.closing.iter().cloned());
        lines
    }

    fn rule(&self, rule: &Judged, examples: usize) -> Vec<String> {
        let mut lines = line(rule, self.palette);
        let counting: Vec<&Finding> = rule.counting().collect();
        let shown = counting.len().min(examples);
        for finding in &counting[..shown] {
            let state = if finding.state == State::Grown {
                "grown: "
            } else {
                ""
            };
            let said = format!("[{}] {state}{}", finding.id, finding.sentence);
            lines.extend(plain(&said, "  ", "    "));
        }
        if shown < counting.len() && shown > 0 {
            let more = count((counting.len() - shown) as u64);
            lines.push(format!("  … and {more} more; --format json has all"));
        }
        lines
    }
}

fn plain(text: &str, first: &str, others: &str) -> Vec<String> {
    hanging(text, first, others, Style::new())
}

/// Whether the gate passed, and how many rules hold.
fn answer(gate: &Gate, palette: &Palette) -> String {
    let (word, style) = match gate.passed {
        true => ("PASSED", palette.fair),
        false => ("FAILED", palette.bias),
    };
    let of = several(gate.rules.len() as u64, "rule", "rules");
    let holds = gate.count(Status::Holds);
    let verb = if holds == 1 || gate.rules.len() == 1 {
        "holds"
    } else {
        "hold"
    };
    let mut parts = vec![format!("{holds} of {of} {verb}")];
    match gate.count(Status::Fails) {
        0 => {}
        1 => parts.push("1 fails".to_owned()),
        some => parts.push(format!("{some} fail")),
    }
    match gate.count(Status::Undecided) {
        0 => {}
        1 => parts.push("1 is undecided".to_owned()),
        some => parts.push(format!("{some} are undecided")),
    }
    format!("{style}{word}{style:#}: {}.", parts.join(", "))
}

/// One rule: what became of it, how bad that is, and why.
fn line(judged: &Judged, palette: &Palette) -> Vec<String> {
    let (word, style) = match judged.status {
        Status::Holds => ("holds", palette.fair),
        Status::Fails => ("FAILS", palette.bias),
        Status::Undecided => ("undecided", palette.who),
    };
    let level = match (judged.status, judged.level()) {
        (Status::Holds, _) => "",
        (_, Some(Severity::Error)) => " (error)",
        (_, Some(Severity::Warn)) => " (warning)",
        (_, Some(Severity::Info)) => " (for information)",
        (_, None) => " (may be)",
    };
    let said = format!(
        "{word}{level}  {}: {}",
        judged.rule.name,
        judged.reason.trim_end_matches('.')
    );
    let mut lines = plain(&said, "", "  ");
    // The word alone is coloured, so that lines are as long as they look.
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(word, &format!("{style}{word}{style:#}"), 1);
    }
    lines
}

/// What is to be said of waivers and the baseline.
fn asides(gate: &Gate) -> Vec<String> {
    let mut asides: Vec<String> = gate
        .waivers
        .iter()
        .map(|waived| waived.in_words())
        .collect();
    match &gate.baseline {
        None => asides.push("No baseline: every finding counts as new.".to_owned()),
        Some(news) => {
            asides.extend(
                news.warnings
                    .iter()
                    .map(|warning| format!("warning: {warning}")),
            );
            let gone = match news.gone.len() {
                0 => String::new(),
                1 => "; 1 of them is not found any more (--prune takes it out)".to_owned(),
                some => format!("; {some} of them are not found any more (--prune takes them out)"),
            };
            asides.push(format!(
                "The baseline lists {}{gone}.",
                several(news.listed as u64, "finding", "findings")
            ));
        }
    }
    asides
}

/// What to do next.
fn closing(gate: &Gate, place: &Place) -> Vec<String> {
    if gate.passed {
        return Vec::new();
    }
    let mut counting = gate.rules.iter().flat_map(Judged::counting);
    let of_subgroup = counting.any(|finding| finding.predicate.is_some());
    let look = if of_subgroup && !place.audit.is_empty() {
        format!(
            "facts show {} --subgroup ID looks into a subgroup; ",
            visible(&place.audit)
        )
    } else {
        String::new()
    };
    let next = format!(
        "Next: {look}`facts check --update-baseline` accepts all of them; [[check.waive]] lets one through for a while (facts explain config)."
    );
    [vec![String::new()], plain(&next, "", "")].concat()
}
