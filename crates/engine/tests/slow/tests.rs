//! The reference's own tests: examples worked by hand, and how rich the random cases are.

use super::case::*;
use super::cost::cost;
use super::decimal::{Decimal, Share};
use super::definitions::{Definition, Value, verdict};
use super::ecd::Viewpoint::{Macro, Micro};
use super::filters::{Filters, listed_actions, shown};
use super::generate::cases;
use super::mine::{CommonSubgroup, Op, action_itemsets, common_subgroups, predicate_text};
use super::moves::moved;
use super::population::Population;
use super::validity::{applies, valid_changes};
use super::{SlowAudit, SlowError, audit};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

#[test]
fn decimals_are_what_the_user_wrote() {
    assert!(Decimal::of("0.7").reached_by(7, 10));
    assert!(Decimal::of("0.07").reached_by(7, 100));
    assert!(!Decimal::of("0.07").reached_by(69, 1000));
    assert!(Decimal::of("1").reached_by(3, 3));
    assert_eq!(Decimal::parse("1e-2"), None);
    assert_eq!(Decimal::of("0.07").text(), "0.07");
}

fn feature(name: &str, kind: Kind) -> Feature {
    Feature {
        name: name.to_string(),
        kind,
        missing: Missing::Level,
        missing_codes: Vec::new(),
        rules: Rules::default(),
        cost: Cost::Categorical,
        weight: 1.0,
    }
}

fn case(features: Vec<Feature>, people: Vec<(Vec<Cell>, &str)>) -> Case {
    Case {
        features,
        protected: vec!["sex".to_string()],
        people: people
            .into_iter()
            .map(|(cells, sex)| Person {
                cells,
                protected: vec![Some(sex.to_string())],
                weight: 1,
            })
            .collect(),
        merge: Vec::new(),
        min_group_size: 0,
        trim_labels: false,
        options: Options {
            support: Decimal::of("0.1"),
            validity: Validity::Joint,
            ranges: false,
            max_length: None,
            min_members: 1,
        },
        model: Model {
            form: Form::Additive {
                protected_points: 0,
            },
            seed: 0,
            threshold: 0,
        },
    }
}

fn numbers(binning: Binning, values: &[f64]) -> Vec<String> {
    let kind = Kind::NumericBinned {
        integer: false,
        binning,
        model_sees: ModelSees::Raw,
        move_rule: MoveRule::Linear,
    };
    let people = values
        .iter()
        .map(|v| (vec![Cell::Number(*v)], "a"))
        .collect();
    let mut case = case(vec![feature("n", kind)], people);
    case.features[0].missing = Missing::Error;
    let population = Population::unjudged(&case).unwrap();
    population.features[0].labels.clone()
}

/// The labels below are those of `pandas.qcut(…, duplicates="drop")` and `pandas.cut`.
#[test]
fn bins_print_as_in_pandas() {
    assert_eq!(
        numbers(Binning::Quantiles(2), &[17.0, 20.0, 26.0, 34.0, 90.0]),
        ["(16.999, 26.0]", "(26.0, 90.0]"]
    );
    assert_eq!(
        numbers(Binning::Quantiles(4), &[1.0, 2.0, 3.0, 4.0]),
        ["(0.999, 1.75]", "(1.75, 2.5]", "(2.5, 3.25]", "(3.25, 4.0]"]
    );
    assert_eq!(
        numbers(Binning::Quantiles(4), &[1.0, 1.0, 1.0, 5.0, 9.0]),
        ["(0.999, 5.0]", "(5.0, 9.0]"]
    );
    assert_eq!(
        numbers(Binning::EqualWidth(4), &[17.0, 90.0]),
        [
            "(16.927, 35.25]",
            "(35.25, 53.5]",
            "(53.5, 71.75]",
            "(71.75, 90.0]"
        ]
    );
    assert_eq!(
        numbers(Binning::Quantiles(2), &[1.0, 1.0001, 1.0002]),
        ["(0.9999, 1.0001]", "(1.0001, 1.0002]"]
    );
    let open = Binning::Edges {
        edges: vec![f64::NEG_INFINITY, 25.0, f64::INFINITY],
        labels: None,
    };
    assert_eq!(numbers(open, &[1.0, 30.0]), ["(-inf, 25.0]", "(25.0, inf]"]);
}

