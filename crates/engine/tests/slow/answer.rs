//! From findings to an answer: ways out, stories, why and drivers, person by person.

use super::cost::SLACK;
use super::decimal::{Gap, Share};
use super::ecd::{Viewpoint, flipped_by_any};
use super::mine::Item;
use super::moves::moved;
use super::population::{Individual, Population};
use super::validity::applies;
use super::{SlowAudit, Subgroup};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How many standard deviations the lower bounds of stories allow for chance.
const Z: f64 = 2.576;

/// What an answer is made from.
pub struct Question<'a> {
    pub population: &'a Population<'a>,
    pub audit: &'a SlowAudit,
    /// The texts of the subgroups with a finding that passes for all definitions together.
    pub passing: BTreeSet<String>,
    /// With three groups or more, by text of a subgroup: pairs of groups of which a test shows that the first
    /// is worse off.
    pub shown: BTreeMap<String, BTreeSet<(usize, usize)>>,
    /// Counts from 1 to k − 1 are not told; 1 if all are.
    pub k: u64,
    /// The features that the model reads; none if it cannot say.
    pub reads: Option<Vec<String>>,
    /// By text of a ranked subgroup: its members, indices into `Population::people`.
    pub members: BTreeMap<String, BTreeSet<usize>>,
}

/// What an audit comes to.
pub struct Answer {
    /// By group: the way of each person who has one, and how many people the row stands for.
    pub ways: Vec<Vec<(f64, u64)>>,
    /// By text of a ranked subgroup: the text of the one that stands for its people.
    pub same_as: BTreeMap<String, String>,
    pub stories: Vec<Story>,
    /// By text of a passing subgroup: the story that tells it.
    pub told_by: BTreeMap<String, Option<usize>>,
    /// None if no group is worse off than another.
    pub drivers: Option<Drivers>,
}

pub struct Story {
    pub text: String,
    pub worse: usize,
    pub better: usize,
    pub cost: f64,
    /// By group, of the people first told of here, those with a way within the cost.
    pub told: Vec<Share>,
    /// Who they are: indices into `Population::people`.
    pub people: BTreeSet<usize>,
    pub loss: f64,
    pub at_least: f64,
    /// Text, gap and its lower bound.
    pub sharper: Vec<(String, f64, f64)>,
    pub stands_for: usize,
    pub why: Why,
}

pub struct Why {
    pub swapped: Share,
    /// The gap within strata (Mantel and Haenszel); none if no stratum holds both groups.
    pub within: Option<f64>,
    /// Names of the features that strata are made of, in the order in which they were taken.
    pub strata: Vec<String>,
    pub compared: Share,
}

pub struct Drivers {
    pub worse: usize,
    pub better: usize,
    pub gap: f64,
    /// Global Shapley values by text of the item.
    pub items: BTreeMap<String, f64>,
    pub predicates: usize,
}

/// Bounds that are less than 1e-9 apart are a tie.
fn rounded(bound: f64) -> i64 {
    (bound / SLACK).round() as i64
}

/// Wilson's interval of a share.
pub fn wilson(share: Share, z: f64) -> (f64, f64) {
    let (x, n) = (share.flipped as f64, share.members as f64);
    let half = z * (x * (n - x) / n + z * z / 4.0).sqrt();
    let middle = x + z * z / 2.0;
    ((middle - half) / (n + z * z), (middle + half) / (n + z * z))
}

/// Newcombe's lower bound of the better share less the worse.
pub fn gap_at_least(better: Share, worse: Share, z: f64) -> f64 {
    let below = better.value() - wilson(better, z).0;
    let above = wilson(worse, z).1 - worse.value();
    better.value() - worse.value() - (below * below + above * above).sqrt()
}

