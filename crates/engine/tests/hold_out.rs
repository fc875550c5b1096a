//! Findings made among some people and tested among the others, where it is known what is true.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::definitions::{self, Definition};
use facts_engine::evidence::{Gathering, HeldOut, HoldOutPlan, HoldOutResult};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Edges, Feature, Move, Population, Protected, View};
use facts_engine::{Error, Group, Options, Watch, audit};

const CITIES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// Clerks of six cities, of whom bosses' jobs would help as many in a hundred as `helped` tells by
/// group and city, to be drawn by a number; and bosses, who are not refused.
fn population(each: usize, seed: u64, helped: impl Fn(&str, &str) -> u64) -> Population {
    let mut rows: Vec<(&str, &str, &str, i64)> = Vec::new();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = || {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    };
    for city in CITIES {
        for group in ["a", "b"] {
            for _ in 0..each {
                let yes = draw() % 100 < helped(group, city);
                rows.push((group, city, "clerk", i64::from(yes)));
            }
            rows.push((group, city, "boss", 1));
        }
    }
    let column = |texts: Vec<&str>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let numbers: Int64Array = rows.iter().map(|row| row.3).collect();
    let table = RecordBatch::try_from_iter([
        ("group", column(rows.iter().map(|row| row.0).collect())),
        ("city", column(rows.iter().map(|row| row.1).collect())),
        ("job", column(rows.iter().map(|row| row.2).collect())),
        ("helped", Arc::new(numbers) as ArrayRef),
    ]);
    Declaration::new()
        .feature(Feature::categorical("city").immutable())
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("group"))
        .context("helped")
        .read([table.unwrap()])
        .unwrap()
}

fn bosses_who_are_helped(rows: &RecordBatch) -> Vec<bool> {
    let jobs = rows.column_by_name("job").unwrap().as_string::<i32>();
    let helped = rows.column_by_name("helped").unwrap();
    let helped = helped.as_primitive::<Int64Type>();
    let yes = |row: usize| jobs.value(row) == "boss" && helped.value(row) == 1;
    (0..rows.num_rows()).map(yes).collect()
}

fn effectiveness() -> Vec<Box<dyn Definition>> {
    vec![definitions::parse("equal-effectiveness:micro").unwrap()]
}

fn groups(population: &Population) -> Vec<Group> {
    let model = FnModel::new(bosses_who_are_helped);
    let whole = audit(population, &model, &options(), Watch::nobody()).unwrap();
    whole.groups
}

fn options() -> Options {
    Options::new().support("0.02".parse().unwrap())
}

fn held_out(
    population: &Population,
    seed: u64,
    suppress_below: Option<u64>,
) -> Result<HoldOutResult, Error> {
    let gathering = Gathering {
        seed,
        shuffles: 200,
        detailed: 3,
        ..Gathering::default()
    };
    let plan = HoldOutPlan {
        share: 0.5,
        groups: &groups(population),
        definitions: &effectiveness(),
        gathering: &gathering,
        options: &options(),
        suppress_below,
    };
    let model = FnModel::new(bosses_who_are_helped);
    plan.hold_out(population, &model, Watch::nobody())
}

#[test]
fn what_is_there_is_confirmed() {
    let planted = |group: &str, city: &str| match (group, city) {
        ("a", "A") => 90,
        ("b", "A") => 10,
        _ => 50,
    };
    let population = population(80, 1, planted);
    let HoldOutResult { hold_out, left_out } = held_out(&population, 1, None).unwrap();
    assert_eq!((hold_out.findings.len(), left_out), (3, 0));
    let both: Vec<u64> = (hold_out.found_among.iter().zip(&hold_out.tested_among))
        .map(|(found, tested)| found + tested)
        .collect();
    let affected: Vec<u64> = groups(&population)
        .iter()
        .map(|group| group.affected)
        .collect();
    assert_eq!(both, affected);

    let first = &hold_out.findings[0];
    assert_eq!(first.predicate, "city = A, job = clerk");
    assert_eq!(first.found_against, ["b"]);
    let tested = first.tested.as_ref().unwrap();
    assert!(tested.confirmed);
    assert_eq!(tested.against, ["b"]);
    assert!(tested.p <= tested.family_wise && tested.family_wise <= 0.05);
    assert_eq!(first.found_members[0] + tested.members[0], 80);
    let left = tested.shrinkage(first.found_score).unwrap();
    assert!((0.7..1.3).contains(&left), "{left}");
}

