//! What a mistyped name was probably meant to be.

use strsim::levenshtein;

/// How many letters differ, whatever their case.
fn distance(given: &str, name: &str) -> usize {
    levenshtein(&given.to_lowercase(), &name.to_lowercase())
}

/// The names there are, those most like the one given first.
pub fn most_similar<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_cached_key(|name| (distance(given, name), *name));
    names
}

/// The name that was probably meant, if one is close to the one given.
pub fn probably_meant<'n>(
    given: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let first = *most_similar(given, names).first()?;
    (distance(given, first) <= 1 + given.chars().count() / 4).then_some(first)
}