/// One feature with two levels, and a model that is a table: a seed was looked for under which
/// `job = b` is what the model wants of `Female` and nothing helps `Male`.
#[test]
fn an_example_by_hand() {
    let text = |text: &str| Cell::Text(text.to_string());
    let mut example = case(
        vec![feature("job", Kind::Categorical)],
        vec![
            (vec![text("a")], "Male"),
            (vec![text("a")], "Male"),
            (vec![text("b")], "Male"),
            (vec![text("a")], "Female"),
            (vec![text("b")], "Female"),
        ],
    );
    example.model.form = Form::Arbitrary {
        sees_protected: true,
    };
    example.model.threshold = 500;
    let says = |case: &Case, job: &str, sex: &str| {
        case.model.favourable(&ModelRow {
            cells: vec![text(job)],
            protected: vec![sex.to_string()],
        })
    };
    example.model.seed = (0..)
        .find(|seed| {
            example.model.seed = *seed;
            !says(&example, "a", "Male")
                && !says(&example, "b", "Male")
                && !says(&example, "a", "Female")
                && says(&example, "b", "Female")
        })
        .unwrap();
    let example = example;

    let found = audit(&example).unwrap();
    assert_eq!(found.common_subgroups, 1);
    assert_eq!(found.action_itemsets, 1);
    assert_eq!(found.unaffected, 1);
    assert_eq!(found.groups[0].name, "Female");
    assert_eq!((found.groups[0].affected, found.groups[0].people), (1, 2));
    assert_eq!((found.groups[1].affected, found.groups[1].people), (3, 3));
    let subgroup = &found.subgroups[0];
    assert_eq!(subgroup.text, "job = a");
    assert_eq!(subgroup.members, [1, 2]);
    assert_eq!(subgroup.actions[0].text, "job = b");
    assert_eq!(subgroup.actions[0].flips, [1, 0]);
    assert_eq!(subgroup.cost_levels, [1.0]);

    let dear = Definition::CostOfEffectiveness {
        view: Macro,
        phi: Decimal::of("0.3"),
    };
    let read = verdict(&found, subgroup, &dear);
    assert_eq!(read.values, [Value::Cost(1.0), Value::Cost(f64::INFINITY)]);
    assert_eq!(read.score, f64::INFINITY);
    assert_eq!(read.against, ["Male"]);
    assert!(listed_actions(subgroup, 1, &dear).is_empty());

    let read = verdict(&found, subgroup, &Definition::Effectiveness(Micro));
    let share = |flipped, members| Value::Share(Share { flipped, members });
    assert_eq!(read.values, [share(1, 1), share(0, 2)]);
    assert_eq!(read.score, 1.0);

    let read = verdict(
        &found,
        subgroup,
        &Definition::MeanRecourse {
            c_infinity: Some(4.0),
        },
    );
    assert_eq!(read.values, [Value::Cost(1.0), Value::Cost(4.0)]);
    assert_eq!(read.score, 3.0);

    let trade_off = Definition::TradeOff {
        view: Micro,
        alpha: 0.05,
    };
    let read = verdict(&found, subgroup, &trade_off);
    assert_eq!(
        (read.score, read.trade_off.unwrap().significant),
        (1.0, Some(false))
    );
    assert_eq!(found.automatic_budgets(), Some(vec![1.0]));
    assert_eq!(
        found.twelve_columns().map(|columns| columns.len()),
        Some(10)
    );
}

/// The raw number that an action into a bin gives to a person, by rule. People are affected
/// unless their number is among `unaffected`.
fn landing(
    binning: Binning,
    integer: bool,
    rule: MoveRule,
    numbers: &[f64],
    unaffected: &[f64],
    own: usize,
    to: usize,
) -> f64 {
    let kind = Kind::NumericBinned {
        integer,
        binning,
        model_sees: ModelSees::Raw,
        move_rule: rule,
    };
    let cell = |number: &f64| match number.is_nan() {
        true => Cell::Null,
        false => Cell::Number(*number),
    };
    let people = numbers.iter().map(|n| (vec![cell(n)], "a")).collect();
    let example = case(vec![feature("n", kind)], people);
    let mut population = Population::unjudged(&example).unwrap();
    for (person, number) in population.people.iter_mut().zip(numbers) {
        person.favourable = unaffected.contains(number);
    }
    let row = moved(&population, &population.people[own], &[(0, to)]);
    match row.cells[0] {
        Cell::Number(number) => number,
        _ => f64::NAN,
    }
}

