//! The table, encoded once: every column as its distinct values, and one code a distinct row.
//!
//! Whatever is asked of a table afterwards (what its columns look like, who is in the audit, what a
//! model is fitted to, what it is asked) is answered from this; the record batches are not needed
//! again. Rows that agree in every column are kept once, with how often they come ([`TableReader`]), so
//! that memory follows the distinct rows. Which row of the file is which of them is kept only for those
//! who ask.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;

use super::bins::Cut;
use super::column::{Column, Value};
use super::declare::Bins;
use super::order::rows_in_order;
use super::placed::PlacedBins;
use super::table_reader::{Sampled, TableReader};
use crate::error::Error;
use crate::rows::Rows;

/// A table of which every readable column is encoded.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What the columns were called when the table was read; none before the first batch.
    pub(super) schema: Option<SchemaRef>,
    /// One entry a field; none for a column that was not wanted or cannot be read.
    pub(super) columns: Vec<Option<EncodedColumn>>,
    /// How many rows each distinct row stands for.
    pub(super) repeats: Arc<Vec<u64>>,
    /// The number of the first of them, from 1.
    pub(super) first_rows: Vec<u64>,
    /// The distinct row that each row is; none if nobody asked for the order of rows.
    pub(super) order: Option<Vec<u32>>,
    pub(super) rows: usize,
    /// How many rows were read, before any were left out.
    pub(super) rows_read: usize,
    /// What is known of a table that was too large, of which these rows are the first.
    pub(super) sampled: Option<Arc<Sampled>>,
    /// The bins in the place of whose numbers there is one number a bin.
    pub(super) placed: Arc<Vec<PlacedBins>>,
    /// The place of each column by name, once it was asked for.
    pub(super) places: OnceLock<Arc<HashMap<String, usize>>>,
}

/// One column of a [`Table`].
#[derive(Clone, Debug)]
pub struct EncodedColumn {
    column: Arc<Column>,
    codes: Vec<u32>,
    repeats: Arc<Vec<u64>>,
}

impl EncodedColumn {
    fn bytes(&self) -> usize {
        self.column.bytes() + 4 * self.codes.capacity()
    }

    pub(super) fn new(column: Column, codes: Vec<u32>, repeats: &Arc<Vec<u64>>) -> Self {
        Self {
            column: Arc::new(column),
            codes,
            repeats: Arc::clone(repeats),
        }
    }

    /// The distinct values.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The code of each distinct row's value.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// How many rows of the table each distinct row stands for.
    pub fn repeats(&self) -> &[u64] {
        &self.repeats
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.repeats.iter().sum::<u64>() as usize
    }

    /// The value of a distinct row.
    pub fn value(&self, row: usize) -> &Value {
        &self.column.values()[self.codes[row] as usize]
    }

    /// The values of these distinct rows as an array.
    pub fn array(&self, rows: &[usize]) -> ArrayRef {
        let codes: UInt32Array = rows.iter().map(|&row| self.codes[row]).collect();
        // Every code was handed out by the column whose values these are.
        take(&self.column.array(), &codes, None).expect("codes are in range")
    }

    /// The same in the plain type of what they are.
    fn plain(&self, rows: &[usize]) -> ArrayRef {
        let codes: UInt32Array = rows.iter().map(|&row| self.codes[row]).collect();
        let values = self.column.array_as(&self.column.plain_type());
        // As above.
        take(&values, &codes, None).expect("codes are in range")
    }

    /// How many rows hold each value, by code.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.column.values().len()];
        for (&code, &repeats) in self.codes.iter().zip(self.repeats.iter()) {
            counts[code as usize] += repeats as usize;
        }
        counts
    }

    /// These distinct rows, in this order, so often each. Values that none of them holds are gone.
    fn select(&self, rows: &[usize], repeats: &Arc<Vec<u64>>) -> Self {
        let mut column = Column::empty_like(&self.column);
        let mut code_of = vec![None; self.column.values().len()];
        let codes = rows.iter().map(|&row| {
            let old = self.codes[row];
            *code_of[old as usize].get_or_insert_with(|| column.take(&self.column, old))
        });
        Self {
            codes: codes.collect(),
            column: Arc::new(column),
            repeats: Arc::clone(repeats),
        }
    }
}

