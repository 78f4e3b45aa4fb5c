//! Records of a stretch of the log, with a directory for each band and one for the ids: everything that is derived.
//!
//! ```text
//! words: header (magic, version, fingerprint) | numbers u32, unless they follow each other | places u64 | for each directory: buckets u64, postings of three u16
//! file:  the words | footer as JSON: where everything is, checksums of every MiB | length of the footer u64, checksum of the footer u64
//! ```
//!
//! Small segments are words on the heap, large ones are the same words in a file that is mapped.

use std::fs::File;
use std::path::{Path, PathBuf};

use benzer_core::hash;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::directory::Place;
use super::map::{Map, Words, bytes, cells};
use super::trouble;
use crate::error::{Error, Result};
use crate::record::DocNo;
use crate::settings::Layout;

/// Words of the header.
pub(super) const HEADER: usize = 2;
/// "BNZP", version 2. Segments of version 1 are derived again.
pub(super) const MAGIC: u64 = u32::from_le_bytes(*b"BNZP") as u64 | 2 << 32;
/// Words of a stretch that has its own checksum.
pub(super) const CHECKED: usize = 1 << 17;

/// Where everything is, in words, and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// Records.
    pub n: usize,
    /// The first and the last number.
    pub first: DocNo,
    pub last: DocNo,
    /// Numbers, if some are missing between the first and the last.
    pub numbers: Option<usize>,
    pub places: usize,
    /// One for each band, then one for the ids.
    pub directories: Vec<Place>,
    /// The log, and the stretch of it.
    pub salt: u64,
    pub from: usize,
    pub to: End,
    /// When the first of its records is gone; zero if none ever is.
    pub soonest: u64,
    /// Words in all.
    pub words: usize,
    /// Of every stretch of [`CHECKED`] words.
    pub checksums: Vec<u64>,
}

/// How far a log is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// Where the next block begins, in words.
    pub place: usize,
    /// Records in the log up to there, removed ones counted.
    pub n_rows: u64,
    /// The number of the next record.
    pub next: DocNo,
}

impl End {
    /// Of a log without blocks.
    pub const START: Self = Self { place: super::log::HEADER, n_rows: 0, next: DocNo(0) };

    /// After one more block.
    pub fn after(self, block: &Block<'_>) -> Self {
        Self { place: block.end, n_rows: self.n_rows + block.len() as u64, next: self.next.max(block.next()) }
    }
}

/// Records that do not change any more.
#[derive(Debug)]
pub(super) struct Segment {
    pub shape: Shape,
    words: Words,
    /// The file, unless it is on the heap.
    pub path: Option<PathBuf>,
}

/// The key by which an id is found.
#[inline]
pub(super) fn id_key(id: &[u8]) -> u64 {
    hash::element(id)
}

impl Segment {
    pub fn new(shape: Shape, words: Words, path: Option<PathBuf>) -> Self {
        Self { shape, words, path }
    }

    /// Opens a file, of which the footer is checked, the rest is not.
    pub fn open(path: &Path, fingerprint: u64, layout: &Layout) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(path, what);
        let file = File::open(path).map_err(trouble("open", path))?;
        let length = file.metadata().map_err(trouble("open", path))?.len() as usize;
        let map = Map::new(&file, length, length).map_err(trouble("map", path))?;
        let words = map.words();
        let footer = || {
            let (rest, end) = words.split_at_checked(words.len().checked_sub(2)?)?;
            let n = end[0] as usize;
            let footer = &rest[rest.len().checked_sub(n.div_ceil(8))?..];
            let footer = cells::<u8>(footer).get(..n)?;
            (hash::element(footer) == end[1]).then_some(footer)
        };
        let footer = footer().ok_or_else(|| damaged("its footer does not have its checksum"))?;
        let shape: Shape = serde_json::from_slice(footer)
            .map_err(|_| Error::incompatible("a segment of version 2", path.display()))?;
        if words.get(..HEADER) != Some(&[MAGIC, fingerprint]) {
            return Err(damaged("it does not begin as a segment of this collection"));
        }
        if !shape.is_within(words.len()) || shape.directories.len() != layout.bands() + 1 {
            return Err(damaged("its footer does not fit it"));
        }
        Ok(Self { shape, words: Words::Mapped(map), path: Some(path.into()) })
    }

    #[inline]
    pub fn words(&self) -> &[u64] {
        self.words.get()
    }

    pub fn len(&self) -> usize {
        self.shape.n
    }

    fn numbers(&self, at: usize) -> &[DocNo] {
        &cells(&self.words()[at..])[..self.shape.n]
    }

    #[inline]
    pub fn number(&self, local: usize) -> DocNo {
        match self.shape.numbers {
            None => self.shape.first.plus(local),
            Some(at) => self.numbers(at)[local],
        }
    }

    /// Where a number is, if it is here.
    #[inline]
    pub fn local(&self, number: DocNo) -> Option<usize> {
        match self.shape.numbers {
            None => {
                let local = number.0.checked_sub(self.shape.first.0)? as usize;
                (local < self.shape.n).then_some(local)
            }
            Some(at) => self.numbers(at).binary_search(&number).ok(),
        }
    }

    /// The first local number that is not before a number.
    pub fn local_from(&self, number: DocNo) -> usize {
        match self.shape.numbers {
            None => (number.0.saturating_sub(self.shape.first.0) as usize).min(self.shape.n),
            Some(at) => self.numbers(at).partition_point(|other| *other < number),
        }
    }

    /// Where the row of a local number is in the log.
    #[inline]
    pub fn place(&self, local: usize) -> usize {
        self.words()[self.shape.places + local] as usize
    }

    /// The directory of ids.
    pub fn ids(&self) -> Option<Place> {
        self.shape.directories.last().copied()
    }

    /// Reads it all; the first stretch that is damaged.
    pub fn damage(&self, mut go_on: impl FnMut() -> bool) -> Option<usize> {
        let stretches = self.words()[..self.shape.words].chunks(CHECKED).zip(&self.shape.checksums);
        stretches
            .take_while(|_| go_on())
            .position(|(words, checksum)| hash::element(bytes(words)) != *checksum)
    }
}

impl Shape {
    fn is_within(&self, words: usize) -> bool {
        let range = |at: usize, n: usize| at.checked_add(n).is_some_and(|end| end <= self.words);
        self.words <= words
            && self.checksums.len() == self.words.div_ceil(CHECKED)
            && self.n <= u32::MAX as usize
            && self.last >= self.first
            && self.last.places_after(self.first) + 1 >= self.n
            && range(self.places, self.n)
            && self.numbers.is_none_or(|at| range(at, self.n.div_ceil(2)))
            && self.directories.iter().all(|place| place.is_within(self.words))
    }
}
