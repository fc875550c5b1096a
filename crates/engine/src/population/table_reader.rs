//! A table in the making, batch by batch: rows that agree in every column are counted, not kept.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::column::{Column, plain};
use super::reading::whole_numbers;
use super::table::{EncodedColumn, Table};
use crate::error::Error;
use crate::rows::Rows;

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
    /// The column that says how many rows each row stands for.
    count: Option<String>,
    /// Rows that were pushed, and rows that they stand for.
    pushed: u64,
    rows: usize,
    distinct: Distinct,
    repeats: Vec<u64>,
    first_rows: Vec<u64>,
    order: Option<Vec<u32>>,
    max_bytes: Option<u64>,
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

/// A table may take one in so many bytes of the memory that an audit may take: its people, as they are
/// put in order, and what the model is asked about them take the rest.
const SHARE: u64 = 4;

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

    /// A table without rows yet, of which a column says how many rows each row stands for: a table that
    /// was grouped before. The column itself is no part of the table.
    pub fn counted(column: &str) -> Self {
        Self {
            count: Some(column.to_owned()),
            ..Self::default()
        }
    }

    /// Fails as soon as the table would not leave enough of the memory that an audit may take.
    pub fn within(mut self, max_memory: u64) -> Self {
        self.max_bytes = Some(max_memory / SHARE);
        self
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
        let (batch, counts) = self.without_counts(batch)?;
        self.batches += 1;
        match &self.schema {
            Some(schema) => check_schema(schema, &batch.schema(), self.batches)?,
            None => self.start(batch.schema(), wanted),
        }
        let first_row = self.pushed + 1;
        let mut codes = Vec::new();
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            if let Some(column) = column {
                codes.push(column.encode(array, first_row)?);
            }
        }
        self.count_rows(counts.as_deref(), batch.num_rows())?;
        self.add(&codes, batch.num_rows(), counts.as_deref());
        self.pushed += batch.num_rows() as u64;
        if let Distinct::Merging(rows) = &self.distinct
            && self.pushed >= FIRST_LOOK as u64
            && rows.len() as u64 * 4 > self.pushed * 3
            && self.count.is_none()
        {
            self.distinct = Distinct::Apart(rows.by_column());
        }
        self.check_memory()
    }

    fn check_memory(&self) -> Result<(), Error> {
        let Some(limit) = self.max_bytes.filter(|&limit| self.bytes() > limit) else {
            return Ok(());
        };
        let columns = self.columns.iter().flatten();
        let widest = columns.max_by_key(|column| column.values().len());
        Err(Error::TableTooLarge {
            rows: self.rows,
            distinct: self.repeats.len(),
            column: widest.map_or_else(String::new, |column| column.name().to_owned()),
            values: widest.map_or(0, |column| column.values().len()),
            limit_mib: (limit * SHARE) >> 20,
        })
    }

    /// About how much memory the table takes.
    fn bytes(&self) -> u64 {
        let values = self.columns.iter().flatten().map(Column::bytes);
        let rows = match &self.distinct {
            Distinct::Merging(rows) => rows.bytes(),
            Distinct::Apart(columns) => columns.iter().map(|codes| 4 * codes.capacity()).sum(),
        };
        let order = self.order.as_ref().map_or(0, Vec::capacity);
        let counts = self.repeats.capacity() + self.first_rows.capacity();
        (values.sum::<usize>() + rows + 4 * order + 8 * counts) as u64
    }

    /// The columns of the first batch.
    fn start(&mut self, schema: SchemaRef, wanted: impl Fn(&str) -> bool) {
        let readable = |field: &arrow_schema::FieldRef| {
            let column = Column::new(field.name(), field.data_type()).ok()?;
            wanted(field.name()).then_some(column)
        };
        self.columns = schema.fields().iter().map(readable).collect();
        let width = self.columns.iter().flatten().count();
        self.distinct = Distinct::Merging(Rows::new(width));
        self.schema = Some(schema);
    }

    /// A batch without its column of counts, and the counts.
    fn without_counts<'b>(
        &self,
        batch: &'b RecordBatch,
    ) -> Result<(Cow<'b, RecordBatch>, Option<Vec<u64>>), Error> {
        let Some(name) = &self.count else {
            return Ok((Cow::Borrowed(batch), None));
        };
        let schema = batch.schema();
        let place = schema.index_of(name).map_err(|_| Error::UnknownColumn {
            column: name.clone(),
            known: schema.fields().iter().map(|f| f.name().clone()).collect(),
        })?;
        let mut column = Column::new(name, schema.field(place).data_type())?;
        let codes = column.encode(batch.column(place), self.pushed + 1)?;
        let of_value = whole_numbers(&column)?;
        let counts = codes.iter().map(|&code| of_value[code as usize]).collect();
        let mut rest = batch.clone();
        rest.remove_column(place);
        Ok((Cow::Owned(rest), Some(counts)))
    }

    /// All rows must be countable.
    fn count_rows(&mut self, counts: Option<&[u64]>, rows: usize) -> Result<(), Error> {
        let Some(counts) = counts else {
            self.rows += rows;
            return Ok(());
        };
        for (&count, row) in counts.iter().zip(self.pushed + 1..) {
            let sum = usize::try_from(count).ok();
            let sum = sum.and_then(|count| self.rows.checked_add(count));
            self.rows = sum.ok_or(Error::TooManyPeople(row))?;
        }
        Ok(())
    }

    /// Adds rows by their codes in each column.
    fn add(&mut self, codes: &[Vec<u32>], rows: usize, counts: Option<&[u64]>) {
        let next_row = self.pushed + 1;
        let count = |row: usize| counts.map_or(1, |counts| counts[row]);
        match &mut self.distinct {
            Distinct::Merging(distinct) => {
                let mut row = vec![0; codes.len()];
                for i in (0..rows).filter(|&i| count(i) > 0) {
                    for (code, column) in row.iter_mut().zip(codes) {
                        *code = column[i];
                    }
                    let (number, new) = distinct.insert(&row);
                    if new {
                        self.repeats.push(0);
                        self.first_rows.push(next_row + i as u64);
                    }
                    self.repeats[number] += count(i);
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
            let codes = column.as_ref().and_then(|_| codes.next());
            Some(EncodedColumn::new(
                column?,
                codes.unwrap_or_default(),
                &repeats,
            ))
        });
        Table {
            places: std::sync::OnceLock::new(),
            schema: self.schema,
            columns: columns.collect(),
            repeats: Arc::clone(&repeats),
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
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::super::column::Value;
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

    /// Profiles, and what merging them in parts gives, are the table again.
    #[test]
    fn counted_rows_are_the_rows_they_stand_for() {
        let whole = Table::read([batch(0..120, 30)]).unwrap();
        let parts = [batch(0..7, 30), batch(7..80, 30), batch(80..120, 30)];
        let mut reader = TableReader::counted("count");
        for part in parts.iter().rev() {
            let part = Table::read([part]).unwrap();
            let profiles = part.profiles(&["text", "number"], "count");
            let profiles = profiles.unwrap();
            reader.push(&profiles).unwrap();
        }
        let merged = reader.finish();
        assert_eq!((merged.rows(), merged.repeats().len()), (120, 30));
        let by_value = |table: &Table, columns: &[&str]| table.profiles(columns, "count").unwrap();
        let columns = ["number", "text"];
        assert_eq!(by_value(&merged, &columns), by_value(&whole, &columns));
        let texts = by_value(&merged, &["text"]);
        let counts = texts.column(1).as_primitive::<UInt64Type>();
        assert_eq!(counts.values(), &[40, 40, 40]);
        assert_eq!(texts.column(0).as_string::<i32>().value(2), "c");
    }

    #[test]
    fn counts_that_are_none_are_refused() {
        let refused = |counts: ArrayRef| {
            let columns: [(&str, ArrayRef); 2] = [
                ("text", Arc::new(StringArray::from(vec!["a", "b"]))),
                ("count", counts),
            ];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let mut reader = TableReader::counted("count");
            let done = reader.push(&batch);
            done.map(|()| reader.finish().rows())
                .map_err(|e| e.to_string())
        };
        let whole = |counts: Vec<Option<i64>>| refused(Arc::new(Int64Array::from(counts)));
        assert_eq!(whole(vec![Some(0), Some(3)]), Ok(3));
        for counts in [vec![Some(1), None], vec![Some(1), Some(-1)]] {
            let error = whole(counts).unwrap_err();
            assert!(error.contains("`count`, row 2"), "{error}");
        }
        assert!(whole(vec![Some(i64::MAX); 2]).is_ok());
        let error = refused(Arc::new(StringArray::from(vec!["1", "x"]))).unwrap_err();
        assert!(
            error.contains("`count`, row 1: 1 is not a whole number"),
            "{error}"
        );
    }
}
