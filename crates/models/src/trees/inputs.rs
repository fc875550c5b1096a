//! What the trees look at: which column each feature comes from, and which number each value
//! becomes.
//!
//! Both libraries know numbers only. Text reaches them as the place of a category in a list that
//! was fixed in training; the list is part of the model and is applied here.

use std::collections::BTreeMap;

use facts_engine::flips::ModelError;
use facts_engine::population::{Column, Value};

use super::Precision;
use crate::columns;
use crate::open::{self, InputKind, OpenOptions, Spelling};

/// Everything that the trees look at, by feature.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub(crate) inputs: Vec<Input>,
    /// The precision in which numbers are compared.
    pub(crate) precision: Precision,
    /// How the library spells the names of columns.
    pub(crate) spelling: Spelling,
}

/// One feature.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The name of the table's column.
    pub(crate) column: String,
    /// Its place among all features, if the model does not know its name.
    pub(crate) unnamed: Option<usize>,
    pub(crate) kind: FeatureKind,
}

/// How the values of a feature become numbers.
#[derive(Clone, Debug)]
pub(crate) enum FeatureKind {
    /// They are numbers.
    Number,
    /// They are numbers of categories, of which the model does not know the names.
    Codes,
    /// They are categories.
    Categories(Categories),
}

/// The categories of a feature, in the order of training.
#[derive(Clone, Debug)]
pub(crate) struct Categories {
    labels: Vec<Category>,
    codes: BTreeMap<Key, usize>,
    unknown: Unknown,
}

/// One category.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Category {
    Text(String),
    Number(f64),
    Boolean(bool),
}

/// What a value that is no category becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// A missing value: LightGBM.
    Missing,
    /// An error: XGBoost.
    Refused,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(String),
    Number(u64),
}

impl Key {
    fn number(number: f64) -> Self {
        // 0 and -0 are the same category.
        Self::Number((number + 0.0).to_bits())
    }
}

impl Category {
    fn key(&self) -> Key {
        match self {
            Self::Text(text) => Key::Text(text.clone()),
            Self::Number(number) => Key::number(*number),
            Self::Boolean(boolean) => Key::number(f64::from(u8::from(*boolean))),
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }
}

impl Categories {
    /// Categories by their numbers.
    pub(crate) fn new(labels: Vec<Category>, unknown: Unknown) -> Self {
        let codes = labels.iter().enumerate();
        let codes = codes.map(|(code, label)| (label.key(), code)).collect();
        Self {
            labels,
            codes,
            unknown,
        }
    }

    /// The number of a value, if it is a category: of its own type, or written like one.
    fn code(&self, value: &Value) -> Option<usize> {
        let number = match value {
            Value::Null => return None,
            Value::Text(text) if text.eq_ignore_ascii_case("true") => Some(1.0),
            Value::Text(text) if text.eq_ignore_ascii_case("false") => Some(0.0),
            other => other.number(),
        };
        let as_text = || self.codes.get(&Key::Text(value.label()));
        let as_number = || self.codes.get(&Key::number(number?));
        let code = match value {
            Value::Text(_) => as_text().or_else(as_number),
            _ => as_number().or_else(as_text),
        };
        code.copied()
    }

    fn kind(&self) -> InputKind {
        let all = |is: fn(&Category) -> bool| self.labels.iter().all(is);
        if all(|label| matches!(label, Category::Text(_))) {
            InputKind::Text(Some(self.labels.iter().map(Category::label).collect()))
        } else if all(|label| matches!(label, Category::Number(_))) {
            InputKind::Number
        } else {
            InputKind::Any
        }
    }

    fn unknown(&self, value: &Value) -> String {
        const SHOWN: usize = 10;
        let mut labels: Vec<String> = self.labels.iter().map(Category::label).collect();
        // XGBoost 3.1 and 3.2 count letters where they cut bytes.
        let cut = if labels.iter().all(|label| label.is_ascii()) {
            ""
        } else {
            "; some of the names are not plain ASCII, and XGBoost cuts such names off when it is trained from pandas: rename them and train again"
        };
        if labels.len() > SHOWN {
            labels.truncate(SHOWN);
            labels.push("…".to_owned());
        }
        format!(
            "`{}` is not among the categories that the model was trained with ({}), and XGBoost refuses others; drop such rows, or make the value missing{cut}",
            value.label(),
            labels.join(", ")
        )
    }
}

impl FeatureKind {
    fn number(&self, value: &Value, precision: Precision) -> Result<f64, String> {
        let number = || {
            match value {
            Value::Null => Ok(f64::NAN),
            other => other.number().ok_or_else(|| {
                let label = other.label();
                match self {
                    Self::Codes => format!(
                        "`{label}` is not a number, and the model does not know the names of its categories; give it the numbers it was trained with, or train it from a table with named categories"
                    ),
                    _ => format!("`{label}` is not a number, and the model was trained on numbers"),
                }
            }),
        }
        };
        match self {
            Self::Number | Self::Codes => Ok(precision.round(number()?)),
            Self::Categories(categories) => match (categories.code(value), categories.unknown) {
                (Some(code), _) => Ok(code as f64),
                (None, Unknown::Refused) if !is_missing(value) => Err(categories.unknown(value)),
                (None, _) => Ok(f64::NAN),
            },
        }
    }
}

fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Float(number) => number.is_nan(),
        _ => false,
    }
}

