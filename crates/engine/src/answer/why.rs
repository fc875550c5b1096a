//! Why a story's gap is there: three numbers beside it, none of them causal.
//!
//! - **Swap.** The model is asked about the worse-off people with the protected value of the best-off:
//!   how many more have a way then is what the model does with the attribute itself.
//! - **Composition.** The gap within strata of the other features that the model reads (Mantel and
//!   Haenszel) is what is left when like is compared with like; the rest of the gap goes with the
//!   groups' differing in those features.
//! - **What remains**: neither.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Answer, Story, rounded};
use crate::actions::{Assignment, Feasibility};
use crate::audit::{Audit, Individuals, Options};
use crate::bits::{self, Layout, Words};
use crate::distribution::Share;
use crate::error::Error;
use crate::flips::{Asking, Counterfactuals, Model};
use crate::population::{BatchMaker, Population};
use crate::watch::Watch;

/// What a story's gap is made of. Swap, composition and what remains add up to the gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Of the worse-off people, those who have a way if the model takes them for people of the best-off
    /// group.
    pub swapped: Share,
    /// What the swap takes off the gap.
    pub swap: f64,
    /// What goes with the groups' composition; none if no stratum holds people of both groups.
    pub composition: Option<f64>,
    /// What remains.
    pub rest: f64,
    /// The features that the strata are made of, by place in the audit.
    pub strata: Vec<u32>,
    /// People in strata that hold both groups, of all people of the two groups.
    pub compared: Share,
}

/// Features are added to the strata as long as this share of the people is in strata that hold both
/// groups.
const COMPARED: f64 = 0.5;

/// What the reasons for an answer's stories are found with.
#[derive(Debug)]
pub struct Reasons<'a, M: ?Sized> {
    /// The population that was audited.
    pub population: &'a Population,
    /// The model that was audited.
    pub model: &'a M,
    /// The audit.
    pub audit: &'a Audit,
    /// The people behind it.
    pub individuals: &'a Individuals,
    /// The columns that the model reads, if it can say.
    pub reads: Option<&'a [String]>,
    /// How the work is done.
    pub options: &'a Options,
}

impl<M: Model + ?Sized> Reasons<'_, M> {
    /// Asks why, for the first so many stories of an answer.
    pub fn explain(
        &self,
        answer: &mut Answer,
        stories: usize,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let audit = self.audit;
        let explaining = Explaining {
            of: self,
            asking: Asking::new(&audit.settings.favourable, self.options.batch_rows, watch),
            feasibility: Feasibility::new(self.population.features(), &mut Vec::new())?,
        };
        self.options.work(|| {
            let mut told = self.individuals.layout.none();
            for story in answer.stories.iter_mut().take(stories) {
                let subgroup = &audit.subgroups[story.subgroup];
                let mut members = self.individuals.members(subgroup);
                bits::subtract(&mut members, &told);
                bits::unite(&mut told, &members);
                let why = explaining.story(story, &members)?;
                let small = audit
                    .suppression
                    .map_or(1..1, |suppression| 1..suppression.k);
                let told = [why.swapped.part, why.compared.part];
                story.why = (!told.iter().any(|people| small.contains(people))).then_some(why);
            }
            Ok(())
        })?
    }
}

struct Explaining<'a, M: ?Sized> {
    of: &'a Reasons<'a, M>,
    asking: Asking<'a>,
    feasibility: Feasibility,
}