/// Whether two shares could lie so far apart and show this: whether the product of both p-values, of so few or
/// fewer and of so many or more, is anywhere more than it is with probability α when they do.
pub fn could_lie_apart(more: Share, less: Share, apart: f64, alpha: f64) -> bool {
    // k·(1 − ln k) = α, by halves.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if middle * (1.0 - middle.ln()) < alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    let least = high.ln();
    if apart > 1.0 {
        return false;
    }
    let likely = |p: f64| {
        at_least(more.members - more.flipped, more.members, 1.0 - p).ln()
            + at_least(less.flipped, less.members, p - apart).ln()
    };
    // Concave in p: by thirds.
    let (mut from, mut to) = (apart.max(0.0), 1.0_f64.min(1.0 + apart));
    for _ in 0..60 {
        let (one, other) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        if likely(one) < likely(other) {
            from = one;
        } else {
            to = other;
        }
    }
    likely(from).max(likely(to)) >= least
}

/// How likely so many or more are, each with probability p.
fn at_least(least: u64, all: u64, p: f64) -> f64 {
    let (mut sum, mut ways) = (0.0, 1.0_f64);
    for k in 0..=all {
        if k >= least {
            sum += ways * p.powi(k as i32) * (1.0 - p).powi((all - k) as i32);
        }
        ways *= (all - k) as f64 / (k + 1) as f64;
    }
    sum
}

/// Of the refused of a group, the share that has a way of at most this cost.
pub fn open(ways: &[(f64, u64)], refused: u64, cost: f64) -> Share {
    let within = ways.iter().filter(|(way, _)| *way <= cost + SLACK);
    Share {
        flipped: within.map(|(_, weight)| weight).sum(),
        members: refused,
    }
}

/// The middle way, one person after the other; the mean of the middle two.
pub fn median(ways: &[(f64, u64)]) -> Option<f64> {
    let mut people: Vec<f64> = Vec::new();
    for (way, weight) in ways {
        people.extend((0..*weight).map(|_| *way));
    }
    people.sort_by(f64::total_cmp);
    let n = people.len();
    (n > 0).then(|| (people[(n - 1) / 2] + people[n / 2]) / 2.0)
}

pub fn mean(ways: &[(f64, u64)]) -> Option<f64> {
    let people: u64 = ways.iter().map(|(_, weight)| weight).sum();
    let sum: f64 = ways.iter().map(|(way, weight)| way * *weight as f64).sum();
    (people > 0).then(|| sum / people as f64)
}

/// Where the micro ecds of two groups lie furthest apart.
struct Widest {
    level: usize,
    worse: usize,
    better: usize,
    worse_share: Share,
    better_share: Share,
}

impl<'a> Question<'a> {
    pub fn new(population: &'a Population<'a>, audit: &'a SlowAudit) -> Self {
        let mut question = Self {
            population,
            audit,
            passing: BTreeSet::new(),
            shown: BTreeMap::new(),
            k: 1,
            reads: None,
            members: BTreeMap::new(),
        };
        for one in &audit.subgroups {
            let members = question.who(&one.predicate);
            question.members.insert(one.text.clone(), members);
        }
        question
    }

    pub fn answer(&self) -> Answer {
        let stories = self.stories();
        Answer {
            ways: self.ways(),
            same_as: self.same_as(),
            told_by: self
                .passing
                .iter()
                .map(|text| (text.clone(), self.teller(text, &stories)))
                .collect(),
            drivers: self.drivers(),
            stories,
        }
    }

    /// The ranked subgroups that may be told of: more members first, then by text.
    pub fn ranked(&self) -> Vec<&Subgroup> {
        let large = |one: &&Subgroup| one.members.iter().all(|&members| members >= self.k);
        let mut ranked: Vec<&Subgroup> = self.audit.subgroups.iter().filter(large).collect();
        ranked.sort_by(|a, b| (b.size(), &a.text).cmp(&(a.size(), &b.text)));
        ranked
    }

    fn person(&self, i: usize) -> &Individual {
        &self.population.people[i]
    }

