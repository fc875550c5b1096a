//! Fair within δ: how wide the gap of each subgroup is at most, as far as its people can tell.
//!
//! For one subgroup the gap is the widest between the shares of any two groups that have a way, within any
//! cost. Its upper bound is the greatest of the bounds of [`Apart`] over all pairs and costs. That needs no
//! correction: wherever the true gap is widest, the bound there misses it with probability α at most, and
//! the greatest of all bounds is no less than that one. (So it is with two one-sided tests, and any other
//! test of whether all of several things hold.) That the bounds of all subgroups hold together does need
//! one: each is taken at α over the number of subgroups.

use rayon::prelude::*;
use serde::Serialize;

use super::Compared;
use crate::audit::Audit;
use crate::chance::{Apart, Counted};
use crate::distribution::{Share, Subgroup, Viewpoint};
use crate::evidence::Evidence;

/// By how many standard deviations a gap is widened to see which bound is likely to be the greatest.
const LIKELY: f64 = 4.0;

/// How the groups of one subgroup compare, and how wide their gap is at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SubgroupGap {
    /// The shares with a way at any cost of the group to which it is least open and of the one to which
    /// it is most: difference and ratio, with intervals at 1 − α.
    pub open: Compared,
    /// The share of the former.
    pub worst: Share,
    /// The share of the latter.
    pub best: Share,
    /// The upper bound, at 1 − α, of the gap between any two groups within any cost, of this subgroup
    /// alone.
    pub bound_alone: f64,
    /// The same, such that the bounds of all subgroups hold together.
    pub bound: f64,
}

/// What is shown of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// A finding about it passes for all definitions together.
    Unfair,
    /// No such finding, and its gap is surely at most δ, for all subgroups together.
    FairWithin,
    /// Neither: its people are too few to tell.
    Nothing,
}

/// What is shown of all subgroups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ShownTally {
    /// Shown to be unfair.
    pub unfair: usize,
    /// Of those, the ones whose gap is nevertheless surely at most δ.
    pub unfair_within: usize,
    /// Shown to be fair within δ, for all subgroups together.
    pub fair_within: usize,
    /// Nothing shown.
    pub nothing: usize,
    /// Of those, the ones whose gap is at most δ by the two one-sided tests of the subgroup alone.
    pub within_alone: usize,
}

impl SubgroupGap {
    /// Whether the gap is surely at most δ, for all subgroups together.
    pub fn is_within(&self, delta: f64) -> bool {
        self.bound <= delta
    }

    fn new(subgroup: &Subgroup, alpha: f64, alone: Apart, together: Apart) -> Option<Self> {
        let groups = subgroup.groups();
        let open = (0..groups).map(|g| subgroup.ecd_at_any_cost(Viewpoint::Micro, g));
        let shares: Vec<Share> = open.collect::<Option<_>>()?;
        let open = Compared::at(&shares, alpha)?;
        let mut gaps = Vec::new();
        for levels in 1..=subgroup.cost_levels.len() {
            let share = |g| subgroup.ecd(Viewpoint::Micro, g, levels);
            let shares: Vec<Share> = (0..groups).map(share).collect::<Option<_>>()?;
            for (a, one) in shares.iter().enumerate() {
                let others = shares.iter().enumerate().filter(|&(b, _)| b != a);
                gaps.extend(others.map(|(_, other)| (*one, *other)));
            }
        }
        let bound_alone = widest(&gaps, alone);
        Some(Self {
            worst: shares[open.worst],
            best: shares[open.best],
            open,
            bound_alone,
            bound: widest(&gaps, together).max(bound_alone),
        })
    }
}

/// The greatest bound of any of these gaps: the likeliest first, so that most others need not be worked out.
fn widest(gaps: &[(Share, Share)], apart: Apart) -> f64 {
    let counted = |share: Share| Counted {
        part: share.part,
        whole: share.whole,
    };
    let mut gaps: Vec<(Counted, Counted, f64)> = (gaps.iter())
        .map(|&(one, other)| {
            (
                counted(one),
                counted(other),
                one.difference(other, LIKELY).1,
            )
        })
        .collect();
    gaps.sort_by(|a, b| b.2.total_cmp(&a.2));
    gaps.dedup_by_key(|gap| (gap.0, gap.1));
    gaps.into_iter().fold(0.0, |widest, (one, other, _)| {
        if apart.is_surely_less(one, other, widest) {
            widest
        } else {
            widest.max(apart.at_most(one, other))
        }
    })
}

/// The gap of each subgroup, in their order; none where a count is suppressed.
pub fn subgroup_gaps(audit: &Audit, alpha: f64) -> Vec<Option<SubgroupGap>> {
    let all = audit.subgroups.len().max(1);
    let (alone, together) = (Apart::at(alpha), Apart::at(alpha / all as f64));
    let subgroups = audit.subgroups.par_iter();
    subgroups
        .map(|subgroup| SubgroupGap::new(subgroup, alpha, alone, together))
        .collect()
}

/// What is shown of a subgroup, by its place.
pub fn shown(
    evidence: Option<&Evidence>,
    place: usize,
    gap: Option<&SubgroupGap>,
    delta: f64,
) -> Shown {
    let passes = evidence.is_some_and(|found| found.passing_together(place).next().is_some());
    if passes {
        Shown::Unfair
    } else if gap.is_some_and(|gap| gap.is_within(delta)) {
        Shown::FairWithin
    } else {
        Shown::Nothing
    }
}

/// What is shown of all subgroups.
pub fn tally_shown(
    evidence: Option<&Evidence>,
    gaps: &[Option<SubgroupGap>],
    delta: f64,
) -> ShownTally {
    let mut tally = ShownTally::default();
    for (place, gap) in gaps.iter().enumerate() {
        let within = gap.is_some_and(|gap| gap.is_within(delta));
        match shown(evidence, place, gap.as_ref(), delta) {
            Shown::Unfair => {
                tally.unfair += 1;
                tally.unfair_within += usize::from(within);
            }
            Shown::FairWithin => tally.fair_within += 1,
            Shown::Nothing => {
                tally.nothing += 1;
                let alone = gap.is_some_and(|gap| gap.bound_alone <= delta);
                tally.within_alone += usize::from(alone);
            }
        }
    }
    tally
}

/// The greatest of all bounds, which hold together; none if there is nothing to bound, or a count is
/// suppressed.
pub(super) fn widest_bound(audit: &Audit, alpha: f64) -> Option<f64> {
    let gaps = subgroup_gaps(audit, alpha);
    let bounds: Option<Vec<f64>> = (gaps.into_iter()).map(|gap| Some(gap?.bound)).collect();
    bounds?.into_iter().max_by(f64::total_cmp)
}
