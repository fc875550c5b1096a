//! The answer, held against the slow reference and against what must be true of any answer.
//!
//! Which findings pass is made up, so that stories cover everything that may be found. Cases are the
//! same in every run; `PROPTEST_CASES` asks for more of them and `PROPTEST_RNG_SEED` for others.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod slow;
mod slow_adapter;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use facts_engine::answer::{
    Answer, Compared, DELTA, GroupPeople, Reasons, Verdict, answer, subgroup_gaps,
};
use facts_engine::definitions::{Definition, parse};
use facts_engine::distribution::Share;
use facts_engine::evidence::{Evidence, Gathering, PairTested, Source, Tested, Tests};
use facts_engine::{Audit, Watch, audit_with_individuals};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::slow::answer::{
    Answer as SlowAnswer, Question, could_lie_apart, mean, median, open, wilson,
};
use crate::slow::case::{Case, Person};
use crate::slow::decimal::Share as SlowShare;
use crate::slow::ecd::Viewpoint as SlowViewpoint;
use crate::slow::generate::cases;
use crate::slow::population::Population;
use crate::slow_adapter::{model, options, population};

/// So many cases, always the same ones, unless the environment asks for others.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = |name| std::env::var_os(name).is_some();
    ProptestConfig {
        cases: match asked("PROPTEST_CASES") {
            true => default.cases,
            false => cases,
        },
        rng_seed: match asked("PROPTEST_RNG_SEED") {
            true => default.rng_seed,
            false => RngSeed::Fixed(15),
        },
        failure_persistence: None,
        ..default
    }
}

/// A case and what is made up about it.
#[derive(Clone, Debug)]
struct Asked {
    case: Case,
    /// What decides which findings pass.
    seed: u64,
    /// How many of a hundred findings pass.
    passing: u64,
    /// Counts from 1 to k − 1 are suppressed; nothing if it is 1.
    k: u64,
    /// The model does not say what it reads, or it says that it reads all features but one.
    skipped: Option<usize>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let skipped = prop_oneof![2 => Just(None), 1 => (0..4_usize).prop_map(Some)];
    let k = prop_oneof![2 => Just(1_u64), 1 => 2..30_u64];
    // Each row stands for more people, so that gaps are beyond chance.
    let drawn = (cases(), 1..=12_u64, any::<u64>(), 2..=60_u64, k, skipped);
    drawn.prop_map(|(mut case, factor, seed, passing, k, skipped)| {
        for person in &mut case.people {
            person.weight *= factor;
        }
        Asked {
            case,
            seed,
            passing,
            k,
            skipped,
        }
    })
}

const DEFINITIONS: [&str; 3] = [
    "equal-effectiveness:micro",
    "equal-choice:0.3",
    "equal-mean-recourse",
];

fn definitions() -> Vec<Box<dyn Definition>> {
    DEFINITIONS.map(|id| parse(id).unwrap()).into()
}

impl Asked {
    /// The family-wise p-value of a finding: three definitions together make 0.03 of 0.01, which
    /// passes, and 0.06 of 0.02, which does not.
    fn family_wise(&self, definition: &str, subgroup: &str) -> f64 {
        let bytes = definition.bytes().chain(subgroup.bytes());
        let hash = bytes.fold(self.seed, |hash, byte| {
            (hash ^ u64::from(byte))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        });
        match hash % 100 {
            number if number < self.passing => 0.01,
            number if number < 2 * self.passing => 0.02,
            _ => 1.0,
        }
    }

