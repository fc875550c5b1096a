//! Writing JSON cell by cell: a batch of rows as a tree of values would take ten times its size.

use std::io::Write;

use crate::cells::Cell;

/// One value. A float keeps its point, so that it stays a float on the other side.
pub(super) fn cell(body: &mut Vec<u8>, cell: Cell<'_>) {
    // Writing to memory cannot fail.
    let _ = match cell {
        Cell::Null => body.write_all(b"null"),
        Cell::Boolean(value) => write!(body, "{value}"),
        Cell::Integer(value) => write!(body, "{value}"),
        Cell::Unsigned(value) => write!(body, "{value}"),
        Cell::Float(value) => write!(body, "{value:?}"),
        Cell::Text(value) => {
            text(body, value);
            Ok(())
        }
    };
}

/// A string, quoted.
pub(super) fn text(body: &mut Vec<u8>, text: &str) {
    // Neither the text nor the memory can make it fail.
    let _ = serde_json::to_writer(body, text);
}

/// Things with commas between them.
pub(super) fn separated<T>(
    body: &mut Vec<u8>,
    things: &[T],
    mut write: impl FnMut(&mut Vec<u8>, &T),
) {
    for (i, thing) in things.iter().enumerate() {
        if i > 0 {
            body.push(b',');
        }
        write(body, thing);
    }
}

/// The beginning of a long text, for error messages.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
