//! Which type fits all values of a column, and the values in that type.

use super::ColumnType;

/// What kinds of values a column holds, one bit a kind. Bits only ever get
/// set, so the type does not depend on the order of the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen(u8);

const BOOLEAN: u8 = 1;
const INTEGER: u8 = 2;
/// An integer that a float cannot hold exactly.
const WIDE_INTEGER: u8 = 4;
const FLOAT: u8 = 8;
const TEXT: u8 = 16;
/// A word that usually stands for a missing value.
const MARK: u8 = 32;

/// Words that usually stand for a missing value, in lower case. Beside numbers they are read as missing;
/// beside texts they are texts, of which only the user knows what they mean.
pub const MISSING_MARKS: &[&str] = &[
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

/// Whether a text without blanks around it usually stands for a missing value.
pub fn is_missing_mark(text: &str) -> bool {
    MISSING_MARKS
        .iter()
        .any(|mark| mark.eq_ignore_ascii_case(text))
}

impl Seen {
    pub(crate) fn add(&mut self, value: &str) {
        // Text is text whatever follows: spare the parsing.
        if self.0 & TEXT == 0 {
            self.0 |= kind(value);
        }
    }

    /// Takes in what was seen elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether nothing was seen, or nothing but words that stand for missing values.
    pub(crate) fn is_empty(self) -> bool {
        self.0 & !MARK == 0
    }

    pub(crate) fn column_type(self) -> ColumnType {
        const WHOLE: u8 = INTEGER | WIDE_INTEGER;
        const NUMBER: u8 = INTEGER | FLOAT;
        match self.0 {
            0 => ColumnType::Text,
            BOOLEAN => ColumnType::Boolean,
            MARK => ColumnType::Text,
            seen if seen & !(WHOLE | MARK) == 0 => ColumnType::Int64,
            seen if seen & !(NUMBER | MARK) == 0 => ColumnType::Float64,
            _ => ColumnType::Text,
        }
    }
}

fn kind(value: &str) -> u8 {
    if boolean(value).is_some() {
        return BOOLEAN;
    }
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value).as_bytes();
    // Leading zeros belong to codes, not to numbers.
    if let [b'0', next, ..] = unsigned
        && next.is_ascii_digit()
    {
        return TEXT;
    }
    if !unsigned.is_empty() && unsigned.iter().all(u8::is_ascii_digit) {
        const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
        return match integer(value) {
            Some(number) if number.unsigned_abs() <= EXACT => INTEGER,
            Some(_) => WIDE_INTEGER,
            None => TEXT,
        };
    }
    match float(value) {
        Some(_) => FLOAT,
        None if is_missing_mark(value) => MARK,
        None => TEXT,
    }
}

pub(crate) fn boolean(value: &str) -> Option<bool> {
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

pub(crate) fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
}

/// A finite number: neither a word such as `NaN`, nor one too large to hold.
pub(crate) fn float(value: &str) -> Option<f64> {
    // Cheaper than parsing, and most text fails it at the first byte.
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !value.bytes().all(is_numeric) {
        return None;
    }
    value.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::ColumnType::*;
    use super::*;

    fn inferred(values: &[&str]) -> ColumnType {
        let mut seen = Seen::default();
        values.iter().for_each(|value| seen.add(value));
        let forwards = seen.column_type();
        let mut seen = Seen::default();
        values.iter().rev().for_each(|value| seen.add(value));
        assert_eq!(
            seen.column_type(),
            forwards,
            "the order matters: {values:?}"
        );
        forwards
    }

    #[test]
    fn the_narrowest_type_that_fits_all() {
        assert_eq!(inferred(&[]), Text);
        assert_eq!(inferred(&["0", "-1", "+7"]), Int64);
        assert_eq!(inferred(&["1", "2.5"]), Float64);
        assert_eq!(inferred(&[".5", "5.", "1e-3", "-2E+5"]), Float64);
        assert_eq!(inferred(&["true", "False", "TRUE"]), Boolean);
        assert_eq!(inferred(&["true", "1"]), Text);
        assert_eq!(inferred(&["1", "2.5", "x"]), Text);
    }

    #[test]
    fn numbers_beside_marks_of_missing_are_numbers() {
        assert_eq!(inferred(&["1", "NA"]), Int64);
        assert_eq!(inferred(&["1", "?", "2.5", "n/a"]), Float64);
        assert_eq!(inferred(&["NA"]), Text);
        assert_eq!(inferred(&["true", "NA"]), Text);
        assert_eq!(inferred(&["1", "NA", "x"]), Text);
        assert_eq!(inferred(&["NA", "007"]), Text);
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(inferred(&["00123"]), Text);
        assert_eq!(inferred(&["-007"]), Text);
        assert_eq!(inferred(&["00.5", "1"]), Text);
        assert_eq!(inferred(&["0", "0.5", "-0"]), Float64);
        assert_eq!(inferred(&["9223372036854775807"]), Int64);
        assert_eq!(inferred(&["-9223372036854775808"]), Int64);
        assert_eq!(inferred(&["9223372036854775808"]), Text);
        assert_eq!(inferred(&["9007199254740992", "0.5"]), Float64);
        assert_eq!(inferred(&["9007199254740993", "0.5"]), Text);
        assert_eq!(inferred(&["9007199254740993", "1"]), Int64);
    }

    #[test]
    fn words_and_shapes_that_are_no_numbers() {
        for word in [
            "",
            "NaN",
            "nan",
            "inf",
            "-inf",
            "Infinity",
            "1e999",
            ".",
            "-",
            "+",
            "e5",
            "1_000",
            "0x10",
            "+-5",
            "1-2",
            "1,5",
            "½",
            "٣",
            "1 ",
            "2013-08-14",
        ] {
            assert_eq!(inferred(&[word]), Text, "{word:?}");
            assert_eq!(float(word), None, "{word:?}");
        }
    }
}
