//! Which columns of a table become columns of profiles, and what is said of each.

use facts_engine::population::{EncodedColumn, Kind, Value};
use facts_models::input_of;

use super::manifest::{Kept, Manifest};
use crate::columns::Columns;
use crate::config::Config;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model;
use crate::table::Table;

/// What each column is under this configuration, and those that are kept: all that an audit or its model sees.
/// What would tell who somebody is, is kept only for a model that is known to read it.
pub(super) fn decided(
    config: &Config,
    table: &Table,
    listener: &dyn Listener,
) -> Result<(Columns, Vec<Kept>), Failure> {
    let inputs = model::inputs(config, listener)?;
    let columns = Columns::decide(config, &table.cells, inputs.as_deref())?;
    let is_read = |name: &str| {
        let inputs = inputs.as_deref();
        inputs.is_some_and(|inputs| input_of(inputs, name).is_some())
    };
    let context = columns.declaration.declared_context();
    let (mut kept, mut left_out, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for role in &columns.roles {
        let name = role.column.as_str();
        let is_seen = context.iter().any(|column| column == name);
        match (role.role, &role.why) {
            ("ignored", _) if is_seen && (!role.tells_who || is_read(name)) => {
                added.push(name);
                kept.push(Kept::new(name, "context"));
            }
            ("ignored", Some(why)) => left_out.push(format!("{name} ({why})")),
            // As the user says.
            ("ignored", None) => {}
            (role, _) => kept.push(Kept::new(name, role)),
        }
    }
    if !added.is_empty() {
        listener.note(&format!(
            "kept for the model, though the audit does not speak of them: {}",
            added.join(", ")
        ));
    }
    if !left_out.is_empty() {
        listener.note(&format!(
            "left out: {}; name those that the model reads in `data.context`",
            left_out.join(", ")
        ));
    }
    for feature in columns.declaration.declared_features() {
        let mut kept = kept.iter_mut();
        if let Some(column) = kept.find(|column| column.name == feature.name()) {
            column.add_codes(feature.codes_for_missing());
            if let Kind::Ordinal(order) = feature.kind() {
                column.order = Some(order.clone());
            }
        }
    }
    Ok((columns, kept))
}

/// The columns of other profiles, which are those of this table, too. Fails if some are missing here, or if it holds what
/// they have no place for.
pub(super) fn like(
    other: &Manifest,
    config: &Config,
    table: &Table,
    suppress_below: Option<u64>,
    listener: &dyn Listener,
) -> Result<Vec<Kept>, Failure> {
    check_roles(other, config)?;
    let names = table.names();
    let gone: Vec<&str> = (other.columns.iter())
        .map(|column| column.name.as_str())
        .filter(|name| !names.contains(name))
        .collect();
    if !gone.is_empty() {
        return Err(Failure::data(format!(
            "{}: the profiles of --bins-from have columns that this table does not have: {}; add them to the table, or make those profiles again without them",
            table.origin.name,
            gone.join(", ")
        )));
    }
    let is_new = |name: &&&str| {
        let known = other.columns.iter().any(|column| column.name == **name);
        !known && !config.data.ignore.iter().any(|ignored| ignored == **name)
    };
    let new: Vec<&str> = names.iter().filter(is_new).copied().collect();
    if !new.is_empty() {
        listener.note(&format!(
            "left out, because the profiles of --bins-from do not have them: {}",
            new.join(", ")
        ));
    }
    let mut raw = Vec::new();
    let mut columns = Vec::with_capacity(other.columns.len());
    for column in &other.columns {
        let encoded = table.cells.column(&column.name)?;
        let codes = column.codes_with(config);
        if let Some(order) = &column.order {
            check_levels(encoded, order, &codes, suppress_below)?;
        }
        let is_free = column.bins.is_none() && column.order.is_none();
        if is_free && column.role == "feature" && encoded.column().data_type().is_numeric() {
            raw.push(column.name.as_str());
        }
        let mut column = column.clone();
        column.add_codes(&codes);
        columns.push(column);
    }
    if !raw.is_empty() {
        listener.note(&format!(
            "numbers that the profiles of --bins-from do not cut stay as they are: {}",
            raw.join(", ")
        ));
    }
    Ok(columns)
}

/// What the configuration says of columns must be what they are in the other profiles.
fn check_roles(other: &Manifest, config: &Config) -> Result<(), Failure> {
    let data = &config.data;
    let protected = config.protected.keys().map(|name| ("protected", name));
    let label = config.label.column.iter().map(|name| ("label", name));
    let weight = data.weight.iter().map(|name| ("weight", name));
    let context = data.context.iter().map(|name| ("context", name));
    let features = config.features.keys().chain(config.overrides.keys());
    let features = features.map(|name| ("feature", name));
    let ignored = data.ignore.iter().map(|name| ("ignored", name));
    let said = protected.chain(label).chain(weight).chain(context);
    for (role, name) in said.chain(features).chain(ignored) {
        let known = other.columns.iter().find(|column| column.name == *name);
        match known {
            Some(known) if known.role != role => {
                return Err(Failure::usage(format!(
                    "`{name}` is to be {role} here, and is {} in the profiles of --bins-from; say of it what they say, or nothing",
                    known.role
                )));
            }
            None if ["protected", "label", "weight"].contains(&role) => {
                return Err(Failure::usage(format!(
                    "`{name}` is to be {role} here, and the profiles of --bins-from do not have it"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// All values of an ordered column must have a place in the order, but for those of rows that are left out anyway.
fn check_levels(
    encoded: &EncodedColumn,
    order: &[String],
    codes: &[String],
    suppress_below: Option<u64>,
) -> Result<(), Failure> {
    let column = encoded.column();
    let missing = column.missing(codes);
    for ((value, rows), is_missing) in column.values().iter().zip(encoded.counts()).zip(missing) {
        let label = value.label();
        let is_left_out = suppress_below.is_some_and(|k| (rows as u64) < k);
        if !is_missing && !is_left_out && !order.iter().any(|level| level == label.trim()) {
            return Err(Failure::data(format!(
                "column `{}` holds `{label}`, which has no place in the order of the profiles of --bins-from: {}; make those again with an order that has it, or name it with --missing-code",
                column.name(),
                order.join(" < ")
            )));
        }
    }
    Ok(())
}

/// The columns with only those levels and codes that may be named: where small counts are left out, those that
/// `known` profiles name, or that enough rows hold.
pub(super) fn told(
    columns: &[Kept],
    table: &Table,
    suppress_below: Option<u64>,
    known: Option<&Manifest>,
) -> Result<Vec<Kept>, Failure> {
    let mut told = columns.to_vec();
    let Some(k) = suppress_below else {
        return Ok(told);
    };
    for column in &mut told {
        let encoded = table.cells.column(&column.name)?;
        let known = known.and_then(|known| known.columns.iter().find(|c| c.name == column.name));
        let known_codes = known.map_or(&[][..], |known| &known.missing_codes);
        let known_order = known.and_then(|known| known.order.as_deref());
        column.missing_codes.retain(|code| {
            known_codes.contains(code) || rows_with(encoded, |value| value.reads_as(code)) >= k
        });
        if let Some(order) = &mut column.order {
            order.retain(|level| {
                known_order.is_some_and(|known| known.contains(level))
                    || rows_with(encoded, |value| value.label().trim() == level.trim()) >= k
            });
        }
    }
    Ok(told)
}

/// How many rows hold a value like this.
fn rows_with(encoded: &EncodedColumn, is_it: impl Fn(&Value) -> bool) -> u64 {
    let held = encoded.column().values().iter().zip(encoded.counts());
    let rows = held
        .filter(|(value, _)| is_it(value))
        .map(|(_, rows)| rows as u64);
    rows.sum()
}
