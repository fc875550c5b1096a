//! CSV: a sheet as text, for spreadsheets and scripts. An infinite number is `inf`.

use std::borrow::Cow;

use crate::sheets::{Cells, Sheet};

/// What becomes of texts that a spreadsheet would take for a formula: names and levels come from outside, and a
/// formula can send what stands beside it elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// They stay as they are in the table: for programs.
    #[default]
    Kept,
    /// An apostrophe in front makes them text: for spreadsheets.
    Disarmed,
}

/// A sheet as CSV, with a heading.
pub fn csv(sheet: &Sheet, formulas: Formulas) -> Vec<u8> {
    let quoted = |text: &str| quoted(&formulas.in_cell(text));
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        for (c, cell) in cells.enumerate() {
            if c > 0 {
                text.push(',');
            }
            text += &cell;
        }
        text.push('\n');
    };
    line(&mut sheet.columns.iter().map(|(name, _)| quoted(name)));
    for row in 0..sheet.rows() {
        line(&mut sheet.columns.iter().map(|(_, cells)| match cells {
            Cells::Text(cells) => quoted(&cells[row]),
            Cells::Count(cells) => cells[row].map_or_else(String::new, |n| n.to_string()),
            Cells::Number(cells) => cells[row].map_or_else(String::new, number),
            Cells::Flag(cells) => cells[row].map_or_else(String::new, |is_so| is_so.to_string()),
        }));
    }
    text.into_bytes()
}

impl Formulas {
    fn in_cell(self, text: &str) -> Cow<'_, str> {
        let starts_one =
            text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
        match self {
            Self::Disarmed if starts_one => Cow::Owned(format!("'{text}")),
            Self::Disarmed | Self::Kept => Cow::Borrowed(text),
        }
    }
}

/// A number to its last digit; a tiny one, such as a p-value, with an exponent.
fn number(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-5 {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

/// Text as a CSV field; quoted only where that is needed.
fn quoted(text: &str) -> String {
    let blank_ends = text.starts_with(' ') || text.ends_with(' ');
    if blank_ends || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        let sheet = Sheet {
            columns: vec![
                (
                    "say \"a\"".into(),
                    Cells::Text(vec!["x, y".into(), "z".into()]),
                ),
                ("n".into(), Cells::Count(vec![Some(3), None])),
                (
                    "cost".into(),
                    Cells::Number(vec![Some(f64::INFINITY), Some(0.25)]),
                ),
                ("p".into(), Cells::Number(vec![Some(1.5e-290), Some(0.0)])),
                ("passes".into(), Cells::Flag(vec![Some(true), None])),
            ],
        };
        let expected =
            "\"say \"\"a\"\"\",n,cost,p,passes\n\"x, y\",3,inf,1.5e-290,true\nz,,0.25,0,\n";
        assert_eq!(csv(&sheet, Formulas::Kept), expected.as_bytes());
        assert_eq!(csv(&sheet, Formulas::Disarmed), expected.as_bytes());
    }

    #[test]
    fn formulas_become_text_where_that_is_asked_for() {
        let texts = ["=HYPERLINK(\"x\",1)", "-cmd", "@sum", "\t=1", "a = 1", "-"];
        let sheet = Sheet {
            columns: vec![
                ("=1+1".into(), Cells::Text(texts.map(str::to_owned).into())),
                ("score".into(), Cells::Number(vec![Some(-0.5); 6])),
            ],
        };
        let text = |formulas| String::from_utf8(csv(&sheet, formulas)).unwrap();
        let expected = "'=1+1,score\n\"'=HYPERLINK(\"\"x\"\",1)\",-0.5\n'-cmd,-0.5\n'@sum,-0.5\n'\t=1,-0.5\na = 1,-0.5\n'-,-0.5\n";
        assert_eq!(text(Formulas::Disarmed), expected);
        assert!(text(Formulas::Kept).starts_with("=1+1,score\n\"=HYPERLINK"));
    }
}
