//! Conditions on predicates: `occupation = Sales and age >= 30`.
//!
//! They select subgroups by what their predicates *say*, not by who belongs to them: `occupation =
//! Sales` selects the subgroups whose predicate contains that item. A feature alone selects those
//! that speak of it, and `!=` those that do not contain the item.

use facts_engine::answer::Wanted;
use facts_engine::population::{Kind, Levels};
use facts_engine::similar::{most_similar, probably_meant};
use facts_engine::subgroups::{Item, Operator, Predicate};

/// Conditions that a predicate meets if all of them hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Has(Item),
    HasNot(Item),
    SpeaksOf(u32),
    /// Of a person alone: their own number compares so, or does not.
    Number(u32, Operator, f64, bool),
}

/// What conditions are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Predicates,
    People,
}

impl Conditions {
    /// Reads conditions joined by `and` or commas; the features and their levels decide where one
    /// ends, so that levels may contain commas.
    pub fn parse(text: &str, features: &[Levels]) -> Result<Self, String> {
        Self::read(text, features, About::Predicates)
    }

    /// The same on a person, whose own number can be compared where levels are bins: `years >= 7`.
    pub fn parse_of_a_person(text: &str, features: &[Levels]) -> Result<Self, String> {
        Self::read(text, features, About::People)
    }

    fn read(text: &str, features: &[Levels], about: About) -> Result<Self, String> {
        let conditions = conditions(text.trim(), features, about)?;
        if conditions.is_empty() {
            return Err("no condition is given; write one such as `occupation = Sales`".to_owned());
        }
        Ok(Self { conditions })
    }

    /// Whether a predicate meets them.
    pub fn admit(&self, predicate: &Predicate) -> bool {
        let items = predicate.items();
        self.conditions.iter().all(|condition| match condition {
            Condition::Has(item) => items.contains(item),
            Condition::HasNot(item) => !items.contains(item),
            Condition::SpeaksOf(feature) => items.iter().any(|item| item.feature == *feature),
            // No predicate says it: levels are bins.
            Condition::Number(..) => false,
        })
    }

    /// The same conditions on a person; none if a feature stands alone, which says nothing of a person.
    pub fn of_a_person(&self) -> Option<Vec<Wanted>> {
        let wanted = self.conditions.iter().map(|condition| match condition {
            Condition::Has(item) => Some(Wanted::Item(*item, true)),
            Condition::HasNot(item) => Some(Wanted::Item(*item, false)),
            Condition::SpeaksOf(_) => None,
            &Condition::Number(feature, operator, number, is) => Some(Wanted::Number {
                feature,
                operator,
                number,
                is,
            }),
        });
        wanted.collect()
    }

    /// The predicate of exactly these items, if the conditions are items.
    pub fn exactly(&self) -> Option<Vec<Item>> {
        let mut items = self
            .conditions
            .iter()
            .map(|condition| match condition {
                Condition::Has(item) => Some(*item),
                _ => None,
            })
            .collect::<Option<Vec<Item>>>()?;
        items.sort();
        Some(items)
    }
}

/// What follows the `and` or comma after a condition; empty at the end.
fn next(after: &str) -> Option<&str> {
    let after = after.trim_start();
    if after.is_empty() {
        return Some(after);
    }
    let joined = after.strip_prefix(',').or_else(|| {
        let word = after.get(..3)?;
        let end = after[3..].starts_with(char::is_whitespace);
        (word.eq_ignore_ascii_case("and") && end).then(|| &after[3..])
    })?;
    Some(joined.trim_start())
}

