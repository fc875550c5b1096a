//! Record batches for the model.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::SchemaRef;

use super::column::Column;

/// Builds record batches from rows of value codes.
#[derive(Debug)]
pub(crate) struct BatchMaker {
    schema: SchemaRef,
    values: Vec<ArrayRef>,
}

impl BatchMaker {
    pub(crate) fn new(schema: SchemaRef, columns: &[Column]) -> Self {
        Self {
            schema,
            values: columns.iter().map(Column::array).collect(),
        }
    }

    /// The batch of these rows.
    pub(crate) fn batch<'a>(&self, rows: impl ExactSizeIterator<Item = &'a [u32]>) -> RecordBatch {
        let length = rows.len();
        let mut codes = vec![Vec::with_capacity(length); self.values.len()];
        for row in rows {
            for (column, &code) in codes.iter_mut().zip(row) {
                column.push(code);
            }
        }
        self.of_codes(codes, length)
    }

    /// The batch of so many rows whose codes are given column by column.
    pub(crate) fn of_codes(&self, codes: Vec<Vec<u32>>, rows: usize) -> RecordBatch {
        let columns = self.values.iter().zip(codes).map(|(values, codes)| {
            let indices = UInt32Array::from(codes);
            // Every code was handed out by the column whose values these are.
            arrow_select::take::take(values.as_ref(), &indices, None).expect("codes are in range")
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.collect(), &options)
            .expect("columns have the schema's types and one length")
    }
}
