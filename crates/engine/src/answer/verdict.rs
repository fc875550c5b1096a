//! The verdict: one of four, and what it rests on.

use serde::{Deserialize, Serialize};

use super::stories::at_a_loss;
use super::within::widest_bound;
use super::{Parameters, Story};
use crate::audit::{Audit, Individuals};
use crate::bits::{self, Words};
use crate::chance::{Factorials, Hypergeometric};
use crate::definitions::{Definition, GroupValue};
use crate::distribution::{Share, Subgroup, Viewpoint};
use crate::evidence::{Evidence, Tests};

/// Whether recourse is fair, as far as the audit can tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A finding passes for all definitions together.
    Unfair {
        /// The groups it is unfair against, by place in the audit; the one with most people at a loss
        /// first.
        against: Vec<usize>,
        /// How many findings pass, of all subgroups and definitions.
        findings: usize,
        /// How many distinct sets of people they are about.
        sets: usize,
    },
    /// All gaps surely lie within δ, in every ranked subgroup.
    FairWithin {
        /// The δ.
        delta: f64,
        /// The greatest of the upper bounds of all gaps.
        widest: f64,
    },
    /// Neither, though a gap that matters would most likely have been seen.
    NotShown {
        /// Such a gap.
        gap: f64,
    },
    /// Neither, and such a gap could have gone unseen.
    CannotTell {
        /// Such a gap.
        gap: f64,
        /// The groups of which too many refused people are in subgroups that are too small to tell.
        too_small: Vec<TooSmall>,
        /// That no finding could have passed, whatever was found, if that is so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        too_few_shuffles: Option<TooFewShuffles>,
    },
}

/// So few shuffles that none of their p-values can be as small as α.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooFewShuffles {
    /// How many there were.
    pub shuffles: usize,
    /// The fewest that would do.
    pub needed: usize,
}

impl TooFewShuffles {
    /// What was found counts as one of the shuffles, so that no corrected p-value is below one in all of
    /// them; where definitions were not tested together, that times their number.
    fn of(evidence: &Evidence) -> Option<Self> {
        let (shuffles, alpha) = (evidence.gathering.shuffles, evidence.gathering.alpha);
        let mut tested = evidence
            .tests
            .iter()
            .flat_map(|t| t.tested.iter().flatten());
        let times = match tested.all(|tested| tested.together.is_some()) {
            true => 1,
            false => evidence.tests.len(),
        };
        // A hair more, so that what is equal but for rounding is enough.
        let needed = (times as f64 / alpha * (1.0 - 1e-9)).ceil() as usize;
        let needed = needed.saturating_sub(1);
        (shuffles < needed).then_some(Self { shuffles, needed })
    }
}

/// A group of which too few people are in subgroups that could have shown a gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TooSmall {
    /// The group, by place in the audit.
    pub group: usize,
    /// Its refused people in subgroups large enough, of all its refused people.
    pub covered: Share,
}

/// What a verdict is made from.
pub(super) struct Judging<'a> {
    pub(super) audit: &'a Audit,
    pub(super) individuals: &'a Individuals,
    pub(super) definitions: &'a [Box<dyn Definition>],
    pub(super) same_as: &'a [u32],
    pub(super) stories: &'a [Story],
    pub(super) parameters: Parameters,
}

