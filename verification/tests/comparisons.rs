//! A comparison of audits does not take chance for a change, finds what was planted, and bounds of gaps
//! hold: a short run of `examples/comparisons.rs`, whose record is `records/comparisons.md`.

#![allow(clippy::unwrap_used)]

use facts_verification::retrained::{Models, Way, covered, looks, pairs};

const PEOPLE: usize = 1000;

/// More false alarms than this in 100 pairs has a chance of about 1 % at a rate of 0.05:
/// P(X ≥ 12) for X ~ Binomial(100, 0.05) is 0.0043.
const MOST: usize = 11;

#[test]
fn other_people_are_no_change() {
    let found = pairs(Way::Samples, Models::Same, PEOPLE, 100).unwrap();
    assert!(found.alarms <= MOST, "{found:?}");
}

/// Most people are answered otherwise, and yet nothing has changed for everybody there can be. (Where only one of the
/// audits knows an action, what is said can even be true.)
#[test]
fn other_answers_for_the_same_people_are_no_change() {
    for way in [Way::Samples, Way::SamePeople] {
        let found = pairs(way, Models::Swapped, PEOPLE, 100).unwrap();
        assert!(found.alarms <= MOST, "{way:?}: {found:?}");
    }
}

/// Two trainings of one recipe differ a little. What is said of that is true.
#[test]
fn what_is_said_of_two_trainings_is_true() {
    for way in [Way::Samples, Way::SamePeople] {
        for models in [Models::Fitted(1000), Models::Overfitted] {
            let found = pairs(way, models, PEOPLE, 100).unwrap();
            assert!(
                found.wrong <= MOST && found.gaps <= MOST,
                "{models:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_planted_change_is_found_and_sooner_on_the_same_people() {
    let planted = Models::Planted(20);
    let two = pairs(Way::Samples, planted, PEOPLE, 20).unwrap();
    let same = pairs(Way::SamePeople, planted, PEOPLE, 20).unwrap();
    assert!(same.planted >= 10, "{same:?}");
    assert!(same.planted >= two.planted, "{same:?}, {two:?}");
}

/// That every look spends what it may is asserted in `crates/engine/tests/comparison.rs`; this is the whole way, a few
/// times.
#[test]
fn looking_often_is_no_change() {
    let alarms = (0..10).filter(|&seed| {
        let series = looks(Models::Same, PEOPLE, 24, None, seed).unwrap();
        series.first_change().is_some()
    });
    // P(X ≥ 4) for X ~ Binomial(10, 0.05) is 0.001.
    let alarms = alarms.count();
    assert!(alarms < 4, "{alarms}");
}

#[test]
fn bounds_hold_what_is_true() {
    let found = covered(PEOPLE, 30, 60).unwrap();
    // P(X ≥ 9) for X ~ Binomial(60, 0.05) is 0.0033.
    assert!(found.runs - found.together <= 8, "{found:?}");
    assert!(
        found.alone_hold as f64 >= 0.95 * found.alone as f64,
        "{found:?}"
    );
}
