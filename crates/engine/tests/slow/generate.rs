//! Random small cases that reach the corners: ties, missing values, ranges, rules, infinities.
//!
//! A case is built from a plan of small numbers, so that it shrinks to few rows, few features and
//! plain choices: every number shrinks towards 0, and 0 is always the plainest choice.

use super::case::{
    Binning, Case, Cell, Cost, Feature, Form, Kind, MaxStep, MergedGroup, Missing, Model,
    ModelSees, MoveRule, Options, Person, Rules, Validity,
};
use super::decimal::Decimal;
use super::population::Population;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Names whose code point order is not the order of declaration.
const NAMES: [&str; 4] = ["job", "age", "Zone", "éducation"];
const CATEGORIES: [&str; 4] = ["clerk", "Boss", "ärztin", "10"];
/// Ranks whose text order is not their order.
const RANKS: [&str; 4] = ["low", "mid", "high", "a-top"];
const BIN_LABELS: [&str; 3] = ["young", "mid", "old"];
const TEXT_CODE: &str = "?";
const NUMBER_CODE: f64 = -99.0;
const TABLE_COSTS: [f64; 6] = [1.0, 0.5, 1.0, 2.0, 3.0, 0.0];

/// Random cases of 6 to 60 rows and 1 to 4 features.
pub fn cases() -> impl Strategy<Value = Case> {
    (
        vec(feature_plans(), 1..=8),
        vec(row_plans(), 6..=120),
        population_plans(),
        option_plans(),
        model_plans(),
    )
        .prop_map(|(features, rows, population, options, model)| {
            // What is over the limit is cut, so that most cases are large and all of them shrink.
            // Ranges multiply the predicates: three features are enough to combine them.
            let most = if options.ranges { 3 } else { NAMES.len() };
            let features = &features[..features.len().min(most)];
            let rows = &rows[..rows.len().min(60)];
            build(features, rows, &population, options, &model)
        })
}

