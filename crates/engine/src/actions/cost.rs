//! What a change costs: `Σ weight · distance(from, to)` over the features that change.

use std::collections::HashMap;
use std::sync::RwLock;

use super::Assignment;
use crate::error::Error;
use crate::population::{CostFunction, Distance, Levels};

impl Levels {
    /// Refuses a use of numbers on levels that have none.
    pub(crate) fn require_numbers(&self, what: &'static str) -> Result<(), Error> {
        let without = self
            .levels
            .iter()
            .enumerate()
            .find(|&(i, level)| level.number.is_none() && self.missing != Some(i as u32));
        match without {
            None => Ok(()),
            Some((_, level)) => Err(Error::NeedsNumbers {
                feature: self.name.clone(),
                what,
                level: level.label.clone(),
            }),
        }
    }
}

/// The costs of all features, checked.
#[derive(Debug)]
pub(crate) struct Costs<'a> {
    features: Vec<FeatureCost<'a>>,
}

#[derive(Debug)]
struct FeatureCost<'a> {
    feature: &'a Levels,
    rule: Rule<'a>,
}

enum Rule<'a> {
    Categorical,
    Ordinal,
    /// The difference of numbers, in units; and the longest possible move.
    Numeric {
        unit: f64,
        longest: f64,
    },
    Table(HashMap<(u32, u32), f64>),
    /// A function may be slow (it may live in another language), so each answer is kept.
    Function(&'a CostFunction, RwLock<HashMap<(u32, u32), f64>>),
}

impl std::fmt::Debug for Rule<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Categorical => "categorical",
            Self::Ordinal => "ordinal",
            Self::Numeric { .. } => "numeric",
            Self::Table(_) => "table",
            Self::Function(..) => "function",
        })
    }
}

impl<'a> Costs<'a> {
    /// Checks the declared distances.
    pub(crate) fn new(features: &'a [Levels]) -> Result<Self, Error> {
        let features = features
            .iter()
            .map(|feature| {
                Ok(FeatureCost {
                    feature,
                    rule: Rule::new(feature)?,
                })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self { features })
    }

    /// What changing one feature costs, weight included.
    pub(crate) fn distance(&self, feature: usize, from: u32, to: u32) -> Result<f64, Error> {
        let cost = &self.features[feature];
        Ok(cost.feature.weight * cost.distance(from, to)?)
    }

    /// What a change costs a person whose level in each feature is told by `level`; features that
    /// are right already cost nothing.
    ///
    /// `None` if a table lacks a transition that `allows` forbids anyway.
    pub(crate) fn cost(
        &self,
        change: &[Assignment],
        level: impl Fn(usize) -> u32,
        allows: impl Fn(usize, u32, u32) -> bool,
    ) -> Result<Option<f64>, Error> {
        let mut cost = 0.0;
        for assignment in change {
            let (feature, from, to) = (
                assignment.feature(),
                level(assignment.feature()),
                assignment.level,
            );
            if from == to {
                continue;
            }
            match self.distance(feature, from, to) {
                Ok(distance) if !(cost + distance).is_finite() => {
                    let feature = self.features[feature].feature;
                    return Err(Error::BadCost {
                        feature: feature.name.clone(),
                        from: feature.label(from).to_owned(),
                        to: feature.label(to).to_owned(),
                        cost: cost + distance,
                    });
                }
                Ok(distance) => cost += distance,
                Err(Error::NoCostEntry { .. }) if !allows(feature, from, to) => return Ok(None),
                Err(other) => return Err(other),
            }
        }
        Ok(Some(cost))
    }
}

impl<'a> Rule<'a> {
    fn new(feature: &'a Levels) -> Result<Self, Error> {
        Ok(match &feature.distance {
            Distance::Categorical => Self::Categorical,
            Distance::Ordinal if feature.is_ordered() => Self::Ordinal,
            Distance::Ordinal => {
                return Err(Error::NeedsOrder {
                    feature: feature.name.clone(),
                    what: "a cost by ranks",
                });
            }
            Distance::Numeric { normalised } => {
                feature.require_numbers("a cost by numbers")?;
                let (least, greatest) = feature.range.unwrap_or((0.0, 0.0));
                let width = greatest - least;
                if !width.is_finite() {
                    return Err(Error::BadCost {
                        feature: feature.name.clone(),
                        from: format!("{least:e}"),
                        to: format!("{greatest:e}"),
                        cost: width,
                    });
                }
                match normalised {
                    // With a single number nothing can move, whatever it is divided by.
                    true => Self::Numeric {
                        unit: if width > 0.0 { width } else { 1.0 },
                        longest: 1.0,
                    },
                    false => Self::Numeric {
                        unit: 1.0,
                        longest: width,
                    },
                }
            }
            Distance::Table(rows) => {
                let mut table = HashMap::new();
                for (from, to, cost) in rows {
                    if !(cost.is_finite() && *cost >= 0.0) {
                        return Err(Error::BadCost {
                            feature: feature.name.clone(),
                            from: from.clone(),
                            to: to.clone(),
                            cost: *cost,
                        });
                    }
                    // Rows about levels that nobody has are never asked for.
                    if let (Some(from), Some(to)) = (feature.find(from), feature.find(to)) {
                        table.insert((from, to), *cost);
                    }
                }
                Self::Table(table)
            }
            Distance::Function(function) => Self::Function(function, RwLock::default()),
        })
    }
}

impl FeatureCost<'_> {
    /// The distance before the weight.
    fn distance(&self, from: u32, to: u32) -> Result<f64, Error> {
        let feature = self.feature;
        let from_missing = feature.missing == Some(from);
        match &self.rule {
            Rule::Categorical => Ok(1.0),
            // Nobody knows where a person with a missing value starts: the longest move is assumed.
            Rule::Ordinal if from_missing => Ok(feature.ranks().saturating_sub(1) as f64),
            Rule::Ordinal => Ok(f64::from(from.abs_diff(to))),
            Rule::Numeric { longest, .. } if from_missing => Ok(*longest),
            Rule::Numeric { unit, .. } => {
                let number = |level: u32| feature.levels[level as usize].number.unwrap_or(f64::NAN);
                Ok((number(to) - number(from)).abs() / unit)
            }
            Rule::Table(table) => {
                table
                    .get(&(from, to))
                    .copied()
                    .ok_or_else(|| Error::NoCostEntry {
                        feature: feature.name.clone(),
                        from: feature.label(from).to_owned(),
                        to: feature.label(to).to_owned(),
                    })
            }
            Rule::Function(function, known) => {
                let known_cost = |map: &HashMap<_, f64>| map.get(&(from, to)).copied();
                if let Some(cost) = known.read().ok().and_then(|map| known_cost(&map)) {
                    return Ok(cost);
                }
                let (left, reached) =
                    (&feature.levels[from as usize], &feature.levels[to as usize]);
                let cost = function(left, reached);
                if !(cost.is_finite() && cost >= 0.0) {
                    return Err(Error::BadCost {
                        feature: feature.name.clone(),
                        from: left.label.clone(),
                        to: reached.label.clone(),
                        cost,
                    });
                }
                if let Ok(mut map) = known.write() {
                    map.insert((from, to), cost);
                }
                Ok(cost)
            }
        }
    }
}
