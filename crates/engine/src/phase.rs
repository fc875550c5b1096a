//! What an audit is busy with.

use std::fmt;

/// The steps of an audit, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is asked about each distinct row of the population.
    Predictions,
    /// Subgroups common to all groups are mined.
    Subgroups,
    /// Actions are mined from the unaffected.
    Actions,
    /// Subgroups and actions are matched.
    Validity,
    /// The model is asked about each distinct counterfactual row.
    Flips,
    /// Flips are counted for each subgroup.
    Effectiveness,
    /// Findings are tested, and their intervals found.
    Evidence,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Predictions => "predictions",
            Self::Subgroups => "subgroups",
            Self::Actions => "actions",
            Self::Validity => "validity",
            Self::Flips => "flips",
            Self::Effectiveness => "effectiveness",
            Self::Evidence => "evidence",
        })
    }
}
