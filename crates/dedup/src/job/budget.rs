//! How the memory is shared out.

use std::sync::Arc;

use benzer_io::read::{Compression, Format, Input, Reader, estimated_documents};
use benzer_io::store::MAX_HELD;
use benzer_join::Edge;

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

/// What a thread has for every document while candidates are found in memory: two columns of keys, counters, buckets.
const PER_THREAD_AND_DOCUMENT: u64 = 32;

/// Features that a thread remembers at most: more would not stay in a cache.
const FEATURES: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// For the table and the texts, as long as they fit.
    pub corpus: u64,
    /// For sorting, and for the sketches that are compared.
    pub sorting: usize,
    /// For the features that each thread remembers while it verifies; nothing is sorted meanwhile.
    pub features: usize,
}

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
        Ok(Self { corpus: free / 2, sorting, features })
    }

    /// Whether so many documents, whose rows and texts take so many bytes, can stay in memory until the results are written.
    pub fn has_room_for_corpus(&self, documents: u64, bytes: u64, threads: usize) -> bool {
        let candidates = PER_THREAD_AND_DOCUMENT * threads.max(1) as u64 * documents;
        bytes <= self.corpus && candidates <= self.sorting as u64
    }

    /// Whether so many edges can stay in memory beside the candidates that they come from; nothing is sorted meanwhile.
    pub fn has_room_for_edges(&self, max_edges: u64) -> bool {
        max_edges.saturating_mul((size_of::<Edge>() + size_of::<u32>()) as u64) <= self.sorting as u64
    }

    /// Whether inputs of so many bytes may be mapped: a quarter of what is shared out at most.
    pub fn has_room_for_maps(&self, bytes: u64) -> bool {
        bytes <= (self.corpus + self.sorting as u64) / 4
    }

    /// Shares out what is left beside maps of so many bytes.
    pub fn take(&mut self, bytes: u64) {
        self.corpus -= bytes / 2;
        self.sorting -= (bytes / 2) as usize;
    }
}
