//! Chance is not taken for a finding, and what was planted is found: 200 made-up populations each,
//! mined and tested from the start. The whole tables, with more repeats, are in
//! `docs/evidence-simulations.md`.

#![allow(clippy::unwrap_used)]

use facts_verification::pairs::pairs_found;
use facts_verification::simulation::{self, DEFINITIONS, Truth, World};

const REPEATS: u64 = 200;

/// More false findings than this in 200 repeats has a chance of about 1 % at a rate of 0.05:
/// P(X ≥ 19) for X ~ Binomial(200, 0.05) is 0.0057.
const MOST: usize = 18;

fn null(truth: Truth) {
    let world = World {
        people: 800,
        shuffles: 99,
        truth,
    };
    let repeats = world.repeats(REPEATS).unwrap();
    let mined: usize = repeats.iter().map(|repeat| repeat.subgroups).sum();
    assert!(
        mined > 35 * REPEATS as usize,
        "only {mined} subgroups in all"
    );
    let wrong = simulation::false_findings(&repeats);
    let worst = wrong.iter().flatten().max().unwrap();
    assert!(*worst <= MOST, "{wrong:?}");
    let [_, together, _] = simulation::found_by_any(&repeats);
    assert!(together <= MOST, "{together} for all definitions together");
    for limit in [0.01, 0.05, 0.1, 0.2, 0.5] {
        let binomial_error = 3.0 * (limit * (1.0 - limit) / REPEATS as f64).sqrt();
        let shares = simulation::fixed_at_most(&repeats, limit);
        for (definition, [alone, ..]) in DEFINITIONS.iter().zip(shares) {
            assert!(
                alone <= limit + binomial_error,
                "{definition}: p is at most {limit} in {alone} of the repeats"
            );
        }
    }
}

#[test]
fn shuffled_labels_are_no_finding() {
    null(Truth::Shuffled);
}

#[test]
fn shares_that_differ_between_subgroups_are_no_finding() {
    null(Truth::SharesDiffer);
}

#[test]
fn ties_near_a_threshold_are_no_finding() {
    null(Truth::NearPhi);
}

/// Two groups that are alike are not said to differ because a third does, which is found: a short run of
/// `examples/pairs.rs`, whose record is `records/pairs.md`.
#[test]
fn a_pair_that_is_alike_is_no_finding() {
    let world = World {
        people: 800,
        shuffles: 99,
        truth: Truth::ThirdDiffers(30),
    };
    let found = pairs_found(world, 60).unwrap();
    // P(X ≥ 9) for X ~ Binomial(60, 0.05) is 0.0033.
    assert!(found.alike <= 8, "{found:?}");
    assert!(found.third >= 30, "{found:?}");
}

/// The table in the docs says how often what was planted is found. One of its cells, again.
#[test]
fn planted_effects_are_found_as_often_as_the_docs_say() {
    let docs = include_str!("../../docs/evidence-simulations.md");
    let cell = simulation::POWER[1];
    let repeats = cell.world().repeats(REPEATS).unwrap();
    let shares = simulation::fixed_at_most(&repeats, simulation::ALPHA);
    let mut compared = 0;
    for (definition, shares) in DEFINITIONS.iter().zip(shares) {
        let Some(stated) = simulation::stated_power(docs, cell, definition) else {
            continue;
        };
        for (stated, found) in stated.into_iter().zip(shares) {
            let spread = (stated * (1.0 - stated)).max(0.02) / REPEATS as f64;
            let error = 3.5 * spread.sqrt();
            let off = (stated - found).abs();
            assert!(off <= error, "{definition}: {found}, the docs say {stated}");
            compared += 1;
        }
    }
    assert!(compared >= 3 * 10, "only {compared} figures compared");
}
