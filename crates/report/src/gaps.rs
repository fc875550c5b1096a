//! How wide the gap of each subgroup is, and what is shown of it: unfair, fair within δ, or nothing.

use facts_engine::answer::{DELTA, Shown, ShownTally, SubgroupGap};
use facts_engine::answer::{shown, subgroup_gaps, tally_shown};
use facts_engine::distribution::Share;
use facts_engine::evidence::Interval;
use serde::Serialize;

use crate::answer::words::points;
use crate::evidence::words::{confidence, level, several};
use crate::report::Report;
use crate::text::{count, number, percent};

/// How the groups of one subgroup compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapRow {
    /// The predicate.
    pub subgroup: String,
    /// The group to which the way is least open, at any cost.
    pub worst: String,
    /// The group to which it is most open.
    pub best: String,
    /// The members of the former with a way at any cost.
    pub worst_share: Share,
    /// The same of the latter.
    pub best_share: Share,
    /// The risk difference: the share of the best-off less that of the worst-off.
    pub difference: f64,
    /// From where to where that may lie (Newcombe).
    pub difference_interval: Interval,
    /// The recourse ratio: the share of the worst-off over that of the best-off; none if nobody has a way.
    pub ratio: Option<f64>,
    /// From where to where that may lie (Donner and Zou).
    pub ratio_interval: Option<Interval>,
    /// The gap between any two groups within any cost is at most this, for this subgroup alone.
    pub bound_alone: f64,
    /// The same for all subgroups together.
    pub bound: f64,
    /// What is shown.
    pub shown: Shown,
    /// The level α of intervals and bounds.
    #[serde(skip)]
    pub alpha: f64,
    /// The δ.
    #[serde(skip)]
    pub delta: f64,
}

/// The gaps of all subgroups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gaps {
    /// The level α of intervals and bounds.
    pub alpha: f64,
    /// The δ.
    pub delta: f64,
    /// What is shown of how many.
    pub shown: ShownTally,
    /// By subgroup, in their order; none where a count is suppressed.
    pub subgroups: Vec<Option<GapRow>>,
}

/// What is shown, in words.
pub fn shown_words(shown: Shown, delta: f64) -> String {
    match shown {
        Shown::Unfair => "shown to be unfair".to_owned(),
        Shown::FairWithin => format!("shown to be fair within {}", points(delta)),
        Shown::Nothing => "nothing is shown".to_owned(),
    }
}

/// A ratio with two decimals, as the first screen has it.
fn hundredths(ratio: f64) -> String {
    match ratio.is_finite() {
        true => format!("{ratio:.2}"),
        false => number(ratio),
    }
}

impl GapRow {
    /// The shares, their difference and ratio, and what is shown, in a few sentences.
    pub fn sentence(&self) -> String {
        let sure = confidence(self.alpha);
        let ratio = match (self.ratio, self.ratio_interval) {
            (Some(ratio), Some(interval)) => format!(
                ", recourse ratio {} ({} to {})",
                hundredths(ratio),
                hundredths(interval.low),
                hundredths(interval.high)
            ),
            _ => String::new(),
        };
        let open = if self.worst == self.best {
            format!("{} of each group", percent(self.worst_share))
        } else {
            format!(
                "{} of {} and {} of {}",
                percent(self.worst_share),
                self.worst,
                percent(self.best_share),
                self.best
            )
        };
        // What is shown to be unfair need not be the gap at any cost.
        let elsewhere = match self.shown == Shown::Unfair && self.difference_interval.holds(0.0) {
            true => {
                ", within some cost or in what the way costs, not by the difference at any cost"
            }
            false => "",
        };
        format!(
            "At any cost {open} have a way: {:.1} points apart ({sure} interval {:.1} to {:.1}){ratio}. Within any cost the gap is at most {:.1} points ({sure} bound), {:.1} for all subgroups together: {}{elsewhere}.",
            self.difference * 100.0,
            self.difference_interval.low * 100.0,
            self.difference_interval.high * 100.0,
            self.bound_alone * 100.0,
            self.bound * 100.0,
            shown_words(self.shown, self.delta),
        )
    }
}

impl Gaps {
    /// What is shown of how many subgroups, in one sentence.
    pub fn sentence(&self, tested: bool) -> String {
        let ShownTally {
            unfair,
            unfair_within,
            fair_within,
            nothing,
            within_alone,
        } = self.shown;
        let all = unfair + fair_within + nothing;
        let delta = points(self.delta);
        let of = |n: usize| count(n as u64);
        let unfair = match (tested, unfair_within) {
            (false, _) => String::new(),
            (true, 0) => format!("{} shown to be unfair, ", of(unfair)),
            (true, within) => format!(
                "{} shown to be unfair ({} by a gap in who has a way that is surely at most {delta}), ",
                of(unfair),
                of(within)
            ),
        };
        let alone = match within_alone {
            0 => String::new(),
            alone => format!(" ({} within {delta} taken alone)", of(alone)),
        };
        format!(
            "Of {}: {unfair}{} shown to be fair within {delta} (all bounds together, α = {}), {} of which nothing is shown{alone}.",
            several(all as u64, "subgroup"),
            of(fair_within),
            level(self.alpha),
            of(nothing),
        )
    }
}

impl Report<'_> {
    /// The gap of each subgroup, and what is shown of it.
    pub fn gaps(&self) -> &Gaps {
        self.gaps.get_or_init(|| self.all_gaps())
    }

    /// The gap of one subgroup; none where a count is suppressed.
    pub fn gap(&self, subgroup: usize) -> Option<&GapRow> {
        self.gaps().subgroups.get(subgroup)?.as_ref()
    }

    fn all_gaps(&self) -> Gaps {
        let record = self.record;
        let (alpha, evidence) = (record.alpha(), record.evidence.as_ref());
        let answer = record.answer.as_ref();
        let delta = answer.map_or(DELTA, |answer| answer.parameters.delta);
        let gaps = subgroup_gaps(&record.audit, alpha);
        let name = |g: usize| record.audit.groups[g].name.trim().to_owned();
        let row = |(place, gap): (usize, &SubgroupGap)| GapRow {
            subgroup: record.audit.text(&record.audit.subgroups[place].predicate),
            worst: name(gap.open.worst),
            best: name(gap.open.best),
            worst_share: gap.worst,
            best_share: gap.best,
            difference: gap.open.difference,
            difference_interval: gap.open.difference_interval,
            ratio: gap.open.ratio,
            ratio_interval: gap.open.ratio_interval,
            bound_alone: gap.bound_alone,
            bound: gap.bound,
            shown: shown(evidence, place, Some(gap), delta),
            alpha,
            delta,
        };
        let rows = gaps.iter().enumerate();
        Gaps {
            alpha,
            delta,
            shown: tally_shown(evidence, &gaps, delta),
            subgroups: rows
                .map(|(place, gap)| gap.as_ref().map(|gap| row((place, gap))))
                .collect(),
        }
    }
}
