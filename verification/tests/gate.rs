//! The gate seldom fails when nothing changed, and finds what was planted as often as the docs say. The
//! whole tables are in `verification/records/gate.md`.

#![allow(clippy::unwrap_used)]

use facts_verification::gate::{EQUAL, WORSE, stated_power};

/// More false alarms than this in 60 pairs has a chance of under 1 % at a rate of 0.05: P(X ≥ 9) for
/// X ~ Binomial(60, 0.05) is 0.003.
const MOST: usize = 8;

#[test]
fn equal_models_seldom_fail() {
    for pairs in [EQUAL[1], EQUAL[2]] {
        let judged = pairs.judged(60).unwrap();
        let alarms = judged.iter().filter(|judged| judged.failed).count();
        assert!(alarms <= MOST, "{}: {alarms}", pairs.heading());
    }
}

#[test]
fn a_planted_regression_is_found_as_often_as_the_docs_say() {
    let docs = include_str!("../../docs/check.md");
    let pairs = WORSE[2];
    let stated = stated_power(docs, pairs).unwrap() / 100.0;
    let judged = pairs.judged(30).unwrap();
    let found = judged.iter().filter(|judged| judged.named).count() as f64 / 30.0;
    let error = 4.0 * (stated * (1.0 - stated) / 30.0).sqrt() + 0.01;
    assert!(
        (found - stated).abs() <= error,
        "{found}, and the docs say {stated}"
    );
    for pairs in WORSE {
        assert!(stated_power(docs, pairs).is_some(), "{}", pairs.heading());
    }
}
