//! Properties of the engine over random small cases.
//!
//! The first holds every number against the slow reference in `slow/`, which was written from the
//! definitions and not from the engine. The others are about the engine alone: threads, batches,
//! weights, saving, suppression, and how often the model is asked.
//!
//! Cases are the same in every run; `PROPTEST_CASES` asks for more of them and
//! `PROPTEST_RNG_SEED` for others.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod slow;
mod slow_adapter;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take;
use facts_engine::distribution::{Count, Subgroup, Viewpoint};
use facts_engine::flips::{FnModel, Model, ModelError};
use facts_engine::population::{Dictionaries, Kind, Move, View};
use facts_engine::ranking::{Filters, Ranking};
use facts_engine::{Audit, Watch, audit, audit_again};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::slow::case::{Case, Person};
use crate::slow::generate::cases;
use crate::slow::moves::moved;
use crate::slow::population::Population;
use crate::slow::validity::applies;
use crate::slow_adapter::same::{
    assert_same_error, assert_same_findings, assert_same_rankings, definitions,
};
use crate::slow_adapter::{
    definition, engine, engine_with, model, model_rows, options, population, table,
};

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
            false => RngSeed::Fixed(17),
        },
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config(800))]

    #[test]
    fn every_number_is_that_of_the_slow_reference(case in cases()) {
        match (engine(&case), slow::audit(&case)) {
            (Ok(fast), Ok(slow)) => {
                assert_same_findings(&case, &fast, &slow);
                assert_same_rankings(&fast, &slow);
            }
            (Err(fast), Err(slow)) => assert_same_error(&case, &fast, &slow),
            (fast, slow) => panic!(
                "the engine says {:?}, the reference {:?}",
                fast.map(|audit| audit.sizes),
                slow.map(|audit| audit.common_subgroups)
            ),
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn threads_change_nothing(case in cases()) {
        let with = |threads| {
            let found = engine_with(&case, &[table(&case)], &options(&case).threads(threads));
            found.map(|audit| json(&audit)).map_err(kind)
        };
        prop_assert_eq!(with(1), with(2));
    }

    /// Neither how the table comes nor how the model is asked shows in what is found.
    #[test]
    fn batches_and_encodings_change_nothing(
        case in cases(),
        cuts in prop::collection::vec(0..=60_usize, 0..6),
        dictionaries in any::<bool>(),
        batch_rows in 1..9_usize,
    ) {
        let whole = table(&case);
        let mut batches = cut(&whole, cuts);
        if dictionaries {
            batches = batches.iter().map(with_dictionaries).collect();
        }
        let split = engine_with(&case, &batches, &options(&case).batch_rows(batch_rows));
        let whole = engine(&case);
        prop_assert_eq!(split.as_ref().map(json), whole.as_ref().map(json));

        let backwards = Case {
            people: case.people.iter().rev().cloned().collect(),
            ..case.clone()
        };
        let backwards = engine(&backwards).map(|audit| json(&audit)).map_err(kind);
        prop_assert_eq!(backwards, whole.map(|audit| json(&audit)).map_err(kind));
    }

    /// A row of weight 3 is three rows of weight 1.
    #[test]
    fn a_weight_is_so_many_rows(case in cases()) {
        let one_by_one = |person: &Person| {
            let copies = person.weight as usize;
            std::iter::repeat_n(Person { weight: 1, ..person.clone() }, copies)
        };
        let split = Case {
            people: case.people.iter().flat_map(one_by_one).collect(),
            ..case.clone()
        };
        let findings = |case: &Case| {
            let found = engine(case).map_err(kind)?;
            let groups = (found.groups, found.set_aside, found.unaffected);
            let subgroups = (found.changes, found.subgroups, found.without_actions);
            Ok::<_, String>((json(&found.features), groups, subgroups))
        };
        // Without a row of positive weight there is no table at all after the split.
        prop_assume!(!split.people.is_empty());
        prop_assert_eq!(findings(&case), findings(&split));
    }

    /// An audit that was saved and loaded says what it said before.
    #[test]
    fn a_saved_audit_is_the_audit(case in cases()) {
        let Ok(found) = engine(&case) else { return Ok(()) };
        let saved = json(&found);
        let loaded: Audit = serde_json::from_str(&saved).unwrap();
        prop_assert_eq!(&json(&loaded), &saved);
        for definition in definitions() {
            let definition = slow_adapter::definition(&definition);
            let ranking = found.rank(definition.as_ref());
            prop_assert_eq!(&loaded.rank(definition.as_ref()), &ranking);
            let saved: Ranking = serde_json::from_str(&json(&ranking)).unwrap();
            prop_assert_eq!(&saved, &ranking);
            let filters = Filters { drop_contained: true, ..Filters::default() };
            prop_assert_eq!(
                loaded.show(&ranking, definition.as_ref(), &filters),
                found.show(&ranking, definition.as_ref(), &filters)
            );
        }
        prop_assert_eq!(loaded.automatic_budgets(), found.automatic_budgets());
        if let (Ok(columns), Ok(loaded_columns)) = (found.paper_columns(), loaded.paper_columns()) {
            let (rankings, of_loaded) = (found.rank_all(&columns), loaded.rank_all(&loaded_columns));
            prop_assert_eq!(&of_loaded, &rankings);
            prop_assert_eq!(
                loaded.aggregated_rankings(&rankings),
                found.aggregated_rankings(&rankings)
            );
            prop_assert_eq!(
                loaded.ranking_analysis(&rankings),
                found.ranking_analysis(&rankings)
            );
        }
    }

    /// A model that takes dictionary arrays is asked for the rows that others are asked for, in the same order.
    #[test]
    fn dictionaries_hold_the_same_rows(case in cases(), batch_rows in 1..40_usize) {
        let Ok(read) = population(&case) else { return Ok(()) };
        let options = options(&case).batch_rows(batch_rows);
        let of = |dictionaries| {
            let model = Noting { case: &case, dictionaries, asked: Mutex::default() };
            let found = audit(&read, &model, &options, Watch::nobody());
            (format!("{found:?}"), model.asked.into_inner().unwrap())
        };
        let plain = of(Dictionaries::None);
        prop_assert_eq!(&of(Dictionaries::Text), &plain);
        prop_assert_eq!(&of(Dictionaries::All), &plain);
    }

    /// The model is asked for every row of the population once, and for every counterfactual row
    /// that is not one of those once.
    #[test]
    fn the_model_is_asked_for_each_row_once(case in cases(), batch_rows in 1..40_usize) {
        let Ok(read) = population(&case) else { return Ok(()) };
        let asked: Mutex<HashSet<String>> = Mutex::default();
        let model = FnModel::new(|batch: &RecordBatch| {
            let rows = model_rows(&case, batch).into_iter();
            rows.map(|row| {
                let new = asked.lock().unwrap().insert(format!("{row:?}"));
                assert!(new, "{row:?} was asked before");
                case.model.favourable(&row)
            })
            .collect()
        });
        let options = options(&case).batch_rows(batch_rows);
        let Ok(found) = audit(&read, &model, &options, Watch::nobody()) else { return Ok(()) };

        let expected = Questions::of(&case);
        let sizes = found.sizes;
        prop_assert_eq!(sizes.profiles, expected.rows.len());
        prop_assert_eq!(sizes.rows_asked, expected.rows.len() as u64);
        prop_assert_eq!(sizes.affected_profiles, expected.affected.len());
        prop_assert_eq!(sizes.changes, expected.changes.len());
        prop_assert_eq!(sizes.decisions, expected.decisions.len() as u64);
        let new = expected.counterfactuals.difference(&expected.rows).count();
        prop_assert_eq!(sizes.counterfactual_rows_asked, new as u64);
        let asked = asked.into_inner().unwrap();
        prop_assert!(asked.is_superset(&expected.rows));
        prop_assert_eq!(asked.len(), expected.rows.len() + new);
    }

    /// Small counts are gone, and what is still told is what was told before.
    #[test]
    fn suppression_hides_small_counts_only(case in cases(), k in 1..9_u64, first in 1..9_u64) {
        let Ok(full) = engine(&case) else { return Ok(()) };
        let hidden = full.clone().suppressed(k);
        assert_suppressed(&full, &hidden, k);
        // In two steps it comes to the same.
        let twice = full.clone().suppressed(first).suppressed(k);
        prop_assert_eq!(json(&twice), json(&full.suppressed(k.max(first))));
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// The kind of an error. Which of several culprits it names may depend on which was met first.
fn kind(error: facts_engine::Error) -> String {
    let text = format!("{error:?}");
    text.split([' ', '(']).next().unwrap_or_default().to_owned()
}

/// The rows of a table as several batches, some of them empty.
fn cut(whole: &RecordBatch, mut cuts: Vec<usize>) -> Vec<RecordBatch> {
    let end = whole.num_rows();
    cuts.iter_mut().for_each(|cut| *cut = (*cut).min(end));
    cuts.extend([0, end]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| whole.slice(pair[0], pair[1] - pair[0]))
        .collect()
}

/// The batch with its texts as dictionaries, made for this batch alone.
fn with_dictionaries(batch: &RecordBatch) -> RecordBatch {
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Utf8 => {
                let texts = column.as_string::<i32>().iter();
                Arc::new(texts.collect::<DictionaryArray<Int8Type>>()) as ArrayRef
            }
            _ => Arc::clone(column),
        })
        .collect();
    let schema = batch.schema();
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The model of a case, that notes what it is asked.
struct Noting<'a> {
    case: &'a Case,
    dictionaries: Dictionaries,
    asked: Mutex<Vec<String>>,
}

impl Model for Noting<'_> {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let columns = rows.columns().iter();
        let plain = columns.map(|column| match column.as_any_dictionary_opt() {
            Some(numbered) => {
                let text = numbered.values().data_type() == &DataType::Utf8;
                assert!(self.dictionaries == Dictionaries::All || text);
                assert_ne!(self.dictionaries, Dictionaries::None);
                assert_eq!(numbered.keys().null_count(), 0);
                take(numbered.values(), numbered.keys(), None).unwrap()
            }
            None => {
                let text = column.data_type() == &DataType::Utf8;
                assert!(self.dictionaries == Dictionaries::None || !text);
                assert_ne!(self.dictionaries, Dictionaries::All);
                Arc::clone(column)
            }
        });
        let names = rows.schema_ref().fields().iter().map(|field| field.name());
        let rows = RecordBatch::try_from_iter(names.zip(plain)).unwrap();
        let rows = model_rows(self.case, &rows);
        let answers = rows.iter().map(|row| Some(self.case.model.favourable(row)));
        let answers: BooleanArray = answers.collect();
        let mut asked = self.asked.lock().unwrap();
        asked.extend(rows.iter().map(|row| format!("{row:?}")));
        Ok(Arc::new(answers))
    }

    fn dictionaries(&self) -> Dictionaries {
        self.dictionaries
    }
}

