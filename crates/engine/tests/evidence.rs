//! Tests of the tests: against all permutations of the group labels, one by one.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::definitions::{self, Definition, Statistic};
use facts_engine::evidence::{Gathering, Source, Tests, test};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Distance, Feature, Protected};
use facts_engine::{Audit, Individuals, Options, Watch, audit_with_individuals};
use proptest::prelude::*;

/// The jobs that may help, one binary digit of what a person can each.
const JOBS: [&str; 3] = ["cook", "driver", "guard"];

/// Some rows of people without a job: what each can, their group, and how many they are.
type People = Vec<(i64, usize, u64)>;

/// A subgroup of everybody without a job. Each of three jobs is open to those who can do it, and to
/// three people who have it already.
fn audited(people: &People, names: &[&str]) -> (Audit, Individuals) {
    let mut rows: Vec<(&str, i64, &str, u64)> = people
        .iter()
        .map(|&(can, group, weight)| ("none", can, names[group], weight))
        .collect();
    rows.extend(JOBS.map(|job| (job, 7, names[0], 1)));
    let text = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
    let number = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let table = RecordBatch::try_from_iter([
        ("job", text(rows.iter().map(|row| row.0).collect())),
        ("can", number(rows.iter().map(|row| row.1).collect())),
        ("group", text(rows.iter().map(|row| row.2).collect())),
        (
            "weight",
            number(rows.iter().map(|row| row.3 as i64).collect()),
        ),
    ])
    .unwrap();
    let costs = [("cook", 1.0), ("driver", 2.0), ("guard", 2.0)];
    let table_of_costs = costs.map(|(to, cost)| ("none".to_owned(), to.to_owned(), cost));
    let population = Declaration::new()
        .feature(Feature::categorical("job").distance(Distance::Table(table_of_costs.to_vec())))
        .context("can")
        .protected(Protected::attribute("group"))
        .weight("weight")
        .read([table])
        .unwrap();
    let model = FnModel::new(|rows: &RecordBatch| {
        let jobs = rows.column(0).as_string::<i32>();
        let can = rows.column(1).as_primitive::<Int64Type>();
        let says = |i: usize| {
            let job = JOBS.iter().position(|job| *job == jobs.value(i));
            job.is_some_and(|job| can.value(i) >> job & 1 == 1)
        };
        (0..rows.num_rows()).map(says).collect()
    });
    let options = Options::new().support("0.01".parse().unwrap());
    audit_with_individuals(&population, &model, &options, Watch::nobody()).unwrap()
}

fn all_definitions() -> Vec<Box<dyn Definition>> {
    [
        "equal-effectiveness:micro",
        "equal-effectiveness:macro",
        "equal-choice:0.3",
        "equal-choice:0.5",
        "equal-effectiveness-within-budget:micro:1",
        "equal-effectiveness-within-budget:macro:1",
        "equal-effectiveness-within-budget:macro:2",
        "equal-cost-of-effectiveness:micro:0.5",
        "equal-cost-of-effectiveness:macro:0.3",
        "equal-cost-of-effectiveness:macro:0.5",
        "fair-trade-off:micro",
        "fair-trade-off:macro",
        "equal-mean-recourse",
        "equal-mean-recourse:5",
    ]
    .map(|id| definitions::parse(id).unwrap())
    .into()
}

fn tested(people: &People, names: &[&str], gathering: &Gathering) -> (Audit, Vec<Tests>) {
    let (audit, individuals) = audited(people, names);
    let definitions = all_definitions();
    let tests = test(
        &audit,
        &individuals,
        &definitions,
        gathering,
        Watch::nobody(),
    )
    .unwrap();
    (audit, tests)
}

/// One way to label everybody, and how many ways there are that come to the same.
struct Way {
    people: People,
    ways: f64,
}

