//! Subgroups: predicates that are frequent among the affected of every group.

mod items;
mod mine;
mod ranges;

use serde::{Deserialize, Serialize};

pub(crate) use self::items::{ItemSets, affected_items, equality_items, given_items};
pub(crate) use self::mine::{Limits, Mined, joint};
pub(crate) use self::ranges::one_for_each_set_of_members;
use crate::population::Levels;

/// How an item compares a person's level with its own.
///
/// In the order in which the two bounds of a range are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Operator {
    /// The level itself.
    #[serde(rename = "=")]
    Is,
    /// The level or a higher one.
    #[serde(rename = ">=")]
    AtLeast,
    /// The level or a lower one.
    #[serde(rename = "<=")]
    AtMost,
}

impl Operator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
        }
    }
}

/// Feature, operator, level: one condition of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Item {
    /// Which feature, by its place in the order of names.
    pub feature: u32,
    /// How levels are compared.
    pub operator: Operator,
    /// The level compared with.
    pub level: u32,
}

impl Item {
    /// Whether a level of the item's feature satisfies it. `missing` satisfies no range.
    pub(crate) fn admits(self, level: u32, missing: Option<u32>) -> bool {
        match self.operator {
            Operator::Is => level == self.level,
            _ if missing == Some(level) => false,
            Operator::AtLeast => level >= self.level,
            Operator::AtMost => level <= self.level,
        }
    }

    /// Whether two items may stand in one predicate: different features, or the two bounds of a
    /// range.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        self.feature != other.feature
            || matches!(
                (self.operator, other.operator),
                (Operator::AtLeast, Operator::AtMost) | (Operator::AtMost, Operator::AtLeast)
            )
    }

    /// The item as it is read: `feature = level`.
    pub fn text(self, features: &[Levels]) -> String {
        let feature = &features[self.feature as usize];
        format!(
            "{} {} {}",
            feature.name,
            self.operator.symbol(),
            feature.label(self.level)
        )
    }
}

/// A conjunction of items, sorted; at most one a feature, or the two bounds of a range.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Predicate(Box<[Item]>);

impl Predicate {
    /// A predicate of these items, which must go with each other.
    pub(crate) fn new(mut items: Vec<Item>) -> Self {
        items.sort_unstable();
        debug_assert!(items.windows(2).all(|w| w[0].goes_with(w[1])));
        Self(items.into_boxed_slice())
    }

    /// The items, in order of feature name.
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    /// The features it speaks of, each once, ascending.
    pub(crate) fn features(&self) -> Vec<u32> {
        let mut features: Vec<u32> = self.0.iter().map(|item| item.feature).collect();
        features.dedup();
        features
    }

    /// The predicate as it is read: items joined by commas.
    pub fn text(&self, features: &[Levels]) -> String {
        let items: Vec<String> = self.0.iter().map(|item| item.text(features)).collect();
        items.join(", ")
    }
}
