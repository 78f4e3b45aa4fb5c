//! Edges: candidates whose similarity reaches the threshold.

use benzer_flow::workers::in_parallel;
use benzer_flow::{Progress, Workers};
use benzer_join::bands::CandidateLists;
use benzer_join::verify::{EdgeLists, FeatureSource, PairFilter, verify_held};
use benzer_join::{Edge, Rank};
use benzer_storage::Manifest;

use super::candidates::Candidates;
use super::resume::IsWanted;
use super::setup::Job;
use crate::corpus::CorpusView;
use crate::edges::{EDGES, Edges, EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::progress::Stage;
use crate::request::Verify;
use crate::summary::{Counts, Summary};
/// Pairs between the one that is estimated and the one whose sketches are asked for.
const AHEAD: usize = 8;
/// One of so many bytes for sorting, of which nothing is sorted meanwhile, may hold the documents of a large cluster.
const HELD_SHARE: usize = 8;

impl Job<'_> {
    pub fn saved_edges(&self, summary: &mut Summary) -> Result<Option<Edges>> {
        let Some(manifest) = self.checkpoints.load(Stage::Verify) else { return Ok(None) };
        summary.counts = Counts::from_manifest(&manifest);
        summary.resumed(Stage::Candidates);
        summary.resumed(Stage::Verify);
        let open = |name| Edges::open(&self.folders.work, name, self.budget.edges());
        let new = open(EDGES)?;
        if self.request.old.paths.is_empty() {
            return Ok(Some(new));
        }
        let old = open(OLD_EDGES)?;
        Ok(Some(Edges::Both { old: Box::new(old), new: Box::new(new) }))
    }

    /// Where edges are collected: in memory as long as there is room.
    pub fn edges_writer(&self, name: &str) -> EdgesWriter<'_> {
        EdgesWriter::new(self.files, self.folders.work.join(name), self.budget.edges())
    }

    /// Measures the candidates, and adds the edges to old documents, where there are some. Also gives the manifest under which all of them may be saved.
    pub fn verify(
        &self,
        view: &CorpusView<'_>,
        candidates: Candidates<'_>,
        old: Option<EdgesWriter<'_>>,
        summary: &mut Summary,
    ) -> Result<(Edges, Option<Manifest>)> {
        self.observer.begin(Stage::Verify, candidates.len());
        let mut edges = self.edges_writer(EDGES);
        let progress = Progress::new(self.observer);
        let workers = self.workers(&progress);
        let filter = PairFilter::Reaching(self.request.compare.threshold);
        summary.counts.candidates +=
            candidates.visit(workers, |lists| match self.request.compare.verify {
                Verify::Estimate => edges.take(self.estimate(view, lists, workers)?),
                Verify::Exact => edges.take(verify_held(lists, self.features(view), filter, workers)?),
            })?;
        let mut manifest = self.checkpoints.begin(Stage::Verify);
        let mut edges = edges.finish(&mut manifest)?;
        if let Some(old) = old {
            edges = Edges::Both { old: Box::new(old.finish(&mut manifest)?), new: Box::new(edges) };
        }
        summary.counts.edges = edges.len();
        if view.found_old.has_twins() {
            // What is similar to an old document is similar to the others of its text, and they are pairs too.
            edges.parts(|some| {
                let twins = some.iter().map(|edge| view.found_old.twins(edge.earlier).len() as u64);
                summary.counts.edges += twins.sum::<u64>();
                Ok(())
            })?;
        }
        summary.counts.to_manifest(&mut manifest);
        Ok((edges, Some(manifest)))
    }

    /// Saves edges in memory, and which old documents they lead to.
    pub fn save_edges(
        &self,
        edges: &Edges,
        view: &CorpusView<'_>,
        mut manifest: Manifest,
        is_wanted: IsWanted<'_>,
    ) -> Result<()> {
        let work = &self.folders.work;
        let (new, old) = match edges {
            Edges::Both { old, new } => (&**new, Some(&**old)),
            new => (new, None),
        };
        let is_saved = new.save(self.files, &work.join(EDGES), &mut manifest, is_wanted)?
            && old.map_or(Ok(true), |old| {
                old.save(self.files, &work.join(OLD_EDGES), &mut manifest, is_wanted)
            })?;
        if !is_saved {
            return Ok(());
        }
        if !self.request.old.paths.is_empty() {
            view.found_old.save(self.files, work, &mut manifest)?;
        }
        manifest.save(self.files, work)?;
        Ok(())
    }

    /// The pairs whose estimates reach the threshold.
    fn estimate(
        &self,
        view: &CorpusView<'_>,
        lists: &[CandidateLists],
        workers: Workers<'_>,
    ) -> Result<EdgeLists> {
        let min_equal = self.estimates.min_equal(self.request.compare.threshold.value());
        let union = self.ingest.spec().registers;
        let estimate = |i: usize, _: &mut ()| {
            let mut edges = Vec::new();
            let mut ahead = lists[i].pairs().skip(AHEAD);
            for (later, earlier) in lists[i].pairs() {
                if let Some((later, earlier)) = ahead.next() {
                    view.prefetch_row(later);
                    view.prefetch_row(earlier);
                }
                let equal = self.estimates.equal(&view.words(later)?, &view.words(earlier)?);
                if equal >= min_equal {
                    edges.push(Edge { later, earlier, intersection: equal, union });
                }
            }
            workers.progress.add(lists[i].n_pairs() as u64)?;
            Ok(edges)
        };
        let made = in_parallel(lists.len(), workers.threads, || (), estimate);
        Ok(EdgeLists::of(made.into_iter().collect::<Result<Vec<_>>>()?.concat()))
    }

    /// The exact similarity of all pairs, which are sorted.
    pub fn measure(&self, view: &CorpusView<'_>, pairs: Vec<(Rank, Rank)>) -> Result<Vec<Edge>> {
        let pairs: CandidateLists = pairs.into_iter().collect();
        let progress = Progress::silent();
        let workers = self.workers(&progress);
        Ok(verify_held([&pairs], self.features(view), PairFilter::All, workers)?.iter().collect())
    }

    pub fn features<'a>(&'a self, view: &'a CorpusView<'_>) -> FeatureSource<'a> {
        FeatureSource {
            texts: view,
            shingler: &self.ingest.shingler,
            remembered: self.budget.features / size_of::<u64>(),
            held: self.budget.sorting / HELD_SHARE,
        }
    }
}
