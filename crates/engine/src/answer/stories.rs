//! Stories: few findings about different people, that stand for all that pass.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::distinct::shortest;
use super::{Parameters, Why, rounded};
use crate::audit::{Audit, Individuals};
use crate::bits::{self, Words};
use crate::distribution::{Share, Subgroup, Viewpoint};
use crate::evidence::{Evidence, tests_bytes};

/// One story: a subgroup, the people of it whom no story before it has told of, and what they lack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// The group that is worse off, by its place in the audit.
    pub worse_off: usize,
    /// The group that is best off.
    pub better_off: usize,
    /// The cost at which the gap is widest among all members.
    pub cost: f64,
    /// By group: the people that this story is the first to tell of, and how many of them have a way
    /// within that cost.
    pub told: Vec<Share>,
    /// How many of them are at a loss.
    pub loss: Loss,
    /// Where the gap is sharper still, the sharpest first.
    pub sharper: Vec<Sharper>,
    /// How many distinct sets of people that pass it stands for, its own among them.
    pub stands_for: usize,
    /// What the gap is made of, if that was asked and needs no count that is suppressed.
    pub why: Option<Why>,
}

impl Story {
    /// The gap between the better and the worse off.
    pub fn gap(&self) -> f64 {
        self.told[self.better_off].ratio() - self.told[self.worse_off].ratio()
    }
}

/// How many people of a group are at a loss in some stories; their people differ, so it adds up.
pub(super) fn at_a_loss(stories: &[Story], group: usize) -> f64 {
    let of_group = stories.iter().filter(|story| story.worse_off == group);
    of_group.map(|story| story.loss.people).sum()
}

/// People at a loss: how many of the worse-off group would have a way out if it were as open to them
/// as to the best-off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// As found.
    pub people: f64,
    /// At least so many, when chance is given its due.
    pub at_least: f64,
}

impl Loss {
    /// The loss of the worse-off group beside the best-off, with a lower bound (Newcombe).
    pub fn new(worse: Share, better: Share, z: f64) -> Self {
        let members = worse.whole as f64;
        Self {
            people: members * (better.ratio() - worse.ratio()),
            at_least: members * better.difference(worse, z).0,
        }
    }
}

/// A subgroup inside a story in which the gap is wider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharper {
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// Its gap, over all its members.
    pub gap: f64,
    /// At least so much.
    pub at_least: f64,
}

/// Covers the people of all passing subgroups with stories.
pub(super) struct Telling<'a> {
    audit: &'a Audit,
    individuals: &'a Individuals,
    same_as: &'a [u32],
    parameters: Parameters,
    evidence: &'a Evidence,
    /// Subgroups that pass for all definitions together, those with the same members in one list.
    passing: Vec<Vec<usize>>,
}

/// A set of people that might become a story.
struct Candidate {
    subgroup: usize,
    gap: ToldGap,
    /// Its members, and those who have a way within the deciding cost.
    people: Option<(Words, Words)>,
}

/// The gap that a story tells: between two groups, after so many cost levels.
#[derive(Clone, Copy)]
struct ToldGap {
    worse: usize,
    better: usize,
    levels: usize,
    /// The shares of both there.
    shares: (Share, Share),
}

impl ToldGap {
    /// The widest between two groups; `None` if a count is suppressed.
    fn of_pair(subgroup: &Subgroup, pair: [usize; 2]) -> Option<Self> {
        let widest = match subgroup.groups() {
            2 => subgroup.widest_gap(Viewpoint::Micro)?,
            _ => subgroup.of_pair(pair).widest_gap(Viewpoint::Micro)?,
        };
        let (worst, best) = (widest.worst(), widest.best());
        Some(Self {
            worse: pair[worst],
            better: pair[best],
            levels: widest.levels,
            shares: (widest.shares[worst], widest.shares[best]),
        })
    }

    fn size(&self) -> f64 {
        self.shares.1.ratio() - self.shares.0.ratio()
    }
}

/// The sets of all candidates are kept if they take no more bytes than this, and no more than is left; else
/// they are worked out each time.
const KEPT_BYTES: u64 = 256 << 20;

/// So many sharper subgroups are kept for a story.
const SHARPEST: usize = 3;

impl<'a> Telling<'a> {
    pub(super) fn new(
        audit: &'a Audit,
        individuals: &'a Individuals,
        evidence: &'a Evidence,
        same_as: &'a [u32],
        parameters: Parameters,
    ) -> Self {
        let passes = |&subgroup: &usize| evidence.passing_together(subgroup).next().is_some();
        let mut passing: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for subgroup in (0..audit.subgroups.len()).filter(passes) {
            let same = passing.entry(same_as[subgroup]).or_default();
            same.push(subgroup);
        }
        Self {
            audit,
            individuals,
            same_as,
            parameters,
            evidence,
            passing: passing.into_values().collect(),
        }
    }

