//! The search for subgroups and their actions: at which support, and how long predicates may be.

use hashbrown::HashMap;

use super::Options;
use super::run::Run;
use crate::actions::{Change, Costs, Matched, Matching, Memory, match_actions};
use crate::bits::Layout;
use crate::budget::Budget;
use crate::decimal::Support;
use crate::distribution::Count;
use crate::error::Error;
use crate::subgroups::{self, ItemSets, Limits, Mined, equality_items};
use crate::watch::Phase;

/// Bytes that a pair of subgroup and action takes beside the counts of more than two groups.
const PAIR_BYTES: u64 = 160;

/// What pairs of subgroup and action take.
pub(super) fn memory_of_pairs(layout: &Layout, budget: Budget) -> Memory {
    let more_groups = layout.groups().saturating_sub(2);
    Memory {
        limit: budget.left(),
        // For each group, whom the action flips and whom its cost reaches.
        pair: PAIR_BYTES + 2 * (more_groups * size_of::<Count>()) as u64,
        // Whom the change is needed for, and whom it flips: a set each.
        change: 2 * layout.words() as u64 * 8,
    }
}

/// The supports that are tried, where one is to be chosen or advised.
const LADDER: [f64; 15] = [
    0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5,
];

/// The lengths that are tried, where no support does for predicates of any length.
const LENGTHS: [usize; 3] = [3, 2, 1];

/// With more features than these, a higher support is not tried before shorter predicates: it would leave
/// long ones of the few levels that nearly everybody has.
const MANY_FEATURES: usize = 40;

/// Subgroups with their valid actions, actions by place among the changes.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) changes: Vec<Change>,
    pub(super) actions: Vec<Vec<(u32, f64)>>,
}

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.actions.iter().map(Vec::len).sum()
    }
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) common: Vec<Mined>,
    pub(super) action_itemsets: usize,
    pub(super) pairs: Pairs,
    /// What subgroups and actions leave to the stages after the search.
    pub(super) budget: Budget,
}

/// Where subgroups and actions are looked for.
pub(super) struct Search<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) layout: &'a Layout,
    pub(super) items: &'a ItemSets,
    pub(super) unaffected: &'a Layout,
    pub(super) costs: &'a Costs<'a>,
}

