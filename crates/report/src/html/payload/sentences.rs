//! Sentences that differ in their numbers alone: what stands between the numbers is sent once.
//!
//! So the page says what the other reports say, word for word, and thousands of sentences stay small. A
//! number is sent as its digits without the point, and apart from them how many of them come after it.

use super::{Dictionary, Numbers};

/// Digits of a number that is sent as such; longer ones stay text.
const MOST_DIGITS: usize = 12;

/// Writes sentences, some of which may be missing: for each 0, or which of the texts it is made from, from
/// 1; then of all first numbers how many digits come after the point, and the digits; then of all second
/// numbers, and so on. The texts, each what stands before, between and after the numbers.
pub(super) fn write(
    sentences: impl Iterator<Item = Option<String>>,
    numbers: &mut Numbers,
) -> Vec<Vec<String>> {
    let mut texts = Dictionary::default();
    let mut all: Vec<Vec<(u64, usize)>> = Vec::new();
    for sentence in sentences {
        let Some(sentence) = sentence else {
            numbers.push(0);
            continue;
        };
        let (text, values) = split(&sentence);
        numbers.push(texts.place(text) + 1);
        all.push(values);
    }
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    for place in 0..most {
        let values = || all.iter().filter_map(|values| values.get(place));
        values().for_each(|&(_, decimals)| numbers.push(decimals));
        values().for_each(|&(digits, _)| numbers.push_u64(digits));
    }
    texts.entries
}

/// What stands around the numbers, and the numbers: digits, and how many come after the point.
fn split(sentence: &str) -> (Vec<String>, Vec<(u64, usize)>) {
    let mut texts = vec![String::new()];
    let mut values = Vec::new();
    let mut rest = sentence;
    while let Some(next) = rest.chars().next() {
        let length = number_length(rest);
        match parse(&rest[..length]) {
            Some(value) => {
                values.push(value);
                texts.push(String::new());
                rest = &rest[length..];
            }
            None => {
                let taken = length.max(next.len_utf8());
                if let Some(text) = texts.last_mut() {
                    text.push_str(&rest[..taken]);
                }
                rest = &rest[taken..];
            }
        }
    }
    (texts, values)
}

/// How long the number is that a text begins with: digits, and a point with digits after it.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    match text[whole..].strip_prefix('.') {
        Some(after) if whole > 0 && digits(after) > 0 => whole + 1 + digits(after),
        _ => whole,
    }
}

/// A number that can be written again from its digits alone.
fn parse(text: &str) -> Option<(u64, usize)> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let leading = whole.len() > 1 && whole.starts_with('0');
    let fits = !whole.is_empty() && !leading && whole.len() + decimals.len() <= MOST_DIGITS;
    let digits = format!("{whole}{decimals}").parse().ok()?;
    fits.then_some((digits, decimals.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(texts: &[String], values: &[(u64, usize)]) -> String {
        let mut sentence = texts[0].clone();
        for (text, &(digits, decimals)) in texts[1..].iter().zip(values) {
            let digits = format!("{digits:0>width$}", width = decimals + 1);
            let (whole, after) = digits.split_at(digits.len() - decimals);
            sentence += whole;
            if decimals > 0 {
                sentence += &format!(".{after}");
            }
            sentence += text;
        }
        sentence
    }

    #[test]
    fn sentences_come_back_as_they_were() {
        for sentence in [
            "At any cost 9.30% of a: 34.0 points (-0.5 to 10.0), ratio 0.05 (0 to ∞).",
            "07 of group 1.2.3, 00.5, 1. And 123456789012345 or 0.0",
            "",
            "no number – at all",
        ] {
            let (texts, values) = split(sentence);
            assert_eq!(texts.len(), values.len() + 1);
            assert_eq!(filled(&texts, &values), sentence);
        }
    }

    #[test]
    fn what_differs_in_numbers_alone_is_sent_once() {
        let mut numbers = Numbers::default();
        let all = ["1.5 apart", "20 apart", "3 together"].map(|text| Some(text.to_owned()));
        let texts = write(all.into_iter().chain([None]), &mut numbers);
        assert_eq!(texts, [["", " apart"], ["", " together"]]);
        assert_eq!(numbers.bytes, [1, 1, 2, 0, 1, 0, 0, 15, 20, 3]);
    }
}
