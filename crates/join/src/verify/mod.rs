//! Exact similarity of candidate pairs, on the features of their texts.
//!
//! Texts are shingled again: that is faster than keeping the shingles. Pairs come sorted by (later, earlier), and go out in the same order. In between they are taken
//! cluster by cluster (the module `clusters`), because the members of a cluster are paired with the same few documents.

mod bits;
mod clusters;
mod documents;
mod edges;
mod features;
mod id_map;
mod lanes;
mod numbered;
mod origins;
mod pair;
mod reference;

use benzer_flow::{Result, workers::in_parallel};

use crate::bands::{CandidateLists, Candidates};
use crate::{Prefetch, Rank, prefetch};
use clusters::ClusterComparer;
pub use edges::EdgeLists;
use edges::TaskEdges;
pub use features::{ElementCounter, FeatureSource};
pub use id_map::IdMap;
use origins::{OriginGroup, by_origin};
pub use pair::PairFilter;

/// Pairs that are looked at together.
const SLICE: usize = 4 << 20;
/// Bytes of the later texts of a task, at most, and those of the last ones, which threads share out at the end.
const TASK_BYTES: u64 = 4 << 20;
const LAST_BYTES: u64 = 256 << 10;

/// The texts of documents by rank.
pub trait Texts: Sync {
    /// The length of a text.
    fn bytes(&self, rank: Rank) -> Result<u64>;

    /// Hands a text to `visit`.
    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()>;

    /// A text will be wanted soon: brings into the cache what is in memory, first where it is, then itself.
    fn prefetch(&self, _rank: Rank, _what: Prefetch) {}
}

/// Measures pairs that come sorted by (later, earlier), and hands those that are wanted to `sink`, in the same order, with the number of pairs looked at.
pub fn verify(
    pairs: impl Iterator<Item = Result<(Rank, Rank)>>,
    sources: FeatureSource<'_>,
    wanted: PairFilter,
    threads: usize,
    mut sink: impl FnMut(usize, EdgeLists) -> Result<()>,
) -> Result<()> {
    let mut slice = CandidateLists::default();
    for pair in pairs {
        let pair = pair?;
        if slice.n_pairs() >= SLICE && slice.last() != Some(pair.0) {
            verify_held([&slice], sources, wanted, threads, &mut sink)?;
            slice.clear();
        }
        slice.push_pair(pair.0, pair.1);
    }
    verify_held([&slice], sources, wanted, threads, sink)
}

/// [`verify`] of pairs in memory, in several parts.
pub fn verify_held<'a>(
    parts: impl IntoIterator<Item = &'a CandidateLists>,
    sources: FeatureSource<'_>,
    wanted: PairFilter,
    threads: usize,
    mut sink: impl FnMut(usize, EdgeLists) -> Result<()>,
) -> Result<()> {
    let (mut groups, mut n) = (Vec::new(), 0);
    for group in parts.into_iter().flat_map(CandidateLists::lists) {
        groups.push(group);
        n += group.earlier.len();
        if n >= SLICE {
            sink(n, verify_groups(&groups, sources, wanted, threads)?)?;
            (groups, n) = (Vec::new(), 0);
        }
    }
    if n > 0 { sink(n, verify_groups(&groups, sources, wanted, threads)?) } else { Ok(()) }
}

/// The wanted edges of some groups, in their order.
fn verify_groups(
    groups: &[Candidates<'_>],
    sources: FeatureSource<'_>,
    wanted: PairFilter,
    threads: usize,
) -> Result<EdgeLists> {
    let order = by_origin(groups);
    let tasks = tasks(&order, groups, sources.texts, threads)?;
    let made = in_parallel(tasks.len(), threads, ClusterComparer::default, |i, comparer| -> Result<_> {
        let mut edges = TaskEdges::default();
        let runs: Vec<&[OriginGroup]> = tasks[i].chunk_by(|a, b| a.origin == b.origin).collect();
        let mut of_run = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            for (ahead, what) in prefetch::DISTANCES {
                prefetch_run(runs.get(i + ahead).copied().unwrap_or_default(), what, groups, sources.texts);
            }
            of_run.clear();
            of_run.extend(run.iter().map(|group| groups[group.number as usize]));
            comparer.run(&of_run, sources, wanted, &mut edges)?;
        }
        Ok(edges)
    });
    let made = made.into_iter().collect::<Result<_>>()?;
    Ok(EdgeLists::new(made, tasks.into_iter(), groups.len()))
}

