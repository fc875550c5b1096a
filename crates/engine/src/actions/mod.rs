//! Actions: assignments that are frequent among the unaffected, matched to subgroups.

mod cost;
mod feasibility;
mod validity;

use serde::{Deserialize, Serialize};

pub(crate) use self::cost::Costs;
pub(crate) use self::feasibility::Feasibility;
pub(crate) use self::validity::{Matched, Matching, Memory, match_actions};
use crate::population::Levels;

/// Costs closer than this are one cost.
pub(crate) const COST_GAP: f64 = 1e-9;

/// A feature and the level it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Assignment {
    /// Which feature, by its place in the order of names.
    pub feature: u32,
    /// The level it is given.
    pub level: u32,
}

impl Assignment {
    /// The feature as an index.
    pub(crate) fn feature(self) -> usize {
        self.feature as usize
    }
}

/// The assignments of an action that differ from a predicate: what is applied, costed and shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Change(pub(crate) Box<[Assignment]>);

impl Change {
    /// The assignments, in order of feature name.
    pub fn assignments(&self) -> &[Assignment] {
        &self.0
    }

    /// The change as it is read: `feature = level`, joined by commas.
    pub fn text(&self, features: &[Levels]) -> String {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|a| {
                let feature = &features[a.feature()];
                format!("{} = {}", feature.name, feature.label(a.level))
            })
            .collect();
        parts.join(", ")
    }
}

/// Which actions are valid for a subgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// An action over exactly the predicate's features: what changes and what stays must together
    /// be common among those who succeed.
    #[default]
    Joint,
    /// An action over any of the predicate's features, all of which it changes.
    Subset,
}
