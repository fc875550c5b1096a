//! Frequent itemsets of all groups in one depth-first search.
//!
//! An itemset is kept if it is frequent in *every* group of the layout, so the search counts all
//! groups at each step and turns back as soon as one falls short: itemsets that an intersection
//! would throw away are never built. Mining actions is the same search over a single group.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Item, ItemSets, Predicate};
use crate::bits::{self, Layout, PerGroup, Words};
use crate::budget::Budget;
use crate::decimal::Support;
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// Which itemsets are looked for, how many there may be, and what they are called if there are more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) what: &'static str,
    pub(crate) max_itemsets: usize,
    /// People that each group needs, whatever the support.
    pub(crate) min_members: u64,
    /// The most items of an itemset.
    pub(crate) max_length: usize,
    /// The memory that they may take is what is left of this.
    pub(crate) budget: Budget,
}

/// One frequent itemset.
#[derive(Clone, Debug)]
pub(crate) struct Mined {
    pub(crate) predicate: Predicate,
    /// People of each group.
    pub(crate) members: PerGroup<u64>,
}

impl Mined {
    /// The memory that an itemset of so many items takes while all are gathered: its place in two lists, one
    /// of which may have grown to twice its length, its items, and what the allocator adds.
    fn bytes(items: usize, groups: usize) -> u64 {
        let place = 3 * size_of::<Self>();
        let spilled = if groups > 2 {
            groups * size_of::<u64>() + 16
        } else {
            0
        };
        (place + items * size_of::<Item>() + 16 + spilled) as u64
    }

    /// The memory that these take.
    pub(crate) fn bytes_of(mined: &[Self]) -> u64 {
        let bytes = |one: &Self| Self::bytes(one.predicate.items().len(), one.members.len());
        mined.iter().map(bytes).sum()
    }
}

/// An itemset on the way down: its last item and who satisfies all of it.
struct Branch {
    item: Item,
    set: Words,
    members: PerGroup<u64>,
}

struct Search<'a> {
    layout: &'a Layout,
    /// People that each group needs.
    needed: Vec<u64>,
    limits: Limits,
    found: AtomicUsize,
    bytes: AtomicU64,
}

/// Mines the itemsets that are frequent in every group, in order of items.
pub(crate) fn joint(
    layout: &Layout,
    items: &ItemSets,
    support: Support,
    limits: Limits,
    (phase, watch): (Phase, Watch<'_>),
) -> Result<Vec<Mined>, Error> {
    let search = Search {
        layout,
        needed: (0..layout.groups())
            .map(|g| support.get().least_of(layout.people(g)))
            .map(|least| least.max(limits.min_members).max(1))
            .collect(),
        limits,
        found: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
    };
    let roots = search.roots(items);
    let total = roots.len() as u64;
    let done = AtomicUsize::new(0);
    watch.tell(phase, 0, total)?;
    let mined: Vec<Vec<Mined>> = (0..roots.len())
        .into_par_iter()
        .map(|i| {
            let mut mined = Vec::new();
            let mut path = Vec::new();
            let whole = search.descend(&roots, i, &mut path, &mut mined);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch.tell(phase, done as u64, total)?;
            if whole {
                Ok(mined)
            } else {
                Err(search.too_many(support))
            }
        })
        .collect::<Result<_, _>>()?;
    let mut mined: Vec<Mined> = mined.into_iter().flatten().collect();
    mined.par_sort_unstable_by(|a, b| a.predicate.cmp(&b.predicate));
    Ok(mined)
}

impl Search<'_> {
    /// The frequent single items, rarest first: rare prefixes have few extensions.
    fn roots(&self, items: &ItemSets) -> Vec<Branch> {
        let everybody = self.layout.all();
        let mut roots: Vec<Branch> = items
            .items
            .iter()
            .zip(&items.sets)
            .filter_map(|(&item, set)| {
                let members = self.count(set, &everybody)?;
                Some(Branch {
                    item,
                    set: set.clone(),
                    members,
                })
            })
            .collect();
        roots.sort_by_key(|root| (root.members.iter().sum::<u64>(), root.item));
        roots
    }

    /// People of each group in both sets, or `None` as soon as a group has too few.
    fn count(&self, a: &[u64], b: &[u64]) -> Option<PerGroup<u64>> {
        let mut members = PerGroup::from_elem(0, self.needed.len());
        for (g, needed) in self.needed.iter().enumerate() {
            members[g] = self.layout.count(g, a, b);
            if members[g] < *needed {
                return None;
            }
        }
        Some(members)
    }

    /// Takes branch `i` of a class of siblings and everything below it. False: too many.
    fn descend(
        &self,
        class: &[Branch],
        i: usize,
        path: &mut Vec<Item>,
        mined: &mut Vec<Mined>,
    ) -> bool {
        if self.found.fetch_add(1, Ordering::Relaxed) >= self.limits.max_itemsets {
            return false;
        }
        let branch = &class[i];
        path.push(branch.item);
        let bytes = Mined::bytes(path.len(), self.needed.len());
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limits.budget.left() {
            return false;
        }
        mined.push(Mined {
            predicate: Predicate::new(path.clone()),
            members: branch.members.clone(),
        });
        let below = self.below(class, i, path);
        let whole = (0..below.len()).all(|j| self.descend(&below, j, path, mined));
        path.pop();
        whole
    }

    /// The frequent extensions of branch `i` by its later siblings, unless it is as long as allowed.
    fn below(&self, class: &[Branch], i: usize, path: &[Item]) -> Vec<Branch> {
        if path.len() >= self.limits.max_length {
            return Vec::new();
        }
        let branch = &class[i];
        class[i + 1..]
            .iter()
            .filter(|other| path.iter().all(|&item| item.goes_with(other.item)))
            .filter_map(|other| {
                let members = self.count(&branch.set, &other.set)?;
                Some(Branch {
                    item: other.item,
                    set: bits::intersection(&branch.set, &other.set),
                    members,
                })
            })
            .collect()
    }

    fn too_many(&self, support: Support) -> Error {
        let limit = self.limits.max_itemsets;
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes > self.limits.budget.left() {
            return Error::ItemsetsTooLarge {
                what: self.limits.what,
                support: support.to_string(),
                found: self.found.load(Ordering::Relaxed),
                needed_mib: self.limits.budget.needed_mib(bytes),
                limit_mib: self.limits.budget.limit_mib(),
                fits: None,
            };
        }
        Error::TooManyItemsets {
            what: self.limits.what,
            support: support.to_string(),
            found: self.found.load(Ordering::Relaxed).max(limit + 1),
            limit,
            fits: None,
        }
    }
}
