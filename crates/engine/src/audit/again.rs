//! What an audit found, counted again among other people.

use super::run::{Predicted, Run};
use super::search::{Found, Pairs, memory_of_pairs};
use super::{Audit, Individuals, Options};
use crate::bits::{Layout, PerGroup};
use crate::error::Error;
use crate::flips::Model;
use crate::population::Population;
use crate::subgroups::{Item, ItemSets, Mined, Predicate, given_items};
use crate::watch::Watch;

/// Counts the subgroups and actions of an audit among other people: nothing is mined, and every action
/// costs what it cost there.
///
/// The population must have the same features with the same levels, such as the other part of a
/// [split](Population::split); groups are matched by name. Subgroups in which some group has nobody
/// are left out. Of the options, those that say how the work is done count; what is counted is as
/// `found` has it.
pub fn audit_again<M: Model + ?Sized>(
    population: &Population,
    model: &M,
    found: &Audit,
    options: &Options,
    watch: Watch<'_>,
) -> Result<(Audit, Individuals), Error> {
    let settings = &found.settings;
    let mut options = options
        .clone()
        .support(settings.support)
        .validity(settings.validity)
        .ranges(settings.ranges)
        .min_members(settings.min_members)
        .min_group_size(settings.min_group_size)
        .favourable(settings.favourable.clone());
    options.max_length = settings.max_length;
    let run = Run::new(population, &options, watch)?;
    options.work(|| run.again(model, found))?
}

impl Run<'_> {
    fn again<M: Model + ?Sized>(
        &self,
        model: &M,
        found: &Audit,
    ) -> Result<(Audit, Individuals), Error> {
        self.check_levels(found)?;
        let (asking, favourable) = self.ask(model)?;
        let affected = self.affected_like(&favourable, found)?;
        let unaffected = self.unaffected(&favourable);

        let predicates = found.subgroups.iter().map(|subgroup| &subgroup.predicate);
        let wanted: Vec<Item> = predicates.flat_map(Predicate::items).copied().collect();
        let items = given_items(self.population, &affected.layout, wanted);
        let (common, actions) = found
            .subgroups
            .iter()
            .filter_map(|subgroup| {
                let mined = everywhere(&subgroup.predicate, &affected.layout, &items)?;
                let actions = subgroup.actions.iter();
                Some((mined, actions.map(|a| (a.change, a.cost)).collect()))
            })
            .unzip();
        let pairs = Pairs {
            changes: found.changes.clone(),
            actions,
        };
        let memory = memory_of_pairs(&affected.layout, self.budget);
        let bytes = memory.needed(pairs.len(), pairs.changes.len());
        let counted = Found {
            common,
            action_itemsets: found.sizes.action_itemsets,
            budget: self.budget.without(bytes),
            pairs,
        };
        let needed = self.needed(&counted, &affected.layout, &items);
        let predicted = Predicted {
            asking,
            favourable,
            affected,
            unaffected,
            items,
        };
        self.count_flips(model, predicted, counted, needed)
    }

    /// Refuses a population in which the audit's levels would mean something else.
    fn check_levels(&self, found: &Audit) -> Result<(), Error> {
        let features = self.population.features();
        let labels = |f: usize| {
            features
                .get(f)
                .map(|feature| (&feature.name, &feature.levels))
        };
        let count = features.len().max(found.features.len());
        let differs = (0..count).find(|&f| {
            let there = found.features.get(f);
            labels(f) != there.map(|feature| (&feature.name, &feature.levels))
        });
        let Some(f) = differs else {
            return Ok(());
        };
        let name = found.features.get(f).or(features.get(f));
        let name = name.map_or_else(String::new, |feature| feature.name.clone());
        Err(Error::OtherLevels(name))
    }
}

/// The members that a predicate has in each group; none if a group has nobody.
fn everywhere(predicate: &Predicate, layout: &Layout, items: &ItemSets) -> Option<Mined> {
    let mut members = layout.none();
    items.members(predicate.items(), &mut members);
    let counts: PerGroup<u64> = (0..layout.groups())
        .map(|g| layout.count(g, &members, &members))
        .collect();
    (!counts.contains(&0)).then(|| Mined {
        predicate: predicate.clone(),
        members: counts,
    })
}
