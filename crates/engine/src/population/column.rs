//! Columns as the model sees them: distinct values by number.
//!
//! A row of the table becomes one code a column. The values behind the codes keep the column's own
//! Arrow type, so that the model gets back exactly what the table held, surrounding blanks and all.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, LargeStringArray, PrimitiveArray,
    StringArray, StringViewArray, UInt32Array, downcast_integer,
};
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::Error;

/// One value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// Text, exactly as in the table.
    Text(Arc<str>),
}

impl Value {
    /// The value as a person reads it.
    pub fn label(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            // `3.0`, as pandas prints it: the column holds floats, not integers.
            Self::Float(value) => format!("{value:?}"),
            Self::Text(value) => value.to_string(),
        }
    }

    /// The value as a number, if it is one or reads as one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Null => None,
            Self::Boolean(value) => Some(f64::from(u8::from(*value))),
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Text(value) => read_number(value),
        }
    }

    /// Whether the value is what somebody means who writes this text: blanks around it do not count,
    /// and two numbers are the same however they are written (`1` is `1.0`).
    pub fn reads_as(&self, text: &str) -> bool {
        *self != Self::Null
            && (self.label().trim() == text.trim()
                || self
                    .number()
                    .is_some_and(|number| Some(number) == read_number(text)))
    }
}

/// The type of a column's values, numbered or not.
pub(super) fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// The finite number that a text reads as.
fn read_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// What makes two values the same: numbers by their bits, so that nothing the model could tell
/// apart is merged.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Key {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(u64),
}

/// The distinct values of one column, numbered in order of arrival.
#[derive(Clone)]
pub struct Column {
    name: String,
    data_type: DataType,
    values: Vec<Value>,
    first_rows: Vec<u64>,
    texts: HashMap<Arc<str>, u32, hashbrown::DefaultHashBuilder>,
    others: HashMap<Key, u32, hashbrown::DefaultHashBuilder>,
    /// The codes of whole numbers from 0 to below [`SMALL`], where they have one: most numbers are looked
    /// up here, without a hash.
    small: Vec<u32>,
    /// The length of all texts together.
    text_bytes: usize,
}

/// See [`Column::small`].
const SMALL: usize = 1 << 10;

