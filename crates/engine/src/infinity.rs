//! Costs and scores that may be infinite, in formats that know no infinity: `"inf"`.

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
}

/// Writes a number that is not NaN and not −∞.
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.is_finite() {
        Number::Finite(*number).serialize(serializer)
    } else {
        Number::Infinite(Infinite::Positive).serialize(serializer)
    }
}

/// Reads it back.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(match Number::deserialize(deserializer)? {
        Number::Finite(number) => number,
        Number::Infinite(Infinite::Positive) => f64::INFINITY,
    })
}
