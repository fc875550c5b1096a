//! Who is affected, group by group.

use super::run::Run;
use super::{Audit, Group, SetAside};
use crate::bits::Layout;
use crate::distribution::Count;
use crate::error::Error;

/// The affected of the groups that are compared.
#[derive(Debug)]
pub(super) struct Affected {
    /// Groups by place in the layout, named by place in the population.
    groups: Vec<usize>,
    pub(super) layout: Layout,
    pub(super) set_aside: Vec<SetAside>,
}

/// The groups of a population: how many people each has, and its affected with their weights.
struct ByGroup {
    people: Vec<u64>,
    affected: Vec<Vec<(u32, u64)>>,
}

impl ByGroup {
    fn affected_people(&self, g: usize) -> u64 {
        self.affected[g].iter().map(|&(_, weight)| weight).sum()
    }

    /// The layout of the affected of these groups.
    fn layout(&self, groups: &[usize]) -> Layout {
        let affected: Vec<_> = groups.iter().map(|&g| self.affected[g].clone()).collect();
        Layout::new(&affected)
    }

    fn set_aside(&self, g: usize, name: &str, why: String) -> SetAside {
        SetAside {
            name: name.to_owned(),
            people: Count::Known(self.people[g]),
            affected: Count::Known(self.affected_people(g)),
            why,
        }
    }
}

/// Why a group is not compared that the user does not want.
const UNWANTED: &str = "not among the groups to compare";

impl Run<'_> {
    fn by_group(&self, favourable: &[bool]) -> ByGroup {
        let groups = self.population.groups().len();
        let mut by_group = ByGroup {
            people: vec![0; groups],
            affected: vec![Vec::new(); groups],
        };
        for (profile, favourable) in favourable.iter().enumerate() {
            let group = self.population.group(profile);
            let weight = self.population.people(profile);
            by_group.people[group] += weight;
            if !favourable {
                by_group.affected[group].push((profile as u32, weight));
            }
        }
        by_group
    }

    /// The affected of exactly the groups of another audit, by name; a group may have nobody.
    pub(super) fn affected_like(
        &self,
        favourable: &[bool],
        found: &Audit,
    ) -> Result<Affected, Error> {
        let names = self.population.groups();
        let place = |group: &Group| {
            let place = names.iter().position(|name| *name == group.name);
            place.ok_or_else(|| Error::UnknownGroup {
                group: group.name.clone(),
                known: names.to_vec(),
            })
        };
        let groups: Vec<usize> = found.groups.iter().map(place).collect::<Result<_, _>>()?;
        let by_group = self.by_group(favourable);
        let others = (0..names.len()).filter(|g| !groups.contains(g));
        Ok(Affected {
            layout: by_group.layout(&groups),
            set_aside: others
                .map(|g| by_group.set_aside(g, &names[g], UNWANTED.to_owned()))
                .collect(),
            groups,
        })
    }

    /// Sorts the affected by group, and sets aside the groups that are not to be compared.
    pub(super) fn affected(&self, favourable: &[bool]) -> Result<Affected, Error> {
        let names = self.population.groups();
        let by_group = self.by_group(favourable);
        let everybody = || by_group.people.iter().sum();
        if by_group.affected.iter().all(Vec::is_empty) {
            return Err(Error::NobodyAffected(everybody()));
        }
        if favourable.iter().all(|favourable| !favourable) {
            return Err(Error::NobodyUnaffected(everybody()));
        }
        if let Some(wanted) = &self.options.compare
            && let Some(unknown) = wanted.iter().find(|group| !names.contains(group))
        {
            return Err(Error::UnknownGroup {
                group: unknown.clone(),
                known: names.to_vec(),
            });
        }
        let mut affected = Affected {
            groups: Vec::new(),
            layout: Layout::new(&[]),
            set_aside: Vec::new(),
        };
        for (g, name) in names.iter().enumerate() {
            let size = by_group.affected_people(g);
            let unwanted = self
                .options
                .compare
                .as_ref()
                .is_some_and(|wanted| !wanted.contains(name));
            let why = if unwanted {
                UNWANTED.to_owned()
            } else if size == 0 {
                "nobody affected".to_owned()
            } else if size < self.options.min_group_size {
                format!("fewer than {} affected", self.options.min_group_size)
            } else {
                affected.groups.push(g);
                continue;
            };
            affected.set_aside.push(by_group.set_aside(g, name, why));
        }
        if affected.groups.len() < 2 {
            let set_aside = affected.set_aside.iter().map(|s| match s.affected {
                Count::Known(people @ 1..) if s.why != UNWANTED => {
                    format!("`{}` ({}: {people})", s.name, s.why)
                }
                _ => format!("`{}` ({})", s.name, s.why),
            });
            return Err(Error::TooFewGroups {
                kept: affected.groups.iter().map(|&g| names[g].clone()).collect(),
                set_aside: set_aside.collect(),
            });
        }
        affected.layout = by_group.layout(&affected.groups);
        Ok(affected)
    }

    /// All unaffected people, as one group.
    pub(super) fn unaffected(&self, favourable: &[bool]) -> Layout {
        let members = favourable
            .iter()
            .enumerate()
            .filter(|&(_, favourable)| *favourable)
            .map(|(profile, _)| (profile as u32, self.population.people(profile)));
        Layout::new(&[members.collect()])
    }

    pub(super) fn groups(&self, affected: &Affected) -> Vec<Group> {
        let mut people = vec![0; self.population.groups().len()];
        for profile in 0..self.population.profiles() {
            people[self.population.group(profile)] += self.population.people(profile);
        }
        let groups = affected.groups.iter().enumerate();
        groups
            .map(|(place, &g)| Group {
                name: self.population.groups()[g].clone(),
                people: people[g],
                affected: affected.layout.people(place),
            })
            .collect()
    }
}
