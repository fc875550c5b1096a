//! The population: the table under audit, as distinct profiles.
//!
//! A [`Table`] is encoded once; a [`Declaration`] says what each column is; together they give a
//! [`Population`] (`reading.rs`). There, people who agree in everything the model sees are one
//! *profile* with a weight, so the rest of the engine never meets a row twice. Each profile is known
//! in two views: its values, in the model's own terms, and its levels, in which predicates and
//! actions speak.

mod batches;
mod bins;
mod column;
mod declare;
mod groups;
mod levels;
mod numbers;
mod order;
mod placed;
mod reading;
mod resample;
mod shared;
mod table;
mod table_reader;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

pub(crate) use self::batches::BatchMaker;
pub use self::batches::Dictionaries;
pub use self::bins::edges;
pub(crate) use self::bins::median;
pub use self::column::{Column, Value, as_type};
pub use self::declare::{
    Bins, CostFunction, Declaration, Direction, Distance, Edges, Feature, Kind, Missing, Move,
    Protected, Rules, Step, TransitionRule, View,
};
pub use self::levels::{Level, Levels};
pub use self::numbers::Numbers;
pub use self::placed::{PlacedBins, numbers_of};
pub use self::reading::RowProfiles;
pub use self::resample::draw;
pub use self::shared::{Shared, shared_numbers};
pub use self::table::{EncodedColumn, Table};
pub use self::table_reader::{Counting, Sampled, TableReader};
use crate::rows::Rows;

/// What was read and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Rows in the table.
    pub rows: u64,
    /// People in the audit: the weights of the rows that were kept.
    pub people: u64,
    /// Rows left out because their protected value is missing.
    pub excluded: u64,
    /// Rows left out because a feature is missing.
    pub dropped: u64,
    /// The features behind that; a row that misses two counts for both.
    pub dropped_for: Vec<(String, u64)>,
    /// Rows of weight 0.
    pub weightless: u64,
    /// Columns that were not declared, which neither the audit nor the model sees.
    pub ignored_columns: Vec<String>,
    /// What a careful user would want to know.
    pub notices: Vec<String>,
}

/// The table under audit, as distinct profiles.
#[derive(Clone, Debug)]
pub struct Population {
    columns: Vec<Column>,
    /// The column of each feature.
    column_of: Vec<usize>,
    features: Vec<Levels>,
    profiles: Rows,
    people: Vec<u64>,
    group_of: Vec<u32>,
    /// Level by feature and profile.
    levels_of: Vec<Vec<u32>>,
    /// Value code by feature and level.
    typical: Vec<Vec<Option<u32>>>,
    groups: Vec<String>,
    /// The columns that say which group somebody belongs to.
    protected: Vec<usize>,
    summary: Summary,
}

impl Population {
    /// The features, in order of name.
    pub fn features(&self) -> &[Levels] {
        &self.features
    }

    /// The columns that the model sees, in table order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Names of all groups, in order.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// How many distinct profiles there are.
    pub fn profiles(&self) -> usize {
        self.profiles.len()
    }

    /// How many people a profile stands for.
    pub fn people(&self, profile: usize) -> u64 {
        self.people[profile]
    }

    /// The group of a profile.
    pub fn group(&self, profile: usize) -> usize {
        self.group_of[profile] as usize
    }

    /// The level of a profile in a feature.
    pub fn level(&self, feature: usize, profile: usize) -> u32 {
        self.levels_of[feature][profile]
    }

    /// The value of a profile in a feature, as the table has it.
    pub fn value(&self, feature: usize, profile: usize) -> &Value {
        let column = self.column_of[feature];
        &self.columns[column].values()[self.row(profile)[column] as usize]
    }

    /// The value codes of a profile, one a column.
    pub(crate) fn row(&self, profile: usize) -> &[u32] {
        self.profiles.row(profile)
    }

    /// What was read and what was left out.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    pub(crate) fn column_of(&self, feature: usize) -> usize {
        self.column_of[feature]
    }

    pub(crate) fn typical(&self, feature: usize, level: u32) -> Option<u32> {
        self.typical[feature][level as usize]
    }

    /// About how much memory the population takes.
    pub(crate) fn bytes(&self) -> u64 {
        let values: usize = self.columns.iter().map(Column::bytes).sum();
        let levels: usize = self.levels_of.iter().map(Vec::capacity).sum();
        let of_profile = 8 * self.people.capacity() + 4 * self.group_of.capacity();
        (values + self.profiles.bytes() + of_profile + 4 * levels) as u64
    }

    /// The schema of the batches that a model is given.
    pub(crate) fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|column| Field::new(column.name(), column.data_type().clone(), true))
            .collect();
        Arc::new(Schema::new(fields))
    }

    /// The rows of these profiles as the model sees them.
    pub fn model_rows(&self, profiles: impl ExactSizeIterator<Item = usize>) -> RecordBatch {
        let maker = BatchMaker::new(self.schema(), &self.columns);
        maker.batch(profiles.map(|profile| self.row(profile)))
    }
}
