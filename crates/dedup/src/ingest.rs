//! From raw batches to rows of the table: parse, hash, shingle, sketch. Workers do it, any number of them.

use std::sync::atomic::{AtomicBool, Ordering};

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::hash::least;
use benzer_core::sketch::{SketchSpec, Sketcher};
use benzer_flow::pipeline::Work;
use benzer_io::read::{self, Batch, Document, DocumentId, RawBatch};
use twox_hash::XxHash3_128;

use crate::documents::{Chunk, DocumentPlace, Layout};
use crate::error::{Error, Result};
use crate::keep::{self, Keep};

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
    /// Whether batches give their lines up as soon as rows are made of them.
    pub forgets: AtomicBool,
    /// The fewest tokens of a document that is not short.
    shortest: usize,
}

/// What was made of a batch, where the thread that made it has it.
#[derive(Debug)]
pub(crate) struct Ingested {
    pub batch: Batch,
    pub rows: Chunk,
    pub tally: Tally,
    pub rejects: Rejects,
}

/// What is counted of documents.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub text_bytes: u64,
    pub empty: u64,
    pub short: u64,
    /// Documents whose policy key is a text, and those that have none.
    pub by_text: u64,
    pub unordered: u64,
}

/// The lines that are no documents: how many, the messages of the first few, and all of them as they are written.
#[derive(Debug, Default)]
pub(crate) struct Rejects {
    pub n: u64,
    pub named: Vec<String>,
    pub lines: Vec<u8>,
}

/// Rejects that are named.
pub(crate) const NAMED: usize = 5;

impl Rejects {
    fn of(batch: &Batch) -> Self {
        let rejects = batch.rejects();
        let named = rejects.iter().take(NAMED).map(ToString::to_string).collect();
        let mut lines = Vec::new();
        benzer_io::rewrite::reject_lines(batch, &mut lines);
        Self { n: rejects.len() as u64, named, lines }
    }
}

impl Ingested {
    /// Bytes of memory that it holds.
    pub fn bytes(&self) -> u64 {
        (self.batch.bytes() + self.rows.bytes() + self.rejects.lines.capacity()) as u64
    }
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
        let shortest = shingler.options().n;
        let (keep, forgets) = (keep.clone(), AtomicBool::new(false));
        Ok(Self { shingler, sketcher, keep, ids, minima: false, forgets, shortest })
    }

    pub fn spec(&self) -> &SketchSpec {
        self.sketcher.spec()
    }

    pub fn layout(&self) -> Layout {
        Layout { words: self.spec().words(), ids: self.ids, keys: self.keep.has_key() }
    }

    fn rows(&self, batch: &Batch, buffers: &mut Buffers) -> Result<(Chunk, Tally)> {
        let n_words = self.spec().words();
        let mut rows = Chunk::with_capacity(batch.n_documents(), self.layout());
        let mut all_words = vec![0; batch.n_documents() * n_words];
        let (mut documents, mut tally) = (batch.documents(), Tally::default());
        for words in all_words.chunks_mut(RUN * n_words) {
            let Buffers { scratch, elements, offsets, .. } = buffers;
            let mut end = 0;
            offsets.clear();
            offsets.push(0);
            for document in documents.by_ref().take(words.len() / n_words) {
                let start = end;
                end = self.shingler.write_elements(document.text, scratch, elements, start);
                offsets.push(end);
                self.push(&document, &elements[start..end], &mut rows, &mut tally);
            }
            self.sketcher.sketch_many(&elements[..end], offsets, words)?;
        }
        rows.words = all_words;
        if self.keep.field().is_some() {
            (tally.by_text, tally.unordered) = keep::kinds(rows.keys.iter());
        }
        rows.ids.shrink_to_fit();
        rows.keys.shrink_to_fit();
        Ok((rows, tally))
    }

    /// Adds all of a row but its sketch.
    #[inline]
    fn push(&self, document: &Document<'_>, elements: &[u64], rows: &mut Chunk, tally: &mut Tally) {
        rows.hashes.push(XxHash3_128::oneshot(document.text.as_bytes()));
        rows.places.push(DocumentPlace {
            line: document.line,
            offset: tally.text_bytes,
            input: document.input,
            text_bytes: document.text.len() as u32,
            shingles: elements.len() as u32,
            minimum: if self.minima { least(elements) } else { 0 },
        });
        tally.text_bytes += document.text.len() as u64;
        tally.empty += u64::from(elements.is_empty());
        tally.short += u64::from(elements.len() == 1 && self.shortest > 1);
        if let (true, DocumentId::Field(id)) = (self.ids, document.id) {
            rows.ids.push(id.as_bytes());
        }
        if self.keep.has_key() {
            rows.keys.push_with(|bytes| self.keep.push_key(document.text, document.order, bytes));
        }
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
        let (rows, tally) = self.rows(&batch, buffers)?;
        let rejects = Rejects::of(&batch);
        buffers.decoded = batch.shed();
        if self.forgets.load(Ordering::Relaxed) {
            batch.forget_lines();
        }
        Ok(Ingested { batch, rows, tally, rejects })
    }
}
