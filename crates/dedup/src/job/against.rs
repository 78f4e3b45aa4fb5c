//! The input against old documents: copies first, then what is similar.

use benzer_core::field::text::Scratch;
use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::workers::in_parallel;
use benzer_join::bands::BandRules;
use benzer_join::verify::Texts;
use benzer_join::{Edge, Rank};

use super::group::Distinct;
use super::old::OldInput;
use super::setup::Job;
use crate::archive::{Archives, OldDocument, Prober, intersection, sorted_elements};
use crate::corpus::CorpusView;
use crate::edges::{EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::progress::Stage;
use crate::request::{Measure, Search, Verify};
use crate::summary::{Counts, NAMED, Summary};

/// Documents after which it is asked whether the run shall stop.
const TOGETHER: usize = 1 << 14;
/// Documents that a thread takes at a time.
pub(super) const TASK: usize = 64;

/// An edge to an old document, which has no rank yet.
pub(super) struct OldEdge {
    pub rank: Rank,
    pub old: OldDocument,
    pub intersection: u32,
    /// Elements in either, or in the old one.
    pub union: u32,
}

/// What of the input matches old documents.
pub(super) struct Matched<'a> {
    /// What is left: copies of old documents are not compared any more.
    pub distinct: Distinct,
    pub found_old: FoundOld,
    /// Edges to old documents; nothing if those of an interrupted run are there.
    pub edges: Option<EdgesWriter<'a>>,
}

