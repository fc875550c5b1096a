//! What the engine and the slow reference found, compared number by number.
//!
//! Counts and shares must be equal, costs and scores within 1e-9 (or both infinite).

use facts_engine::definitions::{Definition, GroupValue};
use facts_engine::distribution::{self, Count, Share};
use facts_engine::ranking::{Ranking, Shown};
use facts_engine::{Audit, Error};

use super::{definition, filters, phi, viewpoint};
use crate::slow::case::Case;
use crate::slow::decimal::Decimal;
use crate::slow::definitions::{Definition as SlowDefinition, Value};
use crate::slow::ecd::Viewpoint::{Macro, Micro};
use crate::slow::filters::{Filters as SlowFilters, Shown as SlowShown, shown};
use crate::slow::ranking::Ranking as SlowRanking;
use crate::slow::{SlowAudit, SlowError, Subgroup};

/// Shares φ that are met exactly now and then, and one that only everybody meets.
const PHIS: [&str; 6] = ["0.3", "0.5", "0.7", "0.25", "0.125", "1"];
const BUDGETS: [f64; 5] = [0.0, 0.5, 1.0, 2.5, 7.0];

fn assert_close(fast: f64, slow: f64, what: &str) {
    let same = fast == slow || (fast - slow).abs() < 1e-9;
    assert!(same, "{what}: {fast} is not {slow}");
}

/// An error of the engine that says what the slow reference says.
pub fn assert_same_error(case: &Case, fast: &Error, slow: &SlowError) {
    let same = match (fast, slow) {
        (Error::MissingValue { column, .. }, SlowError::MissingValue { feature })
        | (Error::NotANumber { column, .. }, SlowError::NotANumber { feature }) => {
            column == feature
        }
        (
            Error::NotInOrder { column, label, .. },
            SlowError::UnknownLabel {
                feature,
                label: other,
            },
        ) => column == feature && label == other,
        (
            Error::BinsDoNotCover { column, value, .. },
            SlowError::OutsideBins { feature, number },
        ) => column == feature && value == number,
        (Error::BadBins { feature: one, .. }, SlowError::NothingToBin { feature: other }) => {
            one == other
        }
        // Of several contradictions, or holes in a table, either may name any.
        (
            Error::ImmutableMustChange { feature, because },
            SlowError::ImmutableMustChange { .. },
        ) => case
            .features
            .iter()
            .any(|f| f.name == *because && !f.rules.immutable && f.rules.linked.contains(feature)),
        (Error::NoCostEntry { feature, from, to }, SlowError::MissingTransition { .. }) => {
            case.features.iter().any(|f| {
                let entry = |row: &(String, String, f64)| row.0 == *from && row.1 == *to;
                let lacks = match &f.cost {
                    crate::slow::case::Cost::Table(rows) => !rows.iter().any(entry),
                    _ => false,
                };
                f.name == *feature && lacks
            })
        }
        (Error::NoRows { .. }, SlowError::NoRows)
        | (Error::OneGroup { .. }, SlowError::OneGroup)
        | (Error::NobodyAffected { .. }, SlowError::NobodyAffected)
        | (Error::NobodyUnaffected { .. }, SlowError::NobodyUnaffected)
        | (Error::TooFewGroups { .. }, SlowError::TooFewGroups) => true,
        _ => false,
    };
    assert!(same, "the engine says {fast:?}, the reference {slow:?}");
}

/// Everything that an audit finds before a definition is asked.
pub fn assert_same_findings(case: &Case, fast: &Audit, slow: &SlowAudit) {
    assert_same_population(case, fast, slow);

    let mut expected: Vec<&Subgroup> = slow.subgroups.iter().collect();
    expected.sort_by(|a, b| (b.size(), &a.text).cmp(&(a.size(), &b.text)));
    let texts: Vec<String> = fast
        .subgroups
        .iter()
        .map(|s| fast.text(&s.predicate))
        .collect();
    let expected_texts: Vec<&String> = expected.iter().map(|s| &s.text).collect();
    assert_eq!(texts.iter().collect::<Vec<_>>(), expected_texts);
    for (one, other) in fast.subgroups.iter().zip(expected) {
        assert_same_subgroup(fast, one, other);
    }

    let mut expected: Vec<&Subgroup> = slow.without_actions.iter().collect();
    expected.sort_by(|a, b| (b.size(), &a.text).cmp(&(a.size(), &b.text)));
    let without: Vec<(String, &Vec<u64>)> = fast
        .without_actions
        .iter()
        .map(|one| (fast.text(&one.predicate), &one.members))
        .collect();
    let expected: Vec<(String, &Vec<u64>)> = expected
        .iter()
        .map(|one| (one.text.clone(), &one.members))
        .collect();
    assert_eq!(without, expected);
}

