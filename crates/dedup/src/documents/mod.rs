//! What a run remembers of every document: its sketch, the hash of its text, where it lies, its id and its policy key.
//!
//! Documents are numbered by **row**: the order in which they were read. They are kept in chunks of [`CHUNK`] rows, so that the table grows without being moved and
//! lies on disk as it lies in memory.

mod chunk;
mod strings;

pub(crate) use chunk::{Chunk, Place};
pub(crate) use strings::Strings;

/// Rows of a full chunk.
pub(crate) const CHUNK: usize = 4096;

/// What every document of a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Words of a sketch.
    pub words: usize,
    /// Whether there are ids.
    pub ids: bool,
    /// Whether there are policy keys.
    pub keys: bool,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Documents {
    layout: Layout,
    chunks: Vec<Chunk>,
    n: u32,
}

impl Documents {
    pub fn new(layout: Layout) -> Self {
        Self { layout, chunks: Vec::new(), n: 0 }
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How many documents there are.
    pub fn len(&self) -> u32 {
        self.n
    }

    /// Appends the rows of another chunk. False if there would be more rows than can be numbered; then nothing is appended.
    #[must_use]
    pub fn append(&mut self, other: &Chunk) -> bool {
        let Some(n) = u32::try_from(other.len()).ok().and_then(|n| self.n.checked_add(n)) else {
            return false;
        };
        let mut done = 0;
        while done < other.len() {
            if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
                self.chunks.push(Chunk::with_capacity(self.layout));
            }
            let chunk = self.chunks.last_mut().expect("one was just pushed");
            let end = other.len().min(done + CHUNK - chunk.len());
            chunk.extend(other, done..end, self.layout);
            done = end;
        }
        self.n = n;
        true
    }

    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    #[inline]
    fn at(&self, row: u32) -> (&Chunk, usize) {
        (&self.chunks[row as usize / CHUNK], row as usize % CHUNK)
    }

    /// The sketch of a document.
    #[inline]
    pub fn words(&self, row: u32) -> &[u64] {
        let (chunk, i) = self.at(row);
        &chunk.words[i * self.layout.words..][..self.layout.words]
    }

    /// The hash of its text.
    #[inline]
    pub fn hash(&self, row: u32) -> u128 {
        let (chunk, i) = self.at(row);
        chunk.hashes[i]
    }

    /// Where it lies.
    #[inline]
    pub fn place(&self, row: u32) -> Place {
        let (chunk, i) = self.at(row);
        chunk.places[i]
    }

    /// Its id, where documents have one.
    #[inline]
    pub fn id(&self, row: u32) -> Option<&[u8]> {
        let (chunk, i) = self.at(row);
        self.layout.ids.then(|| chunk.ids.get(i))
    }

    /// Its policy key, empty where the policy has none.
    #[inline]
    pub fn key(&self, row: u32) -> &[u8] {
        let (chunk, i) = self.at(row);
        if self.layout.keys { chunk.keys.get(i) } else { &[] }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.bytes(self.layout)).sum()
    }
}
