//! The memberships of all buckets: in memory, or on disk, by long ranges of later documents.
//!
//! What is made of some partitions is added by the thread that made it. If there is too much, all that is there is cut into the same long ranges and written: of each the memberships of its documents, with the first members of their buckets.
//! So a long range is read alone, and is looked at as if there were no others.

use std::ops::Range;

use benzer_flow::{Result, Workspace, workers::in_parallel};
use benzer_storage::{Extent, Scratch};

use super::memberships::{BucketCounts, Memberships, Moved, Ranges};

/// The part of the room that memberships may take while they are made, and that those of a long range may take when they are read: beside them are crowds, and sketches if these are gathered.
const HELD: u64 = 4;
const READ: u64 = 8;
const READ_WITH_SKETCHES: u64 = 32;

/// Memberships, as many as there is room for.
pub(super) struct Held<'a> {
    workspace: Workspace<'a>,
    pub ranges: Ranges,
    pub cap: usize,
    /// Whether sketches are found in memory, and whether there all memberships have room in any case.
    are_resident: bool,
    is_ample: bool,
    parts: Vec<Memberships>,
    bytes: u64,
    /// The part of all keys that was looked at.
    share: f64,
    spilled: Option<Spilled>,
    /// How documents met.
    pub counts: BucketCounts,
    /// How many pairs the documents of each range have, at most.
    pub max_pairs: Vec<u64>,
}

/// Memberships on disk.
struct Spilled {
    file: Scratch,
    /// The long ranges, and where the memberships of each are.
    long: Vec<(Range<usize>, Vec<Extent>)>,
}

impl<'a> Held<'a> {
    /// Within a workspace, if all of them take so many bytes at most.
    pub fn new(
        workspace: Workspace<'a>,
        max_bytes: u64,
        are_resident: bool,
        ranges: Ranges,
        cap: usize,
    ) -> Self {
        Self {
            workspace,
            ranges,
            cap,
            are_resident,
            is_ample: max_bytes <= workspace.bytes as u64,
            parts: Vec::new(),
            bytes: 0,
            share: 0.0,
            spilled: None,
            counts: BucketCounts::default(),
            max_pairs: vec![0; ranges.len()],
        }
    }

    /// Bytes for everything that is done until they are listed.
    pub fn room(&self) -> u64 {
        self.workspace.bytes as u64
    }

    /// Adds the memberships of a part of all keys.
    ///
    /// # Errors
    /// A disk that cannot be written.
    pub fn push(&mut self, part: Memberships, share: f64) -> Result<()> {
        self.counts = self.counts.merge(part.counts);
        self.bytes += part.bytes();
        self.share += share;
        self.parts.push(part);
        if self.is_ample || self.bytes <= self.room() / HELD { Ok(()) } else { self.spill() }
    }

    /// Says that all were added.
    ///
    /// # Errors
    /// As [`Held::push`].
    pub fn finish(&mut self, threads: usize) -> Result<()> {
        if self.spilled.is_some() || !self.are_resident {
            return self.spill();
        }
        let (parts, cap) = (&self.parts, self.cap);
        let pairs = |range: usize, _: &mut ()| parts.iter().map(|part| part.max_pairs(range, cap)).sum();
        self.max_pairs = in_parallel(self.ranges.len(), threads, || (), pairs);
        Ok(())
    }

    /// The bytes of memory that they take, or will take when those of a long range are read.
    pub fn bytes(&self) -> u64 {
        let read = |(_, extents): &(_, Vec<Extent>)| extents.iter().map(|extent| extent.bytes() as u64).sum();
        match &self.spilled {
            Some(spilled) => spilled.long.iter().map(read).max().unwrap_or(0),
            None => self.bytes,
        }
    }

    /// Whether some are on disk.
    pub fn is_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// The long ranges: what is read together.
    pub fn long_ranges(&self) -> Vec<Range<usize>> {
        match &self.spilled {
            Some(spilled) => spilled.long.iter().map(|(ranges, _)| ranges.clone()).collect(),
            None => std::iter::once(0..self.ranges.len()).collect(),
        }
    }

    /// Takes the memberships of a long range: once, if they are in memory.
    ///
    /// # Errors
    /// A disk that cannot be read, and bytes that are not those that were written.
    pub fn take(&mut self, long: usize, threads: usize) -> Result<Vec<Memberships>> {
        let Some(Spilled { file, long: all }) = &self.spilled else {
            return Ok(std::mem::take(&mut self.parts));
        };
        let extents = &all[long].1;
        let read = |i: usize, _: &mut ()| -> Result<Vec<Memberships>> {
            let (mut bytes, mut parts) = (Vec::new(), Vec::new());
            file.read_extent(extents[i], &mut bytes)?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                parts.push(Memberships::read(&mut rest));
            }
            Ok(parts)
        };
        let parts = in_parallel(extents.len(), threads, || (), read);
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Writes what is in memory.
    fn spill(&mut self) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let (parts, cap) = (std::mem::take(&mut self.parts), self.cap);
        for part in &parts {
            let pairs = self.max_pairs.iter_mut().enumerate();
            pairs.for_each(|(range, pairs)| *pairs += part.max_pairs(range, cap));
        }
        let mut spilled = match self.spilled.take() {
            Some(spilled) => spilled,
            None => {
                let file = self.workspace.files.temporary(&self.workspace.folder.join("memberships"))?;
                Spilled {
                    file,
                    long: self.cut(&parts).into_iter().map(|range| (range, Vec::new())).collect(),
                }
            }
        };
        let (mut bytes, mut moved) = (Vec::new(), Moved::default());
        for (range, extents) in &mut spilled.long {
            bytes.clear();
            parts.iter().for_each(|part| part.of_ranges(range.clone(), &mut moved).write(&mut bytes));
            extents.push(spilled.file.append_extent(&bytes)?);
        }
        self.spilled = Some(spilled);
        self.bytes = 0;
        Ok(())
    }

    /// Long ranges that will have about as many memberships, by what was found so far.
    fn cut(&self, parts: &[Memberships]) -> Vec<Range<usize>> {
        let part = if self.are_resident { READ } else { READ_WITH_SKETCHES };
        let room = (self.room() / part).max(1);
        let expected = (self.bytes as f64 / self.share.max(f64::MIN_POSITIVE)).ceil() as u64;
        let n_long = expected.div_ceil(room).clamp(1, self.ranges.len().max(1) as u64);
        let so_far = |range| parts.iter().map(|part| part.of_range(range).len() as u64).sum::<u64>();
        let n_all: u64 = (0..self.ranges.len()).map(so_far).sum();
        let (mut cut, mut start, mut n) = (Vec::new(), 0, 0);
        for range in 0..self.ranges.len() {
            n += so_far(range);
            if n * n_long >= n_all * (cut.len() as u64 + 1) || range + 1 == self.ranges.len() {
                cut.push(std::mem::replace(&mut start, range + 1)..range + 1);
            }
        }
        cut
    }
}
