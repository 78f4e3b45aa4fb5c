//! Exact groups: documents of the same text. The first in keep order stands for all of them.

use std::ops::Range;

use benzer_flow::{Result, Workers, share, workers::in_parallel};

use super::equal_keys::EqualKeys;
use super::repeats::Buckets;
use crate::Rank;
use crate::prefetch::{self, Prefetch};

/// What `take` makes of each group of documents with equal keys, whose members are in order; in any order. `ranks` are in order.
///
/// # Errors
/// What `key` and `take` return, and the wish to stop.
pub fn groups<T: Send>(
    ranks: &[Rank],
    key: impl Fn(Rank) -> Result<u64> + Sync,
    take: impl Fn(&[Rank]) -> Result<Vec<T>> + Sync,
    workers: Workers<'_>,
) -> Result<Vec<T>> {
    let keys = |_: Range<usize>, places: Range<usize>, columns: &mut [Vec<u64>]| {
        for (to, rank) in columns[0].iter_mut().zip(&ranks[places]) {
            *to = key(*rank)?;
        }
        Ok(())
    };
    let take = |buckets: &Buckets| {
        let mut made = Vec::new();
        for bucket in buckets.iter() {
            made.extend(take(bucket)?);
        }
        Ok(made)
    };
    Ok(EqualKeys::new(ranks, workers).buckets(1, keys, take)?.into_iter().flatten().collect())
}

/// The pairs (copy, representative), by rank of the copy: documents of the same hash, after `is_equal` looked at the texts themselves. `ranks` are in order. `prefetch` is told
/// of texts that will be wanted soon.
///
/// # Errors
/// What `is_equal` returns, and the wish to stop.
pub fn copies(
    ranks: &[Rank],
    hash: impl Fn(Rank) -> u128 + Sync,
    prefetch: impl Fn(Rank, Prefetch) + Sync,
    is_equal: impl Fn(Rank, Rank) -> Result<bool> + Sync,
    workers: Workers<'_>,
) -> Result<Vec<(Rank, Rank)>> {
    let half = |rank: Rank| Ok(hash(rank) as u64);
    // Only hashes are equal so far: texts are looked at in the order in which they lie.
    let mut groups = groups(ranks, half, |group| Ok(vec![group.to_vec()]), workers)?;
    groups.sort_unstable_by_key(|group| group[0]);
    let n_tasks = groups.len().div_ceil(TASK);
    let made = in_parallel(
        n_tasks,
        workers.threads,
        || (),
        |task, _| -> Result<Vec<(Rank, Rank)>> {
            let groups = &groups[share(task, n_tasks, groups.len())];
            let members: Vec<Rank> = groups.concat();
            let (mut pairs, mut at) = (Vec::new(), 0);
            for group in groups {
                let mut hashes: Vec<(u128, Rank)> = group.iter().map(|rank| (hash(*rank), *rank)).collect();
                hashes.sort_unstable();
                let sorted = hashes.into_iter().map(|record| {
                    for (ahead, what) in prefetch::DISTANCES {
                        members.get(at + ahead).into_iter().for_each(|rank| prefetch(*rank, what));
                    }
                    at += 1;
                    Ok(record)
                });
                pairs.extend(copies_in_order(sorted, &is_equal)?);
            }
            Ok(pairs)
        },
    );
    let mut pairs = made.into_iter().collect::<Result<Vec<_>>>()?.concat();
    pairs.sort_unstable();
    Ok(pairs)
}

/// Groups whose texts are compared by one thread.
const TASK: usize = 256;

/// The same of (hash, rank) that come sorted.
///
/// # Errors
/// A record that is one, and what `is_equal` returns.
pub fn copies_in_order(
    sorted: impl Iterator<Item = Result<(u128, Rank)>>,
    mut is_equal: impl FnMut(Rank, Rank) -> Result<bool>,
) -> Result<Vec<(Rank, Rank)>> {
    let mut pairs = Vec::new();
    // More than one representative means that different texts have one hash.
    let (mut representatives, mut last): (Vec<Rank>, _) = (Vec::new(), None);
    for record in sorted {
        let (hash, rank) = record?;
        if last != Some(hash) {
            representatives.clear();
        }
        last = Some(hash);
        let mut copy_of = None;
        for &representative in &representatives {
            if is_equal(representative, rank)? {
                copy_of = Some(representative);
                break;
            }
        }
        match copy_of {
            Some(representative) => pairs.push((rank, representative)),
            None => representatives.push(rank),
        }
    }
    pairs.sort_unstable();
    Ok(pairs)
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
        let equal = |a: Rank, b: Rank| Ok(texts[a.index()] == texts[b.index()]);
        let ranks: Vec<Rank> = Rank::all(7).collect();
        let workers = Workers { threads: 2, progress: &Progress::silent() };
        let expected = [(2, 0), (4, 1), (5, 0)].map(|(copy, first)| (Rank(copy), Rank(first)));
        assert_eq!(copies(&ranks, hash, |_, _| {}, equal, workers).unwrap(), expected);
    }
}
