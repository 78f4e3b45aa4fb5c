//! Pairs that may be similar.

use std::collections::VecDeque;
use std::ops::Range;

use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::sort::Sorted;
use benzer_flow::{Progress, Workers};
use benzer_join::Rank;
use benzer_join::bands::{BandCandidates, BandRules, BucketCounts, CandidateLists};
use benzer_join::exact;

use super::setup::Job;
use crate::corpus::{CorpusView, RankedSketches};
use crate::error::Result;
use crate::progress::Stage;
use crate::request::{Measure, Search};
use crate::summary::Summary;

pub(super) enum Candidates<'a> {
    /// All of a later document are in one of them.
    Lists(Vec<CandidateLists>),
    Unlisted(Box<Unlisted<'a>>),
    Sorted(SortedPairs),
}

/// Pairs that come one by one.
pub(super) struct SortedPairs {
    pairs: Sorted<(Rank, Rank)>,
    /// So many are verified together.
    slice: usize,
}

/// Pairs that are listed some documents at a time, because there is no room for all of them.
pub(super) struct Unlisted<'a> {
    of: BandCandidates<'a, RankedSketches<'a>>,
    /// What is listed together, from the first to the last.
    chunks: VecDeque<Range<usize>>,
    /// Bytes of lists that there is room for.
    room: u64,
}

impl Unlisted<'_> {
    /// The next of them, as many as there is room for.
    fn next(&mut self, workers: Workers<'_>) -> Result<Vec<CandidateLists>> {
        let (mut lists, mut bytes) = (Vec::new(), 0);
        while bytes < self.room
            && let Some(chunk) = self.chunks.pop_front()
        {
            let mut more = self.of.lists(chunk, workers)?;
            bytes += more.iter().map(CandidateLists::bytes).sum::<u64>();
            lists.append(&mut more);
        }
        Ok(lists)
    }
}

/// The share of memory for lists that are verified together: they may become edges of four times the size, and the lists of a chunk are not known before.
const LISTED: u64 = 16;
/// Sorted pairs that are verified together, at least and at most.
const MIN_SLICE: usize = 1 << 16;
const MAX_SLICE: usize = 1 << 22;

impl Candidates<'_> {
    /// How many pairs there are, if that is known before they are listed.
    pub fn len(&self) -> Option<u64> {
        match self {
            Self::Lists(lists) => Some(lists.iter().map(|pairs| pairs.n_pairs() as u64).sum()),
            Self::Unlisted(_) => None,
            Self::Sorted(sorted) => Some(sorted.pairs.len()),
        }
    }

    /// Hands all of them to `visit`, in order, as many at a time as there is room for; how many there were.
    pub fn visit(
        self,
        workers: Workers<'_>,
        mut visit: impl FnMut(&[CandidateLists]) -> Result<()>,
    ) -> Result<u64> {
        let mut n = 0;
        let mut visit = |lists: &[CandidateLists]| {
            n += lists.iter().map(|pairs| pairs.n_pairs() as u64).sum::<u64>();
            visit(lists)
        };
        match self {
            Self::Lists(lists) => visit(&lists)?,
            Self::Unlisted(mut unlisted) => {
                while !unlisted.chunks.is_empty() {
                    visit(&unlisted.next(workers)?)?;
                }
            }
            Self::Sorted(SortedPairs { pairs, slice: n_together }) => {
                let mut slice = CandidateLists::default();
                for pair in pairs {
                    let (later, earlier) = pair?;
                    if slice.n_pairs() >= n_together && slice.last() != Some(later) {
                        visit(&[std::mem::take(&mut slice)])?;
                    }
                    slice.push_pair(later, earlier);
                }
                visit(&[slice])?;
            }
        }
        Ok(n)
    }
}

type Found<'a> = (Candidates<'a>, BucketCounts);

impl Job<'_> {
    /// The pairs of documents of the input that may be similar.
    pub fn candidates<'a>(
        &'a self,
        view: &CorpusView<'a>,
        compared: &'a [Rank],
        summary: &mut Summary,
    ) -> Result<Candidates<'a>> {
        let (candidates, buckets) = match (self.request.compare.measure, self.request.compare.search) {
            (Measure::Containment, _) => (Candidates::Lists(Vec::new()), BucketCounts::default()),
            (_, Search::Bands(banding)) => self.candidates_of_bands(view, compared, banding)?,
            (_, Search::Exact) => self.candidates_of_join(view, compared)?,
        };
        let BucketCounts { n_bucket_pairs, n_oversized, largest } = buckets;
        let counts = &mut summary.counts;
        counts.met += n_bucket_pairs;
        counts.oversized_buckets = n_oversized;
        counts.largest_bucket = largest;
        Ok(candidates)
    }

    fn candidates_of_bands<'a>(
        &'a self,
        view: &CorpusView<'a>,
        compared: &'a [Rank],
        banding: Banding,
    ) -> Result<Found<'a>> {
        let n = compared.len() as u64;
        banding.check_documents(n)?;
        let prefilter = Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?;
        let rules = BandRules { banding, prefilter, cap: self.request.compare.cap };
        let progress = Progress::new(self.observer);
        self.observer.begin(Stage::Candidates, Some(2 * n));
        let (table, workers) = (&view.corpus.documents, self.workers(&progress));
        let are_resident = table.saved_sketches() <= self.request.resources.page_cache;
        let sketches = RankedSketches { table, ranking: view.ranking, are_resident };
        let of = BandCandidates::new(sketches, compared, rules, self.workspace(), workers)?;
        let room = (self.budget.sorting as u64).saturating_sub(of.bytes()) / LISTED;
        let (counts, chunks) = (of.counts, VecDeque::from(of.chunks(room, workers.threads)));
        let mut unlisted = Unlisted { of, chunks: chunks.clone(), room };
        let lists = unlisted.next(workers)?;
        if unlisted.chunks.is_empty() {
            return Ok((Candidates::Lists(lists), counts));
        }
        // They are listed again where each part of them is used.
        Ok((Candidates::Unlisted(Box::new(Unlisted { chunks, ..unlisted })), counts))
    }

    fn sorted(&self, pairs: Sorted<(Rank, Rank)>) -> Candidates<'static> {
        let slice = self.budget.sorting / LISTED as usize / size_of::<Rank>();
        Candidates::Sorted(SortedPairs { pairs, slice: slice.clamp(MIN_SLICE, MAX_SLICE) })
    }

    fn candidates_of_join(&self, view: &CorpusView<'_>, compared: &[Rank]) -> Result<Found<'static>> {
        self.observer.begin(Stage::Candidates, Some(3 * compared.len() as u64));
        let progress = Progress::new(self.observer);
        let (source, workers) = (self.features(view), self.workers(&progress));
        let rule = exact::Rule::duplicates(self.request.compare.threshold);
        let exact::Found { pairs, n_bucket_pairs, largest, .. } =
            exact::candidates(compared, &source, rule, self.workspace(), workers)?;
        let buckets = BucketCounts { n_bucket_pairs, n_oversized: 0, largest };
        Ok((self.sorted(pairs), buckets))
    }
}
