//! Rows on their way to a model in another process: named as the model names them, in types that
//! every reader knows, and cell by cell for formats that are text.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use facts_engine::flips::ModelError;
use serde::Serialize;

/// The rows as the model knows them.
///
/// `columns` has the table's column for each of the model's inputs that is called otherwise. Text
/// comes as plain `Utf8`: not every Arrow library reads the newer layouts.
pub(crate) fn as_the_model_calls_them(
    rows: &RecordBatch,
    columns: &BTreeMap<String, String>,
) -> Result<RecordBatch, ModelError> {
    let mut fields = Vec::with_capacity(rows.num_columns());
    let mut arrays = Vec::with_capacity(rows.num_columns());
    let mut add = |name: &str, array: &ArrayRef| -> Result<(), ModelError> {
        let array = plain(name, array)?;
        // Always nullable: whether a batch happens to have nulls must not change the schema.
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
        Ok(())
    };
    for (input, column) in columns {
        let array = rows.column_by_name(column).ok_or_else(|| {
            ModelError::column(column, format!("the model's input `{input}` is to be read from it, but the model is not given it; declare it as a feature or as context"))
        })?;
        add(input, array)?;
    }
    for (field, array) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        let name = field.name();
        let is_given = columns.contains_key(name) || columns.values().any(|column| column == name);
        if !is_given {
            add(name, array)?;
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| ModelError::Failed(error.to_string()))
}

/// The same values in a type that every Arrow library reads.
pub(crate) fn plain(column: &str, array: &ArrayRef) -> Result<ArrayRef, ModelError> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let values = arrow_select::take::take(dictionary.values(), dictionary.keys(), None)
            .map_err(|error| ModelError::column(column, error.to_string()))?;
        return plain(column, &values);
    }
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(StringArray::from_iter(array.as_string_view())),
        DataType::LargeUtf8 => Arc::new(StringArray::from_iter(array.as_string::<i64>())),
        _ => Arc::clone(array),
    })
}

/// One value. In JSON a float keeps its point, so that it stays a float on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'a str),
}

impl Cell<'_> {
    /// The value as a number, if it is one.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(value as f64),
            Self::Unsigned(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Null | Self::Boolean(_) | Self::Text(_) => None,
        }
    }
}

/// A column whose cells can be looked at one by one.
pub(crate) struct Cells<'a> {
    name: &'a str,
    array: &'a dyn Array,
    cell: fn(&dyn Array, usize) -> Cell<'_>,
}

impl<'a> Cells<'a> {
    /// The columns of a batch.
    pub(crate) fn of(rows: &'a RecordBatch) -> Result<Vec<Self>, ModelError> {
        let fields = rows.schema_ref().fields().iter();
        fields
            .zip(rows.columns())
            .map(|(field, array)| Self::new(field.name(), array))
            .collect()
    }

