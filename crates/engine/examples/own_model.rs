//! A model of one's own: whatever can predict a batch of rows can be audited.
//!
//! `cargo run -p facts-engine --example own_model`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use facts_engine::flips::{Favourable, Model, ModelError};
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Audit, Options, Watch, audit};

/// A scorecard: points for each value, and how many of them it takes.
struct Scorecard {
    points: Vec<(&'static str, &'static str, i32)>,
    needed: i32,
}

impl Model for Scorecard {
    /// One class for each row, in order. Classes may be booleans, 0 and 1, or names as here.
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let mut points = vec![0; rows.num_rows()];
        for &(column, value, worth) in &self.points {
            let values = rows
                .column_by_name(column)
                .ok_or_else(|| ModelError::Column {
                    column: column.to_owned(),
                    why: "the scorecard needs it; add it to the table".to_owned(),
                })?;
            for (row, text) in values.as_string::<i32>().iter().enumerate() {
                points[row] += if text == Some(value) { worth } else { 0 };
            }
        }
        let class = |points: &i32| {
            Some(if *points >= self.needed {
                "granted"
            } else {
                "refused"
            })
        };
        Ok(Arc::new(points.iter().map(class).collect::<StringArray>()))
    }

    /// Batches are scored on all threads at once, because a scorecard can take that.
    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let audit = audited()?;
    for group in &audit.groups {
        println!(
            "{}: {} of {} refused",
            group.name, group.affected, group.people
        );
    }
    Ok(())
}

fn audited() -> Result<Audit, Box<dyn Error>> {
    let column = |texts: [&str; 6]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let table = RecordBatch::try_from_iter([
        (
            "savings",
            column(["none", "some", "none", "some", "none", "some"]),
        ),
        (
            "job",
            column(["none", "none", "full", "full", "full", "none"]),
        ),
        (
            "sex",
            column(["Female", "Female", "Female", "Male", "Male", "Male"]),
        ),
    ])?;
    let population = Declaration::new()
        .feature(Feature::categorical("savings"))
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("sex"))
        .read([table])?;
    let model = Scorecard {
        points: vec![
            ("savings", "some", 1),
            ("job", "full", 2),
            ("sex", "Male", 1),
        ],
        needed: 3,
    };
    // Which class is the good one is said, never guessed.
    let options = Options::new().favourable(Favourable::Class("granted".to_owned()));
    Ok(audit(&population, &model, &options, Watch::nobody())?)
}

#[test]
fn the_scorecard_refuses_more_women() {
    let affected: Vec<u64> = audited()
        .unwrap()
        .groups
        .iter()
        .map(|group| group.affected)
        .collect();
    assert_eq!(affected, [3, 1]);
}
