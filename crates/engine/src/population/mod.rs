//! The population: the table under audit, as distinct profiles.
//!
//! A [`Declaration`] says what each column is; [`Declaration::read`] takes record batches and
//! gives a [`Population`]. There, people who agree in everything the model sees are one *profile*
//! with a weight, so the rest of the engine never meets a row twice. Each profile is known in two
//! views: its values, in the model's own terms, and its levels, in which predicates and actions
//! speak.

mod bins;
mod column;
mod declare;
mod groups;
mod levels;
mod resample;

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

pub(crate) use self::bins::median;
pub use self::column::{Column, Value};
pub use self::declare::{
    Bins, CostFunction, Direction, Distance, Edges, Feature, Kind, Missing, Move, Protected, Rules,
    Step, TransitionRule, View,
};
pub use self::levels::{Level, Levels, MISSING};
use self::levels::{Levelling, Source};
use crate::actions::Feasibility;
use crate::error::Error;
use crate::rows::Rows;

/// What the columns of a table are.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    features: Vec<Feature>,
    protected: Vec<Protected>,
    weight: Option<String>,
    context: Vec<String>,
    trim: bool,
}

impl Declaration {
    /// Nothing declared yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A column that people differ in.
    pub fn feature(mut self, feature: Feature) -> Self {
        self.features.push(feature);
        self
    }

    /// Several such columns.
    pub fn features(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.features.extend(features);
        self
    }

    /// A protected attribute. Declared again, the attributes are crossed.
    pub fn protected(mut self, attribute: Protected) -> Self {
        self.protected.push(attribute);
        self
    }

    /// The column that says how many people a row stands for.
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.weight = Some(column.into());
        self
    }

    /// A column that the model sees and the audit does not speak of.
    pub fn context(mut self, column: impl Into<String>) -> Self {
        self.context.push(column.into());
        self
    }

    /// Names levels and groups by their text without surrounding blanks. The model still receives
    /// every value exactly as it stands in the table.
    pub fn trim(mut self, trim: bool) -> Self {
        self.trim = trim;
        self
    }

    /// Reads a whole table from its batches.
    pub fn read<B: std::borrow::Borrow<RecordBatch>>(
        self,
        batches: impl IntoIterator<Item = B>,
    ) -> Result<Population, Error> {
        let mut reader = self.reader();
        for batch in batches {
            reader.push(batch.borrow())?;
        }
        reader.finish()
    }

    /// Reads a table batch by batch, for tables that come as a stream.
    pub fn reader(self) -> PopulationReader {
        PopulationReader {
            declaration: self,
            table: None,
            batches: 0,
            read: 0,
            weightless: 0,
            people: 0,
        }
    }
}

/// Takes the batches of a table, one after another.
#[derive(Debug)]
pub struct PopulationReader {
    declaration: Declaration,
    table: Option<Table>,
    batches: usize,
    read: u64,
    weightless: u64,
    people: u64,
}

/// The table so far.
#[derive(Debug)]
struct Table {
    schema: SchemaRef,
    /// Positions in the schema of the columns that are kept, in table order.
    kept: Vec<usize>,
    columns: Vec<Column>,
    weight: Option<usize>,
    profiles: Rows,
    /// People and rows behind each profile.
    people: Vec<u64>,
    rows: Vec<u64>,
    ignored: Vec<String>,
}

impl PopulationReader {
    /// Adds a batch.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.batches += 1;
        let table = match &mut self.table {
            Some(table) => table,
            None => self
                .table
                .insert(Table::new(&self.declaration, batch.schema())?),
        };
        table.check_schema(&batch.schema(), self.batches)?;

