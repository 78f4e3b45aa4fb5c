//! Files in memory, seen as words of eight bytes.
//!
//! Files of this store are only ever appended to, and what is written once is not written again. So a map may be longer than its file is yet: what counts is how far it is filled, which whoever appends says.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use crate::record::DocNo;

#[cfg(target_endian = "big")]
compile_error!("the files of the disk store are little-endian, and read as they are");

/// A file from its beginning on.
#[derive(Debug)]
pub(super) struct Map {
    raw: MmapRaw,
    /// Words that are written and do not change any more.
    filled: AtomicUsize,
}

impl Map {
    /// Maps as many bytes, of which so many are filled.
    pub fn new(file: &File, bytes: usize, filled: usize) -> io::Result<Self> {
        let raw = MmapOptions::new().len(bytes.max(filled).max(8)).map_raw_read_only(file)?;
        Ok(Self { raw, filled: AtomicUsize::new(filled / 8) })
    }

    /// How many bytes it can show.
    pub fn capacity(&self) -> usize {
        self.raw.len()
    }

    /// More, or after a failed write fewer, bytes are filled; never more than it can show.
    pub fn fill(&self, bytes: usize) {
        self.filled.store(bytes.min(self.capacity()) / 8, Ordering::Release);
    }

    /// What is filled.
    #[inline]
    pub fn words(&self) -> &[u64] {
        let n = self.filled.load(Ordering::Acquire);
        // SAFETY: the map begins at a page, has at least `n` words, and these words are in the file and not written again.
        unsafe { std::slice::from_raw_parts(self.raw.as_ptr().cast::<u64>(), n) }
    }
}

/// Words on the heap, or in a file.
#[derive(Debug)]
pub(super) enum Words {
    Heap(Vec<u64>),
    Mapped(Map),
}

impl Words {
    #[inline]
    pub fn get(&self) -> &[u64] {
        match self {
            Self::Heap(words) => words,
            Self::Mapped(map) => map.words(),
        }
    }
}

/// Numbers that may be seen as others.
pub(super) trait Cell: Copy {}
impl Cell for u8 {}
impl Cell for u16 {}
impl Cell for u32 {}
impl Cell for u64 {}
impl Cell for DocNo {}

/// Words as smaller numbers.
#[inline]
pub(super) fn cells<T: Cell>(words: &[u64]) -> &[T] {
    // SAFETY: `T` is an integer of at most eight bytes, with a name or without: every pattern of bits is one, and the alignment of words is enough.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * (8 / size_of::<T>())) }
}

/// Numbers as bytes.
#[inline]
pub(super) fn bytes<T: Cell>(cells: &[T]) -> &[u8] {
    // SAFETY: an integer may be seen as its bytes.
    unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), size_of_val(cells)) }
}
