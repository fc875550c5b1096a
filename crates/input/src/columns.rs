//! Columns by name: which ones to read, and what to say when there is no such
//! column.

use std::collections::{HashMap, HashSet};

use arrow_schema::Schema;
use strsim::levenshtein;

use crate::error::InputError;

/// The names of a schema's columns.
pub(crate) fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// The most columns of a table: far more than an audit can describe people by, and few enough for what is
/// kept of each.
pub(crate) const MOST_COLUMNS: usize = 100_000;

/// Refuses a table with so many columns that it is probably none.
pub(crate) fn refuse_too_many(file: &str, columns: usize) -> Result<(), InputError> {
    if columns <= MOST_COLUMNS {
        return Ok(());
    }
    Err(InputError::TooManyColumns {
        file: file.into(),
        columns,
        most: MOST_COLUMNS,
    })
}

/// The positions of the columns to read, in the order they are wanted in; a
/// name that is listed twice is read once.
pub(crate) fn select(
    file: &str,
    names: &[String],
    wanted: Option<&[String]>,
    trim: bool,
) -> Result<Vec<usize>, InputError> {
    let Some(wanted) = wanted else {
        return Ok((0..names.len()).collect());
    };
    let mut positions = positions(file, names, wanted, trim, "columns")?;
    let mut seen = HashSet::new();
    positions.retain(|at| seen.insert(*at));
    Ok(positions)
}

/// The position of each of the wanted columns. `option` is the setting that
/// names them, for the error.
pub(crate) fn positions<'a>(
    file: &str,
    names: &[String],
    wanted: impl IntoIterator<Item = &'a String>,
    trim: bool,
    option: &'static str,
) -> Result<Vec<usize>, InputError> {
    let position_or_error = |name: &String| {
        position(names, name, trim).ok_or_else(|| unknown(file, names, name, option))
    };
    wanted.into_iter().map(position_or_error).collect()
}

/// The position of a name, exactly as written if possible. Where blanks around
/// names do not count, it may also differ in those.
fn position(names: &[String], wanted: &str, trim: bool) -> Option<usize> {
    let exact = names.iter().position(|name| name == wanted);
    let loose = || names.iter().position(|name| name.trim() == wanted.trim());
    exact.or_else(|| if trim { loose() } else { None })
}

/// The first two columns of the same name.
pub(crate) fn first_duplicate(names: &[String], trim: bool) -> Option<(usize, usize)> {
    let mut seen = HashMap::new();
    names.iter().enumerate().find_map(|(at, name)| {
        let name = if trim { name.trim() } else { name };
        seen.insert(name, at).map(|before| (before, at))
    })
}

/// Refuses two columns of one name, in formats that have no way around it.
pub(crate) fn refuse_duplicates(file: &str, names: &[String]) -> Result<(), InputError> {
    match first_duplicate(names, false) {
        None => Ok(()),
        Some((first, second)) => Err(InputError::DuplicateColumn {
            file: file.into(),
            column: names[first].clone(),
            first: first + 1,
            second: second + 1,
            advice: "write the file again with distinct names",
        }),
    }
}

fn unknown(file: &str, names: &[String], wanted: &str, option: &'static str) -> InputError {
    InputError::UnknownColumn {
        file: file.into(),
        column: wanted.into(),
        option,
        hint: hint(names, wanted),
        known: names.to_vec(),
    }
}

fn hint(names: &[String], wanted: &str) -> String {
    if let Some(name) = closest(names, wanted) {
        return format!("; did you mean '{name}'?");
    }
    if let [only] = names
        && let Some(delimiter) = only.chars().find(|c| ",;\t|".contains(*c))
    {
        return format!("; is {delimiter:?} the delimiter?");
    }
    ".".into()
}

/// The name that a mistyped one was probably meant to be.
fn closest<'a>(names: &'a [String], wanted: &str) -> Option<&'a String> {
    let wanted = wanted.trim().to_lowercase();
    let near = names
        .iter()
        .map(|name| (levenshtein(&name.trim().to_lowercase(), &wanted), name))
        .min_by_key(|(distance, _)| *distance)?;
    let allowed = (wanted.chars().count() / 3).max(1);
    (near.0 <= allowed).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn exact_names_come_before_trimmed_ones() {
        let names = names(&["sex ", "sex"]);
        assert_eq!(position(&names, "sex", true), Some(1));
        assert_eq!(position(&names, "sex ", true), Some(0));
        assert_eq!(position(&names, " sex", true), Some(0));
        assert_eq!(position(&names, " sex", false), None);
    }

    #[test]
    fn duplicates_are_found_with_and_without_blanks() {
        assert_eq!(
            first_duplicate(&names(&["a", "b", "a"]), false),
            Some((0, 2))
        );
        assert_eq!(first_duplicate(&names(&["a", "a "]), false), None);
        assert_eq!(first_duplicate(&names(&["a", "a "]), true), Some((0, 1)));
    }

    #[test]
    fn a_typing_error_is_guessed_and_a_stranger_is_not() {
        let names = names(&["age", "education-num", "sex"]);
        assert_eq!(hint(&names, "Age"), "; did you mean 'age'?");
        assert_eq!(
            hint(&names, "education_num"),
            "; did you mean 'education-num'?"
        );
        assert_eq!(hint(&names, "income"), ".");
        assert_eq!(
            hint(&[String::from("a;b")], "income"),
            "; is ';' the delimiter?"
        );
    }
}
