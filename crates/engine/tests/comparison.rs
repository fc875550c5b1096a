//! Two audits compared, held against the slow reference: two models on the same people, person by person.
//!
//! Cases are the same in every run; `PROPTEST_CASES` asks for more of them.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod slow;
mod slow_adapter;

use std::collections::{BTreeMap, BTreeSet};

use facts_engine::answer::{DELTA, answer};
use facts_engine::comparison::{Comparison, Pair, Side, compare, compare_people, series};
use facts_engine::{Audit, Individuals, Watch, audit_with_individuals};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::slow::case::Case;
use crate::slow::generate::cases;
use crate::slow::population::Population;
use crate::slow::{SlowAudit, Subgroup, audit as slow_audit};
use crate::slow_adapter::{model, options, population};

const ALPHA: f64 = 0.05;
const BUDGET: f64 = 1.5;

/// A case, and the same people with another model.
fn both() -> impl Strategy<Value = (Case, Case)> {
    (cases(), 1..=6_u64, any::<u64>()).prop_map(|(mut case, factor, seed)| {
        for person in &mut case.people {
            person.weight *= factor;
        }
        let mut other = case.clone();
        other.model.seed ^= seed;
        (case, other)
    })
}

fn audited(case: &Case) -> Option<(Audit, Individuals)> {
    let population = population(case).ok()?;
    let (model, options) = (model(case), options(case));
    audit_with_individuals(&population, &model, &options, Watch::nobody()).ok()
}

/// Both audits have the same profiles, since they are of the same people by the same features.
fn pairs(case: &Case, audit: &Audit) -> Vec<Pair> {
    let people = population(case).unwrap();
    let pair = |profile: usize| {
        let name = &people.groups()[people.group(profile)];
        Some(Pair {
            now: profile,
            before: profile,
            group: audit.groups.iter().position(|group| group.name == *name)?,
            people: people.people(profile),
        })
    };
    (0..people.profiles()).filter_map(pair).collect()
}

/// Who of a subgroup's affected people has a way within a cost, by row.
fn fares(people: &Population<'_>, subgroup: &Subgroup, cost: f64) -> BTreeMap<usize, bool> {
    let within = subgroup.actions.iter().filter(|a| a.cost <= cost + 1e-9);
    let with: BTreeSet<usize> = within.flat_map(|action| action.flipped.clone()).collect();
    let meets = |i: &usize| {
        let person = &people.people[*i];
        let mut items = subgroup.predicate.iter();
        !person.favourable && items.all(|item| item.admits(people, person.levels[item.feature]))
    };
    let rows = (0..people.people.len()).filter(meets);
    rows.map(|i| (i, with.contains(&i))).collect()
}

/// People refused by both models, and those with a way before and now, in one group.
fn slow_table(
    people: &Population<'_>,
    group: &str,
    before: &BTreeMap<usize, bool>,
    now: &BTreeMap<usize, bool>,
) -> (u64, u64, u64) {
    let mut table = (0, 0, 0);
    for (i, had) in before {
        let person = &people.people[*i];
        if person.group == group
            && let Some(has) = now.get(i)
        {
            table.0 += person.weight;
            table.1 += if *had { person.weight } else { 0 };
            table.2 += if *has { person.weight } else { 0 };
        }
    }
    table
}

