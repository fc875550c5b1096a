//! An audit halfway: what there is to be asked and counted, before it is.

use std::time::Instant;

use super::run::{Predicted, Run};
use super::search::{Found, Search};
use super::{Audit, Individuals, Options, Settings};
use crate::actions::Costs;
use crate::bits::{self, Words};
use crate::budget::Budget;
use crate::distribution::Subgroup;
use crate::error::Error;
use crate::flips::{Asking, Counterfactuals, Model};
use crate::population::Population;
use crate::subgroups::affected_items;
use crate::watch::{Phase, Watch};

/// Changes, and subgroups, that are tried to tell how long all of them will take.
const TRIED: usize = 64;

/// An audit of which the search is done: its subgroups and actions are known, and whom they help is not.
#[derive(Debug)]
pub struct Searched<'a> {
    population: &'a Population,
    /// As they were given, with what was chosen in them.
    options: Options,
    watch: Watch<'a>,
    predicted: Predicted<'a>,
    found: Found,
    /// For each change, whom it has to be known for.
    needed: Vec<Words>,
    /// What it took to ask the model about a row.
    seconds_a_row: f64,
}

/// How long the rest of an audit will take, about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds {
    /// Until the model has said whom each action helps.
    pub flips: f64,
    /// Until that is counted for each subgroup.
    pub counting: f64,
}

/// Does the first half of an audit: asks the model about everybody, and finds subgroups and actions.
pub fn search<'a, M: Model + ?Sized>(
    population: &'a Population,
    model: &M,
    options: &'a Options,
    watch: Watch<'a>,
) -> Result<Searched<'a>, Error> {
    let run = Run::new(population, options, watch)?;
    options.work(|| run.search(model))?
}

impl<'a> Run<'a> {
    fn search<M: Model + ?Sized>(&self, model: &M) -> Result<Searched<'a>, Error> {
        let costs = Costs::new(self.population.features())?;
        let start = Instant::now();
        let (asking, favourable) = self.ask(model)?;
        let seconds_a_row = start.elapsed().as_secs_f64() / asking.asked().max(1) as f64;
        let affected = self.affected(&favourable)?;
        let unaffected = self.unaffected(&favourable);

        self.watch.tell(Phase::Subgroups, 0, 0)?;
        let items = affected_items(self.population, &affected.layout, self.options.ranges);
        let search = Search {
            run: self,
            layout: &affected.layout,
            items: &items,
            unaffected: &unaffected,
            costs: &costs,
        };
        let (options, found) = search.found()?;
        let needed = self.needed(&found, &affected.layout, &items);
        Ok(Searched {
            population: self.population,
            options,
            watch: self.watch,
            predicted: Predicted {
                asking,
                favourable,
                affected,
                unaffected,
                items,
            },
            found,
            needed,
            seconds_a_row,
        })
    }
}

impl Searched<'_> {
    /// How the audit is made, with what was chosen.
    pub fn settings(&self) -> Settings {
        Settings::of(&self.options)
    }

    /// The subgroups that are common to all groups.
    pub fn subgroups(&self) -> usize {
        self.found.common.len()
    }

    /// The people who are audited.
    pub fn people(&self) -> u64 {
        self.population.summary().people
    }

    /// The pairs of a subgroup and a valid action.
    pub fn pairs(&self) -> usize {
        self.found.pairs.len()
    }

    /// The groups that are compared.
    pub fn groups(&self) -> usize {
        self.predicted.affected.layout.groups()
    }

    /// What the search leaves of the memory that the audit may take.
    pub fn budget(&self) -> Budget {
        self.found.budget
    }

    /// The letters of all predicates, and those of predicate and change of all pairs: how long what is written
    /// of them will be.
    pub fn letters(&self) -> (u64, u64) {
        let features = self.population.features();
        let changes = self.found.pairs.changes.iter();
        let changes: Vec<u64> = changes.map(|c| c.text(features).len() as u64).collect();
        let pairs = self.found.common.iter().zip(&self.found.pairs.actions);
        pairs.fold((0, 0), |(predicates, all), (mined, actions)| {
            let predicate = mined.predicate.text(features).len() as u64;
            let of_pair = |(change, _): &(u32, f64)| predicate + changes[*change as usize];
            let of_pairs: u64 = actions.iter().map(of_pair).sum();
            (predicates + predicate, all + of_pairs)
        })
    }

    /// How many threads there are to work with.
    pub fn threads(&self) -> usize {
        let threads = self.options.threads;
        threads.unwrap_or_else(rayon::current_num_threads)
    }

    /// Asks about a few changes and counts a few subgroups, to tell how long all of them will take.
    pub fn seconds_left<M: Model + ?Sized>(&self, model: &M) -> Result<Seconds, Error> {
        self.options.work(|| {
            Ok(Seconds {
                flips: self.flips_seconds(model)?,
                counting: self.counting_seconds(),
            })
        })?
    }

    fn flips_seconds<M: Model + ?Sized>(&self, model: &M) -> Result<f64, Error> {
        let decisions = |sets: &mut dyn Iterator<Item = &Words>| -> f64 {
            sets.map(|set| bits::len(set) as f64).sum()
        };
        let all = decisions(&mut self.needed.iter());
        if model.asks_for_rows() {
            return Ok(self.seconds_a_row * all);
        }
        let step = self.needed.len().div_ceil(TRIED).max(1);
        let tried = || self.needed.iter().step_by(step);
        let asking = &self.predicted.asking;
        let asking = Asking::new(asking.favourable, asking.batch_rows, Watch::nobody());
        let ask = Counterfactuals::new(
            self.population,
            &self.predicted.affected.layout,
            (self.found.pairs.changes.iter().step_by(step)).zip(tried().cloned()),
            &self.predicted.favourable,
            &asking,
            self.found.budget,
        );
        let start = Instant::now();
        model.flips(&ask)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(seconds * all / decisions(&mut tried()).max(1.0))
    }

    fn counting_seconds(&self) -> f64 {
        let (common, actions) = (&self.found.common, &self.found.pairs.actions);
        let (layout, items) = (&self.predicted.affected.layout, &self.predicted.items);
        let step = common.len().div_ceil(TRIED).max(1);
        let mut members = layout.none();
        let mut pairs = 0;
        let start = Instant::now();
        for i in (0..common.len()).step_by(step) {
            let mined = &common[i];
            items.members(mined.predicate.items(), &mut members);
            // Whom a change has to be known for stands in for whom it helps: counting takes as long.
            let predicate = mined.predicate.clone();
            let counted = Subgroup::count(
                predicate,
                &mined.members,
                &members,
                &actions[i],
                &self.needed,
                layout,
            );
            pairs += counted.actions.len();
        }
        let seconds = start.elapsed().as_secs_f64() / pairs.max(1) as f64;
        seconds * self.pairs() as f64 / self.threads() as f64
    }

    /// Does the second half: asks the model whom each action helps, and counts them.
    pub fn audit<M: Model + ?Sized>(self, model: &M) -> Result<(Audit, Individuals), Error> {
        let run = Run::new(self.population, &self.options, self.watch)?;
        let (predicted, found, needed) = (self.predicted, self.found, self.needed);
        (self.options).work(|| run.count_flips(model, predicted, found, needed))?
    }
}
