//! The model: inputs, trees, output.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::{Counterfactuals, Model, ModelError};
use facts_engine::population::Column;
use facts_engine::{Error, Words};

use super::flips;
use super::{Ensemble, Inputs, Output};
use crate::open::{Input, OpenOptions};

/// A boosted, dropped-out or averaged ensemble of trees, read from a LightGBM or an XGBoost file.
///
/// Its probabilities are the library's own. The answer is yes where the probability is above one
/// half, as in the libraries' classifiers, or from [`OpenOptions::threshold`] on.
#[derive(Clone, Debug)]
pub struct TreeModel {
    pub(super) inputs: Inputs,
    pub(super) trees: Ensemble,
    pub(super) output: Output,
    library: &'static str,
}

/// Rows that are walked through a tree together: their numbers and the tree stay in the cache.
pub(super) const ROWS: usize = 256;

impl TreeModel {
    pub(crate) fn new(
        library: &'static str,
        inputs: Inputs,
        trees: Ensemble,
        output: Output,
    ) -> Self {
        Self {
            inputs,
            trees,
            output,
            library,
        }
    }

    pub(crate) fn with(mut self, options: &OpenOptions) -> Self {
        self.inputs.rename(options);
        self.output.threshold = options.threshold.or(self.output.threshold);
        self
    }

    /// How many trees it has.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// The columns that its trees look at, and what those must hold.
    pub fn inputs(&self) -> Vec<Input> {
        self.inputs.told()
    }

    /// What it is, for reports.
    pub fn description(&self) -> String {
        match self.trees() {
            1 => format!("{}, 1 tree", self.library),
            trees => format!("{}, {trees} trees", self.library),
        }
    }

    /// The probability of yes for each row. An XGBoost model trained with `binary:hinge` knows no
    /// probabilities, only 0 and 1.
    pub fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, ModelError> {
        let sums = self.sums(rows)?;
        Ok(sums.iter().map(|&s| self.output.probability(s)).collect())
    }

    /// The sum of leaves for each row, added in the order of the trees.
    fn sums(&self, rows: &RecordBatch) -> Result<Vec<f64>, ModelError> {
        let schema = rows.schema_ref();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let places = self.inputs.find(&names)?;
        let mut columns = Vec::with_capacity(places.len());
        for (input, &place) in places.iter().enumerate() {
            let name = names[place];
            let (column, codes) =
                Column::of(name, rows.column(place)).map_err(|error| ModelError::Column {
                    column: name.to_owned(),
                    why: error.to_string(),
                })?;
            let numbers = self.inputs.numbers(input, &column)?;
            let codes = codes.into_iter();
            columns.push(codes.map(|c| numbers[c as usize]).collect::<Vec<f64>>());
        }

        let mut sums = vec![self.output.base; rows.num_rows()];
        let mut together = Vec::with_capacity(ROWS * columns.len());
        for (chunk, sums) in sums.chunks_mut(ROWS).enumerate() {
            together.clear();
            for row in (chunk * ROWS..).take(sums.len()) {
                together.extend(columns.iter().map(|column| column[row]));
            }
            self.add_all(&together, sums);
        }
        Ok(sums)
    }

    /// Adds all trees for a few rows, one after another.
    fn add_all(&self, rows: &[f64], sums: &mut [f64]) {
        let mut leaves = [0.0; ROWS];
        let leaves = &mut leaves[..sums.len()];
        for tree in 0..self.trees.len() {
            self.trees
                .leaves(tree, rows, self.inputs.inputs.len(), leaves);
            for (sum, leaf) in sums.iter_mut().zip(&*leaves) {
                *sum = self.output.precision.add(*sum, *leaf);
            }
        }
    }

    /// The sum of leaves for one row, as [`predict`](Model::predict) adds it.
    pub(super) fn sum(&self, row: &[f64]) -> f64 {
        let mut sum = self.output.base;
        self.add_all(row, std::slice::from_mut(&mut sum));
        sum
    }
}

impl Model for TreeModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let sums = self.sums(rows)?;
        let yes: Vec<bool> = sums.iter().map(|&sum| self.output.is_yes(sum)).collect();
        Ok(Arc::new(BooleanArray::from(yes)))
    }

    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }

    fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
        flips::flips(self, ask)
    }
}
