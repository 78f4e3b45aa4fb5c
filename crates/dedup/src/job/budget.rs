//! How the memory is shared out.

use std::sync::Arc;

use benzer_io::read::{Compression, Format, Input, Reader, estimated_documents};
use benzer_io::store::MAX_HELD;
use benzer_join::bands::max_bytes_per_document;

use crate::error::{Error, Result};
use crate::request::{Measure, Request, Search};

/// What every run needs, whatever the corpus: the program, its tables, the results being written.
const BASE: u64 = 48 << 20;
/// What a worker needs: batches on their way, shingles, one slice of pairs.
const PER_THREAD: u64 = 16 << 20;
/// What is remembered of every document when everything else is on disk: its rank, whether it is compared, its removal.
const PER_DOCUMENT: u64 = 24;
/// The same in the end, when nothing is sorted any more, if all documents are removed: edges to what they are copies of, and their removals in two orders.
const PER_REMOVED: u64 = 72;
/// What the exact join has besides: sets while they are ordered by size, and how frequent elements are, which takes no more than the texts.
const PER_SET: u64 = 88;
const FREQUENCIES: u64 = 32 << 20;
/// Bytes of text that a byte of input stands for, at most in most corpora: inputs may be compressed.
const UNPACKED: u64 = 8;

/// Whether the newlines of an input are those of its documents.
fn has_lines(input: &Arc<Input>) -> bool {
    let is_lines = matches!(input.format(), Some(Format::JsonLines | Format::Lines | Format::Csv { .. }));
    is_lines && input.compression() == Some(Compression::None)
}

/// Features that a thread remembers at most: more would not stay in a cache.
const FEATURES: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// What is shared out: for the table and the texts, as long as they fit, and for what is made of them.
    free: u64,
    /// Documents of the inputs, about, and what each needs while candidates are looked for in memory; nothing if that is done by sorting.
    documents: u64,
    per_candidate: Option<u64>,
    /// For sorting, and for what is compared.
    pub sorting: usize,
    /// For the features that each thread remembers while it verifies; nothing is sorted meanwhile.
    pub features: usize,
}

/// Bytes of a row in memory and of what is remembered of its line, about.
const PER_ROW: u64 = 320;

impl Budget {
    /// Refuses a budget that cannot work, with the smallest that does.
    pub fn new(request: &Request, reader: &Reader) -> Result<Self> {
        let (lines, others): (Vec<_>, Vec<_>) = reader.inputs().iter().cloned().partition(has_lines);
        let lines = estimated_documents(&lines);
        let documents = lines + estimated_documents(&others);
        // One object is read at a time, and copied while it is.
        let remote = 2 * MAX_HELD * u64::from(reader.inputs().iter().any(|input| input.is_remote()));
        let (per_document, join) = match (request.compare.search, request.compare.measure) {
            (Search::Exact, Measure::Jaccard) => {
                let texts =
                    reader.progress().bytes_total().map_or(u64::MAX, |bytes| bytes.saturating_mul(UNPACKED));
                (PER_DOCUMENT + PER_SET, texts.min(FREQUENCIES))
            }
            _ => (PER_DOCUMENT, 0),
        };
        let base = BASE + remote + PER_THREAD * request.resources.threads as u64;
        let fixed = base + join + per_document * documents;
        // A quarter of it, at least, is for sorting.
        // What is compressed has fewer documents than newlines: there nobody is refused for the worst that could be.
        let min = (fixed + fixed / 3).max(base + PER_REMOVED * lines);
        if request.resources.memory < min {
            let expected = format!(
                "at least {}MiB for about {documents} documents and {} threads",
                min.div_ceil(1 << 20),
                request.resources.threads
            );
            return Err(Error::parameter(
                "memory",
                expected,
                format!("{}MiB", request.resources.memory >> 20),
            ));
        }
        let free = request.resources.memory - fixed;
        let sorting = (free / 2).min(1 << 40) as usize;
        let features = (sorting / request.resources.threads.max(1) / 4).min(FEATURES);
        let per_candidate = match (request.compare.search, request.compare.measure) {
            (Search::Bands(banding), Measure::Jaccard) => {
                Some(max_bytes_per_document(banding.bands(), request.resources.threads))
            }
            _ => None,
        };
        Ok(Self { free, documents, per_candidate, sorting, features })
    }

    /// Whether so many documents, whose rows and texts take so many bytes, can stay in memory until the results are written.
    pub fn has_room_for_corpus(&self, documents: u64, bytes: u64) -> bool {
        match self.per_candidate {
            Some(per_candidate) => bytes + per_candidate * documents <= self.free,
            None => bytes <= self.free / 2,
        }
    }

    /// Whether inputs of so many bytes may be mapped: if all the rest has room beside them.
    pub fn has_room_for_maps(&self, bytes: u64) -> bool {
        bytes <= self.free && self.has_room_for_corpus(self.documents, bytes + PER_ROW * self.documents)
    }

    /// Bytes for edges in memory, beside the candidates that they come from; nothing is sorted meanwhile.
    pub fn edges(&self) -> u64 {
        self.sorting as u64 / 8
    }

    /// Shares out what is left beside a map or a corpus of so many bytes.
    pub fn take(&mut self, bytes: u64) {
        self.free -= bytes;
        self.sorting = self.sorting.min(self.free as usize);
    }

    /// Shares out what is left beside a corpus in memory.
    pub fn keep_corpus(&mut self, bytes: u64) {
        self.free = self.free.saturating_sub(bytes);
        self.sorting = self.free.min(1 << 40) as usize;
    }
}