#[test]
fn numbers_land_inside_the_target_bin() {
    let edges = |edges: &[f64]| Binning::Edges {
        edges: edges.to_vec(),
        labels: None,
    };
    let tens = || edges(&[0.0, 10.0, 30.0]);
    // 4 of (0, 10] is at two fifths, and so is 18 of (10, 30].
    let linear = MoveRule::Linear;
    assert_eq!(
        landing(tens(), false, linear, &[4.0, 20.0], &[20.0], 0, 1),
        18.0
    );
    // 0 stands on the lowest edge; 10 is not in (10, 30].
    assert_eq!(
        landing(tens(), true, linear, &[0.0, 20.0], &[20.0], 0, 1),
        11.0
    );
    let low = landing(tens(), false, linear, &[0.0, 20.0], &[20.0], 0, 1);
    assert_eq!(low, 10.0_f64.next_up());
    // 13 of (10, 30] is at 1.5 of [0, 10]: a half is rounded away from zero.
    assert_eq!(
        landing(tens(), true, linear, &[13.0, 1.0], &[1.0], 0, 0),
        2.0
    );
    // Open ends stand at the observed 2 and 50: 6 is half-way in [2, 10], 30 in (10, 50].
    let open = edges(&[f64::NEG_INFINITY, 10.0, f64::INFINITY]);
    assert_eq!(
        landing(open, false, linear, &[6.0, 2.0, 50.0], &[50.0], 0, 1),
        30.0
    );
    // The median of the unaffected 11, 14; the affected 30 does not count.
    let median = MoveRule::Median;
    let some = [4.0, 11.0, 14.0, 30.0, f64::NAN];
    assert_eq!(
        landing(tens(), false, median, &some, &[11.0, 14.0], 0, 1),
        12.5
    );
    assert_eq!(
        landing(tens(), true, median, &some, &[11.0, 14.0], 0, 1),
        13.0
    );
    // Nearest to 4 is 11, whoever holds it; somebody without a number gets the median.
    let nearest = MoveRule::Nearest;
    assert_eq!(landing(tens(), true, nearest, &some, &[14.0], 0, 1), 11.0);
    assert_eq!(landing(tens(), true, nearest, &some, &[14.0], 4, 1), 14.0);
    assert_eq!(landing(tens(), true, linear, &some, &[14.0], 4, 1), 14.0);
}

/// Ranks 0 to 3, one affected person at each in both groups and one unaffected at the top: every
/// range is a subgroup once, and costs what its furthest member pays.
#[test]
fn ranges_by_hand() {
    let text = |text: &str| Cell::Text(text.to_string());
    let order = ["d", "c", "b", "a"];
    let mut rank = feature(
        "rank",
        Kind::Ordinal {
            order: order.iter().map(|label| label.to_string()).collect(),
        },
    );
    rank.cost = Cost::Ordinal;
    rank.rules.max_step = Some(MaxStep::Levels(2));
    let mut people = Vec::new();
    for label in order {
        people.push((vec![text(label)], "x"));
        people.push((vec![text(label)], "y"));
    }
    let example = {
        let mut example = case(vec![rank], people);
        example.options.ranges = true;
        example
    };
    let mut population = Population::unjudged(&example).unwrap();
    population.people[7].favourable = true;
    let (groups, _) = super::compared_groups(&population);

    let common = common_subgroups(&population, &groups);
    let mut texts: Vec<String> = common
        .iter()
        .map(|one| predicate_text(&population, &one.predicate))
        .collect();
    texts.sort();
    // `y` has nobody left at `a`, so what holds `a` alone is not common. `rank <= c` and
    // `rank >= d, rank <= c` are one, and so are `rank <= a` and nothing.
    assert_eq!(
        texts,
        [
            "rank <= b",
            "rank <= c",
            "rank = b",
            "rank = c",
            "rank = d",
            "rank >= b",
            "rank >= c",
            "rank >= c, rank <= b",
        ]
    );

    let itemsets = action_itemsets(&population);
    assert_eq!(itemsets, [vec![(0, 3)]]);
    let subgroup = |text: &str| {
        let of_text = |one: &&CommonSubgroup| predicate_text(&population, &one.predicate) == text;
        common.iter().find(of_text).unwrap()
    };
    // From `d` the top is three steps away: too far, but `b` and `c` make the change valid, and
    // `d` still counts in the cost.
    let far = subgroup("rank <= b");
    assert_eq!(valid_changes(&population, far, &itemsets), [vec![(0, 3)]]);
    assert_eq!(cost(&population, far, &[(0, 3)]), Ok(3.0));
    assert!(valid_changes(&population, subgroup("rank = d"), &itemsets).is_empty());
    // Whoever is at the top already pays nothing and gains nothing.
    let near = subgroup("rank >= b");
    assert_eq!(cost(&population, near, &[(0, 3)]), Ok(1.0));
    let at_top = near
        .members
        .iter()
        .find(|i| population.people[**i].levels[0] == 3);
    assert!(!applies(
        &population,
        &population.people[*at_top.unwrap()],
        &[(0, 3)]
    ));
}

