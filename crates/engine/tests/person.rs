//! One person, held against the slow reference: everything that would turn the answer, for everybody.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod slow;
mod slow_adapter;

use std::cell::Cell;
use std::collections::BTreeMap;

use facts_engine::answer::{GroupPeople, Persons};
use facts_engine::{Audit, Watch, audit_with_individuals};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::slow::case::Case;
use crate::slow::generate::cases;
use crate::slow::population::Population;
use crate::slow_adapter::{model, options, population};

/// People, those refused, those with a way; by group.
type Fare = Vec<(u64, u64, u64)>;

/// What is known of a refused person. Profiles and rows have no common names, so people are counted by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    group: String,
    /// Changes that turn the answer, with their costs in billionths.
    turning: BTreeMap<String, i64>,
    valid: usize,
    /// By group: people alike, those refused, those with a way.
    alike: Fare,
    /// The same of the closest subgroup, by its text.
    closest: Option<(String, Fare)>,
}

type Counted = BTreeMap<Known, u64>;

fn billionths(cost: f64) -> i64 {
    (cost * 1e9).round() as i64
}

fn fast(case: &Case) -> Option<Counted> {
    let population = population(case).ok()?;
    let options = options(case).threads(1);
    let made = audit_with_individuals(&population, &model(case), &options, Watch::nobody());
    let (audit, individuals) = made.ok()?;
    let persons = Persons::new(&audit, &population, &individuals).unwrap();
    let fare = |people: &[GroupPeople]| -> Fare {
        let one = |one: &GroupPeople| (one.people, one.refused, one.open().unwrap().part);
        people.iter().map(one).collect()
    };
    let mut counted = Counted::new();
    for profile in persons.matching(None, &[]) {
        let person = persons.person(profile).unwrap();
        let way = person.turning.first().map_or(f64::INFINITY, |one| one.cost);
        assert_eq!(way, persons.way(profile));
        assert_eq!(persons.group(profile), Some(person.group));
        assert!(persons.matching(Some(person.group), &[]).contains(&profile));
        let turning = person.turning.iter();
        let text = |change: usize| audit.changes[change].text(&audit.features);
        let known = Known {
            group: audit.groups[person.group].name.clone(),
            turning: turning
                .map(|one| (text(one.change), billionths(one.cost)))
                .collect(),
            valid: person.valid,
            alike: fare(&person.alike),
            closest: person.closest.as_ref().map(|closest| {
                let predicate = &audit.subgroups[closest.subgroup].predicate;
                (audit.text(predicate), fare(&closest.people))
            }),
        };
        *counted.entry(known).or_default() += person.people;
    }
    assert_hidden(audit, &population, &individuals);
    Some(counted)
}

/// Where counts are suppressed, nobody is shown.
fn assert_hidden(
    audit: Audit,
    population: &facts_engine::population::Population,
    individuals: &facts_engine::Individuals,
) {
    assert!(Persons::new(&audit.suppressed(2), population, individuals).is_none());
}

fn slowly(case: &Case) -> Counted {
    let population = Population::judged(case).unwrap();
    let audit = slow::audit(case).unwrap();
    let people = &population.people;
    let group = |i: usize| audit.groups.iter().position(|g| g.name == people[i].group);
    let belongs = |i: usize, one: &slow::Subgroup| {
        let levels = &people[i].levels;
        let mut items = one.predicate.iter();
        items.all(|item| item.admits(&population, levels[item.feature]))
    };
    let turning = |i: usize| {
        let (mut valid, mut turning) = (BTreeMap::new(), BTreeMap::new());
        for one in audit.subgroups.iter().filter(|one| belongs(i, one)) {
            for action in &one.actions {
                let cost = billionths(action.cost);
                let least = |known: &mut i64| *known = cost.min(*known);
                valid
                    .entry(action.text.clone())
                    .and_modify(least)
                    .or_insert(cost);
            }
            for action in one.actions.iter().filter(|a| a.flipped.contains(&i)) {
                turning.insert(action.text.clone(), 0);
            }
        }
        for (text, cost) in &mut turning {
            *cost = valid[text];
        }
        (turning, valid.len())
    };
    let fare = |chosen: &dyn Fn(usize) -> bool| {
        let mut fare = vec![(0, 0, 0); audit.groups.len()];
        for i in (0..people.len()).filter(|&i| chosen(i)) {
            let Some(g) = group(i) else { continue };
            fare[g].0 += people[i].weight;
            if !people[i].favourable {
                fare[g].1 += people[i].weight;
                fare[g].2 += people[i].weight * u64::from(!turning(i).0.is_empty());
            }
        }
        fare
    };
    let mut counted = Counted::new();
    for i in (0..people.len()).filter(|&i| !people[i].favourable && group(i).is_some()) {
        let (turned, valid) = turning(i);
        let mut around: Vec<_> = audit
            .subgroups
            .iter()
            .filter(|one| belongs(i, one))
            .collect();
        around.sort_by_key(|one| {
            (
                std::cmp::Reverse(one.predicate.len()),
                one.size(),
                one.text.clone(),
            )
        });
        let closest = around
            .first()
            .map(|one| (one.text.clone(), fare(&|other| belongs(other, one))));
        let known = Known {
            group: people[i].group.clone(),
            turning: turned,
            valid,
            alike: fare(&|other| people[other].levels == people[i].levels),
            closest,
        };
        *counted.entry(known).or_default() += people[i].weight;
    }
    counted
}

#[test]
fn everybody_is_told_what_the_slow_reference_tells_them() {
    let (turned, without, twins) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let config = ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(18),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let compare = |case: Case| {
        let Some(fast) = fast(&case) else {
            return Ok(());
        };
        let slow = slowly(&case);
        prop_assert_eq!(&fast, &slow);
        for known in fast.keys() {
            let seen = if known.turning.is_empty() {
                &without
            } else {
                &turned
            };
            seen.set(seen.get() + 1);
            let groups = known.alike.iter().filter(|alike| alike.0 > 0).count();
            twins.set(twins.get() + usize::from(groups > 1));
        }
        Ok(())
    };
    TestRunner::new(config).run(&cases(), compare).unwrap();
    for (what, seen) in [("ways", turned), ("no way", without), ("twins", twins)] {
        assert!(seen.get() > 200, "only {} {what}", seen.get());
    }
}