fn assert_same_population(case: &Case, fast: &Audit, slow: &SlowAudit) {
    let groups: Vec<(&str, u64, u64)> = fast
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.people, group.affected))
        .collect();
    let expected: Vec<(&str, u64, u64)> = slow
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.people, group.affected))
        .collect();
    assert_eq!(groups, expected);
    let set_aside: Vec<(&str, Count, Count)> = fast
        .set_aside
        .iter()
        .map(|group| (group.name.as_str(), group.people, group.affected))
        .collect();
    let expected: Vec<(&str, Count, Count)> = slow
        .set_aside
        .iter()
        .map(|group| {
            let (people, affected) = (Count::Known(group.people), Count::Known(group.affected));
            (group.name.as_str(), people, affected)
        })
        .collect();
    assert_eq!(set_aside, expected);

    let left_out = &slow.left_out;
    assert_eq!(fast.population.rows, case.people.len() as u64);
    assert_eq!(fast.population.weightless, left_out.weightless_rows);
    assert_eq!(fast.population.excluded, left_out.unprotected.rows);
    assert_eq!(fast.population.dropped, left_out.dropped.rows);
    let mut dropped_for: Vec<(String, u64)> = case
        .features
        .iter()
        .zip(&left_out.dropped_by_feature)
        .filter(|(_, dropped)| dropped.rows > 0)
        .map(|(feature, dropped)| (feature.name.clone(), dropped.rows))
        .collect();
    dropped_for.sort();
    assert_eq!(fast.population.dropped_for, dropped_for);
    let all = slow.groups.iter().chain(&slow.set_aside);
    let people: u64 = all.map(|group| group.people).sum();
    assert_eq!(fast.population.people, people);

    assert_eq!(fast.unaffected, slow.unaffected);
    assert_eq!(fast.sizes.common_subgroups, slow.common_subgroups);
    assert_eq!(fast.sizes.action_itemsets, slow.action_itemsets);
    let pairs: usize = slow.subgroups.iter().map(|one| one.actions.len()).sum();
    assert_eq!(fast.sizes.pairs, pairs);
}

fn assert_same_subgroup(audit: &Audit, fast: &distribution::Subgroup, slow: &Subgroup) {
    let what = &slow.text;
    assert_eq!(fast.members, slow.members, "{what}");
    for (g, group) in audit.groups.iter().enumerate() {
        let covered = slow.members[g] as f64 / group.affected as f64;
        assert_close(audit.coverage(fast, g), covered, what);
    }
    assert_eq!(fast.cost_levels.len(), slow.cost_levels.len(), "{what}");
    for (one, other) in fast.cost_levels.iter().zip(&slow.cost_levels) {
        assert_close(*one, *other, what);
    }

    let groups = 0..fast.groups();
    let mut actions: Vec<usize> = (0..fast.actions.len()).collect();
    let level = |action: usize| fast.actions[action].cost_level as usize;
    let text = |action: usize| fast.change(action, &audit.changes).text(&audit.features);
    assert!(actions.is_sorted_by_key(|&action| level(action)), "{what}");
    actions.sort_by_key(|&action| (level(action), text(action)));
    assert_eq!(actions.len(), slow.actions.len(), "{what}");
    for (action, other) in actions.into_iter().zip(&slow.actions) {
        let what = format!("{what}: make {}", other.text);
        assert_eq!(text(action), other.text, "{what}");
        assert_eq!(level(action), other.cost_level, "{what}");
        assert_close(fast.actions[action].cost, other.cost, &what);
        let flips: Vec<Option<u64>> = groups
            .clone()
            .map(|g| fast.flips(action, g).known())
            .collect();
        let expected: Vec<Option<u64>> = other.flips.iter().copied().map(Some).collect();
        assert_eq!(flips, expected, "{what}");
    }

    for view in [Micro, Macro] {
        let fast_view = viewpoint(view);
        for g in groups.clone() {
            for level in 0..slow.cost_levels.len() {
                let expected = slow.ecd_at_level(view, g, level);
                let expected = Share::new(expected.flipped, expected.members);
                assert_eq!(fast.ecd(fast_view, g, level + 1), Some(expected), "{what}");
            }
            for budget in BUDGETS {
                let expected = slow.ecd(view, g, budget);
                let expected = Share::new(expected.flipped, expected.members);
                let share = fast.ecd(fast_view, g, fast.levels_within(budget));
                assert_eq!(share, Some(expected), "{what} at {budget}");
            }
            for share in PHIS.map(Decimal::of) {
                let cost = fast.cost_of_effectiveness(fast_view, g, phi(share));
                assert_close(cost.unwrap(), slow.inverse(view, g, share), what);
            }
        }
    }
}

