//! What an audit takes of memory is bounded by what it may take, as the allocator counts it.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Protected, TableReader};
use facts_engine::{Error, Options, Watch, audit};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What is allocated is counted for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// People who agree in nearly everything: every set of items is frequent, four million of them.
#[test]
fn a_large_limit_of_subgroups_does_not_lift_that_of_memory() {
    const FEATURES: usize = 22;
    let _alone = ALONE.lock();
    let names: Vec<String> = (0..FEATURES).map(|feature| format!("f{feature}")).collect();
    let texts = |text: &dyn Fn(usize) -> &'static str| -> ArrayRef {
        Arc::new((0..400).map(|row| Some(text(row))).collect::<StringArray>())
    };
    let mut columns: Vec<(&str, ArrayRef)> = vec![("group", texts(&|row| ["a", "b"][row % 2]))];
    for (feature, name) in names.iter().enumerate() {
        let odd = move |row: usize| if row == feature { "odd" } else { "same" };
        columns.push((name, texts(&odd)));
    }
    columns.push(("score", texts(&|row| ["low", "high"][row / 2 % 2])));
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let population = Declaration::new()
        .features(names.iter().map(Feature::categorical))
        .features([Feature::categorical("score")])
        .protected(Protected::attribute("group"))
        .read([&table])
        .unwrap();
    let model = FnModel::new(|rows: &RecordBatch| {
        let score = rows.column_by_name("score").unwrap().as_string::<i32>();
        score.iter().map(|score| score == Some("high")).collect()
    });
    for limit in [8_u64 << 20, 48 << 20] {
        let options = Options::new().max_memory(limit).max_subgroups(1 << 30);
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let error = audit(&population, &model, &options, Watch::nobody()).unwrap_err();
        let taken = (ALLOCATED.peak_usage() - before) as u64;
        assert!(
            matches!(&error, Error::ItemsetsTooLarge { found, .. } if *found > 1000),
            "{error}"
        );
        assert!(taken <= limit, "{taken} of {limit}");
        assert!(
            taken > limit / 8,
            "{taken}: the estimate is far from what is needed"
        );
    }
}

/// A table that would take too much is refused while it is read; nearly as large a one is not, and
/// neither is one of many equal rows.
#[test]
fn a_table_is_refused_before_it_takes_too_much() {
    const LIMIT: u64 = 64 << 20;
    let _alone = ALONE.lock();
    let batch = |first: usize, distinct: usize| {
        let rows = first..first + 10_000;
        let numbers: Float64Array = rows
            .clone()
            .map(|row| (row % distinct) as f64 / 7.0)
            .collect();
        let texts: StringArray = rows.map(|row| Some(["a", "b"][row % 2])).collect();
        let columns: [(&str, ArrayRef); 2] = [("x", Arc::new(numbers)), ("y", Arc::new(texts))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let read = |distinct: usize| -> (u64, Result<usize, Error>) {
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let mut reader = TableReader::new().within(LIMIT);
        let pushed = (0..200).try_for_each(|i| reader.push(&batch(i * 10_000, distinct)));
        let taken = (ALLOCATED.peak_usage() - before) as u64;
        (taken, pushed.map(|()| reader.finish().rows()))
    };
    let (taken, refused) = read(usize::MAX);
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, Error::TableTooLarge { column, values, limit_mib: 64, .. } if column == "x" && *values > 50_000),
        "{error}"
    );
    // Vectors and hash tables double: while they do, old and new are there.
    assert!(taken <= LIMIT, "{taken} of {LIMIT}");
    assert!(taken > LIMIT / 8, "{taken}: refused too early");
    assert_eq!(read(1000).1.unwrap(), 2_000_000);
    assert_eq!(read(50_000).1.unwrap(), 2_000_000);
}
