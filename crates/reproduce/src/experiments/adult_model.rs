//! The logistic regression that the authors' code fits on Adult with sex protected.

use std::collections::BTreeMap;

use facts_models::{AdditiveModel, Unseen};
use serde::Deserialize;

/// Coefficients as scikit-learn's one-hot pipeline has them. The reference results of `verification` were made
/// with this model.
const COEFFICIENTS: &str = include_str!("adult_model.json");

#[derive(Deserialize)]
struct Coefficients {
    intercept: f64,
    onehot: Vec<OneHot>,
    numeric: Vec<Number>,
}

#[derive(Deserialize)]
struct OneHot {
    feature: String,
    value: String,
    coef: f64,
}

#[derive(Deserialize)]
struct Number {
    feature: String,
    coef: f64,
}

/// The authors' model for Adult with sex protected, fitted by scikit-learn on the train part of the split
/// with seed 131313. Its solver stops before it converges, so that no other training meets it to the digit.
pub fn authors_model() -> Result<AdditiveModel, serde_json::Error> {
    let read: Coefficients = serde_json::from_str(COEFFICIENTS)?;
    let mut levels: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for one in read.onehot {
        levels
            .entry(one.feature)
            .or_default()
            .insert(one.value, one.coef);
    }
    let numbers = read.numeric.into_iter();
    Ok(AdditiveModel {
        intercept: read.intercept,
        levels,
        numbers: numbers.map(|n| (n.feature, n.coef)).collect(),
        unseen: Unseen::Zero,
        ..AdditiveModel::default()
    })
}