    fn group(&self, i: usize) -> Option<usize> {
        let groups = &self.audit.groups;
        groups
            .iter()
            .position(|group| group.name == self.person(i).group)
    }

    /// The affected of the compared groups who meet all of these items.
    fn who(&self, items: &[Item]) -> BTreeSet<usize> {
        let mut who = BTreeSet::new();
        for i in 0..self.population.people.len() {
            let person = self.person(i);
            let meets = |item: &Item| item.admits(self.population, person.levels[item.feature]);
            if !person.favourable && self.group(i).is_some() && items.iter().all(meets) {
                who.insert(i);
            }
        }
        who
    }

    fn subgroup(&self, text: &str) -> &Subgroup {
        let found = self.audit.subgroups.iter().find(|one| one.text == text);
        found.expect("a ranked subgroup")
    }

    /// How many people some rows stand for.
    fn weigh(&self, people: &BTreeSet<usize>) -> u64 {
        people.iter().map(|i| self.person(*i).weight).sum()
    }

    /// Of these people of a group, those who are among the others.
    fn share(&self, people: &BTreeSet<usize>, group: usize, with: &BTreeSet<usize>) -> Share {
        let mut share = Share {
            flipped: 0,
            members: 0,
        };
        for i in people {
            if self.group(*i) == Some(group) {
                share.members += self.person(*i).weight;
                if with.contains(i) {
                    share.flipped += self.person(*i).weight;
                }
            }
        }
        share
    }

    /// By person: the least cost of a valid action that flips them, in any ranked subgroup.
    fn way(&self) -> Vec<f64> {
        let mut way = vec![f64::INFINITY; self.population.people.len()];
        for subgroup in self.ranked() {
            for action in &subgroup.actions {
                for i in &action.flipped {
                    way[*i] = way[*i].min(action.cost);
                }
            }
        }
        way
    }

    fn ways(&self) -> Vec<Vec<(f64, u64)>> {
        let mut ways = vec![Vec::new(); self.audit.groups.len()];
        for (i, way) in self.way().into_iter().enumerate() {
            if let (Some(group), true) = (self.group(i), way.is_finite()) {
                ways[group].push((way, self.person(i).weight));
            }
        }
        ways
    }

    /// The shortest of some subgroups, then the first in order of text.
    fn shortest(subgroups: &[&Subgroup]) -> String {
        let mut best = subgroups[0];
        for one in subgroups {
            let (short, long) = (one.predicate.len(), best.predicate.len());
            if short < long || (short == long && one.text < best.text) {
                best = one;
            }
        }
        best.text.clone()
    }

    fn same_as(&self) -> BTreeMap<String, String> {
        let ranked = self.ranked();
        let mut same_as = BTreeMap::new();
        for one in &ranked {
            let members = &self.members[&one.text];
            let alike: Vec<&Subgroup> = ranked
                .iter()
                .copied()
                .filter(|other| self.members[&other.text] == *members)
                .collect();
            same_as.insert(one.text.clone(), Self::shortest(&alike));
        }
        same_as
    }

    /// One passing subgroup, the shortest, for each set of people.
    pub fn passing_sets(&self) -> BTreeMap<Vec<usize>, String> {
        let mut sets: BTreeMap<Vec<usize>, Vec<&Subgroup>> = BTreeMap::new();
        for text in &self.passing {
            let members = self.members[text].iter().copied().collect();
            sets.entry(members).or_default().push(self.subgroup(text));
        }
        sets.into_iter()
            .map(|(members, alike)| (members, Self::shortest(&alike)))
            .collect()
    }

