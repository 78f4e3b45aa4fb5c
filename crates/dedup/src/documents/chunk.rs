//! The documents of a batch, column by column.

use super::Layout;
use benzer_io::Strings;

/// Where a document lies, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DocumentPlace {
    /// Line or row, counted from 1.
    pub line: u64,
    /// Where its text begins, if the texts of its chunk lie one after the other; on disk, those of all.
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
    /// An empty one with room for so many rows; their sketches come as a whole.
    pub fn with_capacity(n: usize, layout: Layout) -> Self {
        let strings = |wanted: bool| Strings {
            bytes: Vec::new(),
            ends: if wanted { Vec::with_capacity(n) } else { Vec::new() },
        };
        Self {
            words: Vec::new(),
            hashes: Vec::with_capacity(n),
            places: Vec::with_capacity(n),
            ids: strings(layout.ids),
            keys: strings(layout.keys),
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        8 * self.words.capacity()
            + size_of::<u128>() * self.hashes.capacity()
            + size_of::<DocumentPlace>() * self.places.capacity()
            + self.ids.n_bytes()
            + self.keys.n_bytes()
    }
}
