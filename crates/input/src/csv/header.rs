//! Records to rows of a table: the columns' names, and one field a column.

use std::collections::{HashMap, HashSet};

use super::records::{Record, Records};
use super::{ColumnType, CsvOptions, Duplicates, Header};
use crate::columns;
use crate::error::InputError;

/// Records that all have one field a column.
pub(super) struct Rows {
    records: Records,
    trim: bool,
    /// The first record, where it is data.
    first: Option<Record>,
    /// What says how many fields there are, for errors.
    expected_by: &'static str,
}

impl Rows {
    /// Reads the header, if there is one.
    pub(super) fn start(mut records: Records, options: &CsvOptions) -> Result<Self, InputError> {
        let mut first = Record::default();
        loop {
            if !records.next(&mut first)? {
                let file = records.file().into();
                return Err(InputError::Empty(file));
            }
            if !is_blank(&first, options.trim) {
                break;
            }
        }
        let (names, expected_by) = match &options.header {
            Header::FirstLine => (header_names(&records, &first)?, "the header has"),
            Header::Absent => {
                let names = (0..first.width()).map(numbered);
                (names.collect(), "the first line has")
            }
            Header::Names(names) => (names.clone(), "the list of column names has"),
        };
        columns::refuse_too_many(records.file(), names.len())?;
        let names = distinct(records.file(), names, options)?;
        records.set_names(names);
        let is_data = options.header != Header::FirstLine;
        let rows = Self {
            records,
            trim: options.trim,
            first: None,
            expected_by,
        };
        if is_data {
            rows.check_width(&first)?;
        }
        Ok(Self {
            first: is_data.then_some(first),
            ..rows
        })
    }

    pub(super) fn names(&self) -> &[String] {
        self.records.names()
    }

    /// Reads the next row; `false` at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, InputError> {
        if let Some(first) = self.first.take() {
            *record = first;
            return Ok(true);
        }
        while self.records.next(record)? {
            if self.names().len() > 1 && is_blank(record, self.trim) {
                continue;
            }
            self.check_width(record)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn check_width(&self, record: &Record) -> Result<(), InputError> {
        let (found, expected) = (record.width(), self.names().len());
        if found == expected {
            return Ok(());
        }
        Err(InputError::Ragged {
            at: self.records.place(record.line(), None),
            found,
            expected_by: self.expected_by,
            expected,
            delimiter: self.records.delimiter(),
        })
    }

    /// The error for a value that its column's type has no room for.
    pub(super) fn misfit(&self, record: &Record, field: usize, kind: ColumnType) -> InputError {
        let value = record.field(field);
        let advice = if value != value.trim() && !self.trim {
            "read with trim, which ignores the blanks around numbers, or give the column the type text"
        } else {
            "give the column the type text, or list this value in nulls if it means that none is known"
        };
        InputError::BadValue {
            at: self.records.place(record.line_of(field), Some(field)),
            value: value.into(),
            kind,
            advice,
        }
    }
}

fn is_blank(record: &Record, trim: bool) -> bool {
    let text = || record.field(0);
    record.width() == 1
        && !record.is_quoted(0)
        && (text().is_empty() || trim && text().trim().is_empty())
}

fn header_names(records: &Records, header: &Record) -> Result<Vec<String>, InputError> {
    let names: Vec<String> = (0..header.width())
        .map(|field| match header.field(field) {
            name if name.trim().is_empty() => numbered(field),
            name => name.to_string(),
        })
        .collect();
    if names.iter().any(|name| name.contains('\0')) {
        return Err(InputError::InvalidBytes {
            at: records.place(header.line(), None),
            bytes: "00".into(),
            encoding: "text in this encoding",
            advice: "set the encoding the file was written in, most likely utf-16le or utf-16be",
        });
    }
    Ok(names)
}

fn numbered(field: usize) -> String {
    format!("column_{}", field + 1)
}

/// Names that say which column is meant.
fn distinct(
    file: &str,
    mut names: Vec<String>,
    options: &CsvOptions,
) -> Result<Vec<String>, InputError> {
    let Some((first, second)) = columns::first_duplicate(&names, options.trim) else {
        return Ok(names);
    };
    if options.duplicates == Duplicates::Refuse {
        return Err(InputError::DuplicateColumn {
            file: file.into(),
            column: names[second].clone(),
            first: first + 1,
            second: second + 1,
            advice: "rename one, or have duplicates numbered (a second 'score' is then 'score.1')",
        });
    }
    let key = |name: &str| match options.trim {
        true => name.trim().to_string(),
        false => name.to_string(),
    };
    let given: HashSet<String> = names.iter().map(|name| key(name)).collect();
    let mut taken = HashSet::new();
    // By name, the number that was given last: none below is free.
    let mut last: HashMap<String, usize> = HashMap::new();
    for name in &mut names {
        if taken.insert(key(name)) {
            continue;
        }
        // A name that another column has been given is not free either.
        let last = last.entry(key(name)).or_insert(0);
        let mut number = *last + 1;
        let mut candidate = format!("{name}.{number}");
        while given.contains(&key(&candidate)) || !taken.insert(key(&candidate)) {
            number += 1;
            candidate = format!("{name}.{number}");
        }
        *last = number;
        *name = candidate;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_numbered_around_names_that_are_there() {
        let options = CsvOptions {
            duplicates: Duplicates::Number,
            ..CsvOptions::default()
        };
        let names = ["a", "a", "a.1", "b", " a", "a"].map(String::from).to_vec();
        let numbered = distinct("f", names, &options).unwrap();
        assert_eq!(numbered, ["a", "a.2", "a.1", "b", " a.3", "a.4"]);
    }
}