/// All conditions of a text. Where names and levels begin alike, the longest that leads to a reading
/// of the whole text is meant.
fn conditions(text: &str, features: &[Levels], about: About) -> Result<Vec<Condition>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut first_failure = None;
    let mut read = |condition: Condition, after: &str| -> Option<Vec<Condition>> {
        let rest = next(after)
            .ok_or_else(|| format!("expected `and` or a comma before `{}`", after.trim()))
            .and_then(|rest| conditions(rest, features, about));
        match rest {
            Ok(mut rest) => {
                rest.insert(0, condition);
                Some(rest)
            }
            Err(why) => {
                first_failure.get_or_insert(why);
                None
            }
        }
    };
    let names = features.iter().map(|levels| levels.name.as_str());
    let mut unknown_level = None;
    for (f, after) in beginnings(text, names.clone()).filter(|(_, after)| !starts_name(after)) {
        let feature = f as u32;
        let rest = after.trim_start();
        let Some((symbol, operator)) = OPERATORS.iter().find(|(s, _)| rest.starts_with(s)) else {
            if let Some(found) = read(Condition::SpeaksOf(feature), after) {
                return Ok(found);
            }
            continue;
        };
        let rest = rest[symbol.len()..].trim_start();
        let labels = || features[f].levels.iter().map(|level| level.label.trim());
        for (level, after) in beginnings(rest, labels()).filter(|(_, after)| next(after).is_some())
        {
            let item = |operator| Item {
                feature,
                operator,
                level: level as u32,
            };
            let condition = match operator {
                Some(operator) => Condition::Has(item(*operator)),
                None => Condition::HasNot(item(Operator::Is)),
            };
            if let Some(found) = read(condition, after) {
                return Ok(found);
            }
        }
        let has_numbers = matches!(features[f].kind, Kind::Binned(_) | Kind::Numeric);
        let of_numbers = has_numbers && about == About::People;
        if let Some((number, after)) = number(rest).filter(|_| of_numbers) {
            let (operator, is) = (operator.unwrap_or(Operator::Is), operator.is_some());
            if let Some(found) = read(Condition::Number(feature, operator, number, is), after) {
                return Ok(found);
            }
            continue;
        }
        unknown_level.get_or_insert_with(|| {
            let given = rest.split(" and ").next().unwrap_or(rest).trim();
            if of_numbers {
                let first = labels().next().unwrap_or_default();
                return format!(
                    "`{given}` is no number and no level of `{}`; write one such as `{0} >= 7` or `{0} = {first}`",
                    features[f].name.trim()
                );
            }
            let hint = hint(given, labels());
            format!(
                "feature `{}` has no level `{given}`{hint}",
                features[f].name
            )
        });
    }
    Err(first_failure.or(unknown_level).unwrap_or_else(|| {
        let given = text.split(['=', '<', '>', '!', ',']).next().unwrap_or(text);
        let hint = hint(given.trim(), names);
        format!("no feature is called `{}`{hint}", given.trim())
    }))
}

/// How levels are compared in a condition; `!=` has no operator of its own.
const OPERATORS: [(&str, Option<Operator>); 5] = [
    ("!=", None),
    ("<=", Some(Operator::AtMost)),
    (">=", Some(Operator::AtLeast)),
    ("==", Some(Operator::Is)),
    ("=", Some(Operator::Is)),
];

/// The number that a text begins with, up to a blank or a comma, and what follows.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| c == ',' || c.is_whitespace());
    let (number, after) = text.split_at(end.unwrap_or(text.len()));
    let number = number
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite());
    number
        .filter(|_| next(after).is_some())
        .map(|number| (number, after))
}

/// Whether a text goes on with what could be part of a name.
fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
}

/// The names that a text begins with, the longest first: their places, and what follows.
fn beginnings<'t, 'n>(
    text: &'t str,
    names: impl Iterator<Item = &'n str>,
) -> impl Iterator<Item = (usize, &'t str)> {
    let mut found: Vec<(usize, usize, &str)> = names
        .enumerate()
        .filter_map(|(place, name)| Some((name.len(), place, text.strip_prefix(name)?)))
        .collect();
    found.sort_by_key(|&(length, place, _)| (std::cmp::Reverse(length), place));
    found.into_iter().map(|(_, place, after)| (place, after))
}

