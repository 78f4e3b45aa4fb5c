//! Exact groups: documents of the same text. The first in keep order stands for all of them.

use std::ops::Range;

use benzer_flow::{Result, Workers, share, workers::in_parallel};

use super::equal_keys::{EqualKeys, Partitions};
use super::repeats::Buckets;
use crate::prefetch::{self, Prefetch};
use crate::{Edge, Rank};

/// What `take` makes of each group of documents with equal keys, whose members are in order; in any order. What there is no room for at a time is done in several passes over the documents.
///
/// # Errors
/// What `key` and `take` return, and the wish to stop.
pub fn groups<T: Send>(
    members: &[Rank],
    key: impl Fn(Rank) -> Result<u64> + Sync,
    take: impl Fn(&[Rank]) -> Result<Vec<T>> + Sync,
    room: u64,
    workers: Workers<'_>,
) -> Result<Vec<T>> {
    let take = |partitions: &mut Partitions<'_>| {
        let mut made = Vec::new();
        while let Some(buckets) = partitions.next() {
            for bucket in buckets.iter() {
                made.extend(take(bucket)?);
            }
        }
        Ok(made)
    };
    Ok(of_partitions(members, key, take, room, workers)?.into_iter().flatten().collect())
}

/// What `take` makes of partitions of documents by a key.
fn of_partitions<T: Send>(
    members: &[Rank],
    key: impl Fn(Rank) -> Result<u64> + Sync,
    take: impl Fn(&mut Partitions<'_>) -> Result<T> + Sync,
    room: u64,
    workers: Workers<'_>,
) -> Result<Vec<T>> {
    let keys = |_: Range<usize>, places: Range<usize>, columns: &mut [Vec<u64>]| {
        for (to, rank) in columns[0].iter_mut().zip(&members[places]) {
            *to = key(*rank)?;
        }
        Ok(())
    };
    let mut equal = EqualKeys::new(members, 1, GROUPED, room, workers);
    let mut made = Vec::new();
    for pass in equal.passes() {
        made.append(&mut equal.buckets(&pass, keys, &take)?);
    }
    Ok(made)
}

/// Bytes of a key that is in a group.
const GROUPED: usize = 2 * size_of::<Rank>() + size_of::<Group>();

/// A group, by its first document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    first: Rank,
    part: u32,
    index: u32,
}

/// The edges from each copy to the first document of its text, in order: documents of the same hash, after `count_if_equal` looked at the texts themselves (first and copy), and said how many elements they have. Each thread has
/// a state for it. `ranks` are in order. `prefetch` is told of texts that will be wanted soon.
///
/// # Errors
/// What `count_if_equal` returns, and the wish to stop.
pub fn copies<S: Default + Send>(
    ranks: &[Rank],
    hash: impl Fn(Rank) -> u128 + Sync,
    prefetch: impl Fn(Rank, Prefetch) + Sync,
    count_if_equal: impl Fn(&mut S, Rank, Rank) -> Result<Option<u32>> + Sync,
    room: u64,
    workers: Workers<'_>,
) -> Result<Vec<Edge>> {
    let half = |rank: Rank| Ok(hash(rank) as u64);
    let take = |partitions: &mut Partitions<'_>| {
        let mut all = Buckets::default();
        while let Some(buckets) = partitions.next() {
            buckets.iter().for_each(|bucket| all.push(bucket.iter().copied()));
        }
        Ok(all)
    };
    let parts = of_partitions(ranks, half, take, room, workers)?;
    // Only hashes are equal so far: texts are looked at in the order in which they lie.
    let groups = |(part, buckets): (u32, &Buckets)| -> Vec<Group> {
        (0..).zip(buckets.iter()).map(|(index, bucket)| Group { first: bucket[0], part, index }).collect()
    };
    let mut groups: Vec<Group> = (0..).zip(&parts).flat_map(groups).collect();
    groups.sort_unstable();
    let n_tasks = groups.len().div_ceil(TASK);
    let made = in_parallel(n_tasks, workers.threads, S::default, |task, state| -> Result<Vec<Edge>> {
        // It is only asked whether the run shall stop.
        workers.progress.add(0)?;
        let groups = &groups[share(task, n_tasks, groups.len())];
        let mut members: Vec<(u128, Rank)> = Vec::with_capacity(2 * groups.len());
        for Group { part, index, .. } in groups {
            let start = members.len();
            let ranks = parts[*part as usize].get(*index as usize);
            members.extend(ranks.iter().map(|rank| (hash(*rank), *rank)));
            members[start..].sort_unstable();
        }
        let sorted = (0..members.len()).map(|i| {
            for (ahead, what) in prefetch::DISTANCES {
                members.get(i + ahead).into_iter().for_each(|(_, rank)| prefetch(*rank, what));
            }
            Ok(members[i])
        });
        copies_in_order(sorted, |first, copy| count_if_equal(state, first, copy))
    });
    let mut edges = made.into_iter().collect::<Result<Vec<_>>>()?.concat();
    edges.sort_unstable();
    Ok(edges)
}

/// Groups whose texts are compared by one thread.
const TASK: usize = 256;

/// The same of (hash, rank) that come sorted.
///
/// # Errors
/// A record that is one, and what `count_if_equal` returns.
fn copies_in_order(
    sorted: impl Iterator<Item = Result<(u128, Rank)>>,
    mut count_if_equal: impl FnMut(Rank, Rank) -> Result<Option<u32>>,
) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    // More than one representative means that different texts have one hash.
    let (mut representatives, mut last): (Vec<Rank>, _) = (Vec::new(), None);
    for record in sorted {
        let (hash, later) = record?;
        if last != Some(hash) {
            representatives.clear();
        }
        last = Some(hash);
        let mut edge = None;
        for &earlier in &representatives {
            if let Some(n) = count_if_equal(earlier, later)? {
                edge = Some(Edge { later, earlier, intersection: n, union: n });
                break;
            }
        }
        match edge {
            Some(edge) => edges.push(edge),
            None => representatives.push(later),
        }
    }
    edges.sort_unstable();
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_flow::Progress;

    #[test]
    fn the_first_in_keep_order_stands_for_its_copies_and_a_collision_is_no_copy() {
        let texts = ["a", "b", "a", "c", "b", "a", "d"];
        // "c" collides with "a", and "d" shares half of its hash.
        let hash = |rank: Rank| match texts[rank.index()] {
            "a" | "c" => 7,
            "d" => 1 << 100 | 7,
            _ => 9,
        };
        let count = |_: &mut (), a: Rank, b: Rank| Ok((texts[a.index()] == texts[b.index()]).then_some(a.0));
        let ranks: Vec<Rank> = Rank::all(7).collect();
        let expected = [(2, 0), (4, 1), (5, 0)].map(|(later, earlier)| Edge {
            later: Rank(later),
            earlier: Rank(earlier),
            intersection: earlier,
            union: earlier,
        });
        for (threads, room) in [(1, u64::MAX), (2, u64::MAX), (2, 0)] {
            let workers = Workers { threads, progress: &Progress::silent() };
            assert_eq!(copies(&ranks, hash, |_, _| {}, count, room, workers).unwrap(), expected);
        }
    }
}