    /// The widest gap that a story of a subgroup may tell: of three groups or more, between two that a test
    /// shows to differ that way.
    fn told_gap(&self, subgroup: &Subgroup) -> Option<Widest> {
        if self.audit.groups.len() == 2 {
            return self.widest(subgroup, [0, 1]);
        }
        let mut told: Option<Widest> = None;
        for &(worse, better) in self.shown.get(&subgroup.text)? {
            let Some(gap) = self.widest(subgroup, [worse, better]) else {
                continue;
            };
            let size = |gap: &Widest| rounded(gap.better_share.value() - gap.worse_share.value());
            if gap.worse == worse && told.as_ref().is_none_or(|told| size(&gap) > size(told)) {
                told = Some(gap);
            }
        }
        told
    }

    /// The widest gap between two groups at any cost, at the cheapest such cost; none if a count is
    /// not told.
    fn widest(&self, subgroup: &Subgroup, mut groups: [usize; 2]) -> Option<Widest> {
        groups.sort_unstable();
        let groups = groups.into_iter();
        let mut widest = Gap { above: 0, below: 1 };
        let mut level = 0;
        for here in 0..subgroup.cost_levels.len() {
            let ecd = |group| subgroup.ecd_at_level(Viewpoint::Micro, group, here);
            for a in groups.clone() {
                if (1..self.k).contains(&ecd(a).flipped) {
                    return None;
                }
                for b in groups.clone() {
                    if ecd(a).gap(ecd(b)).compare(widest) == Ordering::Greater {
                        widest = ecd(a).gap(ecd(b));
                        level = here;
                    }
                }
            }
        }
        let shares: Vec<Share> = groups
            .clone()
            .map(|group| subgroup.ecd_at_level(Viewpoint::Micro, group, level))
            .collect();
        let (worse, better) = extremes(&shares);
        let groups: Vec<usize> = groups.collect();
        Some(Widest {
            level,
            worse: groups[worse],
            better: groups[better],
            worse_share: shares[worse],
            better_share: shares[better],
        })
    }

    fn stories(&self) -> Vec<Story> {
        let mut told: BTreeSet<usize> = BTreeSet::new();
        let mut stories: Vec<Story> = Vec::new();
        loop {
            let mut best: Option<Story> = None;
            for text in self.passing_sets().values() {
                let Some(story) = self.might_be_told(text, &told) else {
                    continue;
                };
                let better = best.as_ref().is_none_or(|best| {
                    let order = rounded(story.at_least).cmp(&rounded(best.at_least));
                    order.is_gt() || (order.is_eq() && story.text < best.text)
                });
                if better {
                    best = Some(story);
                }
            }
            let Some(story) = best else { break };
            told.extend(&story.people);
            stories.push(story);
        }
        for story in &mut stories {
            story.sharper = self.sharper(story);
            story.why = self.why(story);
        }
        let sets = self.passing_sets();
        for text in sets.values() {
            if let Some(story) = self.teller(text, &stories) {
                stories[story].stands_for += 1;
            }
        }
        stories
    }

    /// A candidate's story among those not told yet, if its lower bound is above 0.
    fn might_be_told(&self, text: &str, told: &BTreeSet<usize>) -> Option<Story> {
        let subgroup = self.subgroup(text);
        let widest = self.told_gap(subgroup)?;
        let people: BTreeSet<usize> = self.members[text].difference(told).copied().collect();
        let flipped = flipped_by_any(&subgroup.actions, widest.level);
        let with: BTreeSet<usize> = flipped.into_iter().collect();
        let shares: Vec<Share> = (0..self.audit.groups.len())
            .map(|group| self.share(&people, group, &with))
            .collect();
        let least = self.population.case.options.min_members.max(self.k).max(1);
        let few = |share: &Share| share.members < least || (1..self.k).contains(&share.flipped);
        if shares.iter().any(few) {
            return None;
        }
        let (worse, better) = (shares[widest.worse], shares[widest.better]);
        let at_least = gap_at_least(better, worse, Z) * worse.members as f64;
        (at_least > 0.0).then(|| Story {
            text: text.to_string(),
            worse: widest.worse,
            better: widest.better,
            cost: subgroup.cost_levels[widest.level],
            loss: worse.members as f64 * (better.value() - worse.value()),
            at_least,
            told: shares,
            people,
            sharper: Vec::new(),
            stands_for: 0,
            why: Why {
                swapped: worse,
                within: None,
                strata: Vec::new(),
                compared: worse,
            },
        })
    }

