//! Rows in memory, chunk by chunk.

use super::{Chunk, DocumentPlace, Firsts, Layout, Row};
use benzer_core::hint::prefetch;

/// Rows in memory.
#[derive(Debug)]
pub(crate) struct HeldRows {
    pub layout: Layout,
    pub chunks: Vec<Chunk>,
    firsts: Firsts,
    pub n: u32,
    /// Bytes of memory that the chunks take.
    pub bytes: u64,
}

impl HeldRows {
    pub fn new(layout: Layout) -> Self {
        Self { layout, chunks: Vec::new(), firsts: Firsts::default(), n: 0, bytes: 0 }
    }

    /// The first row of each chunk.
    pub fn firsts(&self) -> impl Iterator<Item = Row> {
        (0..self.chunks.len()).map(|chunk| self.firsts.first(chunk))
    }

    /// Appends rows, which stay where they are.
    pub fn push(&mut self, chunk: Chunk) {
        self.firsts.push(chunk.len() as u32);
        self.n += chunk.len() as u32;
        self.bytes += chunk.bytes() as u64;
        self.chunks.push(chunk);
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

    #[inline]
    pub fn prefetch_hash(&self, row: Row) {
        let (chunk, i) = self.at(row);
        prefetch(&chunk.hashes, i);
    }

    #[inline]
    pub fn prefetch_row(&self, row: Row) {
        let (chunk, i) = self.at(row);
        prefetch(&chunk.places, i);
        let words = i * self.layout.words..(i + 1) * self.layout.words;
        words.step_by(8).for_each(|word| prefetch(&chunk.words, word));
    }

    #[inline]
    pub fn id(&self, row: Row) -> &[u8] {
        let (chunk, i) = self.at(row);
        chunk.ids.get(i)
    }

    #[inline]
    pub fn key(&self, row: Row) -> &[u8] {
        let (chunk, i) = self.at(row);
        if self.layout.keys { chunk.keys.get(i) } else { &[] }
    }
}