    /// The stories, and which of them tells each subgroup that passes.
    pub(super) fn tell(&self) -> (Vec<Story>, Vec<Option<u32>>) {
        let candidates = self.candidates();
        let layout = &self.individuals.layout;
        let mut told = layout.none();
        let mut stories = Vec::new();
        let mut told_in: Vec<Words> = Vec::new();
        while let Some((candidate, shares)) = self.next(&candidates, &told) {
            let (members, _) = self.people(candidate);
            let mut first_told = members;
            bits::subtract(&mut first_told, &told);
            bits::unite(&mut told, &first_told);
            let (worse_off, better_off) = (candidate.gap.worse, candidate.gap.better);
            let subgroup = &self.audit.subgroups[candidate.subgroup];
            stories.push(Story {
                subgroup: candidate.subgroup,
                worse_off,
                better_off,
                cost: subgroup.cost_levels[candidate.gap.levels - 1],
                loss: Loss::new(shares[worse_off], shares[better_off], self.parameters.z),
                told: shares,
                sharper: Vec::new(),
                stands_for: 0,
                why: None,
            });
            told_in.push(first_told);
        }
        self.sharpen(&mut stories, &told_in);
        let told_by = self.told_by(&mut stories, &told_in);
        (stories, told_by)
    }

    /// One candidate for each set of members of which a predicate passes: the shortest that does.
    fn candidates(&self) -> Vec<Candidate> {
        let bytes = 2 * self.passing.len() * self.individuals.layout.words() * size_of::<u64>();
        // The rest of the answer takes far less than what the search has given back.
        let budget = self.individuals.budget;
        let held = tests_bytes(&self.evidence.tests);
        let may_take = budget.without(held).left().min(KEPT_BYTES);
        let candidate = |same: &Vec<usize>| {
            let subgroup = shortest(self.audit, same);
            let gap = self.told_gap(subgroup)?;
            let mut candidate = Candidate {
                subgroup,
                gap,
                people: None,
            };
            if bytes as u64 <= may_take {
                candidate.people = Some(self.people(&candidate));
            }
            Some(candidate)
        };
        self.passing.par_iter().filter_map(candidate).collect()
    }

    /// The widest gap that can be told of a subgroup that passes: with three groups or more, one between two
    /// groups that a test shows to differ, and that way. None if there is none, or a count that is needed
    /// was suppressed.
    fn told_gap(&self, place: usize) -> Option<ToldGap> {
        let subgroup = &self.audit.subgroups[place];
        if subgroup.groups() == 2 {
            return ToldGap::of_pair(subgroup, [0, 1]);
        }
        let shown = self.evidence.shown_worse_off(place);
        let gaps = shown.into_iter().filter_map(|(worse, better)| {
            let pair = [worse.min(better), worse.max(better)];
            ToldGap::of_pair(subgroup, pair).filter(|gap| gap.worse == worse)
        });
        // The first of several that are as wide.
        gaps.reduce(
            |widest, gap| match rounded(gap.size()) > rounded(widest.size()) {
                true => gap,
                false => widest,
            },
        )
    }

    /// A candidate's members, and those who have a way within its deciding cost.
    fn people(&self, candidate: &Candidate) -> (Words, Words) {
        if let Some(people) = &candidate.people {
            return people.clone();
        }
        let subgroup = &self.audit.subgroups[candidate.subgroup];
        let members = self.individuals.members(subgroup);
        let levels = candidate.gap.levels;
        let reached = self.individuals.reached(subgroup, &members, levels);
        (members, reached)
    }

    /// Of a candidate's members not told yet, by group, those who have a way within its deciding cost.
    fn not_told(&self, candidate: &Candidate, told: &[u64]) -> Vec<Share> {
        let layout = &self.individuals.layout;
        let count = |members: &[u64], reached: &[u64]| {
            let groups = 0..layout.groups();
            groups
                .map(|g| {
                    let left = |set: &[u64]| layout.count(g, set, set) - layout.count(g, set, told);
                    Share::new(left(reached), left(members))
                })
                .collect()
        };
        match &candidate.people {
            Some((members, reached)) => count(members, reached),
            None => {
                let (members, reached) = self.people(candidate);
                count(&members, &reached)
            }
        }
    }

