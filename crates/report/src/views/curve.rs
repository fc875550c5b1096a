//! The effectiveness–cost distributions of a subgroup, to be drawn.

use facts_engine::Audit;
use facts_engine::distribution::{Subgroup, Viewpoint};
use serde::Serialize;

use crate::text::percent;

/// The effectiveness–cost distributions of a subgroup: members reached at each cost.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The distinct costs, rising.
    pub costs: Vec<f64>,
    /// The distributions by group.
    pub groups: Vec<CurveGroup>,
}

/// Those of one group; nothing where a count is suppressed.
#[derive(Clone, Debug, Serialize)]
pub struct CurveGroup {
    /// The group's name.
    pub name: String,
    /// Its members in the subgroup.
    pub members: u64,
    /// How many of them have a way within each cost, each by their own action.
    pub micro: Vec<Option<u64>>,
    /// How many of them the best action within each cost flips.
    pub r#macro: Vec<Option<u64>>,
    /// The share of the members that has a way at any cost, each by their own action.
    pub open: Option<String>,
}

impl Curve {
    /// Those of a subgroup.
    pub fn new(audit: &Audit, subgroup: &Subgroup) -> Self {
        let reached = |viewpoint: Viewpoint, g: usize| {
            let levels = 1..=subgroup.cost_levels.len();
            let at = |level| subgroup.ecd(viewpoint, g, level).map(|share| share.part);
            levels.map(at).collect()
        };
        let groups = audit.groups.iter().enumerate();
        Self {
            costs: subgroup.cost_levels.clone(),
            groups: groups
                .map(|(g, group)| CurveGroup {
                    name: group.name.trim().to_owned(),
                    members: subgroup.members[g],
                    micro: reached(Viewpoint::Micro, g),
                    r#macro: reached(Viewpoint::Macro, g),
                    open: subgroup.ecd_at_any_cost(Viewpoint::Micro, g).map(percent),
                })
                .collect(),
        }
    }
}
