//! Rows on their way to a model in another process: named as the model names them, in types that
//! every reader knows, and cell by cell for formats that are text.
//!
//! An audit asks for millions of rows that hold few values. Where rows come as numbers into the distinct
//! values of a column, each value is converted once a batch, and rows only copy what it became.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use facts_engine::flips::ModelError;
use serde::Serialize;

/// The rows as the model knows them, each column in a type that `simple` makes: [`plain`] or [`numbered`].
///
/// `columns` has the table's column for each of the model's inputs that is called otherwise.
pub(crate) fn as_the_model_calls_them(
    rows: &RecordBatch,
    columns: &BTreeMap<String, String>,
    simple: fn(&str, &ArrayRef) -> Result<ArrayRef, ModelError>,
) -> Result<RecordBatch, ModelError> {
    let mut fields = Vec::with_capacity(rows.num_columns());
    let mut arrays = Vec::with_capacity(rows.num_columns());
    let mut add = |name: &str, array: &ArrayRef| -> Result<(), ModelError> {
        let array = simple(name, array)?;
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

/// The same values in a type that every Arrow library reads: text as `Utf8`, and no dictionaries.
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

/// The same values in a type that [`Cells`] can be made of: [`plain`], or 32-bit numbers into plain values.
pub(crate) fn numbered(column: &str, array: &ArrayRef) -> Result<ArrayRef, ModelError> {
    match as_numbered(array) {
        Some(rows) => Ok(Arc::new(rows.with_values(plain(column, rows.values())?))),
        None => plain(column, array),
    }
}

/// A dictionary array that gives each row a number.
fn as_numbered(array: &dyn Array) -> Option<&DictionaryArray<UInt32Type>> {
    let rows = array.as_dictionary_opt::<UInt32Type>()?;
    (rows.keys().null_count() == 0).then_some(rows)
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

    /// The same, with NaN and infinities as null, for formats that have no word for them.
    pub(crate) fn finite(self) -> Self {
        match self {
            Self::Float(value) if !value.is_finite() => Self::Null,
            cell => cell,
        }
    }
}

/// A column whose cells can be looked at one by one.
pub(crate) struct Cells<'a> {
    name: &'a str,
    /// What the rows hold: row by row, or the distinct values that their numbers stand for.
    values: &'a dyn Array,
    numbers: Option<&'a [u32]>,
    cell: fn(&dyn Array, usize) -> Cell<'_>,
}

/// What the cells of a column became: each distinct one is there once, where rows have numbers.
pub(crate) struct Converted<T> {
    values: Vec<T>,
    /// By row: its place among these.
    places: Vec<u32>,
}

impl<T> Converted<T> {
    /// What the cell of a row became.
    pub(crate) fn get(&self, row: usize) -> &T {
        &self.values[self.places[row] as usize]
    }

    /// What the cells became, row by row.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.places
            .iter()
            .map(|&place| &self.values[place as usize])
    }

    /// The distinct ones, and for each row its place among them.
    pub(crate) fn into_parts(self) -> (Vec<T>, Vec<u32>) {
        (self.values, self.places)
    }
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

    /// One column, of a type that [`numbered`] makes.
    pub(crate) fn new(name: &'a str, array: &'a dyn Array) -> Result<Self, ModelError> {
        macro_rules! numbers {
            ($type:ty, $cell:ident) => {
                |array, row| Cell::$cell(array.as_primitive::<$type>().value(row).into())
            };
        }
        let (values, numbers) = match as_numbered(array) {
            Some(rows) => (rows.values().as_ref(), Some(rows.keys().values().as_ref())),
            None => (array, None),
        };
        let cell: fn(&dyn Array, usize) -> Cell<'_> = match values.data_type() {
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
        Ok(Self {
            name,
            values,
            numbers,
            cell,
        })
    }

    /// What the model calls it.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// The Arrow type of its values.
    pub(crate) fn data_type(&self) -> &'a DataType {
        self.values.data_type()
    }

    /// How many rows it has.
    fn rows(&self) -> usize {
        self.numbers.map_or(self.values.len(), <[u32]>::len)
    }

    /// Whether any value is missing. NaN counts: JSON has no word for it.
    pub(crate) fn any_missing(&self) -> bool {
        (0..self.rows()).any(|row| self.exact(row).finite() == Cell::Null)
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
        let place = self.numbers.map_or(row, |numbers| numbers[row] as usize);
        if self.values.is_null(place) {
            return Cell::Null;
        }
        (self.cell)(self.values, place)
    }

    /// All values, converted. Only what some row holds is: a column may know values that nobody has.
    pub(crate) fn converted<T, E>(
        &self,
        mut convert: impl FnMut(Cell<'a>) -> Result<T, E>,
    ) -> Result<Converted<T>, E> {
        const NOT_YET: u32 = u32::MAX;
        let rows = self.rows();
        let mut values = Vec::new();
        // To make room for all values is worth it where rows share them.
        let numbers = self.numbers.filter(|_| self.values.len() <= rows);
        let mut known = vec![NOT_YET; numbers.map_or(0, |_| self.values.len())];
        let mut places = Vec::with_capacity(rows);
        for row in 0..rows {
            let number = numbers.map(|numbers| numbers[row] as usize);
            let mut place = number.map_or(NOT_YET, |number| known[number]);
            if place == NOT_YET {
                place = values.len() as u32;
                values.push(convert(self.exact(row))?);
                if let Some(number) = number {
                    known[number] = place;
                }
            }
            places.push(place);
        }
        Ok(Converted { values, places })
    }
}

