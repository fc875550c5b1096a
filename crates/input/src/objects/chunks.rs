//! How Parquet is read from an object: through a window for each column, so
//! that only the columns that are wanted are fetched, in few requests, and
//! memory does not grow with the object.

use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Buf, Bytes};
use futures_util::future::try_join_all;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::{Object, Unfetched, waited};
use crate::parquet::{Chunks, WhatFailed};

/// The end of a file, where it says what is in it: enough for most.
const TAIL: u64 = 64 << 10;

/// The largest window, and what all windows of a file may take together.
const WINDOW: u64 = 4 << 20;
const ALL_WINDOWS: u64 = 64 << 20;
const LEAST_WINDOW: u64 = 256 << 10;

/// The chunks of a Parquet file that lies in an object. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ObjectChunks(Arc<Inner>);

struct Inner {
    object: Object,
    /// By row group, where the wanted columns lie.
    plan: OnceLock<Vec<Vec<Range<u64>>>>,
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    tail: Option<Window>,
    /// By place of the column and number of the row group.
    open: HashMap<(usize, usize), Window>,
    failure: Option<Unfetched>,
}

#[derive(Clone)]
struct Window {
    start: u64,
    bytes: Bytes,
}

impl Window {
    /// Its bytes from a place on, if that lies in it and so many follow.
    fn from(&self, start: u64, least: u64) -> Option<Bytes> {
        let offset = start.checked_sub(self.start)?;
        let left = (self.bytes.len() as u64).checked_sub(offset)?;
        (left > 0 && left >= least).then(|| self.bytes.slice(offset as usize..))
    }
}

