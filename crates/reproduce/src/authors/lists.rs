//! Effectiveness lists: what the authors' code works on.

use facts_engine::distribution::Subgroup;
use facts_engine::{Audit, Individuals};

/// The subgroups of one run, in the order in which they were mined.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists {
    /// The two protected groups.
    pub groups: [String; 2],
    /// The subgroups.
    pub subgroups: Vec<Listed>,
}

/// One subgroup: its actions, and what a growing budget buys each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The predicate as one reads it.
    pub predicate: String,
    /// Its actions.
    pub actions: Vec<Atomic>,
    /// For each group, the share reached by the actions so far, cheapest first.
    pub cumulated: [Vec<Step>; 2],
}

/// One action: its cost, and its effectiveness in each group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// What it costs.
    pub cost: f64,
    /// The share of each group that it helps.
    pub effectiveness: [f64; 2],
}

/// A place of a cumulated list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The cost of the action that was added.
    pub cost: f64,
    /// The share reached by it and all before it.
    pub effectiveness: f64,
}

impl Lists {
    /// The lists of an audit of two groups; `None` if there are more groups, or counts were suppressed.
    ///
    /// An audit knows nothing of the order in which the authors' code mines: subgroups come as the audit
    /// has them, and so do actions that have the same cost and the same effectiveness.
    pub fn of(audit: &Audit, individuals: &Individuals) -> Option<Self> {
        let [first, second] = audit.groups.as_slice() else {
            return None;
        };
        let affected = [first.affected, second.affected];
        let listed = |subgroup: &Subgroup| Listed::of(audit, individuals, subgroup, affected);
        Some(Self {
            groups: [first, second].map(|group| group.name.trim().to_owned()),
            subgroups: audit.subgroups.iter().map(listed).collect::<Option<_>>()?,
        })
    }
}

impl Listed {
    fn of(
        audit: &Audit,
        individuals: &Individuals,
        subgroup: &Subgroup,
        affected: [u64; 2],
    ) -> Option<Self> {
        let action = |index: usize| -> Option<Atomic> {
            let share = |g: usize| {
                let flips = subgroup.flips(index, g).known()?;
                let members = subgroup.members[g];
                Some(Atomic::effectiveness(flips, members, affected[g]))
            };
            Some(Atomic {
                cost: subgroup.actions[index].cost,
                effectiveness: [share(0)?, share(1)?],
            })
        };
        let actions = (0..subgroup.actions.len()).map(action);
        let actions: Vec<Atomic> = actions.collect::<Option<_>>()?;
        let cumulated = |g: usize| {
            let order = order(&actions, g);
            let reached = individuals.reached_in_order(subgroup, g, &order);
            let steps = order.iter().zip(reached).map(|(&action, reached)| Step {
                cost: actions[action].cost,
                effectiveness: reached as f64 / subgroup.members[g] as f64,
            });
            steps.collect()
        };
        Some(Self {
            predicate: audit.text(&subgroup.predicate),
            cumulated: [cumulated(0), cumulated(1)],
            actions,
        })
    }
}

/// The order in which a group's actions are cumulated: by cost, then by how well each works for that
/// group, the least effective first.
pub fn order(actions: &[Atomic], g: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..actions.len()).collect();
    let key = |action: &usize| (actions[*action].cost, actions[*action].effectiveness[g]);
    order.sort_by(|a, b| {
        let ((cost, share), (other_cost, other_share)) = (key(a), key(b));
        cost.total_cmp(&other_cost)
            .then(share.total_cmp(&other_share))
    });
    order
}

impl Atomic {
    /// An effectiveness with the rounding that the authors' code gives it: one minus the share that is
    /// not helped, out of a number of members that was itself had from a share.
    pub fn effectiveness(flips: u64, members: u64, affected: u64) -> f64 {
        let support = members as f64 / affected as f64;
        1.0 - (members - flips) as f64 / (support * affected as f64)
    }
}
