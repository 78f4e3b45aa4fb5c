//! The stages one after the other.

use std::time::Instant;

use benzer_core::field::text::Shingler;
use benzer_core::lsh::Prefilter;

use super::decide::{self, Removal, Rule};
use super::output::Folders;
use super::{Counts, Observer, Options, Output, Search, Stage, Summary, Timing, Verify};
use crate::corpus::{Corpus, Ranked};
use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::files::{FileWriter, Files};
use crate::group::{self, Sketches};
use crate::ingest::Ingest;
use crate::join;
use crate::pipeline;
use crate::ranking::Ranking;
use crate::read::{self, Inputs};
use crate::resolve::{self, Cluster};
use crate::verify::{Edge, Wanted, verify};
use crate::write::{self, Estimates, LineWriter, Pairs};

/// Rejects that are named in the summary.
const NAMED: usize = 5;

pub(super) struct Run<'a> {
    files: &'a Files,
    options: &'a Options,
    observer: &'a dyn Observer,
    folders: Folders,
    ingest: Ingest,
    estimates: Estimates,
    counts: Counts,
    timings: Vec<Timing>,
    rejects: Vec<String>,
}

impl<'a> Run<'a> {
    pub fn new(files: &'a Files, options: &'a Options, observer: &'a dyn Observer) -> Result<Self> {
        let shingler = Shingler::new(&options.text)?;
        let ingest = Ingest::new(shingler, &options.spec, &options.keep, options.read.id_field.is_some())?;
        Ok(Self {
            files,
            options,
            observer,
            folders: Folders::prepare(files, options)?,
            estimates: Estimates::new(ingest.spec())?,
            ingest,
            counts: Counts::default(),
            timings: Vec::new(),
            rejects: Vec::new(),
        })
    }

    pub fn run(mut self) -> Result<Summary> {
        let corpus = self.timed(Stage::Read, Self::read)?;
        let (ranking, members, copies) = self.timed(Stage::Group, |run| run.group(&corpus))?;
        let ranked = Ranked { corpus: &corpus, ranking: &ranking };
        let candidates = self.timed(Stage::Candidates, |run| run.candidates(&ranked, &members))?;
        let edges = self.timed(Stage::Verify, |run| run.verify(&ranked, &candidates))?;
        let removals = self.timed(Stage::Resolve, |run| run.resolve(&ranked, &edges, &copies))?;
        self.timed(Stage::Write, |run| run.write(&ranked, (&edges, &copies), &removals))?;
        Ok(Summary {
            counts: self.counts,
            timings: self.timings,
            rejects: self.rejects,
            ..Summary::default()
        })
    }

    fn timed<T>(&mut self, stage: Stage, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let made = work(self)?;
        self.timings.push(Timing { stage, took: start.elapsed(), resumed: false });
        Ok(made)
    }

    fn read(&mut self) -> Result<Corpus> {
        let inputs: Inputs = self.options.inputs.iter().cloned().collect();
        let reader = read::open(inputs, self.options.read.clone())?;
        let progress = reader.progress().clone();
        self.observer.begin(Stage::Read, progress.bytes_total());
        let mut corpus = Corpus {
            inputs: reader.inputs().to_vec(),
            documents: Documents::new(self.ingest.layout()),
            held: Vec::new(),
        };
        let mut rejects = self.files.create(&self.folders.result("rejects.jsonl"))?;
        let mut lines = Vec::new();
        let Self { ingest, counts, options, observer, rejects: named, .. } = &mut *self;
        let shortest = options.text.n as u32;
        pipeline::run(reader, ingest, options.threads, |made| -> Result<()> {
            let first = corpus.documents.len();
            if !corpus.documents.append(&made.rows) {
                return Err(Error::parameter("input", "at most 4,294,967,295 documents", "more"));
            }
            for place in &made.rows.places {
                counts.empty += u64::from(place.shingles == 0);
                counts.short += u64::from(place.shingles == 1 && shortest > 1);
                counts.text_bytes += u64::from(place.text_bytes);
            }
            counts.blank += made.batch.n_blank();
            counts.rejected += made.batch.rejects().len() as u64;
            if let (true, Some(reject)) = (options.strict, made.batch.rejects().first()) {
                return Err(Error::Strict { reject: reject.to_string() });
            }
            let left = NAMED - named.len().min(NAMED);
            named.extend(made.batch.rejects().iter().take(left).map(ToString::to_string));
            lines.clear();
            write::reject_lines(&made.batch, &mut lines);
            rejects.append(&lines)?;
            if made.batch.n_documents() > 0 {
                corpus.held.push((first, made.batch));
            }
            observer.reached(progress.bytes_read());
            Ok(())
        })?;
        rejects.commit()?;
        counts.read = u64::from(corpus.documents.len()) + counts.rejected;
        Ok(corpus)
    }