impl Inputs {
    /// The inputs as a caller sees them.
    pub(crate) fn told(&self) -> Vec<open::Input> {
        self.inputs
            .iter()
            .map(|input| open::Input {
                column: input.column.clone(),
                kind: match &input.kind {
                    FeatureKind::Number | FeatureKind::Codes => InputKind::Number,
                    FeatureKind::Categories(categories) => categories.kind(),
                },
                spelling: self.spelling,
            })
            .collect()
    }

    /// Calls the inputs as the table calls them.
    pub(crate) fn rename(&mut self, options: &OpenOptions) {
        for input in &mut self.inputs {
            let by_place = || input.unnamed.and_then(|place| options.order.get(place));
            if let Some(column) = options.columns.get(&input.column).or_else(by_place) {
                input.column.clone_from(column);
            }
        }
    }

    /// The place, among these columns, of the one that each input reads.
    pub(crate) fn find(&self, table: &[&str]) -> Result<Vec<usize>, ModelError> {
        let find = |input: &Input| {
            let found = columns::find(&input.column, self.spelling, table);
            found.ok_or_else(|| columns::not_given(&input.column))
        };
        self.inputs.iter().map(find).collect()
    }

    /// The number of each value of a column that an input reads.
    pub(crate) fn numbers(&self, input: usize, column: &Column) -> Result<Vec<f64>, ModelError> {
        let kind = &self.inputs[input].kind;
        let numbers = column.values().iter().map(|value| {
            let number = kind.number(value, self.precision);
            number.map_err(|why| ModelError::column(column.name(), why))
        });
        numbers.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn categories(labels: Vec<Category>, unknown: Unknown) -> FeatureKind {
        FeatureKind::Categories(Categories::new(labels, unknown))
    }

    #[test]
    fn categories_are_found_by_value_or_by_text() {
        let numbers = vec![Category::Number(3.0), Category::Number(0.0)];
        let numbers = categories(numbers, Unknown::Missing);
        let number = |kind: &FeatureKind, value| kind.number(&value, Precision::Double).unwrap();
        assert_eq!(number(&numbers, Value::Integer(3)), 0.0);
        assert_eq!(number(&numbers, Value::Float(-0.0)), 1.0);
        assert_eq!(number(&numbers, text("3")), 0.0);
        assert!(number(&numbers, Value::Integer(4)).is_nan());
        assert!(number(&numbers, Value::Null).is_nan());

        let texts = vec![Category::Text("3".into()), Category::Text(" a".into())];
        let texts = categories(texts, Unknown::Missing);
        assert_eq!(number(&texts, Value::Integer(3)), 0.0);
        assert_eq!(number(&texts, text(" a")), 1.0);
        assert!(number(&texts, text("a")).is_nan());

        let booleans = vec![Category::Boolean(false), Category::Boolean(true)];
        let booleans = categories(booleans, Unknown::Missing);
        assert_eq!(number(&booleans, Value::Boolean(true)), 1.0);
        assert_eq!(number(&booleans, text("False")), 0.0);
    }

    #[test]
    fn what_cannot_be_a_number_is_named() {
        let number = |kind: &FeatureKind, value: &Value| kind.number(value, Precision::Single);
        assert_eq!(
            number(&FeatureKind::Number, &text("x")).unwrap_err(),
            "`x` is not a number, and the model was trained on numbers"
        );
        assert!(
            number(&FeatureKind::Codes, &text("x"))
                .unwrap_err()
                .contains("does not know the names of its categories")
        );
        let refusing = categories(vec![Category::Text("a".into())], Unknown::Refused);
        assert!(number(&refusing, &Value::Null).unwrap().is_nan());
        assert_eq!(
            number(&refusing, &text("b")).unwrap_err(),
            "`b` is not among the categories that the model was trained with (a), and XGBoost refuses others; drop such rows, or make the value missing"
        );
        assert_eq!(
            number(&FeatureKind::Number, &Value::Float(0.1)).unwrap(),
            f64::from(0.1_f32)
        );
    }
}
