//! What a table's columns probably are, for `facts init` and for audits without a configuration.
//!
//! Every guess says why, and is shown: a guess that nobody sees is a mistake that nobody finds.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use facts_engine::Error;
use facts_engine::population::{EncodedColumn, PlacedBins, Table, Value};
use facts_input::csv::is_missing_mark;

use super::knowledge::{May, Name};
use super::outcome::Outcome;
use crate::config::Config;

/// Numbers with at most so many distinct values are levels of their own.
const FEW_NUMBERS: usize = 12;
/// Whole numbers with at most so many distinct values may be codes of categories.
const FEW_CODES: usize = 20;
/// Texts with more distinct values than this name individuals or say too much.
const MANY_TEXTS: usize = 200;
/// Texts longer than this on average are written freely.
const LONG_TEXT: usize = 40;
/// Bins of a guessed number.
const BINS: usize = 5;
/// Bins of a guessed number where there are many features.
const FEW_BINS: usize = 3;
/// The most features that are guessed; of more, those that go most with the outcome.
pub(super) const MANY_FEATURES: usize = 40;
/// Negative numbers that usually stand for "missing" where no other number is negative.
const NEGATIVE_CODES: &[f64] = &[
    -1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -777.0, -888.0, -999.0, -9999.0,
];
/// Numbers that usually stand for "missing" where all others are much smaller.
const GREAT_CODES: &[f64] = &[99.0, 999.0, 9999.0];

/// Numbers that are ever guessed to stand for "missing".
pub(crate) fn codes_of_numbers() -> impl Iterator<Item = f64> {
    NEGATIVE_CODES.iter().chain(GREAT_CODES).copied()
}

/// What the levels of a column probably are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guess {
    /// Levels without an order.
    #[default]
    Categorical,
    /// Each number is a level.
    Numeric,
    /// Numbers in quantile bins.
    Binned,
}

