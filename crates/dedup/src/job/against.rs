//! The input against old documents: copies first, then what is similar.

use benzer_core::field::text::Scratch;
use benzer_core::lsh::{Banding, Prefilter};

use super::find::{Members, retain_others};
use super::stages::Run;
use crate::archive::{Archives, OldDocument, Prober, intersection, sorted_elements};
use crate::corpus::{Corpus, CorpusView};
use crate::edges::{EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::progress::Stage;
use crate::ranking::Ranking;
use crate::request::{Measure, Search, Verify};
use crate::summary::NAMED;
use benzer_flow::workers::in_parallel;
use benzer_join::Edge;
use benzer_join::bands::BandRules;
use benzer_join::verify::Texts;

/// Documents that are looked at between two looks at the wish to stop.
const TOGETHER: usize = 1 << 14;
/// Documents that a thread takes at a time.
pub(super) const TASK: usize = 64;

/// An edge to an old document: the rank of the new one, the old one, elements in both, elements in either or in the old one.
pub(super) type OldEdge = (u32, OldDocument, u32, u32);

impl Run<'_> {
    /// Finds the old documents that members are copies of or similar to. Copies are members no more, and what were copies of them are copies of the old document. The
    /// edges are those of an interrupted run if nothing is given.
    pub(super) fn against(
        &mut self,
        (corpus, ranking): (&Corpus, &Ranking),
        members: &mut Members,
        copies: &mut Vec<Edge>,
    ) -> Result<(FoundOld, Option<EdgesWriter>)> {
        let Members { compared, wordless } = members;
        self.observer.begin(Stage::Against, Some(compared.len() as u64));
        let archives = self.read_old()?;
        self.counts.against = archives.len();
        self.check_old()?;
        self.warn_of_items();
        let nobody = FoundOld::default();
        let ranked = CorpusView { corpus, ranking, found_old: &nobody };
        let mut guests = FoundOld::new(archives, corpus.documents.len());
        if self.request.compare.measure == Measure::Jaccard {
            self.old_copies(&ranked, compared, copies, &mut guests)?;
        }
        self.old_copies(&ranked, wordless, copies, &mut guests)?;
        let edges = if self.saved(Stage::Verify).is_some() {
            guests.load(&self.folders.work)?;
            None
        } else {
            Some(match (self.request.compare.measure, self.request.compare.search) {
                (Measure::Jaccard, Search::Bands(banding)) => {
                    self.similar_old(&ranked, compared, &banding, &mut guests)?
                }
                _ => self.overlapping_old(&ranked, compared, &mut guests)?,
            })
        };
        self.twins(&mut guests)?;
        guests.settle();
        self.counts.against_matched = guests.ranks().len() as u64;
        let ranked = CorpusView { corpus, ranking, found_old: &guests };
        let id = |rank| ranked.id(rank).map(String::from);
        self.matched = guests.firsts(NAMED).into_iter().map(id).collect::<Result<_>>()?;
        Ok((guests, edges))
    }

    /// Only the first old document of a text is compared with. What matches it matches the others.
    fn twins(&mut self, guests: &mut FoundOld) -> Result<()> {
        // Items are few, and everyone is written. In a corpus one text may be there a million times.
        let most = match self.request.compare.measure {
            Measure::Containment => usize::MAX,
            Measure::Jaccard => self.request.compare.cap.max(1),
        };
        let archives = &guests.archives;
        let look = |prober: &mut Prober<'_>, rank: u32| -> Result<Vec<(u32, Vec<OldDocument>)>> {
            let Some(old) = guests.at(rank) else { return Ok(Vec::new()) };
            let same = prober.of_text(archives.segment(old).row(old.number)?.hash, usize::MAX)?;
            let is_first = same.len() > 1 && same[0] == old;
            Ok(is_first.then_some((rank, same)).into_iter().collect())
        };
        let ranks: Vec<u32> = guests.ranks().collect();
        let found = each_member(&ranks, self.request.resources.threads, || Prober::new(archives), look)?;
        let n_cut = found.iter().filter(|(_, same)| same.len() > most).count();
        if n_cut > 0 {
            self.notes.push(format!(
                "{n_cut} texts are there in more than {most} old documents; pairs.parquet has the first {most} of each"
            ));
        }
        found.iter().try_for_each(|(rank, same)| guests.add_twins(*rank, &same[1..], most))
    }

    /// Says what cannot be found among the items.
    fn warn_of_items(&mut self) {
        let empty = self.counts.against_empty;
        if empty > 0 {
            self.warnings.push(format!(
                "{empty} old documents have no words: only a document of the same text matches one"
            ));
        }
        let n = self.counts.against_short;
        if n > 0 && self.request.compare.measure == Measure::Containment {
            self.warnings.push(format!(
                "{n} of the {} items to look for are shorter than one shingle: a document contains such an item only if it has no other words; a smaller --ngram sees them",
                self.counts.against
            ));
        }
    }

    /// Members that have the text of an old document, by the hash of the text and all features.
    fn old_copies(
        &mut self,
        ranked: &CorpusView<'_>,
        members: &mut Vec<u32>,
        copies: &mut Vec<Edge>,
        guests: &mut FoundOld,
    ) -> Result<()> {
        let archives = &guests.archives;
        let look = |prober: &mut Searcher<'_>, rank: u32| -> Result<Vec<(u32, OldDocument)>> {
            let hash = ranked.corpus.documents.hash(ranked.ranking.row(rank))?;
            let Searcher { prober, scratch, own, .. } = prober;
            let found = prober.copy_of(hash, || {
                let mut features = Vec::new();
                ranked.with_text(rank, &mut |text| {
                    features = sorted_elements(&self.ingest.shingler, text, scratch, own).to_vec();
                })?;
                Ok(features)
            })?;
            Ok(found.map(|old| (rank, old)).into_iter().collect())
        };
        let found = each_member(members, self.request.resources.threads, || Searcher::new(archives), look)?;
        let mut pointed: Vec<(u32, u32)> = Vec::with_capacity(found.len());
        for &(rank, old) in &found {
            let n = guests.archives.segment(old).row(old.number)?.n_features;
            let guest = guests.rank(old)?;
            pointed.push((rank, guest));
            copies.push(Edge { later: rank, earlier: guest, intersection: n, union: n });
        }
        for copy in copies.iter_mut() {
            if let Ok(i) = pointed.binary_search_by_key(&copy.earlier, |(rank, _)| *rank) {
                copy.earlier = pointed[i].1;
            }
        }
        copies.sort_unstable();
        retain_others(members, copies);
        Ok(())
    }

    /// Edges to old documents that share a band key.
    fn similar_old(
        &mut self,
        ranked: &CorpusView<'_>,
        members: &[u32],
        banding: &Banding,
        guests: &mut FoundOld,
    ) -> Result<EdgesWriter> {
        banding.check_documents(members.len() as u64 + guests.archives.len())?;
        let prefilter = Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?;
        let rules = BandRules { banding, prefilter: &prefilter, cap: self.request.compare.cap };
        let mut edges = self.edges_writer(ranked.corpus, OLD_EDGES, 0)?;
        let mut done = 0;
        for some in members.chunks(TOGETHER) {
            let archives = &guests.archives;
            let look = |searcher: &mut Searcher<'_>, rank: u32| -> Result<Vec<Looked>> {
                let words = ranked.words(rank)?;
                let met = searcher.prober.n_bucket_pairs;
                let found = searcher.prober.candidates(&words, rules)?;
                let n = found.len() as u64;
                let edges = self.measure_old(ranked, rank, (&words, &found), searcher)?;
                Ok(vec![Looked { met: searcher.prober.n_bucket_pairs - met, candidates: n, edges }])
            };
            let looked = each_member(some, self.request.resources.threads, || Searcher::new(archives), look)?;
            for Looked { met, candidates, edges: found } in looked {
                self.counts.met += met;
                self.counts.candidates += candidates;
                numbered(found, guests)?.into_iter().try_for_each(|edge| edges.push(edge))?;
            }
            done += some.len() as u64;
            self.observer.reached(done);
            Self::check_cancelled(self.observer)?;
        }
        Ok(edges)
    }

    /// The edges among the candidates of one document.
    fn measure_old(
        &self,
        ranked: &CorpusView<'_>,
        rank: u32,
        (words, candidates): (&[u64], &[OldDocument]),
        searcher: &mut Searcher<'_>,
    ) -> Result<Vec<OldEdge>> {
        let mut edges = Vec::new();
        if candidates.is_empty() {
            return Ok(edges);
        }
        if self.request.compare.verify == Verify::Estimate {
            let least = self.estimates.min_equal(self.request.compare.threshold.value());
            for &old in candidates {
                let equal =
                    self.estimates.equal(words, &searcher.archives.segment(old).row(old.number)?.words);
                if equal >= least {
                    edges.push((rank, old, equal, self.ingest.spec().registers));
                }
            }
            return Ok(edges);
        }
        let Searcher { archives, scratch, own, other, .. } = searcher;
        let mut features: &[u64] = &[];
        let mut taken = Some(own);
        ranked.with_text(rank, &mut |text| {
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
                edges.push((rank, old, both, union));
            }
        }
        Ok(edges)
    }
}

/// What one document found.
struct Looked {
    met: u64,
    candidates: u64,
    edges: Vec<OldEdge>,
}

/// What a thread looks with.
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

/// What `look` finds for each member, in their order.
pub(super) fn each_member<S: Send, T: Send>(
    members: &[u32],
    threads: usize,
    state: impl Fn() -> S,
    look: impl Fn(&mut S, u32) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let tasks: Vec<&[u32]> = members.chunks(TASK).collect();
    let made = in_parallel(tasks.len(), threads, state, |i, state| -> Result<Vec<T>> {
        let mut made = Vec::new();
        for &rank in tasks[i] {
            made.extend(look(state, rank)?);
        }
        Ok(made)
    });
    Ok(made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Edges with the ranks of their guests.
pub(super) fn numbered(edges: Vec<OldEdge>, guests: &mut FoundOld) -> Result<Vec<Edge>> {
    let edge = |(later, old, intersection, union)| {
        Ok(Edge { later, earlier: guests.rank(old)?, intersection, union })
    };
    edges.into_iter().map(edge).collect()
}