/// All ways to label people so that every group keeps its size: by what they can, how many go to
/// each group.
fn all_ways(people: &People, groups: usize) -> Vec<Way> {
    let mut kinds: Vec<(i64, u64)> = Vec::new();
    let mut sizes = vec![0; groups];
    for &(can, group, weight) in people {
        sizes[group] += weight;
        match kinds.iter_mut().find(|kind| kind.0 == can) {
            Some(kind) => kind.1 += weight,
            None => kinds.push((can, weight)),
        }
    }
    let mut ways = Vec::new();
    label(&kinds, &sizes, Vec::new(), 1.0, &mut ways);
    ways
}

fn label(kinds: &[(i64, u64)], left: &[u64], labelled: People, so_far: f64, ways: &mut Vec<Way>) {
    let Some((&(can, people), rest)) = kinds.split_first() else {
        let people = labelled;
        ways.push(Way {
            people,
            ways: so_far,
        });
        return;
    };
    for split in splits(people, left) {
        let mut left = left.to_vec();
        let mut labelled = labelled.clone();
        let mut choices = so_far;
        let mut undealt = people;
        for (group, &taken) in split.iter().enumerate() {
            left[group] -= taken;
            choices *= choose(undealt, taken);
            undealt -= taken;
            if taken > 0 {
                labelled.push((can, group, taken));
            }
        }
        label(rest, &left, labelled, choices, ways);
    }
}

/// All ways to split people between groups that have so many places left.
fn splits(people: u64, left: &[u64]) -> Vec<Vec<u64>> {
    let Some((&first, rest)) = left.split_first() else {
        return if people == 0 {
            vec![Vec::new()]
        } else {
            Vec::new()
        };
    };
    (0..=people.min(first))
        .flat_map(|taken| {
            let mut all = splits(people - taken, rest);
            for split in &mut all {
                split.insert(0, taken);
            }
            all
        })
        .collect()
}

fn choose(n: u64, k: u64) -> f64 {
    (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64)
}

/// How likely what each definition compares, or more, is among all ways; and for what one count decides,
/// Fisher's two-sided p-value.
struct Truth {
    at_least: f64,
    fisher: f64,
}

fn truths(people: &People, names: &[&str]) -> Vec<Truth> {
    let definitions = all_definitions();
    let ways = all_ways(people, names.len());
    let all: f64 = ways.iter().map(|way| way.ways).sum();
    let statistics = |people: &People| -> Vec<Statistic> {
        let (audit, _) = audited(people, names);
        let subgroup = &audit.subgroups[0];
        let statistics = definitions.iter().map(|of| of.statistic(subgroup).unwrap());
        statistics.collect()
    };
    let scored: Vec<(Vec<Statistic>, f64)> = ways
        .iter()
        .map(|way| (statistics(&way.people), way.ways / all))
        .collect();
    let found = statistics(people);
    found
        .into_iter()
        .enumerate()
        .map(|(d, found)| {
            let at_least = |(drawn, _): &&(Vec<Statistic>, f64)| as_large(drawn[d], found);
            let at_least = scored.iter().filter(at_least).map(|(_, p)| p).sum::<f64>();
            let at_least = at_least.min(1.0);
            // Ways that come to the same value for the first group are one table.
            let mut tables: HashMap<String, f64> = HashMap::new();
            let value_of = |people: &People| {
                let (audit, _) = audited(people, names);
                let assessed = definitions[d].assess(&audit.subgroups[0]).unwrap();
                format!("{:?}", assessed.values[0])
            };
            for way in &ways {
                *tables.entry(value_of(&way.people)).or_default() += way.ways / all;
            }
            let mine = tables[&value_of(people)];
            let fisher: f64 = tables.values().filter(|&&p| p <= mine * (1.0 + 1e-7)).sum();
            Truth { at_least, fisher }
        })
        .collect()
}

/// The score first, then the gap.
fn as_large(one: Statistic, other: Statistic) -> bool {
    let same = one.score == other.score || (one.score - other.score).abs() < 1e-9;
    if same {
        one.gap >= other.gap - 1e-9
    } else {
        one.score > other.score
    }
}

/// As far as so many permutations may be off.
fn error(p: f64) -> f64 {
    4.5 * (p * (1.0 - p) / 2000.0).sqrt() + 3.0 / 2000.0
}