impl Judging<'_> {
    pub(super) fn verdict(&self, evidence: &Evidence) -> Verdict {
        if let Some(unfair) = self.unfair(evidence) {
            return unfair;
        }
        let Parameters {
            delta,
            telling_gap: gap,
            ..
        } = self.parameters;
        if let Some(widest) = widest_bound(self.audit, evidence.gathering.alpha)
            && widest <= delta
        {
            return Verdict::FairWithin { delta, widest };
        }
        let too_few_shuffles = TooFewShuffles::of(evidence);
        let too_small = match too_few_shuffles {
            None => self.too_small(evidence),
            Some(_) => Vec::new(),
        };
        if too_small.is_empty() && too_few_shuffles.is_none() {
            Verdict::NotShown { gap }
        } else {
            Verdict::CannotTell {
                gap,
                too_small,
                too_few_shuffles,
            }
        }
    }

    fn unfair(&self, evidence: &Evidence) -> Option<Verdict> {
        let mut findings = 0;
        let mut sets = std::collections::HashSet::new();
        let mut found_against = vec![0_usize; self.audit.groups.len()];
        for tests in &evidence.tests {
            let definition = self.definitions.iter().find(|d| d.id() == tests.definition);
            for (place, subgroup) in self.audit.subgroups.iter().enumerate() {
                if !evidence.passes_together(tests, place) {
                    continue;
                }
                findings += 1;
                sets.insert(self.same_as[place]);
                let assessment = definition.and_then(|definition| definition.assess(subgroup));
                let alpha = evidence.gathering.alpha;
                let against = assessment.map(|found| tests.shown_against(place, &found, alpha));
                for g in against.into_iter().flatten() {
                    found_against[g] += 1;
                }
            }
        }
        if findings == 0 {
            return None;
        }
        let lost = |g: usize| at_a_loss(self.stories, g);
        // Where stories are told, against those whom they are about.
        let mut against: Vec<usize> = (0..self.audit.groups.len())
            .filter(|&g| match self.stories {
                [] => found_against[g] > 0,
                _ => lost(g) > 0.0,
            })
            .collect();
        against.sort_by(|&a, &b| {
            let by_people = lost(b).total_cmp(&lost(a));
            by_people.then(found_against[b].cmp(&found_against[a]))
        });
        Some(Verdict::Unfair {
            against,
            findings,
            sets: sets.len(),
        })
    }

    /// The groups of which too few refused people are in subgroups that could have shown a gap.
    fn too_small(&self, evidence: &Evidence) -> Vec<TooSmall> {
        let cut_off = self.cut_off(evidence);
        let layout = &self.individuals.layout;
        let people = self.audit.subgroups.iter().map(Subgroup::people).max();
        let factorials = Factorials::up_to(people.unwrap_or(0));
        let mut covered: Vec<Words> = self.audit.groups.iter().map(|_| layout.none()).collect();
        for subgroup in &self.audit.subgroups {
            let groups = subgroup.groups();
            let telling = |a: usize, b: usize| {
                cut_off.is_some_and(|cut_off| self.shows(subgroup, a, b, cut_off, &factorials))
            };
            let mut members = None;
            for (a, covered) in covered.iter_mut().enumerate() {
                if (0..groups).any(|b| a != b && telling(a.min(b), a.max(b))) {
                    let members = members.get_or_insert_with(|| self.individuals.members(subgroup));
                    bits::unite(covered, members);
                }
            }
        }
        let groups = self.audit.groups.iter().zip(covered).enumerate();
        groups
            .map(|(g, (group, covered))| TooSmall {
                group: g,
                covered: Share::new(layout.count(g, &covered, &covered), group.affected),
            })
            .filter(|group| group.covered.ratio() < self.parameters.telling_share)
            .collect()
    }

    /// What a p-value must not exceed, about, to pass for all definitions together under one that
    /// compares shares.
    fn cut_off(&self, evidence: &Evidence) -> Option<f64> {
        let compares_shares = |definition: &dyn Definition| {
            // The first that can be assessed: elsewhere a count may be suppressed.
            let mut subgroups = self.audit.subgroups.iter();
            let found = subgroups.find_map(|subgroup| definition.assess(subgroup));
            let share = |value: &GroupValue| matches!(value, GroupValue::Share(_));
            found.is_some_and(|found| found.values.iter().all(share))
        };
        let definitions = self.definitions.iter().map(AsRef::as_ref);
        let ids: Vec<String> = (definitions.filter(|&d| compares_shares(d)))
            .map(|definition| definition.id())
            .collect();
        let tests = evidence.tests.iter();
        let of_shares = tests.filter(|tests| ids.contains(&tests.definition));
        let all = evidence.tests.len() as f64;
        let cut_off = |tests: &Tests| {
            let by_number = || Some(tests.cut_off? / all);
            tests.cut_off_together.or_else(by_number)
        };
        of_shares.filter_map(cut_off).max_by(f64::total_cmp)
    }

    /// Whether a gap that matters would have passed in this subgroup, around the share of its people
    /// who have a way.
    fn shows(
        &self,
        subgroup: &Subgroup,
        a: usize,
        b: usize,
        cut_off: f64,
        factorials: &Factorials,
    ) -> bool {
        let open = |g| subgroup.ecd_at_any_cost(Viewpoint::Micro, g);
        let (Some(first), Some(second)) = (open(a), open(b)) else {
            return false;
        };
        let (n, m) = (first.whole as f64, second.whole as f64);
        let gap = self.parameters.telling_gap;
        let together = (first.part + second.part) as f64 / (n + m);
        // The first group lies below the share of all and the second above it, as far as there is room.
        let lower = (together - gap * m / (n + m)).clamp(0.0, 1.0 - gap);
        let with_a_way = (lower * n).round() as u64;
        let marked = with_a_way + ((lower + gap) * m).round() as u64;
        let law = Hypergeometric::new(factorials, first.whole + second.whole, marked, first.whole);
        law.fisher().p(with_a_way) <= cut_off
    }
}
