//! CSV: a sheet as text, for spreadsheets and scripts. An infinite number is `inf`.

use crate::sheets::{Cells, Sheet};

/// A sheet as CSV, with a heading.
pub fn csv(sheet: &Sheet) -> Vec<u8> {
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
        assert_eq!(csv(&sheet), expected.as_bytes());
    }
}
