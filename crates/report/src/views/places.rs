//! Where predicates stand in an audit.

use std::collections::HashMap;

use facts_engine::Audit;
use facts_engine::subgroups::Item;

/// Where a predicate stands in an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the subgroups that are ranked.
    Ranked(usize),
    /// Among those for which no action was mined.
    WithoutActions(usize),
}

/// The places of subgroups, by their items.
#[derive(Debug)]
pub struct Places<'a>(HashMap<&'a [Item], Place>);

impl<'a> Places<'a> {
    /// Those of an audit.
    pub fn new(audit: &'a Audit) -> Self {
        let ranked = audit.subgroups.iter().enumerate();
        let without = audit.without_actions.iter().enumerate();
        let ranked = ranked.map(|(s, one)| (one.predicate.items(), Place::Ranked(s)));
        let without = without.map(|(s, one)| (one.predicate.items(), Place::WithoutActions(s)));
        Self(ranked.chain(without).collect())
    }

    /// The place of the predicate with exactly these items, sorted; none if it is not common.
    pub fn get(&self, items: &[Item]) -> Option<Place> {
        self.0.get(items).copied()
    }
}