        let first_row = self.read + 1;
        let mut codes = Vec::with_capacity(table.columns.len());
        for (column, &position) in table.columns.iter_mut().zip(&table.kept) {
            codes.push(column.encode(batch.column(position), first_row)?);
        }
        let weights = match table.weight {
            Some(position) => Some(whole_weights(batch, position, first_row)?),
            None => None,
        };
        let mut row = vec![0; codes.len()];
        for i in 0..batch.num_rows() {
            let weight = weights.as_ref().map_or(1, |weights| weights[i]);
            if weight == 0 {
                self.weightless += 1;
                continue;
            }
            for (code, column) in row.iter_mut().zip(&codes) {
                *code = column[i];
            }
            let (profile, new) = table.profiles.insert(&row);
            if new {
                table.people.push(0);
                table.rows.push(0);
            }
            // All people together must be countable; then so is every part of them.
            self.people = self
                .people
                .checked_add(weight)
                .ok_or_else(|| Error::TooManyPeople {
                    row: first_row + i as u64,
                })?;
            table.people[profile] += weight;
            table.rows[profile] += 1;
        }
        self.read += batch.num_rows() as u64;
        Ok(())
    }

    /// Checks the declaration against the table and gives the population.
    pub fn finish(self) -> Result<Population, Error> {
        let Some(table) = self.table else {
            return Err(Error::NoRows {
                read: 0,
                dropped: 0,
                excluded: 0,
                weightless: 0,
            });
        };
        let mut summary = Summary {
            rows: self.read,
            weightless: self.weightless,
            ignored_columns: table.ignored.clone(),
            ..Summary::default()
        };
        table.population(self.declaration, &mut summary)
    }
}

impl Table {
    fn new(declaration: &Declaration, schema: SchemaRef) -> Result<Self, Error> {
        if declaration.features.is_empty() {
            return Err(Error::NoFeatures);
        }
        if declaration.protected.is_empty() {
            return Err(Error::NoProtected);
        }
        let known = || schema.fields().iter().map(|f| f.name().clone()).collect();
        let find = |column: &str| {
            schema.index_of(column).map_err(|_| Error::UnknownColumn {
                column: column.to_owned(),
                known: known(),
            })
        };
        let features = declaration.features.iter().map(|f| &f.name);
        let protected = declaration.protected.iter().map(|p| &p.name);
        let mut kept = Vec::new();
        let mut seen = HashSet::new();
        for name in features.chain(protected).chain(&declaration.context) {
            if !seen.insert(name) || declaration.weight.as_ref() == Some(name) {
                return Err(Error::DeclaredTwice {
                    column: name.clone(),
                });
            }
            kept.push(find(name)?);
        }
        // The model gets its columns in the order of the table.
        kept.sort_unstable();
        let weight = declaration.weight.as_deref().map(find).transpose()?;
        let ignored = (0..schema.fields().len())
            .filter(|position| !kept.contains(position) && weight != Some(*position))
            .map(|position| schema.field(position).name().clone())
            .collect();
        let columns = kept
            .iter()
            .map(|&position| {
                let field = schema.field(position);
                Column::new(field.name(), field.data_type())
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            profiles: Rows::new(kept.len()),
            schema,
            kept,
            columns,
            weight,
            people: Vec::new(),
            rows: Vec::new(),
            ignored,
        })
    }