/// All definitions that tests ask for: the paper's columns and the other viewpoints.
fn definitions(found: &SlowAudit) -> Vec<Definition> {
    let mut all = found.twelve_columns().unwrap_or_default();
    all.extend([
        Definition::Effectiveness(Micro),
        Definition::Effectiveness(Macro),
        Definition::TradeOff {
            view: Macro,
            alpha: 0.05,
        },
        Definition::MeanRecourse {
            c_infinity: Some(10.0),
        },
        Definition::MeanRecourse { c_infinity: None },
    ]);
    all
}

/// What must hold of every audit, whatever the case.
fn check(found: &SlowAudit) {
    for subgroup in &found.subgroups {
        for group in 0..found.groups.len() {
            let last = subgroup.cost_levels.len() - 1;
            for level in 0..=last {
                let (own, shared) = (subgroup.micro[level][group], subgroup.macro_[level][group]);
                assert!(shared <= own && own <= subgroup.members[group]);
                assert!(level == 0 || own >= subgroup.micro[level - 1][group]);
            }
        }
        assert!(
            subgroup
                .cost_levels
                .windows(2)
                .all(|pair| pair[0] < pair[1])
        );
    }
    for definition in definitions(found) {
        let ranking = found.ranking(&definition);
        let scores: Vec<f64> = ranking.rows.iter().map(|row| row.verdict.score).collect();
        assert!(scores.windows(2).all(|pair| pair[0] >= pair[1] - 1e-8));
        for row in &ranking.rows {
            assert_eq!(row.rank.is_none(), row.verdict.against.is_empty());
            assert!(row.verdict.against.len() < found.groups.len());
        }
        let filters = Filters {
            drop_fair: true,
            drop_contained: true,
            ..Filters::default()
        };
        assert!(shown(found, &ranking, &filters).len() <= ranking.rows.len());
        found.ranking_analysis(&ranking);
    }
    let columns = found.twelve_columns().unwrap_or_default();
    let rankings: Vec<_> = columns.iter().map(|one| found.ranking(one)).collect();
    for cell in found
        .aggregated_rankings(&rankings)
        .iter()
        .flatten()
        .flatten()
    {
        assert!(*cell > 0.0 && *cell <= 1.0);
    }
}

/// Every joint action of a subgroup is a subset action of it, with the same flips.
fn joint_is_within_subset(case: &Case) {
    let with = |validity| {
        let mut case = case.clone();
        case.options.validity = validity;
        audit(&case)
    };
    let (Ok(joint), Ok(subset)) = (with(Validity::Joint), with(Validity::Subset)) else {
        return;
    };
    for small in &joint.subgroups {
        let large = subset
            .subgroups
            .iter()
            .find(|one| one.text == small.text)
            .unwrap();
        for action in &small.actions {
            let same = large
                .actions
                .iter()
                .find(|one| one.text == action.text)
                .unwrap();
            assert_eq!((same.cost, &same.flipped), (action.cost, &action.flipped));
        }
    }
}

/// How often the random cases reach what they are made for.
#[derive(Debug, Default)]
struct Reach {
    cases: usize,
    errors: usize,
    too_few_groups: usize,
    table_errors: usize,
    ranked: usize,
    infinite: usize,
    fair: usize,
    ranges_with_actions: usize,
    partly_feasible: usize,
    micro_is_not_macro: usize,
    cost_ties: usize,
    several_cost_levels: usize,
    without_actions: usize,
    three_groups: usize,
    set_aside: usize,
    left_out: usize,
    missing_in_predicate: usize,
    support_met_exactly: usize,
    several_against: usize,
    contained: usize,
    significant: usize,
    most_subgroups: usize,
    slowest_milliseconds: u128,
    total_milliseconds: u128,
}