/// The first texts of a run will be wanted soon; a run that has more looks after them by itself.
fn prefetch_run(run: &[OriginGroup], what: Prefetch, groups: &[Candidates<'_>], texts: &dyn Texts) {
    let Some(first) = run.first() else { return };
    let earlier = run.iter().take(2).flat_map(|group| groups[group.number as usize].earlier.iter().take(2));
    texts.prefetch(groups[first.number as usize].later, what);
    earlier.for_each(|rank| texts.prefetch(*rank, what));
}

/// Groups that one thread measures in one go: few enough texts to be held together, and fewer towards the end, so that all threads end at the same time.
fn tasks<'a>(
    order: &'a [OriginGroup],
    groups: &[Candidates<'_>],
    texts: &dyn Texts,
    threads: usize,
) -> Result<Vec<&'a [OriginGroup]>> {
    // Looked up in the order in which they lie.
    let sizes = groups.iter().map(|group| texts.bytes(group.later)).collect::<Result<Vec<u64>>>()?;
    let mut left: u64 = sizes.iter().sum();
    let max_bytes = |left: u64| match threads {
        0 | 1 => TASK_BYTES,
        _ => (left / (2 * threads as u64)).clamp(LAST_BYTES, TASK_BYTES),
    };
    let (mut tasks, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (i, group) in order.iter().enumerate() {
        bytes += sizes[group.number as usize];
        if bytes > max_bytes(left) {
            tasks.push(&order[start..=i]);
            left -= bytes;
            (start, bytes) = (i + 1, 0);
        }
    }
    tasks.push(&order[start..]);
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;
    use benzer_core::Threshold;
    use benzer_core::field::text::{Shingler, TextOptions};
    use std::collections::BTreeSet;

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
        for (threads, remembered) in [(1, 1000), (2, 0), (3, 70)] {
            let all = |wanted| {
                let (mut found, mut n) = (Vec::new(), 0);
                let sink = |n_pairs, edges: EdgeLists| {
                    n += n_pairs;
                    assert_eq!(edges.n_edges(), edges.iter().count());
                    found.extend(edges.iter());
                    Ok(())
                };
                let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered };
                verify(pairs.iter().copied().map(Ok), sources, wanted, threads, sink).unwrap();
                assert_eq!(n, pairs.len());
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

    #[test]
    fn tasks_become_smaller_towards_the_end_where_several_threads_share_them() {
        let texts = Few(vec!["x".repeat(10_000); 4_000]);
        let groups: Vec<Candidates<'_>> =
            (1..4_000).map(|later| Candidates { later: Rank(later), earlier: &[Rank(0)] }).collect();
        let order = by_origin(&groups);
        for threads in 1..5 {
            let tasks = tasks(&order, &groups, &texts, threads).unwrap();
            assert_eq!(tasks.concat(), order);
            let lengths: Vec<usize> = tasks.iter().map(|task| task.len()).collect();
            let (longest, shortest) = (TASK_BYTES as usize / 10_000 + 1, LAST_BYTES as usize / 10_000 + 1);
            assert!(lengths.iter().all(|length| *length <= longest), "{lengths:?}");
            let last = lengths[lengths.len() - 2];
            assert!(if threads == 1 { last == longest } else { last == shortest }, "{lengths:?}");
        }
    }

    /// Too large to be held as bits, few and many.
    #[test]
    fn edges_of_large_documents_are_those_of_sorted_sets() {
        for (documents, words) in [(8, 40_000), (100, 3_000)] {
            let long = |t: u64| text(t * words / 20..t * words / 20 + words);
            check(std::iter::once(text(0..3)).chain((0..documents).map(long)).collect(), 1);
        }
    }
}