/// What was perhaps meant, or what there is.
fn hint<'n>(given: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    if let Some(name) = probably_meant(given, names.clone()) {
        return format!("; did you mean `{name}`?");
    }
    let names = most_similar(given, names);
    let some: Vec<&str> = names.iter().take(8).copied().collect();
    let more = if names.len() > some.len() {
        ", …"
    } else {
        ""
    };
    format!("; there are: {}{more}", some.join(", "))
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use facts_engine::population::{Declaration, Feature, Protected};
    use std::sync::Arc;

    use super::*;

    fn features() -> Vec<Levels> {
        let column = |values: [&str; 3]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let table = RecordBatch::try_from_iter([
            ("age", column(["(16, 26]", "(26, 34]", "(34, 90]"])),
            ("age-group", column(["a", "b", "c"])),
            ("job", column(["clerk", "sales and marketing", "sales"])),
            ("sex", column(["F", "M", "F"])),
        ])
        .unwrap();
        Declaration::new()
            .feature(Feature::ordinal(
                "age",
                ["(16, 26]", "(26, 34]", "(34, 90]"],
            ))
            .feature(Feature::categorical("age-group"))
            .feature(Feature::categorical("job"))
            .protected(Protected::attribute("sex"))
            .read([table])
            .unwrap()
            .features()
            .to_vec()
    }

    fn text(condition: &Condition, features: &[Levels]) -> String {
        match condition {
            Condition::Has(item) => item.text(features),
            Condition::HasNot(item) => format!("not {}", item.text(features)),
            Condition::SpeaksOf(feature) => features[*feature as usize].name.clone(),
            Condition::Number(..) => unreachable!("no predicate says so"),
        }
    }

    #[test]
    fn levels_may_contain_commas_and_the_word_and() {
        let features = features();
        let read = |given: &str| -> Vec<String> {
            let given = Conditions::parse(given, &features).unwrap();
            given
                .conditions
                .iter()
                .map(|c| text(c, &features))
                .collect()
        };
        assert_eq!(
            read("age = (26, 34], job = sales and marketing and age-group=b"),
            [
                "age = (26, 34]",
                "job = sales and marketing",
                "age-group = b"
            ]
        );
        assert_eq!(read("age >= (26, 34] AND job"), ["age >= (26, 34]", "job"]);
        assert_eq!(read("job!=clerk"), ["not job = clerk"]);
        assert_eq!(read("age-group"), ["age-group"]);
    }

    #[test]
    fn a_shorter_level_is_meant_where_the_longer_leads_nowhere() {
        let features = features();
        let read = |given: &str| {
            Conditions::parse(given, &features)
                .unwrap()
                .conditions
                .len()
        };
        assert_eq!(read("job = sales and age = (16, 26]"), 2);
        assert_eq!(read("job = sales and marketing, age"), 2);
        assert_eq!(read("age-group = a, age = (16, 26]"), 2);
    }

    #[test]
    fn a_wrong_condition_says_what_there_is() {
        let features = features();
        let message = |given: &str| Conditions::parse(given, &features).unwrap_err();
        assert_eq!(
            message("jobs = clerk"),
            "no feature is called `jobs`; did you mean `job`?"
        );
        assert_eq!(
            message("job = clerks"),
            "feature `job` has no level `clerks`; did you mean `clerk`?"
        );
        assert_eq!(
            message("salary = 1"),
            "no feature is called `salary`; there are: age, job, age-group"
        );
        assert_eq!(
            message("job = sales or age"),
            "feature `job` has no level `sales or age`; there are: sales, clerk, sales and marketing"
        );
        assert!(message("  ").starts_with("no condition"));
    }

    #[test]
    fn a_predicate_is_found_by_its_own_text() {
        let features = features();
        let given = Conditions::parse("job = clerk, age = (16, 26]", &features).unwrap();
        let items = given.exactly().unwrap();
        let predicate: Predicate =
            serde_json::from_value(serde_json::to_value(items).unwrap()).unwrap();
        assert_eq!(predicate.text(&features), "age = (16, 26], job = clerk");
        assert!(given.admit(&predicate));
        assert_eq!(Conditions::parse("job", &features).unwrap().exactly(), None);
    }
}