/// All definitions, in all viewpoints, with several parameters.
pub fn definitions() -> Vec<SlowDefinition> {
    let mut all = vec![
        SlowDefinition::MeanRecourse { c_infinity: None },
        SlowDefinition::MeanRecourse {
            c_infinity: Some(0.0),
        },
        SlowDefinition::MeanRecourse {
            c_infinity: Some(12.5),
        },
    ];
    for share in PHIS.map(Decimal::of) {
        all.push(SlowDefinition::Choice { phi: share });
    }
    for view in [Micro, Macro] {
        all.push(SlowDefinition::Effectiveness(view));
        for budget in BUDGETS {
            all.push(SlowDefinition::WithinBudget { view, budget });
        }
        for phi in PHIS.map(Decimal::of) {
            all.push(SlowDefinition::CostOfEffectiveness { view, phi });
        }
        for alpha in [0.05, 0.5, 0.9] {
            all.push(SlowDefinition::TradeOff { view, alpha });
        }
    }
    all
}

/// Rankings, what is shown of them, and the tables made from them.
pub fn assert_same_rankings(fast: &Audit, slow: &SlowAudit) {
    for (i, slow_definition) in definitions().iter().enumerate() {
        let definition = definition(slow_definition);
        for subgroup in &fast.subgroups {
            let assessed = definition.assess(subgroup).map(|assessed| assessed.score);
            assert_eq!(definition.score(subgroup), assessed, "{definition:?}");
        }
        let (one, other) = (
            fast.rank(definition.as_ref()),
            slow.ranking(slow_definition),
        );
        assert_same_ranking(fast, slow, &one, &other);
        for chosen in chosen_filters(slow, i) {
            let shown_now = fast.show(&one, definition.as_ref(), &filters(&chosen, fast));
            let expected = shown(slow, &other, &chosen);
            assert_same_shown(fast, slow, &shown_now, &expected);
        }
    }
    assert_same_tables(fast, slow);
}

/// Some filters for the definition in this place; over all places every filter has its turn,
/// alone and with others.
fn chosen_filters(slow: &SlowAudit, place: usize) -> Vec<SlowFilters> {
    let bit = |n: usize| place >> n & 1 == 1;
    let against = slow.groups[place % slow.groups.len()].name.clone();
    vec![
        SlowFilters::default(),
        SlowFilters {
            all_actions: true,
            drop_fair: bit(0),
            ..SlowFilters::default()
        },
        SlowFilters {
            at_least: bit(0).then(|| Decimal::of(PHIS[place % PHIS.len()])),
            at_most: bit(1).then(|| BUDGETS[place % BUDGETS.len()]),
            least_cost: bit(2),
            all_actions: bit(3),
            against: bit(4).then_some(against),
            ..SlowFilters::default()
        },
        SlowFilters {
            drop_contained: true,
            drop_fair: bit(1),
            all_actions: bit(2),
            least_cost: bit(3),
            at_least: bit(4).then(|| Decimal::of("0.5")),
            ..SlowFilters::default()
        },
    ]
}

fn assert_same_ranking(fast: &Audit, slow: &SlowAudit, one: &Ranking, other: &SlowRanking) {
    let what = &one.definition;
    assert_eq!(one.worst_rank as usize, other.worst_rank, "{what}");
    assert!(one.suppressed.is_empty(), "{what}");
    assert_eq!(one.ranked.len(), other.rows.len(), "{what}");
    for (ranked, row) in one.ranked.iter().zip(&other.rows) {
        let text = fast.text(&fast.subgroups[ranked.subgroup].predicate);
        assert_eq!(text, slow.subgroups[row.subgroup].text, "{what}");
        let what = format!("{what} for {text}");
        assert_eq!(ranked.rank.map(|rank| rank as usize), row.rank, "{what}");

        let (assessment, verdict) = (&ranked.assessment, &row.verdict);
        assert_close(assessment.score, verdict.score, &what);
        let against: Vec<&String> = assessment
            .against
            .iter()
            .map(|&g| &fast.groups[g].name)
            .collect();
        assert_eq!(
            against,
            verdict.against.iter().collect::<Vec<_>>(),
            "{what}"
        );
        let significant = verdict.trade_off.and_then(|read| read.significant);
        assert_eq!(assessment.significant, significant, "{what}");
        assert_eq!(assessment.values.len(), verdict.values.len(), "{what}");
        for (value, expected) in assessment.values.iter().zip(&verdict.values) {
            match (value, expected) {
                (GroupValue::Share(one), Value::Share(other)) => {
                    assert_eq!(*one, Share::new(other.flipped, other.members), "{what}");
                }
                (GroupValue::Count(one), Value::Count(other)) => assert_eq!(one, other, "{what}"),
                (GroupValue::Cost(one), Value::Cost(other)) => assert_close(*one, *other, &what),
                _ => panic!("{what}: {value:?} is not the kind of {expected:?}"),
            }
        }
    }
}

