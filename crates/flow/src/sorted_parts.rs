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
    sorted_parts_within(n, u64::MAX, threads, item, |part| part)
}

/// What `take` makes of such parts, in their order. There are no more items at a time than have room, as long as few are equal: what has none is left to another pass over all items, in which `item` is called again.
///
/// ```
/// let sums = benzer_flow::sorted_parts_within(100_000, 1 << 16, 3, |i| (i * 7919) % 100_000, |part| part.len());
/// assert_eq!(sums.into_iter().sum::<usize>(), 100_000);
/// ```
pub fn sorted_parts_within<T: Ord + Copy + Send + Sync, U: Send>(
    n: usize,
    room: u64,
    threads: usize,
    item: impl Fn(usize) -> T + Sync,
    take: impl Fn(Vec<T>) -> U + Sync,
) -> Vec<U> {
    let n_passes =
        ((n * HELD * size_of::<T>()) as u64).div_ceil(room.max(1)).clamp(1, n.max(1) as u64) as usize;
    if n_passes == 1 && (threads <= 1 || n < FEW) {
        let mut all: Vec<T> = (0..n).map(item).collect();
        all.sort_unstable();
        return vec![take(all)];
    }
    let n_together = PER_THREAD * threads.max(1);
    let splitters = splitters(n, n_together * n_passes, &item);
    let mut taken = Vec::with_capacity(n_together * n_passes);
    for pass in 0..n_passes {
        // Those of other passes are before the first of these parts, or behind the last.
        let before = (pass > 0).then(|| splitters[pass * n_together - 1]);
        let behind = splitters.get((pass + 1) * n_together - 1).copied();
        let splitters = &splitters[pass * n_together..][..n_together - 1];
        let spread = in_parallel(
            n_together,
            threads,
            || (),
            |i, ()| {
                let items = share(i, n_together, n).map(&item);
                let of_pass = |item: &T| {
                    before.is_none_or(|before| before <= *item) && behind.is_none_or(|behind| *item < behind)
                };
                spread(items.filter(of_pass), n / (n_together * n_together * n_passes), splitters)
            },
        );
        taken.extend(in_parallel(
            n_together,
            threads,
            || (),
            |part, ()| {
                let mut all = Vec::with_capacity(spread.iter().map(|spread| spread[part].len()).sum());
                spread.iter().for_each(|spread| all.extend_from_slice(&spread[part]));
                all.sort_unstable();
                take(all)
            },
        ));
    }
    taken
}

/// So many times an item is in memory, with what is set aside for those that were not expected.
const HELD: usize = 3;

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

/// Items by the part they belong to, about so many for each.
fn spread<T: Ord + Copy>(items: impl Iterator<Item = T>, expected: usize, splitters: &[T]) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> =
        (0..=splitters.len()).map(|_| Vec::with_capacity(expected * 5 / 4)).collect();
    for item in items {
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
                for room in [n as u64 / 2, 10 * n as u64, 40 * n as u64] {
                    let parts = sorted_parts_within(n, room, threads, item, |part| part);
                    assert!(parts.concat() == expected, "{n} items, {threads} threads, {room} bytes");
                    let largest = parts.iter().map(|part| 8 * part.len() as u64).max().unwrap_or(0);
                    assert!(
                        distinct < 1 << 40 || largest <= room.max(8 * 64),
                        "{n} items, {room} bytes: {largest}"
                    );
                }
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
