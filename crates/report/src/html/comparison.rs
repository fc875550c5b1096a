//! Two audits compared, as one HTML page.

use askama::Template;

use super::{STYLE, style_only};
use crate::diff::{Diff, Trend};
use crate::text::Palette;

#[derive(Template)]
#[template(path = "comparison.html")]
struct Comparison<'a> {
    policy: String,
    style: &'a str,
    warnings: &'a [String],
    people: Option<People>,
    unchanged: String,
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

/// The page, with at most `top` findings of each sort and definition.
pub(crate) fn comparison(diff: &Diff, top: usize) -> String {
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
            .map(|changed| changed.text(&Palette::PLAIN))
            .collect(),
        more,
    });
    let page = Comparison {
        policy: style_only(),
        style: STYLE,
        warnings: &diff.warnings,
        people,
        unchanged: diff.about_unchanged().trim().to_owned(),
        summary: diff.summary().html(),
        sections: sections.collect(),
    };
    page.render()
        .expect("a template over strings and numbers, written to memory, does not fail")
}