    /// The keep order, the documents to compare, and the copies as edges to their representatives.
    fn group(&mut self, corpus: &Corpus) -> Result<(Ranking, Vec<u32>, Vec<Edge>)> {
        self.observer.begin(Stage::Group, Some(corpus.documents.len().into()));
        let ranking = Ranking::new(&corpus.documents, &self.options.keep);
        self.counts.repeated_ids = ranking.repeated_ids.into();
        let ranked = Ranked { corpus, ranking: &ranking };
        let mut members: Vec<u32> =
            (0..corpus.documents.len()).filter(|&rank| ranked.shingles(rank) > 0).collect();
        let equal = |a, b| ranked.has_equal_texts(a, b);
        let copies = group::copies(&members, |rank| ranked.hash(rank), equal)?.pairs;
        let mut gone = copies.iter().map(|(copy, _)| *copy).peekable();
        members.retain(|rank| gone.next_if_eq(rank).is_none());
        let copies = self.sizes(&ranked, &copies)?;
        Ok((ranking, members, copies))
    }

    /// Copies as edges: all elements are in both.
    fn sizes(&self, ranked: &Ranked<'_>, copies: &[(u32, u32)]) -> Result<Vec<Edge>> {
        let mut whole: Vec<(u32, u32)> = copies.iter().map(|&(_, first)| (first, first)).collect();
        whole.sort_unstable();
        whole.dedup();
        let measured = self.measure(ranked, &whole)?;
        let size = |rank: u32| {
            let i = measured.binary_search_by_key(&rank, |edge| edge.later);
            i.map_or(0, |i| measured[i].union)
        };
        let edge = |&(later, earlier): &(u32, u32)| {
            let n = size(earlier);
            Edge { later, earlier, intersection: n, union: n }
        };
        Ok(copies.iter().map(edge).collect())
    }

    fn measure(&self, ranked: &Ranked<'_>, pairs: &[(u32, u32)]) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        let sources = (ranked as _, &self.ingest.shingler);
        verify(pairs.iter().copied().map(Ok), sources, Wanted::All, self.options.threads, |_, made| {
            edges.extend(made);
            Ok(())
        })?;
        Ok(edges)
    }

    fn candidates(&mut self, ranked: &Ranked<'_>, members: &[u32]) -> Result<Vec<(u32, u32)>> {
        let Options { threshold, threads, cap, memory, .. } = *self.options;
        let found = if let Search::Bands(banding) = self.options.search {
            self.observer.begin(Stage::Candidates, Some(banding.bands() as u64));
            banding.check_documents(members.len() as u64)?;
            group::candidates(ranked, members, (&banding, &self.prefilter()?, cap), threads)
        } else {
            self.observer.begin(Stage::Candidates, None);
            let place = (memory as usize / 2, &*self.folders.work, self.files);
            let sources = (ranked as _, &self.ingest.shingler);
            join::candidates(members, sources, threshold, threads, place)?.in_memory()?
        };
        self.counts.met = found.n_met;
        self.counts.candidates = found.pairs.len() as u64;
        self.counts.oversized_buckets = found.n_oversized;
        self.counts.largest_bucket = found.largest;
        Ok(found.pairs)
    }

    fn prefilter(&self) -> Result<Prefilter> {
        Ok(Prefilter::new(self.ingest.spec(), self.options.threshold.value())?)
    }

    fn verify(&mut self, ranked: &Ranked<'_>, candidates: &[(u32, u32)]) -> Result<Vec<Edge>> {
        self.observer.begin(Stage::Verify, Some(candidates.len() as u64));
        let mut edges = Vec::new();
        if self.options.verify == Verify::Estimate {
            let least = self.estimates.least_equal(self.options.threshold.value());
            edges.extend(candidates.iter().filter_map(|&(later, earlier)| {
                let equal = self.estimates.equal(ranked.words(later), ranked.words(earlier));
                let edge = Edge { later, earlier, intersection: equal, union: self.ingest.spec().registers };
                (equal >= least).then_some(edge)
            }));
        } else {
            let (mut done, wanted) = (0, Wanted::Reaching(self.options.threshold));
            let sources = (ranked as _, &self.ingest.shingler);
            verify(candidates.iter().copied().map(Ok), sources, wanted, self.options.threads, |n, made| {
                edges.extend(made);
                done += n as u64;
                self.observer.reached(done);
                Ok(())
            })?;
        }
        self.counts.edges = edges.len() as u64;
        Ok(edges)
    }