    /// Other sets of people, four fifths of whom the story tells of, whose gap is surely wider by 0.05.
    fn sharper(&self, story: &Story) -> Vec<(String, f64, f64)> {
        let gap = story.told[story.better].value() - story.told[story.worse].value();
        let same_as = self.same_as();
        let mut found: Vec<(String, f64, f64)> = Vec::new();
        for subgroup in self.ranked() {
            let text = &subgroup.text;
            let Some(widest) = self.widest(subgroup, [story.worse, story.better]) else {
                continue;
            };
            let (better, worse) = (widest.better_share, widest.worse_share);
            let at_least = gap_at_least(better, worse, Z);
            let members = &self.members[text];
            let inside: BTreeSet<usize> = members.intersection(&story.people).copied().collect();
            if same_as[text] == *text
                && same_as[&story.text] != *text
                && widest.worse == story.worse
                && at_least >= gap + 0.05
                && 10 * self.weigh(&inside) >= 8 * self.weigh(members)
            {
                found.push((text.clone(), better.value() - worse.value(), at_least));
            }
        }
        found.sort_by_key(|one| -rounded(one.2));
        let mut listed: Vec<(String, f64, f64)> = Vec::new();
        for one in found {
            let members = &self.members[&one.0];
            let shared = |other: &(String, f64, f64)| {
                let others = &self.members[&other.0];
                let both: BTreeSet<usize> = members.intersection(others).copied().collect();
                let either: BTreeSet<usize> = members.union(others).copied().collect();
                2 * self.weigh(&both) >= self.weigh(&either)
            };
            if listed.len() < 3 && !listed.iter().any(shared) {
                listed.push(one);
            }
        }
        listed
    }

    /// The story that tells a passing subgroup: its own set's, else the one that tells of most of its
    /// members, the first of several.
    fn teller(&self, text: &str, stories: &[Story]) -> Option<usize> {
        let members = &self.members[text];
        let own = |story: &Story| self.members[&story.text] == *members;
        if let Some(place) = stories.iter().position(own) {
            return Some(place);
        }
        let mut most = (0, None);
        for (place, story) in stories.iter().enumerate() {
            let held: BTreeSet<usize> = members.intersection(&story.people).copied().collect();
            if self.weigh(&held) > most.0 {
                most = (self.weigh(&held), Some(place));
            }
        }
        most.1
    }

    fn why(&self, story: &Story) -> Why {
        let swapped = Share {
            flipped: self.swapped(story),
            members: story.told[story.worse].members,
        };
        let (strata, compared, within) = self.strata(story);
        Why {
            swapped,
            within,
            strata,
            compared,
        }
    }

    /// Of the worse off, those with a way within the story's cost if the model is told that they
    /// belong to the best off.
    fn swapped(&self, story: &Story) -> u64 {
        let other = self.commonest(&self.audit.groups[story.better].name);
        let subgroup = self.subgroup(&story.text);
        let mut people = 0;
        for i in &story.people {
            if self.group(*i) != Some(story.worse) {
                continue;
            }
            let mut taken_for = self.person(*i).clone();
            taken_for.seen.protected.clone_from(&other);
            let model = &self.population.case.model;
            let helps = |change: &Vec<(usize, usize)>| {
                applies(self.population, &taken_for, change)
                    && model.favourable(&moved(self.population, &taken_for, change))
            };
            let mut within = subgroup
                .actions
                .iter()
                .filter(|action| subgroup.cost_levels[action.cost_level] <= story.cost);
            if model.favourable(&taken_for.seen) || within.any(|action| helps(&action.change)) {
                people += taken_for.weight;
            }
        }
        people
    }

