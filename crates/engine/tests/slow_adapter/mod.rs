//! From the slow reference's terms to the engine's: a [`Case`] becomes a table, a declaration,
//! options and a model; a definition or a filter becomes the engine's own. `same` compares what
//! both found, number by number.

// A helper module of a test binary: not every test uses every part, and none of it is exported.
#![allow(dead_code, unreachable_pub)]

pub mod same;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use facts_engine::actions::Validity;
use facts_engine::definitions::{
    Definition, EqualChoice, EqualCostOfEffectiveness, EqualEffectiveness,
    EqualEffectivenessWithinBudget, EqualMeanRecourse, FairTradeOff,
};
use facts_engine::distribution::Viewpoint;
use facts_engine::flips::FnModel;
use facts_engine::population::{
    Bins, Declaration, Direction, Distance, Edges, Feature, Kind, Missing, Move, Population,
    Protected, Rules, Step, View,
};
use facts_engine::ranking::{ActionFilter, Filters};
use facts_engine::{Audit, Decimal, Error, Options, Phi, Watch, audit};

use crate::slow::case::{self, Case, Cell, ModelRow};
use crate::slow::decimal;
use crate::slow::definitions::Definition as SlowDefinition;
use crate::slow::ecd::Viewpoint as SlowViewpoint;
use crate::slow::filters::Filters as SlowFilters;

/// The name of the weight column.
pub const WEIGHT: &str = "people";

/// What the engine finds in a case.
pub fn engine(case: &Case) -> Result<Audit, Error> {
    engine_with(case, &[table(case)], &options(case))
}

/// What the engine finds in a case that comes as these batches, with these options.
pub fn engine_with(
    case: &Case,
    batches: &[RecordBatch],
    options: &Options,
) -> Result<Audit, Error> {
    let population = declaration(case).read(batches)?;
    audit(&population, &model(case), options, Watch::nobody())
}

/// The case as a population, for questions about it.
pub fn population(case: &Case) -> Result<Population, Error> {
    declaration(case).read([table(case)])
}

