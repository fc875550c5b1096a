//! The report as one HTML page that needs nothing else: no network, no server, no other file.
//!
//! What matters is text and drawings in the page itself ([`page`] gathers it, `templates/` lays it out), so it
//! reads without a script and prints. At addresses that begin with `#/` the page shows the explorer instead:
//! the views of `facts serve`, built from the same source (`crates/serve/web`) into `assets/explorer`, over the
//! [`payload`], which holds what the engine counted, compressed. The script shows; it does not count again.
//!
//! Text from data is made visible wherever it is shown: by the templates' escaper ([`escape`]), and by the script in
//! one place, so that the payload holds names as they are.
//!
//! The page forbids itself everything but its own styles and scripts, which it names by hash: a
//! level called `<script>` would not run even if it were not escaped.

mod comparison;
pub(crate) mod escape;
mod page;
mod payload;
mod terms;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(crate) use self::comparison::{comparison, series};
use self::page::{Document, Page};
pub use self::page::{plot, plot_marks, plot_style};
use crate::report::Report;

const STYLE: &str = concat!(
    include_str!("assets/report.css"),
    include_str!("assets/plots.css"),
    include_str!("assets/print.css"),
);

/// The explorer's style, which takes the place of the report's while the explorer is shown.
const EXPLORER_STYLE: &str = include_str!("assets/explorer/explorer.css");

const SCRIPT: &str = include_str!("assets/explorer/explorer.js");

/// The report as one self-contained HTML page.
pub fn html(report: &Report<'_>) -> String {
    let document = Document {
        policy: &policy(),
        style: STYLE,
        explorer_style: EXPLORER_STYLE,
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
        "default-src 'none'; script-src {}; style-src {} {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
        hash(EXPLORER_STYLE)
    )
}