    /// Pairs of groups of what passes, where there are three or more; half of them pass, more or less.
    fn pairs(
        &self,
        definition: &dyn Definition,
        audit: &Audit,
        tested: &[Option<Tested>],
    ) -> Vec<PairTested> {
        let groups = audit.groups.len();
        let mut pairs = Vec::new();
        for (place, subgroup) in audit.subgroups.iter().enumerate() {
            let passes = tested[place].is_some_and(|one| one.together(DEFINITIONS.len()) <= 0.05);
            let all = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| [a, b]));
            for pair in all.filter(|_| passes && groups > 2) {
                let found = definition.assess(&subgroup.of_pair(pair)).unwrap();
                let text = format!("{pair:?}{}", audit.text(&subgroup.predicate));
                let hash = self.family_wise(&definition.id(), &text).to_bits() ^ self.seed >> 7;
                pairs.push(PairTested {
                    subgroup: place,
                    groups: pair,
                    against: found.against.iter().map(|&g| pair[g]).collect(),
                    score: found.score,
                    p: 0.01,
                    together: [0.03, 0.06][(hash.count_ones() % 2) as usize],
                    source: Source::Exact,
                });
            }
        }
        pairs
    }

    fn evidence(&self, audit: &Audit) -> Evidence {
        let tests = DEFINITIONS.map(|id| {
            let definition = parse(id).unwrap();
            let tested = audit.subgroups.iter().map(|subgroup| {
                definition.assess(subgroup)?;
                let p = self.family_wise(id, &audit.text(&subgroup.predicate));
                Some(Tested {
                    p,
                    family_wise: p,
                    false_discovery: p,
                    source: Source::Exact,
                    least_score: None,
                    least_gap: 0.0,
                    together: None,
                    gap_p: None,
                })
            });
            let tested: Vec<Option<Tested>> = tested.collect();
            Tests {
                definition: id.to_owned(),
                pairs: self.pairs(definition.as_ref(), audit, &tested),
                tested,
                cut_off: Some(0.001),
                cut_off_together: None,
            }
        });
        Evidence {
            gathering: Gathering::default(),
            tests: tests.into(),
            intervals: Vec::new(),
            stability: None,
            hold_out: None,
        }
    }

    fn reads(&self) -> Option<Vec<String>> {
        let skipped = self.skipped?;
        let features = self.case.features.iter().enumerate();
        let others = features.filter(|(f, _)| *f != skipped);
        Some(others.map(|(_, feature)| feature.name.clone()).collect())
    }

    /// The audit and its answer, reasons and all; none if the case cannot be audited.
    fn answered(&self, threads: usize) -> Option<Answered> {
        let population = population(&self.case).ok()?;
        let (model, options) = (model(&self.case), options(&self.case).threads(threads));
        let found = audit_with_individuals(&population, &model, &options, Watch::nobody());
        let (mut audit, individuals) = found.ok()?;
        if self.k > 1 {
            audit = audit.suppressed(self.k);
        }
        let evidence = self.evidence(&audit);
        let mut found = options
            .work(|| answer(&audit, &individuals, &definitions(), Some(&evidence), DELTA))
            .unwrap();
        let reads = self.reads();
        let reasons = Reasons {
            population: &population,
            model: &model,
            audit: &audit,
            individuals: &individuals,
            reads: reads.as_deref(),
            options: &options,
        };
        reasons
            .explain(&mut found, usize::MAX, Watch::nobody())
            .unwrap();
        Some(Answered {
            audit,
            evidence,
            answer: found,
        })
    }
}

struct Answered {
    audit: Audit,
    evidence: Evidence,
    answer: Answer,
}

impl Answered {
    fn text(&self, subgroup: usize) -> String {
        self.audit.text(&self.audit.subgroups[subgroup].predicate)
    }

    /// Pairs of groups of which a test shows that the first is worse off, by text of the subgroup.
    fn shown(&self) -> BTreeMap<String, BTreeSet<(usize, usize)>> {
        let mut shown: BTreeMap<String, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for pair in self.evidence.tests.iter().flat_map(|tests| &tests.pairs) {
            for &worse in pair.against.iter().filter(|_| pair.together <= 0.05) {
                let better = pair.groups[usize::from(worse == pair.groups[0])];
                let of_subgroup = shown.entry(self.text(pair.subgroup)).or_default();
                of_subgroup.insert((worse, better));
            }
        }
        shown
    }

    fn passing(&self) -> BTreeSet<String> {
        let all = 0..self.audit.subgroups.len();
        let passes = |s: &usize| self.evidence.passing_together(*s).next().is_some();
        all.filter(passes).map(|s| self.text(s)).collect()
    }
}

fn close(fast: f64, slow: f64, what: &str) {
    let same = fast == slow || (fast - slow).abs() < 1e-9 * slow.abs().max(1.0);
    assert!(same, "{what}: {fast} is not {slow}");
}

fn same_optional(fast: Option<f64>, slow: Option<f64>, what: &str) {
    assert_eq!(fast.is_some(), slow.is_some(), "{what}");
    close(fast.unwrap_or(0.0), slow.unwrap_or(0.0), what);
}

