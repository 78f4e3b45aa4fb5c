//! Sketches that are not in memory, brought there for the documents that are looked at together.
//!
//! Some long ranges of documents are gathered for at a time: the sketches that each of them wants are taken out of one pass over all, in the order in which they lie, and written to disk. When a long range is looked at its sketches are
//! read, and found by how many wanted ones lie before.

use std::ops::Range;

use benzer_flow::{Result, Workspace};
use benzer_storage::{Extent, Scratch};

use super::memberships::Memberships;
use super::sketches::Sketches;
use crate::Rank;
use crate::bit_set::BitSet;

/// Bytes of sketches that are written together.
const EXTENT: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };
/// The part of the room for what is wanted of long ranges.
const WANTED: u64 = 4;

/// Sketches of some long ranges of documents, from one pass over all of them.
pub(super) struct Gathered {
    file: Scratch,
    /// The first of the long ranges.
    first: usize,
    ranges: Vec<LongRange>,
}

/// The sketches of a long range.
#[derive(Default)]
struct LongRange {
    /// The places of those that are wanted.
    wanted: BitSet,
    extents: Vec<Extent>,
    /// Sketches that are not written yet.
    bytes: Vec<u8>,
}

/// The sketches of a long range in memory.
pub(super) struct View<'a, S> {
    all: &'a S,
    wanted: &'a BitSet,
    n_words: usize,
    words: &'a [u64],
}

impl Gathered {
    /// Gathers for some long ranges, or for as many of them as there is room for, those with the memberships that `take` gives. There are so many places.
    ///
    /// # Errors
    /// What `take` returns, and a disk that cannot be written.
    pub fn new(
        sketches: &impl Sketches,
        n_places: u32,
        long: Range<usize>,
        workspace: Workspace<'_>,
        mut take: impl FnMut(usize) -> Result<Vec<Memberships>>,
    ) -> Result<Self> {
        let room = workspace.bytes as u64 / WANTED / (BitSet::bytes(n_places) + EXTENT as u64).max(1);
        let (first, mut ranges) = (long.start, Vec::new());
        for long in long.take(room.max(1) as usize) {
            let wanted = BitSet::new(n_places);
            take(long)?
                .iter()
                .flat_map(Memberships::ranks)
                .for_each(|rank| wanted.insert(sketches.place(rank)));
            ranges.push(LongRange { wanted, ..LongRange::default() });
        }
        let file = workspace.files.temporary(&workspace.folder.join("sketches"))?;
        let mut gathered = Self { file, first, ranges };
        gathered.gather(sketches, n_places)?;
        Ok(gathered)
    }

    fn gather(&mut self, sketches: &impl Sketches, n_places: u32) -> Result<()> {
        for place in 0..n_places {
            let mut wanting = self.ranges.iter_mut().filter(|range| range.wanted.contains(place)).peekable();
            if wanting.peek().is_none() {
                continue;
            }
            let sketch = sketches.sketch(sketches.rank_at(place));
            for range in wanting {
                sketch.iter().for_each(|word| range.bytes.extend_from_slice(&word.to_le_bytes()));
                if range.bytes.len() >= EXTENT {
                    range.write(&mut self.file)?;
                }
            }
        }
        for range in &mut self.ranges {
            range.write(&mut self.file)?;
            range.bytes = Vec::new();
            range.wanted.count();
        }
        Ok(())
    }

    /// Whether it has the sketches of a long range.
    pub fn has(&self, long: usize) -> bool {
        (self.first..self.first + self.ranges.len()).contains(&long)
    }

    /// Reads the sketches of a long range.
    ///
    /// # Errors
    /// A disk that cannot be read, and bytes that are not those that were written.
    pub fn read(&self, long: usize) -> Result<Vec<u64>> {
        let (mut words, mut bytes) = (Vec::new(), Vec::new());
        for extent in &self.ranges[long - self.first].extents {
            self.file.read_extent(*extent, &mut bytes)?;
            let of_extent = bytes.chunks_exact(size_of::<u64>());
            words.extend(of_extent.map(|word| u64::from_le_bytes(word.try_into().expect("eight"))));
        }
        Ok(words)
    }

    /// The sketches of a long range, which were read.
    pub fn view<'a, S: Sketches>(&'a self, long: usize, words: &'a [u64], all: &'a S) -> View<'a, S> {
        let n_words = all.sketch(all.rank_at(0)).len();
        View { all, wanted: &self.ranges[long - self.first].wanted, n_words, words }
    }
}

impl LongRange {
    fn write(&mut self, file: &mut Scratch) -> Result<()> {
        if !self.bytes.is_empty() {
            self.extents.push(file.append_extent(&self.bytes)?);
            self.bytes.clear();
        }
        Ok(())
    }
}

impl<S: Sketches> Sketches for View<'_, S> {
    #[inline]
    fn sketch(&self, rank: Rank) -> &[u64] {
        let start = self.wanted.place(self.all.place(rank)) * self.n_words;
        &self.words[start..start + self.n_words]
    }
}
