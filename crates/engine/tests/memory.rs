//! What an audit takes of memory is bounded by what it may take, as the allocator counts it.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use facts_engine::answer::{self, Answer};
use facts_engine::definitions;
use facts_engine::evidence::{self, Evidence, Gathering};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Population, Protected, TableReader};
use facts_engine::{Error, Options, Watch, audit, audit_with_individuals};
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

/// What an audit takes beside what is counted, whatever its size: stacks, names, and what threads wait with.
const BESIDE: u64 = 4 << 20;

/// People of some groups with features of three levels each; all of them differ if `apart`.
fn people(rows: usize, groups: usize, features: usize, apart: bool) -> Population {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let names: Vec<String> = (0..features).map(|feature| format!("f{feature}")).collect();
    let group: StringArray = (0..rows)
        .map(|_| Some(["a", "b", "c", "d", "e"][draw(groups as u64) as usize]))
        .collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![("group", Arc::new(group))];
    for name in &names {
        let levels: StringArray = (0..rows)
            .map(|_| Some(["low", "middle", "high"][draw(3) as usize]))
            .collect();
        columns.push((name, Arc::new(levels)));
    }
    let number: Float64Array = (0..rows)
        .map(|row| if apart { row as f64 } else { draw(4) as f64 })
        .collect();
    columns.push(("number", Arc::new(number)));
    let table = RecordBatch::try_from_iter(columns).unwrap();
    Declaration::new()
        .features(names.iter().map(Feature::categorical))
        .context("number")
        .protected(Protected::attribute("group"))
        .read([&table])
        .unwrap()
}

/// An audit with all that is made of it.
fn whole_audit(population: &Population, limit: u64) -> Result<(Evidence, Answer), Error> {
    let model = FnModel::new(|rows: &RecordBatch| {
        let text = |name: &str| rows.column_by_name(name).unwrap().as_string::<i32>();
        let (first, second, group) = (text("f0"), text("f1"), text("group"));
        (0..rows.num_rows())
            .map(|row| {
                let needed = if group.value(row) == "a" {
                    "low"
                } else {
                    "high"
                };
                first.value(row) == "high" && second.value(row) != needed
            })
            .collect()
    });
    let options = Options::new()
        .support("0.01".parse().unwrap())
        .min_members(5)
        .threads(2)
        .max_memory(limit);
    let watch = Watch::nobody();
    let (audit, individuals) = audit_with_individuals(population, &model, &options, watch)?;
    let definitions = definitions::paper_columns(&[1.0, 2.0])?;
    let gathering = Gathering {
        shuffles: 500,
        resamples: 200,
        ..Gathering::default()
    };
    options.work(|| {
        let tests = evidence::test(&audit, &individuals, &definitions, &gathering, watch)?;
        let intervals = evidence::intervals_of_first(
            &audit,
            &individuals,
            &definitions,
            &tests,
            &gathering,
            watch,
        )?;
        let evidence = Evidence {
            gathering,
            tests,
            intervals,
            stability: None,
            hold_out: None,
        };
        let answer = answer::answer(
            &audit,
            &individuals,
            &definitions,
            Some(&evidence),
            answer::DELTA,
        );
        Ok((evidence, answer))
    })?
}

/// From the people to the answer an audit stays within its limit, or is refused before it goes beyond; and
/// what fits is the same whatever the limit.
#[test]
fn a_whole_audit_stays_within_its_limit() {
    let _alone = ALONE.lock();
    // Many subgroups; many people, each of their own; many groups.
    let tables = [
        (1500, 2, 6, false),
        (12_000, 2, 3, true),
        (4000, 5, 4, false),
    ];
    let mut all = Vec::new();
    for (rows, groups, features, apart) in tables {
        let before = ALLOCATED.current_usage();
        let population = people(rows, groups, features, apart);
        let mut outcomes = Vec::new();
        let mut first: Option<(Evidence, Answer)> = None;
        for limit in [1_u64, 4, 16, 48, 1024].map(|mib| mib << 20) {
            ALLOCATED.reset_peak_usage();
            let made = whole_audit(&population, limit);
            let taken = (ALLOCATED.peak_usage() - before) as u64;
            let what = format!("{rows} rows, {groups} groups: {taken} bytes of {limit}");
            println!("{what}: {:?}", made.as_ref().map(|_| ()));
            assert!(taken <= limit + BESIDE, "{what}");
            match made {
                Ok(made) => {
                    outcomes.push("made");
                    let first = first.get_or_insert_with(|| made.clone());
                    assert_eq!(*first, made, "{what}");
                }
                Err(Error::OverBudget { .. }) => {
                    outcomes.push("no room for evidence");
                    assert!(taken > limit / 16, "{what}: refused too early");
                }
                Err(
                    Error::ItemsetsTooLarge { .. }
                    | Error::TooMuchMemory { .. }
                    | Error::TooManyRows { .. },
                ) => outcomes.push("no room for the audit"),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(outcomes.last(), Some(&"made"), "{outcomes:?}");
        all.extend(outcomes);
    }
    for outcome in ["no room for the audit", "no room for evidence"] {
        assert!(all.contains(&outcome), "{all:?}");
    }
}