impl Job<'_> {
    /// Finds the old documents that those of the input are copies of or similar to. What were copies of a copy are copies of the old document.
    pub fn against(
        &self,
        view: &CorpusView<'_>,
        old: Vec<OldInput>,
        mut distinct: Distinct,
        summary: &mut Summary,
    ) -> Result<Matched<'_>> {
        self.observer.begin(Stage::Against, Some(distinct.compared.len() as u64));
        let archives = self.read_old(old, summary)?;
        summary.counts.against = archives.len();
        self.check_old(summary)?;
        self.warn_of_items(summary);
        let mut found_old = FoundOld::new(archives, view.len());
        if self.request.compare.measure == Measure::Jaccard {
            self.old_copies(view, &distinct.compared, &mut distinct.copies, &mut found_old)?;
            distinct.remove_copies();
        }
        self.old_copies(view, &distinct.wordless, &mut distinct.copies, &mut found_old)?;
        distinct.remove_copies();
        let edges = match self.checkpoints.load(Stage::Verify) {
            Some(_) => {
                found_old.load(&self.folders.work)?;
                None
            }
            None => Some(match (self.request.compare.measure, self.request.compare.search) {
                (Measure::Jaccard, Search::Bands(banding)) => {
                    self.meeting_old(view, &distinct.compared, &banding, &mut found_old, &mut summary.counts)?
                }
                _ => self.overlapping_old(view, &distinct.compared, &mut found_old, &mut summary.counts)?,
            }),
        };
        self.add_twins(&mut found_old, summary)?;
        found_old.settle();
        summary.counts.against_matched = found_old.ranks().len() as u64;
        let matched = CorpusView { found_old: &found_old, ..*view };
        let id = |rank| matched.id(rank).map(String::from);
        summary.matched = found_old.firsts(NAMED).into_iter().map(id).collect::<Result<_>>()?;
        Ok(Matched { distinct, found_old, edges })
    }

    /// Only the first old document of a text is compared with. What matches it matches the others.
    fn add_twins(&self, found_old: &mut FoundOld, summary: &mut Summary) -> Result<()> {
        // Items are few, and everyone is written. In a corpus one text may be there a million times.
        let max_named = match self.request.compare.measure {
            Measure::Containment => usize::MAX,
            Measure::Jaccard => self.request.compare.cap.max(1),
        };
        let archives = &found_old.archives;
        let find = |prober: &mut Prober<'_>, rank: Rank| -> Result<Vec<(Rank, Vec<OldDocument>)>> {
            let Some(old) = found_old.at(rank) else { return Ok(Vec::new()) };
            let same = prober.of_text(archives.segment(old).row(old.number)?.hash, usize::MAX)?;
            let is_first = same.len() > 1 && same[0] == old;
            Ok(is_first.then_some((rank, same)).into_iter().collect())
        };
        let ranks: Vec<Rank> = found_old.ranks().collect();
        let found = each_document(&ranks, self.request.resources.threads, || Prober::new(archives), find)?;
        let n_cut = found.iter().filter(|(_, same)| same.len() > max_named).count();
        if n_cut > 0 {
            summary.notes.push(format!(
                "{n_cut} texts are there in more than {max_named} old documents; pairs.parquet has the first {max_named} of each"
            ));
        }
        found.iter().try_for_each(|(rank, same)| found_old.add_twins(*rank, &same[1..], max_named))
    }

    /// Says what cannot be found among the items.
    fn warn_of_items(&self, summary: &mut Summary) {
        let empty = summary.counts.against_empty;
        if empty > 0 {
            summary.warnings.push(format!(
                "{empty} old documents have no words: only a document of the same text matches one"
            ));
        }
        let n = summary.counts.against_short;
        if n > 0 && self.request.compare.measure == Measure::Containment {
            summary.warnings.push(format!(
                "{n} of the {} items to look for are shorter than one shingle: a document contains such an item only if it has no other words; a smaller --ngram sees them",
                summary.counts.against
            ));
        }
    }

    /// Documents that have the text of an old document, by the hash of the text and all features.
    fn old_copies(
        &self,
        view: &CorpusView<'_>,
        compared: &[Rank],
        copies: &mut Vec<Edge>,
        found_old: &mut FoundOld,
    ) -> Result<()> {
        let archives = &found_old.archives;
        let find = |prober: &mut Searcher<'_>, rank: Rank| -> Result<Vec<(Rank, OldDocument)>> {
            let hash = view.corpus.documents.hash(view.ranking.row(rank));
            let Searcher { prober, scratch, own, .. } = prober;
            let found = prober.copy_of(hash, || {
                let mut features = Vec::new();
                view.with_text(rank, &mut |text| {
                    features = sorted_elements(&self.ingest.shingler, text, scratch, own).to_vec();
                })?;
                Ok(features)
            })?;
            Ok(found.map(|old| (rank, old)).into_iter().collect())
        };
        let found =
            each_document(compared, self.request.resources.threads, || Searcher::new(archives), find)?;
        let mut pointed: Vec<(Rank, Rank)> = Vec::with_capacity(found.len());
        for &(rank, old) in &found {
            let n = found_old.archives.segment(old).row(old.number)?.n_features;
            let earlier = found_old.rank(old)?;
            pointed.push((rank, earlier));
            copies.push(Edge { later: rank, earlier, intersection: n, union: n });
        }
        for copy in copies.iter_mut() {
            if let Ok(i) = pointed.binary_search_by_key(&copy.earlier, |(rank, _)| *rank) {
                copy.earlier = pointed[i].1;
            }
        }
        copies.sort_unstable();
        Ok(())
    }

    /// Edges to old documents that share a band key.
    fn meeting_old(
        &self,
        view: &CorpusView<'_>,
        compared: &[Rank],
        banding: &Banding,
        found_old: &mut FoundOld,
        counts: &mut Counts,
    ) -> Result<EdgesWriter<'_>> {
        banding.check_documents(compared.len() as u64 + found_old.archives.len())?;
        let prefilter = Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?;
        let rules = BandRules { banding: *banding, prefilter, cap: self.request.compare.cap };
        let mut edges = self.edges_writer(OLD_EDGES);
        let mut done = 0;
        for part in compared.chunks(TOGETHER) {
            let archives = &found_old.archives;
            let find = |searcher: &mut Searcher<'_>, rank: Rank| -> Result<Vec<_>> {
                let words = view.words(rank)?;
                let met = searcher.prober.n_bucket_pairs;
                let found = searcher.prober.candidates(&words, rules)?;
                let n = found.len() as u64;
                let edges = match self.request.compare.verify {
                    Verify::Estimate => self.estimate_old(rank, &words, &found, searcher)?,
                    Verify::Exact => self.compare_old(view, rank, &found, searcher)?,
                };
                Ok(vec![(searcher.prober.n_bucket_pairs - met, n, edges)])
            };
            let probed =
                each_document(part, self.request.resources.threads, || Searcher::new(archives), find)?;
            for (met, candidates, found) in probed {
                counts.met += met;
                counts.candidates += candidates;
                with_ranks(found, found_old)?.into_iter().try_for_each(|edge| edges.push(edge))?;
            }
            done += part.len() as u64;
            self.observer.reached(done);
            self.check_cancelled()?;
        }
        Ok(edges)
    }

    /// The edges among the candidates of one document, by the estimates.
    fn estimate_old(
        &self,
        rank: Rank,
        words: &[u64],
        candidates: &[OldDocument],
        searcher: &Searcher<'_>,
    ) -> Result<Vec<OldEdge>> {
        let mut edges = Vec::new();
        let min_equal = self.estimates.min_equal(self.request.compare.threshold.value());
        for &old in candidates {
            let equal = self.estimates.equal(words, &searcher.archives.segment(old).row(old.number)?.words);
            if equal >= min_equal {
                edges.push(OldEdge { rank, old, intersection: equal, union: self.ingest.spec().registers });
            }
        }
        Ok(edges)
    }

    /// The edges among the candidates of one document, by exact counts.
    fn compare_old(
        &self,
        view: &CorpusView<'_>,
        rank: Rank,
        candidates: &[OldDocument],
        searcher: &mut Searcher<'_>,
    ) -> Result<Vec<OldEdge>> {
        let mut edges = Vec::new();
        if candidates.is_empty() {
            return Ok(edges);
        }
        let Searcher { archives, scratch, own, other, .. } = searcher;
        let mut features: &[u64] = &[];
        let mut taken = Some(own);
        view.with_text(rank, &mut |text| {
            if let Some(own) = taken.take() {
                features = sorted_elements(&self.ingest.shingler, text, scratch, own);
            }
        })?;
        for &old in candidates {
            let segment = archives.segment(old);
            segment.features(&segment.row(old.number)?, other)?;
            let both = intersection(features, other);
            let union = (features.len() + other.len()) as u32 - both;
            if self.request.compare.threshold.is_reached(both.into(), union.into()) {
                edges.push(OldEdge { rank, old, intersection: both, union });
            }
        }
        Ok(edges)
    }
}