/// Whether a p-value is what all ways to deal say, as far as its source promises.
fn is_true(id: &str, p: f64, source: Source, truth: &Truth) {
    let Truth { at_least, fisher } = *truth;
    match source {
        Source::Exact => assert!((p - fisher).abs() < 1e-9, "{id}: {p} is not {fisher}"),
        Source::Bound => assert!(p >= at_least - 1e-9, "{id}: {p} is below {at_least}"),
        Source::Permutations => {
            let off = (p - at_least).abs();
            assert!(off <= error(at_least), "{id}: {p} is not {at_least}");
        }
    }
}

/// Each pair of groups is tested as if there were no other group.
fn check_pairs(people: &People, names: &[&str]) {
    // So that everything passes that is not surely chance, and its pairs are tested.
    let gathering = Gathering {
        shuffles: 2000,
        alpha: 0.9,
        ..Gathering::default()
    };
    let (_, tests) = tested(people, names, &gathering);
    for a in 0..names.len() {
        for b in a + 1..names.len() {
            let of_pair = |&&(_, group, _): &&(i64, usize, u64)| group == a || group == b;
            let two = people.iter().filter(of_pair);
            let two: People = two
                .map(|&(can, group, weight)| (can, usize::from(group == b), weight))
                .collect();
            let truths = truths(&two, &[names[a], names[b]]);
            for (tests, truth) in tests.iter().zip(&truths) {
                let all = tests.tested[0].unwrap().together(1);
                let pairs = tests.pairs_of(0);
                assert_eq!(pairs.is_empty(), all > gathering.alpha, "{all}");
                for pair in pairs.iter().filter(|pair| pair.groups == [a, b]) {
                    // A score of 0 has p = 1, whatever the ways to deal say.
                    if pair.score > 0.0 {
                        is_true(&tests.definition, pair.p, pair.source, truth);
                    }
                    assert_eq!(pair.against.is_empty(), pair.score == 0.0, "{pair:?}");
                    assert!(pair.together >= pair.p && pair.together >= all, "{pair:?}");
                }
            }
        }
    }
}

