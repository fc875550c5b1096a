//! The table, encoded once: every column as its distinct values, and one code a distinct row.
//!
//! Whatever is asked of a table afterwards (what its columns look like, who is in the audit, what a
//! model is fitted to, what it is asked) is answered from this; the record batches are not needed
//! again. Rows that agree in every column are kept once, with how often they come ([`TableReader`]), so
//! that memory follows the distinct rows. Which row of the file is which of them is kept only for those
//! who ask.

use std::borrow::Borrow;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::take::take;

use super::bins::Cut;
use super::column::{Column, Value, plain};
use super::declare::Bins;
use crate::error::Error;
use crate::rows::Rows;

/// A table of which every readable column is encoded.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What the columns were called when the table was read; none before the first batch.
    schema: Option<SchemaRef>,
    /// One entry a field; none for a column that was not wanted or cannot be read.
    columns: Vec<Option<EncodedColumn>>,
    /// How many rows each distinct row stands for.
    repeats: Arc<Vec<u64>>,
    /// The number of the first of them, from 1.
    first_rows: Vec<u64>,
    /// The distinct row that each row is; none if nobody asked for the order of rows.
    order: Option<Vec<u32>>,
    rows: usize,
}

/// One column of a [`Table`].
#[derive(Clone, Debug)]
pub struct EncodedColumn {
    column: Arc<Column>,
    codes: Vec<u32>,
    repeats: Arc<Vec<u64>>,
}

impl EncodedColumn {
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

    /// These rows of the table, in this order. Values that no row holds any more are gone.
    pub fn select(&self, rows: &[usize]) -> Self {
        let all = self.order();
        let mut new = vec![None; self.repeats.len()];
        let (mut kept, mut repeats) = (Vec::new(), Vec::new());
        let order = rows.iter().map(|&row| {
            let old = all[row] as usize;
            let new = *new[old].get_or_insert_with(|| {
                kept.push(old);
                repeats.push(0);
                kept.len() as u32 - 1
            });
            repeats[new as usize] += 1;
            new
        });
        let order = order.collect();
        self.of_distinct(&kept, repeats, Some(order))
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
            first_rows: kept.iter().map(|&row| self.first_rows[row]).collect(),
            order,
            repeats,
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

/// A table in the making, batch by batch.
///
/// Rows that agree in every column become one. Where nearly every row is one of its own, that would cost
/// memory and save none: after a first look the rest is kept row by row. What comes of the table is the
/// same either way.
#[derive(Debug, Default)]
pub struct TableReader {
    schema: Option<SchemaRef>,
    /// One a field; none for a column that was not wanted or cannot be read.
    columns: Vec<Option<Column>>,
    batches: usize,
    rows: usize,
    distinct: Distinct,
    repeats: Vec<u64>,
    first_rows: Vec<u64>,
    order: Option<Vec<u32>>,
}

/// The distinct rows read so far.
#[derive(Debug)]
enum Distinct {
    /// To be looked up.
    Merging(Rows),
    /// The codes of each column, when merging was given up.
    Apart(Vec<Vec<u32>>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Merging(Rows::new(0))
    }
}

/// So many rows are looked at before merging is given up, if more than three in four are distinct.
const FIRST_LOOK: usize = 1 << 16;

impl TableReader {
    /// A table without rows yet, which will not know which row was which.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table without rows yet, which will keep the order of its rows: four bytes a row.
    pub fn keeping_order() -> Self {
        Self {
            order: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Adds a batch.
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
                let readable = |field: &arrow_schema::FieldRef| {
                    let column = Column::new(field.name(), field.data_type()).ok()?;
                    wanted(field.name()).then_some(column)
                };
                self.columns = schema.fields().iter().map(readable).collect();
                let width = self.columns.iter().flatten().count();
                self.distinct = Distinct::Merging(Rows::new(width));
                self.schema = Some(schema);
            }
        }
        let first_row = self.rows as u64 + 1;
        let mut codes = Vec::new();
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            if let Some(column) = column {
                codes.push(column.encode(array, first_row)?);
            }
        }
        self.add(&codes, batch.num_rows());
        self.rows += batch.num_rows();
        if let Distinct::Merging(rows) = &self.distinct
            && self.rows >= FIRST_LOOK
            && rows.len() * 4 > self.rows * 3
        {
            self.distinct = Distinct::Apart(rows.by_column());
        }
        Ok(())
    }

    /// Adds rows by their codes in each column.
    fn add(&mut self, codes: &[Vec<u32>], rows: usize) {
        let next_row = self.rows as u64 + 1;
        match &mut self.distinct {
            Distinct::Merging(distinct) => {
                let mut row = vec![0; codes.len()];
                for i in 0..rows {
                    for (code, column) in row.iter_mut().zip(codes) {
                        *code = column[i];
                    }
                    let (number, new) = distinct.insert(&row);
                    if new {
                        self.repeats.push(0);
                        self.first_rows.push(next_row + i as u64);
                    }
                    self.repeats[number] += 1;
                    if let Some(order) = &mut self.order {
                        order.push(number as u32);
                    }
                }
            }
            Distinct::Apart(columns) => {
                if let Some(order) = &mut self.order {
                    // Fewer than 2^32 rows, or the codes alone would not fit any memory.
                    order.extend((0..rows).map(|i| (self.repeats.len() + i) as u32));
                }
                for (column, codes) in columns.iter_mut().zip(codes) {
                    column.extend_from_slice(codes);
                }
                self.repeats.extend(std::iter::repeat_n(1, rows));
                self.first_rows.extend(next_row..next_row + rows as u64);
            }
        }
    }

