//! Two models on the same people: who had a way out under one of them only?

use std::collections::HashMap;

use rayon::prelude::*;

use super::moved::Counted;
use super::{Comparison, Met, PeopleCompared, SubgroupCompared, WithinCost, costs, names};
use crate::answer::ways;
use crate::audit::{Audit, Individuals};
use crate::bits;
use crate::distribution::Subgroup;
use crate::error::Error;
use crate::population::Population;

/// How somebody fares whom a model refuses.
#[derive(Clone, Copy)]
struct Fares {
    group: usize,
    has_a_way: bool,
}

/// How many people have something under both models, under one alone, and of how many.
#[derive(Clone, Copy, Default)]
struct Table {
    people: u64,
    both: u64,
    only_before: u64,
    only_now: u64,
}

impl Table {
    fn add(&mut self, people: u64, before: bool, now: bool) {
        self.people += people;
        match (before, now) {
            (true, true) => self.both += people,
            (true, false) => self.only_before += people,
            (false, true) => self.only_now += people,
            (false, false) => {}
        }
    }

    fn counted(&self) -> Counted {
        Counted::people(self.people, self.both, self.only_before, self.only_now)
    }
}

/// Compares two audits of the same population by the people whose answer changed, within the deciding cost
/// of each subgroup and within budgets.
///
/// A share with a way out is that of the people whom both models refuse: whoever only one of them refuses
/// counts among those shut out, of all people. None if the audits compare other groups.
pub fn compare_people(
    population: &Population,
    old: (&Audit, &Individuals),
    new: (&Audit, &Individuals),
    budgets: &[f64],
    alpha: f64,
) -> Result<Option<Comparison>, Error> {
    for (_, individuals) in [old, new] {
        if individuals.favourable.len() != population.profiles() {
            return Err(Error::OtherPeople);
        }
    }
    let Some(met) = Met::new(old.0, new.0) else {
        return Ok(None);
    };
    let pairing = Pairing {
        population,
        old,
        new,
        alpha,
    };
    let compared = |(predicate, places): &(String, (usize, usize))| {
        let (was, is) = met.subgroups(*places);
        let within = costs(was, is, budgets)?;
        let within = within.into_iter().map(|cost| pairing.within(was, is, cost));
        Some(SubgroupCompared {
            predicate: predicate.clone(),
            places: *places,
            within: within.collect::<Option<_>>()?,
        })
    };
    let comparison = Comparison {
        alpha,
        same_people: true,
        groups: names(new.0),
        people: pairing.people(),
        subgroups: met.both.par_iter().filter_map(compared).collect(),
        only: met.only(),
        tests: 0,
    };
    Ok(Some(comparison.corrected()))
}

struct Pairing<'a> {
    population: &'a Population,
    old: (&'a Audit, &'a Individuals),
    new: (&'a Audit, &'a Individuals),
    alpha: f64,
}

impl Pairing<'_> {
    /// What moved in a subgroup within a cost; none if some group has nobody whom both models refuse, or
    /// too few to be told.
    fn within(&self, was: &Subgroup, is: &Subgroup, cost: f64) -> Option<WithinCost> {
        let (before, individuals) = (members(self.old.1, was, cost), self.new.1);
        let set = individuals.members(is);
        let reached = individuals.reached(is, &set, is.levels_within(cost));
        let mut tables = vec![Table::default(); was.groups()];
        for position in bits::iter(&set) {
            if let Some(&had) = before.get(&individuals.layout.profile(position)) {
                let table = &mut tables[individuals.layout.group(position)];
                let has = bits::contains(&reached, position);
                table.add(individuals.layout.weight(position), had, has);
            }
        }
        let enough = |table: &Table| table.people > 0 && self.may_be_told(table);
        let groups: Vec<Counted> = tables.iter().map(Table::counted).collect();
        (tables.iter().all(enough)).then(|| WithinCost::new(cost, &groups, self.alpha))
    }

    /// Whether no count of a table is suppressed.
    fn may_be_told(&self, table: &Table) -> bool {
        let k = [self.old.0, self.new.0].map(|audit| audit.suppression.map_or(1, |s| s.k));
        let hidden = 1..k[0].max(k[1]);
        let cells = [table.both, table.only_before, table.only_now];
        !cells.iter().any(|cell| hidden.contains(cell))
    }

    /// What moved for all people of each group; none if too few to be told.
    fn people(&self) -> Option<PeopleCompared> {
        let (was, is) = (self.fares(self.old), self.fares(self.new));
        let groups = self.new.0.groups.iter();
        // Whoever is not refused by either model is in neither table below, but is one of the people.
        let mut shut_out: Vec<Table> = groups
            .map(|group| Table {
                people: group.people,
                ..Table::default()
            })
            .collect();
        let mut open = vec![Table::default(); shut_out.len()];
        for profile in 0..self.population.profiles() {
            let (before, now) = (was[profile], is[profile]);
            let Some(group) = before.or(now).map(|fares| fares.group) else {
                continue;
            };
            let people = self.population.people(profile);
            let is_shut_out = |fares: Option<Fares>| fares.is_some_and(|fares| !fares.has_a_way);
            let table = &mut shut_out[group];
            // The people are there already.
            table.people -= people;
            table.add(people, is_shut_out(before), is_shut_out(now));
            if let (Some(before), Some(now)) = (before, now) {
                open[group].add(people, before.has_a_way, now.has_a_way);
            }
        }
        if !shut_out
            .iter()
            .chain(&open)
            .all(|table| self.may_be_told(table))
        {
            return None;
        }
        let counted = |tables: &[Table]| tables.iter().map(Table::counted).collect::<Vec<_>>();
        Some(PeopleCompared::new(
            &counted(&shut_out),
            &counted(&open),
            self.alpha,
        ))
    }

    /// By profile: how it fares under a model, if that refuses it.
    fn fares(&self, (audit, individuals): (&Audit, &Individuals)) -> Vec<Option<Fares>> {
        let layout = &individuals.layout;
        let ways = ways(audit, individuals);
        let mut fares = vec![None; self.population.profiles()];
        for (position, profile) in layout.positions() {
            fares[profile] = Some(Fares {
                group: layout.group(position),
                has_a_way: ways[position].is_finite(),
            });
        }
        fares
    }
}

/// The members of a subgroup by profile, and whether they have a way within a cost.
fn members(individuals: &Individuals, subgroup: &Subgroup, cost: f64) -> HashMap<usize, bool> {
    let members = individuals.members(subgroup);
    let levels = subgroup.levels_within(cost);
    let reached = individuals.reached(subgroup, &members, levels);
    let of = |position| {
        let profile = individuals.layout.profile(position);
        (profile, bits::contains(&reached, position))
    };
    bits::iter(&members).map(of).collect()
}
