//! What a table's columns probably are, for `facts init` and for audits without a configuration.
//!
//! Every guess says why, and is shown: a guess that nobody sees is a mistake that nobody finds.

use facts_engine::population::{Column, EncodedColumn, Table, Value};

/// Numbers with at most so many distinct values are levels of their own.
const FEW_NUMBERS: usize = 12;
/// Texts with more distinct values than this name individuals or say too much.
const MANY_TEXTS: usize = 200;
/// Bins of a guessed number.
pub const BINS: usize = 5;
/// Texts that usually stand for "missing".
const MISSING_CODES: &[&str] = &[
    "?",
    "na",
    "n/a",
    "nan",
    "null",
    "unknown",
    "missing",
    "-",
    "--",
    "not available",
    "prefer not to say",
    "not stated",
];
/// Words in the names of columns that often hold a protected attribute.
const PROTECTED: &[&str] = &[
    "sex",
    "gender",
    "race",
    "ethnicity",
    "ethnic",
    "religion",
    "nationality",
    "disability",
    "disabled",
    "orientation",
    "caste",
    "foreign",
];
/// Words in the names of columns that people cannot change.
const IMMUTABLE: &[&str] = &["birth", "born", "country", "citizenship", "native"];
/// Words in the names of columns that hold an outcome.
const LABELS: &[&str] = &[
    "label",
    "target",
    "outcome",
    "income",
    "class",
    "default",
    "approved",
    "two_year_recid",
    "y",
    "result",
    "decision",
    "admitted",
    "hired",
    "pincp",
];

/// What a column probably is.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    /// Levels without an order.
    Categorical,
    /// Each number is a level.
    Numeric,
    /// Numbers in quantile bins.
    Binned,
    /// Of no use for subgroups: the model may see it.
    Context(&'static str),
    /// Of a type that cannot be read: nobody sees it.
    Unreadable,
}

/// One column and what was seen in it.
#[derive(Clone, Debug)]
pub struct Guessed {
    /// The column's name.
    pub name: String,
    /// What it probably is.
    pub guess: Guess,
    /// Distinct values, missing ones aside.
    pub distinct: usize,
    /// Some of its values, the most frequent first, with how many rows have each.
    pub values: Vec<(String, usize)>,
    /// The least and the greatest number.
    pub range: Option<(f64, f64)>,
    /// Rows without a value.
    pub nulls: usize,
    /// Values that look like a code for "missing", with how many rows have each.
    pub missing_codes: Vec<(String, usize)>,
    /// Whether the name speaks of a protected attribute.
    pub maybe_protected: bool,
    /// Whether the name speaks of something that people cannot change.
    pub maybe_immutable: bool,
    /// Whether the name speaks of an age, which never falls.
    pub only_increases: bool,
    /// Whether the name speaks of an outcome, and there are two of them.
    pub maybe_label: bool,
}

impl Guess {
    /// Why a column is no feature, if it is none.
    pub fn why_not(&self) -> Option<&'static str> {
        match self {
            Self::Context(why) => Some(why),
            Self::Unreadable => {
                Some("its type cannot be read; cast it to text or a number to use it")
            }
            Self::Categorical | Self::Numeric | Self::Binned => None,
        }
    }
}

/// Looks at all columns of a table.
pub fn guess(table: &Table) -> Vec<Guessed> {
    let mut guessed: Vec<Guessed> = (table.names())
        .map(|name| of_column(name, table.column(name).ok()))
        .collect();
    // An outcome usually comes last.
    if !guessed.iter().any(|guess| guess.maybe_label)
        && let Some(last) = guessed.last_mut()
    {
        last.maybe_label = last.distinct == 2 && !last.maybe_protected;
    }
    guessed
}

fn of_column(name: &str, encoded: Option<&EncodedColumn>) -> Guessed {
    let Some(encoded) = encoded else {
        return Guessed {
            name: name.to_owned(),
            guess: Guess::Unreadable,
            distinct: 0,
            values: Vec::new(),
            range: None,
            nulls: 0,
            missing_codes: Vec::new(),
            maybe_protected: false,
            maybe_immutable: false,
            only_increases: false,
            maybe_label: false,
        };
    };
    let (column, counts) = (encoded.column(), encoded.counts());
    let rows = encoded.codes().len();
    let nulls = (column.values().iter().zip(&counts))
        .filter(|(value, _)| **value == Value::Null)
        .map(|(_, count)| *count)
        .sum();
    let mut values: Vec<(String, usize)> = (column.values().iter().zip(&counts))
        .filter(|(value, _)| **value != Value::Null)
        .map(|(value, count)| (value.label(), *count))
        .collect();
    values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let distinct = values.len();
    let missing_codes: Vec<(String, usize)> = values
        .iter()
        .filter(|(value, _)| is_code(value))
        .cloned()
        .collect();
    let is_number = column.data_type().is_numeric();
    let words = words(name);
    let speaks_of = |list: &[&str]| list.iter().any(|word| words.iter().any(|w| w == word));
    let maybe_protected = speaks_of(PROTECTED);
    let guess = if nulls * 2 > rows {
        Guess::Context("most rows have no value")
    } else {
        match kind(column, is_number, distinct, rows - nulls) {
            // Where nearly everybody has one value, quantiles would fall together into one bin.
            Guess::Binned if values[0].1 * 5 > rows * 4 => Guess::Numeric,
            guess => guess,
        }
    };
    values.truncate(20);
    Guessed {
        name: name.to_owned(),
        guess,
        distinct,
        range: range(column),
        values,
        nulls,
        missing_codes,
        maybe_protected,
        maybe_immutable: maybe_protected || speaks_of(IMMUTABLE),
        only_increases: speaks_of(&["age"]),
        maybe_label: distinct == 2 && (speaks_of(LABELS) || LABELS.contains(&name)),
    }
}

