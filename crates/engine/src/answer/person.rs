//! One person: what would turn the answer for them, and how people like them fare in every group.

use std::collections::BTreeMap;

use super::people::{GroupPeople, at_costs};
use crate::audit::{Audit, Individuals};
use crate::bits;
use crate::distribution::Subgroup;
use crate::population::Population;
use crate::subgroups::{Item, Operator};

/// The refused people of an audit, one profile at a time. Profiles are named by their places in the
/// population.
#[derive(Clone, Copy, Debug)]
pub struct Persons<'a> {
    audit: &'a Audit,
    population: &'a Population,
    individuals: &'a Individuals,
}

/// What would turn the answer for one refused profile, and for people like it.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// Which profile it is.
    pub profile: usize,
    /// Its group, by place in the audit.
    pub group: usize,
    /// How many people have this profile.
    pub people: u64,
    /// Distinct changes that are valid for it: the actions of all ranked subgroups that it belongs to.
    pub valid: usize,
    /// Those of them that turn the answer: cheapest first, then those that change least, then by text.
    pub turning: Vec<Turning>,
    /// By group: the people who have the same level in every feature, its own group's among them.
    pub alike: Vec<GroupPeople>,
    /// The closest subgroup: of the ranked ones that it belongs to, the one with most items, then the
    /// one with fewest people, then by text; none if it belongs to no ranked one.
    pub closest: Option<Closest>,
}

/// A change that turns the answer for a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// What changes, by its place among the audit's changes.
    pub change: usize,
    /// The least that it costs in a subgroup that the profile belongs to.
    pub cost: f64,
}

/// A ranked subgroup and how its members fare.
#[derive(Clone, Debug, PartialEq)]
pub struct Closest {
    /// Its place in the audit.
    pub subgroup: usize,
    /// By group: the people whom its predicate describes.
    pub people: Vec<GroupPeople>,
}

/// A condition on a person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// Whether they satisfy an item.
    Item(Item, bool),
    /// Whether their own number, where levels are bins, compares so. Whoever has none does not.
    Number {
        /// The feature, by place.
        feature: u32,
        /// How it is compared.
        operator: Operator,
        /// With what.
        number: f64,
        /// Whether it is to hold, or not to.
        is: bool,
    },
}

impl<'a> Persons<'a> {
    /// The people of an audit; none if counts are suppressed, since single people are hidden then.
    pub fn new(
        audit: &'a Audit,
        population: &'a Population,
        individuals: &'a Individuals,
    ) -> Option<Self> {
        audit.suppression.is_none().then_some(Self {
            audit,
            population,
            individuals,
        })
    }

    /// The refused profiles that meet these conditions, of one group or of all: those of most people
    /// first, then by place.
    pub fn matching(&self, group: Option<usize>, wanted: &[Wanted]) -> Vec<usize> {
        let layout = &self.individuals.layout;
        let mut found: Vec<usize> = layout
            .positions()
            .filter(|&(position, profile)| {
                group.is_none_or(|group| layout.group(position) == group)
                    && wanted.iter().all(|&one| self.meets(profile, one))
            })
            .map(|(_, profile)| profile)
            .collect();
        found.sort_by_key(|&profile| (std::cmp::Reverse(self.population.people(profile)), profile));
        found
    }

    /// The group of a refused profile of the compared groups, by place in the audit; none of any other.
    pub fn group(&self, profile: usize) -> Option<usize> {
        let position = self.position(profile)?;
        Some(self.individuals.layout.group(position))
    }

    /// The least cost of a valid action that turns the answer for a refused profile; ∞ if there is none.
    pub fn way(&self, profile: usize) -> f64 {
        let Some(position) = self.position(profile) else {
            return f64::INFINITY;
        };
        let cheapest = |subgroup: &Subgroup| {
            let mut actions = subgroup.actions.iter();
            let helps = actions.find(|action| self.helps(action.change, position));
            helps.map(|action| action.cost)
        };
        let costs = self.around(profile).filter_map(|(_, one)| cheapest(one));
        costs.fold(f64::INFINITY, f64::min)
    }