impl<M: Model + ?Sized> Explaining<'_, M> {
    /// Why the gap is there among these people.
    fn story(&self, story: &Story, members: &[u64]) -> Result<Why, Error> {
        let swapped = self.swapped(story, members)?;
        let swap = swapped.ratio() - story.told[story.worse_off].ratio();
        let strata = self.strata(story, members);
        let gap = story.gap();
        let composition = strata.gap.map(|within| gap - within);
        Ok(Why {
            swapped,
            swap,
            composition,
            rest: gap - swap - composition.unwrap_or(0.0),
            strata: strata.features,
            compared: strata.compared,
        })
    }

    /// How many of the worse-off have a way within the story's cost if the model takes them for people
    /// of the best-off group. Whoever is not even refused then has one.
    fn swapped(&self, story: &Story, members: &[u64]) -> Result<Share, Error> {
        let layout = &self.of.individuals.layout;
        let people: Vec<(usize, u64)> = bits::iter(members)
            .filter(|&position| layout.group(position) == story.worse_off)
            .map(|position| (layout.profile(position), layout.weight(position)))
            .collect();
        let profiles: Vec<usize> = people.iter().map(|&(profile, _)| profile).collect();
        let group = &self.of.audit.groups[story.better_off].name;
        let group = (self.of.population.groups().iter()).position(|name| name == group);
        let (seen, places) = self
            .of
            .population
            .seen_as(&profiles, group.unwrap_or_default());
        let favourable = self.favourable(&seen)?;
        let (mut with_a_way, mut refused) = (0, Vec::new());
        for (&place, &(_, weight)) in places.iter().zip(&people) {
            if favourable[place] {
                with_a_way += weight;
            } else {
                refused.push((place as u32, weight));
            }
        }
        let layout = Layout::new(&[refused]);
        let subgroup = &self.of.audit.subgroups[story.subgroup];
        let within = subgroup.levels_within(story.cost);
        let actions = subgroup.actions.iter();
        let actions = actions.take_while(|action| (action.cost_level as usize) < within);
        let changes = actions.map(|action| &self.of.audit.changes[action.change as usize]);
        let needed =
            changes.map(|change| (change, self.needed(change.assignments(), &seen, &layout)));
        let ask = Counterfactuals::new(
            &seen,
            &layout,
            needed,
            &favourable,
            &self.asking,
            self.of.individuals.budget,
        );
        let mut reached = layout.none();
        for flips in self.of.model.flips(&ask)? {
            bits::unite(&mut reached, &flips);
        }
        with_a_way += layout.count(0, &reached, &reached);
        Ok(Share::new(with_a_way, story.told[story.worse_off].whole))
    }

    /// The people to whom a change applies: under ranges, not all members hold another level.
    fn needed(&self, assignments: &[Assignment], seen: &Population, layout: &Layout) -> Words {
        if !self.of.audit.settings.ranges {
            return layout.all();
        }
        let mut needed = layout.none();
        for (position, profile) in layout.positions() {
            if self
                .feasibility
                .applies(assignments, |feature| seen.level(feature, profile))
            {
                bits::insert(&mut needed, position);
            }
        }
        needed
    }

    /// Whether the model favours each profile, those added to the population among them.
    fn favourable(&self, seen: &Population) -> Result<Vec<bool>, Error> {
        let mut favourable = self.of.individuals.favourable.clone();
        let rows: Vec<&[u32]> = (favourable.len()..seen.profiles())
            .map(|profile| seen.row(profile))
            .collect();
        let maker = BatchMaker::new(seen.schema(), seen.columns());
        for part in rows.chunks(self.asking.rows_at_a_time(self.of.model)) {
            favourable.extend(self.asking.predict(self.of.model, &maker, part)?);
        }
        Ok(favourable)
    }

    /// The gap among people who are alike in the features that matter most for whether they have a way.
    fn strata(&self, story: &Story, members: &[u64]) -> Strata {
        let layout = &self.of.individuals.layout;
        let subgroup = &self.of.audit.subgroups[story.subgroup];
        let levels = subgroup.levels_within(story.cost);
        let reached = self.of.individuals.reached(subgroup, members, levels);
        let people: Vec<Person> = bits::iter(members)
            .filter_map(|position| {
                let group = layout.group(position);
                let worse = group == story.worse_off;
                (worse || group == story.better_off).then(|| Person {
                    profile: layout.profile(position),
                    people: layout.weight(position),
                    worse,
                    with_a_way: bits::contains(&reached, position),
                })
            })
            .collect();
        let mut by_weight: Vec<(f64, usize)> = (0..self.of.audit.features.len())
            .filter(|&feature| self.is_read(feature))
            .map(|feature| (self.information(feature, &people), feature))
            .filter(|&(information, _)| information > 1e-12)
            .collect();
        by_weight.sort_by(|a, b| {
            let by_information = rounded(b.0).total_cmp(&rounded(a.0));
            by_information.then(a.1.cmp(&b.1))
        });
        let mut strata = Strata::new(&people, vec![0; people.len()]);
        let mut of_person = vec![0; people.len()];
        for (_, feature) in by_weight {
            let keys = (people.iter().zip(&of_person)).map(|(person, &stratum)| {
                let level = self.of.population.level(feature, person.profile);
                (stratum, level)
            });
            let keys: Vec<(u32, u32)> = keys.collect();
            // Numbered by level, not by who comes first: sums must not depend on the order of people.
            let distinct: BTreeSet<(u32, u32)> = keys.iter().copied().collect();
            let numbers: BTreeMap<(u32, u32), u32> = distinct.into_iter().zip(0..).collect();
            let finer: Vec<u32> = keys.iter().map(|key| numbers[key]).collect();
            let with = Strata::new(&people, finer.clone());
            if with.compared.ratio() >= COMPARED {
                let mut features = std::mem::take(&mut strata.features);
                features.push(feature as u32);
                strata = Strata { features, ..with };
                of_person = finer;
            }
        }
        strata
    }

    fn is_read(&self, feature: usize) -> bool {
        let name = &self.of.audit.features[feature].name;
        self.of.reads.is_none_or(|columns| columns.contains(name))
    }

    /// How much a feature tells about who has a way: the mutual information, in nats.
    fn information(&self, feature: usize, people: &[Person]) -> f64 {
        let mut by_level: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for person in people {
            let level = self.of.population.level(feature, person.profile);
            by_level.entry(level).or_default()[usize::from(person.with_a_way)] += person.people;
        }
        let with: u64 = by_level.values().map(|counts| counts[1]).sum();
        let all: u64 = by_level.values().flatten().sum();
        let marginal = [all - with, with];
        let mut information = 0.0;
        for counts in by_level.values() {
            let level = (counts[0] + counts[1]) as f64;
            for (&count, &margin) in counts.iter().zip(&marginal) {
                if count > 0 {
                    let (count, all) = (count as f64, all as f64);
                    information += count / all * (count * all / (level * margin as f64)).ln();
                }
            }
        }
        information
    }
}

