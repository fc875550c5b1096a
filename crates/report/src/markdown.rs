//! Markdown, for pull requests, wikis and notes.

use std::fmt::Write;

use facts_engine::distribution::Share;

use crate::csc::Csc;
use crate::grid::escape;
use crate::overview;
use crate::report::{Report, Showing};
use crate::text::{count, effectiveness, number, percent};

/// The report as Markdown.
pub fn markdown(report: &Report<'_>, showing: &Showing) -> String {
    let mut text = format!(
        "# Fairness of recourse: {}\n\n",
        escape(&report.record.data.name)
    );
    // Writing to a string cannot fail.
    for (name, fact) in overview::facts(report) {
        let _ = writeln!(text, "- **{name}**: {}", escape(&fact));
    }
    let _ = writeln!(text, "\n{}", overview::groups(report).markdown());
    text += "## Against whom\n\n";
    let _ = writeln!(text, "{}", overview::ranking_analysis(report).markdown());
    for column in &report.columns {
        let _ = writeln!(text, "## {}\n", escape(&column.ranking.title));
        if let Some(kind) = column.kind() {
            let _ = writeln!(text, "{} {}\n", kind.about, kind.worse_off);
        }
        let findings = report.findings(column, showing);
        if findings.is_empty() {
            text += "No finding.\n\n";
        }
        for finding in &findings {
            text += &of_finding(finding);
        }
    }
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

fn of_finding(csc: &Csc) -> String {
    let rank = csc
        .rank
        .map_or_else(|| "Fair".to_owned(), |rank| format!("Rank {rank}"));
    let mut text = format!("**{rank}: if {}**\n\n", escape(&csc.predicate));
    for group in &csc.groups {
        let _ = writeln!(
            text,
            "- {}, {} covered ({} of {})",
            escape(group.name.trim()),
            percent(Share::new(group.members, group.affected)),
            count(group.members),
            count(group.affected)
        );
        if group.recourses.is_empty() {
            text += "  - No recourse for this subgroup.\n";
        }
        for action in &group.recourses {
            let _ = writeln!(
                text,
                "  - Make {} with effectiveness **{}** (cost {})",
                escape(&action.change),
                effectiveness(action.flips, group.members),
                number(action.cost)
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
    text + &format!("\n{verdict} Finding `{}`.\n\n", csc.finding)
}