/// One column and what was seen in it.
#[derive(Clone, Debug, Default)]
pub struct Guessed {
    /// The column's name.
    pub name: String,
    /// What its levels probably are.
    pub guess: Guess,
    /// Why it should be no feature, if it should be none.
    pub why_not: Option<String>,
    /// Whether its values look as if they told who somebody is: identifiers, names, what is written freely.
    pub tells_who: bool,
    /// Whether its type can be read; if not, nobody sees it.
    pub is_readable: bool,
    /// Whether it holds whole numbers that stand for categories.
    pub is_coded: bool,
    /// Distinct values, missing ones and numbers that stand for "missing" aside.
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
    /// Whether it is the outcome: the column that the configuration names, or else the likeliest.
    pub is_label: bool,
    /// Whether people can change it and why, if the name tells.
    pub change: Option<(May, &'static str)>,
    /// Bins that its numbers are cut into.
    pub bins: usize,
    /// Whether it is only for the model to see: there are many features, and others go more with the outcome.
    pub is_context: bool,
    /// The share of the rows whose outcome follows from it, where that is nearly all.
    pub nearly_label: Option<f64>,
    /// A value that is no number where nearly all others are, so that the column is taken for text.
    pub odd: Option<String>,
    /// Another column that says the same, one to one, and is the better one to change.
    pub same_as: Option<String>,
}

/// Looks at all columns of a table. The outcome that the configuration names, or the likeliest, tells
/// which columns give it away and which numbers are codes.
pub fn guess(table: &Table, config: &Config) -> Vec<Guessed> {
    let mut guessed: Vec<Guessed> = (table.names())
        .map(|name| match table.column(name) {
            Ok(encoded) => of_column(name, encoded, placed_codes(table, name)),
            Err(error) => unreadable(name, &error),
        })
        .collect();
    find_same(&mut guessed, table);
    let named = config.label.column.as_ref();
    let label = match named {
        Some(named) => guessed.iter().position(|guess| guess.name == *named),
        None => likely_label(&guessed, config),
    };
    let Some(label) = label else {
        few_features(&mut guessed, table, config, None);
        return guessed;
    };
    guessed[label].is_label = true;
    let name = guessed[label].name.clone();
    let Ok(encoded) = table.column(&name) else {
        return guessed;
    };
    let codes = config.data.missing_codes.as_deref().unwrap_or_default();
    let outcome = Outcome::new(encoded, codes);
    for guess in &mut guessed {
        if let Ok(column) = table.column(&guess.name)
            && !guess.is_label
            && guess.why_not.is_none()
        {
            against_outcome(guess, column, &name, &outcome);
        }
    }
    few_features(&mut guessed, table, config, Some(&outcome));
    guessed
}

/// Whether a column has a role already.
fn is_taken(guess: &Guessed, config: &Config) -> bool {
    let data = &config.data;
    let name = &guess.name;
    config.protected.contains_key(name)
        || config.features.contains_key(name)
        || config.overrides.contains_key(name)
        || data.weight.as_ref() == Some(name)
        || data.ignore.contains(name)
        || data.context.contains(name)
}

/// Where there are many features, cuts numbers into fewer bins, and keeps those that go most with the
/// outcome: no support does for all of them together.
fn few_features(
    guessed: &mut [Guessed],
    table: &Table,
    config: &Config,
    outcome: Option<&Outcome>,
) {
    let is_feature =
        |guess: &Guessed| guess.why_not.is_none() && !guess.is_label && !is_taken(guess, config);
    let features = (0..guessed.len()).filter(|&place| is_feature(&guessed[place]));
    let mut features: Vec<usize> = features.collect();
    if features.len() <= MANY_FEATURES {
        return;
    }
    for &place in &features {
        guessed[place].bins = FEW_BINS;
    }
    let Some(outcome) = outcome else {
        return;
    };
    let mut explained = vec![0.0; guessed.len()];
    for &place in &features {
        let column = table.column(&guessed[place].name);
        explained[place] = column.map_or(0.0, |column| outcome.explained_by(column));
    }
    features.sort_by(|&a, &b| explained[b].total_cmp(&explained[a]));
    for &place in &features[MANY_FEATURES..] {
        guessed[place].is_context = true;
    }
}

/// Finds features that say the same, one to one, such as a level of education and its number.
fn find_same(guessed: &mut [Guessed], table: &Table) {
    // Columns that part the rows alike, by the hash of how they do; of those that say the same, the one
    // that is kept.
    let mut parting: HashMap<u64, Vec<usize>> = HashMap::new();
    for later in 0..guessed.len() {
        let guess = &guessed[later];
        if guess.why_not.is_some() || guess.distinct <= 2 {
            continue;
        }
        let Some(hash) = table.column(&guess.name).ok().and_then(parted) else {
            continue;
        };
        let alike = parting.entry(hash).or_default();
        let same = alike.iter().position(|&earlier| {
            guessed[earlier].distinct == guess.distinct
                && is_one_to_one(table, &guessed[earlier].name, &guess.name)
        });
        let Some(same) = same else {
            alike.push(later);
            continue;
        };
        let earlier = alike[same];
        // Numbers have an order, which categories lack.
        let is_text = guessed[earlier].guess == Guess::Categorical;
        let (one, other) = if is_text {
            (earlier, later)
        } else {
            (later, earlier)
        };
        alike[same] = other;
        guessed[one].same_as = Some(guessed[other].name.clone());
    }
}

/// Which rows have the same value as which, whatever the values are, as a hash; none if there are too few
/// rows for each value to say anything about another column.
fn parted(column: &EncodedColumn) -> Option<u64> {
    let mut numbers = vec![None; column.column().values().len()];
    let few = numbers.len() * 5 <= column.rows();
    few.then(|| {
        let mut hash = DefaultHasher::new();
        let mut next = 0_u32;
        for &code in column.codes() {
            let number = numbers[code as usize].get_or_insert_with(|| {
                next += 1;
                next
            });
            number.hash(&mut hash);
        }
        hash.finish()
    })
}

fn is_one_to_one(table: &Table, a: &str, b: &str) -> bool {
    let (Ok(a), Ok(b)) = (table.column(a), table.column(b)) else {
        return false;
    };
    let mut there = vec![None; a.column().values().len()];
    let mut back = vec![None; b.column().values().len()];
    a.codes().iter().zip(b.codes()).all(|(&a, &b)| {
        *there[a as usize].get_or_insert(b) == b && *back[b as usize].get_or_insert(a) == a
    })
}

/// The column that probably holds the outcome: of those with two values, the one whose name says so
/// most plainly, the last of several; else the last column of all.
fn likely_label(guessed: &[Guessed], config: &Config) -> Option<usize> {
    let strength = |(place, guess): &(usize, &Guessed)| {
        let strength = Name::new(&guess.name).outcome();
        // An outcome usually comes last.
        strength * 2 + u8::from(place + 1 == guessed.len())
    };
    let of_two_values = |guess: &Guessed| {
        // Only of texts do the distinct values count those that stand for "missing".
        let missing = if guess.range.is_none() {
            guess.missing_codes.len()
        } else {
            0
        };
        guess.distinct == 2 + missing
    };
    let two = guessed.iter().enumerate();
    let two = two.filter(|(_, guess)| {
        of_two_values(guess) && !guess.maybe_protected && !is_taken(guess, config)
    });
    two.filter(|column| strength(column) > 0)
        .max_by_key(strength)
        .map(|(place, _)| place)
}

/// What the outcome tells about a column.
fn against_outcome(guess: &mut Guessed, column: &EncodedColumn, label: &str, outcome: &Outcome) {
    if outcome.is_determined_by(column) {
        guess.why_not = Some(if guess.distinct == 2 {
            format!("it says the same as the outcome {label}")
        } else {
            format!("it gives the outcome away: each of its values goes with one value of {label}")
        });
        return;
    }
    guess.nearly_label = outcome.nearly_determined_by(column);
    let numbers = column.column().values().iter().filter_map(Value::number);
    let is_whole = numbers.clone().all(|number| number.fract() == 0.0);
    if guess.guess != Guess::Categorical
        && is_whole
        && (3..=FEW_CODES).contains(&guess.distinct)
        && !Name::new(&guess.name).is_quantity()
        && !outcome.follows(column, &guess.missing_codes)
    {
        guess.guess = Guess::Categorical;
        guess.is_coded = true;
    }
}

/// The value because of which a column of numbers is taken for text: at most one row in twenty holds such
/// a value, and it stands for nothing that is missing.
fn odd_one(
    values: &[(String, usize)],
    missing_codes: &[(String, usize)],
    is_number: bool,
) -> Option<String> {
    let is_missing = |text: &str| missing_codes.iter().any(|(code, _)| code == text);
    let is_numeric = |text: &str| text.trim().parse().is_ok_and(f64::is_finite);
    let (mut numbers, mut others, mut odd) = (0, 0, None);
    for (text, rows) in values.iter().filter(|(text, _)| !is_missing(text)) {
        if is_numeric(text) {
            numbers += rows;
        } else {
            others += rows;
            odd = odd.or(Some(text));
        }
    }
    let nearly_all = !is_number && numbers >= 20 * others.max(1);
    odd.filter(|_| nearly_all).cloned()
}

fn unreadable(name: &str, error: &Error) -> Guessed {
    let is_time = matches!(error, Error::UnsupportedType { data_type, .. } if data_type.starts_with("Date") || data_type.starts_with("Time"));
    Guessed {
        name: name.to_owned(),
        why_not: Some(if is_time { DATE } else { UNREADABLE }.to_owned()),
        bins: BINS,
        ..Guessed::default()
    }
}

/// Which numbers mean "missing" in a column, if that was decided when bins were placed over its numbers: of these
/// there is one a bin, and no guess could tell any more.
fn placed_codes<'t>(table: &'t Table, name: &str) -> Option<&'t [f64]> {
    let mut placed = table.placed_bins().iter();
    let placed = placed.find(|placed| placed.column() == name);
    placed.map(PlacedBins::missing)
}