#[test]
fn what_is_luck_is_seldom_confirmed_and_shrinks() {
    let (mut confirmed, mut found, mut left) = (0, 0.0, 0.0);
    for seed in 0..60 {
        let population = population(30, seed + 7, |_, _| 50);
        let HoldOutResult { hold_out, .. } = held_out(&population, seed, None).unwrap();
        let tests = hold_out.findings.iter();
        let tests: Vec<_> = tests
            .filter_map(|f| Some((f, f.tested.as_ref()?)))
            .collect();
        confirmed += usize::from(tests.iter().any(|(_, tested)| tested.confirmed));
        // A score against the other group is no score against this one.
        for (finding, tested) in tests {
            found += finding.found_score;
            left += if tested.against == finding.found_against {
                tested.score
            } else {
                -tested.score
            };
        }
    }
    // A family-wise level of 0.05, and then the direction must agree: 3 of 60 at most, in the mean.
    assert!(confirmed <= 6, "{confirmed} of 60");
    assert!(left < 0.25 * found, "{left} is left of {found}");
}

#[test]
fn small_counts_are_not_told() {
    let population = population(12, 3, |group, _| if group == "a" { 80 } else { 30 });
    let small = |members: &[u64]| members.iter().any(|&n| n < 6);
    let is_small = |finding: &HeldOut| {
        let tested = finding.tested.as_ref();
        small(&finding.found_members) || tested.is_none_or(|tested| small(&tested.members))
    };
    let (mut untold, mut left_out) = (0, 0);
    for seed in 0..8 {
        let all = held_out(&population, seed, None).unwrap();
        untold += all.hold_out.findings.iter().filter(|f| is_small(f)).count();
        let told = held_out(&population, seed, Some(6)).unwrap();
        assert!(!told.hold_out.findings.iter().any(is_small));
        left_out += told.left_out;
    }
    assert!(untold > 0 && left_out > 0, "{untold}, {left_out}");
}

#[test]
fn a_part_without_a_group_is_refused() {
    let population = population(12, 3, |_, _| 50);
    let refused = held_out(&population, 2, Some(1000)).unwrap_err();
    assert!(matches!(refused, Error::PartTooSmall { .. }), "{refused}");
    let refused = held_out(&population, 2, Some(40)).unwrap_err();
    assert!(matches!(refused, Error::PartTooSmall { .. }), "{refused}");
}

#[test]
fn the_same_seed_gives_the_same_on_any_number_of_threads() {
    let population = population(40, 5, |group, _| if group == "a" { 60 } else { 30 });
    let gathering = Gathering {
        shuffles: 100,
        ..Gathering::default()
    };
    let on = |threads| {
        let plan = HoldOutPlan {
            share: 0.4,
            groups: &groups(&population),
            definitions: &effectiveness(),
            gathering: &gathering,
            options: &options().threads(threads),
            suppress_below: None,
        };
        let model = FnModel::new(bosses_who_are_helped);
        let result = plan.hold_out(&population, &model, Watch::nobody());
        result.unwrap().hold_out
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn a_bin_that_nobody_of_the_other_part_holds_is_entered_at_its_middle() {
    // One boss holds the highest bin, so one part has none of the unaffected there.
    let mut rows: Vec<(&str, i64)> = vec![("a", 95)];
    for age in 0..60 {
        rows.extend([("a", age), ("b", age)]);
    }
    let column = |texts: Vec<&str>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let ages: Int64Array = rows.iter().map(|row| row.1).collect();
    let table = RecordBatch::try_from_iter([
        ("group", column(rows.iter().map(|row| row.0).collect())),
        ("age", Arc::new(ages) as ArrayRef),
    ])
    .unwrap();
    let age = Feature::binned("age", Edges::At(vec![-1.0, 30.0, 60.0, 100.0]));
    let population = Declaration::new()
        .feature(age.view(View::Raw(Move::Median)))
        .protected(Protected::attribute("group"))
        .read([table])
        .unwrap();
    let model = FnModel::new(|rows: &RecordBatch| {
        let ages = rows.column_by_name("age").unwrap();
        let ages = ages.as_primitive::<Int64Type>();
        (0..rows.num_rows())
            .map(|row| ages.value(row) > 60)
            .collect()
    });
    let options = Options::new().support("0.1".parse().unwrap());
    let whole = audit(&population, &model, &options, Watch::nobody()).unwrap();
    let to_the_highest = whole.subgroups.iter().any(|one| !one.actions.is_empty());
    assert!(to_the_highest);
    let (first, second) = population.split(0.5, 1);
    for part in [first, second] {
        let counted =
            facts_engine::audit_again(&part, &model, &whole, &options, Watch::nobody()).unwrap();
        // From the middle, 80, everybody is above 60.
        for one in &counted.0.subgroups {
            for g in 0..2 {
                assert_eq!(one.flips(0, g).known(), Some(one.members[g]));
            }
        }
    }
}
