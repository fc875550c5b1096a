//! What each group of a subgroup can do, as one reads it.

use facts_engine::definitions::Fair;
use facts_engine::distribution::Share;
use serde::Serialize;

use crate::csc::{Csc, CscAction, CscGroup};
use crate::evidence::{grids, words};
use crate::grid::Grid;
use crate::text::{effectiveness, number, percent, value};

/// One group of a subgroup.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The group's name.
    pub name: String,
    /// Its members.
    pub members: u64,
    /// The share of the group's refused people that they are.
    pub covered: String,
    /// What the definition compares.
    pub value: String,
    /// How far that may be off, if the finding was looked at closely.
    pub interval: Option<String>,
    /// The actions that the definition lists, cheapest first.
    pub ways: Vec<Way>,
    /// What is true where it lists none.
    pub none: Option<String>,
}

/// One action and how well it works for the group.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// What changes.
    pub change: String,
    /// The share of the members that it flips.
    pub effectiveness: String,
    /// What it costs.
    pub cost: String,
    /// How far the effectiveness may be off.
    pub interval: Option<String>,
}

/// The groups of a finding.
pub fn sides(csc: &Csc) -> Vec<Side> {
    let confidence = csc.confidence();
    let interval = |bounds: String| format!("{confidence} interval {bounds}");
    let way = |group: &CscGroup, action: &CscAction| Way {
        change: action.change.clone(),
        effectiveness: effectiveness(action.flips, group.members),
        cost: number(action.cost),
        interval: action.interval.as_ref().map(words::shares).map(interval),
    };
    let side = |group: &CscGroup| Side {
        name: group.name.trim().to_owned(),
        members: group.members,
        covered: percent(Share::new(group.members, group.affected)),
        value: value(group.value),
        interval: (group.interval)
            .and_then(|found| words::best_of_value(group.value, &found, group.members))
            .map(interval),
        ways: (group.actions.iter())
            .map(|action| way(group, action))
            .collect(),
        none: group.none.clone(),
    };
    csc.groups.iter().map(side).collect()
}

/// How a finding fares in each variant of the audit; none if that was not asked for.
pub fn variants(csc: &Csc) -> Option<Grid> {
    let followed = csc.evidence.as_ref()?.stability.as_ref()?;
    Some(grids::variants(followed))
}

/// Whom a finding is against and how much, or which kind of fair it is.
pub fn verdict(csc: &Csc, fair: Option<Fair>) -> String {
    let title = &csc.definition;
    match fair {
        Some(Fair::Equal) => return format!("Fair by {title}. The groups fare alike."),
        Some(Fair::OutOfReach) => {
            return format!("Fair by {title}. Nobody gets there: out of reach for everybody.");
        }
        None => {}
    }
    let against = csc.against.iter();
    let against: Vec<String> = against.map(|name| format!("'{}'", name.trim())).collect();
    let passes = match csc.significant {
        None => "",
        Some(true) => " The gap passes the definition’s significance test.",
        Some(false) => " The gap does not pass the definition’s significance test.",
    };
    format!(
        "Bias against {} by {title}. Unfairness score = {}.{passes}",
        against.join(" and "),
        number(csc.score)
    )
}
