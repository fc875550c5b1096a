//! Whatever is written as CSV is read back as it was.

use facts_input::csv::{ColumnType, Header};
use proptest::prelude::*;

use super::*;

/// Text made of everything that is special, and of some that is not.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        ",", ";", "\t", "|", "'", "\"", "\n", "\r", "\r\n", " ", "a", "0", "é", "漢", "🙂", "\0",
    ]);
    prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

fn rows() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1..5usize).prop_flat_map(|width| {
        let row = prop::collection::vec(text(), width);
        prop::collection::vec(row, 1..8)
    })
}

fn written(
    rows: &[Vec<String>],
    delimiter: char,
    quote: char,
    line_end: &str,
    needless_quotes: bool,
) -> String {
    let field = |text: &String| {
        let special = [delimiter, quote, '\n', '\r'];
        if needless_quotes || text.is_empty() || text.contains(special) {
            let doubled = text.replace(quote, &format!("{quote}{quote}"));
            format!("{quote}{doubled}{quote}")
        } else {
            text.clone()
        }
    };
    let line = |row: &Vec<String>| {
        let fields: Vec<String> = row.iter().map(field).collect();
        fields.join(&delimiter.to_string()) + line_end
    };
    rows.iter().map(line).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        rows in rows(),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|', ' ']),
        quote in prop::sample::select(vec!['"', '\'']),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        needless_quotes: bool,
    ) {
        let names: Vec<String> = (0..rows[0].len()).map(|at| format!("c{at}")).collect();
        let options = csv(|o| {
            o.delimiter = Some(delimiter as u8);
            o.quote = Some(quote as u8);
            // Blank fields that are not quoted are values here, not nulls.
            o.trim = false;
            o.types = names.iter().map(|name| (name.clone(), ColumnType::Text)).collect();
            o.header = Header::Names(names.clone());
        });
        let text = written(&rows, delimiter, quote, line_end, needless_quotes);
        let mut found = cells(read("t.csv", text, &options).unwrap()).unwrap();
        prop_assert_eq!(found.remove(0), names);
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(
        bytes in prop::collection::vec(
            prop::sample::select(b"\"\"\",,;\n\n\r a1.-\xc3\xa9\xff\0".to_vec()),
            0..60,
        ),
        trim: bool,
    ) {
        if let Ok(table) = read("t.csv", bytes, &csv(|o| o.trim = trim)) {
            let width = table.schema().fields().len();
            let rows = cells(table).unwrap();
            prop_assert!(rows.iter().all(|row| row.len() == width));
        }
    }
}
