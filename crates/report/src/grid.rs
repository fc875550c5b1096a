//! Small tables of text, for the terminal and for Markdown.

use std::fmt::Write;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::text::visible;

/// Which side the cells of a column stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table of text with a heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table with these columns and no rows.
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, Side)>) -> Self {
        Self {
            columns: columns
                .into_iter()
                .map(|(h, side)| (visible(&h.into()), side))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells that are missing are blank.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(|cell| visible(&cell.into()));
        self.rows.push(cells.collect());
    }

    /// Without the columns of this name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        let gone = |c: usize| self.columns.get(c).is_some_and(|(known, _)| known == name);
        for row in &mut self.rows {
            let cells = row.drain(..).enumerate();
            *row = cells
                .filter(|&(c, _)| !gone(c))
                .map(|(_, cell)| cell)
                .collect();
        }
        self.columns.retain(|(known, _)| known != name);
        self
    }

    /// With another heading for the columns of this name.
    pub(crate) fn renamed(mut self, name: &str, to: &str) -> Self {
        for (known, _) in &mut self.columns {
            if known == name {
                *known = visible(to);
            }
        }
        self
    }

    /// As aligned text, each line indented.
    pub fn text(&self, indent: usize) -> String {
        let headings: Vec<String> = self.columns.iter().map(|(h, _)| h.clone()).collect();
        let lines = || std::iter::once(&headings).chain(&self.rows);
        let cell = |line: &Vec<String>, c: usize| line.get(c).map_or(0, |cell| cell.width());
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|c| lines().map(|line| cell(line, c)).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for line in lines() {
            let mut row = " ".repeat(indent);
            for (c, ((_, side), width)) in self.columns.iter().zip(&widths).enumerate() {
                let cell = line.get(c).map_or("", String::as_str);
                let blanks = " ".repeat(width - cell.width());
                let gap = if c == 0 { "" } else { "  " };
                row += gap;
                match side {
                    Side::Left => row.extend([cell, &blanks]),
                    Side::Right => row.extend([blanks.as_str(), cell]),
                }
            }
            text += row.trim_end();
            text.push('\n');
        }
        text
    }

    /// As an HTML table.
    pub(crate) fn html(&self) -> String {
        let cell = |tag: &str, text: &str, side: Side| {
            let class = match side {
                Side::Left => "",
                Side::Right => " class=\"number\"",
            };
            let text = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            format!("<{tag}{class}>{text}</{tag}>")
        };
        let row = |tag: &str, cells: &[String]| {
            let sides = self.columns.iter().map(|(_, side)| *side);
            let cells = cells
                .iter()
                .map(String::as_str)
                .chain(std::iter::repeat(""));
            let cells: String = sides
                .zip(cells)
                .map(|(side, text)| cell(tag, text, side))
                .collect();
            format!("<tr>{cells}</tr>")
        };
        let headings: Vec<String> = self.columns.iter().map(|(h, _)| h.clone()).collect();
        let rows: String = self.rows.iter().map(|cells| row("td", cells)).collect();
        format!(
            "<table><thead>{}</thead><tbody>{rows}</tbody></table>",
            row("th", &headings)
        )
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(&mut self.columns.iter().map(|(h, _)| escape(h)));
        line(&mut self.columns.iter().map(|(_, side)| match side {
            Side::Left => "---".to_owned(),
            Side::Right => "---:".to_owned(),
        }));
        for row in &self.rows {
            let cell = |c: usize| row.get(c).map_or_else(String::new, |cell| escape(cell));
            line(&mut (0..self.columns.len()).map(cell));
        }
        text
    }
}

/// Text as it can stand in Markdown, in a table too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Lines and tabs become blanks, other controls signs.
    let text = text.replace(['\n', '\r', '\t'], " ");
    for character in visible(&text).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' => {
                escaped.extend(['\\', character]);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new([("group", Side::Left), ("people", Side::Right)]);
        grid.row(["Female", "4,176"]);
        grid.row(["男|性", "63"]);
        grid
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        assert_eq!(
            grid().text(2),
            "  group   people\n  Female   4,176\n  男|性       63\n"
        );
    }

    #[test]
    fn markdown_cannot_be_broken_by_data() {
        assert_eq!(
            grid().markdown(),
            "| group | people |\n| --- | ---: |\n| Female | 4,176 |\n| 男\\|性 | 63 |\n"
        );
        assert_eq!(escape("a\n<b>_c_"), "a \\<b\\>\\_c\\_");
        assert_eq!(escape("a\u{1b}[2J\u{202e}b"), "a␛\\[2J\u{fffd}b");
    }
}
