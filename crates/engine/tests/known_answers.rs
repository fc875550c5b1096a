//! Answers about people of whom the truth is known, and answers that were damaged.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::answer::{Answer, DELTA, Reasons, Verdict, Why, answer};
use facts_engine::definitions::{Definition, parse};
use facts_engine::evidence::{Evidence, Gathering, Tests, test};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Population, Protected, Rules};
use facts_engine::{Audit, Options, Watch, audit_with_individuals};
use serde_json::{Value, json};

/// Job, shift, area, sex, and how many people they are.
type Row = (&'static str, &'static str, &'static str, &'static str, i64);

/// Refused people without a job by day: so many men and women in area a and in area b. Some men have
/// what they lack.
fn people(men: [i64; 2], women: [i64; 2]) -> Vec<Row> {
    let mut rows = vec![
        ("trained", "day", "a", "m", 40),
        ("none", "night", "a", "m", 40),
    ];
    for (sex, counts) in [("m", men), ("f", women)] {
        for (area, count) in ["a", "b"].into_iter().zip(counts) {
            rows.push(("none", "day", area, sex, count));
        }
    }
    rows
}

fn read(rows: &[Row]) -> Population {
    let text = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
    let weights: Vec<i64> = rows.iter().map(|row| row.4).collect();
    let table = RecordBatch::try_from_iter([
        ("job", text(rows.iter().map(|row| row.0).collect())),
        ("shift", text(rows.iter().map(|row| row.1).collect())),
        ("area", text(rows.iter().map(|row| row.2).collect())),
        ("sex", text(rows.iter().map(|row| row.3).collect())),
        ("weight", Arc::new(Int64Array::from(weights)) as ArrayRef),
    ])
    .unwrap();
    let rules = Rules {
        immutable: true,
        ..Rules::default()
    };
    Declaration::new()
        .feature(Feature::categorical("job"))
        .feature(Feature::categorical("shift"))
        .feature(Feature::categorical("area").rules(rules))
        .protected(Protected::attribute("sex"))
        .weight("weight")
        .read([table])
        .unwrap()
}

/// What a model says of job, shift, area and sex.
type Says = fn(&str, &str, &str, &str) -> bool;

/// The audit of a population and its answer: tested by one definition, or, without tests that find
/// anything, with nothing that passes.
fn answered(rows: &[Row], says: Says, k: u64, tests: bool) -> (Audit, Answer) {
    answered_with(rows, says, k, tests, Gathering::default())
}

fn answered_with(
    rows: &[Row],
    says: Says,
    k: u64,
    tests: bool,
    gathering: Gathering,
) -> (Audit, Answer) {
    let population = read(rows);
    let model = FnModel::new(|rows: &RecordBatch| {
        let column = |name: &str| rows.column_by_name(name).unwrap().as_string::<i32>();
        let columns = ["job", "shift", "area", "sex"].map(column);
        let row = |i: usize| columns.map(|column| column.value(i));
        (0..rows.num_rows())
            .map(|i| {
                let [job, shift, area, sex] = row(i);
                says(job, shift, area, sex)
            })
            .collect()
    });
    let options = Options::new().support("0.01".parse().unwrap());
    let nobody = Watch::nobody;
    let found = audit_with_individuals(&population, &model, &options, nobody());
    let (mut audit, individuals) = found.unwrap();
    if k > 1 {
        audit = audit.suppressed(k);
    }
    let definitions: Vec<Box<dyn Definition>> = vec![parse("equal-effectiveness:micro").unwrap()];
    let tests = match tests {
        true => test(&audit, &individuals, &definitions, &gathering, nobody()).unwrap(),
        false => vec![Tests {
            definition: definitions[0].id(),
            tested: vec![None; audit.subgroups.len()],
            cut_off: None,
            cut_off_together: None,
            pairs: Vec::new(),
        }],
    };
    let evidence = Evidence {
        gathering,
        tests,
        intervals: Vec::new(),
        stability: None,
        hold_out: None,
    };
    let mut found = answer(&audit, &individuals, &definitions, Some(&evidence), DELTA);
    let reasons = Reasons {
        population: &population,
        model: &model,
        audit: &audit,
        individuals: &individuals,
        reads: None,
        options: &options,
    };
    reasons.explain(&mut found, usize::MAX, nobody()).unwrap();
    (audit, found)
}

