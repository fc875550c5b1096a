//! The people behind an audit's counts, for questions that counts cannot answer.

use crate::bits::{self, Layout, Words};
use crate::distribution::Subgroup;
use crate::subgroups::ItemSets;

/// Who belongs to which subgroup, and whom each change helps.
///
/// An [`Audit`](super::Audit) holds counts only, and that is all that is ever saved. Whoever needs
/// more, such as the members reached by actions taken in another order than by cost, makes the
/// audit with [`audit_with_individuals`](super::audit_with_individuals) and asks here.
#[derive(Debug)]
pub struct Individuals {
    pub(super) layout: Layout,
    pub(super) items: ItemSets,
    /// By change: whose prediction it turns favourable.
    pub(super) flips: Vec<Words>,
}

impl Individuals {
    /// Members of group `g` that are flipped by at least one of the actions taken so far, after
    /// each action of `order`. Actions are named by their place in the subgroup, which must be one
    /// of the same audit.
    pub fn reached_in_order(&self, subgroup: &Subgroup, g: usize, order: &[usize]) -> Vec<u64> {
        let mut members = self.layout.none();
        self.items.members(subgroup.predicate.items(), &mut members);
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