    fn check_schema(&self, schema: &Schema, batch: usize) -> Result<(), Error> {
        let differs = |difference| Err(Error::SchemaChanged { batch, difference });
        if schema.fields().len() != self.schema.fields().len() {
            return differs(format!(
                "{} columns, not {}",
                schema.fields().len(),
                self.schema.fields().len()
            ));
        }
        for (now, first) in schema.fields().iter().zip(self.schema.fields()) {
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

    fn position(&self, name: &str) -> usize {
        // Every declared name was found when the table was opened.
        let position = self.columns.iter().position(|c| c.name() == name);
        position.expect("a declared column is in the table")
    }

    fn population(
        mut self,
        declaration: Declaration,
        summary: &mut Summary,
    ) -> Result<Population, Error> {
        let trim = declaration.trim;
        let mut features = declaration.features;
        // In order of name, so that items in feature order are in the order in which text is read.
        features.sort_by(|a, b| a.name.cmp(&b.name));
        let at: Vec<usize> = features.iter().map(|f| self.position(&f.name)).collect();
        let protected_at: Vec<usize> = declaration
            .protected
            .iter()
            .map(|p| self.position(&p.name))
            .collect();
        for &position in at.iter().chain(&protected_at) {
            refuse_non_finite(&self.columns[position])?;
        }

        let missing: Vec<Vec<bool>> = features
            .iter()
            .zip(&at)
            .map(|(f, &position)| missing_values(&self.columns[position], &f.missing_codes, trim))
            .collect();
        let protected_missing: Vec<Vec<bool>> = declaration
            .protected
            .iter()
            .zip(&protected_at)
            .map(|(p, &position)| missing_values(&self.columns[position], &p.missing_codes, trim))
            .collect();
        self.leave_out(
            &features,
            &at,
            &missing,
            &protected_at,
            &protected_missing,
            summary,
        )?;

        let mut levels = Vec::with_capacity(features.len());
        let mut of_value = Vec::with_capacity(features.len());
        for ((feature, &position), missing) in features.into_iter().zip(&at).zip(&missing) {
            let levelling = self.level(position, &feature.kind, missing, trim)?;
            of_value.push(levelling.of_value);
            levels.push(checked(
                feature,
                levelling.levels,
                levelling.missing,
                levelling.range,
                &self.columns[position],
            )?);
        }
        let feasibility = Feasibility::new(&levels, &mut summary.notices)?;

        let mut group_names = vec![String::new(); self.profiles.len()];
        for ((attribute, &position), missing) in declaration
            .protected
            .iter()
            .zip(&protected_at)
            .zip(&protected_missing)
        {
            let levelling = self.level(position, &attribute.kind, missing, trim)?;
            let labels: Vec<String> = levelling.levels.iter().map(|l| l.label.clone()).collect();
            let names = groups::merged_names(attribute, &labels, &mut summary.notices)?;
            for (profile, name) in group_names.iter_mut().enumerate() {
                let value = self.profiles.row(profile)[position] as usize;
                let level = levelling.of_value[value].expect("a kept row has a protected value");
                if !name.is_empty() {
                    name.push_str(" & ");
                }
                name.push_str(&names[level as usize]);
            }
        }
        let (groups, group_of) = groups::number(&group_names);
        if let [only] = groups.as_slice() {
            let attributes: Vec<&str> = declaration
                .protected
                .iter()
                .map(|p| p.name.as_str())
                .collect();
            return Err(Error::OneGroup {
                attribute: attributes.join(" & "),
                value: only.clone(),
            });
        }
        Ok(self.assemble(
            levels,
            feasibility,
            &at,
            &of_value,
            groups,
            &group_of,
            summary,
        ))
    }

    /// Leaves out rows without a protected value, and rows that a feature's missing policy drops.
    fn leave_out(
        &mut self,
        features: &[Feature],
        at: &[usize],
        missing: &[Vec<bool>],
        protected_at: &[usize],
        protected_missing: &[Vec<bool>],
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let mut kept = Rows::new(self.kept.len());
        let (mut people, mut rows) = (Vec::new(), Vec::new());
        let mut dropped_for = vec![0; features.len()];
        for profile in 0..self.profiles.len() {
            let row = self.profiles.row(profile);
            let unprotected = protected_at
                .iter()
                .zip(protected_missing)
                .any(|(&position, missing)| missing[row[position] as usize]);
            if unprotected {
                summary.excluded += self.rows[profile];
                continue;
            }
            let mut dropped = false;
            for (f, feature) in features.iter().enumerate() {
                let code = row[at[f]];
                if !missing[f][code as usize] {
                    continue;
                }
                match feature.missing {
                    Missing::Level => {}
                    Missing::Drop => {
                        dropped = true;
                        dropped_for[f] += self.rows[profile];
                    }
                    Missing::Error => {
                        return Err(Error::MissingValue {
                            column: feature.name.clone(),
                            row: self.columns[at[f]].first_row(code),
                        });
                    }
                }
            }
            if dropped {
                summary.dropped += self.rows[profile];
                continue;
            }
            kept.insert(row);
            people.push(self.people[profile]);
            rows.push(self.rows[profile]);
        }
        summary.dropped_for = features
            .iter()
            .zip(dropped_for)
            .filter(|&(_, rows)| rows > 0)
            .map(|(feature, rows)| (feature.name.clone(), rows))
            .collect();
        if kept.len() == 0 {
            return Err(Error::NoRows {
                read: summary.rows,
                dropped: summary.dropped,
                excluded: summary.excluded,
                weightless: summary.weightless,
            });
        }
        (self.profiles, self.people, self.rows) = (kept, people, rows);
        Ok(())
    }

    fn level(
        &self,
        position: usize,
        kind: &Kind,
        missing: &[bool],
        trim: bool,
    ) -> Result<Levelling, Error> {
        let column = &self.columns[position];
        let people = self.people_by_value(position);
        Source {
            column,
            people: &people,
            missing,
            trim,
        }
        .level(kind)
    }

    /// How many people hold each value of a column.
    fn people_by_value(&self, position: usize) -> Vec<u64> {
        let mut people = vec![0; self.columns[position].values().len()];
        for (profile, weight) in self.people.iter().enumerate() {
            people[self.profiles.row(profile)[position] as usize] += weight;
        }
        people
    }

    /// Puts labels in the place of binned numbers where the model sees those, merges the profiles
    /// that became the same, and writes down the levels of each.
    #[allow(clippy::too_many_arguments)]
    fn assemble(
        mut self,
        features: Vec<Levels>,
        feasibility: Feasibility,
        at: &[usize],
        of_value: &[Vec<Option<u32>>],
        groups: Vec<String>,
        group_of: &[u32],
        summary: &mut Summary,
    ) -> Population {
        let typical: Vec<Vec<Option<u32>>> = features
            .iter()
            .zip(at)
            .zip(of_value)
            .map(|((feature, &position), of_value)| self.typical(feature, position, of_value))
            .collect();
        let relabelled: Vec<(usize, usize)> = (0..features.len())
            .filter(
                |&f| matches!(&features[f].kind, Kind::Binned(bins) if bins.view == View::Label),
            )
            .map(|f| (f, at[f]))
            .collect();

        let mut profiles = Rows::new(self.kept.len());
        let mut people = Vec::new();
        let mut merged_group_of = Vec::new();
        let mut levels_of = vec![Vec::new(); features.len()];
        let mut row = vec![0; self.kept.len()];
        for (profile, &group) in group_of.iter().enumerate() {
            row.copy_from_slice(self.profiles.row(profile));
            let levels: Vec<u32> = at
                .iter()
                .zip(of_value)
                .map(|(&position, of_value)| {
                    of_value[row[position] as usize].expect("a value in use has a level")
                })
                .collect();
            for &(f, position) in &relabelled {
                row[position] = levels[f];
            }
            let (merged, new) = profiles.insert(&row);
            if new {
                people.push(0);
                merged_group_of.push(group);
                for (of_profile, level) in levels_of.iter_mut().zip(&levels) {
                    of_profile.push(*level);
                }
            }
            people[merged] += self.people[profile];
        }
        for &(f, position) in &relabelled {
            let labels = features[f].levels.iter().enumerate().map(|(level, l)| {
                if features[f].missing == Some(level as u32) {
                    Value::Null
                } else {
                    Value::Text(l.label.as_str().into())
                }
            });
            self.columns[position] = self.columns[position].relabelled(labels);
        }
        let typical = (0..features.len())
            .map(|f| {
                if relabelled.iter().any(|&(relabelled, _)| relabelled == f) {
                    (0..features[f].levels.len() as u32).map(Some).collect()
                } else {
                    typical[f].clone()
                }
            })
            .collect();
        summary.people = people.iter().sum();
        Population {
            columns: self.columns,
            column_of: at.to_vec(),
            features,
            feasibility,
            profiles,
            people,
            group_of: merged_group_of,
            levels_of,
            typical,
            groups,
            summary: std::mem::take(summary),
        }
    }

    /// For each level the value that most people of that level hold: what an action into the level
    /// gives the model. Ties go to the least value.
    fn typical(
        &self,
        feature: &Levels,
        position: usize,
        of_value: &[Option<u32>],
    ) -> Vec<Option<u32>> {
        let people = self.people_by_value(position);
        let values = self.columns[position].values();
        let mut typical: Vec<Option<u32>> = vec![None; feature.levels.len()];
        for (code, level) in of_value.iter().enumerate() {
            let Some(level) = level else { continue };
            let best = &mut typical[*level as usize];
            let better = best.is_none_or(|best| {
                let best = best as usize;
                people[code]
                    .cmp(&people[best])
                    .then_with(|| compare(&values[best], &values[code]))
                    .is_gt()
            });
            if better {
                *best = Some(code as u32);
            }
        }
        typical
    }
}

fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.label().cmp(&b.label()),
        },
    }
}

