//! Exact similarity of candidate pairs, on the features of their texts.
//!
//! Texts are shingled again: that is faster than keeping the shingles. Pairs come sorted by (later, earlier), and go out in the same order. In between they are taken
//! cluster by cluster (the module `clusters`), because the members of a cluster are paired with the same few documents; those of a cluster that is
//! larger than a task are made once for all threads (the module `large`).

mod bits;
mod clusters;
mod documents;
mod edges;
mod features;
mod id_map;
mod lanes;
mod large;
mod numbered;
mod origins;
mod pair;
mod rank_places;
mod reference;
mod tasks;

use benzer_flow::{Result, Workers, workers::in_parallel};

use crate::bands::{CandidateLists, Candidates};
use crate::{Prefetch, Rank, prefetch};
use clusters::{ClusterComparer, LargeComparer};
pub use edges::EdgeLists;
use edges::{GroupPlaces, TaskEdges};
pub use features::{ElementCounter, FeatureSource};
pub use id_map::IdMap;
use large::LargeCluster;
use origins::{OriginGroup, by_origin};
pub use pair::PairFilter;
use tasks::{LaterSizes, Stretch, Stretches, tasks};

/// Groups of a large cluster that one thread measures in one go.
const LARGE_TASK: usize = 512;

/// The texts of documents by rank.
pub trait Texts: Sync {
    /// The length of a text.
    fn bytes(&self, rank: Rank) -> Result<u64>;

    /// Hands a text to `visit`.
    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()>;

    /// A text will be wanted soon: brings into the cache what is in memory, first where it is, then itself.
    fn prefetch(&self, _rank: Rank, _what: Prefetch) {}
}

/// Measures pairs, which are in order in several parts, and gives those that are wanted in the same order. Each pair counts once on the way.
///
/// # Errors
/// What the texts return, and the wish to stop.
pub fn verify_held<'a>(
    parts: impl IntoIterator<Item = &'a CandidateLists>,
    sources: FeatureSource<'_>,
    wanted: PairFilter,
    workers: Workers<'_>,
) -> Result<EdgeLists> {
    let groups: Vec<Candidates<'_>> = parts.into_iter().flat_map(CandidateLists::lists).collect();
    let order = by_origin(&groups, workers.threads);
    let sizes = LaterSizes::new(&groups, sources.texts, workers.threads)?;
    let places = GroupPlaces::new(groups.len());
    let pairs = Pairs { groups: &groups, places: &places, sources, wanted, workers };
    let Stretches { large, mut others } = Stretches::new(&order, &sizes, workers.threads);
    let mut made = Vec::new();
    for cluster in large {
        if !pairs.measure_large(&cluster, &mut made)? {
            others.extend(cluster);
        }
    }
    pairs.measure(&tasks(&others, &sizes, workers.threads), &mut made)?;
    Ok(EdgeLists::new(made, places))
}

/// What is measured.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    groups: &'a [Candidates<'a>],
    places: &'a GroupPlaces,
    sources: FeatureSource<'a>,
    wanted: PairFilter,
    workers: Workers<'a>,
}