    fn resolve(&mut self, ranked: &Ranked<'_>, edges: &[Edge], copies: &[Edge]) -> Result<Vec<Removal>> {
        self.observer.begin(Stage::Resolve, None);
        let exact = self.options.verify == Verify::Exact;
        let decisive = match self.options.cluster {
            Cluster::Leaders => resolve::leaders(edges),
            Cluster::Components => self.measure(ranked, &resolve::components(edges))?,
        };
        let rule = decide::rule(self.options.cluster, exact);
        let removals = decisive.into_iter().map(|edge| Removal { edge, rule }).collect();
        let removals = decide::with_copies(removals, copies);
        self.counts.removed = removals.len() as u64;
        self.counts.kept = u64::from(ranked.corpus.documents.len()) - self.counts.removed;
        self.counts.copies = removals.iter().filter(|removal| removal.rule == Rule::ExactCopy).count() as u64;
        Ok(removals)
    }

    fn write(
        &mut self,
        ranked: &Ranked<'_>,
        (edges, copies): (&[Edge], &[Edge]),
        removals: &[Removal],
    ) -> Result<()> {
        self.observer.begin(Stage::Write, Some(ranked.corpus.documents.len().into()));
        let mut out = Vec::new();
        let mut pairs = Pairs::new(self.create("pairs.parquet")?, self.options.verify == Verify::Exact)?;
        for (edge, is_copy) in
            edges.iter().map(|edge| (edge, false)).chain(copies.iter().map(|edge| (edge, true)))
        {
            pairs.push(edge, is_copy, ranked, &self.estimates)?;
        }
        out.push(pairs.finish()?);
        out.push(write::evidence(self.create("evidence.parquet")?, removals, ranked, &self.estimates)?);
        let mut by_keeper = removals.to_vec();
        by_keeper.sort_unstable_by_key(|removal| (removal.kept(), removal.removed()));
        self.counts.clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept()).count() as u64;
        self.counts.largest_cluster = by_keeper
            .chunk_by(|a, b| a.kept() == b.kept())
            .map(|cluster| cluster.len() as u64 + 1)
            .max()
            .unwrap_or(0);
        out.push(write::clusters(self.create("clusters.parquet")?, &by_keeper, ranked, &self.estimates)?);
        for file in out {
            file.commit()?;
        }
        if self.options.write == Output::Remove {
            self.documents(ranked, removals)?;
        }
        Ok(())
    }

    fn create(&self, name: &str) -> Result<FileWriter> {
        Ok(self.files.create(&self.folders.result(name))?)
    }

    fn documents(&self, ranked: &Ranked<'_>, removals: &[Removal]) -> Result<()> {
        let corpus = ranked.corpus;
        let mut keep = vec![true; corpus.documents.len() as usize];
        removals.iter().for_each(|removal| keep[ranked.ranking.row(removal.removed()) as usize] = false);
        let mut row = 0;
        let mut out: Option<(u32, LineWriter)> = None;
        for (_, batch) in &corpus.held {
            for document in batch.documents() {
                if out.as_ref().is_none_or(|(input, _)| *input != document.input) {
                    if let Some((_, out)) = out.take() {
                        out.commit()?;
                    }
                    let input = &corpus.inputs[document.input as usize];
                    let path = self.folders.document(&input.relative);
                    self.files.create_dir_all(path.parent().unwrap_or(&path))?;
                    let compression = input.compression.unwrap_or(read::Compression::None);
                    out = Some((document.input, LineWriter::new(self.files.create(&path)?, compression)?));
                }
                if let (true, Some((_, out))) = (keep[row], &mut out) {
                    out.append(document.raw.as_bytes())?;
                    out.append(b"\n")?;
                }
                row += 1;
            }
        }
        out.map_or(Ok(()), |(_, out)| out.commit().map(|_| ()))
    }
}
