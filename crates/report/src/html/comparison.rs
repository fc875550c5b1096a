//! Two audits compared, and a series of them, as one HTML page.

use askama::Template;

use super::{STYLE, style_only};
use crate::diff::{Diff, Trend};
use crate::grid::Grid;
use crate::text::Palette;

#[derive(Template)]
#[template(path = "comparison.html")]
struct Comparison<'a> {
    policy: String,
    style: &'a str,
    title: &'a str,
    series: Option<Series<'a>>,
    two: Option<Two<'a>>,
}

struct Series<'a> {
    class: &'static str,
    word: &'static str,
    sentence: &'a str,
    table: String,
}

/// Two audits beside each other.
struct Two<'a> {
    heading: Option<&'a str>,
    warnings: &'a [String],
    people: Option<People>,
    about: Vec<String>,
    summary: String,
    sections: Vec<Section<'a>>,
}

struct People {
    class: &'static str,
    trend: &'static str,
    sentence: String,
    table: String,
}

struct Section<'a> {
    title: &'a str,
    lines: Vec<String>,
    more: usize,
}

/// The page of two audits, with at most `top` findings of each sort and definition.
pub(crate) fn comparison(diff: &Diff, top: usize) -> String {
    render(&Comparison {
        policy: style_only(),
        style: STYLE,
        title: "Two audits compared",
        series: None,
        two: Some(Two::new(diff, None, top)),
    })
}

/// The page of a series: a sentence, whether anything changed, its table, and one look with its heading.
pub(crate) fn series(
    sentence: &str,
    changed: bool,
    table: &Grid,
    look: Option<(&str, &Diff)>,
    top: usize,
) -> String {
    let (class, word) = if changed {
        ("unfair", "Changed")
    } else {
        ("open", "No change shown")
    };
    render(&Comparison {
        policy: style_only(),
        style: STYLE,
        title: "Audits over time",
        series: Some(Series {
            class,
            word,
            sentence,
            table: table.html(),
        }),
        two: look.map(|(heading, diff)| Two::new(diff, Some(heading), top)),
    })
}

impl<'a> Two<'a> {
    fn new(diff: &'a Diff, heading: Option<&'a str>, top: usize) -> Self {
        let people = diff.people.as_ref().map(|people| People {
            class: match people.trend {
                Trend::Better => "fair",
                Trend::Worse => "unfair",
                Trend::Mixed | Trend::TooClose => "open",
            },
            trend: people.trend.words(),
            sentence: people.sentence(),
            table: people.table().html(),
        });
        let sections = diff.sections(top).map(|(title, shown, more)| Section {
            title,
            lines: shown
                .iter()
                .map(|changed| changed.text(diff.alpha, &Palette::PLAIN))
                .collect(),
            more,
        });
        Self {
            heading,
            warnings: &diff.warnings,
            people,
            about: diff.about(),
            summary: diff.summary().html(),
            sections: sections.collect(),
        }
    }
}

fn render(page: &Comparison<'_>) -> String {
    page.render()
        .expect("a template over strings and numbers, written to memory, does not fail")
}
