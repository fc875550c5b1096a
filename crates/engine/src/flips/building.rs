//! Building the rows that a model is asked about: each distinct one once, batch by batch.
//!
//! Nothing here waits for an answer. Whoever has the model answered takes what is [`Handed`] over in turn, and
//! finds in it who waits for which row; so the next batch can be built while the model answers this one.

use arrow_array::RecordBatch;

use super::packing::{Packing, Place};
use super::parts::{Part, each_part};
use super::{Assigned, Counterfactuals};
use crate::bits::{self, Words};
use crate::budget::Budget;
use crate::error::Error;
use crate::population::{BatchMaker, Dictionaries};
use crate::rows::Rows;

/// Bytes that a row takes in the look-up: for each of its words, and beyond them. While a vector grows, it is
/// there twice, once at double its length.
const WORD_BYTES: u64 = 12;
const ROW_BYTES: u64 = 24;

/// Bytes that a row takes while it is asked: for each of its values, and beyond them.
const ASKED_VALUE_BYTES: u64 = 32;
const ASKED_BYTES: u64 = 64;

/// So many hand-overs are there at a time: one is built while another is answered.
const HAND_OVERS: u64 = 2;

/// So many who wait for rows that were handed over before are handed over without a batch.
const WAITING: usize = 1 << 20;

/// Rows for a model to answer, and who waits for answers.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// The rows, in batches. They are numbered from one batch to the next, after the population's profiles.
    pub(super) batches: Vec<RecordBatch>,
    /// Who waits for one of these rows or of those before.
    pub(super) waiting: Vec<Waiting>,
    /// How many decisions have been looked at so far.
    pub(super) decided: u64,
}

/// Somebody who is flipped by a change if a row is predicted favourable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) row: usize,
    pub(super) change: u32,
    pub(super) position: u32,
}

/// Builds rows.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    ask: &'a Counterfactuals<'a>,
    maker: BatchMaker,
    packing: Packing,
    /// By position: the packed row before any change.
    own: Vec<u32>,
    /// How many batches are handed over together.
    batches: usize,
    /// How many rows make a batch: as many as are asked at a time, or as fit.
    batch_rows: usize,
    /// The codes of the next batch, column by column.
    codes: Vec<Vec<u32>>,
    /// How many rows have a number.
    rows: usize,
    /// How many of them have been handed over.
    handed: usize,
    /// About how many rows are met in a part, unless fewer fit.
    part_rows: usize,
    /// How many may wait before those are handed over who can be.
    may_wait: usize,
    next: Handed,
}

impl<'a> Builder<'a> {
    /// For a model that takes so many batches at a time, and such columns as dictionary arrays, by parts in
    /// which about so many rows are met.
    pub(super) fn new(
        ask: &'a Counterfactuals<'a>,
        batches: usize,
        dictionaries: Dictionaries,
        part_rows: usize,
    ) -> Self {
        let columns = ask.columns();
        let profiles = ask.population.profiles();
        let packing = Packing::new(columns);
        let asked_row = columns.len() as u64 * ASKED_VALUE_BYTES + ASKED_BYTES;
        let fit = for_asking(ask.budget) / (asked_row * HAND_OVERS * batches as u64);
        let fit = usize::try_from(fit).unwrap_or(usize::MAX);
        let words = packing.words();
        let mut own = vec![0; ask.end() * words];
        for position in ask.positions() {
            packing.pack(ask.row(position), &mut own[position * words..][..words]);
        }
        Self {
            ask,
            maker: BatchMaker::new(ask.population.schema(), columns)
                .with_dictionaries(dictionaries),
            packing,
            own,
            batches,
            batch_rows: ask.batch_rows().min(fit.max(1)),
            codes: vec![Vec::new(); columns.len()],
            rows: profiles,
            handed: profiles,
            part_rows,
            may_wait: WAITING,
            next: Handed::default(),
        }
    }

    /// Builds all rows that are not the population's own, and hands them over until that fails.
    pub(super) fn build(
        mut self,
        hand: &mut dyn FnMut(Handed) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let fit = self.for_rows() / self.row_bytes();
        let most = usize::try_from(fit).map_or(self.part_rows, |fit| self.part_rows.min(fit));
        let mut rows = Rows::new(self.packing.words());
        each_part(self.ask, most, &mut |part| {
            rows.clear();
            self.part(part, &mut rows, hand)
        })?;
        self.finish_batch();
        self.hand_over(hand)
    }

    fn row_bytes(&self) -> u64 {
        self.packing.words() as u64 * WORD_BYTES + ROW_BYTES
    }

    /// The memory that the look-up of rows may take.
    fn for_rows(&self) -> u64 {
        self.ask.budget.left() - for_asking(self.ask.budget)
    }

