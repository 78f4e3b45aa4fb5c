//! What a run remembers of every document: its sketch, the hash of its text, where it lies, its id and its policy key.
//!
//! Documents are numbered by [`Row`]: the order in which they were read. In memory the rows of a batch stay where the thread that read it made them, in a [`Chunk`]; the table only knows the first row of
//! each. What does not fit lies in files, which are mapped: all stages look at rows in the same way.

mod chunk;
mod firsts;
mod held;
mod saved;

use std::ops::Range;

use benzer_flow::sort::Record;

pub(crate) use chunk::{Chunk, DocumentPlace};
pub(crate) use firsts::Firsts;
pub(crate) use held::HeldRows;
pub(crate) use saved::{BATCHES, RowsWriter, SavedRows, SavedTexts, TEXTS};

/// The number of a document in the order in which documents were read.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Row(pub u32);

impl Row {
    /// As the place in a list that has an entry for each row.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn all(n: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..n).map(Self)
    }
}

impl Record for Row {
    const BYTES: usize = u32::BYTES;

    #[inline]
    fn write(&self, to: &mut [u8]) {
        self.0.write(to);
    }

    #[inline]
    fn read(from: &[u8]) -> Self {
        Self(u32::read(from))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub words: usize,
    pub ids: bool,
    pub keys: bool,
}

/// The rows of all documents: in memory where threads made them, or in files of the work folder that are mapped.
#[derive(Debug)]
pub(crate) enum RowTable {
    Held(HeldRows),
    Saved(SavedRows),
}

impl RowTable {
    pub fn len(&self) -> u32 {
        match self {
            Self::Held(rows) => rows.n,
            Self::Saved(rows) => rows.n,
        }
    }

    pub fn is_saved(&self) -> bool {
        matches!(self, Self::Saved(_))
    }

    /// Its sketch.
    #[inline]
    pub fn words(&self, row: Row) -> &[u64] {
        match self {
            Self::Held(rows) => rows.words(row),
            Self::Saved(rows) => rows.words(row),
        }
    }

    #[inline]
    pub fn place(&self, row: Row) -> DocumentPlace {
        match self {
            Self::Held(rows) => rows.place(row),
            Self::Saved(rows) => rows.place(row),
        }
    }

    /// The hash of its text.
    #[inline]
    pub fn hash(&self, row: Row) -> u128 {
        match self {
            Self::Held(rows) => rows.hash(row),
            Self::Saved(rows) => rows.hash(row),
        }
    }

    /// The hash of its text will be wanted soon.
    #[inline]
    pub fn prefetch_hash(&self, row: Row) {
        match self {
            Self::Held(rows) => rows.prefetch_hash(row),
            Self::Saved(rows) => rows.prefetch_place(row),
        }
    }

    /// The sketch and the place of a document will be wanted soon.
    #[inline]
    pub fn prefetch_row(&self, row: Row) {
        match self {
            Self::Held(rows) => rows.prefetch_row(row),
            Self::Saved(rows) => {
                rows.prefetch_place(row);
                rows.prefetch_words(row);
            }
        }
    }

    /// Its id, where documents have one.
    #[inline]
    pub fn id(&self, row: Row) -> Option<&[u8]> {
        match self {
            Self::Held(rows) => rows.layout.ids.then(|| rows.id(row)),
            Self::Saved(rows) => rows.layout.ids.then(|| rows.id(row)),
        }
    }

    /// Its policy key, empty where the policy has none.
    #[inline]
    pub fn key(&self, row: Row) -> &[u8] {
        match self {
            Self::Held(rows) => rows.key(row),
            Self::Saved(rows) => rows.key(row),
        }
    }

    /// Rows that lie together, range by range.
    pub fn parts(&self) -> Vec<Range<Row>> {
        let ends: Vec<u32> = match self {
            Self::Held(rows) => rows.firsts().skip(1).map(|first| first.0).collect(),
            Self::Saved(rows) => (PART..rows.n).step_by(PART as usize).collect(),
        };
        let starts = [0].into_iter().chain(ends.iter().copied());
        starts
            .zip(ends.iter().copied().chain([self.len()]))
            .map(|(start, end)| Row(start)..Row(end))
            .collect()
    }
}

/// Rows of a file that one thread looks at.
const PART: u32 = 1 << 14;