/// What a model has to be asked in an audit, found by trying every member and every action.
#[derive(Default)]
struct Questions {
    /// Distinct rows of the population, as the model sees them.
    rows: HashSet<String>,
    /// Those of the affected of the compared groups.
    affected: HashSet<String>,
    changes: HashSet<String>,
    /// Distinct pairs of a row and a change that applies to it.
    decisions: HashSet<(String, String)>,
    counterfactuals: HashSet<String>,
}

impl Questions {
    fn of(case: &Case) -> Self {
        let (population, found) = (
            Population::judged(case).unwrap(),
            slow::audit(case).unwrap(),
        );
        let mut questions = Self::default();
        for person in &population.people {
            let row = format!("{:?}", person.seen);
            questions.rows.insert(row.clone());
            let compared = found.groups.iter().any(|group| group.name == person.group);
            if person.favourable || !compared {
                continue;
            }
            questions.affected.insert(row.clone());
            for subgroup in &found.subgroups {
                let mut items = subgroup.predicate.iter();
                if !items.all(|item| item.admits(&population, person.levels[item.feature])) {
                    continue;
                }
                for action in &subgroup.actions {
                    questions.changes.insert(action.text.clone());
                    if applies(&population, person, &action.change) {
                        let counterfactual = moved(&population, person, &action.change);
                        questions
                            .counterfactuals
                            .insert(format!("{counterfactual:?}"));
                        questions
                            .decisions
                            .insert((row.clone(), action.text.clone()));
                    }
                }
            }
        }
        questions
    }
}

