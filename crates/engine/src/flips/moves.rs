//! Where an assignment leads in the model's own terms.
//!
//! Predicates and actions speak of levels; the model must be given values. Most levels stand for
//! one value. A bin of a number that the model sees raw stands for many, and a person is moved into
//! it by the feature's rule, ending inside the bin and in the column's own type.

use std::borrow::Cow;

use arrow_schema::DataType;

use crate::population::{Column, Level, Move, Population, Value, median};

/// The value that an assignment gives to each person.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// Everybody gets the same.
    Same(u32),
    /// It depends on the value that a person has.
    ByValue(Vec<u32>),
}

impl Target {
    /// The value code that a person with value `code` gets.
    pub(crate) fn value(&self, code: u32) -> u32 {
        match self {
            Self::Same(value) => *value,
            Self::ByValue(values) => values[code as usize],
        }
    }
}

/// Finds the targets of one feature.
pub(crate) struct Targets<'a> {
    population: &'a Population,
    feature: usize,
    /// What is known of each value that people hold, by code.
    held: Vec<Option<Held>>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    level: u32,
    number: Option<f64>,
    /// How many unaffected people hold it.
    unaffected: u64,
}

impl<'a> Targets<'a> {
    pub(crate) fn new(population: &'a Population, feature: usize, favourable: &[bool]) -> Self {
        let position = population.column_of(feature);
        let values = population.columns()[position].values();
        let mut held: Vec<Option<Held>> = vec![None; values.len()];
        for (profile, favourable) in favourable.iter().enumerate() {
            let code = population.row(profile)[position] as usize;
            let entry = held[code].get_or_insert_with(|| Held {
                level: population.level(feature, profile),
                number: values[code].number(),
                unaffected: 0,
            });
            if *favourable {
                entry.unaffected += population.people(profile);
            }
        }
        Self {
            population,
            feature,
            held,
        }
    }

    /// Where each value goes when people move to a level; people of that level stay as they are.
    /// Values that a move makes are added to the column.
    pub(crate) fn target(&self, level: u32, columns: &mut Cow<'_, [Column]>) -> Target {
        match self.population.features()[self.feature].raw_view() {
            Some(rule) => {
                let position = self.population.column_of(self.feature);
                self.moved(level, rule, &mut columns.to_mut()[position])
            }
            None => self.replaced(level),
        }
    }

    /// The values that people of a level hold.
    fn inside(&self, level: u32) -> impl Iterator<Item = Held> + '_ {
        let held = self.held.iter().flatten().copied();
        held.filter(move |held| held.level == level)
    }

    fn replaced(&self, level: u32) -> Target {
        // Actions are mined from people, so somebody has the level.
        let typical = self.population.typical(self.feature, level);
        let typical = typical.expect("somebody has the level that an action assigns");
        if self.inside(level).count() <= 1 {
            return Target::Same(typical);
        }
        let stays = |held: &Option<Held>| held.is_some_and(|held| held.level == level);
        let values = self.held.iter().zip(0..);
        Target::ByValue(
            values
                .map(|(held, code)| if stays(held) { code } else { typical })
                .collect(),
        )
    }

    fn moved(&self, level: u32, rule: Move, column: &mut Column) -> Target {
        let levels = &self.population.features()[self.feature].levels;
        let to = &levels[level as usize];
        let mut unaffected: Vec<(f64, u64)> = self
            .inside(level)
            .filter(|held| held.unaffected > 0)
            .filter_map(|held| Some((held.number?, held.unaffected)))
            .collect();
        unaffected.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Actions are mined from the unaffected, so some of them have the level; among other people
        // than those it was mined from, the middle of the bin may have to do.
        let middle = match (unaffected.is_empty(), to.number) {
            (true, Some(midpoint)) => midpoint,
            (true, None) => 0.0,
            (false, _) => median(&unaffected),
        };
        let data_type = column.data_type().clone();
        let moved = self.held.iter().zip(0..).map(|(held, code)| {
            let Some(held) = held.filter(|held| held.level != level) else {
                return code;
            };
            let from = levels[held.level as usize].bounds;
            let number = match (rule, held.number.zip(from)) {
                (Move::Median, _) | (_, None) => middle,
                (Move::Linear, Some((number, from))) => linear(number, from, to),
                (Move::Nearest, Some((number, _))) => self
                    .inside(level)
                    .filter_map(|held| held.number)
                    .min_by(|a, b| (a - number).abs().total_cmp(&(b - number).abs()))
                    .unwrap_or(middle),
            };
            column.code(settle(number, to, level == 0, &data_type), 0)
        });
        Target::ByValue(moved.collect())
    }
}