    /// The candidate with the greatest lower bound of people at a loss among those not told yet, if any
    /// is above 0.
    fn next<'c>(
        &self,
        candidates: &'c [Candidate],
        told: &[u64],
    ) -> Option<(&'c Candidate, Vec<Share>)> {
        let suppressed = self
            .audit
            .suppression
            .map_or(1, |suppression| suppression.k);
        let of = |candidate: &'c Candidate| {
            let shares = self.not_told(candidate, told);
            let enough = |share: &Share| share.whole >= self.parameters.min_members;
            let may_be_told = |share: &Share| !(1..suppressed).contains(&share.part);
            if !shares
                .iter()
                .all(|share| enough(share) && may_be_told(share))
            {
                return None;
            }
            let (worse, better) = (candidate.gap.worse, candidate.gap.better);
            let loss = Loss::new(shares[worse], shares[better], self.parameters.z);
            (loss.at_least > 0.0).then_some((loss.at_least, candidate, shares))
        };
        let text = |candidate: &Candidate| {
            self.audit
                .text(&self.audit.subgroups[candidate.subgroup].predicate)
        };
        let found = candidates.par_iter().filter_map(of).max_by(|a, b| {
            let by_text = || text(b.1).cmp(&text(a.1));
            rounded(a.0).total_cmp(&rounded(b.0)).then_with(by_text)
        });
        found.map(|(_, candidate, shares)| (candidate, shares))
    }

    /// Finds where gaps are sharper inside each story.
    fn sharpen(&self, stories: &mut [Story], told_in: &[Words]) {
        let layout = &self.individuals.layout;
        let z = self.parameters.z;
        stories
            .par_iter_mut()
            .zip(told_in)
            .for_each(|(story, told)| {
                let inside = |subgroup: usize| {
                    let own = self.same_as[story.subgroup] as usize;
                    if self.same_as[subgroup] as usize != subgroup || subgroup == own {
                        return None;
                    }
                    let found = &self.audit.subgroups[subgroup];
                    let (a, b) = (story.worse_off, story.better_off);
                    let gap = ToldGap::of_pair(found, [a.min(b), a.max(b)])?;
                    if gap.worse != story.worse_off {
                        return None;
                    }
                    let (worse, better) = gap.shares;
                    let at_least = better.difference(worse, z).0;
                    if at_least < story.gap() + self.parameters.sharper {
                        return None;
                    }
                    let members = self.individuals.members(found);
                    let groups = 0..layout.groups();
                    let people: u64 = groups.map(|g| layout.count(g, &members, told)).sum();
                    if (people as f64) < self.parameters.inside * found.people() as f64 {
                        return None;
                    }
                    let gap = better.ratio() - worse.ratio();
                    let sharper = Sharper {
                        subgroup,
                        gap,
                        at_least,
                    };
                    Some((sharper, members))
                };
                let mut found: Vec<(Sharper, Words)> =
                    (0..self.audit.subgroups.len()).filter_map(inside).collect();
                // Subgroups lie in an order that decides ties.
                found.sort_by(|a, b| rounded(b.0.at_least).total_cmp(&rounded(a.0.at_least)));
                let mut listed: Vec<(Sharper, Words)> = Vec::new();
                for (sharper, members) in found {
                    if listed.len() == SHARPEST {
                        break;
                    }
                    if !listed
                        .iter()
                        .any(|(_, other)| self.overlap(&members, other))
                    {
                        listed.push((sharper, members));
                    }
                }
                story.sharper = listed.into_iter().map(|(sharper, _)| sharper).collect();
            });
    }

    /// Whether two sets share so many of their people that one of them is told.
    fn overlap(&self, a: &[u64], b: &[u64]) -> bool {
        let layout = &self.individuals.layout;
        let people = |a: &[u64], b: &[u64]| -> u64 {
            (0..layout.groups()).map(|g| layout.count(g, a, b)).sum()
        };
        let both = people(a, b);
        let either = people(a, a) + people(b, b) - both;
        both as f64 >= self.parameters.overlap * either as f64
    }

    /// By subgroup that passes: the story that holds most of its members, the first of several. Counts
    /// how many sets of people each story stands for.
    fn told_by(&self, stories: &mut [Story], told_in: &[Words]) -> Vec<Option<u32>> {
        let layout = &self.individuals.layout;
        let teller = |same: &Vec<usize>| {
            // A story tells its own subgroup, whoever was told of before.
            let own = stories.iter().zip(0..);
            let mut own = own.filter(|(story, _)| same.contains(&story.subgroup));
            if let Some((_, number)) = own.next() {
                return Some(number);
            }
            let members = self.individuals.members(&self.audit.subgroups[same[0]]);
            let held = told_in.iter().map(|told| {
                let groups = 0..layout.groups();
                groups.map(|g| layout.count(g, &members, told)).sum::<u64>()
            });
            let most = held
                .zip(0..)
                .max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
            most.filter(|&(people, _)| people > 0).map(|(_, s)| s)
        };
        let tellers: Vec<Option<u32>> = self.passing.par_iter().map(teller).collect();
        let mut told_by = vec![None; self.audit.subgroups.len()];
        for (same, teller) in self.passing.iter().zip(tellers) {
            if let Some(story) = teller {
                stories[story as usize].stands_for += 1;
            }
            for &subgroup in same {
                told_by[subgroup] = teller;
            }
        }
        told_by
    }
}
