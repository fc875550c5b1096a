//! Levels: the values of a feature as the audit sees them.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::bins::Cut;
use super::column::{Column, Value};
use super::declare::{Distance, Kind, Rules, View};
use crate::error::Error;

/// The label of the level that stands for missing values.
const MISSING: &str = "missing";

/// One value of a feature as the audit sees it: a category, a rank, a number or a bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// How it is shown, and named in declarations.
    pub label: String,
    /// The number it stands for: the value itself, or a bin's midpoint.
    pub number: Option<f64>,
    /// A bin's ends; an open end stands at the observed minimum or maximum.
    pub bounds: Option<(f64, f64)>,
}

impl Level {
    fn named(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            number: None,
            bounds: None,
        }
    }
}

/// One feature of a population: its levels and what was declared about it, checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Levels {
    /// The feature's name.
    pub name: String,
    /// How its column became levels.
    pub kind: Kind,
    /// The levels, lowest first where there is an order, else by label; `missing` comes last.
    pub levels: Vec<Level>,
    /// The level that stands for missing values, if somebody has one.
    pub missing: Option<u32>,
    /// The least and the greatest number in the population.
    pub range: Option<(f64, f64)>,
    /// Which changes are feasible.
    pub rules: Rules,
    /// What a change costs before the weight.
    pub distance: Distance,
    /// How heavily a change counts in a cost.
    pub weight: f64,
}

impl Levels {
    /// Whether the levels have a direction and steps.
    pub fn is_ordered(&self) -> bool {
        !matches!(self.kind, Kind::Categorical)
    }

    /// The label of a level.
    pub fn label(&self, level: u32) -> &str {
        &self.levels[level as usize].label
    }

    /// The level with a label.
    pub(crate) fn find(&self, label: &str) -> Option<u32> {
        // As many levels as distinct values, and those are counted in 32 bits.
        let index = self.levels.iter().position(|level| level.label == label)?;
        Some(index as u32)
    }

    /// How many levels have a place in the order: all but `missing`.
    pub fn ranks(&self) -> usize {
        self.levels.len() - usize::from(self.missing.is_some())
    }

    /// How the raw numbers move between bins, when the model sees them.
    pub(crate) fn raw_view(&self) -> Option<super::declare::Move> {
        match &self.kind {
            Kind::Binned(bins) => match bins.view {
                View::Raw(rule) => Some(rule),
                View::Label => None,
            },
            _ => None,
        }
    }
}

/// How the values of one column fall into levels.
#[derive(Debug)]
pub(crate) struct Levelling {
    pub(crate) levels: Vec<Level>,
    pub(crate) missing: Option<u32>,
    pub(crate) range: Option<(f64, f64)>,
    /// The level of each value by code; `None` for values that no row uses.
    pub(crate) of_value: Vec<Option<u32>>,
}

/// One column about to be levelled.
pub(crate) struct Source<'a> {
    pub(crate) column: &'a Column,
    /// How many people hold each value, by code; 0 for values of rows that are left out.
    pub(crate) people: &'a [u64],
    pub(crate) missing: &'a [bool],
    pub(crate) trim: bool,
}

