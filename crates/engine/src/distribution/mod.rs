//! The effectiveness–cost distribution of a subgroup: what a budget buys each group.
//!
//! For one subgroup and group g, with in-budget actions `A_c` = valid actions of cost at most c:
//!
//! - macro: `ecd(c)` = the greatest effectiveness of a single action in `A_c`;
//! - micro: `ecd(c)` = the share of members flipped by at least one action in `A_c`;
//!
//! and 0 while `A_c` is empty. Both are step functions with a step at each distinct cost, so all
//! actions of one cost are taken together before the distribution is read. `ecd⁻¹(φ)` is the least
//! cost at which `ecd ≥ φ`, or ∞.
//!
//! A [`Subgroup`] holds the counts behind both, and nothing about individuals. Every definition of
//! fairness is computed from it, so it is all that is saved.

mod count;
mod gap;
mod pooled;
mod statistic;

use serde::{Deserialize, Serialize};

pub use self::count::{Count, Share};
pub use self::gap::WidestGap;
pub use self::pooled::Pooled;
pub use self::statistic::Statistic;
use crate::actions::{COST_GAP, Change};
pub use crate::bits::PerGroup;
use crate::bits::{self, Layout, Words};
use crate::decimal::Phi;
use crate::subgroups::Predicate;

/// Scores below this are 0, and scores closer than this are equal.
pub const SCORE_GAP: f64 = 1e-9;

/// Whether each member chooses their own action, or one action is chosen for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Viewpoint {
    /// Each member chooses their own action.
    Micro,
    /// One action for all.
    Macro,
}

impl std::fmt::Display for Viewpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Micro => "micro",
            Self::Macro => "macro",
        })
    }
}

/// A count of a subgroup's members that alone decides a definition's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidingCount {
    /// Those whom an action flips.
    Flipped {
        /// The action, by its place in the subgroup.
        action: usize,
    },
    /// Those flipped by at least one action up to a cost.
    Reached {
        /// The cost level, by its place in the subgroup.
        level: usize,
    },
}

/// One valid action of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// What changes, by its place among the audit's changes.
    pub change: u32,
    /// What that costs every member.
    pub cost: f64,
    /// The place of its cost among the subgroup's cost levels.
    pub cost_level: u32,
}

/// A subgroup with its valid actions and how many people they help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subgroup {
    /// Who belongs to it.
    pub predicate: Predicate,
    /// Members by group.
    pub members: Vec<u64>,
    /// Valid actions, cheapest first.
    pub actions: Vec<Action>,
    /// Distinct costs, ascending; costs closer than 1e-9 are one, shown as the least of them.
    pub cost_levels: Vec<f64>,
    /// Members flipped, by action and group.
    flips: Vec<Count>,
    /// Members flipped by at least one action up to a cost, by cost level and group.
    reached: Vec<Count>,
}

impl Subgroup {
    /// Counts whom the actions flip. `actions` come cheapest first, by places in `flips`.
    pub(crate) fn count(
        predicate: Predicate,
        members: &[u64],
        member_set: &[u64],
        actions: &[(u32, f64)],
        flips: &[Words],
        layout: &Layout,
    ) -> Self {
        let groups = 0..layout.groups();
        let mut subgroup = Self {
            predicate,
            members: members.to_vec(),
            actions: Vec::with_capacity(actions.len()),
            cost_levels: Vec::new(),
            flips: Vec::with_capacity(actions.len() * groups.len()),
            reached: Vec::new(),
        };
        let mut reached = layout.none();
        let mut previous = f64::NEG_INFINITY;
        for &(change, cost) in actions {
            if cost - previous >= COST_GAP {
                if !subgroup.cost_levels.is_empty() {
                    subgroup.close_level(member_set, &reached, layout);
                }
                subgroup.cost_levels.push(cost);
            }
            previous = cost;
            let flipped = &flips[change as usize];
            for g in groups.clone() {
                let count = layout.count(g, member_set, flipped);
                subgroup.flips.push(Count::Known(count));
            }
            bits::unite(&mut reached, flipped);
            subgroup.actions.push(Action {
                change,
                cost,
                cost_level: subgroup.cost_levels.len() as u32 - 1,
            });
        }
        subgroup.close_level(member_set, &reached, layout);
        subgroup
    }

