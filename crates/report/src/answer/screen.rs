//! The first screen: the answer in at most 30 lines of 100 columns, and its stories in full.

use anstyle::Style;
use facts_engine::answer::{GroupPeople, Verdict};

use super::{Answered, StoryRow, words};
use crate::grid::{Grid, Side};
use crate::overview;
use crate::report::Report;
use crate::text::{Palette, count, hanging, number, styled};

/// The most lines of the first screen.
const LINES: usize = 30;

/// So many groups stand on the first screen.
const GROUPS: usize = 6;

/// What the first screen says of an audit that has no answer.
const NO_ANSWER: &str =
    "This audit was saved before there was an answer to show; make it again to have one.";

/// The answer of an audit, in at most 30 lines: what yes means and who was left out, the verdict, who is
/// refused and has a way, who loses most, what was assumed, and what to do `next`.
pub fn first_screen(report: &Report<'_>, next: &[String], palette: &Palette) -> String {
    let Some(answered) = report.answered() else {
        return format!("{NO_ANSWER}\n");
    };
    // Whatever does not fit is one command away.
    let mut screen = Vec::new();
    let shorter = [(3, 3), (3, 2), (3, 1), (3, 0), (2, 0), (1, 0), (0, 0)];
    for (stories, whys) in shorter {
        screen = lines(&answered, stories, whys, next, palette);
        if screen.len() <= LINES {
            break;
        }
    }
    screen.truncate(LINES);
    screen.into_iter().map(|line| line + "\n").collect()
}

fn lines(
    answered: &Answered<'_>,
    stories: usize,
    whys: usize,
    next: &[String],
    palette: &Palette,
) -> Vec<String> {
    let mut lines = wrapped(&about(answered.report), "", Style::new());
    lines.push(String::new());
    lines.push(styled(
        style(answered, palette),
        words::verdict(answered).to_uppercase(),
    ));
    let sentences = [words::headline(answered), words::reason(answered)];
    lines.extend(wrapped(&sentences.join(" "), "", palette.who));
    lines.push(String::new());
    lines.extend(people(answered, GROUPS).text(2).lines().map(str::to_owned));
    if let Some(ratio) = answered.compared().and_then(|c| words::ratio(answered, &c)) {
        lines.extend(wrapped(&ratio, "  ", Style::new()));
    }
    let all = answered.stories();
    if !all.is_empty() && stories > 0 {
        lines.push(String::new());
        let of = if all.len() > stories {
            format!(", the first of {} stories", all.len())
        } else {
            String::new()
        };
        let heading = format!("Who loses most{of} (different people in each)");
        lines.push(styled(palette.heading, heading));
        for story in all.iter().take(stories) {
            lines.extend(numbered(story, story.number <= whys, palette));
        }
    }
    lines.push(String::new());
    lines.extend(assumed(answered, palette));
    for line in next {
        lines.extend(wrapped(line, "", palette.aside));
    }
    lines
}

/// What was audited, what a yes is, and who was left out.
pub fn about(report: &Report<'_>) -> String {
    let record = report.record;
    let population = &record.audit.population;
    let before = record
        .model
        .training
        .as_ref()
        .map_or(0, |fitted| fitted.left_out);
    let left_out: Vec<String> = [
        (population.dropped + before, "miss a value"),
        (population.excluded, "miss the protected value"),
    ]
    .into_iter()
    .filter(|(rows, _)| *rows > 0)
    .map(|(rows, why)| format!("{} rows {why}", count(rows)))
    .collect();
    let aside: Vec<String> = (record.audit.set_aside.iter())
        .map(|group| format!("{} ({})", group.name.trim(), group.why))
        .collect();
    let aside = match aside.len() {
        0 => None,
        1..=3 => Some(format!("not compared: {}", words::listed(&aside, "and"))),
        more => Some(format!("not compared: {more} groups, named in the report")),
    };
    let left_out = match left_out.as_slice() {
        [] => None,
        parts => Some(format!("left out: {}", words::listed(parts, "and"))),
    };
    let left_out: Vec<String> = left_out.into_iter().chain(aside).collect();
    let left_out = match left_out.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join("; ")),
    };
    format!(
        "{}: {} people by {}{left_out}. Yes means: {}.",
        record.data.name,
        count(population.people),
        record.protected.join(" × "),
        record.yes_means(),
    )
}

