//! Text in a page: no part of it is taken for HTML, and none turns the direction of writing.

use std::fmt;

use askama::filters::{Escaper, Html};

use crate::text::visible_lines;

/// How the templates write all text; `askama.toml` names it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visible;

impl Escaper for Visible {
    fn write_escaped_str<W: fmt::Write>(&self, dest: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(dest, &visible_lines(text))
    }
}
