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

use benzer_flow::{Result, Workers, workers::in_parallel};

use crate::bands::{CandidateLists, Candidates};
use crate::{Prefetch, Rank, prefetch};
use clusters::ClusterComparer;
pub use edges::EdgeLists;
use edges::{GroupPlaces, TaskEdges};
pub use features::{ElementCounter, FeatureSource};
pub use id_map::IdMap;
use origins::{OriginGroup, by_origin};
pub use pair::PairFilter;

/// Bytes of the later texts of a task, at most, and those of the last ones, which threads share out at the end.
const TASK_BYTES: u64 = 4 << 20;
const LAST_BYTES: u64 = 256 << 10;
/// Groups whose sizes are looked up together.
const SIZES: usize = 1 << 14;

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
    let tasks = tasks(&order, &groups, sources.texts, workers.threads)?;
    let places = GroupPlaces::new(groups.len());
    let made = in_parallel(tasks.len(), workers.threads, ClusterComparer::default, |i, comparer| {
        let mut edges = TaskEdges::default();
        let runs: Vec<&[OriginGroup]> = tasks[i].chunk_by(|a, b| a.origin == b.origin).collect();
        let (mut of_run, mut n_pairs) = (Vec::new(), 0);
        for (i, run) in runs.iter().enumerate() {
            for (ahead, what) in prefetch::DISTANCES {
                prefetch_run(runs.get(i + ahead).copied().unwrap_or_default(), what, &groups, sources.texts);
            }
            of_run.clear();
            of_run.extend(run.iter().map(|group| groups[group.number as usize]));
            n_pairs += documents::n_pairs(&of_run);
            comparer.run(&of_run, sources, wanted, &mut edges)?;
        }
        places.keep(i, tasks[i]);
        workers.progress.add(n_pairs as u64)?;
        Ok(edges)
    });
    Ok(EdgeLists::new(made.into_iter().collect::<Result<_>>()?, places))
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
    order: &'a [Vec<OriginGroup>],
    groups: &[Candidates<'_>],
    texts: &dyn Texts,
    threads: usize,
) -> Result<Vec<&'a [OriginGroup]>> {
    let sizes = sizes(groups, texts, threads)?;
    let total: u64 = sizes.iter().flatten().sum();
    let longest = |left: u64| match threads {
        0 | 1 => TASK_BYTES,
        _ => (left / (2 * threads as u64)).clamp(LAST_BYTES, TASK_BYTES),
    };
    let size = |group: &OriginGroup| {
        let number = group.number as usize;
        sizes[number / SIZES][number % SIZES]
    };
    let cut = |part: usize, _: &mut ()| {
        let groups = &order[part];
        // Parts are about equal.
        let mut left = total / order.len() as u64 * (order.len() - part) as u64;
        let (mut tasks, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (i, group) in groups.iter().enumerate() {
            bytes += size(group);
            if bytes > longest(left) {
                tasks.push(&groups[start..=i]);
                left = left.saturating_sub(bytes);
                (start, bytes) = (i + 1, 0);
            }
        }
        tasks.extend((start < groups.len()).then(|| &groups[start..]));
        tasks
    };
    Ok(in_parallel(order.len(), threads, || (), cut).concat())
}

/// The lengths of the later texts of all groups, [`SIZES`] in each part: looked up in the order in which they lie.
fn sizes(groups: &[Candidates<'_>], texts: &dyn Texts, threads: usize) -> Result<Vec<Vec<u64>>> {
    let parts: Vec<&[Candidates<'_>]> = groups.chunks(SIZES).collect();
    let of_part = |part: usize, _: &mut ()| -> Result<Vec<u64>> {
        parts[part].iter().map(|group| texts.bytes(group.later)).collect()
    };
    in_parallel(parts.len(), threads, || (), of_part).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;
    use benzer_core::Threshold;
    use benzer_core::field::text::{Shingler, TextOptions};
    use benzer_flow::Progress;
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
                let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered };
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

    #[test]
    fn tasks_become_smaller_towards_the_end_where_several_threads_share_them() {
        let texts = Few(vec!["x".repeat(10_000); 40_000]);
        let groups: Vec<Candidates<'_>> =
            (1..40_000).map(|later| Candidates { later: Rank(later), earlier: &[Rank(0)] }).collect();
        for threads in 1..5 {
            let order = by_origin(&groups, threads);
            let tasks = tasks(&order, &groups, &texts, threads).unwrap();
            assert_eq!(tasks.concat(), order.concat());
            let lengths: Vec<usize> = tasks.iter().map(|task| task.len()).collect();
            let (longest, shortest) = (TASK_BYTES as usize / 10_000 + 1, LAST_BYTES as usize / 10_000 + 1);
            assert!(lengths.iter().all(|length| *length <= longest), "{lengths:?}");
            let last = lengths[lengths.len() - 2];
            assert!(if threads == 1 { last == longest } else { last <= 2 * shortest }, "{lengths:?}");
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