impl Search<'_> {
    /// What is found, and the options with what was chosen in them.
    pub(super) fn found(&self) -> Result<(Options, Found), Error> {
        let options = self.run.options;
        if let Some(most) = options.choose_support
            && let Some(chosen) = self.choose(most.min(options.max_subgroups))?
        {
            return Ok(chosen);
        }
        match self.at(options, options.max_subgroups) {
            Ok(found) => Ok((options.clone(), found)),
            Err(error) => Err(self.advised(error)?),
        }
    }

    /// The least support at which no more than so many subgroups are found, and not none; of the
    /// longest predicates for which there is one.
    fn choose(&self, most: usize) -> Result<Option<(Options, Found)>, Error> {
        let options = self.run.options;
        let many = self.run.population.features().len() > MANY_FEATURES;
        let mut lengths = vec![options.clone()];
        if options.max_length.is_none() {
            lengths.extend(LENGTHS.map(|items| options.clone().max_length(items)));
        }
        let mut supports = vec![options.support];
        supports.extend(above(options.support));
        for options in &lengths {
            let only_first = many && options.max_length.is_none();
            let steps = if only_first { 1 } else { supports.len() };
            for &support in &supports[..steps] {
                let options = options.clone().support(support);
                match self.fits(&options, most)? {
                    None => {}
                    // A higher support finds nobody either, but shorter predicates may do at a lower one.
                    Some(found) if found.common.is_empty() && support != supports[0] => break,
                    Some(found) => return Ok(Some((options, found))),
                }
            }
        }
        Ok(None)
    }

    /// The same error, with the least higher support at which something is found and fits.
    fn advised(&self, mut error: Error) -> Result<Error, Error> {
        if let Error::TooManyItemsets { fits, .. }
        | Error::ItemsetsTooLarge { fits, .. }
        | Error::TooMuchMemory { fits, .. } = &mut error
        {
            let options = self.run.options;
            for support in above(options.support) {
                let tried = options.clone().support(support);
                if let Some(found) = self.fits(&tried, options.max_subgroups)? {
                    *fits = (!found.common.is_empty()).then(|| support.get().to_f64());
                    break;
                }
            }
        }
        Ok(error)
    }

    /// What is found under these options; none if it is too much.
    fn fits(&self, options: &Options, most: usize) -> Result<Option<Found>, Error> {
        match self.at(options, most) {
            Ok(found) => Ok(Some(found)),
            Err(
                Error::TooManyItemsets { .. }
                | Error::ItemsetsTooLarge { .. }
                | Error::TooMuchMemory { .. },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is found under these options, of no more than so many subgroups.
    fn at(&self, options: &Options, most: usize) -> Result<Found, Error> {
        // One limit for all: what subgroups take is not there for action itemsets, nor for pairs.
        let common = self.common_subgroups(options, most)?;
        let budget = self.run.budget.without(Mined::bytes_of(&common));
        let itemsets = self.action_itemsets(options, budget)?;
        let left = budget.without(Mined::bytes_of(&itemsets));
        let (pairs, bytes) = self.pairs(options, &common, &itemsets, left)?;
        Ok(Found {
            pairs,
            action_itemsets: itemsets.len(),
            common,
            budget: budget.without(bytes),
        })
    }

    /// The predicates that are frequent in every group.
    fn common_subgroups(&self, options: &Options, most: usize) -> Result<Vec<Mined>, Error> {
        let limits = Limits {
            what: "subgroups",
            max_itemsets: most,
            min_members: options.min_members,
            max_length: options.max_length.unwrap_or(usize::MAX),
            budget: self.run.budget,
        };
        let watch = (Phase::Subgroups, self.run.watch);
        let (layout, items) = (self.layout, self.items);
        let common = subgroups::joint(layout, items, options.support, limits, watch)?;
        if !options.ranges {
            return Ok(common);
        }
        let features = self.run.population.features();
        Ok(subgroups::one_for_each_set_of_members(
            common, layout, items, features,
        ))
    }

    /// The itemsets that are frequent among the unaffected. An action has no more items than its
    /// predicate.
    fn action_itemsets(&self, options: &Options, budget: Budget) -> Result<Vec<Mined>, Error> {
        self.run.watch.tell(Phase::Actions, 0, 0)?;
        let items = equality_items(self.run.population, self.unaffected);
        let limits = Limits {
            what: "action itemsets",
            max_itemsets: options.max_subgroups,
            min_members: 1,
            max_length: options.max_length.unwrap_or(usize::MAX),
            budget,
        };
        let watch = (Phase::Actions, self.run.watch);
        subgroups::joint(self.unaffected, &items, options.support, limits, watch)
    }

    /// Matches subgroups with actions, and numbers the distinct changes; with the bytes that they take.
    fn pairs(
        &self,
        options: &Options,
        common: &[Mined],
        itemsets: &[Mined],
        budget: Budget,
    ) -> Result<(Pairs, u64), Error> {
        let matching = Matching {
            population: self.run.population,
            layout: self.layout,
            items: self.items,
            costs: self.costs,
            feasibility: &self.run.feasibility,
            validity: options.validity,
            memory: memory_of_pairs(self.layout, budget),
        };
        let too_much = |pairs: usize, changes: usize| Error::TooMuchMemory {
            support: options.support.to_string(),
            subgroups: common.len(),
            itemsets: itemsets.len(),
            pairs,
            needed_mib: budget.needed_mib(matching.memory.needed(pairs, changes)),
            limit_mib: budget.limit_mib(),
            fits: None,
        };
        let valid = match match_actions(&matching, common, itemsets, self.run.watch)? {
            Matched::Pairs(valid) => valid,
            Matched::TooMany(pairs) => return Err(too_much(pairs, 0)),
        };
        let mut numbers: HashMap<&Change, u32> = HashMap::new();
        let mut changes = Vec::new();
        let mut number = |change| {
            *numbers.entry(change).or_insert_with(|| {
                changes.push(Change::clone(change));
                changes.len() as u32 - 1
            })
        };
        let actions: Vec<Vec<(u32, f64)>> = valid
            .iter()
            .map(|valid| {
                valid
                    .iter()
                    .map(|(change, cost)| (number(change), *cost))
                    .collect()
            })
            .collect();
        let pairs = Pairs { changes, actions };
        let needed = matching.memory.needed(pairs.len(), pairs.changes.len());
        if needed > budget.left() {
            return Err(too_much(pairs.len(), pairs.changes.len()));
        }
        Ok((pairs, needed))
    }
}

/// The steps of the ladder above a support.
fn above(support: Support) -> impl Iterator<Item = Support> {
    let higher = move |step: &f64| *step > support.get().to_f64();
    let steps = LADDER.into_iter().filter(higher);
    steps.filter_map(|step| Support::try_from(step).ok())
}