fn check(people: &People, names: &[&str]) {
    let gathering = Gathering {
        shuffles: 2000,
        ..Gathering::default()
    };
    let (audit, tests) = tested(people, names, &gathering);
    assert_eq!(audit.subgroups.len(), 1);
    let truths = truths(people, names);
    for (tests, truth) in tests.iter().zip(&truths) {
        let tested = tests.tested[0].unwrap();
        let id = &tests.definition;
        is_true(id, tested.p, tested.source, truth);
        // Alone in its family, a test is corrected for nothing; but tails that do not tell apart what
        // permutations do may make it larger, never smaller.
        let off = tested.family_wise - tested.p;
        assert!(off >= -1e-12, "{id}: {tested:?}");
        let exact = tested.source == Source::Exact && tested.p >= 0.02;
        assert!(!exact || off <= error(tested.p), "{id}: {tested:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn p_values_are_shares_of_all_ways_to_deal(
        first in prop::collection::vec((0i64..8, 1u64..4), 1..5),
        second in prop::collection::vec((0i64..8, 1u64..4), 1..5),
    ) {
        let of = |people: Vec<(i64, u64)>, group| people.into_iter().map(move |(can, weight)| (can, group, weight));
        let people: People = of(first, 0).chain(of(second, 1)).collect();
        check(&people, &["a", "b"]);
    }

    #[test]
    fn three_groups_are_dealt_out_alike(
        people in prop::collection::vec((0i64..8, 0usize..3, 1u64..3), 1..5),
    ) {
        let mut people = people;
        people.extend([(1, 0, 1), (3, 1, 2), (0, 2, 1)]);
        check(&people, &["a", "b", "c"]);
    }

    #[test]
    fn pairs_of_groups_are_tested_as_if_there_were_no_other(
        people in prop::collection::vec((0i64..8, 0usize..3, 1u64..4), 1..6),
    ) {
        let mut people = people;
        people.extend([(1, 0, 2), (3, 1, 2), (0, 2, 2)]);
        check_pairs(&people, &["a", "b", "c"]);
    }
}

/// What is shown of three groups, of which the last has no way and the others are alike.
#[test]
fn pairs_come_after_all_groups_and_say_who_differs() {
    let alike = [(7, 30), (1, 10), (0, 20)];
    let two = (0..2).flat_map(|g| alike.map(|(can, people)| (can, g, people)));
    let people: People = two.chain([(0, 2, 60)]).collect();
    let (audit, tests) = tested(&people, &["a", "b", "c"], &Gathering::default());
    let definitions = all_definitions();
    for (tests, definition) in tests.iter().zip(&definitions) {
        let all = tests.tested[0].unwrap().together(definitions.len());
        let pairs = tests.pairs_of(0);
        assert_eq!(pairs.len(), if all <= 0.05 { 3 } else { 0 }, "{all}");
        for pair in pairs {
            let differ = pair.groups[1] == 2;
            assert_eq!(pair.passes(0.05), differ, "{}: {pair:?}", tests.definition);
            assert_eq!(pair.against, if differ { vec![2] } else { vec![] });
        }
        let found = definition.assess(&audit.subgroups[0]).unwrap();
        if !pairs.is_empty() {
            assert_eq!(tests.shown_against(0, &found, 0.05), [2]);
        }
    }
    let pairs = tests.iter().filter(|tests| !tests.pairs.is_empty());
    assert!(pairs.count() >= 10);
    // Nothing is said of pairs where nothing is shown of all groups, nor where there are two.
    let all_alike = (0..3).flat_map(|g| alike.map(|(can, people)| (can, g, people)));
    let (_, tests) = tested(
        &all_alike.collect(),
        &["a", "b", "c"],
        &Gathering::default(),
    );
    assert!(tests.iter().all(|tests| tests.pairs.is_empty()));
    let (_, tests) = tested(
        &vec![(7, 0, 60), (0, 1, 60)],
        &["a", "b"],
        &Gathering::default(),
    );
    assert!(tests.iter().all(|tests| tests.pairs.is_empty()));
}

#[test]
fn far_tails_are_bounded_not_shuffled() {
    // Everybody of one group can do all, nobody of the other anything: no permutation comes near.
    let people: People = vec![(7, 0, 60), (0, 1, 60)];
    let (_, tests) = tested(&people, &["a", "b"], &Gathering::default());
    for tests in tests {
        let (id, tested) = (&tests.definition, tests.tested[0].unwrap());
        // Whatever the threshold: where scores tie, gaps do not.
        assert!(tested.p < 1e-20, "{id}: {tested:?}");
        assert_ne!(tested.source, Source::Permutations, "{id}");
    }
}

#[test]
fn people_of_one_profile_are_dealt_out_one_by_one() {
    // The same people in heavy rows and in single ones, and in rows heavy enough to be labelled
    // together.
    let heavy: People = vec![(1, 0, 90), (2, 0, 70), (1, 1, 60), (6, 1, 80)];
    let single: People = heavy
        .iter()
        .flat_map(|&(can, group, weight)| (0..weight).map(move |_| (can, group, 1)))
        .collect();
    // What the model sees makes a profile, so a column that tells people apart keeps them apart.
    let apart: People = single
        .iter()
        .enumerate()
        .map(|(i, &(can, group, weight))| (can + 8 * (i as i64 + 1), group, weight))
        .collect();
    let gathering = Gathering {
        shuffles: 4000,
        ..Gathering::default()
    };
    let (_, together) = tested(&heavy, &["a", "b"], &gathering);
    let (_, one_by_one) = tested(&apart, &["a", "b"], &gathering);
    for (a, b) in together.iter().zip(&one_by_one) {
        let (a_p, b_p) = (a.tested[0].unwrap().p, b.tested[0].unwrap().p);
        let error = 6.0 * (b_p * (1.0 - b_p) / 4000.0).sqrt() + 1e-3;
        assert!((a_p - b_p).abs() <= error, "{}: {a_p} {b_p}", a.definition);
    }
}

#[test]
fn millions_of_people_are_no_trouble_and_billions_are_refused() {
    // One job is open to 60 % of a million, and to 40 % of another.
    let people: People = vec![
        (1, 0, 600_000),
        (2, 0, 400_000),
        (1, 1, 400_000),
        (0, 1, 600_000),
    ];
    let gathering = Gathering {
        shuffles: 100,
        ..Gathering::default()
    };
    let (_, tests) = tested(&people, &["a", "b"], &gathering);
    for tests in &tests {
        let tested = tests.tested[0].unwrap();
        let p = tested.p;
        assert!(
            (0.0..=1.0).contains(&p) && p > 0.0,
            "{}: {tested:?}",
            tests.definition
        );
        let score = tested.least_score;
        let share = tests.definition.starts_with("equal-effectiveness");
        assert!(
            !share || score.is_some_and(|score| score < 0.01),
            "{tested:?}"
        );
    }
    // Nor is a third group.
    let three: People = people.iter().copied().chain([(1, 2, 1_000_000)]).collect();
    for tests in tested(&three, &["a", "b", "c"], &gathering).1 {
        let p = tests.tested[0].unwrap().p;
        assert!((0.0..=1.0).contains(&p) && p > 0.0, "{}", tests.definition);
    }
    let crowd: People = vec![(1, 0, 3_000_000_000), (0, 1, 3_000_000_000)];
    let (audit, individuals) = audited(&crowd, &["a", "b"]);
    let refused = test(
        &audit,
        &individuals,
        &all_definitions(),
        &gathering,
        Watch::nobody(),
    );
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("a subgroup has 6000000000 people"),
        "{refused}"
    );
}

