//! Matching subgroups with actions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Assignment, Change, Costs, Feasibility, Validity};
use crate::bits::{self, Layout};
use crate::error::Error;
use crate::population::{Levels, Population};
use crate::subgroups::{ItemSets, Mined, Operator, Predicate};
use crate::watch::{Phase, Watch};

/// What is needed to match subgroups with actions.
pub(crate) struct Matching<'a> {
    pub(crate) population: &'a Population,
    pub(crate) layout: &'a Layout,
    pub(crate) items: &'a ItemSets,
    pub(crate) costs: &'a Costs<'a>,
    pub(crate) feasibility: &'a Feasibility,
    pub(crate) validity: Validity,
    pub(crate) memory: Memory,
}

/// How much memory there is, and what takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Bytes that may be taken.
    pub(crate) limit: u64,
    /// Bytes that a pair of subgroup and action takes.
    pub(crate) pair: u64,
    /// Bytes that a distinct change takes.
    pub(crate) change: u64,
}

impl Memory {
    /// Bytes that so many pairs with so many distinct changes take.
    pub(crate) fn needed(self, pairs: usize, changes: usize) -> u64 {
        pairs as u64 * self.pair + changes as u64 * self.change
    }

    /// Pairs that may be kept, whatever their changes.
    fn max_pairs(self) -> usize {
        usize::try_from(self.limit / self.pair).unwrap_or(usize::MAX)
    }
}

/// Valid actions of one subgroup, cheapest first.
pub(crate) type Valid = Vec<(Change, f64)>;

/// The outcome of matching.
pub(crate) enum Matched {
    /// Valid actions by subgroup.
    Pairs(Vec<Valid>),
    /// Too many pairs: how many had been found before stopping.
    TooMany(usize),
}

/// Action itemsets by the features they assign: one level for each feature of the entry.
struct Index {
    by_features: HashMap<Vec<u32>, Vec<Vec<Assignment>>>,
}

impl Index {
    fn new(itemsets: &[Mined]) -> Self {
        let mut by_features: HashMap<Vec<u32>, Vec<Vec<Assignment>>> = HashMap::new();
        for mined in itemsets {
            let assignments = mined.predicate.items().iter().map(|item| Assignment {
                feature: item.feature,
                level: item.level,
            });
            by_features
                .entry(mined.predicate.features())
                .or_default()
                .push(assignments.collect());
        }
        Self { by_features }
    }

    fn over(&self, features: &[u32]) -> &[Vec<Assignment>] {
        self.by_features.get(features).map_or(&[], Vec::as_slice)
    }
}