    /// The protected values that most people of a group hold, the first in order of several.
    fn commonest(&self, group: &str) -> Vec<String> {
        let mut held: BTreeMap<&Vec<String>, u64> = BTreeMap::new();
        for person in &self.population.people {
            if person.group == group {
                *held.entry(&person.seen.protected).or_insert(0) += person.weight;
            }
        }
        let most = held.values().copied().max();
        let first = held.into_iter().find(|(_, people)| Some(*people) == most);
        first.map(|(values, _)| values.clone()).unwrap_or_default()
    }

    /// Features are taken one by one, the most telling first, if half of the people are then in strata
    /// with people of both groups.
    fn strata(&self, story: &Story) -> (Vec<String>, Share, Option<f64>) {
        let subgroup = self.subgroup(&story.text);
        let level = (subgroup.cost_levels.iter()).rposition(|cost| *cost <= story.cost);
        let with = flipped_by_any(&subgroup.actions, level.unwrap_or(0));
        let with: BTreeSet<usize> = with.into_iter().collect();
        let both: BTreeSet<usize> = (story.people.iter().copied())
            .filter(|i| [Some(story.worse), Some(story.better)].contains(&self.group(*i)))
            .collect();
        let features = &self.population.case.features;
        let reads = |name: &String| self.reads.as_ref().is_none_or(|reads| reads.contains(name));
        let mut telling: Vec<(i64, &String, usize)> = Vec::new();
        for (f, feature) in features.iter().enumerate() {
            let information = self.information(f, &both, &with);
            if reads(&feature.name) && information > 1e-12 {
                telling.push((-rounded(information), &feature.name, f));
            }
        }
        telling.sort();
        let mut taken: Vec<usize> = Vec::new();
        let (mut compared, mut within) = self.within(story, &both, &with, &taken);
        for (_, _, feature) in telling {
            let mut finer = taken.clone();
            finer.push(feature);
            let (share, gap) = self.within(story, &both, &with, &finer);
            if 2 * share.flipped >= share.members {
                (taken, compared, within) = (finer, share, gap);
            }
        }
        let names = taken.iter().map(|f| features[*f].name.clone()).collect();
        (names, compared, within)
    }

    /// Mutual information between a feature's level and having a way.
    fn information(&self, f: usize, people: &BTreeSet<usize>, with: &BTreeSet<usize>) -> f64 {
        let all = self.weigh(people) as f64;
        let chance = |level: Option<usize>, way: Option<bool>| {
            let fits = |i: &&usize| {
                level.is_none_or(|level| self.person(**i).levels[f] == level)
                    && way.is_none_or(|way| with.contains(*i) == way)
            };
            let weight: u64 = (people.iter().filter(fits))
                .map(|i| self.person(*i).weight)
                .sum();
            weight as f64 / all
        };
        let mut information = 0.0;
        for level in 0..self.population.features[f].labels.len() {
            for way in [false, true] {
                let joint = chance(Some(level), Some(way));
                if joint > 0.0 {
                    let apart = chance(Some(level), None) * chance(None, Some(way));
                    information += joint * (joint / apart).ln();
                }
            }
        }
        information
    }

    /// The people in strata with both groups, and Mantel and Haenszel's difference in them.
    fn within(
        &self,
        story: &Story,
        people: &BTreeSet<usize>,
        with: &BTreeSet<usize>,
        features: &[usize],
    ) -> (Share, Option<f64>) {
        let key = |i: usize| -> Vec<usize> {
            let levels = &self.person(i).levels;
            features.iter().map(|f| levels[*f]).collect()
        };
        let keys: BTreeSet<Vec<usize>> = people.iter().map(|i| key(*i)).collect();
        let (mut compared, mut above, mut below) = (0, 0.0, 0.0);
        for stratum in keys {
            let here: BTreeSet<usize> = (people.iter().copied())
                .filter(|i| key(*i) == stratum)
                .collect();
            let worse = self.share(&here, story.worse, with);
            let better = self.share(&here, story.better, with);
            if worse.members > 0 && better.members > 0 {
                let (n, m) = (worse.members as f64, better.members as f64);
                let weight = n * m / (n + m);
                above += weight * (better.value() - worse.value());
                below += weight;
                compared += worse.members + better.members;
            }
        }
        let share = Share {
            flipped: compared,
            members: self.weigh(people),
        };
        (share, (below > 0.0).then(|| above / below))
    }