fn of_column(name: &str, encoded: &EncodedColumn, known_codes: Option<&[f64]>) -> Guessed {
    let (column, counts) = (encoded.column(), encoded.counts());
    let rows = encoded.rows();
    let is_number = column.data_type().is_numeric();
    let held = || column.values().iter().zip(&counts);
    let nulls = held()
        .filter(|(value, _)| **value == Value::Null)
        .map(|(_, count)| *count)
        .sum();
    let numbers = held().filter_map(|(value, n)| Some((value.number()?, *n)));
    let numbers: Vec<(f64, usize)> = numbers.filter(|_| is_number).collect();
    let special = known_codes.map_or_else(|| special_numbers(&numbers), <[f64]>::to_vec);
    let is_special = |value: &Value| value.number().is_some_and(|n| special.contains(&n));
    let is_code = |value: &Value| is_special(value) || is_missing_mark(value.label().trim());
    let listed = |wanted: &dyn Fn(&Value) -> bool| {
        let mut values: Vec<(String, usize)> = held()
            .filter(|(value, _)| **value != Value::Null && wanted(value))
            .map(|(value, count)| (value.label(), *count))
            .collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        values
    };
    let missing_codes = listed(&is_code);
    let mut values = listed(&|value| !is_special(value));
    let known: usize = values.iter().map(|(_, count)| count).sum();
    let words = Name::new(name);
    let is_whole = held().all(|(value, _)| !matches!(value, Value::Float(_)));
    let distinct = values.len();
    let why_not = if known == 0 {
        Some("no row has a value")
    } else if nulls * 2 > rows {
        Some("most rows have no value")
    } else if distinct == 1 {
        Some("everybody has the same value")
    } else if words.is_survey_weight() && is_number {
        Some("its name says that it weighs the rows of a survey")
    } else if is_number {
        let own = distinct == known || (words.is_identifier() && distinct * 2 > known);
        (is_whole && own && distinct > FEW_NUMBERS).then_some(IDENTIFIER)
    } else {
        no_text_feature(&values, known, &words)
    };
    let guess = match distinct {
        _ if !is_number => Guess::Categorical,
        0..=FEW_NUMBERS => Guess::Numeric,
        // Where nearly everybody has one value, quantiles would fall together into one bin.
        _ if values[0].1 * 5 > known * 4 => Guess::Numeric,
        _ => Guess::Binned,
    };
    let odd = odd_one(&values, &missing_codes, is_number);
    let plain = numbers.iter().map(|(number, _)| (*number, *number));
    let plain = plain.filter(|(number, _)| !special.contains(number));
    let range = plain.reduce(|(low, high), (number, _)| (low.min(number), high.max(number)));
    values.truncate(20);
    Guessed {
        name: name.to_owned(),
        guess,
        why_not: why_not.map(str::to_owned),
        tells_who: why_not.is_some_and(|why| [IDENTIFIER, FREE_TEXT, NAMES].contains(&why)),
        is_readable: true,
        odd,
        distinct,
        range,
        values,
        nulls,
        missing_codes,
        maybe_protected: words.is_protected(),
        change: words.change(),
        bins: BINS,
        ..Guessed::default()
    }
}