/// No code: a column never has so many values (see [`Rows`](crate::rows::Rows)).
const NO_CODE: u32 = u32::MAX;

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("data_type", &self.data_type)
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl Column {
    /// A column without values.
    pub(crate) fn new(name: &str, data_type: &DataType) -> Result<Self, Error> {
        let plain = plain(data_type);
        let readable = plain.is_integer()
            || matches!(
                plain,
                DataType::Boolean
                    | DataType::Float32
                    | DataType::Float64
                    | DataType::Utf8
                    | DataType::LargeUtf8
                    | DataType::Utf8View
                    | DataType::Null
            );
        if !readable {
            return Err(Error::UnsupportedType {
                column: name.to_owned(),
                data_type: data_type.to_string(),
            });
        }
        Ok(Self::without_values(name, plain.clone()))
    }

    /// The distinct values of an array, and the code of each of its entries.
    pub fn of(name: &str, array: &dyn Array) -> Result<(Self, Vec<u32>), Error> {
        let mut column = Self::new(name, array.data_type())?;
        let codes = column.encode(array, 1)?;
        Ok((column, codes))
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type the model sees. Dictionary-encoded columns are given as plain ones.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The distinct values, by code.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The first row that held a value.
    pub(crate) fn first_row(&self, code: u32) -> u64 {
        self.first_rows[code as usize]
    }

    /// The number that a value is or reads as.
    pub(crate) fn number(&self, code: u32) -> Result<f64, Error> {
        let value = &self.values[code as usize];
        value.number().ok_or_else(|| Error::NotANumber {
            column: self.name.clone(),
            row: self.first_row(code),
            value: value.label(),
        })
    }

    /// That a value is NaN or an infinity.
    pub(crate) fn non_finite(&self, code: u32, value: f64) -> Error {
        Error::NonFinite {
            column: self.name.clone(),
            row: self.first_row(code),
            value,
        }
    }

    /// A column of texts, without values.
    pub(crate) fn texts(name: &str) -> Self {
        Self::without_values(name, DataType::Utf8)
    }

    /// A column of the same name and type, without values.
    pub(crate) fn empty_like(other: &Self) -> Self {
        Self::without_values(&other.name, other.data_type.clone())
    }

    fn without_values(name: &str, data_type: DataType) -> Self {
        Self {
            name: name.to_owned(),
            data_type,
            values: Vec::new(),
            first_rows: Vec::new(),
            texts: HashMap::default(),
            others: HashMap::default(),
            small: Vec::new(),
            text_bytes: 0,
        }
    }

    /// About how much memory the values take.
    pub(super) fn bytes(&self) -> usize {
        let text = size_of::<(Arc<str>, u32)>() + 1;
        let other = size_of::<(Key, u32)>() + 1;
        self.values.capacity() * size_of::<Value>()
            + self.first_rows.capacity() * size_of::<u64>()
            + self.texts.capacity() * text
            + self.others.capacity() * other
            + self.texts.len() * 2 * size_of::<usize>()
            + self.text_bytes
    }

    /// Takes over a value of another column; its code here.
    pub(crate) fn take(&mut self, other: &Self, code: u32) -> u32 {
        self.code(other.values[code as usize].clone(), other.first_row(code))
    }

    /// Which values mean "missing", by code: where there is none, and where it is one of these codes.
    pub fn missing(&self, codes: &[String]) -> Vec<bool> {
        let is_missing =
            |value: &Value| *value == Value::Null || codes.iter().any(|code| value.reads_as(code));
        self.values.iter().map(is_missing).collect()
    }

    /// The code of a value, new if need be.
    pub(crate) fn code(&mut self, value: Value, row: u64) -> u32 {
        // Fewer than 2^32 distinct values: there are fewer rows than that (see `Rows`).
        let next = self.values.len() as u32;
        let code = match &value {
            Value::Text(text) => *self.texts.entry(Arc::clone(text)).or_insert(next),
            other => {
                let key = match other {
                    Value::Boolean(value) => Key::Boolean(*value),
                    Value::Integer(value) => Key::Integer(*value),
                    Value::Float(value) => Key::Float(value.to_bits()),
                    Value::Null | Value::Text(_) => Key::Null,
                };
                *self.others.entry(key).or_insert(next)
            }
        };
        if code == next {
            if let Value::Text(text) = &value {
                self.text_bytes += text.len();
            }
            self.values.push(value);
            self.first_rows.push(row);
        }
        code
    }

    fn integer_code(&mut self, value: i64, row: u64) -> u32 {
        let Some(place) = usize::try_from(value).ok().filter(|&place| place < SMALL) else {
            return self.code(Value::Integer(value), row);
        };
        if let Some(&code) = self.small.get(place)
            && code != NO_CODE
        {
            return code;
        }
        let code = self.code(Value::Integer(value), row);
        self.small.resize(SMALL, NO_CODE);
        self.small[place] = code;
        code
    }

    fn text_code(&mut self, text: &str, row: u64) -> u32 {
        match self.texts.get(text) {
            Some(&code) => code,
            None => self.code(Value::Text(text.into()), row),
        }
    }

    /// The codes of a batch's column; `row` is the number of its first row.
    pub(crate) fn encode(&mut self, array: &dyn Array, row: u64) -> Result<Vec<u32>, Error> {
        if let DataType::Dictionary(_, _) = array.data_type() {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            if values.is_empty() {
                // Nothing but nulls; a dictionary without values has no keys to normalise.
                let rows = (0..array.len()).map(|i| row + i as u64);
                return Ok(rows.map(|row| self.code(Value::Null, row)).collect());
            }
            let mut codes: Vec<Option<u32>> = vec![None; values.len()];
            let keys = dictionary.normalized_keys();
            return (0..array.len())
                .map(|i| {
                    let row = row + i as u64;
                    if array.is_null(i) {
                        return Ok(self.code(Value::Null, row));
                    }
                    if let Some(code) = codes[keys[i]] {
                        return Ok(code);
                    }
                    let code = self.encode(&values.slice(keys[i], 1), row)?[0];
                    codes[keys[i]] = Some(code);
                    Ok(code)
                })
                .collect();
        }
        let rows = (0..array.len()).map(|i| row + i as u64);
        macro_rules! integers {
            ($type:ty) => {
                self.encode_integers::<$type>(array, row)
            };
        }
        downcast_integer! {
            array.data_type() => (integers),
            DataType::Utf8 => Ok(self.encode_texts(array.as_string::<i32>().iter(), row)),
            DataType::LargeUtf8 => Ok(self.encode_texts(array.as_string::<i64>().iter(), row)),
            DataType::Utf8View => Ok(self.encode_texts(array.as_string_view().iter(), row)),
            DataType::Boolean => Ok(array
                .as_boolean()
                .iter()
                .zip(rows)
                .map(|(value, row)| self.code(value.map_or(Value::Null, Value::Boolean), row))
                .collect()),
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().iter();
                Ok(self.encode_floats(values.map(|v| v.map(f64::from)), row))
            }
            DataType::Float64 => {
                Ok(self.encode_floats(array.as_primitive::<Float64Type>().iter(), row))
            }
            DataType::Null => Ok(rows.map(|row| self.code(Value::Null, row)).collect()),
            other => Err(Error::UnsupportedType {
                column: self.name.clone(),
                data_type: other.to_string(),
            }),
        }
    }

    fn encode_texts<'a>(
        &mut self,
        texts: impl Iterator<Item = Option<&'a str>>,
        row: u64,
    ) -> Vec<u32> {
        texts
            .zip(row..)
            .map(|(text, row)| match text {
                Some(text) => self.text_code(text, row),
                None => self.code(Value::Null, row),
            })
            .collect()
    }

    fn encode_floats(&mut self, values: impl Iterator<Item = Option<f64>>, row: u64) -> Vec<u32> {
        values
            .zip(row..)
            .map(|(value, row)| self.code(value.map_or(Value::Null, Value::Float), row))
            .collect()
    }

    fn encode_integers<T: ArrowPrimitiveType>(
        &mut self,
        array: &dyn Array,
        row: u64,
    ) -> Result<Vec<u32>, Error>
    where
        T::Native: TryInto<i64>,
    {
        array
            .as_primitive::<T>()
            .iter()
            .zip(row..)
            .map(|(value, row)| {
                let Some(value) = value else {
                    return Ok(self.code(Value::Null, row));
                };
                let value = value.try_into().map_err(|_| Error::UnsupportedType {
                    column: self.name.clone(),
                    data_type: format!("{} with a value over 2^63 (row {row})", self.data_type),
                })?;
                Ok(self.integer_code(value, row))
            })
            .collect()
    }

    /// The plain type of what the values are; none at all if all are missing.
    pub(super) fn plain_type(&self) -> DataType {
        match self.values.iter().find(|value| **value != Value::Null) {
            None | Some(Value::Null) => DataType::Null,
            Some(Value::Boolean(_)) => DataType::Boolean,
            Some(Value::Integer(_)) => DataType::Int64,
            Some(Value::Float(_)) => DataType::Float64,
            Some(Value::Text(_)) => DataType::Utf8,
        }
    }

    /// All distinct values as an Arrow array in the column's own type, by code.
    pub(crate) fn array(&self) -> ArrayRef {
        self.array_as(&self.data_type)
    }

    /// The same in another type that can hold them.
    pub(super) fn array_as(&self, data_type: &DataType) -> ArrayRef {
        // What is not of the column's own type is null: there is nothing else.
        macro_rules! array {
            ($array:ty, $kind:ident, $value:ident => $cell:expr) => {{
                let cells = self.values.iter().map(|value| match value {
                    Value::$kind($value) => Some($cell),
                    _ => None,
                });
                Arc::new(cells.collect::<$array>())
            }};
        }
        macro_rules! integers {
            // Came from this very type, or was moved within its bounds.
            ($type:ty) => {
                array!(PrimitiveArray<$type>, Integer, v => {
                    <$type as ArrowPrimitiveType>::Native::try_from(*v).unwrap_or_default()
                })
            };
        }
        downcast_integer! {
            data_type => (integers),
            DataType::Boolean => array!(BooleanArray, Boolean, v => *v),
            DataType::Float32 => array!(Float32Array, Float, v => *v as f32),
            DataType::Float64 => {
                let number = |value: &Value| match value {
                    Value::Float(number) => Some(*number),
                    Value::Integer(number) => Some(*number as f64),
                    _ => None,
                };
                Arc::new(self.values.iter().map(number).collect::<Float64Array>())
            }
            DataType::LargeUtf8 => array!(LargeStringArray, Text, text => text),
            DataType::Utf8View => array!(StringViewArray, Text, text => text),
            DataType::Null => arrow_array::new_null_array(&DataType::Null, self.values.len()),
            _ => array!(StringArray, Text, text => text),
        }
    }
}

