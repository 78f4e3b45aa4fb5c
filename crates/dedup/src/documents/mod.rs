//! What a run remembers of every document: its sketch, the hash of its text, where it lies, its id and its policy key.
//!
//! Documents are numbered by [`Row`]: the order in which they were read. In memory the rows of a batch stay where the thread that read it made them, in a [`Chunk`]; the table only knows the first row of
//! each. The module `disk` has the other way to keep them.

mod chunk;
mod disk;
mod firsts;

use std::borrow::Cow;

use benzer_core::hint::prefetch;
use benzer_flow::sort::Record;

pub(crate) use chunk::{Chunk, DocumentPlace};
pub(crate) use disk::{BATCHES, DiskRowTable, DiskRowWriter, SavedTexts, TEXTS};
pub(crate) use firsts::Firsts;

use crate::error::Result;

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

/// The hash of each text, and where it lies.
type Rows<'a> = Box<dyn Iterator<Item = Result<(u128, DocumentPlace)>> + 'a>;

#[derive(Debug)]
pub(crate) enum Documents {
    Memory(RowTable),
    Disk(DiskRowTable),
}

impl Documents {
    pub fn len(&self) -> u32 {
        match self {
            Self::Memory(table) => table.n,
            Self::Disk(table) => table.n,
        }
    }

    pub fn words(&self, row: Row) -> Result<Cow<'_, [u64]>> {
        match self {
            Self::Memory(table) => Ok(Cow::Borrowed(table.words(row))),
            Self::Disk(table) => {
                let mut words = Vec::new();
                table.words(row..Row(row.0 + 1), &mut words)?;
                Ok(Cow::Owned(words))
            }
        }
    }

    pub fn place(&self, row: Row) -> Result<DocumentPlace> {
        match self {
            Self::Memory(table) => Ok(table.place(row)),
            Self::Disk(table) => Ok(table.row(row)?.1),
        }
    }

    pub fn hash(&self, row: Row) -> Result<u128> {
        match self {
            Self::Memory(table) => Ok(table.hash(row)),
            Self::Disk(table) => Ok(table.row(row)?.0),
        }
    }

    /// The hash of each text, and where it lies, in order.
    pub fn rows(&self) -> Result<Rows<'_>> {
        match self {
            Self::Memory(table) => {
                let rows = table
                    .chunks
                    .iter()
                    .flat_map(|chunk| chunk.hashes.iter().copied().zip(chunk.places.iter().copied()));
                Ok(Box::new(rows.map(Ok)))
            }
            Self::Disk(table) => Ok(Box::new(table.rows()?.map(|row| Ok(row?)))),
        }
    }

    /// Its id, where documents have one.
    pub fn id(&self, row: Row) -> Result<Option<Cow<'_, [u8]>>> {
        match self {
            Self::Memory(table) => Ok(table.id(row).map(Cow::Borrowed)),
            Self::Disk(table) => Ok(table.id(row)?.map(Cow::Owned)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct RowTable {
    pub layout: Layout,
    pub chunks: Vec<Chunk>,
    firsts: Firsts,
    pub n: u32,
    /// Bytes of memory that the chunks take.
    pub bytes: u64,
}

impl RowTable {
    pub fn new(layout: Layout) -> Self {
        Self { layout, chunks: Vec::new(), firsts: Firsts::default(), n: 0, bytes: 0 }
    }

    /// Appends rows, which stay where they are.
    pub fn push(&mut self, chunk: Chunk) {
        self.firsts.push(chunk.len() as u32);
        self.n += chunk.len() as u32;
        self.bytes += chunk.bytes() as u64;
        self.chunks.push(chunk);
    }

    /// The row of the first document of a chunk.
    pub fn first_row(&self, chunk: usize) -> Row {
        self.firsts.first(chunk)
    }

    #[inline]
    fn at(&self, row: Row) -> (&Chunk, usize) {
        let (chunk, i) = self.firsts.find(row);
        (&self.chunks[chunk], i)
    }

    #[inline]
    pub fn words(&self, row: Row) -> &[u64] {
        let (chunk, i) = self.at(row);
        &chunk.words[i * self.layout.words..][..self.layout.words]
    }

    #[inline]
    pub fn place(&self, row: Row) -> DocumentPlace {
        let (chunk, i) = self.at(row);
        chunk.places[i]
    }

    #[inline]
    pub fn hash(&self, row: Row) -> u128 {
        let (chunk, i) = self.at(row);
        chunk.hashes[i]
    }

    /// The hash of its text will be wanted soon.
    #[inline]
    pub fn prefetch_hash(&self, row: Row) {
        let (chunk, i) = self.at(row);
        prefetch(&chunk.hashes, i);
    }

    /// The sketch and the place of a document will be wanted soon.
    #[inline]
    pub fn prefetch_row(&self, row: Row) {
        let (chunk, i) = self.at(row);
        prefetch(&chunk.places, i);
        let words = i * self.layout.words..(i + 1) * self.layout.words;
        words.step_by(8).for_each(|word| prefetch(&chunk.words, word));
    }

    /// Its id, where documents have one.
    #[inline]
    pub fn id(&self, row: Row) -> Option<&[u8]> {
        let (chunk, i) = self.at(row);
        self.layout.ids.then(|| chunk.ids.get(i))
    }

    /// Its policy key, empty where the policy has none.
    #[inline]
    pub fn key(&self, row: Row) -> &[u8] {
        let (chunk, i) = self.at(row);
        if self.layout.keys { chunk.keys.get(i) } else { &[] }
    }
}
