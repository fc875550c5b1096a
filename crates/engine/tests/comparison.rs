//! Two audits compared, held against the slow reference: two models on the same people, person by person.
//!
//! Cases are the same in every run; `PROPTEST_CASES` asks for more of them.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod slow;
mod slow_adapter;

use std::collections::{BTreeMap, BTreeSet};

use facts_engine::answer::{DELTA, answer};
use facts_engine::comparison::{
    Comparison, GapMoved, GroupMoved, Moved, Pair, Side, compare, compare_people, series, spent,
};
use facts_engine::distribution::Share;
use facts_engine::evidence::Interval;
use facts_engine::{Audit, Individuals, Watch, audit_with_individuals};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::slow::case::Case;
use crate::slow::generate::cases;
use crate::slow::paired::{Fare, moved};
use crate::slow::population::Population;
use crate::slow::{SlowAudit, Subgroup, audit as slow_audit};
use crate::slow_adapter::{model, options, population};

const ALPHA: f64 = 0.05;
const BUDGET: f64 = 1.5;
const Z_95: f64 = 1.959_963_984_540_054;

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

/// People of one group refused by both models, and whether they had a way before and have one now. Those who are the
/// same in all that is known of them are of one kind.
fn slow_fares(
    people: &Population<'_>,
    group: &str,
    before: &BTreeMap<usize, bool>,
    now: &BTreeMap<usize, bool>,
) -> Vec<Fare<String>> {
    let mut fares = Vec::new();
    for (i, had) in before {
        let person = &people.people[*i];
        if person.group == group
            && let Some(has) = now.get(i)
        {
            fares.push(Fare {
                weight: person.weight,
                kind: format!("{:?} {:?}", person.levels, person.seen),
                had: *had,
                has: *has,
            });
        }
    }
    fares
}

/// Whether an interval is by so much wider than a move to either side.
fn is_interval(moved: &Moved, (by, below, above): (f64, f64, f64)) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let Interval { low, high } = moved.interval;
    near(moved.by, by) && near(low, by - below) && near(high, by + above)
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
            let mut moves = Vec::new();
            for (group, name) in within.groups.iter().zip(&found.groups) {
                let fares = slow_fares(people[1], name, &before, &now);
                let count = |is: fn(&Fare<String>) -> bool| -> u64 {
                    fares.iter().filter(|f| is(f)).map(|f| f.weight).sum()
                };
                let (all, had, has) = (count(|_| true), count(|f| f.had), count(|f| f.has));
                prop_assert_eq!((group.before.whole, group.before.part), (all, had));
                prop_assert_eq!((group.now.whole, group.now.part), (all, has));
                let slow = moved(&fares, Z_95);
                let is = is_interval(&group.moved, (slow.by, slow.below, slow.above));
                prop_assert!(is, "{:?} is not {:?}", group.moved, slow);
                moves.push(slow);
            }
            for gap in &within.gaps {
                let (a, b) = (moves[gap.pair.0], moves[gap.pair.1]);
                let (below, above) = (b.below.hypot(a.above), b.above.hypot(a.below));
                let is = is_interval(&gap.moved, (b.by - a.by, below, above));
                prop_assert!(is, "{:?} is not {:?} less {:?}", gap, b, a);
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
    // The first look spends a half of α, the second a sixth, and each is told at that level.
    prop_assert_eq!(again.looks.len(), 2);
    for (look, place) in again.looks.iter().zip(1..) {
        let share = [0.0, 2.0, 6.0][place];
        prop_assert!((look.spends - ALPHA / share).abs() < 1e-15);
        prop_assert_eq!(look.spends, spent(ALPHA, place));
        prop_assert_eq!(look.comparison.as_ref().unwrap().alpha, look.spends);
    }
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

/// The better-off are shown to have lost, and the worse-off did not gain; but unless the gap itself is shown to have
/// narrowed, nothing is said of it.
#[test]
fn only_a_gap_that_is_shown_to_have_narrowed_is_levelled_down() {
    let moved = |by: f64, corrected: f64| Moved {
        by,
        interval: Interval {
            low: by - 0.1,
            high: by + 0.1,
        },
        p: corrected,
        corrected,
    };
    let group = |before: u64, now: u64, corrected: f64| GroupMoved {
        before: Share::new(before, 100),
        now: Share::new(now, 100),
        moved: moved((now as f64 - before as f64) / 100.0, corrected),
    };
    let gap = |now: f64, corrected: f64| GapMoved {
        pair: (0, 1),
        before: 0.5,
        now,
        moved: moved(now - 0.5, corrected),
    };
    let groups = [group(20, 20, 1.0), group(70, 50, 0.01)];
    assert!(gap(0.3, 0.04).levelled_down(&groups, ALPHA));
    assert!(!gap(0.3, 0.06).levelled_down(&groups, ALPHA));
    // Who was worse off gained as well: that is no levelling down.
    let both = [group(20, 25, 1.0), group(70, 50, 0.01)];
    assert!(!gap(0.25, 0.01).levelled_down(&both, ALPHA));
}
