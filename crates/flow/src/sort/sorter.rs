//! Taking records in any order.

use std::path::Path;

use benzer_storage::{Files, Result};

use super::merge::Source;
use super::record::Record;
use super::run::{Place, RunReader, RunWriter};
use super::sorted::Sorted;

/// Largest block of a run.
const MAX_BLOCK: usize = 1 << 20;
/// The blocks of a run are this part of the budget, or smaller.
const BLOCKS: usize = 64;
/// Up to this part of the budget the buffer doubles; the grown one leaves as much free.
const BEGINNING: usize = 16;

/// Where to sort, and in how much memory.
#[derive(Debug, Clone, Copy)]
pub struct Workspace<'a> {
    /// The memory.
    pub bytes: usize,
    /// The folder for what does not fit.
    pub folder: &'a Path,
    /// The way to the disk.
    pub files: &'a Files,
}

impl Workspace<'_> {
    /// A sorter that takes one of so many shares of the memory.
    pub fn sorter<T: Record>(&self, shares: usize) -> Sorter<T> {
        Sorter::new(self.bytes / shares, self.folder, self.files)
    }
}

/// Sorts any number of records within a budget of memory.
#[derive(Debug)]
pub struct Sorter<T> {
    budget: usize,
    place: Place,
    dedup: bool,
    buffer: Vec<T>,
    /// Records at which the buffer is full.
    max_records: usize,
    runs: Vec<RunReader<T>>,
    spilled: u64,
}

impl<T: Record> Sorter<T> {
    /// A sorter that takes at most `budget_bytes` of memory, but never less than a few records, and writes its runs to `dir`, which
    /// must be there when the first run is written.
    pub fn new(budget_bytes: usize, dir: &Path, files: &Files) -> Self {
        let place = Place::new::<T>(files, dir, (budget_bytes / BLOCKS).min(MAX_BLOCK));
        // A block is written while the buffer is full.
        let free_bytes = (budget_bytes - budget_bytes / BEGINNING).saturating_sub(place.block_bytes::<T>());
        let max_records = (free_bytes / size_of::<T>()).max(2);
        Self {
            budget: budget_bytes,
            place,
            dedup: false,
            buffer: Vec::new(),
            max_records,
            runs: Vec::new(),
            spilled: 0,
        }
    }

    /// Gives equal records once.
    #[must_use]
    pub fn dedup(self) -> Self {
        Self { dedup: true, ..self }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// A full buffer that cannot be written to disk. Then the sorter has lost records.
    #[inline]
    pub fn push(&mut self, record: T) -> Result<()> {
        if self.buffer.len() == self.max_records.min(self.buffer.capacity()) {
            self.make_room()?;
        }
        self.buffer.push(record);
        Ok(())
    }

    /// Adds records.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub fn extend(&mut self, records: impl IntoIterator<Item = T>) -> Result<()> {
        records.into_iter().try_for_each(|record| self.push(record))
    }

    /// Bytes written to disk so far.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled
    }

    /// The records in order.
    ///
    /// # Errors
    /// Runs that cannot be written, or read to be merged.
    pub fn finish(mut self) -> Result<Sorted<T>> {
        self.sort();
        if self.runs.is_empty() {
            let n_records = self.buffer.len() as u64;
            let source = Source::Memory(self.buffer.into_iter());
            return Ok(Sorted::new(vec![source], n_records, self.dedup));
        }
        if !self.buffer.is_empty() {
            self.spill()?;
        }
        self.buffer = Vec::new();
        // When runs become one there is a block of each and one that is written.
        let max_runs = self.budget / self.place.block_bytes::<T>();
        Sorted::of_runs(self.runs, self.dedup, max_runs.saturating_sub(1), self.spilled)
    }

    /// Grows the buffer, or empties it. From a small part of the budget it grows at once to all it may have: so old and new together
    /// are within the budget. The system gives the memory page by page as it is filled.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        let capacity = self.buffer.capacity();
        let beginning = (self.budget / BEGINNING / size_of::<T>()).clamp(1, self.max_records);
        let wanted =
            if capacity < beginning { beginning.min(2 * capacity.max(32)) } else { self.max_records };
        if capacity < wanted {
            let mut grown = Vec::new();
            if grown.try_reserve_exact(wanted).is_ok() {
                grown.append(&mut self.buffer);
                self.buffer = grown;
                return Ok(());
            }
            if capacity > 0 {
                // The system does not have that much: the runs are shorter.
                self.max_records = capacity;
            }
        }
        self.sort();
        if self.buffer.len() > self.max_records / 2 { self.spill() } else { Ok(()) }
    }

    fn sort(&mut self) {
        self.buffer.sort_unstable();
        if self.dedup {
            self.buffer.dedup();
        }
    }

    fn spill(&mut self) -> Result<()> {
        let mut run = RunWriter::create(&self.place)?;
        self.buffer.drain(..).try_for_each(|record| run.push(&record))?;
        let run = run.finish()?;
        self.spilled += run.bytes();
        self.runs.push(run);
        Ok(())
    }
}
