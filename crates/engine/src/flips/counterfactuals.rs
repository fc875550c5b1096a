//! The counterfactual rows of an audit, and the default way of having a model decide them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::moves::{Target, Targets};
use super::{Asking, Model};
use crate::actions::Change;
use crate::bits::{self, Layout, Words};
use crate::error::Error;
use crate::population::{BatchMaker, Column, Population};
use crate::rows::Rows;
use crate::watch::Phase;

/// Everything that a model needs to tell whom each change helps.
///
/// People are *positions*: places in the sets that [`Model::flips`] gives back. A position's row is
/// a list of value codes, one a column; [`Column::values`] has the values behind them.
#[derive(Debug)]
pub struct Counterfactuals<'a> {
    population: &'a Population,
    layout: &'a Layout,
    /// The population's columns, with the values that moves into bins added.
    columns: Cow<'a, [Column]>,
    targets: Vec<(usize, Target)>,
    changes: Vec<Question>,
    favourable: &'a [bool],
    asking: &'a Asking<'a>,
    max_memory: u64,
}

/// Bytes that the look-up of a row takes beyond its codes.
const ROW_BYTES: u64 = 16;

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
}

impl<'a> Counterfactuals<'a> {
    /// Prepares questions about changes, each for the positions that need an answer.
    pub(crate) fn new(
        population: &'a Population,
        layout: &'a Layout,
        changes: impl Iterator<Item = (&'a Change, Words)>,
        favourable: &'a [bool],
        asking: &'a Asking<'a>,
        max_memory: u64,
    ) -> Self {
        let mut makers: HashMap<usize, Targets<'_>> = HashMap::new();
        let mut known = HashMap::new();
        let mut columns = Cow::Borrowed(population.columns());
        let mut targets = Vec::new();
        let changes = changes
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
            changes,
            favourable,
            asking,
            max_memory,
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
        self.changes[change].targets.iter().map(|&target| Assigned {
            column: self.targets[target].0,
            target: &self.targets[target].1,
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

    /// Decides all changes by asking the model for each distinct row that is not known yet, once.
    pub(super) fn each_row_once<M: Model + ?Sized>(&self, model: &M) -> Result<Vec<Words>, Error> {
        let mut asker = Asker {
            maker: BatchMaker::new(self.population.schema(), &self.columns),
            // The population's own rows are known: nobody is asked for them again.
            rows: self.population.rows().clone(),
            known: self.favourable.iter().map(|&f| Some(f)).collect(),
            unknown: Vec::new(),
            waiting: Vec::new(),
            flips: vec![self.layout.none(); self.changes.len()],
        };
        let at_a_time = self.asking.rows_at_a_time(model);
        let mut row = vec![0; self.columns.len()];
        self.tell(0)?;
        for change in 0..self.changes.len() {
            let assigned: Vec<Assigned<'_>> = self.assigned(change).collect();
            for position in self.needed(change) {
                row.copy_from_slice(self.row(position));
                for assigned in &assigned {
                    row[assigned.column] = assigned.value(row[assigned.column]);
                }
                asker.look_up(&row, change, position);
                if asker.unknown.len() == at_a_time {
                    asker.ask(self.asking, model)?;
                    self.tell(change)?;
                    self.check_memory(asker.rows.len(), change)?;
                }
            }
        }
        asker.ask(self.asking, model)?;
        self.tell(self.changes.len())?;
        Ok(asker.flips)
    }
}

impl Counterfactuals<'_> {
    fn check_memory(&self, rows: usize, change: usize) -> Result<(), Error> {
        let row_bytes = self.columns.len() as u64 * 4 + ROW_BYTES;
        if rows as u64 * row_bytes <= self.max_memory {
            return Ok(());
        }
        Err(Error::TooManyRows {
            rows,
            limit_mib: self.max_memory >> 20,
            changes_left: self.changes.len() - change,
            changes: self.changes.len(),
        })
    }
}

/// What is known of rows, and what waits to be asked.
struct Asker {
    maker: BatchMaker,
    rows: Rows,
    /// By row: the prediction, once there is one.
    known: Vec<Option<bool>>,
    /// Rows to be asked.
    unknown: Vec<usize>,
    /// (row, change, position) that wait for those.
    waiting: Vec<(usize, usize, usize)>,
    flips: Vec<Words>,
}

impl Asker {
    fn look_up(&mut self, row: &[u32], change: usize, position: usize) {
        let (row, new) = self.rows.insert(row);
        if new {
            self.known.push(None);
            self.unknown.push(row);
        }
        match self.known[row] {
            Some(true) => bits::insert(&mut self.flips[change], position),
            Some(false) => {}
            None => self.waiting.push((row, change, position)),
        }
    }

    fn ask<M: Model + ?Sized>(&mut self, asking: &Asking<'_>, model: &M) -> Result<(), Error> {
        let rows: Vec<&[u32]> = self.unknown.iter().map(|&row| self.rows.row(row)).collect();
        let favourable = asking.predict(model, &self.maker, &rows)?;
        for (row, favourable) in self.unknown.drain(..).zip(favourable) {
            self.known[row] = Some(favourable);
        }
        for (row, change, position) in self.waiting.drain(..) {
            if self.known[row] == Some(true) {
                bits::insert(&mut self.flips[change], position);
            }
        }
        Ok(())
    }
}