    /// One column, of a type that [`plain`] makes.
    pub(crate) fn new(name: &'a str, array: &'a dyn Array) -> Result<Self, ModelError> {
        macro_rules! numbers {
            ($type:ty, $cell:ident) => {
                |array, row| Cell::$cell(array.as_primitive::<$type>().value(row).into())
            };
        }
        let cell: fn(&dyn Array, usize) -> Cell<'_> = match array.data_type() {
            DataType::Null => |_, _| Cell::Null,
            DataType::Boolean => |array, row| Cell::Boolean(array.as_boolean().value(row)),
            DataType::Int8 => numbers!(Int8Type, Integer),
            DataType::Int16 => numbers!(Int16Type, Integer),
            DataType::Int32 => numbers!(Int32Type, Integer),
            DataType::Int64 => numbers!(Int64Type, Integer),
            DataType::UInt8 => numbers!(UInt8Type, Unsigned),
            DataType::UInt16 => numbers!(UInt16Type, Unsigned),
            DataType::UInt32 => numbers!(UInt32Type, Unsigned),
            DataType::UInt64 => numbers!(UInt64Type, Unsigned),
            DataType::Float32 => numbers!(Float32Type, Float),
            DataType::Float64 => numbers!(Float64Type, Float),
            DataType::Utf8 => |array, row| Cell::Text(array.as_string::<i32>().value(row)),
            other => {
                return Err(ModelError::column(
                    name,
                    format!(
                        "values of type {other} cannot be given to the model; use booleans, numbers or text"
                    ),
                ));
            }
        };
        Ok(Self { name, array, cell })
    }

    /// What the model calls it.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// Its Arrow type.
    pub(crate) fn data_type(&self) -> &'a DataType {
        self.array.data_type()
    }

    /// Whether any value is missing. NaN counts: JSON has no word for it.
    pub(crate) fn any_missing(&self) -> bool {
        (0..self.array.len()).any(|row| self.get(row) == Cell::Null)
    }

    /// Writes one value so that no other value is written alike, NaN and infinities included.
    pub(crate) fn write(&self, row: usize, bytes: &mut Vec<u8>) {
        match self.exact(row) {
            Cell::Null => bytes.push(0),
            Cell::Boolean(value) => bytes.extend([1, u8::from(value)]),
            Cell::Integer(value) => {
                bytes.push(2);
                bytes.extend(value.to_le_bytes());
            }
            Cell::Unsigned(value) => {
                bytes.push(3);
                bytes.extend(value.to_le_bytes());
            }
            Cell::Float(value) => {
                bytes.push(4);
                bytes.extend(value.to_bits().to_le_bytes());
            }
            Cell::Text(value) => {
                bytes.push(5);
                bytes.extend((value.len() as u64).to_le_bytes());
                bytes.extend(value.as_bytes());
            }
        }
    }

    /// One value, NaN and infinities included.
    pub(crate) fn exact(&self, row: usize) -> Cell<'a> {
        if self.array.is_null(row) {
            return Cell::Null;
        }
        (self.cell)(self.array, row)
    }

    /// One value; NaN and infinities are null.
    pub(crate) fn get(&self, row: usize) -> Cell<'a> {
        match self.exact(row) {
            Cell::Float(value) if !value.is_finite() => Cell::Null,
            cell => cell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type as Key;
    use arrow_array::{DictionaryArray, Float64Array, Int32Array, StringViewArray};

    fn table() -> RecordBatch {
        let job: DictionaryArray<Key> = [Some("clerk"), None].into_iter().collect();
        RecordBatch::try_from_iter([
            ("job", Arc::new(job) as ArrayRef),
            (
                "city",
                Arc::new(StringViewArray::from(vec!["Oslo", "Bergen"])),
            ),
            ("hours", Arc::new(Int32Array::from(vec![40, -1]))),
            ("debt", Arc::new(Float64Array::from(vec![f64::NAN, 0.1]))),
        ])
        .unwrap()
    }

    #[test]
    fn text_becomes_plain_and_inputs_get_the_models_names() {
        let columns = BTreeMap::from([("occupation".to_owned(), "job".to_owned())]);
        let sent = as_the_model_calls_them(&table(), &columns).unwrap();
        let schema = sent.schema();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["occupation", "city", "hours", "debt"]);
        assert_eq!(sent.column(0).data_type(), &DataType::Utf8);
        assert_eq!(sent.column(1).data_type(), &DataType::Utf8);

        let columns = BTreeMap::from([("age".to_owned(), "years".to_owned())]);
        let error = as_the_model_calls_them(&table(), &columns).unwrap_err();
        assert!(error.to_string().contains("input `age`"), "{error}");
    }

    #[test]
    fn cells_keep_their_types() {
        let sent = as_the_model_calls_them(&table(), &BTreeMap::new()).unwrap();
        let cells = Cells::of(&sent).unwrap();
        let row = |row: usize| cells.iter().map(|c| c.get(row)).collect::<Vec<_>>();
        assert_eq!(
            row(0),
            [
                Cell::Text("clerk"),
                Cell::Text("Oslo"),
                Cell::Integer(40),
                Cell::Null
            ]
        );
        assert_eq!(
            row(1),
            [
                Cell::Null,
                Cell::Text("Bergen"),
                Cell::Integer(-1),
                Cell::Float(0.1)
            ]
        );
    }
}
