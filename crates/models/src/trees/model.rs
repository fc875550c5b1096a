//! The model: inputs, trees, output.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::{Counterfactuals, Model, ModelError};
use facts_engine::population::Column;
use facts_engine::{Error, Words};

use super::flips;
use super::{Ensemble, Inputs, Output, Refused, Rows};
use crate::error::OpenError;
use crate::open::{Input, OpenOptions, Opened};

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

/// Rows that pass through a tree together: they and the tree stay in the fastest cache.
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

    /// Opens a file that a library saved, by what reads its bytes.
    pub(crate) fn open(
        path: &Path,
        options: &OpenOptions,
        library: &'static str,
        read: fn(&[u8]) -> Result<Self, Refused>,
    ) -> Result<Self, OpenError> {
        let bytes = facts_guard::read_file(path, facts_guard::LARGEST_MODEL)
            .map_err(|error| OpenError::file(path, error))?;
        let mut model = read(&bytes).map_err(|refused| refused.of(path, library))?;
        model.inputs.rename(options);
        model.output.threshold = options.threshold.or(model.output.threshold);
        Ok(model)
    }

    /// The model with what is known about it, as read from a file.
    pub(crate) fn opened(self, path: &Path) -> Opened {
        Opened {
            inputs: Some(self.inputs()),
            description: self.description(),
            file: Some(path.to_owned()),
            model: Box::new(self),
        }
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
            let (column, codes) = Column::of(name, rows.column(place))
                .map_err(|error| ModelError::column(name, error.to_string()))?;
            let classes = self.classes(input, &column)?;
            let codes = codes.into_iter();
            columns.push(codes.map(|c| classes[c as usize]).collect::<Vec<u32>>());
        }

        let mut sums = vec![self.output.base; rows.num_rows()];
        let mut together = Vec::with_capacity(ROWS * columns.len());
        let mut space = Space::default();
        for (chunk, sums) in sums.chunks_mut(ROWS).enumerate() {
            together.clear();
            for column in &columns {
                together.extend_from_slice(&column[chunk * ROWS..][..sums.len()]);
            }
            let rows = Rows {
                classes: &together,
                apart: sums.len(),
            };
            self.add_all(rows, &mut space, sums);
        }
        Ok(sums)
    }

    /// The class of each value of a column that an input reads.
    pub(super) fn classes(&self, input: usize, column: &Column) -> Result<Vec<u32>, ModelError> {
        let numbers = self.inputs.numbers(input, column)?.into_iter();
        Ok(numbers.map(|n| self.trees.class(input, n)).collect())
    }

    /// Adds all trees for a few rows, one after another.
    pub(super) fn add_all(&self, rows: Rows<'_>, space: &mut Space, sums: &mut [f64]) {
        space.leaves.resize(sums.len(), 0.0);
        for tree in 0..self.trees.len() {
            self.trees
                .leaves(tree, rows, &mut space.sets, &mut space.leaves);
            for (sum, leaf) in sums.iter_mut().zip(&space.leaves) {
                *sum = self.output.precision.add(*sum, *leaf);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn sum_of_missing(&self) -> f64 {
        let inputs = 0..self.inputs.inputs.len();
        let classes: Vec<u32> = inputs.map(|i| self.trees.class(i, f64::NAN)).collect();
        let rows = Rows {
            classes: &classes,
            apart: 1,
        };
        let mut sum = self.output.base;
        self.add_all(rows, &mut Space::default(), std::slice::from_mut(&mut sum));
        sum
    }
}

/// Space to work in, kept from one few rows to the next.
#[derive(Default)]
pub(super) struct Space {
    pub(super) sets: Vec<u64>,
    pub(super) leaves: Vec<f64>,
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

    fn asks_for_rows(&self) -> bool {
        false
    }

    fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
        flips::flips(self, ask)
    }
}
