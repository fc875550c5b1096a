//! Sending rows to a model, in batches, and counting them.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use rayon::prelude::*;

use super::{Favourable, Model};
use crate::error::Error;
use crate::population::{BatchMaker, Population};
use crate::watch::{Phase, Watch};

/// How the model is asked: which class is favourable, in how large batches, and how often it was.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) favourable: &'a Favourable,
    pub(crate) batch_rows: usize,
    pub(crate) watch: Watch<'a>,
    asked: AtomicU64,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(favourable: &'a Favourable, batch_rows: usize, watch: Watch<'a>) -> Self {
        Self {
            favourable,
            batch_rows: batch_rows.max(1),
            watch,
            asked: AtomicU64::new(0),
        }
    }

    /// How many rows the model was sent.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// How many rows the model takes at a time.
    pub(crate) fn rows_at_a_time<M: Model + ?Sized>(&self, model: &M) -> usize {
        self.batch_rows.saturating_mul(model.concurrency().max(1))
    }

    /// Whether each row, given as value codes, is predicted favourable.
    pub(crate) fn predict<M: Model + ?Sized>(
        &self,
        model: &M,
        maker: &BatchMaker,
        rows: &[&[u32]],
    ) -> Result<Vec<bool>, Error> {
        let batches = rows.chunks(self.batch_rows);
        let batches: Vec<RecordBatch> = batches
            .map(|rows| maker.batch(rows.iter().copied()))
            .collect();
        Ok(self.predict_batches(model, &batches)?.concat())
    }

    /// Whether each row of each batch is predicted favourable.
    pub(super) fn predict_batches<M: Model + ?Sized>(
        &self,
        model: &M,
        batches: &[RecordBatch],
    ) -> Result<Vec<Vec<bool>>, Error> {
        let predict = |batch: &RecordBatch| -> Result<Vec<bool>, Error> {
            let rows = batch.num_rows();
            self.asked.fetch_add(rows as u64, Ordering::Relaxed);
            Ok(self.favourable.read(&model.predict(batch)?, rows)?)
        };
        if model.concurrency() > 1 {
            batches.par_iter().map(predict).collect()
        } else {
            batches.iter().map(predict).collect()
        }
    }

    /// Whether each profile of the population is predicted favourable.
    pub(crate) fn population<M: Model + ?Sized>(
        &self,
        model: &M,
        population: &Population,
    ) -> Result<Vec<bool>, Error> {
        let maker = BatchMaker::new(population.schema(), population.columns())
            .with_dictionaries(model.dictionaries());
        let rows: Vec<&[u32]> = (0..population.profiles())
            .map(|profile| population.row(profile))
            .collect();
        let total = rows.len() as u64;
        let mut favourable = Vec::with_capacity(rows.len());
        self.watch.tell(Phase::Predictions, 0, total)?;
        for part in rows.chunks(self.rows_at_a_time(model)) {
            favourable.extend(self.predict(model, &maker, part)?);
            self.watch
                .tell(Phase::Predictions, favourable.len() as u64, total)?;
        }
        Ok(favourable)
    }
}
