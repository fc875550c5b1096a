//! Costs, scores and edges that may be infinite, in formats that know no infinity: `"inf"`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Infinite(Infinite),
}

#[derive(Serialize, Deserialize)]
enum Infinite {
    #[serde(rename = "inf")]
    Positive,
    #[serde(rename = "-inf")]
    Negative,
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        if number == f64::INFINITY {
            Self::Infinite(Infinite::Positive)
        } else if number == f64::NEG_INFINITY {
            Self::Infinite(Infinite::Negative)
        } else {
            Self::Finite(number)
        }
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Finite(number) => number,
            Number::Infinite(Infinite::Positive) => f64::INFINITY,
            Number::Infinite(Infinite::Negative) => f64::NEG_INFINITY,
        }
    }
}

/// Writes a number that is not NaN.
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number::from(*number).serialize(serializer)
}

/// Reads it back.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Number::deserialize(deserializer)?.into())
}

/// The same for several numbers.
pub(crate) mod list {
    use crate::infinity::{Deserialize, Deserializer, Number, Serializer};

    pub(crate) fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().copied().map(Number::from))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Number>::deserialize(from)?;
        Ok(numbers.into_iter().map(f64::from).collect())
    }
}

/// The same for a number that may be absent.
pub(crate) mod optional {
    use crate::infinity::{Deserialize, Deserializer, Number, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        number.map(Number::from).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(from)?.map(f64::from))
    }
}
