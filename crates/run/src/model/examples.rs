//! Examples: the rows of a table that a model can be fitted to, and how they are split into a part for the
//! fit and a part for the audit.
//!
//! There are two ways. By place, every row is an example of its own, in the order of the table. By counts,
//! an example is a distinct row with how many rows it stands for: memory and time follow the distinct
//! rows, and neither split nor model depends on the order in which rows come.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use facts_engine::population::{self, Population};
use facts_models::AdditiveModel;
use facts_models::train::{self, Splitting, Training, accuracy, split, split_counts};

use crate::columns::Columns;
use crate::config::Config;
use crate::failure::Failure;
use crate::label::Label;
use crate::people::People;
use crate::table::{SPLIT_BY_PLACE, Table};

/// The rows that a model can be fitted on: in the audit, with a known outcome.
pub(super) struct Examples<'a> {
    pub(super) population: Population,
    /// The rows whose outcome is known.
    table: Cow<'a, population::Table>,
    splitting: Splitting,
    examples: Vec<Example>,
}

/// A row, or all rows that agree with it.
struct Example {
    /// The distinct row of the table, and its profile.
    row: usize,
    profile: usize,
    favourable: bool,
    /// How many rows it stands for.
    repeats: u64,
    /// The same for rows that agree in every column that has a role.
    kind: u32,
}

/// Some of the examples, by place, each with how many of its rows.
pub(super) struct Part(Vec<(usize, u64)>);

impl Part {
    /// How many rows it has.
    pub(super) fn rows(&self) -> u64 {
        self.0.iter().map(|&(_, rows)| rows).sum()
    }
}

/// How the rows of a table are split: as the user says; else by place where there are few, and by counts
/// where there are many or nobody knows their order.
fn splitting(config: &Config, table: &population::Table) -> Result<Splitting, Failure> {
    match config.train.split {
        Some(Splitting::Counts) => Ok(Splitting::Counts),
        Some(by_place) if table.knows_order() => Ok(by_place),
        Some(_) => Err(Failure::usage(
            "`train.split` splits rows by their places, and a table of counts has none: leave it out, or write counts",
        )),
        None if table.knows_order() && table.rows_read() <= SPLIT_BY_PLACE => Ok(Splitting::Own),
        None => Ok(Splitting::Counts),
    }
}

impl<'a> Examples<'a> {
    /// Finds them, and fixes bins that the model sees where they lie among all of them: the part that
    /// it is fitted on and the part that is audited must be cut alike.
    pub(super) fn new(
        config: &Config,
        columns: &mut Columns,
        label: &Label,
        table: &'a Table,
    ) -> Result<Self, Failure> {
        let splitting = splitting(config, &table.cells)?;
        let known = label.known(table.cells.column(&label.column)?);
        let table = match known.contains(&None) {
            true => Cow::Owned(table.cells.filter(|row| known[row].is_some())),
            false => Cow::Borrowed(&table.cells),
        };
        let outcomes: Vec<bool> = known.into_iter().flatten().collect();
        let everybody = columns.declaration.clone().everybody();
        let People {
            population,
            rows: profiles,
            table,
        } = People::of(config, &everybody, table)?;
        columns.declaration = std::mem::take(&mut columns.declaration).with_bins_of(&population);
        let example = |row: usize, repeats: u64, kind: u32| {
            Some(Example {
                row,
                profile: profiles.profile(row)?,
                favourable: outcomes[row],
                repeats,
                kind,
            })
        };
        let examples = match splitting {
            Splitting::Own | Splitting::ScikitLearn => {
                let rows = table.order().into_iter();
                rows.filter_map(|row| example(row as usize, 1, row))
                    .collect()
            }
            Splitting::Counts => {
                let kinds = table.places_by_value(&in_order_of_names(columns))?;
                let rows = table.repeats().iter().zip(kinds).enumerate();
                let rows = rows.filter_map(|(row, (&repeats, kind))| example(row, repeats, kind));
                let mut examples: Vec<Example> = rows.collect();
                examples.sort_by_key(|example| example.kind);
                examples
            }
        };
        Ok(Self {
            population,
            table,
            splitting,
            examples,
        })
    }

    /// Whether they are split by counts.
    pub(super) fn is_by_counts(&self) -> bool {
        self.splitting == Splitting::Counts
    }

    /// All of them.
    pub(super) fn all(&self) -> Part {
        let repeats = self.examples.iter().map(|example| example.repeats);
        Part(repeats.enumerate().collect())
    }

