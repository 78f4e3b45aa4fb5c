//! Giving records in order.

use std::iter::FusedIterator;

use benzer_storage::Result;

use super::merge::{Merge, Source};
use super::record::Record;
use super::run::{RunReader, RunWriter};

/// Runs that are read at once at most: each takes a descriptor, of which a process usually has 1,024.
const MAX_RUNS: usize = 128;

/// Records in order: an iterator. After an error it gives nothing more.
#[derive(Debug)]
pub struct Sorted<T> {
    /// Empty once the merge has begun.
    sources: Vec<Source<T>>,
    merge: Option<Merge<T>>,
    dedup: bool,
    last: Option<T>,
    left: u64,
    spilled: u64,
}

impl<T: Record> Sorted<T> {
    pub(super) fn new(sources: Vec<Source<T>>, left: u64, dedup: bool) -> Self {
        Self { sources, merge: None, dedup, last: None, left, spilled: 0 }
    }

    pub(super) fn of_runs(
        runs: Vec<RunReader<T>>,
        dedup: bool,
        max_runs: usize,
        spilled: u64,
    ) -> Result<Self> {
        let left = runs.iter().map(|run| run.n_records).sum();
        let sources = runs.into_iter().map(Source::Run).collect();
        let mut sorted = Self { spilled, ..Self::new(sources, left, dedup) };
        sorted.shorten(max_runs.clamp(2, MAX_RUNS))?;
        Ok(sorted)
    }

    /// All records of several, in order; each of them may come from another thread. Equal records are given once if all of them do
    /// that. The memory is that of all together.
    ///
    /// # Errors
    /// Runs that cannot be read or written: too many of them are made fewer first.
    pub fn merge(parts: Vec<Self>) -> Result<Self> {
        let mut merged = Self::new(Vec::new(), 0, parts.iter().all(|part| part.dedup));
        for mut part in parts {
            merged.left += part.left;
            merged.spilled += part.spilled;
            merged.sources.append(&mut part.sources);
            if part.merge.is_some() {
                merged.sources.push(Source::Sorted(Box::new(part)));
            }
        }
        merged.shorten(MAX_RUNS)?;
        Ok(merged)
    }

    /// How many records are left. With [`Sorter::dedup`](super::Sorter::dedup), at most so many.
    pub fn len(&self) -> u64 {
        self.left
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Bytes that were written to disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled
    }

    /// Merges the shortest runs into one, until there are at most so many.
    fn shorten(&mut self, max_runs: usize) -> Result<()> {
        let (mut runs, mut others) = (Vec::new(), Vec::new());
        for source in std::mem::take(&mut self.sources) {
            match source {
                Source::Run(run) => runs.push(run),
                other => others.push(other),
            }
        }
        while runs.len() > max_runs {
            runs.sort_by_key(|run| std::cmp::Reverse(run.n_records));
            let n = max_runs.min(runs.len() - max_runs + 1);
            let merged = self.merge_runs(runs.split_off(runs.len() - n))?;
            runs.push(merged);
        }
        self.sources = others;
        self.sources.extend(runs.into_iter().map(Source::Run));
        Ok(())
    }

    fn merge_runs(&mut self, runs: Vec<RunReader<T>>) -> Result<RunReader<T>> {
        // Blocks as small as those that they replace keep the memory within what it was.
        let place = runs.iter().map(|run| &run.place).min_by_key(|place| place.block_bytes::<T>());
        let mut writer = RunWriter::create(place.expect("at least two runs are merged"))?;
        let n_records: u64 = runs.iter().map(|run| run.n_records).sum();
        for record in Self::new(runs.into_iter().map(Source::Run).collect(), n_records, self.dedup) {
            writer.push(&record?)?;
        }
        let run = writer.finish()?;
        self.spilled += run.bytes();
        self.left -= n_records - run.n_records;
        Ok(run)
    }

    pub(super) fn advance(&mut self) -> Result<Option<T>> {
        let merge = match &mut self.merge {
            Some(merge) => merge,
            none => none.insert(Merge::new(std::mem::take(&mut self.sources))?),
        };
        while let Some(record) = merge.next()? {
            self.left -= 1;
            let repeated = self.dedup && self.last == Some(record);
            self.last = Some(record);
            if !repeated {
                return Ok(Some(record));
            }
        }
        self.left = 0;
        Ok(None)
    }
}

impl<T: Record> Iterator for Sorted<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let next = self.advance();
        if next.is_err() {
            self.sources = Vec::new();
            self.merge = None;
            self.left = 0;
        }
        next.transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (if self.dedup { 0 } else { left.unwrap_or(usize::MAX) }, left.ok())
    }
}

impl<T: Record> FusedIterator for Sorted<T> {}
