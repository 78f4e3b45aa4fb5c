//! From raw batches to rows of the table: parse, hash, shingle, sketch. Workers do it, any number of them.

use std::sync::{Arc, Mutex, PoisonError};

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::hash::least;
use benzer_core::sketch::{SketchSpec, Sketcher};
use benzer_flow::pipeline::Work;
use benzer_io::read::{self, Batch, DocumentId, RawBatch};
use twox_hash::XxHash3_128;

use crate::documents::{Chunk, DocumentPlace, Layout};
use crate::error::{Error, Result};
use crate::keep::Keep;

/// Documents whose shingles are sketched together: few enough to stay in the second-level cache.
const RUN: usize = 256;

#[derive(Debug)]
pub(crate) struct Ingest {
    pub shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
    keep: Keep,
    ids: bool,
    /// Whether documents get a minimum for the audit.
    pub minima: bool,
    /// Rows that are done with, whose memory the next ones take.
    pub spare: Spare,
}

/// Chunks of rows that are done with; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Chunk>>>);

impl Spare {
    pub fn give(&self, chunk: Chunk) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
    }

    fn take(&self) -> Chunk {
        let mut chunk = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        chunk.clear();
        chunk
    }
}

#[derive(Debug)]
pub(crate) struct Ingested {
    pub batch: Batch,
    pub rows: Chunk,
}

#[derive(Debug, Default)]
pub(crate) struct Buffers {
    scratch: Scratch,
    elements: Vec<u64>,
    offsets: Vec<usize>,
    decoded: Vec<u8>,
    /// Documents of the last batch.
    n_documents: usize,
}

impl Ingest {
    pub fn new(shingler: Shingler, spec: &SketchSpec, keep: &Keep, ids: bool) -> Result<Self> {
        let spec = SketchSpec { pipeline: shingler.pipeline().as_str().to_owned(), ..spec.clone() };
        let sketcher = spec.sketcher().map_err(Error::from)?;
        Ok(Self { shingler, sketcher, keep: keep.clone(), ids, minima: false, spare: Spare::default() })
    }

    pub fn spec(&self) -> &SketchSpec {
        self.sketcher.spec()
    }

    pub fn layout(&self) -> Layout {
        Layout { words: self.spec().words(), ids: self.ids, keys: self.keep.has_key() }
    }

    fn rows(&self, batch: &Batch, buffers: &mut Buffers) -> Result<Chunk> {
        let n_words = self.spec().words();
        let n = batch.n_documents();
        let mut rows = self.spare.take();
        // What is left there from other rows is written over.
        let mut all_words = std::mem::take(&mut rows.words);
        all_words.resize(n * n_words, 0);
        rows.hashes.reserve(n);
        rows.places.reserve(n);
        let mut documents = batch.documents();
        for words in all_words.chunks_mut(RUN * n_words) {
            let Buffers { scratch, elements, offsets, .. } = buffers;
            let mut end = 0;
            offsets.clear();
            offsets.push(0);
            for document in documents.by_ref().take(words.len() / n_words) {
                rows.prefetch_rows();
                let start = end;
                end = self.shingler.write_elements(document.text, scratch, elements, start);
                offsets.push(end);
                rows.hashes.push(XxHash3_128::oneshot(document.text.as_bytes()));
                rows.places.push(DocumentPlace {
                    line: document.line,
                    offset: 0,
                    input: document.input,
                    text_bytes: document.text.len() as u32,
                    shingles: (end - start) as u32,
                    minimum: if self.minima { least(&elements[start..end]) } else { 0 },
                });
                if let (true, DocumentId::Field(id)) = (self.ids, document.id) {
                    rows.ids.push(id.as_bytes());
                }
                if self.keep.has_key() {
                    rows.keys.push_with(|bytes| self.keep.push_key(document.text, document.order, bytes));
                }
            }
            self.sketcher.sketch_many(&elements[..end], offsets, words)?;
        }
        rows.words = all_words;
        Ok(rows)
    }
}

impl Work for Ingest {
    type Batch = RawBatch;
    type Scratch = Buffers;
    type Made = Ingested;
    type Error = Error;

    fn make(&self, raw: RawBatch, buffers: &mut Buffers) -> Result<Ingested> {
        let mut batch = read::parse_into(raw, std::mem::take(&mut buffers.decoded), buffers.n_documents);
        buffers.n_documents = batch.n_documents();
        let rows = self.rows(&batch, buffers)?;
        buffers.decoded = batch.shed();
        Ok(Ingested { batch, rows })
    }
}