fn assert_same_shown(fast: &Audit, slow: &SlowAudit, one: &[Shown<'_>], other: &[SlowShown]) {
    let fast_shown = one.iter().map(|shown| {
        let subgroup = &fast.subgroups[shown.ranked.subgroup];
        let text = |&action: &usize| {
            let change = subgroup.change(action, &fast.changes);
            (
                subgroup.actions[action].cost_level as usize,
                change.text(&fast.features),
            )
        };
        let actions = shown.actions.iter().map(|actions| {
            let mut actions: Vec<_> = actions.iter().map(text).collect();
            actions.sort();
            actions
        });
        (fast.text(&subgroup.predicate), actions.collect::<Vec<_>>())
    });
    let slow_shown = other.iter().map(|shown| {
        let subgroup = &slow.subgroups[shown.subgroup];
        let text = |&action: &usize| {
            let action = &subgroup.actions[action];
            (action.cost_level, action.text.clone())
        };
        let actions = shown
            .actions
            .iter()
            .map(|actions| actions.iter().map(text).collect::<Vec<_>>());
        (subgroup.text.clone(), actions.collect::<Vec<_>>())
    });
    assert_eq!(
        fast_shown.collect::<Vec<_>>(),
        slow_shown.collect::<Vec<_>>()
    );
}

/// The paper's columns and both tables.
fn assert_same_tables(fast: &Audit, slow: &SlowAudit) {
    let (budgets, expected) = (fast.automatic_budgets(), slow.automatic_budgets());
    let Some(expected) = expected else {
        assert_eq!(budgets, Err(Error::NoAutomaticBudgets));
        assert_eq!(fast.paper_columns().map(|columns| columns.len()).ok(), None);
        return;
    };
    let budgets = budgets.unwrap();
    assert_eq!(budgets.len(), expected.len());
    for (one, other) in budgets.iter().zip(&expected) {
        assert_close(*one, *other, "budget");
    }

    let columns: Vec<Box<dyn Definition>> = fast.paper_columns().unwrap();
    let slow_columns = slow.twelve_columns().unwrap();
    assert_eq!(columns.len(), slow_columns.len());
    let rankings = fast.rank_all(&columns);
    let slow_rankings: Vec<SlowRanking> = slow_columns.iter().map(|c| slow.ranking(c)).collect();
    for (one, other) in rankings.iter().zip(&slow_rankings) {
        assert_same_ranking(fast, slow, one, other);
    }

    let analysis = fast.ranking_analysis(&rankings);
    assert_eq!(analysis.rows.len(), rankings.len());
    for (row, ranking) in analysis.rows.iter().zip(&slow_rankings) {
        let expected = slow.ranking_analysis(ranking);
        assert_eq!(row.rank_one, expected.first_ranked);
        let counts: Vec<usize> = expected.against.iter().map(|(_, count)| *count).collect();
        assert_eq!(row.against_in_top_tenth, counts);
        let counts: Vec<usize> = slow
            .groups
            .iter()
            .map(|group| {
                let against = ranking.rows.iter();
                against
                    .filter(|row| row.verdict.against.contains(&group.name))
                    .count()
            })
            .collect();
        assert_eq!(row.against, counts);
    }

    let cells = fast.aggregated_rankings(&rankings).cells;
    let expected = slow.aggregated_rankings(&slow_rankings);
    assert_eq!(cells.len(), expected.len());
    for (cell, expected) in cells.iter().flatten().zip(expected.iter().flatten()) {
        assert_eq!(cell.is_some(), expected.is_some());
        let (cell, expected) = (cell.unwrap_or(0.0), expected.unwrap_or(0.0));
        assert_close(cell, expected, "a cell of the aggregated rankings");
    }
}