#[test]
fn evidence_does_not_depend_on_threads_but_on_the_seed() {
    let people: People = vec![
        (1, 0, 5),
        (3, 0, 4),
        (6, 1, 6),
        (0, 1, 3),
        (5, 0, 2),
        (2, 1, 2),
    ];
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let gathering = Gathering {
            seed,
            ..Gathering::default()
        };
        pool.install(|| tested(&people, &["a", "b"], &gathering).1)
    };
    let one = on(1, 1);
    assert_eq!(one, on(2, 1));
    assert_eq!(one, on(3, 1));
    assert_ne!(one, on(1, 2));
}

/// A job helps 73 of 86 people. That a group of 43 falls short of 70 % has a chance of 8 in 100,000: no
/// permutation shows it, and yet it could be found, whether it was or not.
#[test]
fn what_could_pass_does_not_depend_on_what_was_found() {
    let found_by_chance: People = vec![(1, 0, 43), (1, 1, 30), (0, 1, 13)];
    let alike: People = vec![(1, 0, 37), (0, 0, 6), (1, 1, 36), (0, 1, 7)];
    // The same a thousand times as large: less likely than any number can say, and possible.
    let crowd: People = alike
        .iter()
        .map(|&(can, group, n)| (can, group, 1000 * n))
        .collect();
    for (people, infinite) in [(&found_by_chance, true), (&alike, false), (&crowd, false)] {
        let (audit, individuals) = audited(people, &["a", "b"]);
        for id in ["equal-cost-of-effectiveness:macro:0.7", "equal-choice:0.7"] {
            let definition = [definitions::parse(id).unwrap()];
            let gathering = Gathering::default();
            let nobody = Watch::nobody();
            let tests = test(&audit, &individuals, &definition, &gathering, nobody).unwrap();
            let tested = tests[0].tested[0].unwrap();
            assert_eq!(tested.p < 0.001, infinite, "{id}: {tested:?}");
            let least = if id.contains("cost") {
                f64::INFINITY
            } else {
                1.0
            };
            assert_eq!(tested.least_score, Some(least), "{id}: {people:?}");
        }
    }
    // If everybody is helped, no group can be short of anything.
    let (_, tests) = tested(
        &vec![(7, 0, 43), (7, 1, 43)],
        &["a", "b"],
        &Gathering::default(),
    );
    for tests in tests {
        let tested = tests.tested[0].unwrap();
        assert_eq!(tested.least_score, None, "{}", tests.definition);
    }
}

