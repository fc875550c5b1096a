//! A whole audit: from a table and a model to findings, and which of them chance could explain.
//!
//! `cargo run -p facts-engine --example whole_audit`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::evidence::{Gathering, test};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Options, Watch, audit_with_individuals, definitions};

fn main() -> Result<(), Box<dyn Error>> {
    for finding in findings()? {
        println!("{finding}");
    }
    Ok(())
}

/// The unfair subgroups under one definition, most unfair first.
fn findings() -> Result<Vec<String>, Box<dyn Error>> {
    // 1. What each column is. Nobody can move, so `city` never changes in an action.
    let population = Declaration::new()
        .feature(Feature::categorical("job"))
        .feature(Feature::categorical("city").immutable())
        .protected(Protected::attribute("sex"))
        .weight("people")
        .read([table()?])?;

    // 2. The model. This one promotes managers, but women only in the north.
    let model = FnModel::new(|rows: &RecordBatch| {
        let text = |name: &str| {
            rows.column_by_name(name)
                .map(|column| column.as_string::<i32>())
        };
        let (Some(job), Some(city), Some(sex)) = (text("job"), text("city"), text("sex")) else {
            return Vec::new();
        };
        let north_or_male = |row| city.value(row) == "north" || sex.value(row) == "Male";
        (0..rows.num_rows())
            .map(|row| job.value(row) == "manager" && north_or_male(row))
            .collect()
    });

    // 3. The audit: subgroups, actions, and whom each action helps.
    let options = Options::new().support("0.05".parse()?);
    let (audit, individuals) =
        audit_with_individuals(&population, &model, &options, Watch::nobody())?;

    // 4. Any definition can be asked for now, without the model.
    let definitions = [definitions::parse("equal-effectiveness:micro")?];
    let ranking = audit.rank(definitions[0].as_ref());

    // 5. A ranking puts chance on top too. Permutation tests tell the two apart.
    let gathering = Gathering::default();
    let tests = test(
        &audit,
        &individuals,
        &definitions,
        &gathering,
        Watch::nobody(),
    )?;

    let finding = |ranked: &facts_engine::ranking::Ranked| {
        let against: Vec<&str> = (ranked.assessment.against.iter())
            .map(|&g| audit.groups[g].name.as_str())
            .collect();
        let tested = tests[0].tested[ranked.subgroup]?;
        let predicate = audit.text(&audit.subgroups[ranked.subgroup].predicate);
        Some(format!(
            "{predicate}: score {:.2} against {}, {}",
            ranked.assessment.score,
            against.join(" and "),
            if tested.passes(gathering.alpha) {
                "no chance finding"
            } else {
                "maybe chance"
            },
        ))
    };
    Ok(ranking.unfair().iter().filter_map(finding).collect())
}

/// One row for each kind of person, with how many people it stands for.
fn table() -> Result<RecordBatch, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (job, people) in [("clerk", 60), ("manager", 30)] {
        for city in ["north", "south"] {
            rows.extend([(job, city, "Female", people), (job, city, "Male", people)]);
        }
    }
    let texts = |texts: Vec<&'static str>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let people: Int64Array = rows.iter().map(|row| row.3).collect();
    Ok(RecordBatch::try_from_iter([
        ("job", texts(rows.iter().map(|row| row.0).collect())),
        ("city", texts(rows.iter().map(|row| row.1).collect())),
        ("sex", texts(rows.iter().map(|row| row.2).collect())),
        ("people", Arc::new(people)),
    ])?)
}

#[test]
fn the_south_is_unfair_to_women() {
    let found = findings().unwrap();
    assert_eq!(
        found[0],
        "city = south, job = clerk: score 1.00 against Female, no chance finding"
    );
}