fn style(answered: &Answered<'_>, palette: &Palette) -> Style {
    match answered.answer.verdict {
        Some(Verdict::Unfair { .. }) => palette.bias,
        Some(Verdict::FairWithin { .. }) => palette.fair,
        _ => palette.who,
    }
}

/// Who is refused and who has a way out, by group; the first `groups` of them.
pub fn people(answered: &Answered<'_>, groups: usize) -> Grid {
    let sureness = words::sureness(answered);
    let mut grid = Grid::new([
        ("group".to_owned(), Side::Left),
        ("people".to_owned(), Side::Right),
        ("refused".to_owned(), Side::Right),
        (String::new(), Side::Right),
        ("with a way out".to_owned(), Side::Right),
        (format!("({sureness} interval)"), Side::Left),
        (BY_COST.to_owned(), Side::Left),
        ("median cost".to_owned(), Side::Right),
    ]);
    let dearest = answered
        .answer
        .people
        .iter()
        .flat_map(|people| &people.ways);
    let dearest = dearest.flatten().map(|ways| ways.cost).fold(0.0, f64::max);
    let rows = answered.people();
    let numbered = rows.iter().zip(&answered.answer.people).enumerate();
    for (g, (row, group)) in numbered.take(groups) {
        let open = group.open();
        let interval = row.open_interval.map(|interval| {
            format!(
                "{} ({} to {})",
                open.map_or_else(String::new, |open| words::short_percent(open.ratio())),
                words::short_percent(interval.low),
                words::short_percent(interval.high)
            )
        });
        grid.row([
            answered.called(g),
            count(row.people),
            count(row.refused),
            words::short_percent(group.burden().ratio()),
            row.with_a_way
                .map_or_else(|| "too few to tell".to_owned(), count),
            interval.unwrap_or_default(),
            by_cost(group, dearest),
            row.median_cost.map_or_else(|| "–".to_owned(), number),
        ]);
    }
    if rows.len() > groups {
        grid.row([format!("and {} more groups", rows.len() - groups)]);
    }
    grid
}

/// The same where the plot stands beside it: each column with a heading.
pub fn people_beside_plot(answered: &Answered<'_>) -> Grid {
    let interval = format!("({} interval)", words::sureness(answered));
    people(answered, usize::MAX)
        .without(BY_COST)
        .renamed("", "share refused")
        .renamed(&interval, &format!("share with a way {interval}"))
}

/// The heading of the small plots.
const BY_COST: &str = "by cost";

/// Steps of the small plots.
const STEPS: usize = 10;

/// The share of the refused who have a way, as the cost grows to that of the dearest way.
fn by_cost(group: &GroupPeople, dearest: f64) -> String {
    let blocks = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let at = |step: usize| {
        let open = group.open_within(dearest * step as f64 / STEPS as f64)?;
        let eighths = (open.ratio() * 8.0).round() as usize;
        // Somebody is not nobody.
        Some(blocks[if open.part > 0 { eighths.max(1) } else { 0 }])
    };
    (1..=STEPS).filter_map(at).collect()
}

/// A story as it stands on the first screen.
fn numbered(story: &StoryRow, with_why: bool, palette: &Palette) -> Vec<String> {
    let number = format!("{}. ", story.number);
    let mut lines = hanging(&story.sentence, &number, "   ", Style::new());
    if let Some(why) = story.why_sentence.as_ref().filter(|_| with_why) {
        lines.extend(wrapped(&format!("Why: {why}"), "   ", palette.aside));
    }
    lines
}