    fn close_level(&mut self, member_set: &[u64], reached: &[u64], layout: &Layout) {
        for g in 0..layout.groups() {
            let count = layout.count(g, member_set, reached);
            self.reached.push(Count::Known(count));
        }
    }

    /// Everybody leaves; counts that are suppressed stay so.
    pub(crate) fn empty(&mut self) {
        self.members.fill(0);
        for count in self.flips.iter_mut().chain(&mut self.reached) {
            if let Count::Known(count) = count {
                *count = 0;
            }
        }
    }

    /// So many people join group `g` whom these actions help, given by place, ascending. Counts that
    /// are suppressed stay so.
    pub(crate) fn join(&mut self, g: usize, helped_by: &[u32], people: u64) {
        self.members[g] += people;
        self.each_count(g, helped_by, |count| *count += people);
    }

    /// So many such people leave, who must be there.
    pub(crate) fn leave(&mut self, g: usize, helped_by: &[u32], people: u64) {
        self.members[g] -= people;
        self.each_count(g, helped_by, |count| *count -= people);
    }

    /// Each known count in which a member of group `g` appears whom these actions help.
    fn each_count(&mut self, g: usize, helped_by: &[u32], mut with: impl FnMut(&mut u64)) {
        let groups = self.groups();
        let mut known = |count: &mut Count| {
            if let Count::Known(count) = count {
                with(count);
            }
        };
        for &action in helped_by {
            known(&mut self.flips[action as usize * groups + g]);
        }
        // Actions come cheapest first.
        if let Some(&cheapest) = helped_by.first() {
            let from = self.actions[cheapest as usize].cost_level as usize;
            for level in from..self.cost_levels.len() {
                known(&mut self.reached[level * groups + g]);
            }
        }
    }

    /// Whether actions, cost levels and counts fit together, for a subgroup that was loaded.
    pub(crate) fn holds_together(&self, changes: usize) -> bool {
        let groups = self.groups();
        let levels = self.cost_levels.len();
        let counts_fit = self.flips.len() == self.actions.len() * groups
            && self.reached.len() == levels * groups;
        let actions_fit = self.actions.iter().all(|action| {
            (action.change as usize) < changes
                && (action.cost_level as usize) < levels
                && action.cost.is_finite()
                && action.cost >= 0.0
        });
        let within = |counts: &[Count]| {
            let rows = counts.chunks_exact(groups.max(1));
            rows.into_iter().all(|row| {
                let pairs = row.iter().zip(&self.members);
                pairs
                    .into_iter()
                    .all(|(count, members)| count.known().is_none_or(|n| n <= *members))
            })
        };
        let ascending = self.actions.is_sorted_by_key(|action| action.cost_level)
            && self.cost_levels.is_sorted();
        // Whoever is reached within a cost is reached within a greater one.
        let grows = (0..groups).all(|g| {
            let of_group = self.reached.iter().skip(g).step_by(groups);
            of_group.filter_map(|count| count.known()).is_sorted()
        });
        !self.actions.is_empty()
            && counts_fit
            && actions_fit
            && ascending
            && grows
            && within(&self.flips)
            && within(&self.reached)
    }

    /// Members of all groups together.
    pub fn people(&self) -> u64 {
        self.members.iter().sum()
    }

    /// How many groups are compared.
    pub fn groups(&self) -> usize {
        self.members.len()
    }

    /// Members of group `g` flipped by an action.
    pub fn flips(&self, action: usize, g: usize) -> Count {
        self.flips[action * self.groups() + g]
    }

    /// An action's effectiveness in group `g`; `None` if suppressed.
    pub fn effectiveness(&self, action: usize, g: usize) -> Option<Share> {
        Some(Share::new(self.flips(action, g).known()?, self.members[g]))
    }

    /// How many cost levels lie within a budget.
    pub fn levels_within(&self, budget: f64) -> usize {
        self.cost_levels
            .partition_point(|&cost| cost <= budget + COST_GAP)
    }