    /// Global Shapley values: features are added in every order, each at every level, and an item's
    /// value is the mean of what it adds; predicates that are not common add nothing.
    fn drivers(&self) -> Option<Drivers> {
        let (refused, way) = (self.who(&[]), self.way());
        let with: BTreeSet<usize> = (refused.iter().copied())
            .filter(|i| way[*i].is_finite())
            .collect();
        let groups = 0..self.audit.groups.len();
        let open: Vec<Share> = (groups.map(|group| self.share(&refused, group, &with))).collect();
        let (worse, better) = extremes(&open);
        if worse == better {
            return None;
        }
        let gap = |people: &BTreeSet<usize>| {
            let value = |group| self.share(people, group, &with).value();
            value(better) - value(worse)
        };
        let mut gaps: BTreeMap<Vec<Item>, f64> = BTreeMap::new();
        gaps.insert(Vec::new(), gap(&refused));
        for one in (self.audit.subgroups.iter()).chain(&self.audit.without_actions) {
            gaps.insert(sorted(&one.predicate), gap(&self.who(&one.predicate)));
        }

        let count = self.population.features.len();
        let held: Vec<Vec<usize>> = (0..count)
            .map(|f| {
                let levels = refused.iter().map(|i| self.person(*i).levels[f]);
                levels.collect::<BTreeSet<usize>>().into_iter().collect()
            })
            .collect();
        let orders = orders((0..count).collect());
        let mut items: BTreeMap<String, f64> = BTreeMap::new();
        for order in &orders {
            // All ways to fill the features added so far, each as likely.
            let mut so_far: Vec<(Vec<Item>, f64)> = vec![(Vec::new(), 1.0 / orders.len() as f64)];
            for f in order {
                let mut longer = Vec::new();
                for (start, chance) in &so_far {
                    for level in &held[*f] {
                        let item = equal(*f, *level);
                        let mut filled = start.clone();
                        filled.push(item);
                        let chance = chance / held[*f].len() as f64;
                        if let Some(after) = gaps.get(&sorted(&filled)) {
                            let text = super::mine::predicate_text(self.population, &[item]);
                            let before = gaps[&sorted(start)];
                            *items.entry(text).or_insert(0.0) += chance * (after - before);
                        }
                        longer.push((filled, chance));
                    }
                }
                so_far = longer;
            }
        }
        Some(Drivers {
            worse,
            better,
            gap: gap(&refused),
            items,
            predicates: gaps.len() - 1,
        })
    }
}

/// The first of the lowest shares and the first of the highest.
fn extremes(shares: &[Share]) -> (usize, usize) {
    let (mut worse, mut better) = (0, 0);
    for (group, share) in shares.iter().enumerate() {
        if share.compare(shares[worse]) == Ordering::Less {
            worse = group;
        }
        if share.compare(shares[better]) == Ordering::Greater {
            better = group;
        }
    }
    (worse, better)
}

fn equal(feature: usize, level: usize) -> Item {
    let op = super::mine::Op::Equal;
    Item { feature, op, level }
}

fn sorted(items: &[Item]) -> Vec<Item> {
    let mut items = items.to_vec();
    items.sort();
    items
}

/// All orders of some features.
fn orders(features: Vec<usize>) -> Vec<Vec<usize>> {
    if features.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in &features {
        let others = features.iter().copied().filter(|f| f != first).collect();
        for mut order in orders(others) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}