struct Searcher<'a> {
    archives: &'a Archives,
    prober: Prober<'a>,
    scratch: Scratch,
    own: Vec<u64>,
    other: Vec<u64>,
}

impl<'a> Searcher<'a> {
    fn new(archives: &'a Archives) -> Self {
        Self {
            archives,
            prober: Prober::new(archives),
            scratch: Scratch::default(),
            own: Vec::new(),
            other: Vec::new(),
        }
    }
}

/// What `find` finds for each document, in their order.
pub fn each_document<S: Send, T: Send>(
    compared: &[Rank],
    threads: usize,
    state: impl Fn() -> S,
    find: impl Fn(&mut S, Rank) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let tasks: Vec<&[Rank]> = compared.chunks(TASK).collect();
    let made = in_parallel(tasks.len(), threads, state, |i, state| -> Result<Vec<T>> {
        let mut made = Vec::new();
        for &rank in tasks[i] {
            made.extend(find(state, rank)?);
        }
        Ok(made)
    });
    Ok(made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Edges with the ranks of the old documents.
pub fn with_ranks(edges: Vec<OldEdge>, found_old: &mut FoundOld) -> Result<Vec<Edge>> {
    let edge = |OldEdge { rank, old, intersection, union }| {
        Ok(Edge { later: rank, earlier: found_old.rank(old)?, intersection, union })
    };
    edges.into_iter().map(edge).collect()
}
