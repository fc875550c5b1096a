//! What is shown of a ranking: fewer subgroups, fewer actions, the same numbers.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Ranked, Ranking};
use crate::actions::{COST_GAP, Change};
use crate::decimal::Phi;
use crate::definitions::{Definition, SCORE_GAP};
use crate::distribution::Subgroup;
use crate::subgroups::Item;

/// Which actions of a subgroup are shown, beyond what the definition lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionFilter {
    /// Only actions of at least this effectiveness in the group.
    AtLeast(Phi),
    /// Only actions of at most this cost.
    AtMost(f64),
    /// Only the cheapest of those left.
    LeastCost,
}

/// What to leave out of a ranking when it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Filters {
    /// Leave out fair subgroups.
    pub drop_fair: bool,
    /// Of two subgroups of which one only adds items that no shown action changes, leave out the
    /// less biased; the longer one if they are equally biased.
    pub drop_contained: bool,
    /// Only subgroups that are unfair against this group.
    pub against: Option<usize>,
    /// List every valid action, not only those that the definition lists.
    pub all_actions: bool,
    /// Which actions to list, applied one after another.
    pub actions: Vec<ActionFilter>,
}

/// One subgroup as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown<'a> {
    /// The subgroup with its rank and assessment.
    pub ranked: &'a Ranked,
    /// The actions listed for each group, by place in the subgroup, cheapest first.
    pub actions: Vec<Vec<usize>>,
}

impl Filters {
    /// Applies the filters to a ranking.
    pub(crate) fn apply<'a>(
        &self,
        ranking: &'a Ranking,
        definition: &dyn Definition,
        subgroups: &[Subgroup],
        changes: &[Change],
    ) -> Vec<Shown<'a>> {
        let mut shown: Vec<Shown<'a>> = ranking
            .ranked
            .iter()
            .filter(|ranked| !self.drop_fair || ranked.rank.is_some())
            .filter(|ranked| {
                self.against
                    .is_none_or(|g| ranked.assessment.against.contains(&g))
            })
            .map(|ranked| {
                let subgroup = &subgroups[ranked.subgroup];
                let listed = |g| self.listed(definition, subgroup, g);
                Shown {
                    ranked,
                    actions: (0..subgroup.groups()).map(listed).collect(),
                }
            })
            .collect();
        if self.drop_contained {
            let dropped = contained(&shown, subgroups, changes);
            shown.retain(|shown| !dropped.contains(&shown.ranked.subgroup));
        }
        shown
    }

    /// The actions listed for one group of a subgroup.
    fn listed(&self, definition: &dyn Definition, subgroup: &Subgroup, g: usize) -> Vec<usize> {
        let mut listed: Vec<usize> = (0..subgroup.actions.len())
            .filter(|&action| self.all_actions || definition.lists(subgroup, action, g))
            .collect();
        for filter in &self.actions {
            match filter {
                ActionFilter::AtLeast(phi) => listed.retain(|&action| {
                    let share = subgroup.effectiveness(action, g);
                    share.is_some_and(|share| share.reaches(*phi))
                }),
                ActionFilter::AtMost(cost) => {
                    let level = |action: usize| {
                        subgroup.cost_levels[subgroup.actions[action].cost_level as usize]
                    };
                    listed.retain(|&action| level(action) <= cost + COST_GAP);
                }
                ActionFilter::LeastCost => {
                    let level = |action: &usize| subgroup.actions[*action].cost_level;
                    let least = listed.iter().map(level).min();
                    listed.retain(|action| Some(level(action)) == least);
                }
            }
        }
        listed
    }
}

/// The subgroups to drop because another, contained in them or containing them, says as much.
fn contained(shown: &[Shown<'_>], subgroups: &[Subgroup], changes: &[Change]) -> HashSet<usize> {
    let by_items: HashMap<&[Item], &Shown<'_>> = shown
        .iter()
        .map(|shown| (subgroups[shown.ranked.subgroup].predicate.items(), shown))
        .collect();
    let mut dropped = HashSet::new();
    for longer in shown {
        let subgroup = &subgroups[longer.ranked.subgroup];
        let items = subgroup.predicate.items();
        let changed: HashSet<u32> = longer
            .actions
            .iter()
            .flatten()
            .flat_map(|&action| subgroup.change(action, changes).assignments())
            .map(|assignment| assignment.feature)
            .collect();
        // Items that a shown action changes must stay; any of the others may be the extra ones.
        let spare = items.iter().filter(|item| !changed.contains(&item.feature));
        let spare: Vec<Item> = spare.copied().collect();
        for without in 1u64..1 << spare.len() {
            let is_extra = |item: &Item| {
                let place = spare.iter().position(|spare| spare == item);
                place.is_some_and(|place| without >> place & 1 == 1)
            };
            let shorter: Vec<Item> = items.iter().copied().filter(|i| !is_extra(i)).collect();
            let Some(shorter) = by_items.get(shorter.as_slice()) else {
                continue;
            };
            let (a, b) = (
                longer.ranked.assessment.score,
                shorter.ranked.assessment.score,
            );
            let longer_is_more_biased = a > b && a - b >= SCORE_GAP;
            dropped.insert(if longer_is_more_biased {
                shorter.ranked.subgroup
            } else {
                longer.ranked.subgroup
            });
        }
    }
    dropped
}
