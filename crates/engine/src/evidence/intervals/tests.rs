//! Clerks whom up to three other jobs would help: who is helped by which is written in a column that
//! the model sees, so that every number can be had the slow way.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::*;
use crate::flips::FnModel;
use crate::population::{Declaration, Distance, Feature, Protected};
use crate::{Options, audit_with_individuals, definitions};

const JOBS: [(&str, f64); 3] = [("driver", 1.0), ("pilot", 2.0), ("sailor", 2.5)];

/// So many people of a group, and which jobs help them, as bits.
type Kind = (&'static str, i64, u64);

/// An audit of clerks with one subgroup, and the people behind it.
fn clerks(kinds: &[Kind]) -> (Audit, Individuals) {
    let mut rows: Vec<(&str, &str, i64, u64)> = Vec::new();
    rows.extend(
        kinds
            .iter()
            .map(|&(group, helped, n)| (group, "clerk", helped, n)),
    );
    rows.extend(JOBS.map(|(job, _)| ("a", job, 0b111, 10)));
    let column = |texts: Vec<&str>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let number = |numbers: Vec<i64>| Arc::new(Int64Array::from(numbers)) as ArrayRef;
    let table = RecordBatch::try_from_iter([
        ("group", column(rows.iter().map(|row| row.0).collect())),
        ("job", column(rows.iter().map(|row| row.1).collect())),
        ("helped", number(rows.iter().map(|row| row.2).collect())),
        (
            "people",
            number(rows.iter().map(|row| row.3 as i64).collect()),
        ),
    ]);
    let costs = JOBS.map(|(job, cost)| ("clerk".to_owned(), job.to_owned(), cost));
    let job = Feature::categorical("job").distance(Distance::Table(costs.to_vec()));
    let population = Declaration::new()
        .feature(job)
        .protected(Protected::attribute("group"))
        .context("helped")
        .weight("people")
        .read([table.unwrap()])
        .unwrap();
    let model = FnModel::new(|rows: &RecordBatch| {
        let jobs = rows.column_by_name("job").unwrap().as_string::<i32>();
        let helped = rows.column_by_name("helped").unwrap();
        let helped = helped.as_primitive::<Int64Type>();
        let yes = |row: usize| {
            let job = JOBS.iter().position(|&(job, _)| job == jobs.value(row));
            job.is_some_and(|job| helped.value(row) >> job & 1 == 1)
        };
        (0..rows.num_rows()).map(yes).collect()
    });
    let options = Options::new().support("0.01".parse().unwrap());
    let made = audit_with_individuals(&population, &model, &options, Watch::nobody()).unwrap();
    assert_eq!(made.0.subgroups.len(), 1);
    made
}

fn gathering(resamples: usize) -> Gathering {
    Gathering {
        seed: 11,
        alpha: 0.1,
        resamples,
        ..Gathering::default()
    }
}

fn found(kinds: &[Kind], definition: &str, gathering: &Gathering) -> FindingIntervals {
    let (audit, individuals) = clerks(kinds);
    of_first(&audit, &individuals, definition, gathering).unwrap()
}

/// The intervals of the first subgroup under one definition.
fn of_first(
    audit: &Audit,
    individuals: &Individuals,
    definition: &str,
    gathering: &Gathering,
) -> Option<FindingIntervals> {
    let definition = definitions::parse(definition).unwrap();
    let found = intervals(audit, individuals, &[definition.as_ref()], 0, gathering);
    let [found] = found.try_into().unwrap();
    found
}

/// One person: the actions that help them, by place.
type Person = Vec<u32>;

/// The people of each group, one by one, in the order in which they are drawn.
fn one_by_one(kinds: &[Kind], groups: &[&str]) -> Vec<Vec<Person>> {
    let of_group = |group: &&str| {
        let kinds = kinds.iter().filter(|kind| kind.0 == *group);
        let mut people: Vec<Person> = kinds
            .flat_map(|&(_, helped, n)| {
                let helped_by = (0..3).filter(|job| helped >> job & 1 == 1).collect();
                vec![helped_by; n as usize]
            })
            .collect();
        people.sort();
        people
    };
    groups.iter().map(of_group).collect()
}

/// What a definition compares, the slow way.
fn value(definition: &str, people: &[Person]) -> f64 {
    let n = people.len() as f64;
    match definition {
        "equal-effectiveness:micro" => {
            people.iter().filter(|person| !person.is_empty()).count() as f64 / n
        }
        "equal-choice:0.5" => {
            let works = |job: &u32| {
                let helped = people.iter().filter(|person| person.contains(job)).count();
                2 * helped >= people.len()
            };
            (0..3).filter(works).count() as f64
        }
        "equal-mean-recourse" => {
            let costs: Vec<f64> = people
                .iter()
                .filter_map(|person| Some(JOBS[*person.first()? as usize].1))
                .collect();
            if costs.is_empty() {
                return f64::INFINITY;
            }
            costs.iter().sum::<f64>() / costs.len() as f64
        }
        other => panic!("no slow way for {other}"),
    }
}

/// A number read from all resamples, and from everybody but one person.
struct Slow {
    found: f64,
    again: Vec<f64>,
    without: Vec<Vec<f64>>,
}

/// Reads a number the slow way: every person drawn is written down.
fn slow(people: &[Vec<Person>], read: impl Fn(&[Vec<Person>]) -> f64, stream: Stream) -> Slow {
    let again = (0..200).map(|resample| {
        let drawn: Vec<Vec<Person>> = (people.iter().zip(0..))
            .map(|(group, g)| {
                let stream = stream.substream(resample).substream(g);
                let n = group.len() as u64;
                let one = |person| group[stream.below(person, n) as usize].clone();
                (0..n).map(one).collect()
            })
            .collect();
        read(&drawn)
    });
    let without = (0..people.len()).map(|g| {
        let left = (0..people[g].len()).filter(|_| people[g].len() > 1);
        left.map(|person| {
            let mut fewer = people.to_vec();
            fewer[g].remove(person);
            read(&fewer)
        })
        .collect()
    });
    Slow {
        found: read(people),
        again: again.collect(),
        without: without.collect(),
    }
}

impl Slow {
    fn intervals(self, alpha: f64) -> BootstrapIntervals {
        let each_once = |group: Vec<f64>| group.into_iter().map(|value| (value, 1)).collect();
        Resampled {
            found: self.found,
            again: self.again,
            without: self.without.into_iter().map(each_once).collect(),
        }
        .intervals(alpha)
    }
}

fn assert_same(fast: BootstrapIntervals, slow: BootstrapIntervals) {
    let close = |a: f64, b: f64| a == b || (a - b).abs() < 1e-9;
    let same = |a: Interval, b: Interval| close(a.low, b.low) && close(a.high, b.high);
    assert!(same(fast.percentile, slow.percentile), "{fast:?}, {slow:?}");
    match (fast.bca, slow.bca) {
        (None, None) => {}
        (Some(a), Some(b)) => assert!(same(a, b), "{fast:?}, {slow:?}"),
        _ => panic!("{fast:?}, {slow:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn intervals_are_those_of_the_slow_way(
        kinds in prop::collection::vec(
            (prop::sample::select(vec!["a", "b", "c"]), 0i64..8, 1u64..5), 1..12),
        definition in prop::sample::select(vec![
            "equal-effectiveness:micro", "equal-choice:0.5", "equal-mean-recourse"]),
    ) {
        let mut kinds = kinds;
        kinds.extend([("a", 0b011, 2), ("b", 0b100, 1)]);
        let mut groups = vec!["a", "b"];
        if kinds.iter().any(|kind| kind.0 == "c") {
            groups.push("c");
        }
        let gathering = gathering(200);
        let (audit, individuals) = clerks(&kinds);
        let parsed = definitions::parse(definition).unwrap();
        let others = ["equal-effectiveness:micro", "equal-choice:0.3", "equal-mean-recourse"];
        let others = others.map(|other| definitions::parse(other).unwrap());
        let [of_one, of_two, of_three] = others.each_ref().map(|other| other.as_ref());
        // Among others as alone: the same members are drawn.
        let several = [of_one, of_two, parsed.as_ref(), of_three];
        let several = intervals(&audit, &individuals, &several, 0, &gathering);
        let fast = of_first(&audit, &individuals, definition, &gathering).unwrap();
        prop_assert_eq!(several[2].as_ref(), Some(&fast));

        let people = one_by_one(&kinds, &groups);
        let members = Members { subgroup: &audit.subgroups[0], alike: Vec::new() };
        let stream = members.stream(gathering.seed);
        let of = |people: &[Vec<Person>], g: usize| value(definition, &people[g]);
        let expected = |slow: Slow| {
            let mut intervals = slow.intervals(0.1);
            intervals.bca = intervals.bca.filter(|_| definition != "equal-choice:0.5");
            intervals
        };
        for g in 0..groups.len() {
            let slow = slow(&people, |people| of(people, g), stream);
            assert_same(fast.values[g], expected(slow));
        }
        let (worst, best) = worst_and_best(&parsed.assess(&audit.subgroups[0]).unwrap());
        let gap = slow(&people, |people| difference(of(people, worst), of(people, best)), stream);
        assert_same(fast.gap, expected(gap));
        let score = slow(&people, |people| {
            let all: Vec<f64> = (0..groups.len()).map(|g| of(people, g)).collect();
            let widest = all.iter().flat_map(|&a| all.iter().map(move |&b| difference(a, b)));
            let widest = widest.fold(0.0, f64::max);
            if widest < 1e-9 { 0.0 } else { widest }
        }, stream);
        let infinite = score.again.iter().filter(|score| score.is_infinite()).count();
        prop_assert_eq!(fast.infinite, infinite as f64 / 200.0);
        assert_same(fast.score, expected(score));
    }
}

#[test]
fn an_interval_covers_the_truth_as_often_as_it_says() {
    // 400 samples of 60 people, of whom 40 in 100 are helped in truth; nominal 90 in 100.
    let mut covered = [0, 0];
    for sample in 0..400 {
        let stream = Stream::new(sample);
        let helped = (0..60)
            .filter(|&person| stream.uniform(person) < 0.4)
            .count() as u64;
        let kinds = [
            ("a", 0b001, helped),
            ("a", 0, 60 - helped),
            ("b", 0b001, 5),
            ("b", 0, 5),
        ];
        let found = found(&kinds, "equal-effectiveness:micro", &gathering(299));
        let value = found.values[0];
        for (covered, interval) in covered.iter_mut().zip([Some(value.percentile), value.bca]) {
            let interval = interval.unwrap();
            *covered += usize::from(interval.low <= 0.4 && 0.4 <= interval.high);
        }
    }
    // The bootstrap of a share is a little short, and counts come in steps of 1 in 60.
    for covered in covered {
        assert!((340..=384).contains(&covered), "{covered} of 400");
    }
}

#[test]
fn all_infinite_stays_infinite() {
    let kinds = [("a", 0b001, 30), ("a", 0, 10), ("b", 0, 20)];
    let found = found(&kinds, "equal-mean-recourse", &gathering(100));
    let infinity = f64::INFINITY;
    let infinite = Interval {
        low: infinity,
        high: infinity,
    };
    assert_eq!(
        found.score,
        BootstrapIntervals {
            percentile: infinite,
            bca: None
        }
    );
    assert_eq!(found.gap, found.score);
    assert_eq!(found.infinite, 1.0);
    assert_eq!(
        found.values[0].percentile,
        Interval {
            low: 1.0,
            high: 1.0
        }
    );
    assert_eq!(found.values[0].bca, None);
}

#[test]
fn some_infinite_resamples_are_counted() {
    // The one helped of ten is not drawn at all in (9/10)^10, that is 35 in 100 resamples.
    let kinds = [("a", 0b001, 40), ("b", 0b010, 1), ("b", 0, 9)];
    let found = found(&kinds, "equal-mean-recourse", &gathering(2000));
    assert!(
        (found.infinite - 0.9_f64.powi(10)).abs() < 0.04,
        "{}",
        found.infinite
    );
    assert_eq!(
        found.score.percentile,
        Interval {
            low: 1.0,
            high: f64::INFINITY
        }
    );
    // Without that one person the score is infinite.
    assert_eq!(found.score.bca, None);
}

#[test]
fn the_same_people_are_drawn_under_every_definition() {
    let kinds = [
        ("a", 0b001, 20),
        ("a", 0b110, 13),
        ("b", 0b010, 11),
        ("b", 0, 19),
    ];
    let any_cost = "equal-effectiveness:micro";
    let budget = "equal-effectiveness-within-budget:micro:100";
    let first = found(&kinds, any_cost, &gathering(300));
    let second = found(&kinds, budget, &gathering(300));
    assert_eq!((&first.values, first.gap), (&second.values, second.gap));
    // Another seed draws others.
    let mut others = gathering(300);
    others.seed = 12;
    assert_ne!(found(&kinds, any_cost, &others).values, first.values);
}

#[test]
fn the_gap_is_that_of_the_groups_as_they_were_found() {
    let kinds = [
        ("a", 1, 30),
        ("a", 0, 10),
        ("b", 1, 20),
        ("b", 0, 20),
        ("c", 1, 2),
        ("c", 0, 38),
    ];
    let found = found(&kinds, "equal-effectiveness:micro", &gathering(500));
    // c is worst off, a best: 0.05 − 0.75.
    let Interval { low, high } = found.gap.percentile;
    assert!(low < -0.7 && -0.7 < high && high < 0.0, "{low} to {high}");
}

#[test]
fn what_is_suppressed_has_no_intervals() {
    let kinds = [
        ("a", 0b001, 30),
        ("a", 0b010, 3),
        ("b", 0b001, 20),
        ("b", 0, 20),
    ];
    let (audit, individuals) = clerks(&kinds);
    let suppressed = audit.clone().suppressed(5);
    let of = |audit: &Audit, definition| of_first(audit, &individuals, definition, &gathering(100));
    // Three people of a are helped by the second job: how many choices a has cannot be told.
    assert!(of(&audit, "equal-choice:0.3").is_some());
    assert_eq!(of(&suppressed, "equal-choice:0.3"), None);
    // How many are helped at all can.
    let told = of(&suppressed, "equal-effectiveness:micro");
    assert_eq!(told, of(&audit, "equal-effectiveness:micro"));
    assert!(told.is_some());
    let none = of_first(
        &audit,
        &individuals,
        "equal-effectiveness:micro",
        &gathering(0),
    );
    assert_eq!(none, None);
}

#[test]
fn the_first_findings_of_each_definition_get_intervals() {
    let kinds = [
        ("a", 0b001, 30),
        ("a", 0, 10),
        ("b", 0b001, 20),
        ("b", 0, 20),
    ];
    let (audit, individuals) = clerks(&kinds);
    let definitions = ["equal-effectiveness:micro", "equal-mean-recourse"];
    let definitions = definitions.map(|id| definitions::parse(id).unwrap());
    let all = |gathering: &Gathering| {
        intervals_of_first(
            &audit,
            &individuals,
            &definitions,
            &[],
            gathering,
            Watch::nobody(),
        )
        .unwrap()
    };
    // Under the other definition it is fair: all pay the same.
    let found = all(&gathering(50));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].definition, "equal-effectiveness:micro");
    assert!(
        all(&Gathering {
            detailed: 0,
            ..gathering(50)
        })
        .is_empty()
    );
}