/// The people of a case as a table: texts, integers and floats in Arrow's own types.
pub fn table(case: &Case) -> RecordBatch {
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut add = |name: &str, column: ArrayRef| {
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    };
    for (f, feature) in case.features.iter().enumerate() {
        let cells = case.people.iter().map(|person| &person.cells[f]);
        add(&feature.name, column(&feature.kind, cells));
    }
    if is_weighted(case) {
        let weights = case.people.iter().map(|person| person.weight as i64);
        add(WEIGHT, Arc::new(Int64Array::from_iter_values(weights)));
    }
    for (p, name) in case.protected.iter().enumerate() {
        let values = case.people.iter().map(|one| one.protected[p].as_deref());
        add(name, Arc::new(values.collect::<StringArray>()));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn is_weighted(case: &Case) -> bool {
    case.people.iter().any(|person| person.weight != 1)
}

fn column<'c>(kind: &case::Kind, cells: impl Iterator<Item = &'c Cell>) -> ArrayRef {
    let number = |cell: &Cell| match cell {
        Cell::Number(number) => Some(*number),
        Cell::Null | Cell::Text(_) => None,
    };
    match kind {
        case::Kind::Categorical | case::Kind::Ordinal { .. } => {
            let texts = cells.map(|cell| match cell {
                Cell::Text(text) => Some(text.as_str()),
                Cell::Null | Cell::Number(_) => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
        case::Kind::NumericExact { integer: true }
        | case::Kind::NumericBinned { integer: true, .. } => {
            let numbers = cells.map(|cell| number(cell).map(|number| number as i64));
            Arc::new(numbers.collect::<Int64Array>())
        }
        case::Kind::NumericExact { .. } | case::Kind::NumericBinned { .. } => {
            Arc::new(cells.map(number).collect::<Float64Array>())
        }
    }
}

/// What a case declares about its columns.
pub fn declaration(case: &Case) -> Declaration {
    let mut declaration = Declaration::new()
        .features(case.features.iter().map(feature))
        .trim(case.trim_labels);
    for name in &case.protected {
        let mut attribute = Protected::attribute(name);
        for group in &case.merge {
            attribute = attribute.merge(&group.name, group.values.clone());
        }
        declaration = declaration.protected(attribute);
    }
    if is_weighted(case) {
        declaration = declaration.weight(WEIGHT);
    }
    declaration
}

fn feature(feature: &case::Feature) -> Feature {
    let kind = match &feature.kind {
        case::Kind::Categorical => Kind::Categorical,
        case::Kind::Ordinal { order } => Kind::Ordinal(order.clone()),
        case::Kind::NumericExact { .. } => Kind::Numeric,
        case::Kind::NumericBinned {
            binning,
            model_sees,
            move_rule,
            ..
        } => Kind::Binned(bins(binning, *model_sees, *move_rule)),
    };
    let codes = feature.missing_codes.iter().map(|code| match code {
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => number.to_string(),
        Cell::Null => unreachable!("null needs no code"),
    });
    Feature::new(&feature.name, kind)
        .missing(match feature.missing {
            case::Missing::Drop => Missing::Drop,
            case::Missing::Level => Missing::Level,
            case::Missing::Error => Missing::Error,
        })
        .missing_codes(codes)
        .rules(rules(&feature.rules))
        .distance(match &feature.cost {
            case::Cost::Categorical => Distance::Categorical,
            case::Cost::Ordinal => Distance::Ordinal,
            case::Cost::Numeric { normalised } => Distance::Numeric {
                normalised: *normalised,
            },
            case::Cost::Table(rows) => Distance::Table(rows.clone()),
        })
        .weight(feature.weight)
}

fn bins(binning: &case::Binning, model_sees: case::ModelSees, move_rule: case::MoveRule) -> Bins {
    let (edges, labels) = match binning {
        case::Binning::Quantiles(parts) => (Edges::Quantiles(*parts), None),
        case::Binning::EqualWidth(parts) => (Edges::EqualWidth(*parts), None),
        case::Binning::Edges { edges, labels } => (Edges::At(edges.clone()), labels.clone()),
    };
    let view = match (model_sees, move_rule) {
        (case::ModelSees::Label, _) => View::Label,
        (case::ModelSees::Raw, case::MoveRule::Linear) => View::Raw(Move::Linear),
        (case::ModelSees::Raw, case::MoveRule::Median) => View::Raw(Move::Median),
        (case::ModelSees::Raw, case::MoveRule::Nearest) => View::Raw(Move::Nearest),
    };
    Bins {
        edges,
        labels,
        view,
    }
}

fn rules(rules: &case::Rules) -> Rules {
    Rules {
        immutable: rules.immutable,
        direction: match (rules.increase, rules.decrease) {
            (false, false) => None,
            (true, false) => Some(Direction::Increase),
            (false, true) => Some(Direction::Decrease),
            (true, true) => unreachable!("no case forbids both directions"),
        },
        max_step: rules.max_step.map(|step| match step {
            case::MaxStep::Levels(most) => Step::Levels(most),
            case::MaxStep::Units(most) => Step::Units(most),
        }),
        not_a_target: rules.not_a_target.clone(),
        forbidden: rules.forbidden.clone(),
        linked: rules.linked.clone(),
        allowed: None,
    }
}

/// How a case is to be audited.
pub fn options(case: &Case) -> Options {
    let options = Options::new()
        .support(case.options.support.text().parse().unwrap())
        .validity(match case.options.validity {
            case::Validity::Joint => Validity::Joint,
            case::Validity::Subset => Validity::Subset,
        })
        .ranges(case.options.ranges)
        .min_members(case.options.min_members)
        .min_group_size(case.min_group_size);
    match case.options.max_length {
        None => options,
        Some(most) => options.max_length(most),
    }
}

/// The case's model, asked through batches.
pub fn model(case: &Case) -> FnModel<impl Fn(&RecordBatch) -> Vec<bool> + Sync> {
    FnModel::new(|batch: &RecordBatch| {
        let rows = model_rows(case, batch).into_iter();
        rows.map(|row| case.model.favourable(&row)).collect()
    })
}

/// A batch in the terms of the case's model.
pub fn model_rows(case: &Case, batch: &RecordBatch) -> Vec<ModelRow> {
    let cells = |name: &str| -> Vec<Cell> {
        let column = batch.column_by_name(name).unwrap();
        (0..batch.num_rows()).map(|i| cell(column, i)).collect()
    };
    let names = case.features.iter().map(|feature| &feature.name);
    let features: Vec<Vec<Cell>> = names.map(|name| cells(name)).collect();
    let protected: Vec<Vec<Cell>> = case.protected.iter().map(|name| cells(name)).collect();
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Null | Cell::Number(_) => unreachable!("protected values are texts"),
    };
    (0..batch.num_rows())
        .map(|i| ModelRow {
            cells: features.iter().map(|column| column[i].clone()).collect(),
            protected: protected.iter().map(|column| text(&column[i])).collect(),
        })
        .collect()
}

fn cell(column: &ArrayRef, i: usize) -> Cell {
    if column.is_null(i) {
        return Cell::Null;
    }
    match column.data_type() {
        DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(i).to_owned()),
        DataType::Int64 => Cell::Number(column.as_primitive::<Int64Type>().value(i) as f64),
        DataType::Float64 => Cell::Number(column.as_primitive::<Float64Type>().value(i)),
        other => unreachable!("no case has a column of {other}"),
    }
}

/// The engine's share φ.
pub fn phi(phi: decimal::Decimal) -> Phi {
    phi.text().parse().unwrap()
}

/// The engine's viewpoint.
pub fn viewpoint(view: SlowViewpoint) -> Viewpoint {
    match view {
        SlowViewpoint::Micro => Viewpoint::Micro,
        SlowViewpoint::Macro => Viewpoint::Macro,
    }
}

/// The engine's definition.
pub fn definition(definition: &SlowDefinition) -> Box<dyn Definition> {
    match *definition {
        SlowDefinition::Effectiveness(view) => Box::new(EqualEffectiveness::new(viewpoint(view))),
        SlowDefinition::Choice { phi: share } => Box::new(EqualChoice::new(phi(share))),
        SlowDefinition::WithinBudget { view, budget } => {
            Box::new(EqualEffectivenessWithinBudget::new(viewpoint(view), budget).unwrap())
        }
        SlowDefinition::CostOfEffectiveness { view, phi: share } => {
            Box::new(EqualCostOfEffectiveness::new(viewpoint(view), phi(share)))
        }
        SlowDefinition::TradeOff { view, alpha } => {
            let alpha = Decimal::from_f64(alpha).unwrap();
            Box::new(FairTradeOff::new(viewpoint(view)).alpha(alpha).unwrap())
        }
        SlowDefinition::MeanRecourse { c_infinity: None } => {
            Box::new(EqualMeanRecourse::conditional())
        }
        SlowDefinition::MeanRecourse {
            c_infinity: Some(cost),
        } => Box::new(EqualMeanRecourse::over_all(cost).unwrap()),
    }
}

/// The engine's filters.
pub fn filters(filters: &SlowFilters, audit: &Audit) -> Filters {
    let mut actions = Vec::new();
    actions.extend(
        filters
            .at_least
            .map(|share| ActionFilter::AtLeast(phi(share))),
    );
    actions.extend(filters.at_most.map(ActionFilter::AtMost));
    actions.extend(filters.least_cost.then_some(ActionFilter::LeastCost));
    Filters {
        drop_fair: filters.drop_fair,
        drop_contained: filters.drop_contained,
        against: filters.against.as_ref().map(|name| {
            let place = audit.groups.iter().position(|group| group.name == *name);
            place.unwrap()
        }),
        all_actions: filters.all_actions,
        actions,
    }
}
