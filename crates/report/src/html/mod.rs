//! The report as one HTML page that needs nothing else: no network, no server, no other file.
//!
//! What matters is text in the page itself ([`page`] gathers it, `templates/` lays it out), so it
//! reads without a script and prints. The table of all subgroups, the subgroups one opens, and the
//! charts are drawn by the scripts in `assets/` from the [`payload`], which holds what the engine
//! counted, compressed. The scripts show; they do not count again.
//!
//! The page forbids itself everything but its own styles and scripts, which it names by hash: a
//! level called `<script>` would not run even if it were not escaped.

mod comparison;
mod page;
mod payload;
mod terms;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(crate) use self::comparison::{comparison, series};
use self::page::{Document, Page};
use crate::report::Report;

const STYLE: &str = concat!(
    include_str!("assets/vendor/uplot/uPlot.min.css"),
    include_str!("assets/report.css"),
    include_str!("assets/print.css"),
);

const CHARTING: &str = include_str!("assets/vendor/uplot/uPlot.iife.min.js");

/// One module in several files: what a later one uses, an earlier one declares.
const SCRIPT: &str = concat!(
    include_str!("assets/format.js"),
    include_str!("assets/shares.js"),
    include_str!("assets/payload.js"),
    include_str!("assets/conditions.js"),
    include_str!("assets/elements.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/finding.js"),
    include_str!("assets/explorer.js"),
    include_str!("assets/main.js"),
);

/// The report as one self-contained HTML page.
pub fn html(report: &Report<'_>) -> String {
    let document = Document {
        policy: &policy(),
        style: STYLE,
        charting: CHARTING,
        script: SCRIPT,
        payload: &payload::encode(report),
        page: &Page::new(report),
    };
    document
        .render()
        .expect("a template over strings and numbers, written to memory, does not fail")
}

/// The name by which a policy admits a style or a script.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// What a page without scripts may do: apply the style that it carries.
fn style_only() -> String {
    format!(
        "default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

/// What the page may do: run and apply what it carries, and nothing else.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(CHARTING),
        hash(SCRIPT),
        hash(STYLE)
    )
}