/// Finds the valid actions of every subgroup.
pub(crate) fn match_actions(
    matching: &Matching<'_>,
    subgroups: &[Mined],
    itemsets: &[Mined],
    watch: Watch<'_>,
) -> Result<Matched, Error> {
    let index = Index::new(itemsets);
    let max_pairs = matching.memory.max_pairs();
    let (pairs, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let total = subgroups.len() as u64;
    watch.tell(Phase::Validity, 0, total)?;
    let valid: Vec<Option<Valid>> = subgroups
        .par_iter()
        .map(|subgroup| {
            if pairs.load(Ordering::Relaxed) > max_pairs {
                return Ok(None);
            }
            let mut valid = Vec::new();
            matching.visit(&index, &subgroup.predicate, |change, cost| {
                valid.push((Change(change.into()), cost));
            })?;
            // Costs are finite, so this is a total order.
            valid.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
            pairs.fetch_add(valid.len(), Ordering::Relaxed);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done % 1024 == 0 {
                watch.tell(Phase::Validity, done as u64, total)?;
            }
            Ok(Some(valid))
        })
        .collect::<Result<_, Error>>()?;
    let pairs = pairs.into_inner();
    match valid.into_iter().collect::<Option<Vec<Valid>>>() {
        Some(valid) if pairs <= max_pairs => {
            watch.tell(Phase::Validity, total, total)?;
            Ok(Matched::Pairs(valid))
        }
        _ => Ok(Matched::TooMany(pairs)),
    }
}

impl Matching<'_> {
    /// Calls `found` with each valid action of a predicate and its cost.
    fn visit(
        &self,
        index: &Index,
        predicate: &Predicate,
        mut found: impl FnMut(&[Assignment], f64),
    ) -> Result<(), Error> {
        let features = predicate.features();
        let fixed = fixed_levels(predicate, self.population.features());
        let held = self.held_levels(predicate, &features, &fixed);
        let mut judge = |change: &[Assignment]| -> Result<(), Error> {
            if let Some(cost) = self.cost_if_valid(change, &features, &held)? {
                found(change, cost);
            }
            Ok(())
        };
        let differs = |a: &Assignment| {
            let place = features.binary_search(&a.feature);
            place.is_ok_and(|place| fixed[place] != Some(a.level))
        };
        match self.validity {
            Validity::Joint => {
                let mut change = Vec::with_capacity(features.len());
                for candidate in index.over(&features) {
                    change.clear();
                    // Both lists name exactly the predicate's features, in order.
                    let assignments = candidate.iter().zip(&fixed);
                    let differing = assignments.filter(|(a, fixed)| **fixed != Some(a.level));
                    change.extend(differing.map(|(a, _)| *a));
                    if !change.is_empty() {
                        judge(&change)?;
                    }
                }
            }
            Validity::Subset => {
                for subset in subsets(&features) {
                    for candidate in index.over(&subset) {
                        if candidate.iter().all(differs) {
                            judge(candidate)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The distinct combinations of levels that members hold in the predicate's features. Without
    /// ranges there is just one.
    fn held_levels(
        &self,
        predicate: &Predicate,
        features: &[u32],
        fixed: &[Option<u32>],
    ) -> Vec<Vec<u32>> {
        if let Some(levels) = fixed.iter().copied().collect::<Option<Vec<u32>>>() {
            return vec![levels];
        }
        let mut members = self.layout.none();
        self.items.members(predicate.items(), &mut members);
        let mut held: Vec<Vec<u32>> = bits::iter(&members)
            .map(|position| {
                let profile = self.layout.profile(position);
                let level = |&f: &u32| self.population.level(f as usize, profile);
                features.iter().map(level).collect()
            })
            .collect();
        held.sort_unstable();
        held.dedup();
        held
    }

    /// The cost of a change for the members who hold these levels, if it applies to one of them.
    fn cost_if_valid(
        &self,
        change: &[Assignment],
        features: &[u32],
        held: &[Vec<u32>],
    ) -> Result<Option<f64>, Error> {
        let feasibility = self.feasibility;
        let level = |levels: &[u32], feature: usize| {
            // A change only assigns features of its predicate.
            let place = features.binary_search(&(feature as u32));
            levels[place.expect("a feature of the predicate")]
        };
        if !held
            .iter()
            .any(|levels| feasibility.applies(change, |f| level(levels, f)))
        {
            return Ok(None);
        }
        let mut greatest: f64 = 0.0;
        for levels in held {
            let cost = self.costs.cost(
                change,
                |feature| level(levels, feature),
                |feature, from, to| feasibility.allows(feature, from, to),
            )?;
            greatest = greatest.max(cost.unwrap_or(0.0));
        }
        Ok(Some(greatest))
    }
}

/// For each feature of a predicate the one level that its items admit, if it is only one.
fn fixed_levels(predicate: &Predicate, features: &[Levels]) -> Vec<Option<u32>> {
    let items = predicate.items();
    items
        .chunk_by(|a, b| a.feature == b.feature)
        .map(|bounds| {
            let feature = &features[bounds[0].feature as usize];
            let mut low = 0;
            let mut high = feature.ranks() as u32 - u32::from(feature.ranks() > 0);
            for item in bounds {
                match item.operator {
                    Operator::Is => (low, high) = (item.level, item.level),
                    Operator::AtLeast => low = low.max(item.level),
                    Operator::AtMost => high = high.min(item.level),
                }
            }
            (low == high).then_some(low)
        })
        .collect()
}

/// All non-empty subsets, each ascending.
fn subsets(features: &[u32]) -> impl Iterator<Item = Vec<u32>> + '_ {
    (1u64..1 << features.len()).map(|mask| {
        let chosen = features.iter().enumerate();
        chosen
            .filter(|&(i, _)| mask >> i & 1 == 1)
            .map(|(_, &feature)| feature)
            .collect()
    })
}