fn kind(column: &Column, is_number: bool, distinct: usize, rows: usize) -> Guess {
    let whole = column
        .values()
        .iter()
        .all(|value| !matches!(value, Value::Float(_)));
    match (is_number, distinct) {
        (_, 0 | 1) => Guess::Context("everybody has the same value"),
        (true, n) if n == rows && whole && n > FEW_NUMBERS => {
            Guess::Context("each row has a number of its own, like an identifier")
        }
        (true, n) if n <= FEW_NUMBERS => Guess::Numeric,
        (true, _) => Guess::Binned,
        (false, n) if n > MANY_TEXTS || (n > 20 && n * 2 > rows) => {
            Guess::Context("too many different texts to speak of subgroups")
        }
        (false, _) => Guess::Categorical,
    }
}

fn is_code(value: &str) -> bool {
    MISSING_CODES.contains(&value.trim().to_lowercase().as_str())
}

fn range(column: &Column) -> Option<(f64, f64)> {
    if !column.data_type().is_numeric() {
        return None;
    }
    let numbers = column.values().iter().filter_map(Value::number);
    numbers.fold(None, |range, number| {
        let (low, high) = range.unwrap_or((number, number));
        Some((low.min(number), high.max(number)))
    })
}

/// The words of a name: `native-country` and `nativeCountry` speak of a country.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (previous_lower && character.is_uppercase()) {
            words.push(String::new());
        }
        previous_lower = character.is_lowercase();
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::*;

    #[test]
    fn columns_are_recognised() {
        let texts = |values: Vec<&'static str>| Arc::new(StringArray::from(values)) as ArrayRef;
        let rows = 100;
        let table = RecordBatch::try_from_iter([
            (
                "id",
                Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef,
            ),
            (
                "ageYears",
                Arc::new(Int64Array::from_iter_values((0..rows).map(|i| 20 + i % 30))) as ArrayRef,
            ),
            (
                "gain",
                Arc::new(Int64Array::from_iter_values(
                    (0..rows).map(|i| i64::from(i > 85) * i),
                )) as ArrayRef,
            ),
            (
                "dependants",
                Arc::new(Int64Array::from_iter_values((0..rows).map(|i| i % 4))) as ArrayRef,
            ),
            (
                "amount",
                Arc::new(Float64Array::from_iter_values(
                    (0..rows).map(|i| i as f64 / 3.0),
                )) as ArrayRef,
            ),
            (
                "job",
                texts(
                    (0..rows)
                        .map(|i| [" clerk", " ?", " boss"][i as usize % 3])
                        .collect(),
                ),
            ),
            (
                "Sex",
                texts((0..rows).map(|i| ["F", "M"][i as usize % 2]).collect()),
            ),
            ("country", texts(vec!["X"; rows as usize])),
        ])
        .unwrap();
        let guessed = guess(&Table::read([table]).unwrap());
        let by_name = |name: &str| guessed.iter().find(|g| g.name == name).unwrap();
        assert!(matches!(by_name("id").guess, Guess::Context(_)));
        assert_eq!(by_name("ageYears").guess, Guess::Binned);
        assert!(by_name("ageYears").only_increases);
        assert_eq!(by_name("ageYears").range, Some((20.0, 49.0)));
        assert_eq!(by_name("gain").guess, Guess::Numeric);
        assert_eq!(by_name("dependants").guess, Guess::Numeric);
        assert_eq!(by_name("amount").guess, Guess::Binned);
        assert_eq!(by_name("job").missing_codes, [(" ?".to_owned(), 33)]);
        assert!(by_name("Sex").maybe_protected && by_name("Sex").missing_codes.is_empty());
        assert!(matches!(by_name("country").guess, Guess::Context(_)));
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("native-country"), ["native", "country"]);
        assert_eq!(words("birthDate"), ["birth", "date"]);
        assert!(!words("sexagesimal").contains(&"sex".to_owned()));
    }
}