/// A remark as a sentence: with a capital and a full stop.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let sentence = first.unwrap_or_default() + letters.as_str();
    if sentence.ends_with('.') {
        sentence
    } else {
        sentence + "."
    }
}

/// What was assumed, and what a cost is, in few lines.
fn assumed(answered: &Answered<'_>, palette: &Palette) -> Vec<String> {
    let record = answered.report.record;
    let mut lines = Vec::new();
    if !record.assumptions.is_empty() {
        let said = record.assumptions.iter().map(|said| sentence(said));
        let said = said.collect::<Vec<_>>().join(" ");
        let mut said = wrapped(&said, "", palette.aside);
        if said.len() > 4 {
            said.truncate(3);
            said.push(styled(palette.aside, "… the rest is in the report."));
        }
        lines.extend(said);
    }
    lines.extend(
        wrapped(&words::cost_unit(&record.audit), "", palette.aside)
            .into_iter()
            .take(2),
    );
    lines
}

/// Text in lines of at most 100 columns, all indented alike.
fn wrapped(text: &str, indent: &str, style: Style) -> Vec<String> {
    hanging(text, indent, indent, style)
}

/// All stories, each with what it is made of.
pub fn stories(report: &Report<'_>, palette: &Palette) -> String {
    let Some(answered) = report.answered() else {
        return format!("{NO_ANSWER}\n");
    };
    let all = answered.stories();
    if all.is_empty() {
        return format!("No story to tell: {}\n", words::reason(&answered));
    }
    let mut text = String::new();
    for row in &all {
        text += &in_full(row, palette);
        text.push('\n');
    }
    text
}

/// One story in full, by its number from 1; none if there is no such story.
pub fn story(report: &Report<'_>, wanted: usize, palette: &Palette) -> Option<String> {
    let answered = report.answered()?;
    let row = answered
        .stories()
        .into_iter()
        .find(|row| row.number == wanted)?;
    let mut text = in_full(&row, palette);
    text += &format!("\n{}\n", styled(palette.heading, "All definitions"));
    text += &overview::all_definitions(report, row.subgroup).text(2);
    text += &format!(
        "\n{}\n",
        styled(palette.heading, "Effectiveness–cost distribution")
    );
    text += &overview::distributions(report, row.subgroup).text(2);
    Some(text)
}

/// A story with its people, reasons, sharper parts and definitions.
fn in_full(row: &StoryRow, palette: &Palette) -> String {
    let mut lines = vec![styled(
        palette.heading,
        format!("Story {}: {}", row.number, row.predicate),
    )];
    lines.extend(wrapped(&row.sentence, "  ", Style::new()));
    if let Some(why) = &row.why_sentence {
        lines.extend(wrapped(&format!("Why: {why}"), "  ", palette.aside));
    }
    for (predicate, gap) in &row.sharper {
        let sharper = format!("Sharper inside: {predicate} ({})", words::points(*gap));
        lines.extend(wrapped(&sharper, "  ", palette.aside));
    }
    let passing = row.definitions.iter().filter(|d| d.passes == Some(true));
    let passing: Vec<String> = passing
        .map(|d| format!("{} against {}", d.title, words::listed(&d.against, "and")))
        .collect();
    if !passing.is_empty() {
        let tested = row
            .definitions
            .iter()
            .filter(|d| d.passes.is_some())
            .count();
        let said = format!(
            "Passes under {} of {tested} definitions: {}.",
            passing.len(),
            words::listed(&passing, "and")
        );
        lines.extend(wrapped(&said, "  ", palette.aside));
    }
    let others = row.stands_for.saturating_sub(1);
    if others > 0 {
        let said = format!(
            "Stands for {} more sets of people that pass.",
            count(others as u64)
        );
        lines.extend(wrapped(&said, "  ", palette.aside));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}
