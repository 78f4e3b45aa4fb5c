//! Copies, candidates, edges, removals.

use std::collections::HashMap;

use benzer_core::lsh::Prefilter;

use super::stages::Run;
use super::{Counts, Measure, Search, Stage, Verify, outcome};
use crate::corpus::{Corpus, Ranked, RankedSketches};
use crate::decide::{self, Removal, Rule};
use crate::documents::{Documents, Place};
use crate::edges::{EDGES, Edges, EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::guests::Guests;
use crate::ranking::Ranking;
use benzer_flow::sort::Sorted;
use benzer_flow::{Progress, ThreadProgress, Workers};
use benzer_join::Edge;
use benzer_join::bands::{self as group, BandRules, BucketCounts, CandidateLists};
use benzer_join::exact as join;
use benzer_join::resolve::{Cluster, Components, Leaders};
use benzer_join::verify::{ElementCounter, FeatureSource, PairFilter, Texts, verify, verify_held};
use benzer_storage::Manifest;

/// Documents to compare, and what leads from copies to the first of the same text.
type Grouped<T> = (Members, Vec<T>);

/// Documents in keep order, empty texts left out.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Those that have features.
    pub compared: Vec<u32>,
    /// Those that have none, and can only be copies.
    pub wordless: Vec<u32>,
}

impl Members {
    /// Takes a document, unless its text is empty.
    fn push(&mut self, rank: u32, place: &Place) -> bool {
        match (place.shingles, place.text_bytes) {
            (0, 0) => return false,
            (0, _) => self.wordless.push(rank),
            _ => self.compared.push(rank),
        }
        true
    }

    fn all(&mut self) -> [&mut Vec<u32>; 2] {
        [&mut self.compared, &mut self.wordless]
    }
}

/// Leaves out what are copies.
pub(super) fn retain_others(ranks: &mut Vec<u32>, copies: &[Edge]) {
    let mut gone = copies.iter().map(|copy| copy.later).peekable();
    ranks.retain(|rank| {
        while gone.next_if(|gone| gone < rank).is_some() {}
        gone.peek() != Some(rank)
    });
}

/// Pairs to compare, in order.
pub(super) enum Pairs {
    /// All of a later document are in one of them.
    Memory(Vec<CandidateLists>),
    Sorted(Sorted<(u32, u32)>),
}

impl Pairs {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(lists) => lists.iter().map(|pairs| pairs.n_pairs() as u64).sum(),
            Self::Sorted(pairs) => pairs.len(),
        }
    }

    fn iter(&mut self) -> Box<dyn Iterator<Item = Result<(u32, u32)>> + '_> {
        match self {
            Self::Memory(parts) => Box::new(parts.iter().flat_map(CandidateLists::pairs).map(Ok)),
            Self::Sorted(pairs) => Box::new(pairs.by_ref().map(|pair| Ok(pair?))),
        }
    }
}

