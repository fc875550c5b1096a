//! Which words about a finding the comparison of the two audits bears out.

use std::collections::HashMap;

use facts_engine::comparison::{Comparison, GapMoved, WithinCost};
use facts_engine::definitions::SCORE_GAP;
use facts_engine::evidence::Interval;
use serde::Serialize;

use super::standings::Standing;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Unfair, or passing, in the new audit only; the gap is shown to have grown.
    Appeared,
    /// Unfair in both; the gap is shown to have grown.
    Grew,
    /// Unfair in both, but against others; the gap is shown to have moved against those it is against now.
    Turned,
    /// Unfair in both; the gap is shown to have shrunk.
    Shrank,
    /// Unfair, or passing, in the old audit only; the gap is shown to have shrunk.
    Vanished,
    /// The gap shrank because those who were better off lost: nobody who was worse off gained.
    LevelledDown,
    /// The gap is shown to have moved one way, and the score moved the other.
    Mixed,
    /// Unfair in the new audit; the old one does not rank the subgroup, so nothing can be compared.
    OnlyNow,
    /// Unfair in the old audit; the new one does not rank the subgroup.
    OnlyBefore,
    /// Its counts cannot be compared: some are suppressed, or no person of a group is refused by both models.
    NotTested,
    /// The score differs, but chance could explain how the gap behind it moved.
    TooClose,
}

/// How the gap behind a finding moved: the share of the other group with a way out, less that of the group
/// that the finding is against.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapChange {
    /// The cost within which people have a way.
    pub cost: f64,
    /// The group that the finding is against.
    pub worse_off: String,
    /// The group beside which it stands.
    pub better_off: String,
    /// The gap before.
    pub before: f64,
    /// The gap now.
    pub now: f64,
    /// By how much it moved; above 0 it grew against the worse-off group.
    pub moved: f64,
    /// From where to where that may lie, at 1 − α, alone.
    pub interval: Interval,
    /// The p-value alone.
    pub p: f64,
    /// The p-value after correction for everything that was compared.
    pub corrected: f64,
}

/// What the engine says of how two audits differ.
pub(super) struct Tested<'a> {
    comparison: Option<&'a Comparison>,
    places: HashMap<&'a str, usize>,
}

/// What a comparison says of one finding.
pub(super) struct Found<'a> {
    within: &'a WithinCost,
    gap: &'a GapMoved,
    worse: usize,
}

impl<'a> Tested<'a> {
    pub(super) fn new(comparison: Option<&'a Comparison>) -> Self {
        let subgroups = comparison.iter().flat_map(|found| &found.subgroups);
        let places = subgroups.enumerate();
        let places = places.map(|(place, subgroup)| (subgroup.predicate.as_str(), place));
        Self {
            comparison,
            places: places.collect(),
        }
    }

    /// What is known of the gap behind a finding: within the definition's budget or, without one, within
    /// the deciding cost.
    pub(super) fn find(
        &self,
        predicate: &str,
        budget: Option<f64>,
        old: &Standing,
        new: &Standing,
    ) -> Option<Found<'a>> {
        let comparison = self.comparison?;
        let subgroup = &comparison.subgroups[*self.places.get(predicate)?];
        let within = subgroup.within(budget)?;
        // Against whom it is now or, if it is fair now, was.
        let against = new.against().first().or(old.against().first())?;
        let worse = comparison.groups.iter().position(|name| name == against)?;
        let gap = within.widest_of(worse)?;
        Some(Found { within, gap, worse })
    }
}

impl Found<'_> {
    /// The same for a reader.
    pub(super) fn change(&self, groups: &[String]) -> GapChange {
        let (first, second) = self.gap.pair;
        // The engine's gap is the second less the first.
        let (other, sign) = if first == self.worse {
            (second, 1.0)
        } else {
            (first, -1.0)
        };
        let moved = &self.gap.moved;
        let (a, b) = (sign * moved.interval.low, sign * moved.interval.high);
        GapChange {
            cost: self.within.cost,
            worse_off: groups[self.worse].trim().to_owned(),
            better_off: groups[other].trim().to_owned(),
            before: sign * self.gap.before,
            now: sign * self.gap.now,
            moved: sign * moved.by,
            interval: Interval {
                low: a.min(b),
                high: a.max(b),
            },
            p: moved.p,
            corrected: moved.corrected,
        }
    }

    /// The word for a gap that is shown to have moved.
    fn moved(&self, old: &Standing, new: &Standing, alpha: f64) -> Change {
        let score = by_score(old, new);
        let both = old.is_unfair() && new.is_unfair();
        let turned = both && old.against() != new.against();
        let passed = (old.passes(), new.passes());
        if self.gap.moved_against(self.worse, alpha) {
            return match score {
                _ if turned => Change::Turned,
                Some(Score::Less) => Change::Mixed,
                _ if !old.is_unfair() || passed == (Some(false), Some(true)) => Change::Appeared,
                _ => Change::Grew,
            };
        }
        match score {
            Some(Score::More) => Change::Mixed,
            _ if turned => Change::Mixed,
            _ if self.within.levelled_down(self.gap, alpha) => Change::LevelledDown,
            _ if !new.is_unfair() || passed == (Some(true), Some(false)) => Change::Vanished,
            _ => Change::Shrank,
        }
    }
}

/// The word for a finding; none if it is as it was. It must be unfair in one of the audits.
pub(super) fn word(
    old: &Standing,
    new: &Standing,
    found: Option<&Found<'_>>,
    alpha: f64,
) -> Option<Change> {
    if !old.is_ranked() {
        return Some(Change::OnlyNow);
    }
    if !new.is_ranked() {
        return Some(Change::OnlyBefore);
    }
    let as_it_was = by_score(old, new).is_none() && old.against() == new.against();
    match found {
        Some(found) if found.gap.moved.is_shown(alpha) => Some(found.moved(old, new, alpha)),
        _ if as_it_was => None,
        Some(_) => Some(Change::TooClose),
        None => Some(Change::NotTested),
    }
}

/// Which way a score went.
enum Score {
    More,
    Less,
}

/// Which way the score went; none if it is the same.
fn by_score(old: &Standing, new: &Standing) -> Option<Score> {
    let (was, is) = (old.score(), new.score());
    // ∞ equals ∞, though their difference is not a number.
    let same = was == is || (was - is).abs() < SCORE_GAP;
    let more = if is > was { Score::More } else { Score::Less };
    (!same).then_some(more)
}
