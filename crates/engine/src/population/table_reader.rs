//! A table in the making, batch by batch: rows that agree in every column are counted, not kept.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::column::{Column, plain};
use super::numbers::{Numbers, numbers};
use super::placed::PlacedBins;
use super::reading::whole_numbers;
use super::table::{EncodedColumn, Table};
use crate::error::Error;
use crate::rows::Rows;

/// A table in the making, batch by batch.
///
/// Rows that agree in every column become one. Where nearly every row is one of its own, that would cost
/// memory and save none: rows are then kept as they come, and looked at again each time that they have
/// doubled, and before memory runs out. What comes of the table is the same either way.
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
    /// Rows that are kept apart are merged when there are so many.
    merge_at: usize,
    /// Memory ran short once: rows are merged from then on, whatever it costs.
    is_short: bool,
    repeats: Vec<u64>,
    first_rows: Vec<u64>,
    order: Option<Vec<u32>>,
    /// More rows than this, and their order is forgotten.
    most_in_order: Option<usize>,
    max_bytes: Option<u64>,
    /// Columns whose numbers are counted if the table turns out to be too large, and which numbers apart.
    counting: Counting,
    apart: Vec<f64>,
    sampled: Option<Sampled>,
    placed: Vec<PlacedBins>,
}

/// What is known of a table that was too large for its memory: the numbers of some of its columns.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Why it is not the whole table.
    pub error: Error,
    /// The numbers of all rows, by column.
    pub numbers: Vec<(String, Numbers)>,
}

/// Which columns' numbers are counted if a table turns out to be too large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// None: it is refused.
    #[default]
    Nothing,
    /// Those of these columns.
    Columns(Vec<String>),
    /// Those of all columns of numbers.
    Everything,
}

impl Counting {
    fn counts(&self, column: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Columns(columns) => columns.iter().any(|name| name == column),
            Self::Everything => true,
        }
    }
}

/// The distinct rows read so far.
#[derive(Debug)]
enum Distinct {
    /// To be looked up.
    Merging(Rows),
    /// The codes of each column; rows may agree.
    Apart(Vec<Vec<u32>>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Merging(Rows::new(0))
    }
}

/// So many rows are looked at before they are kept apart, if more than three in four are distinct.
const FIRST_LOOK: usize = 1 << 16;

