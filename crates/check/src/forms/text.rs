//! The gate in at most 30 lines, the answer first.

use facts_report::text::{Palette, count, visible};

use super::Place;
use crate::gate::Gate;
use crate::judging::{Finding, Judged, State, Status, several};
use crate::settings::Severity;

/// The most lines of the whole.
const LINES: usize = 30;

/// What came of all rules, for people.
pub fn text(gate: &Gate, place: &Place, palette: &Palette) -> String {
    let mut lines = vec![answer(gate, palette)];
    if !gate.headline.is_empty() {
        lines.push(format!(
            "Verdict: {}. {}",
            visible(&gate.verdict),
            visible(&gate.headline)
        ));
    }
    lines.push(String::new());
    let last = closing(gate, place);
    // Rules and what is to be said of waivers and the baseline come first, examples as there is room.
    let asides = asides(gate);
    let shown = gate.rules.len().min(LINES - lines.len() - last.len() - 4);
    let asides_shown = asides
        .len()
        .min(LINES - lines.len() - last.len() - shown - 1);
    let mut room = LINES - lines.len() - last.len() - shown - asides_shown - 2;
    let mut order: Vec<&Judged> = gate.rules.iter().collect();
    // The worst first; of those that are as bad, in the order written.
    order.sort_by_key(|rule| std::cmp::Reverse((rule.level(), rule.status == Status::Fails)));
    for rule in order.iter().take(shown) {
        lines.push(line(rule, palette));
        let examples: Vec<&Finding> = rule.counting().collect();
        // One line is kept to say how many more there are.
        let fits = examples.len().min(5).min(room.saturating_sub(1));
        for finding in &examples[..fits] {
            let state = if finding.state == State::Grown {
                "grown: "
            } else {
                ""
            };
            lines.push(format!(
                "    [{}] {state}{}",
                finding.id,
                visible(&finding.sentence)
            ));
        }
        room -= fits;
        if fits < examples.len() && room > 0 {
            let more = (examples.len() - fits) as u64;
            lines.push(format!(
                "    … and {} more; --format json has all",
                count(more)
            ));
            room -= 1;
        }
    }
    if shown < gate.rules.len() {
        let more = (gate.rules.len() - shown) as u64;
        lines.push(format!(
            "… and {}; --format json has all",
            several(more, "rule", "rules")
        ));
    }
    lines.extend(asides.iter().take(asides_shown).map(|aside| visible(aside)));
    if asides_shown < asides.len() {
        lines.push(format!(
            "… and {} more to be said; --format json has all",
            asides.len() - asides_shown
        ));
    }
    lines.extend(last);
    lines.join("\n") + "\n"
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
fn line(judged: &Judged, palette: &Palette) -> String {
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
    format!(
        "{style}{word}{style:#}{level}  {}: {}",
        visible(&judged.rule.name),
        visible(judged.reason.trim_end_matches('.'))
    )
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
                some => format!("; {some} of them not found any more (--prune takes them out)"),
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
    vec![
        String::new(),
        format!("Next: {look}`facts check --update-baseline` accepts all of them;"),
        "[[check.waive]] lets one through for a while (facts explain config).".to_owned(),
    ]
}
