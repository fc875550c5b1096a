//! Two models on the same people: who had a way out under one of them only?
//!
//! People who are alike in all that both models see get the same two answers. They are one *pair* of
//! profiles, and gain or lose together: chance tosses once for all of them.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::moved::Counted;
use super::{Comparison, Met, PeopleCompared, SubgroupCompared, WithinCost, costs, names};
use crate::answer::ways;
use crate::audit::{Audit, Individuals};
use crate::bits;
use crate::distribution::Subgroup;
use crate::error::Error;

/// People who are one profile to the older audit and one to the newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The profile in the newer audit's population.
    pub now: usize,
    /// The profile in the older audit's population.
    pub before: usize,
    /// The group, by its place among those compared.
    pub group: usize,
    /// How many people they are.
    pub people: u64,
}

/// How many people have something under both models, under one alone, and of how many.
#[derive(Clone, Default)]
struct Table {
    people: u64,
    both: u64,
    only_before: u64,
    only_now: u64,
    /// How many people each pair is that has it under one model alone.
    changed: Vec<u64>,
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
        if before != now {
            self.changed.push(people);
        }
    }

    fn counted(&self) -> Counted {
        let only = (self.only_before, self.only_now);
        Counted::people(self.people, self.both, only, &self.changed)
    }
}

/// Compares two audits of the same people by those whose answer changed, within the deciding cost of each
/// subgroup and within budgets.
///
/// A share with a way out is that of the people whom both models refuse: whoever only one of them refuses
/// counts among those shut out, of all people. None if the audits compare other groups.
pub fn compare_people(
    pairs: &[Pair],
    old: (&Audit, &Individuals),
    new: (&Audit, &Individuals),
    budgets: &[f64],
    alpha: f64,
) -> Result<Option<Comparison>, Error> {
    let Some(met) = Met::new(old.0, new.0) else {
        return Ok(None);
    };
    let known = |pair: &Pair| {
        pair.before < old.1.favourable.len()
            && pair.now < new.1.favourable.len()
            && pair.group < new.0.groups.len()
    };
    if pairs.is_empty() || !pairs.iter().all(known) {
        return Err(Error::OtherPeople);
    }
    let pairing = Pairing::new(pairs, old, new, alpha);
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
    /// Ordered by the newer profile.
    pairs: Vec<Pair>,
    /// By the newer profile: which of the pairs are of it.
    of_profile: Vec<Range<usize>>,
    old: (&'a Audit, &'a Individuals),
    new: (&'a Audit, &'a Individuals),
    alpha: f64,
}

impl<'a> Pairing<'a> {
    fn new(
        pairs: &[Pair],
        old: (&'a Audit, &'a Individuals),
        new: (&'a Audit, &'a Individuals),
        alpha: f64,
    ) -> Self {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        let mut of_profile = vec![0..0; new.1.favourable.len()];
        let mut from = 0;
        for alike in pairs.chunk_by(|a, b| a.now == b.now) {
            of_profile[alike[0].now] = from..from + alike.len();
            from += alike.len();
        }
        Self {
            pairs,
            of_profile,
            old,
            new,
            alpha,
        }
    }

    /// What moved in a subgroup within a cost; none if some group has nobody whom both models refuse, or
    /// too few to be told.
    fn within(&self, was: &Subgroup, is: &Subgroup, cost: f64) -> Option<WithinCost> {
        let (before, individuals) = (members(self.old.1, was, cost), self.new.1);
        let set = individuals.members(is);
        let reached = individuals.reached(is, &set, is.levels_within(cost));
        let mut tables = vec![Table::default(); was.groups()];
        for position in bits::iter(&set) {
            let has = bits::contains(&reached, position);
            let pairs = self.of_profile[individuals.layout.profile(position)].clone();
            for pair in &self.pairs[pairs] {
                if let Some(&had) = before.get(&pair.before) {
                    tables[pair.group].add(pair.people, had, has);
                }
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
        let (was, is) = (fares(self.old), fares(self.new));
        let mut shut_out = vec![Table::default(); self.new.0.groups.len()];
        let mut open = shut_out.clone();
        for pair in &self.pairs {
            let (before, now) = (was[pair.before], is[pair.now]);
            let is_shut_out = |has_a_way: Option<bool>| has_a_way == Some(false);
            shut_out[pair.group].add(pair.people, is_shut_out(before), is_shut_out(now));
            if let (Some(before), Some(now)) = (before, now) {
                open[pair.group].add(pair.people, before, now);
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
}

/// By profile: whether it has a way out; none if the model does not refuse it.
fn fares((audit, individuals): (&Audit, &Individuals)) -> Vec<Option<bool>> {
    let ways = ways(audit, individuals);
    let mut fares = vec![None; individuals.favourable.len()];
    for (position, profile) in individuals.layout.positions() {
        fares[profile] = Some(ways[position].is_finite());
    }
    fares
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