/// So many rows are put one after another to be looked up.
const LOOKED_UP: usize = 1 << 10;

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

    /// A table without rows yet, which will keep the order of its rows if there are at most so many.
    pub fn keeping_order_up_to(rows: usize) -> Self {
        Self {
            most_in_order: Some(rows),
            ..Self::keeping_order()
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

    /// More distinct rows than this do not fit, however few columns they have.
    pub fn most_rows(max_memory: u64) -> u64 {
        // Two counts, and a code in one column.
        max_memory / SHARE / (2 * size_of::<u64>() + size_of::<u32>()) as u64
    }

    /// Does not fail if the table is too large, but keeps its first rows and goes on to count the numbers of
    /// these columns, so that it can be read again with [bins in their place](Self::with_bins). Some numbers, those
    /// that may mean "missing", are [counted apart](Numbers::apart).
    pub fn counting(mut self, columns: Counting, apart: Vec<f64>) -> Self {
        self.counting = columns;
        self.apart = apart;
        self
    }

    /// Puts one number for each bin in the place of some columns' numbers, while they are read.
    pub fn with_bins(mut self, bins: Vec<PlacedBins>) -> Self {
        self.placed = bins;
        self
    }

    /// Whether the table has turned out to be too large: but for numbers, nothing is kept from then on.
    pub fn only_counts(&self) -> bool {
        self.sampled.is_some()
    }

    /// Puts the numbers of all rows, counted elsewhere, in the place of those counted so far: `count` adds those
    /// of a column to none.
    pub fn recount<E>(
        &mut self,
        mut count: impl FnMut(&str, &mut Numbers) -> Result<(), E>,
    ) -> Result<(), E> {
        for (name, numbers) in self.sampled.iter_mut().flat_map(|s| &mut s.numbers) {
            *numbers = Numbers::apart(&self.apart);
            count(name, numbers)?;
        }
        Ok(())
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
        let batch = self.with_coarse_numbers(batch);
        self.batches += 1;
        match &self.schema {
            Some(schema) => check_schema(schema, &batch.schema(), self.batches)?,
            None => self.start(batch.schema(), wanted),
        }
        if let Some(sampled) = &mut self.sampled {
            count_numbers(sampled, &batch, counts.as_deref());
            return Ok(());
        }
        let first_row = self.pushed + 1;
        let mut codes = Vec::new();
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            if let Some(column) = column {
                codes.push(column.encode(array, first_row)?);
            }
        }
        self.count_rows(counts.as_deref(), batch.num_rows())?;
        if self.most_in_order.is_some_and(|most| self.rows > most) {
            self.order = None;
        }
        self.add(&codes, batch.num_rows(), counts.as_deref());
        self.pushed += batch.num_rows() as u64;
        self.merge_or_keep_apart();
        if self.is_too_large() {
            self.is_short = true;
            self.merge();
        }
        match self.check_memory() {
            Err(error) if self.counting != Counting::Nothing => {
                self.sample(error);
                Ok(())
            }
            checked => checked,
        }
    }

    /// The rows so far are a sample from now on. Columns that hold other things than numbers are not counted.
    fn sample(&mut self, error: Error) {
        let by_column = match &self.distinct {
            Distinct::Merging(rows) => rows.by_column(),
            Distinct::Apart(columns) => columns.clone(),
        };
        let columns = self.columns.iter().flatten().zip(&by_column);
        let columns = columns.filter(|(column, _)| {
            column.data_type().is_numeric() && self.counting.counts(column.name())
        });
        let numbers = columns.map(|(column, codes)| {
            let mut numbers = Numbers::apart(&self.apart);
            for (&code, &rows) in codes.iter().zip(&self.repeats) {
                if let Some(number) = column.values()[code as usize].number() {
                    numbers.add(number, rows);
                }
            }
            (column.name().to_owned(), numbers)
        });
        self.sampled = Some(Sampled {
            error,
            numbers: numbers.collect(),
        });
    }

    /// A batch with one number for each bin, where bins are placed.
    fn with_coarse_numbers<'b>(&self, batch: Cow<'b, RecordBatch>) -> Cow<'b, RecordBatch> {
        if self.placed.is_empty() {
            return batch;
        }
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = columns.map(|(field, array)| {
            let placed = self.placed.iter().find(|p| p.column() == field.name());
            let array = placed.map_or_else(|| Arc::clone(array), |placed| placed.coarse(array));
            (field.name(), array, true)
        });
        // All arrays have as many entries as before.
        let coarse = RecordBatch::try_from_iter_with_nullable(columns);
        Cow::Owned(coarse.expect("columns of one length"))
    }

    /// Keeps rows apart from now on if merging saves next to nothing, or merges those that are.
    fn merge_or_keep_apart(&mut self) {
        let held = self.repeats.len();
        match &self.distinct {
            Distinct::Apart(_) if held < self.merge_at => return,
            Distinct::Apart(_) => self.merge(),
            Distinct::Merging(_) => {}
        }
        // Rows that were counted before are few.
        let may_be_apart =
            self.pushed >= FIRST_LOOK as u64 && self.count.is_none() && !self.is_short;
        if let Distinct::Merging(rows) = &self.distinct
            && may_be_apart
            && rows.len() as u64 * 4 > self.pushed * 3
        {
            self.distinct = Distinct::Apart(rows.by_column());
            // Each row is looked up about twice at most: once among half as many, once among all.
            self.merge_at = 2 * held;
        }
    }

    /// Merges rows that were kept apart.
    fn merge(&mut self) {
        let Distinct::Apart(columns) = &self.distinct else {
            return;
        };
        let (columns, mut rows) = (columns.as_slice(), Rows::new(columns.len()));
        let counts = std::mem::take(&mut self.repeats).into_iter();
        let counted = counts.zip(std::mem::take(&mut self.first_rows));
        let mut numbers = Vec::new();
        look_up(
            &mut rows,
            columns,
            counted,
            (&mut self.repeats, &mut self.first_rows),
            self.order.is_some().then_some(&mut numbers),
        );
        for row in self.order.iter_mut().flatten() {
            *row = numbers[*row as usize];
        }
        self.distinct = Distinct::Merging(rows);
    }

    fn is_too_large(&self) -> bool {
        self.max_bytes.is_some_and(|limit| self.bytes() > limit)
    }

    fn check_memory(&self) -> Result<(), Error> {
        let Some(limit) = self.max_bytes.filter(|_| self.is_too_large()) else {
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
                let counted = (0..rows).map(|i| (count(i), next_row + i as u64));
                let kept = (&mut self.repeats, &mut self.first_rows);
                look_up(distinct, codes, counted, kept, self.order.as_mut());
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
            rows_read: self.rows,
            sampled: self.sampled.map(Arc::new),
            placed: Arc::new(self.placed),
        }
    }
}

