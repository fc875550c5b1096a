//! The table, encoded once: every column as its distinct values, and one code a row.
//!
//! Whatever is asked of a table afterwards (what its columns look like, who is in the audit, what a
//! model is fitted to, what it is asked) is answered from this; the record batches are not needed
//! again.

use std::borrow::Borrow;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::take::take;

use super::bins::Cut;
use super::column::{Column, Value};
use super::declare::Bins;
use crate::error::Error;

/// A table of which every readable column is encoded.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What the columns were called when the table was read; none before the first batch.
    schema: Option<SchemaRef>,
    /// One entry a field; none for a column that was not wanted or cannot be read.
    columns: Vec<Option<EncodedColumn>>,
    batches: usize,
    rows: usize,
}

/// One column of a [`Table`].
#[derive(Clone, Debug)]
pub struct EncodedColumn {
    column: Arc<Column>,
    codes: Vec<u32>,
}

impl EncodedColumn {
    /// The distinct values.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The code of each row's value.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> &Value {
        &self.column.values()[self.codes[row] as usize]
    }

    /// The values of these rows as an array.
    pub fn array(&self, rows: &[usize]) -> ArrayRef {
        let codes: UInt32Array = rows.iter().map(|&row| self.codes[row]).collect();
        // Every code was handed out by the column whose values these are.
        take(&self.column.array(), &codes, None).expect("codes are in range")
    }

    /// How many rows hold each value, by code.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.column.values().len()];
        for &code in &self.codes {
            counts[code as usize] += 1;
        }
        counts
    }
}

impl Table {
    /// Reads a whole table from its batches.
    pub fn read<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
    ) -> Result<Self, Error> {
        let mut table = Self::default();
        for batch in batches {
            table.push(batch.borrow())?;
        }
        Ok(table)
    }

    /// Adds a batch, for tables that come as a stream.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.push_wanted(batch, |_| true)
    }

    /// Adds a batch; only columns whose name is wanted are encoded.
    pub(super) fn push_wanted(
        &mut self,
        batch: &RecordBatch,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), Error> {
        self.batches += 1;
        match &self.schema {
            Some(schema) => check_schema(schema, &batch.schema(), self.batches)?,
            None => {
                let schema = batch.schema();
                let encoded = |field: &arrow_schema::FieldRef| {
                    let name = field.name();
                    let column = Column::new(name, field.data_type()).ok()?;
                    wanted(name).then(|| EncodedColumn {
                        column: Arc::new(column),
                        codes: Vec::new(),
                    })
                };
                self.columns = schema.fields().iter().map(encoded).collect();
                self.schema = Some(schema);
            }
        }
        let first_row = self.rows as u64 + 1;
        for (encoded, array) in self.columns.iter_mut().zip(batch.columns()) {
            if let Some(EncodedColumn { column, codes }) = encoded {
                codes.extend(Arc::make_mut(column).encode(array, first_row)?);
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the table never had a batch, so that nobody knows its columns.
    pub(super) fn is_nothing(&self) -> bool {
        self.schema.is_none()
    }

    /// The names of all columns, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        let fields = self.schema.as_ref().map_or(&[][..], |s| s.fields());
        fields.iter().map(|field| field.name().as_str())
    }

    /// The place of a column among all.
    pub(super) fn place(&self, name: &str) -> Result<usize, Error> {
        self.names()
            .position(|known| known == name)
            .ok_or_else(|| Error::UnknownColumn {
                column: name.to_owned(),
                known: self.names().map(str::to_owned).collect(),
            })
    }

    /// A column by its place.
    pub(super) fn at(&self, place: usize) -> Result<&EncodedColumn, Error> {
        self.columns[place].as_ref().ok_or_else(|| {
            let field = self.schema.as_ref().map(|schema| schema.field(place));
            Error::UnsupportedType {
                column: field.map_or_else(String::new, |field| field.name().clone()),
                data_type: field.map_or_else(String::new, |field| field.data_type().to_string()),
            }
        })
    }

    /// A column by its name: an error if there is none, or if its type cannot be read.
    pub fn column(&self, name: &str) -> Result<&EncodedColumn, Error> {
        self.at(self.place(name)?)
    }

    /// These rows, in this order. Values that no row holds any more are gone.
    pub fn select(&self, rows: &[usize]) -> Self {
        let select = |encoded: &EncodedColumn| {
            let mut column = Column::empty_like(&encoded.column);
            let mut code_of = vec![None; encoded.column.values().len()];
            let codes = rows.iter().map(|&row| {
                let old = encoded.codes[row];
                *code_of[old as usize].get_or_insert_with(|| column.take(&encoded.column, old))
            });
            EncodedColumn {
                codes: codes.collect(),
                column: Arc::new(column),
            }
        };
        let columns = self.columns.iter();
        Self {
            schema: self.schema.clone(),
            columns: columns.map(|column| column.as_ref().map(select)).collect(),
            batches: self.batches,
            rows: rows.len(),
        }
    }

    /// Puts texts in the place of a column's values, each by the value that stands there.
    pub fn replace<E: From<Error>>(
        &mut self,
        name: &str,
        mut other: impl FnMut(&Value) -> Result<Value, E>,
    ) -> Result<(), E> {
        let place = self.place(name)?;
        let column = Arc::clone(&self.at(place)?.column);
        let mut replaced = Column::texts(name);
        let mut code_of = Vec::with_capacity(column.values().len());
        for (code, value) in (0..).zip(column.values()) {
            code_of.push(replaced.code(other(value)?, column.first_row(code)));
        }
        if let Some(encoded) = &mut self.columns[place] {
            encoded.column = Arc::new(replaced);
            for code in &mut encoded.codes {
                *code = code_of[*code as usize];
            }
        }
        Ok(())
    }

    /// Puts the labels of bins in the place of a column of numbers; missing values stay missing.
    pub fn cut(&mut self, name: &str, bins: &Bins) -> Result<(), Error> {
        let encoded = self.column(name)?;
        let mut numbers: Vec<(f64, u64)> = (encoded.column.values().iter())
            .filter_map(|value| Some((value.number()?, 1)))
            .collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let cut = Cut::new(name, bins, &numbers)?;
        let column = Arc::clone(&encoded.column);
        let mut code = 0;
        self.replace(name, |value| {
            code += 1;
            if *value == Value::Null {
                return Ok(Value::Null);
            }
            let bin = cut.bin_of(&column, code - 1)?;
            Ok(Value::Text(cut.levels()[bin].label.as_str().into()))
        })
    }
}

fn check_schema(first: &Schema, now: &Schema, batch: usize) -> Result<(), Error> {
    let differs = |difference| Err(Error::SchemaChanged { batch, difference });
    if now.fields().len() != first.fields().len() {
        return differs(format!(
            "{} columns, not {}",
            now.fields().len(),
            first.fields().len()
        ));
    }
    for (now, first) in now.fields().iter().zip(first.fields()) {
        if now.name() != first.name() || now.data_type() != first.data_type() {
            return differs(format!(
                "`{}` ({}) where there was `{}` ({})",
                now.name(),
                now.data_type(),
                first.name(),
                first.data_type()
            ));
        }
    }
    Ok(())
}
