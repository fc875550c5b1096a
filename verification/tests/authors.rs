//! The `authors` mode against the reference results of the authors' code: what the mode claims to follow
//! (the Trade-Off amid ties, ∞ for a budget without actions, noise that has a rank, tables cut in mining
//! order and rounded) it must follow cell by cell. What it cannot follow is named here.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use facts_engine::{Watch, audit_with_individuals};
use facts_reproduce::authors::{Atomic, Column, Listed, Lists, Measure, Step, Tables, order};
use facts_verification::reference::{GROUPS, Reference, ReferenceSubgroup, TextTable};
use facts_verification::{adult_model, adult_population};

/// The affected women and men of the reference.
const AFFECTED: [u64; 2] = [4_176, 6_563];

/// The reference's lists.
fn lists(reference: &Reference) -> Lists {
    let listed = |subgroup: &ReferenceSubgroup| {
        let effectiveness =
            |flips: [u64; 2], g: usize| Atomic::effectiveness(flips[g], subgroup.n[g], AFFECTED[g]);
        let steps = |g: usize| {
            let steps = subgroup.cum[g].iter();
            let step = |&(action, reached): &(usize, u64)| Step {
                cost: subgroup.a[action].2,
                effectiveness: reached as f64 / subgroup.n[g] as f64,
            };
            steps.map(step).collect()
        };
        let actions = subgroup.a.iter().map(|(_, flips, cost)| Atomic {
            cost: *cost,
            effectiveness: [0, 1].map(|g| effectiveness(*flips, g)),
        });
        Listed {
            predicate: reference.text(&subgroup.p),
            actions: actions.collect(),
            cumulated: [0, 1].map(steps),
        }
    };
    Lists {
        groups: GROUPS.map(str::to_owned),
        subgroups: reference.rules.subgroups.iter().map(listed).collect(),
    }
}

fn measures(reference: &Reference) -> Vec<(String, Measure)> {
    let columns = reference.columns();
    let measure = |id: String| Measure::parse(&id).unwrap();
    columns
        .into_iter()
        .map(|column| (column.name, measure(column.definition.id())))
        .collect()
}

#[test]
fn actions_are_cumulated_in_the_authors_order() {
    for reference in [Reference::at_10_percent(), Reference::at_5_percent()] {
        let lists = lists(&reference);
        for (listed, subgroup) in lists.subgroups.iter().zip(&reference.rules.subgroups) {
            for g in [0, 1] {
                let theirs: Vec<usize> =
                    subgroup.cum[g].iter().map(|(action, _)| *action).collect();
                assert_eq!(order(&listed.actions, g), theirs, "{}", listed.predicate);
            }
        }
    }
}

/// How many cells of one column differ from the reference: values, scores, ranks, bias.
fn differing(reference: &Reference, lists: &Lists, name: &str, column: &Column) -> [usize; 4] {
    let rows: HashMap<&str, &Vec<String>> = (reference.scores.rows.iter())
        .map(|row| (row[0].as_str(), row))
        .collect();
    let mut differing = [0; 4];
    for (s, listed) in lists.subgroups.iter().enumerate() {
        let row = rows[listed.predicate.as_str()];
        let at = |what: &str| format!("{name}|{what}");
        let assessed = column.assessed[s];
        if let Some(values) = assessed.values {
            for (g, group) in GROUPS.iter().enumerate() {
                let theirs = reference.scores.number(row, &at(group));
                differing[0] += usize::from(theirs != values[g]);
            }
        }
        let score = reference.scores.number(row, &at("score"));
        differing[1] += usize::from(score != assessed.score);
        let rank = match reference.scores.cell(row, &at("rank")) {
            "Fair" => None,
            rank => Some(rank.parse::<f64>().unwrap() as u32),
        };
        differing[2] += usize::from(rank != column.ranks[s]);
        let against = assessed.against.map_or("Fair", |g| GROUPS[g]);
        differing[3] += usize::from(against != reference.scores.cell(row, &at("bias_against")));
    }
    differing
}

/// Mean Recourse divides a dot product, whose last digit depends on the library that adds it up; that
/// digit has a rank of its own.
const MEAN: &str = "Equal(Conditional) Mean Recourse";

#[test]
fn scores_and_ranks_are_the_authors() {
    let known = [
        (Reference::at_10_percent(), [18, 14, 0, 0]),
        (Reference::at_5_percent(), [101, 92, 650, 10]),
    ];
    for (reference, differing_means) in known {
        let lists = lists(&reference);
        let (names, measures): (Vec<String>, Vec<Measure>) =
            measures(&reference).into_iter().unzip();
        let tables = Tables::new(&lists, &measures);
        for (name, column) in names.iter().zip(tables.columns()) {
            let found = differing(&reference, &lists, name, column);
            let known = if name == MEAN {
                differing_means
            } else {
                [0; 4]
            };
            assert_eq!(found, known, "{name} at {}", reference.support);
        }
        let mean = names.iter().position(|name| name == MEAN).unwrap();
        for (listed, assessed) in lists.subgroups.iter().zip(&tables.columns()[mean].assessed) {
            let rows = &reference.scores.rows;
            let row = rows.iter().find(|row| row[0] == listed.predicate).unwrap();
            for (g, group) in GROUPS.iter().enumerate() {
                let theirs = reference.scores.number(row, &format!("{MEAN}|{group}"));
                let ours = assessed.values.unwrap()[g];
                assert!(theirs == ours || (theirs - ours).abs() < 1e-13, "{ours}");
            }
        }
    }
}