const IDENTIFIER: &str = "each row has a number of its own, like an identifier";
const FREE_TEXT: &str = "it is free text";
const NAMES: &str = "nearly each row has a text of its own, like a name or an identifier";
const UNREADABLE: &str = "its type cannot be read; cast it to text or a number to use it";
const DATE: &str = "it holds dates; make them a number (years, days since) to use them";

/// Why a column of texts is no feature, if it should be none.
fn no_text_feature(values: &[(String, usize)], known: usize, name: &Name) -> Option<&'static str> {
    let distinct = values.len();
    let length: usize = values
        .iter()
        .map(|(text, rows)| text.chars().count() * rows)
        .sum();
    let (dates, others): (Vec<_>, Vec<_>) = values.iter().partition(|(text, _)| is_date(text));
    if dates.len() > 1 && others.iter().all(|(text, _)| is_missing_mark(text.trim())) {
        Some(DATE)
    } else if distinct > 20 && length > LONG_TEXT * known {
        Some(FREE_TEXT)
    } else if (distinct > 20 && distinct * 10 > known * 9)
        || (distinct > FEW_NUMBERS && name.is_identifier() && distinct * 2 > known)
    {
        Some(NAMES)
    } else if distinct > MANY_TEXTS || (distinct > 20 && distinct * 2 > known) {
        Some("too many different texts to speak of subgroups")
    } else {
        None
    }
}