/// Looks rows up by their codes in each column, each with how many it stands for and which row it was. Adds
/// up how many each distinct row stands for, keeps which was its first, and tells the number of each.
fn look_up(
    distinct: &mut Rows,
    codes: &[Vec<u32>],
    counted: impl Iterator<Item = (u64, u64)>,
    (repeats, first_rows): (&mut Vec<u64>, &mut Vec<u64>),
    mut numbers: Option<&mut Vec<u32>>,
) {
    let mut counted = counted.enumerate().filter(|&(_, (count, _))| count > 0);
    let (mut rows, mut of_rows) = (Vec::new(), Vec::with_capacity(LOOKED_UP));
    loop {
        rows.clear();
        of_rows.clear();
        for (i, of_row) in counted.by_ref().take(LOOKED_UP) {
            rows.extend(codes.iter().map(|column| column[i]));
            of_rows.push(of_row);
        }
        if of_rows.is_empty() {
            return;
        }
        distinct.insert_all(&rows, of_rows.len(), |row, number, new| {
            let (count, first_row) = of_rows[row];
            if new {
                repeats.push(0);
                first_rows.push(first_row);
            }
            repeats[number] += count;
            if let Some(numbers) = &mut numbers {
                numbers.push(number as u32);
            }
        });
    }
}

