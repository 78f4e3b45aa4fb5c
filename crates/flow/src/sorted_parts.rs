//! Sorting on many threads, in memory.

use std::ops::Range;

use crate::workers::in_parallel;

/// Fewer items are sorted on one thread.
const FEW: usize = 1 << 14;
/// Parts and ranges of items per thread: threads that are done early take another one.
const PER_THREAD: usize = 4;
/// Items per part that are looked at to say where parts begin.
const SAMPLED: usize = 64;

/// The items `item(0)` to `item(n - 1)` in order: parts that follow each other, each sorted.
///
/// ```
/// let parts = benzer_flow::sorted_parts(100_000, 3, |i| (i * 7919) % 100_000);
/// assert!(parts.iter().flatten().copied().eq(0..100_000));
/// ```
pub fn sorted_parts<T: Ord + Copy + Send + Sync>(
    n: usize,
    threads: usize,
    item: impl Fn(usize) -> T + Sync,
) -> Vec<Vec<T>> {
    if threads <= 1 || n < FEW {
        let mut all: Vec<T> = (0..n).map(item).collect();
        all.sort_unstable();
        return vec![all];
    }
    let n_parts = PER_THREAD * threads;
    let splitters = splitters(n, n_parts, &item);
    let spread =
        in_parallel(n_parts, threads, || (), |i, ()| spread(share(i, n_parts, n), &splitters, &item));
    in_parallel(
        n_parts,
        threads,
        || (),
        |part, ()| {
            let mut all = Vec::with_capacity(spread.iter().map(|spread| spread[part].len()).sum());
            spread.iter().for_each(|spread| all.extend_from_slice(&spread[part]));
            all.sort_unstable();
            all
        },
    )
}

/// The `i`th of so many about equal ranges of `n`.
pub fn share(i: usize, shares: usize, n: usize) -> Range<usize> {
    let start = |i: usize| (i as u128 * n as u128 / shares as u128) as usize;
    start(i)..start(i + 1)
}

/// The first items of all parts but the first one, by a sample.
fn splitters<T: Ord + Copy>(n: usize, n_parts: usize, item: impl Fn(usize) -> T) -> Vec<T> {
    let n_sampled = (SAMPLED * n_parts).min(n);
    let mut sample: Vec<T> = (0..n_sampled).map(|i| item(share(i, n_sampled, n).start)).collect();
    sample.sort_unstable();
    (1..n_parts).map(|part| sample[share(part, n_parts, n_sampled).start]).collect()
}

/// The items of a range, by the part they belong to.
fn spread<T: Ord + Copy>(range: Range<usize>, splitters: &[T], item: impl Fn(usize) -> T) -> Vec<Vec<T>> {
    let expected = range.len() / (splitters.len() + 1) * 5 / 4;
    let mut parts: Vec<Vec<T>> = (0..=splitters.len()).map(|_| Vec::with_capacity(expected)).collect();
    for item in range.map(item) {
        parts[splitters.partition_point(|first| *first <= item)].push(item);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_whatever_the_threads_and_however_many_are_equal() {
        for (n, distinct) in [(0, 1), (1, 1), (FEW - 1, 7), (FEW, 1), (50_000, 3), (100_000, 1 << 40)] {
            let item = |i: usize| benzer_core::hash::mix(i as u64) % distinct;
            let mut expected: Vec<u64> = (0..n).map(item).collect();
            expected.sort_unstable();
            for threads in [1, 2, 5] {
                assert_eq!(sorted_parts(n, threads, item).concat(), expected, "{n} items, {threads} threads");
            }
        }
    }

    #[test]
    fn shares_are_about_equal_and_leave_nothing_out() {
        for n in [0, 1, 5, 100, 1_001] {
            let shares: Vec<Range<usize>> = (0..7).map(|i| share(i, 7, n)).collect();
            assert!((0..n).eq(shares.iter().cloned().flatten()));
            assert!(shares.iter().all(|share| share.len().abs_diff(n / 7) <= 1));
        }
    }
}
