//! Frequent itemsets of all groups in one depth-first search.
//!
//! An itemset is kept if it is frequent in *every* group of the layout, so the search counts all
//! groups at each step and turns back as soon as one falls short: itemsets that an intersection
//! would throw away are never built. Mining actions is the same search over a single group.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Item, ItemSets, Predicate};
use crate::bits::{self, Layout, PerGroup, Words};
use crate::decimal::Support;
use crate::error::Error;
use crate::watch::{Phase, Watch};

/// How many itemsets there may be, and what they are called if there are more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) what: &'static str,
    pub(crate) max_itemsets: usize,
}

/// One frequent itemset.
#[derive(Clone, Debug)]
pub(crate) struct Mined {
    pub(crate) predicate: Predicate,
    /// People of each group.
    pub(crate) members: PerGroup<u64>,
}

impl Mined {
    /// The share of its people that the itemset has in every group.
    pub(crate) fn share(&self, layout: &Layout) -> f64 {
        least_share(&self.members, layout)
    }
}

fn least_share(members: &[u64], layout: &Layout) -> f64 {
    let shares = members
        .iter()
        .enumerate()
        .map(|(g, &n)| n as f64 / layout.people(g) as f64);
    shares.fold(f64::INFINITY, f64::min)
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
            .map(|g| support.get().least_of(layout.people(g)).max(1))
            .collect(),
        limits,
        found: AtomicUsize::new(0),
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
                Err(search.too_many(&roots, support))
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
        mined.push(Mined {
            predicate: Predicate::new(path.clone()),
            members: branch.members.clone(),
        });
        let below = self.below(class, i, path, |_| true);
        let whole = (0..below.len()).all(|j| self.descend(&below, j, path, mined));
        path.pop();
        whole
    }

    /// The frequent extensions of branch `i` by its later siblings.
    fn below(
        &self,
        class: &[Branch],
        i: usize,
        path: &[Item],
        matters: impl Fn(&[u64]) -> bool,
    ) -> Vec<Branch> {
        let branch = &class[i];
        class[i + 1..]
            .iter()
            .filter(|other| path.iter().all(|&item| item.goes_with(other.item)))
            .filter_map(|other| {
                let members = self.count(&branch.set, &other.set)?;
                matters(&members).then(|| Branch {
                    item: other.item,
                    set: bits::intersection(&branch.set, &other.set),
                    members,
                })
            })
            .collect()
    }

    /// The error for too many itemsets, with the support at which as many as allowed are left.
    fn too_many(&self, roots: &[Branch], support: Support) -> Error {
        let mut best = Best {
            search: self,
            most: self.limits.max_itemsets,
            kept: BinaryHeap::new(),
            crowded: None,
        };
        for i in 0..roots.len() {
            best.descend(roots, i, &mut Vec::new());
        }
        Error::TooManyItemsets {
            what: self.limits.what,
            support: support.to_string(),
            found: self
                .found
                .load(Ordering::Relaxed)
                .max(self.limits.max_itemsets + 1),
            limit: self.limits.max_itemsets,
            fits: best.crowded.and_then(least_decimal_above),
        }
    }
}

/// The same search once more, keeping no itemsets but only the shares of the most frequent ones:
/// as they fill up, the least share that matters rises and the search gets shorter.
struct Best<'a, 'b> {
    search: &'a Search<'b>,
    most: usize,
    /// The greatest shares so far, least on top, as bits of positive floats (which sort alike).
    kept: BinaryHeap<Reverse<u64>>,
    /// The greatest share that had to be left out.
    crowded: Option<f64>,
}

impl Best<'_, '_> {
    /// Counts an itemset; false if neither it nor what lies below can matter any more.
    fn admit(&mut self, share: f64) -> bool {
        if self.crowded.is_some_and(|crowded| share <= crowded) {
            return false;
        }
        self.kept.push(Reverse(share.to_bits()));
        if self.kept.len() > self.most
            && let Some(Reverse(least)) = self.kept.pop()
        {
            let least = f64::from_bits(least);
            self.crowded = Some(self.crowded.map_or(least, |crowded| crowded.max(least)));
        }
        true
    }

    fn descend(&mut self, class: &[Branch], i: usize, path: &mut Vec<Item>) {
        let branch = &class[i];
        if !self.admit(least_share(&branch.members, self.search.layout)) {
            return;
        }
        path.push(branch.item);
        let below = self.search.below(class, i, path, |members| {
            let share = least_share(members, self.search.layout);
            self.crowded.is_none_or(|crowded| share > crowded)
        });
        for j in 0..below.len() {
            self.descend(&below, j, path);
        }
        path.pop();
    }
}

/// The least decimal of two significant digits above a share; `None` from 1 up.
pub(crate) fn least_decimal_above(share: f64) -> Option<f64> {
    let digits = (-share.log10().floor()).max(0.0) as i32 + 1;
    let unit = 10f64.powi(digits);
    let mut steps = (share * unit).floor() + 1.0;
    if steps / unit <= share {
        // The product was rounded down: 0.29 · 100 is 28.999….
        steps += 1.0;
    }
    // The division is rounded once, so it is the float that the decimal is read as.
    let decimal = steps / unit;
    (decimal <= 1.0).then_some(decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitting_support_is_a_round_number_above() {
        for (share, fits) in [
            (0.0123, Some(0.013)),
            (0.01, Some(0.011)),
            (0.3, Some(0.31)),
            (0.29, Some(0.3)),
            (0.999, Some(1.0)),
            (1.0, None),
        ] {
            assert_eq!(least_decimal_above(share), fits, "{share}");
        }
    }
}
