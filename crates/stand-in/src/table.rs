//! From columns to a table that says what it is.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};

use crate::{NOTICE, NOTICE_KEY};

pub(crate) fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), array.null_count() > 0))
        .collect();
    let notice = HashMap::from([(NOTICE_KEY.to_owned(), NOTICE.to_owned())]);
    let schema = Arc::new(Schema::new_with_metadata(fields, notice));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    // The fields come from these very arrays, and all are as long as the table.
    RecordBatch::try_new(schema, arrays).expect("columns of one length")
}

/// A column of texts, each given by its place among a few values.
pub(crate) fn texts<T: AsRef<str>>(values: &[T], places: impl Iterator<Item = usize>) -> ArrayRef {
    let values = StringArray::from_iter_values(values.iter().map(AsRef::as_ref));
    let keys = Int8Array::from_iter_values(places.map(|place| place as i8));
    Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(values)))
}

pub(crate) fn numbers(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}