/// Row, column, the reference's cell, ours.
type Known = (&'static str, &'static str, &'static str, &'static str);

#[test]
fn tables_are_the_authors() {
    // What the last digit of mean costs does to the tables.
    let noise: &[Known] = &[
        (MEAN, "Female bias against Count", "392", "388"),
        (MEAN, "Male bias against Count", "403", "397"),
        (MEAN, "Top 10% Female bias against Count", "44", "43"),
        ("('Equal Choice for Recourse', 0.3)", MEAN, "0.664", "0.663"),
        ("Equal Effectiveness", MEAN, "0.124", "0.123"),
        (
            "('Equal Effectiveness within Budget', 5.1502415024150245)",
            MEAN,
            "0.124",
            "0.123",
        ),
        (
            "('Equal Effectiveness within Budget', 10.150241502415025)",
            MEAN,
            "0.124",
            "0.123",
        ),
        (
            "('Fair Effectiveness-Cost Trade-Off', 'value')",
            MEAN,
            "0.124",
            "0.123",
        ),
    ];
    let known: [(Reference, &[Known]); 2] = [
        (Reference::at_10_percent(), &[]),
        (Reference::at_5_percent(), noise),
    ];
    for (reference, known) in known {
        let names = reference.names_in_tables();
        let measures: Vec<Measure> = measures(&reference)[..names.len()]
            .iter()
            .map(|(_, measure)| *measure)
            .collect();
        let tables = Tables::new(&lists(&reference), &measures);
        let mut found: Vec<[String; 4]> = Vec::new();
        let mut compare = |row: &str, column: &str, theirs: &str, ours: String| {
            if theirs != ours {
                found.push([row, column, theirs, &ours].map(str::to_owned));
            }
        };
        let row_of = |table: &TextTable, name: &String| -> Vec<String> {
            let mut rows = table.rows.iter();
            rows.find(|row| row[0] == *name).unwrap().clone()
        };
        for (name, ours) in names.iter().zip(tables.ranking_analysis()) {
            let table = &reference.ranking_analysis;
            let theirs = row_of(table, name);
            let mut cell = |column: &str, ours: usize| {
                compare(name, column, table.cell(&theirs, column), ours.to_string());
            };
            cell("Rank = 1 Count", ours.rank_one);
            for (g, group) in GROUPS.iter().enumerate() {
                cell(&format!("{group} bias against Count"), ours.against[g]);
                let top = ours.against_in_top_tenth[g];
                cell(&format!("Top 10% {group} bias against Count"), top);
            }
        }
        for (name, ours) in names.iter().zip(tables.aggregated_rankings()) {
            let theirs = row_of(&reference.aggregated_rankings, name);
            for ((column, theirs), ours) in names.iter().zip(&theirs[1..]).zip(ours) {
                // As Python prints them: one decimal at least.
                let ours = ours.map_or(String::new(), |ours| format!("{ours:?}"));
                compare(name, column, theirs, ours);
            }
        }
        let known: Vec<[String; 4]> = (known.iter())
            .map(|(a, b, c, d)| [*a, b, c, d].map(str::to_owned))
            .collect();
        found.sort();
        let mut sorted = known;
        sorted.sort();
        assert_eq!(found, sorted);
    }
}

#[test]
fn an_audit_gives_the_lists_that_the_authors_have() {
    let reference = Reference::at_5_percent();
    let options = facts_engine::Options::new().support("0.05".parse().unwrap());
    let population = adult_population().unwrap();
    let model = adult_model().unwrap();
    let (audit, individuals) =
        audit_with_individuals(&population, &model, &options, Watch::nobody()).unwrap();
    let ours = Lists::of(&audit, &individuals).unwrap();
    let ours: HashMap<&str, &Listed> = (ours.subgroups.iter())
        .map(|listed| (listed.predicate.as_str(), listed))
        .collect();
    let theirs = lists(&reference);
    assert_eq!(ours.len(), theirs.subgroups.len());
    for listed in &theirs.subgroups {
        let ours = ours[listed.predicate.as_str()];
        for (_, measure) in measures(&reference) {
            let (ours, theirs) = (measure.assess(ours), measure.assess(listed));
            assert_eq!(ours.against.is_some(), theirs.against.is_some());
            let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-12;
            assert!(near(ours.score, theirs.score), "{}", listed.predicate);
        }
    }
}
