//! The people behind an audit's counts, for questions that counts cannot answer.

use std::collections::BTreeMap;

use crate::bits::{self, Layout, Words};
use crate::budget::Budget;
use crate::distribution::Subgroup;
use crate::subgroups::ItemSets;

/// Who belongs to which subgroup, and whom each change helps.
///
/// An [`Audit`](super::Audit) holds counts only, and that is all that is ever saved. Whoever needs
/// more, such as the members reached by actions taken in another order than by cost, makes the
/// audit with [`audit_with_individuals`](super::audit_with_individuals) and asks here.
#[derive(Debug)]
pub struct Individuals {
    pub(crate) layout: Layout,
    pub(crate) items: ItemSets,
    /// By change: whose prediction it turns favourable.
    pub(crate) flips: Vec<Words>,
    /// By profile of the population: whether the model favours it.
    pub(crate) favourable: Vec<bool>,
    /// What people and audit leave of the memory to whatever is made of them.
    pub(crate) budget: Budget,
}

/// Members of one group whom the same actions of a subgroup help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    /// The actions that help them, by place in the subgroup, ascending.
    pub(crate) helped_by: Vec<u32>,
    /// How many people they are.
    pub(crate) people: u64,
}

impl Individuals {
    /// What people and audit leave of the memory that the audit may take.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether the model favours a profile of the population.
    pub fn favours(&self, profile: usize) -> bool {
        self.favourable[profile]
    }

    /// The profiles of the population whose prediction a change of the audit turns favourable, among
    /// those for whom that had to be known.
    pub fn helped(&self, change: usize) -> impl Iterator<Item = usize> + '_ {
        bits::iter(&self.flips[change]).map(|position| self.layout.profile(position))
    }

    /// The members of a subgroup.
    pub(crate) fn members(&self, subgroup: &Subgroup) -> Words {
        let mut members = self.layout.none();
        self.items.members(subgroup.predicate.items(), &mut members);
        members
    }

    /// The members of a subgroup whom some action flips that lies within the first `levels` cost levels.
    pub(crate) fn reached(&self, subgroup: &Subgroup, members: &[u64], levels: usize) -> Words {
        let mut reached = self.layout.none();
        for action in &subgroup.actions {
            if action.cost_level as usize >= levels {
                break;
            }
            bits::unite(&mut reached, &self.flips[action.change as usize]);
        }
        bits::intersect(&mut reached, members);
        reached
    }

    /// The members of a subgroup of the same audit, by group, those whom the same actions help
    /// together; in an order that depends on nothing else.
    pub(crate) fn alike(&self, subgroup: &Subgroup) -> Vec<Vec<Alike>> {
        let members = self.members(subgroup);
        let mut groups = vec![BTreeMap::new(); self.layout.groups()];
        for position in bits::iter(&members) {
            let helps = |&action: &u32| {
                let change = subgroup.actions[action as usize].change;
                bits::contains(&self.flips[change as usize], position)
            };
            let helped_by: Vec<u32> = (0..subgroup.actions.len() as u32).filter(helps).collect();
            let group = &mut groups[self.layout.group(position)];
            *group.entry(helped_by).or_insert(0) += self.layout.weight(position);
        }
        let alike = |(helped_by, people)| Alike { helped_by, people };
        let groups = groups.into_iter();
        groups
            .map(|group| group.into_iter().map(alike).collect())
            .collect()
    }

    /// Members of group `g` that are flipped by at least one of the actions taken so far, after
    /// each action of `order`. Actions are named by their place in the subgroup, which must be one
    /// of the same audit.
    pub fn reached_in_order(&self, subgroup: &Subgroup, g: usize, order: &[usize]) -> Vec<u64> {
        let members = self.members(subgroup);
        let mut reached = self.layout.none();
        order
            .iter()
            .map(|&action| {
                let change = subgroup.actions[action].change as usize;
                bits::unite(&mut reached, &self.flips[change]);
                self.layout.count(g, &members, &reached)
            })
            .collect()
    }
}
