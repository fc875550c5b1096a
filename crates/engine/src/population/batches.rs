//! Record batches for the model.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::column::Column;

/// Builds record batches from rows of value codes.
#[derive(Debug)]
pub(crate) struct BatchMaker {
    schema: SchemaRef,
    values: Vec<ArrayRef>,
    /// Whether text is told by number.
    dictionaries: bool,
}

impl BatchMaker {
    pub(crate) fn new(schema: SchemaRef, columns: &[Column]) -> Self {
        Self {
            schema,
            values: columns.iter().map(Column::array).collect(),
            dictionaries: false,
        }
    }

    /// The same, with columns of text as dictionary arrays if that is wanted.
    pub(crate) fn with_dictionaries(mut self, wanted: bool) -> Self {
        self.dictionaries = wanted;
        if wanted {
            let fields = self.schema.fields().iter().zip(&self.values);
            let fields = fields.map(|(field, values)| {
                let field = field.as_ref().clone();
                if !is_text(values) {
                    return field;
                }
                let key = Box::new(DataType::UInt32);
                let value = Box::new(values.data_type().clone());
                field.with_data_type(DataType::Dictionary(key, value))
            });
            self.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        }
        self
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
        // Every code was handed out by the column whose values these are.
        let in_range = "codes are in range";
        let columns = self.values.iter().zip(codes).map(|(values, codes)| {
            let codes = UInt32Array::from(codes);
            if self.dictionaries && is_text(values) {
                let column = DictionaryArray::<UInt32Type>::try_new(codes, Arc::clone(values));
                return Arc::new(column.expect(in_range)) as ArrayRef;
            }
            arrow_select::take::take(values.as_ref(), &codes, None).expect(in_range)
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.collect(), &options)
            .expect("columns have the schema's types and one length")
    }
}

fn is_text(values: &dyn Array) -> bool {
    matches!(
        values.data_type(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}