fn counts(share: Share) -> (u64, u64) {
    (share.part, share.whole)
}

fn slow_counts(share: SlowShare) -> (u64, u64) {
    (share.flipped, share.members)
}

/// How often something was seen in all cases together, so that no comparison is empty.
#[derive(Default)]
struct Seen {
    stories: Cell<usize>,
    second: Cell<usize>,
    sharper: Cell<usize>,
    aliases: Cell<usize>,
    told: Cell<usize>,
    swaps: Cell<usize>,
    strata: Cell<usize>,
    drivers: Cell<usize>,
    suppressed: Cell<usize>,
    three_groups: Cell<usize>,
    ranges: Cell<usize>,
    weighted: Cell<usize>,
    larger_floor: Cell<usize>,
}

fn count(cell: &Cell<usize>, more: usize) {
    cell.set(cell.get() + more);
}

#[test]
fn the_answer_is_that_of_the_slow_reference() {
    let seen = Seen::default();
    let compare = |asked: Asked| {
        let Some(fast) = asked.answered(1) else {
            return Ok(());
        };
        let population = Population::judged(&asked.case).unwrap();
        let audit = slow::audit(&asked.case).unwrap();
        let mut question = Question::new(&population, &audit);
        question.passing = fast.passing();
        question.shown = fast.shown();
        question.k = asked.k;
        question.reads = asked.reads();
        let slow = question.answer();
        assert_same_people(&asked, &fast, &slow, &audit);
        assert_same_aliases(&fast, &slow);
        assert_same_stories(&asked, &fast, &slow);
        assert_same_reasons(&asked, &fast, &slow);
        assert_same_drivers(&asked, &fast, &slow);
        assert_same_verdict(&fast, &slow, &question);
        assert_same_bounds(&fast.audit, &audit);
        see(&seen, &asked, &fast);
        Ok(())
    };
    TestRunner::new(config(800)).run(&asked(), compare).unwrap();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        for (what, cell, least) in [
            ("stories", &seen.stories, 400),
            ("stories after the first", &seen.second, 60),
            ("sharper subgroups", &seen.sharper, 40),
            ("aliases", &seen.aliases, 400),
            ("told subgroups", &seen.told, 400),
            ("swaps that matter", &seen.swaps, 100),
            ("strata", &seen.strata, 100),
            ("drivers", &seen.drivers, 100),
            ("stories with suppression", &seen.suppressed, 40),
            ("stories of three groups", &seen.three_groups, 40),
            ("stories with ranges", &seen.ranges, 100),
            ("stories of uneven rows", &seen.weighted, 100),
            ("stories with a larger floor", &seen.larger_floor, 40),
        ] {
            assert!(cell.get() >= least, "only {} {what}", cell.get());
        }
    }
}

/// No wider gap than the bound could show what was counted, one person after the other, and one hardly narrower
/// could.
fn assert_same_bounds(fast: &Audit, slow: &slow::SlowAudit) {
    let gaps = subgroup_gaps(fast, 0.05);
    assert_eq!(gaps.len(), fast.subgroups.len());
    for (subgroup, gap) in fast.subgroups.iter().zip(gaps) {
        let Some(gap) = gap else {
            assert!(fast.suppression.is_some());
            continue;
        };
        let text = fast.text(&subgroup.predicate);
        let mut all = slow.subgroups.iter();
        let same = all.find(|other| other.text == text).unwrap();
        let groups = 0..fast.groups.len();
        let (mut reached, mut widest) = (false, 0.0_f64);
        for level in 0..same.cost_levels.len() {
            let ecd = |g| same.ecd_at_level(SlowViewpoint::Micro, g, level);
            for (a, b) in groups
                .clone()
                .flat_map(|a| groups.clone().map(move |b| (a, b)))
            {
                if a != b {
                    let can_be = |apart| could_lie_apart(ecd(a), ecd(b), apart, 0.05);
                    assert!(!can_be(gap.bound_alone + 1e-9), "{text}: {gap:?}");
                    reached |= can_be(gap.bound_alone - 0.02);
                    widest = widest.max(ecd(a).value() - ecd(b).value());
                }
            }
        }
        assert!(reached, "{text}: {gap:?}");
        assert!(gap.open.difference <= widest + 1e-9 && widest <= gap.bound_alone + 1e-9);
        assert!(gap.bound_alone <= gap.bound + 1e-12);
    }
}

