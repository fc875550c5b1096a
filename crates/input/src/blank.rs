//! Columns whose values nobody wants. They keep their names and places, and hold nothing.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// The columns of a table, some of them without values.
pub(crate) struct Blank {
    pub(crate) schema: SchemaRef,
    is_blank: Vec<bool>,
}

impl Blank {
    /// None if the table has no column of these names.
    pub(crate) fn new(schema: &Schema, names: &[String]) -> Option<Self> {
        let fields = schema.fields();
        let is_blank: Vec<bool> = fields.iter().map(|f| names.contains(f.name())).collect();
        let field = |(field, &is_blank): (&Arc<Field>, &bool)| match is_blank {
            true => Arc::new(Field::new(field.name(), DataType::Null, true)),
            false => Arc::clone(field),
        };
        let fields: Vec<Arc<Field>> = fields.iter().zip(&is_blank).map(field).collect();
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        is_blank.contains(&true).then(|| Self {
            schema: schema.into(),
            is_blank,
        })
    }

    /// Whether the column at a place has no values.
    pub(crate) fn is_blank(&self, place: usize) -> bool {
        self.is_blank[place]
    }

    /// A batch of all columns, from one of those that have values, or of all.
    pub(crate) fn fill(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let rows = batch.num_rows();
        let all = batch.num_columns() == self.is_blank.len();
        let mut read = batch.columns().iter();
        let column = |&is_blank: &bool| -> Option<ArrayRef> {
            let values = (all || !is_blank).then(|| read.next()).flatten();
            match is_blank {
                true => Some(Arc::new(NullArray::new(rows))),
                false => values.cloned(),
            }
        };
        let columns = self.is_blank.iter().filter_map(column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}