    /// The table.
    pub fn finish(self) -> Table {
        let repeats = Arc::new(self.repeats);
        let codes = match self.distinct {
            Distinct::Merging(rows) => rows.by_column(),
            Distinct::Apart(codes) => codes,
        };
        let mut codes = codes.into_iter();
        let columns = self.columns.into_iter().map(|column| {
            Some(EncodedColumn {
                column: Arc::new(column?),
                codes: codes.next().unwrap_or_default(),
                repeats: Arc::clone(&repeats),
            })
        });
        Table {
            schema: self.schema,
            columns: columns.collect(),
            repeats,
            first_rows: self.first_rows,
            order: self.order,
            rows: self.rows,
        }
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
        // Whether values come numbered may differ from batch to batch.
        if now.name() != first.name() || plain(now.data_type()) != plain(first.data_type()) {
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

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    /// Rows of two columns; `distinct` says how many different ones there are.
    fn batch(rows: std::ops::Range<i64>, distinct: i64) -> RecordBatch {
        let numbers: Int64Array = rows.clone().map(|row| (row * 7 + 3) % distinct).collect();
        let texts = rows.map(|row| Some(["a", "b", "c"][(row % distinct % 3) as usize]));
        let texts: StringArray = texts.collect();
        let columns: [(&str, ArrayRef); 2] =
            [("number", Arc::new(numbers)), ("text", Arc::new(texts))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// Row by row, as the table was.
    fn rows(table: &Table) -> Vec<(Value, Value)> {
        let (number, text) = (
            table.column("number").unwrap(),
            table.column("text").unwrap(),
        );
        let order = table.order().into_iter().map(|row| row as usize);
        order
            .map(|row| (number.value(row).clone(), text.value(row).clone()))
            .collect()
    }

    fn expected(rows: std::ops::Range<i64>, distinct: i64) -> Vec<(Value, Value)> {
        rows.map(|row| {
            let text = ["a", "b", "c"][(row % distinct % 3) as usize];
            (
                Value::Integer((row * 7 + 3) % distinct),
                Value::Text(text.into()),
            )
        })
        .collect()
    }

    #[test]
    fn rows_that_agree_are_kept_once() {
        let table = Table::read([batch(0..50, 30), batch(50..120, 30)]).unwrap();
        assert_eq!((table.rows(), table.repeats().len()), (120, 30));
        assert_eq!(table.repeats(), [4; 30]);
        assert_eq!(table.first_row(29), 30);
        assert_eq!(rows(&table), expected(0..120, 30));
        let counts = table.column("text").unwrap().counts();
        assert_eq!(counts, [40; 3]);

        let some = table.select(&[119, 5, 35, 0]);
        assert_eq!((some.rows(), some.repeats()), (4, &[1, 2, 1][..]));
        let all = expected(0..120, 30);
        let chosen = [119, 5, 35, 0].map(|row: usize| all[row].clone());
        assert_eq!(rows(&some), chosen);

        let text = table.column("text").unwrap();
        let kept = table.filter(|row| *text.value(row) == Value::Text("b".into()));
        let is_b = |row: &(Value, Value)| row.1 == Value::Text("b".into());
        let expected: Vec<_> = all.into_iter().filter(is_b).collect();
        assert_eq!((kept.rows(), rows(&kept)), (40, expected));
        assert_eq!(kept.column("text").unwrap().column().values().len(), 1);
    }

    /// Where nearly all rows differ they are not merged, and the table is the same.
    #[test]
    fn rows_of_their_own_are_kept_apart() {
        let many = FIRST_LOOK as i64;
        let mut reader = TableReader::keeping_order();
        reader.push(&batch(0..many, many * 2)).unwrap();
        assert!(matches!(reader.distinct, Distinct::Apart(_)));
        reader.push(&batch(0..10, many * 2)).unwrap();
        let table = reader.finish();
        assert_eq!(table.rows() as i64, many + 10);
        let mut all = expected(0..many, many * 2);
        all.extend(expected(0..10, many * 2));
        assert_eq!(rows(&table), all);
        assert_eq!(table.first_row(many as usize), many as u64 + 1);
    }

    #[test]
    fn without_an_order_the_same_rows_follow_one_another() {
        let mut reader = TableReader::new();
        reader.push(&batch(0..60, 30)).unwrap();
        let table = reader.finish();
        let order = table.order();
        assert_eq!(order[..4], [0, 0, 1, 1]);
        assert_eq!(order.len(), 60);
    }
}