fn see(seen: &Seen, asked: &Asked, fast: &Answered) {
    let stories = &fast.answer.stories;
    let of = |which: bool| if which { stories.len() } else { 0 };
    count(&seen.stories, stories.len());
    count(&seen.second, stories.len().saturating_sub(1));
    count(&seen.sharper, stories.iter().map(|s| s.sharper.len()).sum());
    let same_as = fast.answer.same_as.iter().enumerate();
    let aliases = same_as.filter(|&(place, &same)| place != same as usize);
    count(&seen.aliases, aliases.count());
    count(&seen.told, fast.answer.told_by.iter().flatten().count());
    let why = || stories.iter().filter_map(|story| story.why.as_ref());
    count(&seen.swaps, why().filter(|why| why.swap != 0.0).count());
    count(
        &seen.strata,
        why().filter(|why| !why.strata.is_empty()).count(),
    );
    count(&seen.drivers, usize::from(fast.answer.drivers.is_some()));
    count(&seen.suppressed, of(asked.k > 1));
    count(&seen.three_groups, of(fast.audit.groups.len() > 2));
    count(&seen.ranges, of(asked.case.options.ranges));
    let first = asked.case.people[0].weight;
    let uneven = asked.case.people.iter().any(|one| one.weight != first);
    count(&seen.weighted, of(uneven));
    count(
        &seen.larger_floor,
        of(asked.case.options.min_members > 1 || asked.k > 1),
    );
}

/// Ways, shares that are open, medians, means and burdens.
fn assert_same_people(asked: &Asked, fast: &Answered, slow: &SlowAnswer, audit: &slow::SlowAudit) {
    assert_eq!(fast.answer.people.len(), audit.groups.len());
    let mut all_open = Vec::new();
    for (g, group) in audit.groups.iter().enumerate() {
        let people = &fast.answer.people[g];
        assert_eq!(
            (people.people, people.refused),
            (group.people, group.affected)
        );
        let found = &slow.ways[g];
        let everybody = open(found, group.affected, f64::INFINITY);
        let few = (1..asked.k).contains(&everybody.flipped);
        assert_eq!(people.open().is_none(), few);
        if few {
            continue;
        }
        all_open.push(everybody);
        assert_eq!(people.open().map(counts), Some(slow_counts(everybody)));
        let burden = people.burden();
        assert_eq!(counts(burden), (group.affected, group.people));
        let with = (everybody.flipped, group.people);
        let without = (group.affected - everybody.flipped, group.people);
        assert_eq!(people.refused_with_a_way().map(counts), Some(with));
        assert_eq!(people.refused_without().map(counts), Some(without));
        if asked.k > 1 {
            // Put together, costs are no lower than they are, nor any higher than the dearest.
            let ways = people.ways.as_ref().unwrap();
            for at in ways {
                let within = open(found, group.affected, at.cost).flipped;
                assert_eq!(people.open_within(at.cost).unwrap().part, within);
            }
            continue;
        }
        let costs = found.iter().map(|way| way.0);
        for cost in costs.flat_map(|cost| [cost, cost + 0.01, cost - 0.01]) {
            let within = open(found, group.affected, cost);
            let fast = people.open_within(cost).map(counts);
            assert_eq!(fast, Some(slow_counts(within)), "within {cost}");
        }
        same_optional(people.median_cost(), median(found), "median");
        same_optional(people.mean_cost(), mean(found), "mean");
    }
    if all_open.len() == audit.groups.len() {
        assert_compared(&fast.answer.people, &all_open);
    }
}