    /// A part to fit a model on, and a part to audit.
    pub(super) fn split(&self, test_percent: u8, seed: u64) -> Result<(Part, Part), Failure> {
        if self.is_by_counts() {
            return Ok(self.split_by_counts(test_percent, seed));
        }
        let examples = self.examples.iter();
        let outcomes: Vec<bool> = examples.map(|example| example.favourable).collect();
        let (train, test) = split(&outcomes, self.splitting, test_percent, seed)?;
        let part = |places: Vec<usize>| Part(places.into_iter().map(|place| (place, 1)).collect());
        Ok((part(train), part(test)))
    }

    /// How many rows of a kind are audited is drawn; which of them makes no difference to anybody.
    fn split_by_counts(&self, test_percent: u8, seed: u64) -> (Part, Part) {
        let kinds = || self.examples.chunk_by(|a, b| a.kind == b.kind);
        let rows = |kind: &[Example]| kind.iter().map(|example| example.repeats).sum();
        let counts: Vec<(bool, u64)> = kinds()
            .map(|kind| (kind[0].favourable, rows(kind)))
            .collect();
        let drawn = split_counts(&counts, test_percent, seed);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        let mut place = 0;
        for (kind, mut left) in kinds().zip(drawn) {
            for example in kind {
                let tested = left.min(example.repeats);
                left -= tested;
                train.push((place, example.repeats - tested));
                test.push((place, tested));
                place += 1;
            }
        }
        (Part(train), Part(test))
    }

    /// The table of the rows of a part.
    pub(super) fn table(&self, part: &Part) -> population::Table {
        let mut repeats = vec![0; self.table.repeats().len()];
        for &(place, rows) in &part.0 {
            repeats[self.examples[place].row] += rows;
        }
        self.table.repeated(&repeats)
    }

    pub(super) fn fit(&self, training: &Training, part: &Part) -> Result<AdditiveModel, Failure> {
        Ok(training.fit(self.seen(part).examples())?)
    }

    /// The share of the rows of a part on which a model's answer is the outcome.
    pub(super) fn accuracy(&self, model: &AdditiveModel, part: &Part) -> Result<f64, Failure> {
        Ok(accuracy(model, self.seen(part).examples())?)
    }

    /// A part as the model sees it.
    fn seen(&self, part: &Part) -> Seen {
        let example = |&(place, rows): &(usize, u64)| (&self.examples[place], rows);
        if self.is_by_counts() {
            return self.seen_by_counts(part.0.iter().map(example));
        }
        let examples = || part.0.iter().map(example);
        let profiles = examples().map(|(example, _)| example.profile);
        Seen {
            rows: self.population.model_rows(profiles),
            favourable: examples().map(|(example, _)| example.favourable).collect(),
            repeats: None,
        }
    }

    /// What the model sees alike is one row for each outcome. Rows come in the order of profiles, which is
    /// that of their values, and columns in the order of their names, so that sums are the same to the last
    /// bit however the table comes.
    fn seen_by_counts<'e>(&self, examples: impl Iterator<Item = (&'e Example, u64)>) -> Seen {
        let mut counts: BTreeMap<(usize, bool), u64> = BTreeMap::new();
        for (example, rows) in examples.filter(|&(_, rows)| rows > 0) {
            *counts
                .entry((example.profile, example.favourable))
                .or_default() += rows;
        }
        let profiles = counts.keys().map(|&(profile, _)| profile);
        let rows = self.population.model_rows(profiles);
        let schema = rows.schema();
        let mut columns: Vec<usize> = (0..rows.num_columns()).collect();
        columns.sort_by_key(|&column| schema.field(column).name());
        Seen {
            // These are the places of all its columns.
            rows: rows.project(&columns).expect("columns of the batch"),
            favourable: counts.keys().map(|&(_, favourable)| favourable).collect(),
            repeats: Some(counts.into_values().collect()),
        }
    }
}

/// The columns that have a role, in the order of their names.
fn in_order_of_names(columns: &Columns) -> Vec<&str> {
    let roles = columns.roles.iter().filter(|role| role.role != "ignored");
    let mut names: Vec<&str> = roles.map(|role| role.column.as_str()).collect();
    names.sort_unstable();
    names
}

/// Rows as the model sees them, with their outcomes and how many rows each stands for.
struct Seen {
    rows: RecordBatch,
    favourable: Vec<bool>,
    repeats: Option<Vec<u64>>,
}

impl Seen {
    fn examples(&self) -> train::Examples<'_> {
        train::Examples {
            rows: &self.rows,
            favourable: &self.favourable,
            repeats: self.repeats.as_deref(),
        }
    }
}
