//! The conductor: population → subgroups and actions → flips → effectiveness.

use rayon::prelude::*;

use super::affected::Affected;
use super::search::{Found, Pairs};
use super::searched::search;
use super::{Audit, FORMAT, Individuals, Options, Settings, Sizes, WithoutActions};
use crate::actions::Feasibility;
use crate::bits::{self, Layout, Words};
use crate::budget::Budget;
use crate::distribution::Subgroup;
use crate::error::Error;
use crate::flips::{Asking, Counterfactuals, Model};
use crate::population::{Population, Summary};
use crate::subgroups::{ItemSets, Mined};
use crate::watch::{Phase, Watch};

/// Audits a model on a population.
pub fn audit<M: Model + ?Sized>(
    population: &Population,
    model: &M,
    options: &Options,
    watch: Watch<'_>,
) -> Result<Audit, Error> {
    audit_with_individuals(population, model, options, watch).map(|(audit, _)| audit)
}

/// Audits a model on a population, and keeps the people behind the counts in memory.
pub fn audit_with_individuals<M: Model + ?Sized>(
    population: &Population,
    model: &M,
    options: &Options,
    watch: Watch<'_>,
) -> Result<(Audit, Individuals), Error> {
    search(population, model, options, watch)?.audit(model)
}

/// One audit under way.
pub(super) struct Run<'a> {
    pub(super) population: &'a Population,
    pub(super) feasibility: Feasibility,
    /// What a careful user would want to know of the rules.
    notices: Vec<String>,
    pub(super) options: &'a Options,
    /// What the people leave of the memory.
    pub(super) budget: Budget,
    pub(super) watch: Watch<'a>,
}

/// What the model says of the population: who is affected.
#[derive(Debug)]
pub(super) struct Predicted<'a> {
    pub(super) asking: Asking<'a>,
    pub(super) favourable: Vec<bool>,
    pub(super) affected: Affected,
    pub(super) unaffected: Layout,
    pub(super) items: ItemSets,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        population: &'a Population,
        options: &'a Options,
        watch: Watch<'a>,
    ) -> Result<Self, Error> {
        let mut notices = Vec::new();
        let feasibility = Feasibility::new(population.features(), &mut notices)?;
        notices.extend(population.summary().notices.iter().cloned());
        Ok(Self {
            population,
            feasibility,
            notices,
            options,
            budget: options.budget.without(population.bytes()),
            watch,
        })
    }

    /// Asks the model about everybody.
    pub(super) fn ask<M: Model + ?Sized>(
        &self,
        model: &M,
    ) -> Result<(Asking<'a>, Vec<bool>), Error> {
        let asking = Asking::new(
            &self.options.favourable,
            self.options.batch_rows,
            self.watch,
        );
        let favourable = asking.population(model, self.population)?;
        Ok((asking, favourable))
    }

    /// Asks the model whom each action helps, and counts them.
    pub(super) fn count_flips<M: Model + ?Sized>(
        &self,
        model: &M,
        predicted: Predicted<'_>,
        found: Found,
        needed: Vec<Words>,
    ) -> Result<(Audit, Individuals), Error> {
        let Found {
            common,
            action_itemsets,
            pairs,
            budget,
        } = found;
        let Predicted {
            asking,
            favourable,
            affected,
            unaffected,
            items,
        } = predicted;
        let rows_asked = asking.asked();
        self.watch.tell(Phase::Flips, 0, 0)?;
        let decisions = needed.iter().map(|set| bits::len(set) as u64).sum();
        let ask = Counterfactuals::new(
            self.population,
            &affected.layout,
            pairs.changes.iter().zip(needed),
            &favourable,
            &asking,
            budget,
        );
        let flips = model.flips(&ask)?;

        let sizes = Sizes {
            profiles: self.population.profiles(),
            affected_profiles: affected.layout.positions().count(),
            common_subgroups: common.len(),
            action_itemsets,
            pairs: pairs.len(),
            changes: pairs.changes.len(),
            decisions,
            rows_asked,
            counterfactual_rows_asked: asking.asked() - rows_asked,
        };
        let (subgroups, without_actions) =
            self.count(common, &pairs, &flips, &affected.layout, &items)?;
        let audit = Audit {
            format: FORMAT,
            features: self.population.features().to_vec(),
            population: Summary {
                notices: self.notices.clone(),
                ..self.population.summary().clone()
            },
            groups: self.groups(&affected),
            set_aside: affected.set_aside,
            unaffected: unaffected.people(0),
            settings: Settings::of(self.options),
            sizes,
            changes: pairs.changes,
            subgroups,
            without_actions,
            suppression: None,
        };
        let individuals = Individuals {
            layout: affected.layout,
            items,
            flips,
            favourable,
            budget,
        };
        Ok((audit, individuals))
    }

    /// For each change the members of all subgroups for which it is valid and to whom it applies.
    pub(super) fn needed(&self, found: &Found, layout: &Layout, items: &ItemSets) -> Vec<Words> {
        let Found { common, pairs, .. } = found;
        let mut needed = vec![layout.none(); pairs.changes.len()];
        let mut members = layout.none();
        for (subgroup, actions) in common.iter().zip(&pairs.actions) {
            if actions.is_empty() {
                continue;
            }
            items.members(subgroup.predicate.items(), &mut members);
            for &(change, _) in actions {
                bits::unite(&mut needed[change as usize], &members);
            }
        }
        if self.options.ranges {
            // Members of a range hold different levels, so a change may not apply to all of them.
            let feasibility = &self.feasibility;
            needed
                .par_iter_mut()
                .zip(&pairs.changes)
                .for_each(|(needed, change)| {
                    let positions: Vec<usize> = bits::iter(needed).collect();
                    for position in positions {
                        let profile = layout.profile(position);
                        let level = |feature| self.population.level(feature, profile);
                        if !feasibility.applies(change.assignments(), level) {
                            bits::remove(needed, position);
                        }
                    }
                });
        }
        needed
    }

    /// Counts flips for every subgroup, and lists those without actions apart.
    fn count(
        &self,
        common: Vec<Mined>,
        pairs: &Pairs,
        flips: &[Words],
        layout: &Layout,
        items: &ItemSets,
    ) -> Result<(Vec<Subgroup>, Vec<WithoutActions>), Error> {
        let total = common.len() as u64;
        self.watch.tell(Phase::Effectiveness, 0, total)?;
        let features = self.population.features();
        let mut order: Vec<(u64, String, usize)> = common
            .par_iter()
            .enumerate()
            .map(|(i, mined)| {
                (
                    mined.members.iter().sum(),
                    mined.predicate.text(features),
                    i,
                )
            })
            .collect();
        order.par_sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let (with, without): (Vec<usize>, Vec<usize>) = order
            .into_iter()
            .map(|(_, _, i)| i)
            .partition(|&i| !pairs.actions[i].is_empty());
        let subgroups = with
            .par_iter()
            .map_init(
                || layout.none(),
                |members, &i| {
                    let mined = &common[i];
                    items.members(mined.predicate.items(), members);
                    let predicate = mined.predicate.clone();
                    let actions = &pairs.actions[i];
                    Subgroup::count(predicate, &mined.members, members, actions, flips, layout)
                },
            )
            .collect();
        let without = without.into_iter().map(|i| WithoutActions {
            predicate: common[i].predicate.clone(),
            members: common[i].members.to_vec(),
        });
        self.watch.tell(Phase::Effectiveness, total, total)?;
        Ok((subgroups, without.collect()))
    }
}
