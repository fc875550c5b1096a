//! From a declaration and a table to a population: who is in the audit, and what they are.
//!
//! This is the one place that says what a row is to the audit, what it is to the model, and who is
//! left out and why. Fitting a model, auditing one and checking an export all ask here.

use std::collections::{HashMap, HashSet};

use arrow_array::RecordBatch;

use super::column::{Column, Value};
use super::declare::{Bins, Declaration, Distance, Edges, Feature, Kind, Missing, View};
use super::levels::{Level, Levelling, Levels, Source};
use super::order::{compare, rows_in_order};
use super::{Population, Summary, Table, TableReader, groups};
use crate::error::Error;
use crate::rows::Rows;

/// Which profile of a population each distinct row of its table became, and how many people it is.
#[derive(Clone, Debug)]
pub struct RowProfiles {
    profiles: Vec<u32>,
    people: Vec<u64>,
}

/// The mark of a row that is left out. There are fewer profiles than this (see `Rows`).
const LEFT_OUT: u32 = u32::MAX;

impl RowProfiles {
    /// The profile of a distinct row; none if it was left out.
    pub fn profile(&self, row: usize) -> Option<usize> {
        let profile = self.profiles[row];
        (profile != LEFT_OUT).then_some(profile as usize)
    }

    /// The distinct rows that were kept, each with its profile and how many people it is.
    pub fn kept(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let rows = 0..self.profiles.len();
        rows.filter_map(|row| Some((row, self.profile(row)?, self.people[row])))
    }

    /// How many people all rows are, kept or not.
    pub(super) fn people_in_all(&self) -> u64 {
        self.people.iter().sum()
    }
}

impl Declaration {
    /// Reads a whole table from its batches, and of it only the columns that are declared.
    pub fn read<B: std::borrow::Borrow<RecordBatch>>(
        &self,
        batches: impl IntoIterator<Item = B>,
    ) -> Result<Population, Error> {
        let declared: HashSet<&String> = self.columns().chain(&self.weight).collect();
        let mut reader = TableReader::new();
        for batch in batches {
            reader.push_wanted(batch.borrow(), |name| declared.contains(&name.to_owned()))?;
        }
        let population = self.population(&reader.finish());
        population.map(|(population, _)| population)
    }

    /// The population of a table, and which profile each of its distinct rows became.
    pub fn population(&self, table: &Table) -> Result<(Population, RowProfiles), Error> {
        if table.is_nothing() {
            return Err(Error::NoRows {
                read: 0,
                dropped: 0,
                excluded: 0,
                weightless: 0,
            });
        }
        Reading::new(self, table)?.population(self)
    }

    /// The same declaration with bins where they lie in this population, for features of which the
    /// model sees the label of a bin: whatever part of the people is read next is cut alike.
    pub fn with_bins_of(mut self, population: &Population) -> Self {
        for feature in &mut self.features {
            let levels = population.features().iter();
            let mut levels = levels.filter(|levels| levels.name == feature.name);
            if let Kind::Binned(bins) = &mut feature.kind
                && bins.view == View::Label
                && let Some(levels) = levels.next()
            {
                *bins = fixed(levels);
            }
        }
        self
    }

    /// The same declaration with all bins where they lie in this population, so that levels of other people
    /// have the same names.
    pub fn with_edges_of(mut self, population: &Population) -> Self {
        for feature in &mut self.features {
            let mut levels = population.features().iter();
            let levels = levels.find(|levels| levels.name == feature.name);
            if let (Kind::Binned(bins), Some(levels)) = (&mut feature.kind, levels) {
                *bins = Bins {
                    view: bins.view,
                    ..fixed(levels)
                };
            }
        }
        self
    }

    /// The columns that the model sees.
    fn columns(&self) -> impl Iterator<Item = &String> {
        let features = self.features.iter().map(|feature| &feature.name);
        let protected = self.protected.iter().map(|attribute| &attribute.name);
        features.chain(protected).chain(&self.context)
    }
}