/// The same rows, each column as numbers into its values, which stand the other way round, and a value that
/// nobody has.
#[cfg(test)]
pub(crate) fn told_by_number(rows: &RecordBatch) -> RecordBatch {
    use arrow_array::UInt32Array;
    let count = rows.num_rows() as u32;
    let backwards = UInt32Array::from_iter((0..count).rev().map(Some).chain([None]));
    let columns = rows.columns().iter().map(|column| {
        let values = arrow_select::take::take(column, &backwards, None);
        let numbers = UInt32Array::from_iter_values((0..count).rev());
        let column = DictionaryArray::new(numbers, values.expect("rows are there"));
        Arc::new(column) as ArrayRef
    });
    let schema = rows.schema();
    let names = schema.fields().iter().map(|field| field.name());
    RecordBatch::try_from_iter(names.zip(columns)).expect("columns of one length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type as Key;
    use arrow_array::{DictionaryArray, Float64Array, Int32Array, StringViewArray, UInt32Array};

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
        let sent = as_the_model_calls_them(&table(), &columns, plain).unwrap();
        let schema = sent.schema();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["occupation", "city", "hours", "debt"]);
        assert_eq!(sent.column(0).data_type(), &DataType::Utf8);
        assert_eq!(sent.column(1).data_type(), &DataType::Utf8);

        let columns = BTreeMap::from([("age".to_owned(), "years".to_owned())]);
        let error = as_the_model_calls_them(&table(), &columns, plain).unwrap_err();
        assert!(error.to_string().contains("input `age`"), "{error}");
    }

    #[test]
    fn cells_keep_their_types() {
        let sent = as_the_model_calls_them(&table(), &BTreeMap::new(), plain).unwrap();
        let cells = Cells::of(&sent).unwrap();
        let row = |row: usize| {
            cells
                .iter()
                .map(|c| c.exact(row).finite())
                .collect::<Vec<_>>()
        };
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

    #[test]
    fn a_value_that_rows_share_is_converted_once() {
        let codes = |codes: Vec<u32>| {
            let jobs = StringArray::from(vec![Some("clerk"), None, Some("nobody's"), Some("cook")]);
            let codes = UInt32Array::from(codes);
            Arc::new(DictionaryArray::new(codes, Arc::new(jobs))) as ArrayRef
        };
        let converted = |array: &ArrayRef| {
            let mut seen = Vec::new();
            let array = numbered("job", array).unwrap();
            let cells = Cells::new("job", &array).unwrap();
            let converted = cells.converted(|cell| {
                seen.push(format!("{cell:?}"));
                Ok::<_, ModelError>(seen.len())
            });
            let converted = converted.unwrap();
            let rows: Vec<usize> = (0..array.len()).map(|row| *converted.get(row)).collect();
            (rows, seen.len())
        };
        let shared = codes(vec![3, 0, 3, 1, 0, 3]);
        assert_eq!(converted(&shared), (vec![1, 2, 1, 3, 2, 1], 3));
        // More values than rows, and rows that have no numbers.
        assert_eq!(converted(&codes(vec![3, 3])), (vec![1, 2], 2));
        let unpacked = plain("job", &shared).unwrap();
        assert_eq!(converted(&unpacked), ((1..=6).collect(), 6));

        let (numbered, unpacked) = (Cells::new("job", &shared), Cells::new("job", &unpacked));
        let (numbered, unpacked) = (numbered.unwrap(), unpacked.unwrap());
        assert_eq!(numbered.data_type(), unpacked.data_type());
        for row in 0..6 {
            assert_eq!(numbered.exact(row), unpacked.exact(row));
        }
    }

    #[test]
    fn a_number_that_is_missing_is_no_number() {
        let keys = UInt32Array::from(vec![Some(0), None]);
        let jobs = Arc::new(StringArray::from(vec!["clerk"]));
        let rows: ArrayRef = Arc::new(DictionaryArray::new(keys, jobs));
        let rows = numbered("job", &rows).unwrap();
        assert_eq!(rows.data_type(), &DataType::Utf8);
        let cells = Cells::new("job", &rows).unwrap();
        assert_eq!(
            [cells.exact(0), cells.exact(1)],
            [Cell::Text("clerk"), Cell::Null]
        );
    }
}