    /// Builds the rows of a part, which are looked up among `rows`: none yet.
    fn part(
        &mut self,
        part: &Part<'_>,
        rows: &mut Rows,
        hand: &mut dyn FnMut(Handed) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ask = self.ask;
        let known = self.known(part, rows);
        let first = self.rows;
        let words = self.packing.words();
        let mut row = vec![0; words];
        let mut asked = ask.nobody();
        for &change in part.changes {
            if !part.asked(change as usize, &mut asked) {
                continue;
            }
            let assigned = self.assigned(change as usize);
            for position in bits::iter(&asked) {
                self.next.decided += 1;
                row.copy_from_slice(&self.own[position * words..][..words]);
                for (place, assigned) in &assigned {
                    let code = assigned.value(place.code(&row));
                    place.put(&mut row, code);
                }
                let (number, is_new) = rows.insert(&row);
                let row_number = match known.get(number) {
                    // The population's own rows are known: nobody is asked for them again.
                    Some(&profile) if !ask.favourable[profile] => continue,
                    Some(&profile) => profile,
                    None => first + number - known.len(),
                };
                self.next.waiting.push(Waiting {
                    row: row_number,
                    change,
                    position: position as u32,
                });
                if is_new {
                    self.add(&row, rows.len(), hand)?;
                } else if self.next.waiting.len() >= self.may_wait {
                    self.let_go(hand)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the rows that are known already, and gives the profiles that they are of.
    fn known(&self, part: &Part<'_>, rows: &mut Rows) -> Vec<usize> {
        let mut packed = vec![0; self.packing.words()];
        let profiles = part.profiles().inspect(|&profile| {
            let row = self.ask.population.row(profile);
            self.packing.pack(row, &mut packed);
            rows.insert(&packed);
        });
        profiles.collect()
    }

    /// Where a change leads, by the place of each column that it assigns.
    fn assigned(&self, change: usize) -> Vec<(Place, Assigned<'a>)> {
        let assigned = self.ask.assigned(change);
        assigned
            .map(|assigned| (self.packing.places()[assigned.column], assigned))
            .collect()
    }

    /// Adds a row to the next batch.
    fn add(
        &mut self,
        row: &[u32],
        kept: usize,
        hand: &mut dyn FnMut(Handed) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (codes, place) in self.codes.iter_mut().zip(self.packing.places()) {
            codes.push(place.code(row));
        }
        self.rows += 1;
        let in_batch = self.rows - self.handed - self.next.batches.len() * self.batch_rows;
        if in_batch < self.batch_rows {
            return Ok(());
        }
        self.finish_batch();
        if self.next.batches.len() == self.batches {
            self.hand_over(hand)?;
            self.check_memory(kept)?;
        }
        Ok(())
    }

    fn finish_batch(&mut self) {
        let in_batch = self.rows - self.handed - self.next.batches.len() * self.batch_rows;
        if in_batch == 0 {
            return;
        }
        let empty = vec![Vec::with_capacity(in_batch); self.codes.len()];
        let codes = std::mem::replace(&mut self.codes, empty);
        self.next.batches.push(self.maker.of_codes(codes, in_batch));
    }

    fn hand_over(
        &mut self,
        hand: &mut dyn FnMut(Handed) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.handed = self.rows;
        self.may_wait = WAITING;
        let decided = self.next.decided;
        let next = Handed {
            decided,
            ..Handed::default()
        };
        hand(std::mem::replace(&mut self.next, next))
    }

    /// Hands over those who wait for rows that were handed over before.
    fn let_go(&mut self, hand: &mut dyn FnMut(Handed) -> Result<(), Error>) -> Result<(), Error> {
        let handed = self.handed;
        let waiting = std::mem::take(&mut self.next.waiting);
        let (ready, waiting): (Vec<_>, Vec<_>) =
            (waiting.into_iter()).partition(|waiting| waiting.row < handed);
        self.next.waiting = waiting;
        self.may_wait = self.next.waiting.len() + WAITING;
        hand(Handed {
            batches: Vec::new(),
            waiting: ready,
            decided: self.next.decided,
        })
    }

    fn check_memory(&self, rows: usize) -> Result<(), Error> {
        if rows as u64 * self.row_bytes() <= self.for_rows() {
            return Ok(());
        }
        let changes = self.ask.changes();
        Err(Error::TooManyRows {
            rows,
            limit_mib: self.ask.budget.limit_mib(),
            changes_left: changes - self.ask.changes_done(self.next.decided),
            changes,
        })
    }
}

/// The part of the memory that rows may take while they are asked.
fn for_asking(budget: Budget) -> u64 {
    budget.left() / 4
}

/// Answers as they come in, and whom they flip.
#[derive(Debug)]
pub(super) struct Answers {
    /// By row: whether it is predicted favourable.
    favourable: Vec<u64>,
    rows: usize,
    pub(super) flips: Vec<Words>,
}

impl Answers {
    /// With what is known of the population, for so many changes.
    pub(super) fn new(ask: &Counterfactuals<'_>) -> Self {
        let mut answers = Self {
            favourable: Vec::new(),
            rows: 0,
            flips: vec![ask.nobody(); ask.changes()],
        };
        answers.add(ask.favourable);
        answers
    }

    /// Takes in answers to the next rows.
    pub(super) fn add(&mut self, favourable: &[bool]) {
        let end = self.rows + favourable.len();
        self.favourable.resize(end.div_ceil(64), 0);
        for (row, &favourable) in (self.rows..).zip(favourable) {
            if favourable {
                bits::insert(&mut self.favourable, row);
            }
        }
        self.rows = end;
    }

    /// Flips those who waited for a row that is favourable.
    pub(super) fn decide(&mut self, waiting: &[Waiting]) {
        for waiting in waiting {
            if bits::contains(&self.favourable, waiting.row) {
                let flips = &mut self.flips[waiting.change as usize];
                bits::insert(flips, waiting.position as usize);
            }
        }
    }
}
