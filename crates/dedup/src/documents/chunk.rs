//! Consecutive documents, column by column.

use std::ops::Range;

use benzer_core::hint::prefetch_to_write;

use super::{CHUNK, Layout};
use benzer_io::Strings;

/// Rows between the one that is written and the one that is asked for.
const AHEAD: usize = 8;

/// Where a document lies, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DocumentPlace {
    /// Line or row, counted from 1.
    pub line: u64,
    /// Where its text begins, if all texts lie one after the other.
    pub offset: u64,
    pub input: u32,
    pub text_bytes: u32,
    /// Shingles, repetitions included; none means that the document is similar to nothing, and can only be a copy.
    pub shingles: u32,
    /// The least of its elements under a hash that the sketch does not use, for the audit; zero where there is none.
    pub minimum: u32,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub words: Vec<u64>,
    pub hashes: Vec<u128>,
    pub places: Vec<DocumentPlace>,
    pub ids: Strings,
    pub keys: Strings,
}

impl Chunk {
    /// An empty one that holds [`CHUNK`] rows without growing.
    pub(super) fn with_capacity(layout: Layout) -> Self {
        Self {
            words: Vec::with_capacity(CHUNK * layout.words),
            hashes: Vec::with_capacity(CHUNK),
            places: Vec::with_capacity(CHUNK),
            ..Self::default()
        }
    }

    /// Forgets the rows, and keeps their memory; what was in `words` stays until it is written over.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.places.clear();
        self.ids.clear();
        self.keys.clear();
    }

    /// Asks for the places of the next rows, which another thread may have read last. Rows that are written at once would wait for each of them.
    #[inline]
    pub fn prefetch_rows(&self) {
        prefetch_to_write(&self.hashes, self.hashes.len() + AHEAD);
        prefetch_to_write(&self.places, self.places.len() + AHEAD);
        self.ids.prefetch_next(AHEAD);
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn extend(&mut self, other: &Self, rows: Range<usize>, layout: Layout) {
        self.words.extend_from_slice(&other.words[rows.start * layout.words..rows.end * layout.words]);
        self.hashes.extend_from_slice(&other.hashes[rows.clone()]);
        self.places.extend_from_slice(&other.places[rows.clone()]);
        if layout.ids {
            self.ids.extend(&other.ids, rows.clone());
        }
        if layout.keys {
            self.keys.extend(&other.keys, rows);
        }
    }

    pub(super) fn bytes(&self, layout: Layout) -> usize {
        CHUNK * (8 * layout.words + size_of::<u128>() + size_of::<DocumentPlace>())
            + self.ids.n_bytes()
            + self.keys.n_bytes()
    }
}
