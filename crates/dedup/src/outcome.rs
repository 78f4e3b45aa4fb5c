//! What removals come to: clusters, similarities, and what looks wrong. The same for a run, and for one at another threshold later.

use std::collections::BinaryHeap;

use benzer_join::resolve::Cluster;

use crate::decide::Removal;
use crate::request::Measure;
use crate::summary::Counts;

/// A cluster of more than this share of the corpus, and of so many documents, is worth a look.
const LARGE_SHARE: f64 = 0.05;
const LARGE: u64 = 100;
/// Bins of the histogram: 0.05 each from one half on, and one for equality.
const BINS: usize = 11;

pub(crate) fn clusters(by_keeper: &[Removal]) -> (u64, u64) {
    let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept());
    let sizes = clusters.map(|cluster| cluster.len() as u64 + 1);
    sizes.fold((0, 0), |(n, largest), size| (n + 1, largest.max(size)))
}

/// How many clusters have from 2^i + 1 to 2^(i+1) documents.
pub(crate) fn cluster_sizes(by_keeper: &[Removal]) -> Vec<u64> {
    let mut sizes = Vec::new();
    for cluster in by_keeper.chunk_by(|a, b| a.kept() == b.kept()) {
        let i = cluster.len().ilog2() as usize;
        sizes.resize(sizes.len().max(i + 1), 0);
        sizes[i] += 1;
    }
    sizes
}

/// Similarities of removed documents to the kept ones, in bins of 0.05 from 0.5 on; the last is exactly 1.
pub(crate) fn histogram(similarities: impl Iterator<Item = f64>) -> Vec<u64> {
    let mut histogram = vec![0; BINS];
    for similarity in similarities {
        let bin = match similarity >= 1.0 {
            true => BINS - 1,
            false => ((similarity - 0.5).max(0.0) * 20.0 + 1e-9) as usize,
        };
        histogram[bin.min(BINS - 1)] += 1;
    }
    histogram
}

/// Fine bins of the similarities below 1 for the report, and how many are 1.
pub(crate) fn fine_histogram(
    similarities: impl Iterator<Item = f64> + Clone,
    threshold: f64,
) -> (Vec<(f64, f64, u64)>, u64) {
    let lowest = similarities.clone().fold(threshold, f64::min);
    let per_one = if lowest >= 0.6 { 100.0 } else { 50.0 };
    let first = (lowest * per_one + 1e-9).floor();
    let mut numbers = vec![0; (per_one - first) as usize];
    let mut equal = 0;
    for value in similarities {
        match ((value * per_one + 1e-9).floor() - first) as usize {
            i if i < numbers.len() && value < 1.0 => numbers[i] += 1,
            _ => equal += 1,
        }
    }
    let edge = |i: usize| (first + i as f64) / per_one;
    let bins = numbers.into_iter().enumerate().map(|(i, n)| (edge(i), edge(i + 1), n));
    (bins.collect(), equal)
}

/// That everything was removed for old documents.
pub(crate) fn all_known(counts: &Counts, measure: Measure) -> Option<String> {
    let is_known = counts.kept == 0 && counts.removed > 0 && counts.removed == counts.removed_against;
    (is_known && measure == Measure::Jaccard).then(|| {
        "every document was removed for an old one; was this input compared with itself, or added to the archive before?".to_owned()
    })
}

/// That one cluster holds much of the corpus.
pub(crate) fn large_cluster(counts: &Counts, cluster: Cluster) -> Option<String> {
    let share = counts.largest_cluster as f64 / (counts.read - counts.rejected).max(1) as f64;
    let chains = match cluster {
        Cluster::Leaders => "every member is similar to the kept document; look at it in clusters.parquet",
        Cluster::Components => "components chain documents that are not similar; try --cluster leaders",
    };
    (counts.largest_cluster >= LARGE && share >= LARGE_SHARE)
        .then(|| format!("one cluster holds {:.0}% of the corpus: {chains}", 100.0 * share))
}

pub(crate) fn smallest<T: Ord>(n: usize, all: impl Iterator<Item = T>) -> Vec<T> {
    let mut heap = BinaryHeap::with_capacity(n + 1);
    for item in all {
        if heap.len() < n || heap.peek().is_some_and(|largest| item < *largest) {
            heap.push(item);
        }
        if heap.len() > n {
            heap.pop();
        }
    }
    heap.into_sorted_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_order_are_given_in_order() {
        assert_eq!(smallest(3, [5, 1, 4, 1, 9].into_iter()), [1, 1, 4]);
        assert_eq!(smallest(9, [2, 1].into_iter()), [1, 2]);
    }
}