/// An array in one of the plain types of profiles, which must be able to hold its values: whole numbers may become
/// floating ones.
pub fn as_type(name: &str, array: &dyn Array, data_type: &DataType) -> Result<ArrayRef, Error> {
    let (column, codes) = Column::of(name, array)?;
    let values = column.array_as(data_type);
    // Every code was handed out by the column whose values these are.
    Ok(take(&values, &UInt32Array::from(codes), None).expect("codes are in range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, Float32Array, Int16Array, StringArray, StringViewArray};

    /// Every type comes back as it went in.
    #[test]
    fn values_keep_their_type() {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![
                Some(" a"),
                None,
                Some("a "),
                Some(" a"),
            ])),
            Arc::new(StringViewArray::from(vec![
                Some("x"),
                None,
                Some("y"),
                Some("x"),
            ])),
            Arc::new(Int16Array::from(vec![Some(3), None, Some(-3), Some(3)])),
            Arc::new(Float32Array::from(vec![
                Some(0.1),
                None,
                Some(0.2),
                Some(0.1),
            ])),
        ];
        for array in arrays {
            let mut column = Column::new("c", array.data_type()).unwrap();
            let codes = column.encode(&array, 1).unwrap();
            assert_eq!(codes, [0, 1, 2, 0]);
            assert_eq!(column.first_row(2), 3);
            assert_eq!(&column.array(), &array.slice(0, 3));
        }
    }

    #[test]
    fn dictionaries_are_read_through() {
        let array: DictionaryArray<arrow_array::types::Int8Type> =
            vec![Some("b"), None, Some("a"), Some("b")]
                .into_iter()
                .collect();
        let mut column = Column::new("c", array.data_type()).unwrap();
        assert_eq!(column.encode(&array, 1).unwrap(), [0, 1, 2, 0]);
        assert_eq!(column.data_type(), &DataType::Utf8);
        assert_eq!(column.values()[2].label(), "a");
    }

    #[test]
    fn other_types_are_refused_by_name() {
        let error = Column::new("when", &DataType::Date32).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column `when` has type Date32, which an audit cannot read; cast it to text, a boolean, an integer or a float"
        );
    }
}
