//! Rows that people share: at least k people of a group have each, whatever the table.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use facts_engine::population::{Declaration, Feature, Protected, Table, Value};
use proptest::prelude::*;

/// One person: group, two categories, a number, how many people.
type Person = (u8, Option<u8>, u8, i64, u64);

fn table(people: &[Person]) -> Table {
    let names = |codes: Vec<Option<u8>>| -> StringArray {
        let name = |code: u8| format!("v{code}");
        codes.into_iter().map(|code| code.map(name)).collect()
    };
    let batch = RecordBatch::try_from_iter([
        (
            "group",
            Arc::new(names(people.iter().map(|p| Some(p.0)).collect())) as _,
        ),
        (
            "a",
            Arc::new(names(people.iter().map(|p| p.1).collect())) as _,
        ),
        (
            "b",
            Arc::new(names(people.iter().map(|p| Some(p.2)).collect())) as _,
        ),
        (
            "number",
            Arc::new(people.iter().map(|p| Some(p.3)).collect::<Int64Array>()) as _,
        ),
        (
            "weight",
            Arc::new(people.iter().map(|p| Some(p.4)).collect::<UInt64Array>()) as _,
        ),
    ]);
    Table::read([batch.unwrap()]).unwrap()
}

fn declaration() -> Declaration {
    Declaration::new()
        .features([
            Feature::categorical("a"),
            Feature::categorical("b"),
            Feature::numeric("number"),
        ])
        .protected(Protected::attribute("group"))
        .weight("weight")
}

fn people() -> impl Strategy<Value = Vec<Person>> {
    let category = prop_oneof![3 => (0..3_u8).prop_map(Some), 1 => Just(None)];
    let person = (0..3_u8, category, 0..6_u8, -20..20_i64, 1..3_u64);
    prop::collection::vec(person, 10..120)
}

proptest! {
    #[test]
    fn every_row_is_that_of_k_people_of_a_group(people in people(), k in 1..12_u64, yes in 0..6_u8) {
        let table = table(&people);
        let declaration = declaration();
        let Ok((population, rows)) = declaration.population(&table) else {
            return Ok(());
        };
        let mut answers = vec![0; population.profiles()];
        let of = |row: usize| people[table.first_row(row) as usize - 1];
        for (row, profile, _) in rows.kept() {
            answers[profile] = u32::from(of(row).2 >= yes);
        }
        let in_group = |group: u8| -> u64 {
            people.iter().filter(|p| p.0 == group).map(|p| p.4).sum()
        };
        let large: Vec<u8> = (0..3).filter(|&group| in_group(group) >= k).collect();
        let Ok(shared) = declaration.shared(&table, k, &answers) else {
            prop_assert!(large.is_empty());
            return Ok(());
        };
        let kept: u64 = large.iter().map(|&group| in_group(group)).sum();
        prop_assert_eq!(shared.left_out, people.iter().map(|p| p.4).sum::<u64>() - kept);

        let column = |name: &str| shared.table.column(name).unwrap();
        let columns = ["group", "a", "b", "number"].map(column);
        let weight = column("weight");
        let mut together: HashMap<Vec<String>, u64> = HashMap::new();
        for (row, &was) in shared.was.iter().enumerate() {
            let own = of(was);
            let repeats = shared.table.repeats()[row];
            // Nobody changes the group or the weight.
            prop_assert_eq!(columns[0].value(row).label(), format!("v{}", own.0));
            prop_assert_eq!(weight.value(row).number().unwrap() as u64, own.4);
            let cells = columns.iter().map(|column| column.value(row).label());
            *together.entry(cells.collect()).or_default() += own.4 * repeats;
        }
        for (cells, people) in &together {
            prop_assert!(*people >= k, "{cells:?} has {people}");
        }
        // A value that is told is held by at least k people of those who are there.
        for (name, of) in [("a", 1), ("b", 2), ("number", 3)] {
            let holds = |person: &Person| match of {
                1 => person.1.map_or(String::new(), |code| format!("v{code}")),
                2 => format!("v{}", person.2),
                _ => person.3.to_string(),
            };
            for value in column(name).column().values().iter().filter(|v| **v != Value::Null) {
                let all = people.iter().filter(|p| large.contains(&p.0) && holds(p) == value.label());
                prop_assert!(all.map(|p| p.4).sum::<u64>() >= k, "{name}: {}", value.label());
            }
        }
    }

    #[test]
    fn numbers_are_those_of_k_rows(numbers in prop::collection::vec(-1e6..1e6_f64, 1..60), k in 1..9_u64) {
        let rounded: Vec<f64> = numbers.iter().map(|n| (n / 1e5).round() * 1e5).collect();
        for given in [numbers, rounded] {
            let array = Float64Array::from(given.clone());
            let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as _)]).unwrap();
            let table = Table::read([batch]).unwrap().with_shared_numbers(&["n"], k).unwrap();
            let column = table.column("n").unwrap();
            let told: Vec<f64> = (table.order().into_iter())
                .map(|row| column.value(row as usize).number().unwrap())
                .collect();
            let enough = (given.len() as u64).min(k);
            for &number in &told {
                prop_assert!(told.iter().filter(|&&other| other == number).count() as u64 >= enough);
                // As it is if enough hold it; else with three digits, and so nobody's but by chance.
                let own = given.iter().filter(|&&other| other == number).count() as u64;
                let short: f64 = format!("{number:.2e}").parse().unwrap();
                prop_assert!(own >= k || short == number);
            }
        }
    }
}
