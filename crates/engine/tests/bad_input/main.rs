//! Input that cannot be audited: each kind gives an error of its own, in words that say what is
//! wrong, where, and what to do. Nothing here may panic.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod actions;
mod audit;
mod definitions;
mod flips;
mod population;
mod subgroups;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_engine::flips::{FnModel, Model};
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Audit, Error, Options, Watch, audit};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn texts<'t, T: Into<Option<&'t str>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<StringArray>())
}

fn integers<T: Into<Option<i64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<Int64Array>())
}

fn floats<T: Into<Option<f64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<Float64Array>())
}

/// Six people, sound in every way; the tests spoil a column of it.
fn people() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("age", floats([20.0, 30.0, 40.0, 25.0, 35.0, 45.0])),
        (
            "job",
            texts(["clerk", "boss", "clerk", "clerk", "boss", "clerk"]),
        ),
        ("rank", texts(["low", "mid", "high", "low", "mid", "high"])),
        ("sex", texts(["f", "f", "f", "m", "m", "m"])),
        ("people", integers([1, 1, 1, 1, 1, 1])),
    ]
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The six people with one column replaced.
fn spoiled(name: &str, column: ArrayRef) -> RecordBatch {
    let mut columns = people();
    let place = columns.iter_mut().find(|(one, _)| *one == name).unwrap();
    place.1 = column;
    table(columns)
}

fn declared(feature: Feature) -> Declaration {
    Declaration::new()
        .feature(feature)
        .protected(Protected::attribute("sex"))
}

/// Bosses are favoured.
fn favours_bosses() -> impl Model {
    FnModel::new(|batch: &RecordBatch| {
        let jobs = batch.column_by_name("job").unwrap().as_string::<i32>();
        jobs.iter().map(|job| job == Some("boss")).collect()
    })
}

/// The error of reading a table.
fn unread(declaration: Declaration, table: &RecordBatch) -> String {
    declaration.read([table]).unwrap_err().to_string()
}

/// What an audit with a model that favours bosses says.
fn audited(declaration: Declaration, table: &RecordBatch) -> Result<Audit, Error> {
    let population = declaration.read([table])?;
    audit(
        &population,
        &favours_bosses(),
        &Options::new(),
        Watch::nobody(),
    )
}

/// The error of an audit of the six people.
fn unaudited(declaration: Declaration) -> String {
    audited(declaration, &table(people()))
        .unwrap_err()
        .to_string()
}

/// The error of an audit of the six people with another model.
fn misjudged(model: &impl Model) -> String {
    misjudged_with(model, &Options::new())
}

fn misjudged_with(model: &impl Model, options: &Options) -> String {
    let population = declared(Feature::categorical("job"))
        .read([table(people())])
        .unwrap();
    audit(&population, model, options, Watch::nobody())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_six_people_are_sound() {
    let found = audited(declared(Feature::categorical("job")), &table(people())).unwrap();
    assert_eq!(found.sizes.pairs, 1);
}

/// A table without much order: `rows` people in two groups, four features of three levels.
fn crowd(rows: usize, seed: u64) -> RecordBatch {
    let mut state = seed;
    let mut draw = |levels: u64| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % levels
    };
    // Of two draws the lower: lower levels are held more often.
    let mut column = |levels| -> ArrayRef {
        let level = |_| ["a", "b", "c"][draw(levels).min(draw(levels)) as usize];
        texts((0..rows).map(level).collect::<Vec<_>>())
    };
    let names = ["p", "q", "r", "s"].map(|name| (name, column(3)));
    table([names.to_vec(), vec![("group", column(2))]].concat())
}

/// Audits a crowd with a model that looks at all features.
fn audit_crowd(table: &RecordBatch, options: &Options, watch: Watch<'_>) -> Result<Audit, Error> {
    let population = Declaration::new()
        .features(["p", "q", "r", "s"].map(Feature::categorical))
        .protected(Protected::attribute("group"))
        .read([table])?;
    let model = FnModel::new(|batch: &RecordBatch| {
        let points = |row: usize| -> usize {
            let features = &batch.columns()[..4];
            let texts = features
                .iter()
                .map(|column| column.as_string::<i32>().value(row));
            let points = texts
                .enumerate()
                .map(|(i, text)| (i + 1) * usize::from(text != "a"));
            points.sum()
        };
        (0..batch.num_rows()).map(|row| points(row) > 4).collect()
    });
    audit(&population, &model, options, watch)
}

/// So many cases, always the same ones, unless the environment asks for others.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = |name| std::env::var_os(name).is_some();
    ProptestConfig {
        cases: match asked("PROPTEST_CASES") {
            true => default.cases,
            false => cases,
        },
        rng_seed: match asked("PROPTEST_RNG_SEED") {
            true => default.rng_seed,
            false => RngSeed::Fixed(17),
        },
        failure_persistence: None,
        ..default
    }
}