/// Bins where they lie, by name.
fn fixed(levels: &Levels) -> Bins {
    let (mut edges, mut labels) = (Vec::new(), Vec::new());
    for level in &levels.levels {
        if let Some((low, high)) = level.bounds {
            if edges.is_empty() {
                edges.push(low);
            }
            edges.push(high);
            labels.push(level.label.clone());
        }
    }
    Bins {
        edges: Edges::At(edges),
        labels: Some(labels),
        view: View::Label,
    }
}

/// Columns with the values that somebody has. Of rows that were left out, some have values that nobody else
/// has: the model need not understand them.
struct InUse {
    columns: Vec<Column>,
    /// By column and old code, the new one.
    of_code: Vec<Vec<Option<u32>>>,
}

impl InUse {
    /// Looks at what profiles have. Some columns keep all their values.
    fn new(columns: Vec<Column>, profiles: &Rows, keeps_all: impl Fn(usize) -> bool) -> Self {
        let all = columns.iter().enumerate();
        let mut used: Vec<Vec<bool>> = all
            .map(|(at, column)| vec![keeps_all(at); column.values().len()])
            .collect();
        for profile in 0..profiles.len() {
            for (used, &code) in used.iter_mut().zip(profiles.row(profile)) {
                used[code as usize] = true;
            }
        }
        let compact = |(column, used): (Column, Vec<bool>)| {
            if !used.contains(&false) {
                let all = (0..used.len() as u32).map(Some);
                return (column, all.collect::<Vec<_>>());
            }
            // In the same order, so that profiles keep theirs.
            let mut kept = Column::empty_like(&column);
            let codes = (0..).zip(used);
            let codes = codes.map(|(code, used)| used.then(|| kept.take(&column, code)));
            let of_code = codes.collect();
            (kept, of_code)
        };
        let (columns, of_code) = columns.into_iter().zip(used).map(compact).unzip();
        Self { columns, of_code }
    }

    /// The profiles by the new codes.
    fn profiles(&self, profiles: Rows) -> Rows {
        if self.of_code.iter().all(|of_code| !of_code.contains(&None)) {
            return profiles;
        }
        let mut renumbered = Rows::new(self.columns.len());
        let mut row = vec![0; self.columns.len()];
        for profile in 0..profiles.len() {
            let codes = profiles.row(profile).iter().zip(&self.of_code);
            for (code, (&old, of_code)) in row.iter_mut().zip(codes) {
                *code = of_code[old as usize].expect("a value that a profile has is in use");
            }
            renumbered.insert(&row);
        }
        renumbered
    }
}

/// A table on its way to a population.
struct Reading {
    columns: Vec<Column>,
    profiles: Rows,
    /// People and rows behind each profile.
    people: Vec<u64>,
    rows: Vec<u64>,
    of_row: RowProfiles,
    summary: Summary,
}

impl Reading {
    /// Finds the declared columns and groups the rows that agree in all of them.
    fn new(declaration: &Declaration, table: &Table) -> Result<Self, Error> {
        if declaration.features.is_empty() {
            return Err(Error::NoFeatures);
        }
        if declaration.protected.is_empty() {
            return Err(Error::NoProtected);
        }
        let mut kept = Vec::new();
        let mut seen = HashSet::new();
        for name in declaration.columns() {
            if !seen.insert(name) || declaration.weight.as_ref() == Some(name) {
                return Err(Error::DeclaredTwice(name.clone()));
            }
            kept.push(table.place(name)?);
        }
        // The model gets its columns in the order of the table.
        kept.sort_unstable();
        let weight = declaration.weight.as_deref();
        let weight = weight.map(|name| table.place(name)).transpose()?;
        let encoded = kept.iter().map(|&place| table.at(place));
        let encoded = encoded.collect::<Result<Vec<_>, _>>()?;
        let ignored = table.names().enumerate();
        let ignored = ignored.filter(|(place, _)| {
            // The places are in order.
            kept.binary_search(place).is_err() && weight != Some(*place)
        });
        let ordered = encoded.iter().map(|column| column.column().in_order());
        let (columns, code_of): (Vec<Column>, Vec<Vec<u32>>) = ordered.unzip();
        let mut reading = Self {
            columns,
            profiles: Rows::new(kept.len()),
            people: Vec::new(),
            rows: Vec::new(),
            of_row: RowProfiles {
                profiles: Vec::with_capacity(table.repeats().len()),
                people: match weight {
                    Some(place) => people(table, place)?,
                    None => table.repeats().to_vec(),
                },
            },
            summary: Summary {
                rows: table.rows() as u64,
                ignored_columns: ignored.map(|(_, name)| name.to_owned()).collect(),
                ..Summary::default()
            },
        };
        let codes: Vec<&[u32]> = encoded.iter().map(|column| column.codes()).collect();
        reading.group(&codes, &code_of, table)?;
        Ok(reading)
    }

