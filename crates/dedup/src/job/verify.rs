//! Edges: candidates whose similarity reaches the threshold.

use benzer_flow::Progress;
use benzer_flow::workers::in_parallel;
use benzer_join::bands::CandidateLists;
use benzer_join::verify::{self, FeatureSource, PairFilter, verify_held};
use benzer_join::{Edge, Rank};

use super::candidates::Candidates;
use super::setup::Job;
use crate::corpus::{Corpus, CorpusView};
use crate::documents::Documents;
use crate::edges::{EDGES, Edges, EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::progress::Stage;
use crate::request::Verify;
use crate::summary::{Counts, Summary};

/// Pairs that are estimated together for each thread, and in one go.
const TOGETHER: usize = 1 << 16;
const TASK: usize = 1 << 12;
/// Pairs between the one that is estimated and the one whose sketches are asked for.
const AHEAD: usize = 8;

impl Job<'_> {
    pub fn saved_edges(&self, summary: &mut Summary) -> Result<Option<Edges>> {
        let Some(manifest) = self.checkpoints.load(Stage::Verify) else { return Ok(None) };
        summary.counts = Counts::from_manifest(&manifest);
        summary.resumed(Stage::Candidates);
        summary.resumed(Stage::Verify);
        let new = Edges::open(&self.folders.work, EDGES)?;
        if self.request.old.paths.is_empty() {
            return Ok(Some(new));
        }
        let old = Edges::open(&self.folders.work, OLD_EDGES)?;
        Ok(Some(Edges::Both { old: Box::new(old), new: Box::new(new) }))
    }

    /// Where edges are collected: in memory with the documents, if so many fit, and in a file if they do not or the run leaves checkpoints.
    pub fn edges_writer(&self, corpus: &Corpus, name: &str, max_edges: u64) -> Result<EdgesWriter> {
        let is_held =
            matches!(corpus.documents, Documents::Memory(_)) && self.budget.has_room_for_edges(max_edges);
        let is_filed = self.checkpoints.saves || !is_held;
        let file = is_filed.then(|| self.files.create(&self.folders.work.join(name))).transpose()?;
        Ok(EdgesWriter::new(is_held, file))
    }

    /// Measures the candidates, and adds the edges to old documents, where there are some.
    pub fn verify(
        &self,
        view: &CorpusView<'_>,
        candidates: Candidates,
        old: Option<EdgesWriter>,
        summary: &mut Summary,
    ) -> Result<Edges> {
        self.observer.begin(Stage::Verify, Some(candidates.len()));
        let mut edges = self.edges_writer(view.corpus, EDGES, candidates.len())?;
        match self.request.compare.verify {
            Verify::Estimate => self.estimate(view, candidates, &mut edges)?,
            Verify::Exact => self.compare(view, candidates, &mut edges)?,
        }
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
        if self.checkpoints.saves {
            if !self.request.old.paths.is_empty() {
                view.found_old.save(self.files, &self.folders.work, &mut manifest)?;
            }
            summary.counts.to_manifest(&mut manifest);
            manifest.save(self.files, &self.folders.work)?;
        }
        Ok(edges)
    }

    /// Takes the pairs whose estimates reach the threshold.
    fn estimate(
        &self,
        view: &CorpusView<'_>,
        mut candidates: Candidates,
        edges: &mut EdgesWriter,
    ) -> Result<()> {
        let (progress, threads) = (Progress::new(self.observer), self.request.resources.threads);
        let mut rest = candidates.iter();
        loop {
            let pairs = rest.by_ref().take(threads.max(1) * TOGETHER).collect::<Result<Vec<_>>>()?;
            if pairs.is_empty() {
                return Ok(());
            }
            let tasks: Vec<&[(Rank, Rank)]> = pairs.chunks(TASK).collect();
            let made = in_parallel(tasks.len(), threads, || (), |i, ()| self.estimates_of(view, tasks[i]));
            for edge in made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                edges.push(edge)?;
            }
            progress.add(pairs.len() as u64)?;
        }
    }

    /// The edges among some pairs (later, earlier), those of a later document one after the other.
    fn estimates_of(&self, view: &CorpusView<'_>, pairs: &[(Rank, Rank)]) -> Result<Vec<Edge>> {
        let min_equal = self.estimates.min_equal(self.request.compare.threshold.value());
        let (union, mut edges) = (self.ingest.spec().registers, Vec::new());
        let mut ahead = pairs.iter().skip(AHEAD);
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            let later = group[0].0;
            let words = view.words(later)?;
            for &(_, earlier) in group {
                if let Some((later, earlier)) = ahead.next() {
                    view.prefetch_row(*later);
                    view.prefetch_row(*earlier);
                }
                let equal = self.estimates.equal(&words, &view.words(earlier)?);
                if equal >= min_equal {
                    edges.push(Edge { later, earlier, intersection: equal, union });
                }
            }
        }
        Ok(edges)
    }

    /// Takes the pairs whose exact similarity reaches the threshold.
    fn compare(&self, view: &CorpusView<'_>, candidates: Candidates, edges: &mut EdgesWriter) -> Result<()> {
        let filter = PairFilter::Reaching(self.request.compare.threshold);
        let (features, threads) = (self.features(view), self.request.resources.threads);
        let mut done = 0;
        let sink = |n, made| {
            edges.take(made)?;
            done += n as u64;
            self.observer.reached(done);
            Ok(self.check_cancelled()?)
        };
        match candidates {
            Candidates::Memory(lists) => verify_held(&lists, features, filter, threads, sink)?,
            Candidates::Sorted(pairs) => {
                verify::verify(pairs.map(|pair| Ok(pair?)), features, filter, threads, sink)?;
            }
        }
        Ok(())
    }

    /// The exact similarity of all pairs, which are sorted.
    pub fn measure(&self, view: &CorpusView<'_>, pairs: Vec<(Rank, Rank)>) -> Result<Vec<Edge>> {
        let pairs: CandidateLists = pairs.into_iter().collect();
        let mut edges = Vec::new();
        let features = self.features(view);
        verify_held([&pairs], features, PairFilter::All, self.request.resources.threads, |_, made| {
            edges.extend(made.iter());
            Ok(())
        })?;
        Ok(edges)
    }

    pub fn features<'a>(&'a self, view: &'a CorpusView<'_>) -> FeatureSource<'a> {
        FeatureSource {
            texts: view,
            shingler: &self.ingest.shingler,
            remembered: self.budget.features / size_of::<u64>(),
        }
    }
}
