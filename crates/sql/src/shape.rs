//! From what a statement answers to the columns of a query.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::statement::Selected;
use crate::zero;

/// What becomes of the batches of a statement that groups: the columns of the query and the count. Columns that
/// nobody wants keep their names and places, and hold nothing.
pub(crate) struct Shape {
    pub(crate) schema: SchemaRef,
    /// Where the answer has each column of the query; nowhere if nobody wants it.
    places: Vec<Option<usize>>,
    /// How many columns the answer has values of.
    values: usize,
    /// Those of them with signed zeros; behind them all, the answer has their signs.
    with_signs: Vec<usize>,
}

impl Shape {
    /// From an answer of these columns to the columns of these names.
    pub(crate) fn new(
        answered: &Schema,
        selected: &[Selected],
        names: &[String],
        count: &str,
    ) -> Self {
        let place = |name: &String| selected.iter().position(|column| column.name == *name);
        let places: Vec<Option<usize>> = names.iter().map(place).collect();
        // Some drivers name columns as they like; the names are those of the query.
        let field = |name: &str, place: Option<usize>| {
            let answered = place.and_then(|place| answered.fields().get(place));
            let kind = answered.map_or(DataType::Null, |field| field.data_type().clone());
            Field::new(name, kind, true)
        };
        let fields = names.iter().zip(&places);
        let fields = fields.map(|(name, &place)| field(name, place));
        let fields = fields.chain([field(count, answered.fields().len().checked_sub(1))]);
        let signed = selected.iter().enumerate();
        let signed = signed.filter(|(_, column)| column.has_signed_zeros);
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            places,
            values: selected.len(),
            with_signs: signed.map(|(place, _)| place).collect(),
        }
    }

    pub(crate) fn of(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let all = batch.columns();
        let mut values: Vec<ArrayRef> = all.iter().take(self.values).cloned().collect();
        for (&place, is_minus) in self.with_signs.iter().zip(all.iter().skip(self.values)) {
            if let Some(column) = values.get_mut(place) {
                *column = zero::signed(column, is_minus);
            }
        }
        let column = |place: &Option<usize>| -> Option<ArrayRef> {
            match *place {
                Some(place) => values.get(place).cloned(),
                None => Some(Arc::new(NullArray::new(batch.num_rows()))),
            }
        };
        let columns = self.places.iter().filter_map(column);
        let columns = columns.chain(all.last().cloned()).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, Float64Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn an_answer_becomes_the_columns_of_the_query() {
        let numbers = |numbers: [i64; 2]| Arc::new(Int64Array::from(numbers.to_vec())) as ArrayRef;
        let answer = RecordBatch::try_from_iter([
            ("1", Arc::new(StringArray::from(vec!["f", "m"])) as ArrayRef),
            (
                "2",
                Arc::new(Float64Array::from(vec![0.0, 0.0])) as ArrayRef,
            ),
            ("3", numbers([0, 1])),
            ("4", numbers([7, 8])),
        ])
        .unwrap();
        let selected = [
            Selected::as_it_is("sex"),
            Selected::as_it_is("pay").with_signed_zeros(),
        ];
        let names = ["id", "sex", "note", "pay"].map(str::to_owned);
        let shape = Shape::new(&answer.schema(), &selected, &names, "count");
        let shaped = shape.of(&answer).unwrap();
        assert_eq!(shaped.schema(), shape.schema);
        let found: Vec<&str> = (shape.schema.fields().iter())
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(found, ["id", "sex", "note", "pay", "count"]);
        assert_eq!(shaped["id"].data_type(), &DataType::Null);
        assert_eq!(&shaped["sex"], answer.column(0));
        let pay = Float64Array::from(vec![0.0, -0.0]);
        assert_eq!(shaped["pay"].to_data(), pay.to_data());
        assert_eq!(&shaped["count"], answer.column(3));
        // A driver that answers otherwise is an error.
        assert!(shape.of(&answer.project(&[0, 1]).unwrap()).is_err());
    }
}
