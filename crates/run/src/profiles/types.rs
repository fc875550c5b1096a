//! Types of columns of profiles: few, so that what different tools wrote can be added up.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use facts_engine::population::as_type;
use facts_input::{Options, Part};

use super::KEY;
use crate::failure::Failure;

/// The types that profiles in several parts have together, by column; none if the parts hold rows. A column
/// that is whole numbers here and others there holds numbers, and one that is missing here is what it is there.
pub(crate) fn common(
    parts: &[Part],
    options: &Options,
) -> Result<Option<HashMap<String, DataType>>, Failure> {
    let mut known: HashMap<String, (DataType, String)> = HashMap::new();
    for part in parts {
        let Some(schema) = facts_input::described(part, options)? else {
            continue;
        };
        // Whether all parts hold profiles is looked at when they are read.
        if !schema.metadata().contains_key(KEY) {
            return Ok(None);
        }
        let name = part.location.to_string();
        for field in schema.fields() {
            let (column, now) = (field.name(), plain(field.data_type()));
            let both = match known.get(column) {
                None => now,
                Some((before, first)) => wider(before, &now).ok_or_else(|| {
                    Failure::data(format!(
                        "{name} is no part of this table: its column `{column}` is {now}, and {before} in {first}; write the profiles again with values of one kind there"
                    ))
                })?,
            };
            let first = known
                .get(column)
                .map_or_else(|| name.clone(), |(_, first)| first.clone());
            known.insert(column.clone(), (both, first));
        }
    }
    let types = known.into_iter().map(|(column, (kind, _))| (column, kind));
    Ok((types.len() > 0).then(|| types.collect()))
}

/// A batch of profiles with its columns in these types.
pub(crate) fn widened(
    batch: &RecordBatch,
    types: &HashMap<String, DataType>,
) -> Result<RecordBatch, Failure> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, array)| -> Result<(Field, ArrayRef), Failure> {
        let name = field.name();
        let array = match types.get(name) {
            Some(wanted) if wanted != field.data_type() => as_type(name, array, wanted)?,
            _ => Arc::clone(array),
        };
        Ok((Field::new(name, array.data_type().clone(), true), array))
    });
    let columns: Result<Vec<_>, Failure> = columns.collect();
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns?.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| Failure::data(error.to_string()))
}

/// The type that profiles have for values of a type. Others than these cannot be read, which is said by whoever
/// reads them.
fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        kind if kind.is_integer() => DataType::Int64,
        kind if kind.is_floating() => DataType::Float64,
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        other => other.clone(),
    }
}

/// The type that can hold the values of both.
fn wider(one: &DataType, other: &DataType) -> Option<DataType> {
    match (one, other) {
        (same, other) if same == other => Some(same.clone()),
        (DataType::Null, kind) | (kind, DataType::Null) => Some(kind.clone()),
        (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => {
            Some(DataType::Float64)
        }
        _ => None,
    }
}
