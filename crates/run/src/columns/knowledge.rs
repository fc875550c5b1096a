//! What the names of columns tell. The words themselves are in `knowledge.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it.
    toml::from_str(include_str!("knowledge.toml")).expect("knowledge.toml is what is declared here")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Knowledge {
    protected: Vec<String>,
    identifier: Vec<String>,
    survey_weight: Vec<String>,
    quantity: Vec<String>,
    label: LabelNames,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelNames {
    strong: Vec<String>,
    weak: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    may: May,
    why: String,
    words: Vec<String>,
}

/// Whether an action may change a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum May {
    /// It may change.
    Change,
    /// It may only rise.
    OnlyUp,
    /// It may only fall.
    OnlyDown,
    /// It may not change.
    Not,
}

/// A column's name, taken apart.
#[derive(Debug)]
pub(super) struct Name(Vec<String>);

impl Name {
    /// The words of a name: `native-country` and `nativeCountry` speak of a country.
    pub(super) fn new(name: &str) -> Self {
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
        Self(words)
    }

    fn speaks_of(&self, entries: &[String]) -> bool {
        let whole = self.0.concat();
        entries.iter().any(|entry| {
            let mut words = entry.split(' ');
            words.all(|word| self.0.iter().any(|known| known == word))
                || entry.replace(' ', "") == whole
        })
    }

    pub(super) fn is_protected(&self) -> bool {
        self.speaks_of(&KNOWLEDGE.protected)
    }

    pub(super) fn is_identifier(&self) -> bool {
        self.speaks_of(&KNOWLEDGE.identifier)
    }

    pub(super) fn is_survey_weight(&self) -> bool {
        self.speaks_of(&KNOWLEDGE.survey_weight)
    }

    pub(super) fn is_quantity(&self) -> bool {
        self.speaks_of(&KNOWLEDGE.quantity)
    }

    /// How much the name speaks of an outcome: 2, 1 or not at all.
    pub(super) fn outcome(&self) -> u8 {
        let LabelNames { strong, weak } = &KNOWLEDGE.label;
        if self.speaks_of(strong) {
            2
        } else {
            u8::from(self.speaks_of(weak))
        }
    }

    /// Whether people can change what the column holds, and why; none if nothing is known.
    pub(super) fn change(&self) -> Option<(May, &'static str)> {
        let rule = KNOWLEDGE
            .rules
            .iter()
            .find(|rule| self.speaks_of(&rule.words));
        rule.map(|rule| (rule.may, rule.why.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(Name::new("native-country").0, ["native", "country"]);
        assert_eq!(Name::new("birthDate").0, ["birth", "date"]);
        assert!(!Name::new("sexagesimal").is_protected());
    }

    #[test]
    fn what_may_change_is_known_by_the_words_of_a_name() {
        let may = |name| Name::new(name).change().map(|(may, _)| may);
        for name in [
            "age",
            "maritalStatus",
            "Mjob",
            "mother_education",
            "pays_naissance",
            "id_student",
        ] {
            assert_eq!(may(name), Some(May::Not), "{name}");
        }
        for name in ["education-num", "edu_level", "years_of_experience"] {
            assert_eq!(may(name), Some(May::OnlyUp), "{name}");
        }
        assert_eq!(may("capitalloss"), Some(May::Not));
        assert_eq!(may("debts"), Some(May::OnlyDown));
        for name in ["hours-per-week", "wages", "storage", "occupation"] {
            assert_eq!(may(name), None, "{name}");
        }
    }

    #[test]
    fn words_are_written_as_names_are_read() {
        let known = &*KNOWLEDGE;
        let lists = [&known.protected, &known.identifier, &known.quantity];
        let rules = known.rules.iter().map(|rule| &rule.words);
        for entry in lists.into_iter().chain(rules).flatten() {
            assert!(
                Name::new(entry).speaks_of(std::slice::from_ref(entry)),
                "{entry}"
            );
        }
    }
}