#[derive(Debug, Clone)]
struct FeaturePlan {
    kind: KindPlan,
    levels: usize,
    integer: bool,
    base: f64,
    /// Whether a binned number has few values, not twelve.
    narrow: bool,
    binning: BinningPlan,
    model_sees: ModelSees,
    move_rule: MoveRule,
    missing: Missing,
    has_code: bool,
    /// Whether a quarter of the cells are missing, not a few.
    often_missing: bool,
    rules: RulesPlan,
    cost: CostPlan,
    weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum KindPlan {
    Categorical,
    Ordinal,
    Exact,
    Binned,
}

#[derive(Debug, Clone, Copy)]
enum BinningPlan {
    Quantiles(usize),
    EqualWidth(usize),
    OpenEdges,
    ClosedEdges,
    LabelledEdges,
}

#[derive(Debug, Clone)]
struct RulesPlan {
    immutable: bool,
    /// 0 is free, 1 increase, 2 decrease.
    direction: u8,
    /// 0 is no limit, then levels, then units.
    step: u8,
    not_a_target: Option<usize>,
    forbidden: Vec<(usize, usize)>,
    linked: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum CostPlan {
    Categorical,
    Ordinal,
    Numeric { normalised: bool },
    Table { offset: usize, hole: Option<usize> },
}

#[derive(Debug, Clone)]
struct RowPlan {
    cells: Vec<u8>,
    /// 0 is nobody's cell, else one more than the feature whose cell is missing.
    missing: u8,
    group: u8,
    without_group: bool,
    weight: u64,
}

#[derive(Debug, Clone)]
struct PopulationPlan {
    groups: GroupsPlan,
    weighted: bool,
    trim_labels: bool,
    min_group_size: u64,
    keep_errors: bool,
}

#[derive(Debug, Clone, Copy)]
enum GroupsPlan {
    Two,
    Three,
    Merged,
    Crossed,
}

#[derive(Debug, Clone)]
struct ModelPlan {
    form: Form,
    seed: u64,
    /// The share of people, in percent, whom the model refuses.
    refused: usize,
}

fn seldom(one_in: u32) -> impl Strategy<Value = bool> {
    prop_oneof![one_in - 1 => Just(false), 1 => Just(true)]
}

fn feature_plans() -> impl Strategy<Value = FeaturePlan> {
    let kind = select(vec![
        KindPlan::Categorical,
        KindPlan::Ordinal,
        KindPlan::Exact,
        KindPlan::Binned,
        KindPlan::Binned,
    ]);
    let binning = prop_oneof![
        (2..=4_usize).prop_map(BinningPlan::Quantiles),
        (2..=4_usize).prop_map(BinningPlan::EqualWidth),
        Just(BinningPlan::OpenEdges),
        Just(BinningPlan::ClosedEdges),
        Just(BinningPlan::LabelledEdges),
    ];
    let numbers = (
        any::<bool>(),
        select(vec![0.0, 17.0, -5.0]),
        binning,
        seldom(6),
    );
    let model = (
        select(vec![ModelSees::Raw, ModelSees::Raw, ModelSees::Label]),
        select(vec![MoveRule::Linear, MoveRule::Median, MoveRule::Nearest]),
    );
    let missing = (
        prop_oneof![4 => Just(Missing::Level), 3 => Just(Missing::Drop), 1 => Just(Missing::Error)],
        any::<bool>(),
        seldom(4),
    );
    let weight = select(vec![1.0, 1.0, 1.0, 0.5, 2.0, 0.1]);
    (
        kind,
        prop_oneof![15 => 2..=4_usize, 1 => Just(1)],
        numbers,
        model,
        missing,
        rules_plans(),
        cost_plans(),
        weight,
    )
        .prop_map(
            |(kind, levels, numbers, model, missing, rules, cost, weight)| FeaturePlan {
                kind,
                levels,
                integer: numbers.0,
                base: numbers.1,
                binning: numbers.2,
                narrow: numbers.3,
                model_sees: model.0,
                move_rule: model.1,
                missing: missing.0,
                has_code: missing.1,
                often_missing: missing.2,
                rules,
                cost,
                weight,
            },
        )
}

fn rules_plans() -> impl Strategy<Value = RulesPlan> {
    (
        seldom(14),
        prop_oneof![8 => Just(0_u8), 1 => Just(1), 1 => Just(2)],
        prop_oneof![8 => Just(0_u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)],
        prop_oneof![8 => Just(None), 1 => (0..4_usize).prop_map(Some)],
        prop_oneof![5 => Just(Vec::new()), 1 => vec((0..5_usize, 0..5_usize), 1..=3)],
        prop_oneof![14 => Just(None), 1 => (0..4_usize).prop_map(Some)],
    )
        .prop_map(
            |(immutable, direction, step, not_a_target, forbidden, linked)| RulesPlan {
                immutable,
                direction,
                step,
                not_a_target,
                forbidden,
                linked,
            },
        )
}

fn cost_plans() -> impl Strategy<Value = CostPlan> {
    let hole = prop_oneof![5 => Just(None), 1 => (0..16_usize).prop_map(Some)];
    prop_oneof![
        2 => Just(CostPlan::Categorical),
        3 => Just(CostPlan::Ordinal),
        3 => any::<bool>().prop_map(|normalised| CostPlan::Numeric { normalised }),
        2 => (0..6_usize, hole).prop_map(|(offset, hole)| CostPlan::Table { offset, hole }),
    ]
}

fn row_plans() -> impl Strategy<Value = RowPlan> {
    (
        vec(0..12_u8, NAMES.len()),
        prop_oneof![8 => Just(0_u8), 1 => 1..=4_u8],
        0..12_u8,
        seldom(40),
        0..=5_u64,
    )
        .prop_map(|(cells, missing, group, without_group, weight)| RowPlan {
            cells,
            missing,
            group,
            without_group,
            weight,
        })
}

fn population_plans() -> impl Strategy<Value = PopulationPlan> {
    (
        prop_oneof![
            6 => Just(GroupsPlan::Two),
            3 => Just(GroupsPlan::Three),
            1 => Just(GroupsPlan::Merged),
            1 => Just(GroupsPlan::Crossed),
        ],
        prop_oneof![2 => Just(false), 1 => Just(true)],
        seldom(3),
        prop_oneof![6 => Just(0_u64), 1 => 1..=4_u64],
        seldom(20),
    )
        .prop_map(
            |(groups, weighted, trim_labels, min_group_size, keep_errors)| PopulationPlan {
                groups,
                weighted,
                trim_labels,
                min_group_size,
                keep_errors,
            },
        )
}

fn option_plans() -> impl Strategy<Value = Options> {
    let supports = [
        "0.1", "0.05", "0.07", "0.05", "0.125", "0.05", "0.1", "0.07", "0.125", "0.15", "0.2",
        "0.2", "0.25", "0.3", "0.4", "0.7",
    ];
    (
        select(supports.map(Decimal::of).to_vec()),
        select(vec![Validity::Joint, Validity::Subset]),
        any::<bool>(),
        prop_oneof![
            4 => Just(None),
            1 => (1..=4_usize).prop_map(Some),
        ],
        prop_oneof![3 => Just(1), 1 => 0..=6_u64],
    )
        .prop_map(
            |(support, validity, ranges, max_length, min_members)| Options {
                support,
                validity,
                ranges,
                max_length,
                min_members,
            },
        )
}

fn model_plans() -> impl Strategy<Value = ModelPlan> {
    let form = prop_oneof![
        2 => Just(Form::Additive { protected_points: 0 }),
        3 => (1..=12_u64).prop_map(|protected_points| Form::Additive { protected_points }),
        1 => Just(Form::Arbitrary { sees_protected: false }),
        2 => Just(Form::Arbitrary { sees_protected: true }),
    ];
    (form, 0..1000_u64, 30..=75_usize).prop_map(|(form, seed, refused)| ModelPlan {
        form,
        seed,
        refused,
    })
}

/// The case of a plan. Labels are needed for rules and tables, and scores for the model's
/// threshold, so the population is read before each of them is set.
fn build(
    features: &[FeaturePlan],
    rows: &[RowPlan],
    population: &PopulationPlan,
    options: Options,
    model: &ModelPlan,
) -> Case {
    let mut case = Case {
        features: (0..features.len())
            .map(|f| feature(f, &features[f]))
            .collect(),
        protected: match population.groups {
            GroupsPlan::Crossed => vec!["sex".to_string(), "race".to_string()],
            GroupsPlan::Two | GroupsPlan::Three | GroupsPlan::Merged => vec!["sex".to_string()],
        },
        people: rows
            .iter()
            .map(|row| person(row, features, population))
            .collect(),
        merge: match population.groups {
            GroupsPlan::Merged => vec![MergedGroup {
                name: "Others".to_string(),
                values: vec!["Inter".to_string(), "male".to_string()],
            }],
            GroupsPlan::Two | GroupsPlan::Three | GroupsPlan::Crossed => Vec::new(),
        },
        min_group_size: population.min_group_size,
        trim_labels: population.trim_labels,
        options,
        model: Model {
            form: model.form,
            seed: model.seed,
            threshold: 0,
        },
    };
    let Ok(read) = Population::unjudged(&case) else {
        return case;
    };
    let labels: Vec<Vec<String>> = read.features.iter().map(|one| one.labels.clone()).collect();
    let scores = read
        .people
        .iter()
        .map(|person| case.model.score(&person.seen));
    let threshold = threshold(scores.collect(), model.refused);

    case.model.threshold = threshold;
    for (f, plan) in features.iter().enumerate() {
        let rules = rules(f, features, &labels[f]);
        case.features[f].cost = cost(plan, &labels[f], &rules);
        case.features[f].rules = rules;
    }
    case
}

/// A threshold that refuses about the given share, and neither all nor nobody if scores differ.
fn threshold(mut scores: Vec<u64>, refused: usize) -> u64 {
    scores.sort();
    let (Some(least), Some(greatest)) = (scores.first(), scores.last()) else {
        return 0;
    };
    scores[scores.len() * refused / 100].clamp((least + 1).min(*greatest), *greatest)
}

fn feature(f: usize, plan: &FeaturePlan) -> Feature {
    let kind = match plan.kind {
        KindPlan::Categorical => Kind::Categorical,
        KindPlan::Ordinal => Kind::Ordinal {
            order: RANKS[..plan.levels].iter().map(|r| r.to_string()).collect(),
        },
        KindPlan::Exact => Kind::NumericExact {
            integer: plan.integer,
        },
        KindPlan::Binned => Kind::NumericBinned {
            integer: plan.integer,
            binning: binning(plan),
            model_sees: plan.model_sees,
            move_rule: plan.move_rule,
        },
    };
    let code = match plan.kind {
        KindPlan::Categorical | KindPlan::Ordinal => Cell::Text(TEXT_CODE.to_string()),
        KindPlan::Exact | KindPlan::Binned => Cell::Number(NUMBER_CODE),
    };
    Feature {
        name: NAMES[f].to_string(),
        kind,
        missing: plan.missing,
        missing_codes: if has_code(plan) {
            vec![code]
        } else {
            Vec::new()
        },
        rules: Rules::default(),
        cost: Cost::Categorical,
        weight: plan.weight,
    }
}

/// A number cannot be a code in a column that the model sees as labels.
fn has_code(plan: &FeaturePlan) -> bool {
    let by_label = plan.kind == KindPlan::Binned && plan.model_sees == ModelSees::Label;
    plan.has_code && !by_label
}

/// Numbers go from `base` in twelve steps; halves only where no edge can fall on a rounding tie.
fn step(plan: &FeaturePlan) -> f64 {
    match plan.binning {
        BinningPlan::EqualWidth(_) if plan.kind == KindPlan::Binned => 1.0,
        _ if plan.integer => 1.0,
        _ => 0.5,
    }
}

fn binning(plan: &FeaturePlan) -> Binning {
    let at = |steps: f64| plan.base + steps * step(plan);
    let open = vec![f64::NEG_INFINITY, at(3.0), at(7.5), f64::INFINITY];
    match plan.binning {
        BinningPlan::Quantiles(parts) => Binning::Quantiles(parts),
        BinningPlan::EqualWidth(parts) => Binning::EqualWidth(parts),
        BinningPlan::OpenEdges => Binning::Edges {
            edges: open,
            labels: None,
        },
        BinningPlan::ClosedEdges => Binning::Edges {
            edges: vec![at(0.0), at(3.0), at(6.0), at(14.0)],
            labels: None,
        },
        BinningPlan::LabelledEdges => Binning::Edges {
            edges: open,
            labels: Some(BIN_LABELS.iter().map(|label| label.to_string()).collect()),
        },
    }
}

fn person(row: &RowPlan, features: &[FeaturePlan], population: &PopulationPlan) -> Person {
    let cells = features
        .iter()
        .enumerate()
        .map(|(f, plan)| {
            let often = plan.often_missing && plan.missing == Missing::Level;
            let missing = usize::from(row.missing) == f + 1 || (often && row.cells[f] >= 9);
            let forgiven = plan.missing == Missing::Error && !population.keep_errors;
            if missing && !forgiven {
                missing_cell(plan, row.cells[f])
            } else {
                cell(plan, row.cells[f], population.trim_labels)
            }
        })
        .collect();
    let (first, second) = (usize::from(row.group), usize::from(row.group / 4));
    let values: Vec<&str> = match population.groups {
        GroupsPlan::Two => vec![["Male", "Female"][first % 2]],
        GroupsPlan::Three => vec![["Male", "Female", "Inter"][first % 3]],
        GroupsPlan::Merged => vec![["Male", "Female", "Inter", "male"][first % 4]],
        GroupsPlan::Crossed => vec![
            ["Male", "Female"][first % 2],
            ["White", "Black"][second % 2],
        ],
    };
    let last = values.len() - 1;
    Person {
        cells,
        protected: values
            .iter()
            .enumerate()
            .map(|(i, value)| (i < last || !row.without_group).then(|| value.to_string()))
            .collect(),
        weight: if population.weighted { row.weight } else { 1 },
    }
}

fn missing_cell(plan: &FeaturePlan, number: u8) -> Cell {
    if !has_code(plan) || number.is_multiple_of(2) {
        return Cell::Null;
    }
    match plan.kind {
        KindPlan::Categorical | KindPlan::Ordinal => Cell::Text(TEXT_CODE.to_string()),
        KindPlan::Exact | KindPlan::Binned => Cell::Number(NUMBER_CODE),
    }
}

fn cell(plan: &FeaturePlan, number: u8, trim_labels: bool) -> Cell {
    let level = usize::from(number) % plan.levels;
    let text = |label: &str| {
        let blanks = usize::from(number) / plan.levels % 3;
        Cell::Text(match blanks {
            1 if trim_labels => format!(" {label}"),
            2 if trim_labels => format!("{label}  "),
            _ => label.to_string(),
        })
    };
    match plan.kind {
        KindPlan::Categorical => text(CATEGORIES[level]),
        KindPlan::Ordinal => text(RANKS[level]),
        // Uneven steps, so that ranks and differences are not the same thing.
        KindPlan::Exact => Cell::Number(plan.base + (level * level) as f64 * step(plan)),
        // From the lowest inner edge on, so that the bin below it may have no width.
        KindPlan::Binned if plan.narrow => {
            Cell::Number(plan.base + (3 + level * level) as f64 * step(plan))
        }
        KindPlan::Binned => Cell::Number(plan.base + f64::from(number) * step(plan)),
    }
}

fn rules(f: usize, features: &[FeaturePlan], labels: &[String]) -> Rules {
    let plan = &features[f];
    let ordered = plan.kind != KindPlan::Categorical;
    let numeric = matches!(plan.kind, KindPlan::Exact | KindPlan::Binned);
    let label = |i: usize| labels[i % labels.len()].clone();
    if labels.is_empty() {
        return Rules::default();
    }
    Rules {
        immutable: plan.rules.immutable,
        increase: ordered && plan.rules.direction == 1,
        decrease: ordered && plan.rules.direction == 2,
        max_step: match plan.rules.step {
            1 if ordered => Some(MaxStep::Levels(1)),
            2 if ordered => Some(MaxStep::Levels(2)),
            3 if numeric => Some(MaxStep::Units(3.0 * step(plan))),
            _ => None,
        },
        not_a_target: plan.rules.not_a_target.into_iter().map(label).collect(),
        forbidden: plan
            .rules
            .forbidden
            .iter()
            .map(|(from, to)| (label(*from), label(*to)))
            .collect(),
        linked: plan
            .rules
            .linked
            .into_iter()
            .map(|other| other % features.len())
            .filter(|other| *other != f)
            .map(|other| NAMES[other].to_string())
            .collect(),
    }
}

fn cost(plan: &FeaturePlan, labels: &[String], rules: &Rules) -> Cost {
    let ordered = plan.kind != KindPlan::Categorical;
    let numeric = matches!(plan.kind, KindPlan::Exact | KindPlan::Binned);
    match plan.cost {
        CostPlan::Ordinal if ordered => Cost::Ordinal,
        CostPlan::Numeric { normalised } if numeric => Cost::Numeric { normalised },
        CostPlan::Table { offset, hole } => {
            let mut table = Vec::new();
            for (i, from) in labels.iter().enumerate() {
                for (j, to) in labels.iter().enumerate() {
                    let forbidden = rules.forbidden.iter().any(|(a, b)| a == from && b == to);
                    let is_hole = hole == Some(i * labels.len() + j);
                    if i != j && !forbidden && !is_hole {
                        let cost = TABLE_COSTS[(offset + 5 * i + 3 * j) % TABLE_COSTS.len()];
                        table.push((from.clone(), to.clone(), cost));
                    }
                }
            }
            Cost::Table(table)
        }
        _ => Cost::Categorical,
    }
}