impl Table {
    /// Reads a whole table from its batches, and keeps the order of its rows.
    pub fn read<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
    ) -> Result<Self, Error> {
        let mut reader = TableReader::keeping_order();
        for batch in batches {
            reader.push(batch.borrow())?;
        }
        Ok(reader.finish())
    }

    /// About how much memory the table takes.
    pub fn bytes(&self) -> u64 {
        let columns: usize = self
            .columns
            .iter()
            .flatten()
            .map(EncodedColumn::bytes)
            .sum();
        let order = self.order.as_ref().map_or(0, Vec::capacity);
        let counts = self.repeats.capacity() + self.first_rows.capacity();
        (columns + 4 * order + 8 * counts) as u64
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows each distinct row stands for.
    pub fn repeats(&self) -> &[u64] {
        &self.repeats
    }

    /// The number, from 1, of the first row that a distinct row stands for.
    pub fn first_row(&self, row: usize) -> u64 {
        self.first_rows[row]
    }

    /// How many rows were read, before any were left out.
    pub fn rows_read(&self) -> usize {
        self.rows_read
    }

    /// What is known of a table that was too large, of which these are only the first rows; none of a table
    /// that is whole.
    pub fn sampled(&self) -> Option<&Sampled> {
        self.sampled.as_deref()
    }

    /// Bins that were placed before the table was read: in the place of their columns' numbers there is one
    /// number a bin.
    pub fn placed_bins(&self) -> &[PlacedBins] {
        &self.placed
    }

    /// Whether the order of rows was kept.
    pub fn knows_order(&self) -> bool {
        self.order.is_some()
    }

    /// The distinct row that each row is, in the order of the table; if that was not kept, the rows of
    /// each distinct row follow one another.
    pub fn order(&self) -> Vec<u32> {
        match &self.order {
            Some(order) => order.clone(),
            None => (0..)
                .zip(self.repeats.iter())
                .flat_map(|(row, &repeats)| std::iter::repeat_n(row, repeats as usize))
                .collect(),
        }
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
        let places = self.places.get_or_init(|| {
            let mut places = HashMap::new();
            for (place, name) in self.names().enumerate() {
                places.entry(name.to_owned()).or_insert(place);
            }
            Arc::new(places)
        });
        (places.get(name).copied()).ok_or_else(|| Error::UnknownColumn {
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

    /// Each distinct row so often, and in no order. Values that no row holds any more are gone.
    pub fn repeated(&self, repeats: &[u64]) -> Self {
        let kept: Vec<usize> = (0..repeats.len()).filter(|&row| repeats[row] > 0).collect();
        let repeats = kept.iter().map(|&row| repeats[row]).collect();
        self.of_distinct(&kept, repeats, None)
    }

    /// The rows that are among these distinct ones. Values that no row holds any more are gone.
    pub fn filter(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.repeats.len()).filter(|&row| keep(row)).collect();
        let mut new = vec![None; self.repeats.len()];
        for (number, &row) in (0..).zip(&kept) {
            new[row] = Some(number);
        }
        let order = self.order.as_ref().map(|order| {
            let order = order.iter().filter_map(|&row| new[row as usize]);
            order.collect()
        });
        let repeats = kept.iter().map(|&row| self.repeats[row]).collect();
        self.of_distinct(&kept, repeats, order)
    }

    /// These distinct rows, so often each.
    fn of_distinct(&self, kept: &[usize], repeats: Vec<u64>, order: Option<Vec<u32>>) -> Self {
        let repeats = Arc::new(repeats);
        let select = |column: &EncodedColumn| column.select(kept, &repeats);
        let columns = self.columns.iter();
        Self {
            schema: self.schema.clone(),
            columns: columns.map(|column| column.as_ref().map(select)).collect(),
            rows: repeats.iter().sum::<u64>() as usize,
            rows_read: self.rows_read,
            sampled: self.sampled.clone(),
            placed: Arc::clone(&self.placed),
            first_rows: kept.iter().map(|&row| self.first_rows[row]).collect(),
            order,
            repeats,
            places: self.places.clone(),
        }
    }

    /// The distinct rows of some columns, in the order of their values, and in a last column how many rows
    /// of the table each stands for. Nothing is told about the order of the table, and of types only what
    /// values are: 64-bit whole numbers, 64-bit floating numbers, truth values, texts, or nothing at all.
    pub fn profiles(&self, columns: &[&str], count: &str) -> Result<RecordBatch, Error> {
        let places = self.places_by_value(columns)?;
        let profiles = places.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut firsts, mut counts) = (vec![None; profiles], vec![0_u64; profiles]);
        for (row, (&place, &repeats)) in places.iter().zip(self.repeats.iter()).enumerate() {
            firsts[place as usize].get_or_insert(row);
            counts[place as usize] += repeats;
        }
        // Every place is some row's.
        let firsts: Vec<usize> = firsts.into_iter().flatten().collect();
        let mut arrays = Vec::with_capacity(columns.len() + 1);
        for name in columns {
            arrays.push((*name, self.column(name)?.plain(&firsts)));
        }
        arrays.push((count, Arc::new(UInt64Array::from(counts)) as ArrayRef));
        // All arrays have as many values as there are distinct rows.
        Ok(RecordBatch::try_from_iter(arrays).expect("columns of one length"))
    }

    /// The place of each distinct row among the distinct rows of some columns, in the order of their values.
    /// Rows that differ in other columns only have one place. Nothing depends on the order of the table.
    pub fn places_by_value(&self, columns: &[&str]) -> Result<Vec<u32>, Error> {
        let columns: Vec<&EncodedColumn> = columns
            .iter()
            .map(|name| self.column(name))
            .collect::<Result<_, _>>()?;
        let ranks: Vec<Vec<u32>> = columns.iter().map(|c| c.column.ranks()).collect();
        let mut distinct = Rows::new(columns.len());
        let mut row = vec![0; columns.len()];
        let numbers = (0..self.distinct_rows()).map(|at| {
            for ((rank, column), ranks) in row.iter_mut().zip(&columns).zip(&ranks) {
                *rank = ranks[column.codes[at] as usize];
            }
            distinct.insert(&row).0
        });
        let numbers: Vec<usize> = numbers.collect();
        let in_order: Vec<usize> = (0..columns.len()).collect();
        let mut places = vec![0; distinct.len()];
        for (place, &number) in (0..).zip(&rows_in_order(&distinct, &in_order)) {
            places[number as usize] = place;
        }
        Ok(numbers.into_iter().map(|number| places[number]).collect())
    }

    /// How many distinct rows are kept.
    pub(super) fn distinct_rows(&self) -> usize {
        self.repeats.len()
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

    /// Gives every distinct row another of the values of a column, by code; none for a missing one.
    pub(super) fn recode(
        &mut self,
        place: usize,
        codes: impl Iterator<Item = Option<u32>>,
    ) -> Result<(), Error> {
        self.at(place)?;
        if let Some(encoded) = &mut self.columns[place] {
            let codes: Vec<Option<u32>> = codes.collect();
            if codes.contains(&None) {
                let column = Arc::make_mut(&mut encoded.column);
                let missing = column.code(Value::Null, 1);
                encoded.codes = codes.iter().map(|code| code.unwrap_or(missing)).collect();
            } else {
                encoded.codes = codes.into_iter().flatten().collect();
            }
        }
        Ok(())
    }

    /// Puts values of the same type in the place of a column's, by code and value.
    pub(super) fn renumber(&mut self, place: usize, other: impl Fn(usize, &Value) -> Value) {
        if let Some(encoded) = &mut self.columns[place] {
            let mut column = Column::empty_like(&encoded.column);
            let values = encoded.column.values().iter().enumerate();
            let code_of: Vec<u32> = values
                .map(|(code, value)| {
                    column.code(other(code, value), encoded.column.first_row(code as u32))
                })
                .collect();
            encoded.column = Arc::new(column);
            for code in &mut encoded.codes {
                *code = code_of[*code as usize];
            }
        }
    }

    /// Puts the labels of bins in the place of a column of numbers. Missing values stay missing, and codes for
    /// them become so.
    pub fn cut(&mut self, name: &str, bins: &Bins, missing_codes: &[String]) -> Result<(), Error> {
        let encoded = self.column(name)?;
        let mut numbers: Vec<(f64, u64)> = (encoded.column.values().iter())
            .filter_map(|value| Some((value.number()?, 1)))
            .collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let cut = Cut::new(name, bins, &numbers)?;
        let column = Arc::clone(&encoded.column);
        let missing = column.missing(missing_codes);
        let mut code = 0;
        self.replace(name, |_| {
            code += 1;
            if missing[code as usize - 1] {
                return Ok(Value::Null);
            }
            let bin = cut.bin_of(&column, code - 1)?;
            Ok(Value::Text(cut.levels()[bin].label.as_str().into()))
        })
    }
}
