//! The corpus of a run: the table of documents, their texts, and how to name them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::documents::Documents;
use crate::error::Result;
use crate::group::Sketches;
use crate::ranking::Ranking;
use crate::read::{Batch, Document, Input};
use crate::verify::Texts;

/// Everything that was read.
#[derive(Debug)]
pub(crate) struct Corpus {
    pub inputs: Vec<Arc<Input>>,
    pub documents: Documents,
    /// Batches that are still in memory, each with the row of its first document.
    pub held: Vec<(u32, Batch)>,
}

impl Corpus {
    /// The document of a row.
    fn document(&self, row: u32) -> Document<'_> {
        let i = self.held.partition_point(|(first, _)| *first <= row) - 1;
        let (first, batch) = &self.held[i];
        batch.document((row - first) as usize).expect("every row lies in the batch before the next one")
    }

    /// The id of a row: that of the id field, or file and line.
    pub fn id(&self, row: u32) -> Cow<'_, str> {
        match self.documents.id(row) {
            Some(id) => String::from_utf8_lossy(id),
            None => {
                let place = self.documents.place(row);
                Cow::Owned(format!("{}:{}", self.inputs[place.input as usize].relative.display(), place.line))
            }
        }
    }
}

/// The corpus in keep order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked<'a> {
    pub corpus: &'a Corpus,
    pub ranking: &'a Ranking,
}

impl Ranked<'_> {
    pub fn id(&self, rank: u32) -> Cow<'_, str> {
        self.corpus.id(self.ranking.row(rank))
    }

    /// The file and the line or row of a document.
    pub fn file_and_row(&self, rank: u32) -> (Cow<'_, str>, u64) {
        let place = self.corpus.documents.place(self.ranking.row(rank));
        (self.corpus.inputs[place.input as usize].relative.to_string_lossy(), place.line)
    }

    /// Shingles of a document, repetitions included.
    pub fn shingles(&self, rank: u32) -> u32 {
        self.corpus.documents.place(self.ranking.row(rank)).shingles
    }

    pub fn hash(&self, rank: u32) -> u128 {
        self.corpus.documents.hash(self.ranking.row(rank))
    }

    /// True if two texts are the same.
    pub fn has_equal_texts(&self, a: u32, b: u32) -> Result<bool> {
        let text = |rank| self.corpus.document(self.ranking.row(rank)).text;
        Ok(text(a) == text(b))
    }
}

impl Sketches for Ranked<'_> {
    fn words(&self, rank: u32) -> &[u64] {
        self.corpus.documents.words(self.ranking.row(rank))
    }
}

impl Texts for Ranked<'_> {
    fn bytes(&self, rank: u32) -> u64 {
        self.corpus.documents.place(self.ranking.row(rank)).text_bytes.into()
    }

    fn with_text(&self, rank: u32, visit: &mut dyn FnMut(&str)) -> Result<()> {
        visit(self.corpus.document(self.ranking.row(rank)).text);
        Ok(())
    }
}