impl Pairs<'_> {
    /// Measures tasks, each on one thread.
    fn measure(self, tasks: &[&[OriginGroup]], made: &mut Vec<TaskEdges>) -> Result<()> {
        self.each_task(tasks, made, ClusterComparer::default, |task, comparer, edges| {
            let runs: Vec<&[OriginGroup]> = task.chunk_by(|a, b| a.origin == b.origin).collect();
            let mut of_run = Vec::new();
            for (i, run) in runs.iter().enumerate() {
                for (ahead, what) in prefetch::DISTANCES {
                    self.prefetch_run(runs.get(i + ahead).copied().unwrap_or_default(), what);
                }
                of_run.clear();
                of_run.extend(run.iter().map(|group| self.groups[group.number as usize]));
                comparer.run(&of_run, self.sources, self.wanted, edges)?;
            }
            Ok(())
        })
    }

    /// Measures a large cluster, whose documents all threads share; false if there is no room for them.
    fn measure_large(self, cluster: &[Stretch<'_>], made: &mut Vec<TaskEdges>) -> Result<bool> {
        let numbers = cluster.iter().flat_map(|stretch| stretch.groups).map(|group| group.number as usize);
        let groups: Vec<Candidates<'_>> = numbers.map(|number| self.groups[number]).collect();
        let Some(held) = LargeCluster::hold(&groups, self.sources, self.workers)? else {
            return Ok(false);
        };
        let tasks: Vec<_> = cluster.iter().flat_map(|stretch| stretch.groups.chunks(LARGE_TASK)).collect();
        self.each_task(&tasks, made, LargeComparer::default, |task, comparer, edges| {
            for group in task {
                comparer.run(self.groups[group.number as usize], &held, self.wanted, edges);
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Appends the edges that `measure` makes of each task.
    fn each_task<S: Send>(
        self,
        tasks: &[&[OriginGroup]],
        made: &mut Vec<TaskEdges>,
        scratch: impl Fn() -> S,
        measure: impl Fn(&[OriginGroup], &mut S, &mut TaskEdges) -> Result<()> + Sync,
    ) -> Result<()> {
        let first = made.len();
        let measured: Vec<Result<_>> =
            in_parallel(tasks.len(), self.workers.threads, scratch, |i, scratch| {
                let mut edges = TaskEdges::default();
                measure(tasks[i], scratch, &mut edges)?;
                self.places.keep(first + i, tasks[i]);
                let n_pairs =
                    tasks[i].iter().map(|group| self.groups[group.number as usize].earlier.len() as u64);
                self.workers.progress.add(n_pairs.sum())?;
                Ok(edges)
            });
        for edges in measured {
            made.push(edges?);
        }
        Ok(())
    }

    /// The first texts of a run will be wanted soon; a run that has more looks after them by itself.
    fn prefetch_run(self, run: &[OriginGroup], what: Prefetch) {
        let Some(first) = run.first() else { return };
        let texts = self.sources.texts;
        let earlier =
            run.iter().take(2).flat_map(|group| self.groups[group.number as usize].earlier.iter().take(2));
        texts.prefetch(self.groups[first.number as usize].later, what);
        earlier.for_each(|rank| texts.prefetch(*rank, what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;
    use benzer_core::Threshold;
    use benzer_core::field::text::{Shingler, TextOptions};
    use benzer_flow::Progress;
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    pub(super) struct Few(pub Vec<String>);

    impl Texts for Few {
        fn bytes(&self, rank: Rank) -> Result<u64> {
            Ok(self.0[rank.index()].len() as u64)
        }

        fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()> {
            visit(&self.0[rank.index()]);
            Ok(())
        }
    }

    /// All pairs of some texts, whatever the number of threads; `n` words are an element.
    fn check(texts: Vec<String>, n: usize) {
        let texts = Few(texts);
        let shingler = Shingler::new(&TextOptions { n, ..TextOptions::default() }).unwrap();
        let threshold: Threshold = "0.7".parse().unwrap();
        let n = texts.0.len() as u32;
        let pairs: Vec<(Rank, Rank)> = (0..n).flat_map(|b| Rank::all(b).map(move |a| (Rank(b), a))).collect();
        let sets: Vec<BTreeSet<u64>> =
            texts.0.iter().map(|text| shingler.features(text).elements().iter().copied().collect()).collect();
        let expected: Vec<Edge> = pairs
            .iter()
            .filter_map(|&(later, earlier)| {
                let (a, b) = (&sets[earlier.index()], &sets[later.index()]);
                let both = a.intersection(b).count();
                let union = (a.len() + b.len() - both) as u32;
                let edge = Edge { later, earlier, intersection: both as u32, union };
                threshold.is_reached(both as u64, union.into()).then_some(edge)
            })
            .collect();
        assert!(expected.len() > 10 && expected.len() < pairs.len());
        for (threads, remembered, held) in [(1, 1000, 0), (2, 0, 1 << 20), (3, 70, 1 << 12)] {
            let all = |wanted| {
                let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered, held };
                let workers = Workers { threads, progress: &Progress::silent() };
                let (first, rest) = pairs.split_at(pairs.partition_point(|(later, _)| later.0 < n / 2));
                let lists = [first, rest].map(|pairs| pairs.iter().copied().collect());
                let edges = verify_held(&lists, sources, wanted, workers).unwrap();
                let found: Vec<Edge> = edges.iter().collect();
                assert_eq!(edges.n_edges(), found.len());
                found
            };
            assert_eq!(all(PairFilter::Reaching(threshold)), expected);
            assert_eq!(all(PairFilter::All).len(), pairs.len());
        }
    }

    fn text(words: impl Iterator<Item = u64>) -> String {
        words.map(|i| format!("w{i} ")).collect()
    }

    #[test]
    fn edges_are_those_of_sorted_sets() {
        let word = |i: u64| benzer_core::hash::mix(i) % 7;
        check((0..60).map(|t| text((t / 3..t / 3 + 30 + t % 5).map(word))).collect(), 2);
    }

    /// Too large to be held as bits, few and many.
    #[test]
    fn edges_of_large_documents_are_those_of_sorted_sets() {
        for (documents, words) in [(8, 40_000), (100, 3_000)] {
            let long = |t: u64| text(t * words / 20..t * words / 20 + words);
            check(std::iter::once(text(0..3)).chain((0..documents).map(long)).collect(), 1);
        }
    }

    /// Larger than a task, and compared with some of the documents before; whatever there is room for.
    #[test]
    fn edges_of_large_clusters_are_those_of_sorted_sets() {
        let word = |document: u64, i: u64| match benzer_core::hash::mix(document << 20 | i) % 90 {
            0 => 1_000_000 + document,
            1 => 1_000_000 + benzer_core::hash::mix(i) % 50,
            _ => i,
        };
        let texts = (0..2400).map(|document| text((0..600).map(|i| word(document, i))));
        let texts = Few(std::iter::once(text(0..40)).chain(texts).collect());
        let shingler = Shingler::new(&TextOptions { n: 2, ..TextOptions::default() }).unwrap();
        let pairs: CandidateLists = (1..2401)
            .flat_map(|later| (later / 2..later).step_by(97).map(move |a| (Rank(later), Rank(a))))
            .collect();
        let made = AtomicUsize::new(0);
        let counted = Counted { texts: &texts, made: &made };
        let edges = |threads, held| {
            let sources = FeatureSource { texts: &counted, shingler: &shingler, remembered: 100, held };
            let workers = Workers { threads, progress: &Progress::silent() };
            let edges = verify_held([&pairs], sources, PairFilter::All, workers).unwrap();
            (edges.iter().collect::<Vec<Edge>>(), made.swap(0, Ordering::Relaxed))
        };
        let (expected, often) = edges(1, 0);
        assert_eq!(
            expected.iter().map(|edge| (edge.later, edge.earlier)).collect::<Vec<_>>(),
            pairs.pairs().collect::<Vec<_>>()
        );
        for edge in expected.iter().step_by(31) {
            let [a, b] = [edge.later, edge.earlier].map(|rank| shingler.features(&texts.0[rank.index()]));
            let both = a.elements().iter().filter(|element| b.elements().contains(element)).count() as u32;
            assert_eq!(
                (edge.intersection, edge.union),
                (both, (a.elements().len() + b.elements().len()) as u32 - both)
            );
        }
        for (threads, held) in [(1, 1 << 24), (2, 1 << 24), (3, 1 << 24), (3, 1 << 18), (2, 0)] {
            let (found, times) = edges(threads, held);
            assert_eq!(found, expected);
            assert!(if held == 1 << 24 { times < 2401 + 100 } else { times > 4000 }, "{times} of {often}");
        }
    }

    /// Counts how often a text is made into elements.
    struct Counted<'a> {
        texts: &'a Few,
        made: &'a AtomicUsize,
    }

    impl Texts for Counted<'_> {
        fn bytes(&self, rank: Rank) -> Result<u64> {
            self.texts.bytes(rank)
        }

        fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()> {
            self.made.fetch_add(1, Ordering::Relaxed);
            self.texts.with_text(rank, visit)
        }
    }
}