    /// The effectiveness–cost distribution of group `g` after the first `levels` cost levels;
    /// `None` if suppressed.
    pub fn ecd(&self, viewpoint: Viewpoint, g: usize, levels: usize) -> Option<Share> {
        let members = self.members[g];
        if levels == 0 {
            return Some(Share::new(0, members));
        }
        let flipped = match viewpoint {
            Viewpoint::Micro => self.reached[(levels - 1) * self.groups() + g].known()?,
            Viewpoint::Macro => {
                let in_budget = self
                    .actions
                    .iter()
                    .take_while(|action| (action.cost_level as usize) < levels);
                count::greatest(
                    in_budget
                        .enumerate()
                        .map(|(action, _)| self.flips(action, g)),
                )?
            }
        };
        Some(Share::new(flipped, members))
    }

    /// The count that alone decides the effectiveness–cost distribution after the first `levels`
    /// cost levels, if there is one: micro there always is, macro if there is a single action.
    pub(crate) fn deciding_count(
        &self,
        viewpoint: Viewpoint,
        levels: usize,
    ) -> Option<DecidingCount> {
        let level = levels.checked_sub(1)?;
        match viewpoint {
            Viewpoint::Micro => Some(DecidingCount::Reached { level }),
            Viewpoint::Macro => {
                let beyond_first = self.actions.get(1);
                let alone = beyond_first.is_none_or(|next| next.cost_level as usize >= levels);
                alone.then_some(DecidingCount::Flipped { action: 0 })
            }
        }
    }

    /// `ecd(∞)`.
    pub fn ecd_at_any_cost(&self, viewpoint: Viewpoint, g: usize) -> Option<Share> {
        self.ecd(viewpoint, g, self.cost_levels.len())
    }

    /// `ecd⁻¹(φ)`: the least cost at which group `g` reaches φ, or ∞; `None` if suppressed.
    pub fn cost_of_effectiveness(&self, viewpoint: Viewpoint, g: usize, phi: Phi) -> Option<f64> {
        Some(match self.level_of_effectiveness(viewpoint, g, phi)? {
            Some(level) => self.cost_levels[level],
            None => f64::INFINITY,
        })
    }

    /// The cost level at which group `g` reaches φ, if it does.
    pub(crate) fn level_of_effectiveness(
        &self,
        viewpoint: Viewpoint,
        g: usize,
        phi: Phi,
    ) -> Option<Option<usize>> {
        let (groups, enough) = (self.groups(), phi.get().least_of(self.members[g]));
        match viewpoint {
            Viewpoint::Micro => {
                let reached = self.reached.iter().skip(g).step_by(groups);
                for (level, reached) in reached.enumerate() {
                    if reached.known()? >= enough {
                        return Some(Some(level));
                    }
                }
            }
            // The first action that reaches φ is a cheapest one.
            Viewpoint::Macro => {
                let flips = self.flips.iter().skip(g).step_by(groups);
                for (action, flips) in self.actions.iter().zip(flips) {
                    if flips.known()? >= enough {
                        return Some(Some(action.cost_level as usize));
                    }
                }
            }
        }
        Some(None)
    }

    /// The same subgroup with two of its groups alone, in this order.
    pub fn of_pair(&self, pair: [usize; 2]) -> Self {
        let of_pair = |counts: &[Count]| {
            let rows = counts.chunks_exact(self.groups());
            rows.flat_map(|row| pair.map(|g| row[g])).collect()
        };
        Self {
            predicate: self.predicate.clone(),
            members: pair.map(|g| self.members[g]).to_vec(),
            actions: self.actions.clone(),
            cost_levels: self.cost_levels.clone(),
            flips: of_pair(&self.flips),
            reached: of_pair(&self.reached),
        }
    }

    /// Takes other counts: by action and then by cost level, of each group.
    pub(crate) fn recount(&mut self, counts: &[u64]) {
        let all = self.flips.iter_mut().chain(&mut self.reached);
        for (count, &people) in all.zip(counts) {
            *count = Count::Known(people);
        }
    }

    /// Replaces counts from 1 to k − 1 by "suppressed".
    pub(crate) fn suppress(&mut self, k: u64) {
        for count in self.flips.iter_mut().chain(&mut self.reached) {
            count.suppress(k);
        }
    }

    /// The change of an action.
    pub fn change<'c>(&self, action: usize, changes: &'c [Change]) -> &'c Change {
        &changes[self.actions[action].change as usize]
    }
}