    /// Groups rows by their values. Codes become places in the order of values.
    fn group(
        &mut self,
        codes: &[&[u32]],
        code_of: &[Vec<u32>],
        table: &Table,
    ) -> Result<(), Error> {
        let mut row = vec![0; codes.len()];
        let mut all: u64 = 0;
        for (i, &repeats) in table.repeats().iter().enumerate() {
            let people = self.of_row.people[i];
            if people == 0 {
                self.summary.weightless += repeats;
                self.of_row.profiles.push(LEFT_OUT);
                continue;
            }
            for ((code, column), code_of) in row.iter_mut().zip(codes).zip(code_of) {
                *code = code_of[column[i] as usize];
            }
            let (profile, new) = self.profiles.insert(&row);
            if new {
                self.people.push(0);
                self.rows.push(0);
            }
            // All people together must be countable; then so is every part of them.
            all = all
                .checked_add(people)
                .ok_or_else(|| Error::TooManyPeople(table.first_row(i)))?;
            self.people[profile] += people;
            self.rows[profile] += repeats;
            self.of_row.profiles.push(profile as u32);
        }
        Ok(())
    }

    /// Numbers profiles by their values, column by column in order of name, so that nothing that is drawn
    /// from them depends on the order of rows or columns. What is made of them later keeps that order.
    fn put_in_order(&mut self) {
        let mut by_name: Vec<usize> = (0..self.columns.len()).collect();
        by_name.sort_by_key(|&column| self.columns[column].name());
        let order = rows_in_order(&self.profiles, &by_name);
        let mut profiles = Rows::new(self.columns.len());
        let mut new_profile = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            profiles.insert(self.profiles.row(old as usize));
            new_profile[old as usize] = new;
        }
        let in_order = |of_profile: &[u64]| -> Vec<u64> {
            order.iter().map(|&old| of_profile[old as usize]).collect()
        };
        self.people = in_order(&self.people);
        self.rows = in_order(&self.rows);
        self.profiles = profiles;
        self.renumber(&new_profile);
    }

    /// The place of each column by name.
    fn positions(&self) -> HashMap<String, usize> {
        let names = self.columns.iter().map(|column| column.name().to_owned());
        names.zip(0..).collect()
    }

    fn population(mut self, declaration: &Declaration) -> Result<(Population, RowProfiles), Error> {
        let trim = declaration.trim;
        let mut features: Vec<&Feature> = declaration.features.iter().collect();
        // In order of name, so that items in feature order are in the order in which text is read.
        features.sort_by(|a, b| a.name.cmp(&b.name));
        // Every declared name was found when the table was opened.
        let positions = self.positions();
        let at: Vec<usize> = features.iter().map(|f| positions[&f.name]).collect();
        let protected = &declaration.protected;
        let protected_at: Vec<usize> = protected.iter().map(|p| positions[&p.name]).collect();
        for &position in at.iter().chain(&protected_at) {
            refuse_non_finite(&self.columns[position])?;
        }
        let missing_in = |position: usize, codes: &[String]| self.columns[position].missing(codes);
        let missing: Vec<Vec<bool>> = (features.iter().zip(&at))
            .map(|(feature, &position)| missing_in(position, &feature.missing_codes))
            .collect();
        let protected_missing: Vec<Vec<bool>> = (protected.iter().zip(&protected_at))
            .map(|(attribute, &position)| missing_in(position, &attribute.missing_codes))
            .collect();
        let everybody = declaration.everybody;
        self.leave_out(
            &features,
            &at,
            &missing,
            &protected_at,
            &protected_missing,
            everybody,
        )?;
        self.put_in_order();

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

        let mut group_names = vec![String::new(); self.profiles.len()];
        for ((attribute, &position), missing) in
            protected.iter().zip(&protected_at).zip(&protected_missing)
        {
            let levelling = self.level(position, &attribute.kind, missing, trim)?;
            let labels: Vec<String> = levelling.levels.iter().map(|l| l.label.clone()).collect();
            let names = groups::merged_names(attribute, &labels, &mut self.summary.notices)?;
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
            let attributes: Vec<&str> = protected.iter().map(|p| p.name.as_str()).collect();
            return Err(Error::OneGroup {
                attribute: attributes.join(" & "),
                value: only.clone(),
            });
        }
        let (mut population, rows) = self.assemble(levels, &at, &of_value, groups, &group_of);
        population.protected = protected_at;
        Ok((population, rows))
    }

    /// Leaves out rows without a protected value, and rows that a feature's missing policy drops.
    fn leave_out(
        &mut self,
        features: &[&Feature],
        at: &[usize],
        missing: &[Vec<bool>],
        protected_at: &[usize],
        protected_missing: &[Vec<bool>],
        everybody: bool,
    ) -> Result<(), Error> {
        let mut kept = Rows::new(self.columns.len());
        let (mut people, mut rows) = (Vec::new(), Vec::new());
        let mut dropped_for = vec![0; features.len()];
        let mut new_profile = vec![LEFT_OUT; self.profiles.len()];
        for (profile, new_profile) in new_profile.iter_mut().enumerate() {
            let row = self.profiles.row(profile);
            let unprotected = protected_at
                .iter()
                .zip(protected_missing)
                .any(|(&position, missing)| missing[row[position] as usize]);
            if unprotected && !everybody {
                self.summary.excluded += self.rows[profile];
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
                self.summary.dropped += self.rows[profile];
                continue;
            }
            *new_profile = kept.insert(row).0 as u32;
            people.push(self.people[profile]);
            rows.push(self.rows[profile]);
        }
        self.summary.dropped_for = (features.iter().zip(dropped_for))
            .filter(|&(_, rows)| rows > 0)
            .map(|(feature, rows)| (feature.name.clone(), rows))
            .collect();
        if kept.len() == 0 {
            return Err(Error::NoRows {
                read: self.summary.rows,
                dropped: self.summary.dropped,
                excluded: self.summary.excluded,
                weightless: self.summary.weightless,
            });
        }
        (self.profiles, self.people, self.rows) = (kept, people, rows);
        self.renumber(&new_profile);
        Ok(())
    }

    /// Profiles have new numbers, by old ones.
    fn renumber(&mut self, new_profile: &[u32]) {
        for profile in &mut self.of_row.profiles {
            if *profile != LEFT_OUT {
                *profile = new_profile[*profile as usize];
            }
        }
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
    fn assemble(
        mut self,
        features: Vec<Levels>,
        at: &[usize],
        of_value: &[Vec<Option<u32>>],
        groups: Vec<String>,
        group_of: &[u32],
    ) -> (Population, RowProfiles) {
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

        let mut profiles = Rows::new(self.columns.len());
        let mut people = Vec::new();
        let mut merged_group_of = Vec::new();
        let mut levels_of = vec![Vec::new(); features.len()];
        let mut new_profile = Vec::with_capacity(group_of.len());
        let mut row = vec![0; self.columns.len()];
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
            new_profile.push(merged as u32);
        }
        self.renumber(&new_profile);
        for &(f, position) in &relabelled {
            let mut labels = Column::texts(self.columns[position].name());
            for (number, level) in (0..).zip(&features[f].levels) {
                let is_missing = features[f].missing == Some(number);
                let label = Value::Text(level.label.as_str().into());
                labels.code(if is_missing { Value::Null } else { label }, 0);
            }
            self.columns[position] = labels;
        }
        let keeps_all = |column| relabelled.iter().any(|&(_, position)| position == column);
        let in_use = InUse::new(self.columns, &profiles, keeps_all);
        let typical = (0..features.len())
            .map(|f| {
                if relabelled.binary_search_by_key(&f, |&(f, _)| f).is_ok() {
                    (0..features[f].levels.len() as u32).map(Some).collect()
                } else {
                    let new_code = |code: u32| in_use.of_code[at[f]][code as usize];
                    let typical = typical[f].iter();
                    typical.map(|code| code.and_then(new_code)).collect()
                }
            })
            .collect();
        let profiles = in_use.profiles(profiles);
        self.summary.people = people.iter().sum();
        let population = Population {
            columns: in_use.columns,
            column_of: at.to_vec(),
            features,
            profiles,
            people,
            group_of: merged_group_of,
            levels_of,
            typical,
            groups,
            protected: Vec::new(),
            summary: self.summary,
        };
        (population, self.of_row)
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

fn checked(
    feature: &Feature,
    levels: Vec<Level>,
    missing: Option<u32>,
    range: Option<(f64, f64)>,
    column: &Column,
) -> Result<Levels, Error> {
    if !(feature.weight.is_finite() && feature.weight >= 0.0) {
        return Err(Error::BadFeatureWeight {
            feature: feature.name.clone(),
            weight: feature.weight,
        });
    }
    let distance = feature.distance.clone().unwrap_or(match feature.kind {
        Kind::Categorical => Distance::Categorical,
        Kind::Ordinal(_) => Distance::Ordinal,
        Kind::Numeric | Kind::Binned(_) => Distance::Numeric { normalised: true },
    });
    let levels = Levels {
        name: feature.name.clone(),
        kind: feature.kind.clone(),
        levels,
        missing,
        range,
        rules: feature.rules.clone(),
        distance,
        weight: feature.weight,
    };
    let text = column.values().iter().any(|v| matches!(v, Value::Text(_)));
    if levels.raw_view().is_some() && text {
        return Err(Error::TextCannotMove(levels.name));
    }
    Ok(levels)
}

fn refuse_non_finite(column: &Column) -> Result<(), Error> {
    for (code, value) in column.values().iter().enumerate() {
        if let Value::Float(value) = value
            && !value.is_finite()
        {
            return Err(column.non_finite(code as u32, *value));
        }
    }
    Ok(())
}

/// How many people each distinct row is.
fn people(table: &Table, place: usize) -> Result<Vec<u64>, Error> {
    let encoded = table.at(place)?;
    let of_value = whole_numbers(encoded.column())?;
    let people = |(row, (&code, &repeats)): (usize, (&u32, &u64))| {
        let people = of_value[code as usize].checked_mul(repeats);
        people.ok_or_else(|| Error::TooManyPeople(table.first_row(row)))
    };
    let rows = encoded.codes().iter().zip(table.repeats());
    rows.enumerate().map(people).collect()
}

/// The whole numbers from 0 up that a column holds, by code: of people, or of rows.
pub(super) fn whole_numbers(column: &Column) -> Result<Vec<u64>, Error> {
    let whole = |(code, value): (u32, &Value)| {
        let whole = match value {
            Value::Integer(weight) => u64::try_from(*weight).ok(),
            // Beyond 2^53 a float no longer tells whole numbers apart.
            Value::Float(weight) if weight.fract() == 0.0 && (0.0..9.0e15).contains(weight) => {
                Some(*weight as u64)
            }
            _ => None,
        };
        whole.ok_or_else(|| Error::BadWeight {
            column: column.name().to_owned(),
            row: column.first_row(code),
            value: match value {
                Value::Null => "a missing weight".to_owned(),
                other => other.label(),
            },
        })
    };
    (0..).zip(column.values()).map(whole).collect()
}
