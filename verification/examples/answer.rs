//! Does the answer hold? Findings of one half of the people checked on the other half, in both orders;
//! how often stories return when the people are drawn again; what the answer costs beside the audit.
//! Writes `verification/records/answer.md`.
//!
//! `cargo run --release -p facts-verification --example answer`
#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use facts_engine::answer::{self, Answer};
use facts_engine::definitions::Definition;
use facts_engine::evidence::{self, Evidence, Gathering};
use facts_engine::population::{Feature, Population};
use facts_engine::ranking::Ranked;
use facts_engine::subgroups::Predicate;
use facts_engine::{Audit, Individuals, Options, Watch, audit_again, audit_with_individuals};
use facts_models::AdditiveModel;
use facts_verification::{adult_declaration, adult_model, adult_rows, machine};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// So many findings of each definition are carried from one half to the other.
const FIRST: usize = 50;

/// So many ways to halve the people.
const HALVES: u64 = 5;

/// So many times the people are drawn again.
const SAMPLES: u64 = 20;

/// What a person could change; the rest describes people, as in `facts demo`.
const MAY_CHANGE: [&str; 4] = ["education-num", "hours-per-week", "Workclass", "occupation"];

fn main() -> Result<(), Failure> {
    let model = adult_model()?;
    let mut page = format!(
        "# Does the answer hold?\n\nAdult, sex protected, support 1 %, at least 20 members in each group, the reference model. Made by \
         `cargo run --release -p facts-verification --example answer` on {}.\n",
        machine()
    );
    half_and_half(&model, &mut page)?;
    stories_return(&model, &mut page)?;
    cost(&model, &mut page)?;
    print!("{page}");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("records/answer.md");
    std::fs::write(record, page)?;
    Ok(())
}

fn population(may_change: Option<&[&str]>) -> Result<Population, Failure> {
    let declaration = adult_declaration().trim(true);
    let feature = |feature: &Feature| {
        let feature = feature.clone();
        match may_change {
            Some(names) if !names.contains(&feature.name()) => feature.immutable(),
            _ => feature,
        }
    };
    let features = declaration
        .declared_features()
        .iter()
        .map(feature)
        .collect();
    Ok(declaration.with_features(features).read(&adult_rows()?)?)
}

/// Tests alone.
fn gathering() -> Gathering {
    Gathering {
        resamples: 0,
        ..Gathering::default()
    }
}

fn options() -> Options {
    Options::new().min_members(20)
}

/// What became of the first findings of one definition in the other half.
#[derive(Default)]
struct Held {
    found: usize,
    same_direction: usize,
    below: usize,
}

/// Finds in one half, in both orders, and looks again in the other.
fn half_and_half(model: &AdditiveModel, page: &mut String) -> Result<(), Failure> {
    let whole = population(None)?;
    let gathering = gathering();
    let mut titles: Vec<String> = Vec::new();
    let mut held: HashMap<(String, bool), Held> = HashMap::new();
    for seed in 1..=HALVES {
        let (first, second) = whole.split(0.5, seed);
        let (mut found, _) = audit_with_individuals(&first, model, &options(), Watch::nobody())?;
        let columns = found.paper_columns()?;
        let carried: Vec<[Vec<(Predicate, Ranked)>; 2]> = columns
            .iter()
            .map(|definition| {
                let by_score = found.rank(definition.as_ref());
                let for_people = by_score.for_people(definition.as_ref(), &found.subgroups);
                [by_score, for_people].map(|ranking| {
                    let first = ranking.unfair().iter().take(FIRST);
                    let predicate = |s: usize| found.subgroups[s].predicate.clone();
                    first
                        .map(|ranked| (predicate(ranked.subgroup), ranked.clone()))
                        .collect()
                })
            })
            .collect();
        let wanted: std::collections::HashSet<Predicate> = carried
            .iter()
            .flatten()
            .flatten()
            .map(|(predicate, _)| predicate.clone())
            .collect();
        found
            .subgroups
            .retain(|subgroup| wanted.contains(&subgroup.predicate));
        let (again, people) = audit_again(&second, model, &found, &options(), Watch::nobody())?;
        let tests = evidence::test(&again, &people, &columns, &gathering, Watch::nobody())?;
        let places: HashMap<&Predicate, usize> = (again.subgroups.iter().enumerate())
            .map(|(place, subgroup)| (&subgroup.predicate, place))
            .collect();
        for ((definition, tests), orders) in columns.iter().zip(&tests).zip(carried) {
            // Budgets move a little with the half: definitions are told apart by what they ask.
            let kind = without_budget(definition.as_ref());
            if !titles.contains(&kind) {
                titles.push(kind.clone());
            }
            for (for_people, carried) in [false, true].into_iter().zip(orders) {
                let held = held.entry((kind.clone(), for_people)).or_default();
                for (predicate, ranked) in carried {
                    held.found += 1;
                    let Some(&place) = places.get(&predicate) else {
                        continue;
                    };
                    let Some(here) = definition.assess(&again.subgroups[place]) else {
                        continue;
                    };
                    let same = here.against == ranked.assessment.against;
                    held.same_direction += usize::from(same);
                    let p = tests.tested[place].map_or(1.0, |tested| tested.p);
                    held.below += usize::from(same && p < 0.05);
                }
            }
        }
    }
    writeln!(
        page,
        "\n## One half found, the other half asked\n\nThe first {FIRST} findings of each definition in one half of the people, in the \
         other half, over {HALVES} ways to halve them: the share that is against the same group, and the share that is so with p < 0.05 there.\n\n\
         | definition | by score: same group | p < 0.05 | for people: same group | p < 0.05 |\n| --- | ---: | ---: | ---: | ---: |"
    )?;
    for title in titles {
        let of = |for_people: bool| {
            let held = &held[&(title.clone(), for_people)];
            let percent =
                |n: usize| format!("{:.0} %", 100.0 * n as f64 / held.found.max(1) as f64);
            format!("{} | {}", percent(held.same_direction), percent(held.below))
        };
        writeln!(page, "| {title} | {} | {} |", of(false), of(true))?;
    }
    Ok(())
}