/// Keeps a person's relative place: the bin they leave maps linearly onto the bin they enter.
fn linear(number: f64, (from_low, from_high): (f64, f64), to: &Level) -> f64 {
    let (low, high) = to.bounds.unwrap_or((number, number));
    if from_high == from_low {
        // A bin of one number has no places in it; bins are right-closed, so it is the last one.
        return high;
    }
    // Multiplied first: an exact half must still be one when an integer is rounded.
    low + (number - from_low) * (high - low) / (from_high - from_low)
}

/// The value of the column's type inside the bin that is nearest to a number.
fn settle(number: f64, bin: &Level, lowest: bool, data_type: &DataType) -> Value {
    let (low, high) = bin.bounds.unwrap_or((number, number));
    let inside = |n: f64| n <= high && (n > low || (lowest && n == low));
    if data_type.is_integer() {
        let least = if lowest {
            low.ceil()
        } else {
            low.floor() + 1.0
        };
        let settled = number.round().min(high.floor()).max(least);
        return Value::Integer(settled as i64);
    }
    match data_type {
        DataType::Boolean => Value::Boolean(number >= 0.5),
        DataType::Float32 => {
            let mut settled = number.clamp(low, high) as f32;
            if !inside(f64::from(settled)) {
                let up = f64::from(settled) <= low;
                settled = if up {
                    settled.next_up()
                } else {
                    settled.next_down()
                };
            }
            Value::Float(f64::from(settled))
        }
        _ => {
            let settled = number.clamp(low, high);
            Value::Float(if inside(settled) {
                settled
            } else {
                low.next_up()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(low: f64, high: f64) -> Level {
        Level {
            label: String::new(),
            number: None,
            bounds: Some((low, high)),
        }
    }

    #[test]
    fn a_move_keeps_the_relative_place() {
        assert_eq!(linear(25.0, (20.0, 30.0), &bin(30.0, 50.0)), 40.0);
        assert_eq!(linear(30.0, (20.0, 30.0), &bin(30.0, 50.0)), 50.0);
    }

    #[test]
    fn a_move_ends_inside_the_bin_and_in_type() {
        let to = bin(30.0, 50.0);
        assert_eq!(
            settle(30.0, &to, false, &DataType::Int64),
            Value::Integer(31)
        );
        assert_eq!(
            settle(30.0, &to, true, &DataType::Int64),
            Value::Integer(30)
        );
        assert_eq!(
            settle(40.5, &to, false, &DataType::Int64),
            Value::Integer(41)
        );
        assert_eq!(
            settle(50.0, &to, false, &DataType::Float64),
            Value::Float(50.0)
        );
        assert_eq!(
            settle(30.0, &to, false, &DataType::Float64),
            Value::Float(30f64.next_up())
        );
        let narrow = bin(0.1, 0.2);
        for number in [0.1, 0.2, 0.15] {
            let Value::Float(settled) = settle(number, &narrow, false, &DataType::Float32) else {
                panic!("a float stays a float");
            };
            assert!(settled > 0.1 && settled <= 0.2 && f64::from(settled as f32) == settled);
        }
    }
}