impl Source<'_> {
    fn used(&self) -> impl Iterator<Item = (usize, &Value)> {
        let values = self.column.values().iter().enumerate();
        values.filter(|&(code, _)| self.people[code] > 0 && !self.missing[code])
    }

    fn label(&self, value: &Value) -> String {
        label(value, self.trim)
    }

    /// The numbers people hold, ascending.
    fn numbers(&self) -> Result<Vec<(f64, u64)>, Error> {
        let mut numbers = self
            .used()
            .map(|(code, _)| Ok((self.column.number(code as u32)?, self.people[code])))
            .collect::<Result<Vec<_>, Error>>()?;
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(numbers)
    }

    /// Finds the levels of the column and the level of each of its values.
    pub(crate) fn level(&self, kind: &Kind) -> Result<Levelling, Error> {
        let mut of_value = vec![None; self.column.values().len()];
        let (mut levels, range) = match kind {
            Kind::Categorical => {
                let mut labels: Vec<String> = self.used().map(|(_, v)| self.label(v)).collect();
                labels.sort_unstable();
                labels.dedup();
                self.by_label(&labels, &mut of_value)?;
                (labels.into_iter().map(Level::named).collect(), None)
            }
            Kind::Ordinal(order) => {
                self.by_label(order, &mut of_value)?;
                (order.iter().map(Level::named).collect(), None)
            }
            Kind::Numeric => {
                let numbers = self.numbers()?;
                let mut distinct: Vec<f64> = numbers.iter().map(|&(n, _)| n).collect();
                // Compared as numbers: 0 and -0 are one level, though two values for the model.
                distinct.dedup_by(|a, b| a == b);
                // Texts that read as one number are one level too; it is called as most people have
                // it, whatever the order of the rows.
                let mut usual = vec![(0, Reverse(String::new())); distinct.len()];
                for (code, value) in self.used() {
                    let number = self.column.number(code as u32)?;
                    let level = distinct.partition_point(|&n| n < number);
                    of_value[code] = Some(level as u32);
                    let held = (self.people[code], Reverse(self.label(value)));
                    usual[level] = held.max(std::mem::take(&mut usual[level]));
                }
                let levels = distinct.iter().zip(usual);
                let levels = levels.map(|(&number, (_, Reverse(label)))| Level {
                    label,
                    number: Some(number),
                    bounds: None,
                });
                (levels.collect(), ends(&numbers))
            }
            Kind::Binned(bins) => {
                let numbers = self.numbers()?;
                let cut = Cut::new(self.column.name(), bins, &numbers)?;
                for (code, _) in self.used() {
                    of_value[code] = Some(cut.bin_of(self.column, code as u32)? as u32);
                }
                (cut.levels().to_vec(), ends(&numbers))
            }
        };
        self.refuse_repeats(&levels)?;
        let missing = self.add_missing(&mut levels, &mut of_value)?;
        Ok(Levelling {
            levels,
            missing,
            range,
            of_value,
        })
    }

    fn by_label(&self, labels: &[String], of_value: &mut [Option<u32>]) -> Result<(), Error> {
        let index: HashMap<&str, u32> = labels
            .iter()
            .enumerate()
            .map(|(i, label)| (label.as_str(), i as u32))
            .collect();
        for (code, value) in self.used() {
            let label = self.label(value);
            let level = index.get(label.as_str()).ok_or_else(|| Error::NotInOrder {
                column: self.column.name().to_owned(),
                row: self.column.first_row(code as u32),
                label: label.clone(),
                order: labels.to_vec(),
            })?;
            of_value[code] = Some(*level);
        }
        Ok(())
    }

    fn refuse_repeats(&self, levels: &[Level]) -> Result<(), Error> {
        let mut labels: Vec<&str> = levels.iter().map(|l| l.label.as_str()).collect();
        labels.sort_unstable();
        match labels.windows(2).find(|w| w[0] == w[1]) {
            None => Ok(()),
            Some(twice) => Err(Error::BadBins {
                feature: self.column.name().to_owned(),
                why: format!("two levels are called `{}`; name each level once", twice[0]),
            }),
        }
    }

    /// Adds the level `missing`, if somebody holds a missing value.
    fn add_missing(
        &self,
        levels: &mut Vec<Level>,
        of_value: &mut [Option<u32>],
    ) -> Result<Option<u32>, Error> {
        let mut held = (0..of_value.len())
            .filter(|&code| self.people[code] > 0 && self.missing[code])
            .peekable();
        if held.peek().is_none() {
            return Ok(None);
        }
        if levels.iter().any(|level| level.label == MISSING) {
            return Err(Error::MissingLabelTaken(self.column.name().to_owned()));
        }
        let level = levels.len() as u32;
        for code in held {
            of_value[code] = Some(level);
        }
        levels.push(Level::named(MISSING));
        Ok(Some(level))
    }
}

/// A value's label; with `trim`, without surrounding blanks.
pub(crate) fn label(value: &Value, trim: bool) -> String {
    let label = value.label();
    if trim { label.trim().to_owned() } else { label }
}

fn ends(numbers: &[(f64, u64)]) -> Option<(f64, f64)> {
    Some((numbers.first()?.0, numbers.last()?.0))
}