fn without_budget(definition: &dyn Definition) -> String {
    match definition.budget() {
        None => definition.title(),
        Some(_) => format!("{} (micro, automatic budgets)", definition.kind().title),
    }
}

/// What the tests say of an audit.
fn tested(
    audit: &Audit,
    people: &Individuals,
    columns: &[Box<dyn Definition>],
) -> Result<Evidence, Failure> {
    let gathering = gathering();
    Ok(Evidence {
        gathering,
        tests: evidence::test(audit, people, columns, &gathering, Watch::nobody())?,
        intervals: Vec::new(),
        stability: None,
        hold_out: None,
    })
}

/// An audit, and what it comes to.
fn answered(population: &Population, model: &AdditiveModel) -> Result<(Audit, Answer), Failure> {
    let (audit, people) = audit_with_individuals(population, model, &options(), Watch::nobody())?;
    let columns = audit.paper_columns()?;
    let evidence = tested(&audit, &people, &columns)?;
    let found = answer::answer(&audit, &people, &columns, Some(&evidence), answer::DELTA);
    Ok((audit, found))
}

/// How many of the first three stories come again when the people are drawn again.
fn stories_return(model: &AdditiveModel, page: &mut String) -> Result<(), Failure> {
    let whole = population(Some(&MAY_CHANGE))?;
    let (audit, found) = answered(&whole, model)?;
    let first: Vec<Vec<bool>> = (found.stories.iter().take(3))
        .map(|story| members(&whole, &audit.subgroups[story.subgroup].predicate))
        .collect();
    let mut returned = 0;
    for seed in 1..=SAMPLES {
        let (audit, found) = answered(&whole.resampled(seed), model)?;
        let again: Vec<Vec<bool>> = (found.stories.iter())
            .map(|story| members(&whole, &audit.subgroups[story.subgroup].predicate))
            .collect();
        let returns = |story: &&Vec<bool>| {
            again
                .iter()
                .any(|other| overlap(&whole, story, other) >= 0.5)
        };
        returned += first.iter().filter(returns).count();
    }
    let share = returned as f64 / (SAMPLES as usize * first.len()).max(1) as f64;
    writeln!(
        page,
        "\n## Stories that return\n\nEducation (up), hours, work class and occupation may change, as in `facts demo`. Over {SAMPLES} bootstrap samples \
         of the table, {:.0} % of the first {} stories return: some story of the sample shares at least half of its people (overlap over union).",
        100.0 * share,
        first.len()
    )?;
    Ok(())
}

/// The profiles of a population that meet a predicate.
fn members(population: &Population, predicate: &Predicate) -> Vec<bool> {
    let meets = |profile: usize| {
        let mut items = predicate.items().iter();
        items.all(|item| population.level(item.feature as usize, profile) == item.level)
    };
    (0..population.profiles()).map(meets).collect()
}

/// How much of their people two sets share.
fn overlap(population: &Population, a: &[bool], b: &[bool]) -> f64 {
    let (mut both, mut either) = (0, 0);
    for profile in 0..population.profiles() {
        let people = population.people(profile);
        both += people * u64::from(a[profile] && b[profile]);
        either += people * u64::from(a[profile] || b[profile]);
    }
    both as f64 / either.max(1) as f64
}

/// What the answer costs beside the audit it is made from.
fn cost(model: &AdditiveModel, page: &mut String) -> Result<(), Failure> {
    const REPEATS: usize = 11;
    let whole = population(None)?;
    let (audit, people) = audit_with_individuals(&whole, model, &options(), Watch::nobody())?;
    let columns = audit.paper_columns()?;
    let evidence = tested(&audit, &people, &columns)?;
    let (mut ratios, mut of_bounds) = (Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        let start = Instant::now();
        audit_with_individuals(&whole, model, &options(), Watch::nobody())?;
        let of_audit = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut found = answer::answer(&audit, &people, &columns, Some(&evidence), answer::DELTA);
        let reasons = answer::Reasons {
            population: &whole,
            model,
            audit: &audit,
            individuals: &people,
            reads: None,
            options: &options(),
        };
        reasons.explain(&mut found, 10, Watch::nobody())?;
        ratios.push(start.elapsed().as_secs_f64() / of_audit);
        let start = Instant::now();
        let gaps = answer::subgroup_gaps(&audit, gathering().alpha);
        of_bounds.push(start.elapsed().as_secs_f64() / of_audit);
        if gaps.iter().any(Option::is_none) {
            return Err("a subgroup has no gap".into());
        }
    }
    ratios.sort_by(f64::total_cmp);
    of_bounds.sort_by(f64::total_cmp);
    writeln!(
        page,
        "\n## What it costs\n\nAll of the answer for {} subgroups (people, stories, why, drivers, verdict) takes {:.2} times as long as the audit itself \
         without its evidence (median of {REPEATS}, {:.2} to {:.2}). The gaps of all of \
         them with their exact bounds (`subgroup_gaps`), which the answer works out once and a report once more, take {:.2} times as \
         long by themselves ({:.2} to {:.2}).",
        audit.subgroups.len(),
        ratios[REPEATS / 2],
        ratios[0],
        ratios[REPEATS - 1],
        of_bounds[REPEATS / 2],
        of_bounds[0],
        of_bounds[REPEATS - 1]
    )?;
    Ok(())
}