/// Whether a text is a day: 2024-03-31, 31.03.2024 or 3/31/2024, with or without a time of day.
fn is_date(text: &str) -> bool {
    let day = text.trim().split([' ', 'T']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let [first, middle, last] = parts[..] else {
        return false;
    };
    let (year, other) = if first.len() == 4 {
        (first, last)
    } else {
        (last, first)
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (Some(year), Some(middle), Some(other)) = (number(year), number(middle), number(other))
    else {
        return false;
    };
    (1800..2200).contains(&year) && middle.max(other) <= 31 && (1..=12).contains(&middle.min(other))
}

/// Numbers that stand for "missing": well-known negative ones in a column that is not negative
/// otherwise, and 99, 999 or 9999 held by several rows where all others are less than half of it.
fn special_numbers(held: &[(f64, usize)]) -> Vec<f64> {
    let negative: Vec<f64> = held.iter().map(|(n, _)| *n).filter(|n| *n < 0.0).collect();
    let others = held.len() - negative.len();
    // A lone -1 is the next number below 0, so the others must be enough to show that it is none.
    let enough = if negative == [-1.0] { 5 } else { 2 };
    let mut special = Vec::new();
    if others >= enough
        && negative.len() <= 5
        && negative.iter().all(|n| NEGATIVE_CODES.contains(n))
    {
        special = negative;
    }
    let great = held
        .iter()
        .filter(|(n, rows)| GREAT_CODES.contains(n) && *rows > 1);
    if let Some((code, _)) = great.max_by(|a, b| a.0.total_cmp(&b.0))
        && others > 2
        && held.iter().all(|(n, _)| n == code || n * 2.0 < *code)
    {
        special.push(*code);
    }
    special
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::*;

    #[test]
    fn columns_are_recognised() {
        let rows = 100;
        let numbers = |of: fn(i64) -> i64| {
            Arc::new(Int64Array::from_iter_values((0..rows).map(of))) as ArrayRef
        };
        let thirds = (0..rows).map(|i| i as f64 / 3.0);
        let texts = |values: &[&str]| {
            let values = values.iter().cycle().take(rows as usize);
            Arc::new(StringArray::from_iter_values(values)) as ArrayRef
        };
        let table = RecordBatch::try_from_iter([
            ("id", numbers(|i| i)),
            ("ageYears", numbers(|i| 20 + i % 30)),
            ("gain", numbers(|i| i64::from(i > 85) * i)),
            ("dependants", numbers(|i| i % 4)),
            ("amount", Arc::new(Float64Array::from_iter_values(thirds))),
            ("job", texts(&[" clerk", " ?", " boss"])),
            ("Sex", texts(&["F", "M"])),
            ("country", texts(&["X"])),
        ])
        .unwrap();
        let guessed = guess(&Table::read([table]).unwrap(), &Config::default());
        let by_name = |name: &str| guessed.iter().find(|g| g.name == name).unwrap();
        assert!(by_name("id").why_not.is_some());
        assert_eq!(by_name("ageYears").guess, Guess::Binned);
        assert!(matches!(by_name("ageYears").change, Some((May::Not, _))));
        assert_eq!(by_name("ageYears").range, Some((20.0, 49.0)));
        assert_eq!(by_name("gain").guess, Guess::Numeric);
        assert_eq!(by_name("dependants").guess, Guess::Numeric);
        assert_eq!(by_name("amount").guess, Guess::Binned);
        assert_eq!(by_name("job").missing_codes, [(" ?".to_owned(), 33)]);
        assert!(by_name("Sex").maybe_protected && by_name("Sex").missing_codes.is_empty());
        assert!(by_name("country").why_not.is_some());
    }

    #[test]
    fn special_numbers_stand_apart() {
        let special = |numbers: &[i32]| {
            special_numbers(
                &numbers
                    .iter()
                    .map(|n| (f64::from(*n), 3))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(special(&[-9, -8, -7, 0, 40, 81]), [-9.0, -8.0, -7.0]);
        assert_eq!(special(&[-1, 3, 0, 1, 2, 90]), [-1.0]);
        assert_eq!(special(&[999, 0, 3, 27]), [999.0]);
        // A scale around 0, months of delay, ages up to 99, and a sum that somebody really has.
        for numbers in [
            &[-1, 0, 1][..],
            &[-2, -1, 0, 1, 2, 3, 4, 5],
            &[17, 60, 98, 99],
            &[0, 5, 99_999],
        ] {
            assert!(special(numbers).is_empty(), "{numbers:?}");
        }
    }

    #[test]
    fn days_are_told_from_other_texts() {
        for text in [
            "2024-03-31",
            " 31.03.2024",
            "3/31/2024",
            "2013-08-13 06:03:42",
            "2024-01-05T10:00",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in ["2013J", "10-20", "1.2.3", "2024-31-31", "a-b-c", ""] {
            assert!(!is_date(text), "{text}");
        }
    }
}