/// The worst and the best group, by exact shares, and intervals that hold what they are about.
fn assert_compared(people: &[GroupPeople], open: &[SlowShare]) {
    let shares: Vec<Share> = people.iter().map(|one| one.open().unwrap()).collect();
    let found = Compared::new(&shares, 1.96).unwrap();
    let at_cost = |cost: f64| {
        let within: Vec<Share> = (people.iter())
            .map(|one| one.open_within(cost).unwrap())
            .collect();
        Compared::new(&within, 1.96).unwrap().difference
    };
    let costs = || (people.iter()).flat_map(|one| one.ways.iter().flatten().map(|at| at.cost));
    match Compared::widest(people, 0.05) {
        None => assert_eq!(costs().count(), 0),
        Some((cost, widest)) => {
            close(widest.difference, at_cost(cost), "widest");
            for other in costs() {
                let gap = at_cost(other);
                assert!(gap <= widest.difference + 1e-9);
                assert!(other >= cost || gap < widest.difference);
            }
        }
    }
    let value = |g: usize| open[g].value();
    for g in 0..open.len() {
        assert!(value(found.worst) <= value(g) && value(g) <= value(found.best));
        assert!(value(found.worst) < value(g) || found.worst <= g);
        assert!(value(g) < value(found.best) || found.best <= g);
    }
    close(
        found.difference,
        value(found.best) - value(found.worst),
        "difference",
    );
    let within = found.difference_interval;
    assert!(within.low <= found.difference && found.difference <= within.high);
    let (worst, best) = (
        wilson(open[found.worst], 1.96),
        wilson(open[found.best], 1.96),
    );
    let below = (value(found.best) - best.0).hypot(worst.1 - value(found.worst));
    close(within.low, found.difference - below, "Newcombe");
    if let (Some(ratio), Some(within)) = (found.ratio, found.ratio_interval) {
        close(ratio, value(found.worst) / value(found.best), "ratio");
        assert!(within.low <= ratio + 1e-12 && ratio <= within.high + 1e-12);
    }
}

fn assert_same_aliases(fast: &Answered, slow: &SlowAnswer) {
    assert_eq!(fast.answer.same_as.len(), slow.same_as.len());
    for (place, &same) in fast.answer.same_as.iter().enumerate() {
        assert_eq!(fast.text(same as usize), slow.same_as[&fast.text(place)]);
    }
}

fn assert_same_stories(asked: &Asked, fast: &Answered, slow: &SlowAnswer) {
    let texts: Vec<String> = (fast.answer.stories.iter())
        .map(|story| fast.text(story.subgroup))
        .collect();
    let expected: Vec<&String> = slow.stories.iter().map(|story| &story.text).collect();
    assert_eq!(texts.iter().collect::<Vec<_>>(), expected);
    for (story, expected) in fast.answer.stories.iter().zip(&slow.stories) {
        assert_eq!(story.worse_off, expected.worse);
        assert_eq!(story.better_off, expected.better);
        close(story.cost, expected.cost, "cost");
        let told: Vec<_> = story.told.iter().copied().map(counts).collect();
        let expected_told: Vec<_> = expected.told.iter().copied().map(slow_counts).collect();
        assert_eq!(told, expected_told);
        close(story.loss.people, expected.loss, "loss");
        close(story.loss.at_least, expected.at_least, "at least");
        assert_eq!(story.stands_for, expected.stands_for);
        let sharper: Vec<String> = (story.sharper.iter())
            .map(|sharper| fast.text(sharper.subgroup))
            .collect();
        let texts: Vec<&String> = expected.sharper.iter().map(|one| &one.0).collect();
        assert_eq!(sharper.iter().collect::<Vec<_>>(), texts);
        for (one, (_, gap, at_least)) in story.sharper.iter().zip(&expected.sharper) {
            close(one.gap, *gap, "a sharper gap");
            close(one.at_least, *at_least, "a sharper gap at least");
        }
    }
    let min_members = asked.case.options.min_members.max(asked.k).max(1);
    assert_eq!(fast.answer.parameters.min_members, min_members);
    let passing = fast.passing();
    for (place, teller) in fast.answer.told_by.iter().enumerate() {
        let text = fast.text(place);
        let expected = slow.told_by.get(&text).copied().flatten();
        assert_eq!(teller.map(|story| story as usize), expected, "{text}");
        assert!(teller.is_none() || passing.contains(&text));
    }
}

