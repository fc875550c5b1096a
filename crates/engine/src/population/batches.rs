//! Record batches for the model.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::column::Column;

/// Which columns come to a model as dictionary arrays: 32-bit numbers into the distinct values of the column,
/// none of them null. Such columns are made without copying a value, and who treats each distinct value once
/// need not find out again which is which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dictionaries {
    /// None: each has the type that it had in the table.
    #[default]
    None,
    /// Those of text.
    Text,
    /// All.
    All,
}

impl Dictionaries {
    fn hold(self, values: &dyn Array) -> bool {
        match self {
            Self::None => false,
            Self::Text => is_text(values),
            Self::All => true,
        }
    }
}

/// Builds record batches from rows of value codes.
#[derive(Debug)]
pub(crate) struct BatchMaker {
    schema: SchemaRef,
    values: Vec<ArrayRef>,
    dictionaries: Dictionaries,
}

impl BatchMaker {
    pub(crate) fn new(schema: SchemaRef, columns: &[Column]) -> Self {
        Self {
            schema,
            values: columns.iter().map(Column::array).collect(),
            dictionaries: Dictionaries::None,
        }
    }

    /// The same, with such columns as dictionary arrays.
    pub(crate) fn with_dictionaries(mut self, wanted: Dictionaries) -> Self {
        self.dictionaries = wanted;
        let fields = self.schema.fields().iter().zip(&self.values);
        let fields = fields.map(|(field, values)| {
            if !wanted.hold(values) {
                return Arc::clone(field);
            }
            let key = Box::new(DataType::UInt32);
            let value = Box::new(values.data_type().clone());
            let data_type = DataType::Dictionary(key, value);
            Arc::new(field.as_ref().clone().with_data_type(data_type))
        });
        self.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
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
            if self.dictionaries.hold(values) {
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
