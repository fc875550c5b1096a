//! Markdown, for pull requests, wikis and notes.

use std::fmt::Write;

use facts_engine::distribution::Share;

use crate::csc::Csc;
use crate::evidence::{Followed, grids, headline, words};
pub use crate::grid::escape;
use crate::overview;
use crate::report::{Report, Showing};
use crate::text::{count, effectiveness, number, percent};

/// The answer: verdict, people, stories, drivers.
fn answer(report: &Report<'_>) -> String {
    use crate::answer::{people, words as say};
    let Some(answered) = report.answered() else {
        return String::new();
    };
    let mut text = format!(
        "**{}.** {} {}\n\n{}\n",
        escape(&say::verdict(&answered)),
        escape(&say::headline(&answered)),
        escape(&say::reason(&answered)),
        people(&answered, usize::MAX).markdown()
    );
    if let Some(ratio) = answered.compared().and_then(|c| say::ratio(&answered, &c)) {
        let _ = writeln!(text, "{}\n", escape(&ratio));
    }
    let stories = answered.stories();
    if !stories.is_empty() {
        text += "## Who loses most\n\n";
    }
    for story in stories {
        let _ = writeln!(text, "{}. {}", story.number, escape(&story.sentence));
        for line in story.why_sentence.iter().map(|why| format!("Why: {why}")) {
            let _ = writeln!(text, "   {}", escape(&line));
        }
    }
    let _ = writeln!(text, "\n{}\n\n## What was audited\n", say::NOT_SAID);
    text
}

/// The report as Markdown.
pub fn markdown(report: &Report<'_>, showing: &Showing) -> String {
    let mut text = format!(
        "# Fairness of recourse: {}\n\n",
        escape(&report.record.data.name)
    );
    text += &answer(report);
    // Writing to a string cannot fail.
    for (name, fact) in overview::facts(report) {
        let _ = writeln!(text, "- **{name}**: {}", escape(&fact));
    }
    let _ = writeln!(text, "\n{}", overview::groups(report).markdown());
    text += "## Against whom\n\n";
    if report.evidence().is_some() {
        let said = headline(report).join(" ");
        let all = "The table counts all findings, those that do not pass among them.";
        let _ = writeln!(text, "{} {all}\n", escape(&said));
    }
    let _ = writeln!(text, "{}", overview::ranking_analysis(report).markdown());
    for column in &report.columns {
        let _ = writeln!(text, "## {}\n", escape(&column.ranking.title));
        let kind = column.definition.kind();
        let _ = writeln!(text, "{} {}\n", kind.question, kind.worse_off);
        let findings = report.findings(column, showing);
        if let Some(line) = words::of_definition(report, column) {
            let _ = writeln!(text, "{}\n", escape(&line));
        }
        if findings.is_empty() {
            text += "No finding.\n\n";
        }
        text.extend(findings.iter().map(of_finding));
        let passing = report.first_passing(column, showing, &findings);
        if !passing.is_empty() {
            let _ = writeln!(text, "{}\n", words::FIRST_PASSING);
            text.extend(passing.iter().map(of_finding));
        }
    }
    text += &hold_out(report);
    if report.columns.len() > 1 {
        text += "## Where the first of one definition stand under the others\n\n";
        text += "Mean rank divided by the worst rank plus 1; columns are numbered as rows.\n\n";
        let _ = writeln!(text, "{}", overview::aggregated_rankings(report).markdown());
    }
    text += "## Made from\n\n";
    let record = report.record;
    let mut line = |what: &str, name: &str, hash: &Option<String>| {
        let hash = hash
            .as_ref()
            .map_or_else(String::new, |hash| format!(", SHA-256 `{hash}`"));
        let _ = writeln!(text, "- {what}: {}{hash}", escape(name));
    };
    line("Data", &record.data.name, &record.data.sha256);
    line("Model", &record.model.spec, &record.model.sha256);
    line("Tool", &format!("{}, {}", record.tool, record.made), &None);
    text
}

/// What the people who were held out say of findings; nothing if nobody was.
fn hold_out(report: &Report<'_>) -> String {
    words::hold_out(report).map_or_else(String::new, |about| {
        let grid = grids::hold_out(report).markdown();
        format!("## Hold-out\n\n{}\n\n{grid}\n", escape(&about))
    })
}

fn of_finding(csc: &Csc) -> String {
    let rank = csc.standing();
    let grey = if csc.is_grey() {
        " (does not pass)"
    } else {
        ""
    };
    let mut text = format!("**{rank}{grey}: if {}**\n\n", escape(&csc.predicate));
    for group in &csc.groups {
        let _ = writeln!(
            text,
            "- {}, {} covered ({} of {})",
            escape(group.name.trim()),
            percent(Share::new(group.members, group.affected)),
            count(group.members),
            count(group.affected)
        );
        if let Some(none) = &group.none {
            let _ = writeln!(text, "  - {}", escape(none));
        }
        for action in &group.actions {
            let _ = writeln!(
                text,
                "  - Make {} with effectiveness **{}** (cost {}{})",
                escape(&action.change),
                effectiveness(action.flips, group.members),
                number(action.cost),
                words::of_effectiveness(action.interval.as_ref(), &csc.confidence())
            );
        }
    }
    let verdict = if csc.against.is_empty() {
        "Fair.".to_owned()
    } else {
        let against: Vec<String> = csc.against.iter().map(|name| escape(name.trim())).collect();
        format!(
            "Bias against **{}**. Unfairness score = **{}**.",
            against.join(" and "),
            number(csc.score)
        )
    };
    let _ = writeln!(text, "\n{verdict} Finding `{}`.\n", csc.finding);
    let support: Vec<String> = words::lines(csc).iter().map(|line| escape(line)).collect();
    if !support.is_empty() {
        let _ = writeln!(text, "{}\n", support.join(" "));
    }
    let stability = csc.evidence.as_ref().and_then(|e| e.stability.as_ref());
    text + &stability.map_or_else(String::new, folded)
}

/// The table of variants, folded where Markdown is shown as a page.
fn folded(followed: &Followed) -> String {
    format!(
        "<details><summary>{}</summary>\n\n{}\n</details>\n\n",
        words::holds(followed),
        grids::variants(followed).markdown()
    )
}