/// A profile of a story's people.
struct Person {
    profile: usize,
    people: u64,
    worse: bool,
    with_a_way: bool,
}

/// People in strata, and the gap within them.
struct Strata {
    features: Vec<u32>,
    compared: Share,
    /// Mantel and Haenszel's risk difference; none if no stratum holds both groups.
    gap: Option<f64>,
}

impl Strata {
    fn new(people: &[Person], of_person: Vec<u32>) -> Self {
        // By stratum: of the worse off and the better off, those with a way and all.
        let mut counts: BTreeMap<u32, [[u64; 2]; 2]> = BTreeMap::new();
        for (person, stratum) in people.iter().zip(of_person) {
            let counts = &mut counts.entry(stratum).or_default()[usize::from(!person.worse)];
            counts[0] += u64::from(person.with_a_way) * person.people;
            counts[1] += person.people;
        }
        let all = people.iter().map(|person| person.people).sum();
        let (mut compared, mut gap, mut weight) = (0, 0.0, 0.0);
        for [[worse, of_worse], [better, of_better]] in counts.into_values() {
            if of_worse == 0 || of_better == 0 {
                continue;
            }
            compared += of_worse + of_better;
            let (n, m) = (of_worse as f64, of_better as f64);
            gap += (better as f64 * n - worse as f64 * m) / (n + m);
            weight += n * m / (n + m);
        }
        Self {
            features: Vec::new(),
            compared: Share::new(compared, all),
            gap: (weight > 0.0).then(|| gap / weight),
        }
    }
}
