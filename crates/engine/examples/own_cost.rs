//! A cost of one's own: what a change costs decides which way out is the cheap one.
//!
//! `cargo run -p facts-engine --example own_cost`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Distance, Feature, Level, Protected};
use facts_engine::{Options, Watch, audit};

/// Months of training from one job to another.
fn months(from: &Level, to: &Level) -> f64 {
    match (from.label.as_str(), to.label.as_str()) {
        ("clerk", "nurse") => 36.0,
        ("clerk", "driver") => 6.0,
        _ => 12.0,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for (change, cost) in ways_out()? {
        println!("make {change}: {cost} months");
    }
    Ok(())
}

/// What a refused clerk can do, cheapest first.
fn ways_out() -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let column = |texts: [&str; 6]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let table = RecordBatch::try_from_iter([
        (
            "job",
            column(["clerk", "nurse", "driver", "clerk", "nurse", "driver"]),
        ),
        (
            "sex",
            column(["Female", "Female", "Female", "Male", "Male", "Male"]),
        ),
    ])?;
    let population = Declaration::new()
        .feature(Feature::categorical("job").distance(Distance::Function(Arc::new(months))))
        .protected(Protected::attribute("sex"))
        .read([table])?;
    let model = FnModel::new(|rows: &RecordBatch| {
        let jobs = rows.column(0).as_string::<i32>();
        jobs.iter().map(|job| job != Some("clerk")).collect()
    });
    let audit = audit(&population, &model, &Options::new(), Watch::nobody())?;
    let clerks = &audit.subgroups[0];
    let ways = clerks.actions.iter().enumerate().map(|(place, action)| {
        let change = clerks.change(place, &audit.changes);
        (change.text(&audit.features), action.cost)
    });
    Ok(ways.collect())
}

#[test]
fn driving_is_learnt_faster() {
    let expected = [
        ("job = driver".to_owned(), 6.0),
        ("job = nurse".to_owned(), 36.0),
    ];
    assert_eq!(ways_out().unwrap(), expected);
}
