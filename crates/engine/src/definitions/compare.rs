//! From one value a group to a score and the worse off.

use std::cmp::Ordering;

use super::{Assessment, GroupValue, SCORE_GAP};
use crate::decimal::Phi;
use crate::distribution::{PerGroup, Share};

/// Compares shares, of which less is worse.
pub(super) fn shares(shares: PerGroup<Share>) -> Assessment {
    let least = shares.iter().copied().min_by(|a, b| a.compare(*b));
    let most = shares.iter().copied().max_by(|a, b| a.compare(*b));
    let score = least.zip(most).map_or(0.0, |(least, most)| most.gap(least));
    let worst = |share: &Share| least.is_some_and(|least| share.compare(least) == Ordering::Equal);
    let worst = shares.iter().map(worst).collect();
    assessment(
        shares.into_iter().map(GroupValue::Share).collect(),
        score,
        worst,
    )
}

/// The lowest and the highest of some shares; `None` if one is not known.
pub(super) fn ends_of_shares(
    shares: impl Iterator<Item = Option<Share>>,
) -> Option<(Share, Share)> {
    let mut ends: Option<(Share, Share)> = None;
    for share in shares {
        let share = share?;
        let (least, most) = ends.unwrap_or((share, share));
        let below = share.compare(least) == Ordering::Less;
        let above = share.compare(most) == Ordering::Greater;
        ends = Some((
            if below { share } else { least },
            if above { share } else { most },
        ));
    }
    ends
}

/// The score of shares alone.
pub(super) fn score_of_shares(shares: impl Iterator<Item = Option<Share>>) -> Option<f64> {
    let (least, most) = ends_of_shares(shares)?;
    Some(zero_if_tiny(most.gap(least)))
}

/// A lower bound of the gap between the lowest and the highest share (Newcombe).
pub(super) fn gap_of_shares_at_least(shares: &[Share], z: f64) -> Option<f64> {
    let least = shares.iter().min_by(|a, b| a.compare(**b))?;
    let most = shares.iter().max_by(|a, b| a.compare(**b))?;
    Some(most.difference(*least, z).0)
}

/// How far the highest and the lowest of some shares surely lie on either side of φ; below 0 if one of
/// them may lie on the other side.
pub(super) fn either_side_of_phi_at_least(shares: &[Share], phi: Phi, z: f64) -> Option<f64> {
    let least = shares.iter().min_by(|a, b| a.compare(**b))?;
    let most = shares.iter().max_by(|a, b| a.compare(**b))?;
    let phi = phi.get().to_f64();
    Some((most.wilson(z).0 - phi).min(phi - least.wilson(z).1))
}

/// Compares numbers of actions, of which fewer is worse.
pub(super) fn counts(counts: PerGroup<u64>) -> Assessment {
    let least = counts.iter().copied().min().unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0);
    let worst = counts.iter().map(|&count| count == least).collect();
    let values = counts.into_iter().map(GroupValue::Count).collect();
    assessment(values, (most - least) as f64, worst)
}

/// The least and the greatest of some costs; `None` if one is not known.
fn ends(costs: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for cost in costs {
        let cost = cost?;
        least = least.min(cost);
        most = most.max(cost);
    }
    Some((least, most))
}

/// ∞ − ∞ = 0; ∞ − finite = ∞.
fn difference(most: f64, least: f64) -> f64 {
    if least == f64::INFINITY {
        0.0
    } else {
        most - least
    }
}

/// The score of costs alone.
pub(super) fn score_of_costs(costs: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (least, most) = ends(costs)?;
    Some(zero_if_tiny(difference(most, least)))
}

/// The score of numbers of actions alone.
pub(super) fn score_of_counts(counts: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    score_of_costs(counts.map(|count| count.map(|count| count as f64)))
}

/// Scores too small to be told from 0 are 0.
pub(super) fn zero_if_tiny(score: f64) -> f64 {
    if score < SCORE_GAP { 0.0 } else { score }
}

/// Compares costs, of which dearer is worse.
pub(super) fn costs(costs: PerGroup<f64>) -> Assessment {
    let known = costs.iter().map(|&cost| Some(cost));
    let (least, most) = ends(known).unwrap_or((0.0, 0.0));
    let score = difference(most, least);
    let worst = costs
        .iter()
        .map(|&cost| cost == most || most - cost < SCORE_GAP)
        .collect();
    assessment(
        costs.into_iter().map(GroupValue::Cost).collect(),
        score,
        worst,
    )
}

/// An assessment against the groups marked worst, or against nobody if the score is 0.
pub(super) fn assessment(
    values: PerGroup<GroupValue>,
    score: f64,
    worst: PerGroup<bool>,
) -> Assessment {
    let score = zero_if_tiny(score);
    let against = if score == 0.0 {
        PerGroup::new()
    } else {
        (0..worst.len()).filter(|&g| worst[g]).collect()
    };
    Assessment {
        values,
        score,
        against,
        significant: None,
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    #[test]
    fn infinities_follow_the_rules() {
        let inf = f64::INFINITY;
        assert_eq!(costs(smallvec![inf, inf]).score, 0.0);
        assert_eq!(costs(smallvec![inf, 3.0]).score, inf);
        assert_eq!(costs(smallvec![inf, 3.0]).against.as_slice(), [0]);
        assert_eq!(costs(smallvec![3.0, 5.0]).score, 2.0);
        assert_eq!(costs(smallvec![3.0, 3.0 + 1e-12]).score, 0.0);
    }

    #[test]
    fn all_who_tie_for_worst_are_named() {
        let assessment = shares(smallvec![
            Share::new(1, 2),
            Share::new(1, 3),
            Share::new(2, 6)
        ]);
        assert_eq!(assessment.against.as_slice(), [1, 2]);
        assert_eq!(costs(smallvec![1.0, 4.0, 4.0]).against.as_slice(), [1, 2]);
        assert_eq!(counts(smallvec![4, 0, 0]).against.as_slice(), [1, 2]);
        assert!(counts(smallvec![2, 2, 2]).against.is_empty());
    }
}