impl ObjectChunks {
    pub(crate) fn new(object: Object) -> Self {
        Self(Arc::new(Inner {
            object,
            plan: OnceLock::new(),
            windows: Mutex::default(),
        }))
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        let windows = self.0.windows.lock();
        windows.unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes from a place on, at least so many.
    fn from(&self, start: u64, least: u64) -> Result<Bytes> {
        let size = self.0.object.size();
        if start.checked_add(least).is_none_or(|end| end > size) {
            return Err(ParquetError::EOF(format!(
                "it should have {least} bytes at {start}, and has {size} in all"
            )));
        }
        let mut windows = self.windows();
        let found = self.looked_up(&mut windows, start, least);
        found.map_err(|why| {
            let error = ParquetError::External(Box::new(why.clone()));
            windows.failure.get_or_insert(why);
            error
        })
    }

    fn looked_up(
        &self,
        windows: &mut Windows,
        start: u64,
        least: u64,
    ) -> std::result::Result<Bytes, Unfetched> {
        let known = windows.tail.iter().find_map(|tail| tail.from(start, least));
        if let Some(known) = known {
            return Ok(known);
        }
        let Some((group, column)) = self.planned(start) else {
            return self.at_the_end(windows, start, least);
        };
        let known = windows.open.get(&(column, group));
        if let Some(known) = known.and_then(|window| window.from(start, least)) {
            return Ok(known);
        }
        // A column that has moved on needs nothing of the row groups before.
        (windows.open).retain(|&(place, of), _| place != column || of >= group);
        let plan = self.plan();
        let ranges = &plan[group];
        let is_new = start == ranges[column].start && !windows.open.contains_key(&(column, group));
        let window = window(ranges.len());
        let wanted: Vec<(usize, Range<u64>)> = match is_new {
            // All columns of a row group are about to be read: they are fetched together.
            true => (ranges.iter().enumerate())
                .filter(|(place, _)| !windows.open.contains_key(&(*place, group)))
                .map(|(place, range)| (place, range.start, range.end))
                .map(|(place, start, end)| (place, start..end.min(start.saturating_add(window))))
                .collect(),
            false => {
                let end = start + window.max(least);
                vec![(
                    column,
                    start..end.min(ranges[column].end).max(start + least),
                )]
            }
        };
        for (place, window) in self.fetched(wanted)? {
            windows.open.insert((place, group), window);
        }
        let found = windows.open.get(&(column, group));
        match found.and_then(|window| window.from(start, least)) {
            Some(bytes) => Ok(bytes),
            // More than a window at once: a page of its own.
            None => self.alone(start, least),
        }
    }

    /// What lies outside the columns: the end of the file, which says what is in it.
    fn at_the_end(
        &self,
        windows: &mut Windows,
        start: u64,
        least: u64,
    ) -> std::result::Result<Bytes, Unfetched> {
        let size = self.0.object.size();
        let range = match windows.tail {
            None => size.saturating_sub(TAIL).min(start)..size,
            Some(_) => start..start.saturating_add(least.max(LEAST_WINDOW)).min(size),
        };
        let bytes = self.alone(range.start, range.end - range.start)?;
        let tail = windows.tail.insert(Window {
            start: range.start,
            bytes,
        });
        tail.from(start, least).ok_or(Unfetched::Broken(1))
    }

    fn alone(&self, start: u64, length: u64) -> std::result::Result<Bytes, Unfetched> {
        waited(self.0.object.fetched(start..start + length))?
    }

    fn fetched(
        &self,
        wanted: Vec<(usize, Range<u64>)>,
    ) -> std::result::Result<Vec<(usize, Window)>, Unfetched> {
        let fetch = |(place, range): (usize, Range<u64>)| async move {
            let start = range.start;
            let bytes = self.0.object.fetched(range).await?;
            Ok((place, Window { start, bytes }))
        };
        waited(try_join_all(wanted.into_iter().map(fetch)))?
    }

    fn plan(&self) -> &[Vec<Range<u64>>] {
        self.0.plan.get().map_or(&[], Vec::as_slice)
    }

    /// The row group and the column that a place lies in.
    fn planned(&self, start: u64) -> Option<(usize, usize)> {
        self.plan().iter().enumerate().find_map(|(group, ranges)| {
            let column = ranges.iter().position(|range| range.contains(&start))?;
            Some((group, column))
        })
    }
}

/// How large the windows of so many columns may be.
fn window(columns: usize) -> u64 {
    (ALL_WINDOWS / columns.max(1) as u64).clamp(LEAST_WINDOW, WINDOW)
}

impl Chunks for ObjectChunks {
    fn plan(&self, groups: Vec<Vec<Range<u64>>>) {
        let size = self.0.object.size();
        // A damaged file may say anything. What it says is looked at when it is read.
        let is_inside = |range: &Range<u64>| range.start < range.end && range.end <= size;
        if groups.iter().flatten().all(is_inside) {
            // Planned once, when the file is opened.
            let _ = self.0.plan.set(groups);
        }
    }

    fn unfetched(&self) -> WhatFailed {
        let chunks = self.clone();
        Arc::new(move || {
            let why = chunks.windows().failure.clone();
            why.map(|why| chunks.0.object.refused(why))
        })
    }
}

impl Length for ObjectChunks {
    fn len(&self) -> u64 {
        self.0.object.size()
    }
}

impl ChunkReader for ObjectChunks {
    type T = ChunkRead;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(ChunkRead {
            chunks: self.clone(),
            at: start,
            now: Bytes::new(),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        Ok(self.from(start, length as u64)?.slice(..length))
    }
}

/// The bytes from a place on, window by window.
pub(crate) struct ChunkRead {
    chunks: ObjectChunks,
    at: u64,
    now: Bytes,
}

impl Read for ChunkRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.now.is_empty() {
            if self.at >= self.chunks.len() {
                return Ok(0);
            }
            self.now = self.chunks.from(self.at, 1).map_err(io::Error::other)?;
        }
        let length = buffer.len().min(self.now.len());
        buffer[..length].copy_from_slice(&self.now[..length]);
        self.now.advance(length);
        self.at += length as u64;
        Ok(length)
    }
}