fn assert_same_reasons(asked: &Asked, fast: &Answered, slow: &SlowAnswer) {
    for (story, expected) in fast.answer.stories.iter().zip(&slow.stories) {
        let expected = &expected.why;
        let small = |count: u64| (1..asked.k).contains(&count);
        let tells_few = small(expected.swapped.flipped) || small(expected.compared.flipped);
        assert_eq!(story.why.is_none(), tells_few);
        let Some(why) = &story.why else { continue };
        assert_eq!(counts(why.swapped), slow_counts(expected.swapped));
        let swap = expected.swapped.value() - story.told[story.worse_off].ratio();
        close(why.swap, swap, "swap");
        let strata: Vec<&String> = (why.strata.iter())
            .map(|&feature| &fast.audit.features[feature as usize].name)
            .collect();
        assert_eq!(strata, expected.strata.iter().collect::<Vec<_>>());
        assert_eq!(counts(why.compared), slow_counts(expected.compared));
        let composition = expected.within.map(|within| story.gap() - within);
        same_optional(why.composition, composition, "composition");
        let sum = why.swap + why.composition.unwrap_or(0.0) + why.rest;
        close(sum, story.gap(), "swap, composition and rest");
    }
}

fn assert_same_drivers(asked: &Asked, fast: &Answered, slow: &SlowAnswer) {
    let untold = asked.k > 1 || asked.case.options.ranges;
    let expected = slow.drivers.as_ref().filter(|_| !untold);
    let found = fast.answer.drivers.as_ref();
    assert_eq!(found.is_some(), expected.is_some());
    let (Some(found), Some(expected)) = (found, expected) else {
        return;
    };
    assert_eq!(
        (found.worse_off, found.better_off),
        (expected.worse, expected.better)
    );
    close(found.gap, expected.gap, "the gap of all");
    assert_eq!(found.predicates, expected.predicates);
    assert_eq!(found.items.len(), expected.items.len());
    for driver in &found.items {
        let text = driver.item.text(&fast.audit.features);
        close(driver.value, expected.items[&text], &text);
    }
    let values = found.items.iter().map(|driver| driver.value);
    assert!(values.is_sorted_by(|a, b| a >= b));
}

