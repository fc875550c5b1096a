//! Where the effectiveness–cost distributions of a subgroup's groups lie furthest apart.

use super::{PerGroup, Share, Subgroup, Viewpoint};

/// The widest gap between the distributions of any two groups at any cost.
#[derive(Clone, Debug, PartialEq)]
pub struct WidestGap {
    /// How many cost levels have been taken where it is found: the fewest, if several gaps are as wide.
    pub levels: usize,
    /// The distribution of each group there.
    pub shares: PerGroup<Share>,
    /// All pairs of groups that lie as far apart at some cost.
    pub(crate) pairs: PerGroup<(usize, usize)>,
}

impl WidestGap {
    /// The group that is lowest there; the first by name of several.
    pub fn worst(&self) -> usize {
        let shares = self.shares.iter().enumerate();
        shares
            .min_by(|a, b| a.1.compare(*b.1).then(a.0.cmp(&b.0)))
            .map_or(0, |(g, _)| g)
    }

    /// The group that is highest there; the first by name of several.
    pub fn best(&self) -> usize {
        let shares = self.shares.iter().enumerate();
        shares
            .max_by(|a, b| a.1.compare(*b.1).then(b.0.cmp(&a.0)))
            .map_or(0, |(g, _)| g)
    }
}

impl Subgroup {
    /// The widest gap between the groups' distributions; `None` if a count is suppressed. Where there
    /// is no gap at all, the distributions at the cheapest cost.
    pub fn widest_gap(&self, viewpoint: Viewpoint) -> Option<WidestGap> {
        let groups = self.groups();
        let pairs = || (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b)));
        let shares = |levels| {
            let groups = 0..groups;
            groups
                .map(|g| self.ecd(viewpoint, g, levels))
                .collect::<Option<PerGroup<Share>>>()
        };
        let first = self.cost_levels.len().min(1);
        let mut widest = WidestGap {
            levels: first,
            shares: shares(first)?,
            pairs: pairs().collect(),
        };
        // A fraction, compared by multiplying out.
        let mut gap = (0_u128, 1_u128);
        let wider = |a: (u128, u128), b: (u128, u128)| a.0 * b.1 > b.0 * a.1;
        for levels in 1..=self.cost_levels.len() {
            let shares = shares(levels)?;
            for (a, b) in pairs() {
                let here = shares[a].exact_gap(shares[b]);
                if wider(here, gap) {
                    gap = here;
                    widest.pairs.clear();
                    widest.levels = levels;
                    widest.shares.clone_from(&shares);
                }
                if !wider(gap, here) {
                    widest.pairs.push((a, b));
                }
            }
        }
        Some(widest)
    }
}