    /// All about a refused profile of the compared groups; none of any other.
    pub fn person(&self, profile: usize) -> Option<Person> {
        let position = self.position(profile)?;
        let mut valid: BTreeMap<u32, f64> = BTreeMap::new();
        for (_, subgroup) in self.around(profile) {
            for action in &subgroup.actions {
                let cost = valid.entry(action.change).or_insert(f64::INFINITY);
                *cost = cost.min(action.cost);
            }
        }
        let turning = valid.iter();
        let turning = turning.filter(|&(&change, _)| self.helps(change, position));
        let mut turning: Vec<Turning> = turning
            .map(|(&change, &cost)| Turning {
                change: change as usize,
                cost,
            })
            .collect();
        let then = |one: &Turning| {
            let change = &self.audit.changes[one.change];
            let text = change.text(&self.audit.features);
            (change.assignments().len(), text)
        };
        turning.sort_by(|a, b| {
            let by_cost = a.cost.total_cmp(&b.cost);
            by_cost.then_with(|| then(a).cmp(&then(b)))
        });
        let features = 0..self.population.features().len();
        let same = |other: usize| {
            let level = |feature, of| self.population.level(feature, of);
            (features.clone()).all(|feature| level(feature, other) == level(feature, profile))
        };
        Some(Person {
            profile,
            group: self.individuals.layout.group(position),
            people: self.population.people(profile),
            valid: valid.len(),
            turning,
            alike: self.fare(same),
            closest: self.closest(profile),
        })
    }

    fn closest(&self, profile: usize) -> Option<Closest> {
        let key = |subgroup: &Subgroup| {
            let items = subgroup.predicate.items().len();
            let text = self.audit.text(&subgroup.predicate);
            (std::cmp::Reverse(items), subgroup.people(), text)
        };
        let closest = self.around(profile).min_by_key(|(_, one)| key(one));
        closest.map(|(subgroup, one)| Closest {
            subgroup,
            people: self.fare(|other| self.belongs(other, one)),
        })
    }

    /// How the people of the chosen profiles fare, by group.
    fn fare(&self, chosen: impl Fn(usize) -> bool) -> Vec<GroupPeople> {
        let groups = &self.audit.groups;
        let named = self.population.groups().iter();
        let place = |name: &String| groups.iter().position(|group| group.name == *name);
        let places: Vec<Option<usize>> = named.map(place).collect();
        let mut people = vec![(0, 0, Vec::new()); groups.len()];
        for profile in (0..self.population.profiles()).filter(|&profile| chosen(profile)) {
            let Some(group) = places[self.population.group(profile)] else {
                continue;
            };
            let number = self.population.people(profile);
            let (all, refused, ways) = &mut people[group];
            *all += number;
            if !self.individuals.favours(profile) {
                *refused += number;
                let way = self.way(profile);
                if way.is_finite() {
                    ways.push((way, number));
                }
            }
        }
        let people = people.into_iter();
        let fare = |(people, refused, ways)| GroupPeople {
            people,
            refused,
            ways: Some(at_costs(ways)),
        };
        people.map(fare).collect()
    }

    /// The ranked subgroups that a profile belongs to.
    fn around(&self, profile: usize) -> impl Iterator<Item = (usize, &'a Subgroup)> {
        let all = self.audit.subgroups.iter().enumerate();
        all.filter(move |(_, subgroup)| self.belongs(profile, subgroup))
    }

    fn belongs(&self, profile: usize, subgroup: &Subgroup) -> bool {
        let mut items = subgroup.predicate.items().iter();
        items.all(|&item| self.satisfies(profile, item))
    }

    fn meets(&self, profile: usize, wanted: Wanted) -> bool {
        let (feature, operator, number, is) = match wanted {
            Wanted::Item(item, is) => return self.satisfies(profile, item) == is,
            Wanted::Number {
                feature,
                operator,
                number,
                is,
            } => (feature as usize, operator, number, is),
        };
        let missing = self.population.features()[feature].missing;
        let level = self.population.level(feature, profile);
        let own = self.population.value(feature, profile).number();
        let own = own.filter(|_| missing != Some(level));
        let holds = own.is_some_and(|own| match operator {
            Operator::Is => own == number,
            Operator::AtLeast => own >= number,
            Operator::AtMost => own <= number,
        });
        holds == is
    }

    fn satisfies(&self, profile: usize, item: Item) -> bool {
        let feature = item.feature as usize;
        let missing = self.population.features()[feature].missing;
        item.admits(self.population.level(feature, profile), missing)
    }

    fn helps(&self, change: u32, position: usize) -> bool {
        bits::contains(&self.individuals.flips[change as usize], position)
    }

    /// Where a profile lies among the refused of the compared groups.
    fn position(&self, profile: usize) -> Option<usize> {
        let mut all = self.individuals.layout.positions();
        all.find_map(|(position, there)| (there == profile).then_some(position))
    }
}