fn assert_same_verdict(fast: &Answered, slow: &SlowAnswer, question: &Question<'_>) {
    let verdict = fast.answer.verdict.as_ref().unwrap();
    let sets = question.passing_sets().len();
    match verdict {
        Verdict::Unfair {
            against,
            findings,
            sets: found,
        } => {
            assert_eq!(*found, sets);
            let all = 0..fast.audit.subgroups.len();
            let passing = all.map(|s| fast.evidence.passing_together(s).count());
            assert_eq!(*findings, passing.sum::<usize>());
            let lost = |g: usize| -> f64 {
                let stories = slow.stories.iter().filter(|story| story.worse == g);
                stories.map(|story| story.loss).sum()
            };
            if !slow.stories.is_empty() {
                assert!(against.iter().all(|&g| lost(g) > 0.0));
                let named = (0..fast.audit.groups.len()).filter(|&g| lost(g) > 0.0);
                assert_eq!(named.count(), against.len());
                let order = against.iter().map(|&g| lost(g));
                assert!(order.is_sorted_by(|a, b| a >= &(b - 1e-9)));
            }
        }
        Verdict::FairWithin { .. } | Verdict::NotShown { .. } | Verdict::CannotTell { .. } => {
            assert_eq!(sets, 0);
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

proptest! {
    #![proptest_config(config(300))]

    /// Neither the number of threads nor the order of the table's rows shows.
    #[test]
    fn threads_and_rows_change_nothing(asked in asked()) {
        let Some(one) = asked.answered(1) else { return Ok(()) };
        let two = asked.answered(2).unwrap();
        prop_assert_eq!(json(&one.answer), json(&two.answer));
        let mut backwards = asked.clone();
        backwards.case.people.reverse();
        let backwards = backwards.answered(2).unwrap();
        prop_assert_eq!(json(&one.answer), json(&backwards.answer));
        let saved: Answer = serde_json::from_str(&json(&one.answer)).unwrap();
        prop_assert_eq!(saved.check(&one.audit), Ok(()));
        prop_assert_eq!(json(&saved), json(&one.answer));
    }

    /// What must be true of stories, whatever made them.
    #[test]
    fn stories_are_about_different_people(asked in asked()) {
        let Some(found) = asked.answered(1) else { return Ok(()) };
        let population = Population::judged(&asked.case).unwrap();
        let audit = slow::audit(&asked.case).unwrap();
        let question = Question::new(&population, &audit);
        let members = |subgroup: usize| &question.members[&found.text(subgroup)];
        let mut told: BTreeSet<usize> = BTreeSet::new();
        let weigh = |people: &BTreeSet<usize>, g: usize| -> u64 {
            let people = people.iter().map(|&i| &population.people[i]);
            let of_group = people.filter(|person| person.group == found.audit.groups[g].name);
            of_group.map(|person| person.weight).sum()
        };
        let (mut lost, mut lost_by_person) = (0.0, 0.0);
        for story in &found.answer.stories {
            // Who is told of is new, and all of them are counted.
            let first: BTreeSet<usize> = members(story.subgroup).difference(&told).copied().collect();
            for (g, share) in story.told.iter().enumerate() {
                prop_assert_eq!(share.whole, weigh(&first, g));
                prop_assert!(share.whole >= found.answer.parameters.min_members);
            }
            told.extend(&first);
            prop_assert!(story.loss.at_least > 0.0 && story.loss.at_least <= story.loss.people);
            lost += story.loss.people;
            lost_by_person += story.gap() * weigh(&first, story.worse_off) as f64;
        }
        close(lost, lost_by_person, "all losses");
        let all_told: u64 = (0..found.audit.groups.len()).map(|g| weigh(&told, g)).sum();
        let summed: u64 = found.answer.stories.iter().flat_map(|s| &s.told).map(|s| s.whole).sum();
        prop_assert_eq!(all_told, summed);
        // Whatever passes is told, unless nobody of it is.
        for (place, teller) in found.answer.told_by.iter().enumerate() {
            let passes = found.evidence.passing_together(place).next().is_some();
            let shares = !members(place).is_disjoint(&told);
            prop_assert_eq!(teller.is_some(), passes && shares);
        }
        let sets: BTreeSet<u32> = (found.answer.told_by.iter().enumerate())
            .filter(|(_, teller)| teller.is_some())
            .map(|(place, _)| found.answer.same_as[place])
            .collect();
        let stand_for = found.answer.stories.iter().map(|story| story.stands_for);
        prop_assert_eq!(stand_for.sum::<usize>(), sets.len());
    }

    /// Of people, no count from 1 to k − 1 is told.
    #[test]
    fn small_counts_are_not_told(mut asked in asked(), k in 2..60_u64) {
        asked.k = k;
        let Some(found) = asked.answered(1) else { return Ok(()) };
        let small = |count: u64| (1..k).contains(&count);
        let told = serde_json::to_value(&found.answer).unwrap();
        // How many people a group has is the audit's to tell.
        for group in told["people"].as_array().unwrap() {
            for ways in group["ways"].as_array().into_iter().flatten() {
                prop_assert!(!small(ways["people"].as_u64().unwrap()), "{group}");
            }
        }
        let mut shares = Vec::new();
        for part in ["stories", "verdict", "drivers"] {
            find_shares(&told[part], &mut shares);
        }
        let groups: Vec<u64> = found.audit.groups.iter().map(|group| group.affected).collect();
        for (part, whole) in shares {
            prop_assert!(!small(part), "{told}");
            prop_assert!(!small(whole) || groups.contains(&whole), "{told}");
        }
    }

    /// Rows of one person each come to the same as rows that stand for several.
    #[test]
    fn a_weight_is_so_many_rows(asked in asked()) {
        let one_by_one = |person: &Person| {
            let copies = person.weight as usize;
            std::iter::repeat_n(Person { weight: 1, ..person.clone() }, copies)
        };
        let people: Vec<Person> = asked.case.people.iter().flat_map(one_by_one).collect();
        prop_assume!(!people.is_empty());
        let split = Asked { case: Case { people, ..asked.case.clone() }, ..asked.clone() };
        let (one, other) = (asked.answered(1), split.answered(1));
        prop_assert_eq!(one.map(|one| json(&one.answer)), other.map(|one| json(&one.answer)));
    }
}

/// All shares in an answer, wherever they are.
fn find_shares(value: &serde_json::Value, found: &mut Vec<(u64, u64)>) {
    match value {
        serde_json::Value::Array(values) => values.iter().for_each(|v| find_shares(v, found)),
        serde_json::Value::Object(fields) => {
            if let (Some(part), Some(whole)) = (fields.get("part"), fields.get("whole")) {
                found.push((part.as_u64().unwrap(), whole.as_u64().unwrap()));
            }
            fields.values().for_each(|v| find_shares(v, found));
        }
        _ => {}
    }
}