/// Takes in the numbers of a batch of which nothing else is kept.
fn count_numbers(sampled: &mut Sampled, batch: &RecordBatch, counts: Option<&[u64]>) {
    for (name, counted) in &mut sampled.numbers {
        let Some(entries) = batch.column_by_name(name).and_then(|array| numbers(array)) else {
            continue;
        };
        for (row, number) in entries.into_iter().enumerate() {
            if let Some(number) = number {
                counted.add(number, counts.map_or(1, |counts| counts[row]));
            }
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

        let all = expected(0..120, 30);
        let mut counts = vec![0; 30];
        (counts[29], counts[5]) = (1, 3);
        let some = table.repeated(&counts);
        assert_eq!((some.rows(), some.repeats()), (4, &[3, 1][..]));
        let chosen = [5, 5, 5, 29].map(|row: usize| all[row].clone());
        assert_eq!(rows(&some), chosen);
        assert_eq!((some.first_row(1), some.rows_read()), (30, 120));
        assert!(!some.knows_order() && table.knows_order());

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

    /// Rows of more profiles than the first look can tell: they are kept apart at first, and merged later.
    #[test]
    fn rows_are_merged_once_they_repeat() {
        let profiles = 2 * FIRST_LOOK as i64;
        let read = |reader: TableReader, times: i64| {
            let mut reader = reader;
            for start in (0..times * profiles).step_by(1 << 13) {
                reader.push(&batch(start..start + (1 << 13), profiles))?;
            }
            Ok::<_, Error>(reader)
        };
        let reader = read(TableReader::keeping_order(), 5).unwrap();
        assert!(matches!(reader.distinct, Distinct::Merging(_)));
        let table = reader.finish();
        assert_eq!(table.repeats().len() as i64, profiles);
        assert!(table.repeats().iter().all(|&rows| rows == 5));
        assert_eq!(rows(&table), expected(0..5 * profiles, profiles));
        assert_eq!(table.first_row(7), 8);

        // Under a limit that their profiles keep they are read, however often they come.
        let enough = 4 * read(TableReader::new(), 5).unwrap().bytes();
        let reader = read(TableReader::new().within(enough), 40).unwrap();
        assert_eq!(reader.finish().repeats().len() as i64, profiles);
    }

    /// A table that is refused is refused for its distinct rows, and says how many they are.
    #[test]
    fn rows_are_merged_before_they_are_refused() {
        let first = FIRST_LOOK as i64;
        let look = batch(0..first, 4 * first);
        let mut reader = TableReader::new();
        reader.push(&look).unwrap();
        assert!(matches!(reader.distinct, Distinct::Apart(_)));
        let mut reader = TableReader::new().within(4 * reader.bytes());
        reader.push(&look).unwrap();
        let Err(Error::TableTooLarge { rows, distinct, .. }) = reader.push(&look) else {
            panic!("it is too large");
        };
        assert_eq!((rows, distinct), (2 * FIRST_LOOK, FIRST_LOOK));
    }

    /// What is short stays so: rows are not rebuilt again with each batch.
    #[test]
    fn rows_are_merged_once_before_memory_runs_out() {
        let many = 4 * FIRST_LOOK as i64;
        let apart = {
            let mut reader = TableReader::new();
            reader.push(&batch(0..FIRST_LOOK as i64, many)).unwrap();
            assert!(matches!(reader.distinct, Distinct::Apart(_)));
            reader.bytes()
        };
        let mut reader = TableReader::new().within(16 * apart);
        let mut merged = 0;
        for start in (0..many).step_by(1 << 10) {
            let was_apart = matches!(reader.distinct, Distinct::Apart(_));
            if reader.push(&batch(start..start + (1 << 10), many)).is_err() {
                break;
            }
            let is_merging = matches!(reader.distinct, Distinct::Merging(_));
            merged += usize::from(was_apart && is_merging);
        }
        assert!(merged <= 1, "{merged}");
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

    #[test]
    fn the_order_of_many_rows_is_forgotten() {
        let read = |most: usize| {
            let mut reader = TableReader::keeping_order_up_to(most);
            for _ in 0..2 {
                reader.push(&batch(0..60, 30)).unwrap();
            }
            reader.finish()
        };
        let (kept, forgotten) = (read(120), read(119));
        assert!(kept.knows_order() && !forgotten.knows_order());
        assert_eq!(kept.order()[..4], [0, 1, 2, 3]);
        assert_eq!(forgotten.order()[..4], [0, 0, 0, 0]);
        assert_eq!(kept.repeats(), forgotten.repeats());
    }

    /// Places go by values: the same for rows in another order, and the same for rows that differ elsewhere.
    #[test]
    fn places_go_by_values() {
        let one = Table::read([batch(0..60, 30)]).unwrap();
        let other = Table::read([batch(20..60, 30), batch(0..20, 30)]).unwrap();
        let places = |table: &Table, columns: &[&str]| -> Vec<(Value, u32)> {
            let number = table.column("number").unwrap();
            let places = table.places_by_value(columns).unwrap();
            let mut places: Vec<(Value, u32)> = (places.into_iter().enumerate())
                .map(|(row, place)| (number.value(row).clone(), place))
                .collect();
            places.sort_by_key(|(value, _)| value.number().map(|number| number as u64));
            places
        };
        let both = places(&one, &["number", "text"]);
        assert_eq!(both, places(&other, &["number", "text"]));
        assert!(both.iter().map(|&(_, place)| place).eq(0..30));
        let texts = places(&one, &["text"]);
        assert_eq!(texts, places(&other, &["text"]));
        assert_eq!(texts.iter().map(|&(_, place)| place).max(), Some(2));
    }

    /// In two passes: the numbers, and then the rows with one number a bin.
    #[test]
    fn a_table_that_is_too_large_is_read_twice() {
        use super::super::{Bins, Edges, View};

        let many = 3 * FIRST_LOOK as i64;
        let batches = || (0..12).map(|part| batch(part * many / 12..(part + 1) * many / 12, many));
        let mut first = TableReader::new()
            .within(8 << 20)
            .counting(Counting::Everything, vec![7.0]);
        batches().for_each(|batch| first.push(&batch).unwrap());
        let first = first.finish();
        let sampled = first.sampled().unwrap();
        assert!((first.rows() as i64) < many);
        assert!(matches!(sampled.error, Error::TableTooLarge { .. }));
        let [(name, numbers)] = sampled.numbers.as_slice() else {
            panic!("texts have no quantiles");
        };
        assert_eq!((name.as_str(), numbers.rows()), ("number", many as u64));

        let bins = Bins {
            edges: Edges::Quantiles(4),
            labels: None,
            view: View::Label,
        };
        let placed = PlacedBins::new("number", &bins, numbers, &["7".to_owned()]);
        let placed = placed.unwrap().unwrap();
        assert_eq!((placed.off(), placed.rows()), (0, many as u64 - 1));
        let mut second = TableReader::new().within(8 << 20).with_bins(vec![placed]);
        batches().for_each(|batch| second.push(&batch).unwrap());
        let second = second.finish();
        assert!(second.sampled().is_none());
        assert_eq!(second.rows() as i64, many);
        let number = second.column("number").unwrap();
        let mut held: Vec<(f64, usize)> = (number.column().values().iter())
            .zip(number.counts())
            .map(|(value, rows)| (value.number().unwrap(), rows))
            .collect();
        held.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The least number, a code for a missing one, and the upper ends of four bins.
        assert_eq!(held[..2], [(0.0, 1), (7.0, 1)]);
        let quarter = many as usize / 4;
        for (_, rows) in &held[2..] {
            assert!(rows.abs_diff(quarter) <= 2, "{held:?}");
        }
        assert_eq!(held.len(), 6);
        assert_eq!(held[5].0, (many - 1) as f64);
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
