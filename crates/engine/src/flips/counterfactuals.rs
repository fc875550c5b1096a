//! The counterfactual rows of an audit, and the default way of having a model decide them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::mpsc::sync_channel;

use super::building::{Answers, Builder, Handed};
use super::moves::{Target, Targets};
use super::{Asking, Model, parts};
use crate::actions::Change;
use crate::bits::{self, Layout, Words};
use crate::budget::Budget;
use crate::error::Error;
use crate::population::{Column, Population};
use crate::watch::Phase;

/// Everything that a model needs to tell whom each change helps.
///
/// People are *positions*: places in the sets that [`Model::flips`] gives back. A position's row is
/// a list of value codes, one a column; [`Column::values`] has the values behind them.
#[derive(Debug)]
pub struct Counterfactuals<'a> {
    pub(super) population: &'a Population,
    layout: &'a Layout,
    /// The population's columns, with the values that moves into bins added.
    columns: Cow<'a, [Column]>,
    targets: Vec<(usize, Target)>,
    changes: Vec<Question>,
    /// How many pairs of a change and a position are to be decided.
    pub(super) decisions: usize,
    pub(super) favourable: &'a [bool],
    asking: &'a Asking<'a>,
    pub(super) budget: Budget,
}

/// One change: where it leads, by places in `targets`, and for whom that must be known.
#[derive(Debug)]
struct Question {
    targets: Vec<usize>,
    needed: Words,
}

/// Where the values of one column go under a change.
#[derive(Clone, Copy, Debug)]
pub struct Assigned<'a> {
    /// The column, by its place among [`Counterfactuals::columns`].
    pub column: usize,
    target: &'a Target,
}

impl Assigned<'_> {
    /// The value code that a person with value `code` gets.
    pub fn value(&self, code: u32) -> u32 {
        self.target.value(code)
    }

    /// The value code that everybody gets, if it is one.
    pub(super) fn same(&self) -> Option<u32> {
        match self.target {
            Target::Same(value) => Some(*value),
            Target::ByValue(_) => None,
        }
    }
}

impl<'a> Counterfactuals<'a> {
    /// Prepares questions about changes, each for the positions that need an answer.
    pub(crate) fn new(
        population: &'a Population,
        layout: &'a Layout,
        changes: impl Iterator<Item = (&'a Change, Words)>,
        favourable: &'a [bool],
        asking: &'a Asking<'a>,
        budget: Budget,
    ) -> Self {
        let mut makers: HashMap<usize, Targets<'_>> = HashMap::new();
        let mut known = HashMap::new();
        let mut columns = Cow::Borrowed(population.columns());
        let mut targets = Vec::new();
        let changes: Vec<Question> = changes
            .map(|(change, needed)| {
                let of_change = change.assignments().iter().map(|a| {
                    *known.entry(*a).or_insert_with(|| {
                        let maker = makers
                            .entry(a.feature())
                            .or_insert_with(|| Targets::new(population, a.feature(), favourable));
                        let column = population.column_of(a.feature());
                        targets.push((column, maker.target(a.level, &mut columns)));
                        targets.len() - 1
                    })
                });
                Question {
                    targets: of_change.collect(),
                    needed,
                }
            })
            .collect();
        Self {
            population,
            layout,
            columns,
            targets,
            decisions: changes.iter().map(|c| bits::len(&c.needed)).sum(),
            changes,
            favourable,
            asking,
            budget,
        }
    }

    /// The columns of a row. Moves into bins may have added values to those of the population.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many changes there are.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    /// The positions for which a change must be decided.
    pub fn needed(&self, change: usize) -> impl Iterator<Item = usize> + '_ {
        bits::iter(&self.changes[change].needed)
    }

    /// Where a change leads, column by column.
    pub fn assigned(&self, change: usize) -> impl Iterator<Item = Assigned<'_>> {
        let targets = self.changes[change].targets.iter();
        targets.map(|&target| {
            let (column, target) = &self.targets[target];
            Assigned {
                column: *column,
                target,
            }
        })
    }

    /// The value codes that a position has before any change.
    pub fn row(&self, position: usize) -> &[u32] {
        self.population.row(self.layout.profile(position))
    }

    /// All positions of people, in order.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.layout.positions().map(|(position, _)| position)
    }

    /// One past the greatest position.
    pub fn end(&self) -> usize {
        self.layout.len()
    }

    /// A set of positions without any.
    pub fn nobody(&self) -> Words {
        self.layout.none()
    }

    /// Whether a model's yes (or no) is the favourable outcome.
    pub fn is_favourable(&self, positive: bool) -> bool {
        self.asking.favourable.of(positive)
    }

    /// Reports that so many changes are decided; an error if the audit is to stop.
    pub fn tell(&self, done: usize) -> Result<(), Error> {
        self.asking
            .watch
            .tell(Phase::Flips, done as u64, self.changes.len() as u64)
    }

    /// The positions for which a change must be decided, as a set.
    pub(super) fn needed_words(&self, change: usize) -> &[u64] {
        &self.changes[change].needed
    }

    /// About how many changes are decided once so many decisions are made.
    pub(super) fn changes_done(&self, decided: u64) -> usize {
        let share = decided as f64 / self.decisions.max(1) as f64;
        (share * self.changes.len() as f64) as usize
    }

    /// How many rows make a batch, unless fewer fit.
    pub(super) fn batch_rows(&self) -> usize {
        self.asking.batch_rows
    }

    /// Decides all changes by asking the model for each distinct row that is not known yet, once. Where
    /// there is a second thread, the next rows are built while the model answers.
    pub(super) fn each_row_once<M: Model + ?Sized>(&self, model: &M) -> Result<Vec<Words>, Error> {
        self.each_row_once_in_parts(model, parts::ROWS)
    }

    /// The same, by parts in which about so many rows are met.
    pub(super) fn each_row_once_in_parts<M: Model + ?Sized>(
        &self,
        model: &M,
        part_rows: usize,
    ) -> Result<Vec<Words>, Error> {
        self.tell(0)?;
        let (batches, dictionaries) = (model.concurrency().max(1), model.dictionaries());
        let builder = Builder::new(self, batches, dictionaries, part_rows);
        let mut answers = Answers::new(self);
        let mut take = |handed: Handed| {
            for favourable in self.asking.predict_batches(model, &handed.batches)? {
                answers.add(&favourable);
            }
            answers.decide(&handed.waiting);
            self.tell(self.changes_done(handed.decided))
        };
        if rayon::current_num_threads() < 2 {
            builder.build(&mut take)?;
        } else {
            ahead(builder, &mut take)?;
        }
        self.tell(self.changes.len())?;
        Ok(answers.flips)
    }
}

/// Builds on a thread of its own what this one takes, one hand-over ahead.
fn ahead(
    builder: Builder<'_>,
    take: &mut dyn FnMut(Handed) -> Result<(), Error>,
) -> Result<(), Error> {
    let (send, receive) = sync_channel(0);
    std::thread::scope(|scope| {
        let building = scope.spawn(move || {
            // Nobody takes any more after a failure, which is then told instead of this.
            let mut hand = |handed| {
                send.send(handed)
                    .map_err(|_| Error::Cancelled(Phase::Flips))
            };
            builder.build(&mut hand)
        });
        let taken = receive.iter().try_for_each(take);
        drop(receive);
        let built = building.join();
        taken?;
        built.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