impl Run<'_> {
    /// The keep order, the documents to compare, and the copies as edges to their representatives.
    pub(super) fn group(&mut self, corpus: &Corpus) -> Result<(Ranking, Members, Vec<Edge>)> {
        self.observer.begin(Stage::Group, Some(corpus.documents.len().into()));
        let ids = self.options.read.id_field.is_some();
        let watch = Progress::new(self.observer);
        let sorter = || self.room().sorter(2);
        let ranking = Ranking::new(&corpus.documents, &self.options.keep, ids, sorter, &watch)?;
        self.counts.repeated_ids = ranking.repeated_ids.into();
        if let Some(example) = ranking.examples.first() {
            self.warnings.push(format!(
                "{} documents have an id that another one has (such as `{example}`); they are told apart by their place",
                ranking.repeated_ids
            ));
        }
        let ranked = Ranked { corpus, ranking: &ranking, guests: &Guests::default() };
        let (mut members, mut copies) = self.copies(&ranked, &watch)?;
        if self.options.measure == Measure::Containment {
            // Documents of the input are not compared with each other.
            copies.clear();
        }
        members.all().into_iter().for_each(|ranks| retain_others(ranks, &copies));
        Ok((ranking, members, copies))
    }

    /// The documents that have a text, and which of them have that of an earlier one: all elements are in both.
    fn copies(&self, ranked: &Ranked<'_>, watch: &Progress<'_>) -> Result<Grouped<Edge>> {
        let (mut counter, mut sizes) = (ElementCounter::default(), HashMap::new());
        // How many there are is not known: it is only looked whether the run shall stop.
        let mut steps = ThreadProgress::new(watch, 1, 0);
        let equal = |first: u32, other: u32| {
            steps.step()?;
            let mut is_equal = false;
            ranked.with_texts(first, other, &mut |text, other| {
                is_equal = text == other;
                if is_equal {
                    sizes.entry(first).or_insert_with(|| counter.count(text, &self.ingest.shingler));
                }
            })?;
            Ok(is_equal)
        };
        let (members, copies) = self.equal_texts(ranked, equal)?;
        let edge = |(later, earlier)| {
            let n = sizes[&earlier];
            Edge { later, earlier, intersection: n, union: n }
        };
        Ok((members, copies.into_iter().map(edge).collect()))
    }

    /// The documents that have a text, and the pairs of them that are equal, each with the first of its group.
    fn equal_texts(
        &self,
        ranked: &Ranked<'_>,
        mut equal: impl FnMut(u32, u32) -> benzer_flow::Result<bool>,
    ) -> Result<Grouped<(u32, u32)>> {
        let documents = &ranked.corpus.documents;
        let mut members = Members::default();
        if let Documents::Memory(table) = documents {
            let hash = |rank: u32| table.hash(ranked.ranking.row(rank));
            for rank in 0..ranked.len() {
                members.push(rank, &table.place(ranked.ranking.row(rank)));
            }
            let mut copies = Vec::new();
            // A text with words is not equal to one without.
            for ranks in members.all().into_iter().filter(|ranks| !ranks.is_empty()) {
                let prefetch = |rank, what| ranked.prefetch(rank, what);
                copies.extend(group::copies(ranks, hash, prefetch, &mut equal)?);
            }
            copies.sort_unstable();
            return Ok((members, copies));
        }
        let rows = documents.rows()?.zip(0..);
        let mut sorter = self.room().sorter::<(u128, u32)>(2);
        for (record, row) in rows {
            let (hash, place) = record?;
            let rank = ranked.ranking.rank(row);
            if members.push(rank, &place) {
                sorter.push((hash, rank))?;
            }
        }
        members.all().into_iter().for_each(|ranks| ranks.sort_unstable());
        let copies = group::copies_in_order(sorter.finish()?.map(|record| Ok(record?)), equal)?;
        Ok((members, copies))
    }

    fn workers<'a>(&self, progress: &'a Progress<'a>) -> Workers<'a> {
        Workers { threads: self.options.threads, progress }
    }

    fn sources<'a>(&'a self, ranked: &'a Ranked<'_>) -> FeatureSource<'a> {
        FeatureSource {
            texts: ranked,
            shingler: &self.ingest.shingler,
            remembered: self.memory.features / size_of::<u64>(),
        }
    }

    /// The exact similarity of all pairs, which are sorted.
    fn measure(&self, ranked: &Ranked<'_>, pairs: Vec<(u32, u32)>) -> Result<Vec<Edge>> {
        let pairs: CandidateLists = pairs.into_iter().collect();
        let mut edges = Vec::new();
        let sources = self.sources(ranked);
        verify_held([&pairs], sources, PairFilter::All, self.options.threads, |_, made| {
            edges.extend(made.iter());
            Ok(())
        })?;
        Ok(edges)
    }

    pub(super) fn candidates(&mut self, ranked: &Ranked<'_>, members: &[u32]) -> Result<Pairs> {
        let (pairs, meetings) = match self.options.search {
            _ if self.options.measure == Measure::Containment => {
                (Pairs::Memory(Vec::new()), BucketCounts::default())
            }
            Search::Bands(banding) => {
                banding.check_documents(members.len() as u64)?;
                let prefilter = Prefilter::new(self.ingest.spec(), self.options.threshold.value())?;
                let rules = BandRules { banding: &banding, prefilter: &prefilter, cap: self.options.cap };
                let watch = Progress::new(self.observer);
                let n = members.len() as u64;
                match &ranked.corpus.documents {
                    Documents::Memory(table) => {
                        self.observer.begin(Stage::Candidates, Some(2 * n));
                        let sketches = RankedSketches { table, ranking: ranked.ranking };
                        let (pairs, meetings) =
                            group::candidates(&sketches, members, rules, self.workers(&watch))?;
                        (Pairs::Memory(pairs), meetings)
                    }
                    Documents::Disk(table) => {
                        self.observer.begin(Stage::Candidates, Some(2 * n + u64::from(table.len())));
                        let n_words = self.ingest.layout().words;
                        let order = (ranked.ranking, members);
                        let room = (self.room(), &watch);
                        let (pairs, meetings) =
                            crate::spilled::candidates(table, order, rules, n_words, room)?;
                        (Pairs::Sorted(pairs), meetings)
                    }
                }
            }
            Search::Exact => {
                self.observer.begin(Stage::Candidates, Some(3 * members.len() as u64));
                let watch = Progress::new(self.observer);
                let sources = self.sources(ranked);
                let rule = join::Rule::duplicates(self.options.threshold);
                let found = join::candidates(members, &sources, rule, self.room(), self.workers(&watch))?;
                let meetings = BucketCounts {
                    n_bucket_pairs: found.n_bucket_pairs,
                    n_oversized: 0,
                    largest: found.largest,
                };
                (Pairs::Sorted(found.pairs), meetings)
            }
        };
        let BucketCounts { n_bucket_pairs, n_oversized, largest } = meetings;
        let candidates = pairs.len();
        self.counts = Counts {
            met: self.counts.met + n_bucket_pairs,
            candidates: self.counts.candidates + candidates,
            oversized_buckets: n_oversized,
            largest_bucket: largest,
            ..self.counts.clone()
        };
        Ok(pairs)
    }

    /// The edges of an interrupted run.
    pub(super) fn saved_edges(&mut self) -> Result<Option<Edges>> {
        let Some(manifest) = self.saved(Stage::Verify) else { return Ok(None) };
        self.counts = Counts::from_manifest(&manifest);
        self.resumed(Stage::Candidates);
        self.resumed(Stage::Verify);
        let new = Edges::open(&self.folders.work, EDGES)?;
        if self.options.against.is_empty() {
            return Ok(Some(new));
        }
        let old = Edges::open(&self.folders.work, OLD_EDGES)?;
        Ok(Some(Edges::Both { old: Box::new(old), new: Box::new(new) }))
    }

    /// Where edges are collected: in memory with the documents, if so many fit, and in a file if they do not or the run leaves checkpoints.
    pub(super) fn edges_writer(&self, corpus: &Corpus, name: &str, most: u64) -> Result<EdgesWriter> {
        let is_held =
            matches!(corpus.documents, Documents::Memory(_)) && self.memory.has_room_for_edges(most);
        let is_filed = self.saves || !is_held;
        let file = is_filed.then(|| self.files.create(&self.folders.work.join(name))).transpose()?;
        Ok(EdgesWriter::new(is_held, file))
    }

    /// Measures the candidates, and adds the edges to old documents, where there are some.
    pub(super) fn verify(
        &mut self,
        ranked: &Ranked<'_>,
        mut candidates: Pairs,
        old: Option<EdgesWriter>,
    ) -> Result<Edges> {
        self.observer.begin(Stage::Verify, Some(candidates.len()));
        let mut edges = self.edges_writer(ranked.corpus, EDGES, candidates.len())?;
        if self.options.verify == Verify::Estimate {
            let least = self.estimates.least_equal(self.options.threshold.value());
            let (watch, n) = (Progress::new(self.observer), candidates.len());
            let mut steps = ThreadProgress::new(&watch, n, n);
            for pair in candidates.iter() {
                steps.step()?;
                let (later, earlier) = pair?;
                let equal = self.estimates.equal(&ranked.words(later)?, &ranked.words(earlier)?);
                if equal >= least {
                    let union = self.ingest.spec().registers;
                    edges.push(Edge { later, earlier, intersection: equal, union })?;
                }
            }
        } else {
            let (mut done, wanted) = (0, PairFilter::Reaching(self.options.threshold));
            let sources = self.sources(ranked);
            let sink = |n, made| {
                edges.take(made)?;
                done += n as u64;
                self.observer.reached(done);
                Ok(Self::check_cancelled(self.observer)?)
            };
            match candidates {
                Pairs::Memory(lists) => {
                    verify_held(&lists, sources, wanted, self.options.threads, sink)?;
                }
                Pairs::Sorted(pairs) => {
                    let pairs = pairs.map(|pair| Ok(pair?));
                    verify(pairs, sources, wanted, self.options.threads, sink)?;
                }
            }
        }
        let mut manifest = Manifest::new(Stage::Verify.name(), &self.fingerprint);
        let mut edges = edges.finish(&mut manifest)?;
        if let Some(old) = old {
            edges = Edges::Both { old: Box::new(old.finish(&mut manifest)?), new: Box::new(edges) };
        }
        self.counts.edges = edges.len();
        if ranked.guests.has_twins() {
            // What is similar to an old document is similar to the others of its text, and they are pairs too.
            edges.parts(|some| {
                let twins = some.iter().map(|edge| ranked.guests.twins(edge.earlier).len() as u64);
                self.counts.edges += twins.sum::<u64>();
                Ok(())
            })?;
        }
        if self.saves {
            if !self.options.against.is_empty() {
                ranked.guests.save(self.files, &self.folders.work, &mut manifest)?;
            }
            self.counts.to_manifest(&mut manifest);
            manifest.save(self.files, &self.folders.work)?;
        }
        Ok(edges)
    }

    pub(super) fn resolve(
        &mut self,
        ranked: &Ranked<'_>,
        edges: &Edges,
        copies: &[Edge],
    ) -> Result<Vec<Removal>> {
        self.observer.begin(Stage::Resolve, None);
        let decisive = match self.options.cluster {
            Cluster::Leaders => {
                let mut leaders = Leaders::default();
                edges.parts(|edges| {
                    edges.iter().for_each(|edge| leaders.push(*edge));
                    Ok(())
                })?;
                leaders.finish()
            }
            Cluster::Components => {
                let mut components = Components::new(ranked.len());
                edges.parts(|edges| {
                    edges.iter().for_each(|edge| components.push(*edge));
                    Ok(())
                })?;
                self.measure(ranked, components.finish())?
            }
        };
        let rule = self.options.rule();
        let removals = decisive.into_iter().map(|edge| Removal { edge, rule }).collect();
        let removals = decide::with_copies(removals, copies);
        self.counts.removed = removals.len() as u64;
        self.counts.kept = u64::from(ranked.len()) - self.counts.removed;
        self.counts.removed_against =
            removals.iter().filter(|removal| ranked.is_old(removal.kept())).count() as u64;
        self.warnings.extend(outcome::all_known(&self.counts, self.options.measure));
        self.counts.copies = removals.iter().filter(|removal| removal.rule == Rule::ExactCopy).count() as u64;
        Ok(removals)
    }
}