/// A tail stands alone where it is at most a thousandth; elsewhere the permutations speak, and pay for
/// that. These people are about as unlike by chance in one permutation of 25, and their tail says hardly
/// more: whether it is below what the permutations say is left to the seed.
#[test]
fn neither_of_two_p_values_is_picked_for_being_smaller() {
    let people: People = vec![(3, 0, 1), (2, 0, 8), (0, 0, 3), (2, 1, 3), (0, 1, 9)];
    let far: People = vec![(1, 0, 20), (3, 0, 10), (1, 1, 10), (2, 1, 20)];
    for (people, seed) in (1..25).map(|seed| (&people, seed)).chain([(&far, 1)]) {
        let gathering = Gathering {
            seed,
            shuffles: 39,
            ..Gathering::default()
        };
        for tests in tested(people, &["a", "b"], &gathering).1 {
            let tested = tests.tested[0].unwrap();
            match tested.source {
                Source::Exact => {}
                Source::Bound => assert!(tested.p <= 0.001, "{tested:?}"),
                Source::Permutations => assert!(tested.p >= 1.0 / 40.0 + 0.001, "{tested:?}"),
            }
        }
    }
}

#[test]
fn what_could_pass_is_told_with_the_groups_sizes() {
    // Two against two: the most extreme of six ways has a p-value of 1/3.
    let (_, tests) = tested(
        &vec![(7, 0, 2), (0, 1, 2)],
        &["a", "b"],
        &Gathering::default(),
    );
    let tested_small = tests[0].tested[0].unwrap();
    assert!((tested_small.p - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(tested_small.least_score, None);
    // Five against five: only all against nobody passes, with 2/252.
    let (_, tests) = tested(
        &vec![(7, 0, 5), (0, 1, 5)],
        &["a", "b"],
        &Gathering::default(),
    );
    let tested_five = tests[0].tested[0].unwrap();
    assert!((tested_five.p - 2.0 / 252.0).abs() < 1e-12);
    assert_eq!(tested_five.least_score, Some(1.0));
}

/// 9 of 100 against 44 of 100, and a third that has to be reached: about as many permutations leave some
/// group short of it, but none with such a gap.
#[test]
fn a_wide_gap_is_found_though_every_score_is_infinite() {
    let people: People = vec![(1, 0, 44), (0, 0, 56), (1, 1, 9), (0, 1, 91)];
    let (audit, individuals) = audited(&people, &["a", "b"]);
    for id in ["equal-cost-of-effectiveness:micro:0.3", "equal-choice:0.3"] {
        let definition = [definitions::parse(id).unwrap()];
        let gathering = Gathering::default();
        let tests = test(
            &audit,
            &individuals,
            &definition,
            &gathering,
            Watch::nobody(),
        )
        .unwrap();
        let tested = tests[0].tested[0].unwrap();
        assert!(tested.p < 1e-6, "{id}: {tested:?}");
        assert!(tested.passes(0.05), "{id}: {tested:?}");
        assert!(tested.gap_p.unwrap() < 1e-6, "{id}: {tested:?}");
    }
}

/// What is rarer than a thousandth is told by the tail, however many permutations there are.
#[test]
fn more_permutations_do_not_lose_findings() {
    let people: People = vec![
        (1, 0, 30),
        (2, 0, 10),
        (0, 0, 20),
        (1, 1, 10),
        (2, 1, 30),
        (0, 1, 20),
    ];
    let (audit, individuals) = audited(&people, &["a", "b"]);
    let definition = [definitions::parse("equal-mean-recourse").unwrap()];
    let p = [49, 200, 1000, 5000].map(|shuffles| {
        let gathering = Gathering {
            shuffles,
            ..Gathering::default()
        };
        let tests = test(
            &audit,
            &individuals,
            &definition,
            &gathering,
            Watch::nobody(),
        )
        .unwrap();
        tests[0].tested[0].unwrap().p
    });
    assert!(p[0] < 1e-4, "{p:?}");
    assert!(p.iter().all(|&more| more == p[0]), "{p:?}");
}