fn checked(
    feature: Feature,
    levels: Vec<Level>,
    missing: Option<u32>,
    range: Option<(f64, f64)>,
    column: &Column,
) -> Result<Levels, Error> {
    if !(feature.weight.is_finite() && feature.weight >= 0.0) {
        return Err(Error::BadFeatureWeight {
            feature: feature.name,
            weight: feature.weight,
        });
    }
    let distance = feature.distance.unwrap_or(match feature.kind {
        Kind::Categorical => Distance::Categorical,
        Kind::Ordinal(_) => Distance::Ordinal,
        Kind::Numeric | Kind::Binned(_) => Distance::Numeric { normalised: true },
    });
    let levels = Levels {
        name: feature.name,
        kind: feature.kind,
        levels,
        missing,
        range,
        rules: feature.rules,
        distance,
        weight: feature.weight,
    };
    let text = column.values().iter().any(|v| matches!(v, Value::Text(_)));
    if levels.raw_view().is_some() && text {
        return Err(Error::TextCannotMove {
            column: levels.name,
        });
    }
    Ok(levels)
}

fn missing_values(column: &Column, codes: &[String], trim: bool) -> Vec<bool> {
    let is_code = |value: &Value| {
        let label = levels::label(value, trim);
        codes.iter().any(|code| match value {
            // `-1` also means the -1.0 of a column of floats.
            Value::Float(number) => code.trim().parse() == Ok(*number),
            _ => *code == label,
        })
    };
    let values = column.values().iter();
    values
        .map(|value| matches!(value, Value::Null) || is_code(value))
        .collect()
}