/// The reasons of the only story, which is about everybody.
fn only_reason(audit: &Audit, answer: &Answer) -> (f64, Option<Why>) {
    assert_eq!(answer.stories.len(), 1);
    let story = &answer.stories[0];
    let all: Vec<u64> = audit.groups.iter().map(|group| group.affected).collect();
    let told: Vec<u64> = story.told.iter().map(|share| share.whole).collect();
    assert_eq!(told, all);
    (story.gap(), story.why.clone())
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

const DIRECT: Says = |job, shift, _, sex| sex == "m" && (job == "trained" || shift == "night");
const BY_AREA: Says = |job, shift, area, _| area == "a" && (job == "trained" || shift == "night");

/// The model reads nothing but the job, the shift and the sex, though more women live in area b.
#[test]
fn all_direct() {
    let rows = people([80, 20], [20, 80]);
    let (audit, answer) = answered(&rows, DIRECT, 1, true);
    let (gap, why) = only_reason(&audit, &answer);
    let why = why.unwrap();
    close(gap, 1.0);
    close(why.swap, 1.0);
    close(why.composition.unwrap(), 0.0);
    close(why.rest, 0.0);
    // Where people live goes with the sex, so it is compared within areas; the gap is as wide there.
    let strata: Vec<&str> = (why.strata.iter())
        .map(|&feature| audit.features[feature as usize].name.as_str())
        .collect();
    assert_eq!(strata, ["area"]);
    assert!(answer.people.iter().all(|people| people.open().is_some()));
    assert!(matches!(
        answer.verdict,
        Some(Verdict::Unfair { ref against, .. }) if against == &[0]
    ));
}

/// The model never reads the sex; the groups live in different areas.
#[test]
fn all_composition() {
    let rows = people([800, 200], [200, 800]);
    let (audit, answer) = answered(&rows, BY_AREA, 1, true);
    let (gap, why) = only_reason(&audit, &answer);
    let why = why.unwrap();
    close(gap, 0.6);
    assert!(why.swap == 0.0);
    close(why.composition.unwrap(), 0.6);
    close(why.rest, 0.0);
    // What goes with the gap is the area: nothing is left of it in either.
    let drivers = answer.drivers.unwrap();
    close(drivers.gap, 0.6);
    assert_eq!((drivers.worse_off, drivers.better_off), (0, 1));
}

/// Half and half: the model takes sex off 0.5 of the gap, and areas take what they take.
#[test]
fn some_of_both() {
    let says: Says = |job, shift, area, sex| {
        (area == "a" || sex == "m") && (job == "trained" || shift == "night")
    };
    let rows = people([500, 500], [200, 800]);
    let (audit, answer) = answered(&rows, says, 1, true);
    let (gap, why) = only_reason(&audit, &answer);
    let why = why.unwrap();
    close(gap, 0.8);
    close(why.swap, 0.8);
    // In area a there is no gap, in area b it is 1: 500·200/700 of the weight lies in a.
    let (a, b) = (500.0 * 200.0 / 700.0, 500.0 * 800.0 / 1300.0);
    close(why.composition.unwrap(), 0.8 - b / (a + b));
    close(why.swap + why.composition.unwrap() + why.rest, gap);
}

#[test]
fn reasons_tell_no_small_counts() {
    let says: Says =
        |job, shift, area, sex| area == "a" && sex == "m" && (job == "trained" || shift == "night");
    let rows = people([90, 10], [3, 97]);
    let (audit, told) = answered(&rows, says, 1, true);
    let why = only_reason(&audit, &told).1.unwrap();
    assert_eq!((why.swapped.part, why.swapped.whole), (3, 100));
    let (audit, untold) = answered(&rows, says, 10, true);
    assert_eq!(only_reason(&audit, &untold).1, None);
}

#[test]
fn each_verdict_has_its_people() {
    let verdict = |men, women| {
        let (_, answer) = answered(&people(men, women), BY_AREA, 1, true);
        answer.verdict.unwrap()
    };
    let unfair = verdict([800, 200], [200, 800]);
    assert!(matches!(unfair, Verdict::Unfair { ref against, .. } if against == &[0]));

    // Large groups that are alike. Four subgroups are bounded together.
    let Verdict::FairWithin { delta, widest } = verdict([10_000, 10_000], [10_000, 10_000]) else {
        panic!("not fair");
    };
    assert!(delta == DELTA && widest < 0.02 && widest > 0.01, "{widest}");

    // Alike again, but so few that a gap beyond δ cannot be ruled out; one of 0.2 would have been seen.
    let Verdict::NotShown { gap } = verdict([75, 75], [75, 75]) else {
        panic!("shown");
    };
    assert!(gap == 0.2);

    let Verdict::CannotTell { gap, too_small, .. } = verdict([8, 7], [8, 7]) else {
        panic!("told");
    };
    assert!(gap == 0.2);
    let too_small: Vec<_> = (too_small.iter())
        .map(|small| (small.group, small.covered.part, small.covered.whole))
        .collect();
    assert_eq!(too_small, [(0, 0, 15), (1, 0, 15)]);
}

/// Groups that are as different as can be, and too few shuffles for any p-value to be as small as α: nothing
/// is found, and that says nothing.
#[test]
fn too_few_shuffles_cannot_tell() {
    let verdict = |shuffles: usize, rows: &[Row]| {
        let gathering = Gathering {
            shuffles,
            ..Gathering::default()
        };
        let (_, answer) = answered_with(rows, BY_AREA, 1, true, gathering);
        answer.verdict.unwrap()
    };
    let different = people([800, 200], [200, 800]);
    let Verdict::CannotTell {
        too_small,
        too_few_shuffles: Some(few),
        ..
    } = verdict(18, &different)
    else {
        panic!("told");
    };
    assert!(too_small.is_empty());
    assert_eq!((few.shuffles, few.needed), (18, 19));
    // What is said to be enough is enough.
    let unfair = verdict(few.needed, &different);
    assert!(matches!(unfair, Verdict::Unfair { .. }), "{unfair:?}");
    // And what is too few never says that a gap would have been seen.
    let alike = people([75, 75], [75, 75]);
    assert!(matches!(verdict(18, &alike), Verdict::CannotTell { .. }));
    assert!(matches!(verdict(1000, &alike), Verdict::NotShown { .. }));
}

/// A job helps half of everybody; a shift at night, all men and nobody else. Everybody works by day and
/// nobody is trained, so that both predicates have the same members: fair by one is not fair.
#[test]
fn fair_is_fair_under_every_predicate() {
    let rows = people([10_000, 10_000], [10_000, 10_000]);
    let says: Says = |job, shift, area, sex| {
        (job == "trained" && area == "a") || (shift == "night" && sex == "m")
    };
    let (audit, found) = answered(&rows, says, 1, false);
    let all = audit.subgroups.iter().map(|one| audit.text(&one.predicate));
    let all: Vec<String> = all.collect();
    let place = |text: &str| all.iter().position(|one| one == text).unwrap();
    let (job, shift) = (place("job = none"), place("shift = day"));
    assert_eq!(found.same_as[job], found.same_as[shift]);
    let verdict = found.verdict.unwrap();
    assert!(
        !matches!(verdict, Verdict::FairWithin { .. }),
        "{verdict:?}"
    );
    // By a job alone it is.
    let (_, alike) = answered(&rows, BY_AREA, 1, false);
    assert!(matches!(alike.verdict, Some(Verdict::FairWithin { .. })));
}

#[test]
fn a_damaged_answer_is_refused() {
    let (audit, whole) = answered(&people([800, 200], [200, 800]), BY_AREA, 1, true);
    let saved = serde_json::to_value(&whole).unwrap();
    let load = |value: Value| -> Answer { serde_json::from_value(value).unwrap() };
    assert_eq!(load(saved.clone()).check(&audit), Ok(()));
    let many = u64::MAX;
    for (place, wrong) in [
        ("/people", json!([])),
        ("/people/0/people", json!(5)),
        ("/people/0/refused", json!(999_999)),
        ("/people/0/ways/0/people", json!(999_999)),
        (
            "/people/0/ways",
            json!([{"cost": 1.0, "people": many}, {"cost": 2.0, "people": many}]),
        ),
        ("/same_as", json!([])),
        ("/same_as/0", json!(999)),
        ("/told_by", json!([])),
        ("/told_by/0", json!(7)),
        ("/stories/0/subgroup", json!(999)),
        ("/stories/0/worse_off", json!(2)),
        ("/stories/0/better_off", json!(2)),
        ("/stories/0/told", json!([])),
        ("/stories/0/told/0/part", json!(100_000)),
        ("/stories/0/told/0/whole", json!(100_000)),
        (
            "/stories/0/sharper",
            json!([{"subgroup": 999, "gap": 0.5, "at_least": 0.4}]),
        ),
        ("/stories/0/why/strata", json!([3])),
        ("/stories/0/why/swapped/part", json!(100_000)),
        ("/stories/0/why/compared/part", json!(100_000)),
        ("/verdict/unfair/against", json!([2])),
        (
            "/verdict",
            json!({"cannot-tell": {"gap": 0.2, "too_small":
                [{"group": 2, "covered": {"part": 0, "whole": 1}}]}}),
        ),
        ("/drivers/worse_off", json!(2)),
        ("/drivers/better_off", json!(2)),
        ("/drivers/items/0/item/feature", json!(9)),
        ("/drivers/items/0/item/level", json!(9)),
        ("/drivers/items/0/worse/part", json!(100_000)),
    ] {
        let mut damaged = saved.clone();
        *damaged.pointer_mut(place).expect(place) = wrong;
        let refused = load(damaged).check(&audit);
        assert!(
            refused.is_err_and(|why| why.starts_with("answer: ")),
            "{place}"
        );
    }
}