#[test]
fn random_cases_are_seldom_degenerate() {
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut reach = Reach::default();
    for _ in 0..300 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        reach.cases += 1;
        let start = std::time::Instant::now();
        let found = audit(&case);
        let taken = start.elapsed().as_millis();
        reach.slowest_milliseconds = reach.slowest_milliseconds.max(taken);
        reach.total_milliseconds += taken;
        match found {
            Ok(found) => {
                check(&found);
                joint_is_within_subset(&case);
                note(&mut reach, &case, &found);
            }
            Err(error) => {
                reach.errors += 1;
                reach.too_few_groups += usize::from(error == SlowError::TooFewGroups);
                let table = matches!(error, SlowError::MissingTransition { .. });
                reach.table_errors += usize::from(table);
            }
        }
    }
    println!("{reach:#?}");
    assert!(reach.ranked * 10 >= reach.cases * 6, "{reach:?}");
    let rare = [
        reach.infinite,
        reach.fair,
        reach.ranges_with_actions,
        reach.partly_feasible,
        reach.micro_is_not_macro,
        reach.cost_ties,
        reach.several_cost_levels,
        reach.without_actions,
        reach.three_groups,
        reach.set_aside,
        reach.left_out,
        reach.missing_in_predicate,
        reach.support_met_exactly,
        reach.several_against,
        reach.contained,
    ];
    assert!(rare.iter().all(|times| *times >= 10), "{reach:?}");
}

fn note(reach: &mut Reach, case: &Case, found: &SlowAudit) {
    let subgroups = &found.subgroups;
    let all = definitions(found);
    let rankings: Vec<_> = all.iter().map(|one| found.ranking(one)).collect();
    let mut rows = rankings.iter().flat_map(|ranking| &ranking.rows);
    let mut count = |counter: fn(&mut Reach) -> &mut usize, seen: bool| {
        *counter(reach) += usize::from(seen);
    };

    count(|r| &mut r.ranked, subgroups.len() >= 3);
    count(
        |r| &mut r.infinite,
        rows.clone().any(|row| row.verdict.score.is_infinite()),
    );
    count(|r| &mut r.fair, rows.clone().any(|row| row.rank.is_none()));
    count(
        |r| &mut r.significant,
        rows.clone().any(|row| {
            row.verdict
                .trade_off
                .is_some_and(|read| read.significant == Some(true))
        }),
    );
    count(
        |r| &mut r.several_against,
        rows.any(|row| row.verdict.against.len() > 1),
    );
    let with_range = |predicate: &[super::mine::Item]| predicate.iter().any(|i| i.op != Op::Equal);
    count(
        |r| &mut r.ranges_with_actions,
        subgroups.iter().any(|one| with_range(&one.predicate)),
    );
    let population = Population::judged(case).unwrap();
    let refuses_some = |one: &super::Subgroup| {
        one.actions.iter().any(|action| {
            let members = population.people.iter().filter(|person| {
                let within = found.groups.iter().any(|group| group.name == person.group);
                let satisfies =
                    |i: &super::mine::Item| i.admits(&population, person.levels[i.feature]);
                within && !person.favourable && one.predicate.iter().all(satisfies)
            });
            let mut members = members;
            members.any(|person| !applies(&population, person, &action.change))
        })
    };
    count(
        |r| &mut r.partly_feasible,
        subgroups.iter().any(refuses_some),
    );
    count(
        |r| &mut r.micro_is_not_macro,
        subgroups.iter().any(|one| one.micro != one.macro_),
    );
    count(
        |r| &mut r.cost_ties,
        subgroups
            .iter()
            .any(|one| one.cost_levels.len() < one.actions.len()),
    );
    count(
        |r| &mut r.several_cost_levels,
        subgroups.iter().any(|one| one.cost_levels.len() > 1),
    );
    count(
        |r| &mut r.without_actions,
        !found.without_actions.is_empty(),
    );
    count(|r| &mut r.three_groups, found.groups.len() > 2);
    count(|r| &mut r.set_aside, !found.set_aside.is_empty());
    let left_out = &found.left_out;
    count(
        |r| &mut r.left_out,
        left_out.weightless_rows + left_out.unprotected.rows + left_out.dropped.rows > 0,
    );
    count(
        |r| &mut r.missing_in_predicate,
        subgroups.iter().any(|one| one.text.contains("= missing")),
    );
    let support = case.options.support;
    count(
        |r| &mut r.support_met_exactly,
        subgroups.iter().any(|one| {
            found
                .groups
                .iter()
                .zip(&one.members)
                .any(|(group, members)| {
                    u128::from(*members) * 10_u128.pow(support.scale)
                        == support.mantissa * u128::from(group.affected)
                })
        }),
    );
    let filters = Filters {
        drop_contained: true,
        ..Filters::default()
    };
    count(
        |r| &mut r.contained,
        rankings
            .iter()
            .any(|ranking| shown(found, ranking, &filters).len() < ranking.rows.len()),
    );
    reach.most_subgroups = reach.most_subgroups.max(subgroups.len());
}