fn refuse_non_finite(column: &Column) -> Result<(), Error> {
    for (code, value) in column.values().iter().enumerate() {
        if let Value::Float(value) = value
            && !value.is_finite()
        {
            return Err(Error::NonFinite {
                column: column.name().to_owned(),
                row: column.first_row(code as u32),
                value: *value,
            });
        }
    }
    Ok(())
}

fn whole_weights(batch: &RecordBatch, position: usize, first_row: u64) -> Result<Vec<u64>, Error> {
    let schema = batch.schema();
    let field = schema.field(position);
    let mut column = Column::new(field.name(), field.data_type())?;
    let codes = column.encode(batch.column(position), first_row)?;
    codes
        .iter()
        .zip(first_row..)
        .map(|(&code, row)| {
            let value = &column.values()[code as usize];
            let whole = match value {
                Value::Integer(weight) => u64::try_from(*weight).ok(),
                // Beyond 2^53 a float no longer tells whole numbers apart.
                Value::Float(weight) if weight.fract() == 0.0 && (0.0..9.0e15).contains(weight) => {
                    Some(*weight as u64)
                }
                _ => None,
            };
            whole.ok_or_else(|| Error::BadWeight {
                column: field.name().clone(),
                row,
                value: match value {
                    Value::Null => "a missing weight".to_owned(),
                    other => other.label(),
                },
            })
        })
        .collect()
}

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
    feasibility: Feasibility,
    profiles: Rows,
    people: Vec<u64>,
    group_of: Vec<u32>,
    /// Level by feature and profile.
    levels_of: Vec<Vec<u32>>,
    /// Value code by feature and level.
    typical: Vec<Vec<Option<u32>>>,
    groups: Vec<String>,
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

    /// The value codes of a profile, one a column.
    pub fn row(&self, profile: usize) -> &[u32] {
        self.profiles.row(profile)
    }

    /// What was read and what was left out.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    pub(crate) fn feasibility(&self) -> &Feasibility {
        &self.feasibility
    }

    pub(crate) fn column_of(&self, feature: usize) -> usize {
        self.column_of[feature]
    }

    pub(crate) fn typical(&self, feature: usize, level: u32) -> Option<u32> {
        self.typical[feature][level as usize]
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.profiles
    }

    /// The schema of the batches that a model is given.
    pub fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|column| Field::new(column.name(), column.data_type().clone(), true))
            .collect();
        Arc::new(Schema::new(fields))
    }
}

/// Builds record batches from rows of value codes.
pub(crate) struct BatchMaker {
    schema: SchemaRef,
    values: Vec<ArrayRef>,
}

impl BatchMaker {
    pub(crate) fn new(schema: SchemaRef, columns: &[Column]) -> Self {
        Self {
            schema,
            values: columns.iter().map(Column::array).collect(),
        }
    }

    /// The batch of these rows.
    pub(crate) fn batch<'a>(&self, rows: impl ExactSizeIterator<Item = &'a [u32]>) -> RecordBatch {
        let length = rows.len();
        let mut codes = vec![Vec::with_capacity(length); self.values.len()];
        for row in rows {
            for (column, &code) in codes.iter_mut().zip(row) {
                column.push(code);
            }
        }
        let columns = self.values.iter().zip(codes).map(|(values, codes)| {
            let indices = arrow_array::UInt32Array::from(codes);
            // Every code was handed out by the column whose values these are.
            arrow_select::take::take(values.as_ref(), &indices, None).expect("codes are in range")
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect())
            .expect("columns have the schema's types and one length")
    }
}