fn check_people(
    people: [&Population<'_>; 2],
    slow: [&SlowAudit; 2],
    found: &Comparison,
) -> Result<(), TestCaseError> {
    for subgroup in &found.subgroups {
        let of = |audit: &SlowAudit| {
            let mut all = audit.subgroups.iter();
            all.find(|s| s.text == subgroup.predicate).unwrap().clone()
        };
        for within in &subgroup.within {
            let before = fares(people[0], &of(slow[0]), within.cost);
            let now = fares(people[1], &of(slow[1]), within.cost);
            for (group, name) in within.groups.iter().zip(&found.groups) {
                let (all, had, has) = slow_table(people[1], name, &before, &now);
                prop_assert_eq!((group.before.whole, group.before.part), (all, had));
                prop_assert_eq!((group.now.whole, group.now.part), (all, has));
            }
        }
    }
    Ok(())
}

/// What must hold of any comparison.
fn check_any(found: &Comparison) -> Result<(), TestCaseError> {
    for subgroup in &found.subgroups {
        prop_assert_eq!(subgroup.within.len(), 2);
        prop_assert_eq!(subgroup.within(Some(BUDGET)).unwrap().cost, BUDGET);
        for within in &subgroup.within {
            for gap in &within.gaps {
                let (a, b) = gap.pair;
                let share = |g: usize| {
                    (
                        within.groups[g].before.ratio(),
                        within.groups[g].now.ratio(),
                    )
                };
                prop_assert!((gap.before - (share(b).0 - share(a).0)).abs() < 1e-12);
                prop_assert!((gap.moved.by - (gap.now - gap.before)).abs() < 1e-9);
                prop_assert!(gap.moved.corrected >= gap.moved.p);
                let interval = gap.moved.interval;
                let leaves_out_0 = interval.low > 0.0 || interval.high < 0.0;
                prop_assert!(gap.moved.p > ALPHA || leaves_out_0, "{:?}", gap);
            }
        }
    }
    Ok(())
}

#[test]
fn comparisons_agree_with_the_slow_reference() {
    let config = ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() {
            ProptestConfig::default().cases
        } else {
            150
        },
        rng_seed: RngSeed::Fixed(16),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let counts = std::cell::Cell::new((0, 0));
    let result = TestRunner::new(config).run(&both(), |(old, new)| compared(&old, &new, &counts));
    result.unwrap();
    let (met, moved) = counts.get();
    assert!(met > 100, "{met} subgroups were compared");
    assert!(moved > 0, "nothing ever moved");
}

fn compared(
    old: &Case,
    new: &Case,
    counts: &std::cell::Cell<(usize, usize)>,
) -> Result<(), TestCaseError> {
    let (Some(was), Some(is)) = (audited(old), audited(new)) else {
        return Ok(());
    };
    let pairs = pairs(old, &is.0);
    let budgets = [BUDGET];
    let (first, second) = ((&was.0, &was.1), (&is.0, &is.1));
    let Some(paired) = compare_people(&pairs, first, second, &budgets, ALPHA).unwrap() else {
        return Ok(());
    };
    let slow_people = [old, new].map(|case| Population::judged(case).unwrap());
    let slow = [old, new].map(|case| slow_audit(case).unwrap());
    check_people(slow_people.each_ref(), slow.each_ref(), &paired)?;
    check_any(&paired)?;
    let people = |found: &(Audit, Individuals)| answer(&found.0, &found.1, &[], None, DELTA).people;
    let (was_people, is_people) = (people(&was), people(&is));
    let old = Side {
        audit: &was.0,
        people: Some(&was_people),
    };
    let new = Side {
        audit: &is.0,
        people: Some(&is_people),
    };
    let two = compare(old, new, &budgets, ALPHA).unwrap();
    check_any(&two)?;
    check_all_people(&two, &paired)?;
    let (met, moved) = counts.get();
    let any = usize::from(two.anything_moved());
    counts.set((met + two.subgroups.len(), moved + any));
    // The same audit again: nothing moved, however often one looks.
    let again = series(&[old, old, old], &budgets, ALPHA);
    prop_assert_eq!(again.first_change(), None);
    Ok(())
}

/// All people of a group are the same in both ways of comparing.
fn check_all_people(two: &Comparison, paired: &Comparison) -> Result<(), TestCaseError> {
    let (two, paired) = (
        two.people.as_ref().unwrap(),
        paired.people.as_ref().unwrap(),
    );
    for (a, b) in two.shut_out.iter().zip(&paired.shut_out) {
        prop_assert_eq!((a.before, a.now), (b.before, b.now));
    }
    Ok(())
}
