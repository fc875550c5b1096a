//! Pieces that several views answer with.

use facts_engine::Audit;
use facts_engine::definitions::Fair;
use facts_engine::distribution::{Subgroup, Viewpoint};
use facts_engine::evidence::Tests;
use facts_engine::ranking::Ranked;
use facts_report::evidence::words;
use facts_report::text::{number, percent, value};
use serde::Serialize;

/// The effectiveness–cost distributions of a subgroup: members reached at each cost.
#[derive(Debug, Serialize)]
pub(crate) struct Curve {
    costs: Vec<f64>,
    groups: Vec<CurveGroup>,
}

/// Those of one group; nothing where a count is suppressed.
#[derive(Debug, Serialize)]
struct CurveGroup {
    name: String,
    members: u64,
    micro: Vec<Option<u64>>,
    r#macro: Vec<Option<u64>>,
    /// The share of the members that has a way at any cost, each by their own action.
    open: Option<String>,
}

impl Curve {
    pub(crate) fn new(audit: &Audit, subgroup: &Subgroup) -> Self {
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

/// One subgroup under one definition, as a line of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// Its place in the audit.
    subgroup: usize,
    predicate: String,
    /// Members by group.
    members: Vec<u64>,
    /// What is compared, by group.
    values: Vec<String>,
    /// None if it is fair.
    rank: Option<u32>,
    score: String,
    /// The worse-off groups, by place.
    against: Vec<usize>,
    /// Which kind of fair it is; none if it is not.
    fair: Option<&'static str>,
    /// Whether it passes; none if that is not known.
    passes: Option<bool>,
    /// Its family-wise p-value, if it was tested.
    p: Option<String>,
}

impl Row {
    pub(crate) fn new(
        audit: &Audit,
        predicate: &str,
        ranked: &Ranked,
        tests: Option<&Tests>,
        alpha: f64,
    ) -> Self {
        let found = &ranked.assessment;
        let tested = tests.and_then(|tests| tests.tested.get(ranked.subgroup).copied()?);
        let tested = tested.filter(|_| ranked.rank.is_some());
        Self {
            subgroup: ranked.subgroup,
            predicate: predicate.to_owned(),
            members: audit.subgroups[ranked.subgroup].members.clone(),
            values: found
                .values
                .iter()
                .map(|&compared| value(compared))
                .collect(),
            rank: ranked.rank,
            score: number(found.score),
            against: found.against.to_vec(),
            fair: found.fair().map(|fair| match fair {
                Fair::Equal => "equal",
                Fair::OutOfReach => "out of reach",
            }),
            passes: tested.map(|tested| tested.passes(alpha)),
            p: tested.map(|tested| words::p_value(tested.family_wise)),
        }
    }
}
