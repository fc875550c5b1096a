//! The effectiveness–cost distribution of one subgroup and group, and its inverse.

use super::Subgroup;
use super::cost::levels_within;
use super::decimal::{Decimal, Share};
use super::flips::ActionOutcome;
use std::collections::BTreeSet;

/// Whether each member chooses their own action, or one action is chosen for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewpoint {
    Micro,
    Macro,
}

/// Members flipped by at least one action of the cost level or a cheaper one.
pub fn flipped_by_any(actions: &[ActionOutcome], level: usize) -> Vec<usize> {
    let mut flipped: BTreeSet<usize> = BTreeSet::new();
    for action in actions {
        if action.cost_level <= level {
            flipped.extend(&action.flipped);
        }
    }
    flipped.into_iter().collect()
}

/// For each group, the most members flipped by any one action of the cost level or a cheaper one.
pub fn most_flipped(actions: &[ActionOutcome], level: usize, groups: usize) -> Vec<u64> {
    let mut most = vec![0; groups];
    for action in actions {
        if action.cost_level <= level {
            for (group, flips) in action.flips.iter().enumerate() {
                most[group] = most[group].max(*flips);
            }
        }
    }
    most
}

impl Subgroup {
    /// `ecd` of the group at a cost level.
    pub fn ecd_at_level(&self, view: Viewpoint, group: usize, level: usize) -> Share {
        let counts = match view {
            Viewpoint::Micro => &self.micro,
            Viewpoint::Macro => &self.macro_,
        };
        Share {
            flipped: counts[level][group],
            members: self.members[group],
        }
    }

    /// `ecd(c)`: all actions with cost ≤ c together; 0 when there are none. `c` may be ∞.
    pub fn ecd(&self, view: Viewpoint, group: usize, budget: f64) -> Share {
        match levels_within(&self.cost_levels, budget) {
            0 => Share {
                flipped: 0,
                members: self.members[group],
            },
            within => self.ecd_at_level(view, group, within - 1),
        }
    }

    /// The first cost level at which `ecd ≥ φ`.
    pub fn inverse_level(&self, view: Viewpoint, group: usize, phi: Decimal) -> Option<usize> {
        (0..self.cost_levels.len()).find(|level| {
            let share = self.ecd_at_level(view, group, *level);
            phi.reached_by(share.flipped, share.members)
        })
    }

    /// `ecd⁻¹(φ)`: the least cost at which `ecd ≥ φ`, else ∞.
    pub fn inverse(&self, view: Viewpoint, group: usize, phi: Decimal) -> f64 {
        let level = self.inverse_level(view, group, phi);
        level.map_or(f64::INFINITY, |level| self.cost_levels[level])
    }
}