fn assert_suppressed(full: &Audit, hidden: &Audit, k: u64) {
    let small = |count: u64| (1..k).contains(&count);
    let told = serde_json::to_value(hidden).unwrap();
    for subgroup in told["subgroups"].as_array().unwrap() {
        let counts = ["members", "flips", "reached"].map(|name| subgroup[name].as_array().unwrap());
        for count in counts.into_iter().flatten() {
            assert!(
                count.is_null() || !small(count.as_u64().unwrap()),
                "{subgroup}"
            );
        }
    }
    for subgroup in told["without_actions"].as_array().unwrap() {
        let mut members = subgroup["members"].as_array().unwrap().iter();
        assert!(
            members.all(|count| !small(count.as_u64().unwrap())),
            "{subgroup}"
        );
    }
    for group in told["set_aside"].as_array().unwrap() {
        for count in [&group["people"], &group["affected"]] {
            assert!(
                count.is_null() || !small(count.as_u64().unwrap()),
                "{group}"
            );
        }
    }

    let large = |members: &[u64]| members.iter().all(|&count| count >= k);
    let kept = full.subgroups.iter().filter(|one| large(&one.members));
    let kept_without = full
        .without_actions
        .iter()
        .filter(|one| large(&one.members));
    assert_eq!(hidden.subgroups.len(), kept.clone().count());
    assert_eq!(
        hidden.without_actions,
        kept_without.cloned().collect::<Vec<_>>()
    );
    let suppression = hidden.suppression.unwrap();
    let left = hidden.subgroups.len() + hidden.without_actions.len();
    let all = full.subgroups.len() + full.without_actions.len();
    assert_eq!((suppression.k, suppression.removed), (k, all - left));

    let hide = |count: Count| match count {
        Count::Known(count) if small(count) => Count::Suppressed,
        other => other,
    };
    for (one, other) in hidden.subgroups.iter().zip(kept) {
        assert_eq!(one.predicate, other.predicate);
        assert_eq!(
            (&one.members, &one.actions, &one.cost_levels),
            (&other.members, &other.actions, &other.cost_levels)
        );
        for g in 0..one.groups() {
            for action in 0..one.actions.len() {
                assert_eq!(one.flips(action, g), hide(other.flips(action, g)));
            }
            for view in [Viewpoint::Micro, Viewpoint::Macro] {
                for level in 0..=one.cost_levels.len() {
                    let (now, before) = (one.ecd(view, g, level), other.ecd(view, g, level));
                    let told = before.filter(|share| !small(share.part));
                    assert_eq!(now, told, "{view} after {level} levels");
                }
            }
        }
    }

    let place: HashMap<_, _> = full
        .subgroups
        .iter()
        .map(|one| (&one.predicate, one))
        .collect();
    for definition in definitions().iter().map(definition) {
        let ranking = hidden.rank(definition.as_ref());
        let ranked = ranking.ranked.iter().map(|ranked| ranked.subgroup);
        let mut places: Vec<usize> = ranked.chain(ranking.suppressed.iter().copied()).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..hidden.subgroups.len()));
        for ranked in &ranking.ranked {
            let before = place[&hidden.subgroups[ranked.subgroup].predicate];
            assert_eq!(Some(&ranked.assessment), definition.assess(before).as_ref());
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn counted_again_among_the_same_people_an_audit_is_the_same(case in cases()) {
        let Ok(found) = engine(&case) else { return Ok(()) };
        let population = population(&case).unwrap();
        let (again, _) =
            audit_again(&population, &model(&case), &found, &options(&case), Watch::nobody()).unwrap();
        prop_assert_eq!(&again.groups, &found.groups);
        prop_assert_eq!(&again.settings, &found.settings);
        prop_assert_eq!(&again.changes, &found.changes);
        prop_assert_eq!(&again.subgroups, &found.subgroups);
    }

    #[test]
    fn what_is_counted_in_two_parts_adds_up(case in cases(), seed in 0u64..100) {
        let Ok(found) = engine(&case) else { return Ok(()) };
        let whole = population(&case).unwrap();
        let (first, second) = whole.split(0.5, seed);
        let model = model(&case);
        let count = |part| {
            audit_again(part, &model, &found, &options(&case), Watch::nobody()).unwrap()
        };
        let parts = [count(&first), count(&second)];
        for g in 0..found.groups.len() {
            let affected = |audit: &Audit| audit.groups[g].affected;
            let both: u64 = parts.iter().map(|(audit, ..)| affected(audit)).sum();
            prop_assert_eq!(both, affected(&found));
        }
        // A move to a median goes elsewhere in each part.
        let moves_alike = whole.features().iter().all(|feature| match &feature.kind {
            Kind::Binned(bins) => matches!(bins.view, View::Label | View::Raw(Move::Linear)),
            _ => true,
        }) && whole.features().iter().all(|feature| feature.missing.is_none());
        for one in &found.subgroups {
            let in_part = |(audit, _): &(Audit, _)| {
                let mut subgroups = audit.subgroups.iter();
                let there = subgroups.find(|there| there.predicate == one.predicate)?;
                assert_same_question(one, there);
                Some(there.clone())
            };
            let (Some(a), Some(b)) = (in_part(&parts[0]), in_part(&parts[1])) else { continue };
            for g in 0..found.groups.len() {
                prop_assert_eq!(a.members[g] + b.members[g], one.members[g]);
                for action in 0..one.actions.len() {
                    if moves_alike {
                        let flips = |one: &Subgroup| one.flips(action, g).known().unwrap();
                        prop_assert_eq!(flips(&a) + flips(&b), flips(one));
                    }
                }
            }
        }
    }
}

fn assert_same_question(one: &Subgroup, other: &Subgroup) {
    assert_eq!(one.predicate, other.predicate);
    assert_eq!(one.actions, other.actions);
}
