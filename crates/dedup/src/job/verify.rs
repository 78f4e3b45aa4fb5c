//! Edges: candidates whose similarity reaches the threshold.

use benzer_flow::{Progress, Steps};
use benzer_join::Edge;
use benzer_join::bands::ByLater;
use benzer_join::verify::{self, Sources, Wanted, verify_held};
use benzer_storage::Manifest;

use super::candidates::Candidates;
use super::setup::Job;
use crate::corpus::{Corpus, Ranked};
use crate::documents::Documents;
use crate::edges::{EDGES, Edges, EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::progress::Stage;
use crate::request::Verify;
use crate::summary::{Counts, Summary};

impl Job<'_> {
    /// The edges of an interrupted run.
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
        ranked: &Ranked<'_>,
        candidates: Candidates,
        old: Option<EdgesWriter>,
        summary: &mut Summary,
    ) -> Result<Edges> {
        self.observer.begin(Stage::Verify, Some(candidates.len()));
        let mut edges = self.edges_writer(ranked.corpus, EDGES, candidates.len())?;
        match self.request.compare.verify {
            Verify::Estimate => self.estimate(ranked, candidates, &mut edges)?,
            Verify::Exact => self.compare(ranked, candidates, &mut edges)?,
        }
        let mut manifest = self.checkpoints.begin(Stage::Verify);
        let mut edges = edges.finish(&mut manifest)?;
        if let Some(old) = old {
            edges = Edges::Both { old: Box::new(old.finish(&mut manifest)?), new: Box::new(edges) };
        }
        summary.counts.edges = edges.len();
        if ranked.guests.has_twins() {
            // What is similar to an old document is similar to the others of its text, and they are pairs too.
            edges.parts(|some| {
                let twins = some.iter().map(|edge| ranked.guests.twins(edge.earlier).len() as u64);
                summary.counts.edges += twins.sum::<u64>();
                Ok(())
            })?;
        }
        if self.checkpoints.saves {
            self.save_edges(ranked, manifest, &summary.counts)?;
        }
        Ok(edges)
    }

    /// Takes the pairs whose estimates reach the threshold.
    fn estimate(
        &self,
        ranked: &Ranked<'_>,
        mut candidates: Candidates,
        edges: &mut EdgesWriter,
    ) -> Result<()> {
        let min_equal = self.estimates.least_equal(self.request.compare.threshold.value());
        let (progress, n) = (Progress::new(self.observer), candidates.len());
        let mut steps = Steps::new(&progress, n, n);
        for pair in candidates.iter() {
            steps.step()?;
            let (later, earlier) = pair?;
            let equal = self.estimates.equal(&ranked.words(later)?, &ranked.words(earlier)?);
            if equal >= min_equal {
                let union = self.ingest.spec().registers;
                edges.push(Edge { later, earlier, intersection: equal, union })?;
            }
        }
        Ok(())
    }

    /// Takes the pairs whose exact similarity reaches the threshold.
    fn compare(&self, ranked: &Ranked<'_>, candidates: Candidates, edges: &mut EdgesWriter) -> Result<()> {
        let wanted = Wanted::Reaching(self.request.compare.threshold);
        let (sources, threads) = (self.sources(ranked), self.request.resources.threads);
        let mut done = 0;
        let sink = |n, made| {
            edges.take(made)?;
            done += n as u64;
            self.observer.reached(done);
            Ok(self.check_cancelled()?)
        };
        match candidates {
            Candidates::Memory(lists) => verify_held(&lists, sources, wanted, threads, sink)?,
            Candidates::Sorted(pairs) => {
                verify::verify(pairs.map(|pair| Ok(pair?)), sources, wanted, threads, sink)?;
            }
        }
        Ok(())
    }

    /// Leaves what a resumed run takes over.
    fn save_edges(&self, ranked: &Ranked<'_>, mut manifest: Manifest, counts: &Counts) -> Result<()> {
        if !self.request.old.paths.is_empty() {
            ranked.guests.save(self.files, &self.folders.work, &mut manifest)?;
        }
        counts.to_manifest(&mut manifest);
        manifest.save(self.files, &self.folders.work)?;
        Ok(())
    }

    /// The exact similarity of all pairs, which are sorted.
    pub fn measure(&self, ranked: &Ranked<'_>, pairs: Vec<(u32, u32)>) -> Result<Vec<Edge>> {
        let pairs: ByLater = pairs.into_iter().collect();
        let mut edges = Vec::new();
        let sources = self.sources(ranked);
        verify_held([&pairs], sources, Wanted::All, self.request.resources.threads, |_, made| {
            edges.extend(made.iter());
            Ok(())
        })?;
        Ok(edges)
    }

    fn sources<'a>(&'a self, ranked: &'a Ranked<'_>) -> Sources<'a> {
        Sources {
            texts: ranked,
            shingler: &self.ingest.shingler,
            remembered: self.budget.features / size_of::<u64>(),
        }
    }
}
