//! Which groups belong to one cluster.

use std::sync::atomic::{AtomicU32, Ordering};

use benzer_flow::{share, sorted_parts, workers::in_parallel};

use crate::Rank;
use crate::bands::Candidates;

/// A group by its number, and its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OriginGroup {
    /// A document that most groups of a cluster have in common.
    pub origin: Rank,
    /// The number of the group.
    pub number: u32,
}

/// The groups with their origins, in parts; those of one origin together.
pub(super) fn by_origin(groups: &[Candidates<'_>], threads: usize) -> Vec<Vec<OriginGroup>> {
    let [first, .., last] = groups else {
        let alone = groups.iter().map(|group| OriginGroup { origin: group.earlier[0], number: 0 });
        return vec![alone.collect()];
    };
    // Groups are sorted by their later document.
    debug_assert!(groups.is_sorted_by(|a, b| a.later < b.later));
    let n_ranks = (last.later.0 - first.later.0) as usize + 1;
    if n_ranks > 16 * groups.len() {
        let origins = origins_far_apart(groups);
        return sorted_parts(groups.len(), threads, |i| OriginGroup { origin: origins[i], number: i as u32 });
    }
    let links = Links::new(groups, first.later, n_ranks, threads);
    sorted_parts(groups.len(), threads, |i| OriginGroup {
        origin: links.origin(groups[i].later),
        number: i as u32,
    })
}

/// Of each later document its first earlier one, or another one on the way from there to the origin.
struct Links {
    first: Rank,
    /// By later document, counted from the first one.
    earlier: Vec<AtomicU32>,
}

impl Links {
    /// What no document has.
    const NONE: u32 = u32::MAX;

    fn new(groups: &[Candidates<'_>], first: Rank, n_ranks: usize, threads: usize) -> Self {
        let earlier = std::iter::repeat_with(|| AtomicU32::new(Self::NONE)).take(n_ranks).collect();
        let links = Self { first, earlier };
        let n_parts = groups.len().div_ceil(1 << 14);
        in_parallel(
            n_parts,
            threads,
            || (),
            |part, _| {
                for group in &groups[share(part, n_parts, groups.len())] {
                    let link = &links.earlier[(group.later.0 - first.0) as usize];
                    link.store(group.earlier[0].0, Ordering::Relaxed);
                }
            },
        );
        links
    }

    /// The document that one comes to from earlier to earlier first document: the same for most of a cluster, whose members are compared with each other. What was passed is shortened for those who
    /// come after, so that a long chain is not walked again and again; any thread may do so at any time, because the end stays the same.
    fn origin(&self, later: Rank) -> Rank {
        let (mut at, mut earlier) = (later, self.link(later).expect("a later document"));
        loop {
            let Some(next) = self.link(earlier) else { return earlier };
            self.earlier[(at.0 - self.first.0) as usize].store(next.0, Ordering::Relaxed);
            (at, earlier) = (earlier, next);
        }
    }

    #[inline]
    fn link(&self, rank: Rank) -> Option<Rank> {
        let link = self.earlier.get(rank.0.wrapping_sub(self.first.0) as usize)?.load(Ordering::Relaxed);
        (link != Self::NONE).then_some(Rank(link))
    }
}

/// The origins of few groups among many ranks.
fn origins_far_apart(groups: &[Candidates<'_>]) -> Vec<Rank> {
    let mut origins: Vec<Rank> = Vec::with_capacity(groups.len());
    for group in groups {
        let earliest = group.earlier[0];
        let before = groups[..origins.len()].binary_search_by_key(&earliest, |group| group.later);
        origins.push(before.map_or(earliest, |i| origins[i]));
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_the_same_by_table_and_by_search() {
        let mut random = benzer_core::hash::stream(1);
        let mut next = |n: u64| (random.next().unwrap() % n) as u32;
        for (spread, first) in [(1, 1), (3, 40), (12, 7)] {
            let mut later = first;
            let lists: Vec<(Rank, Vec<Rank>)> = (0..500)
                .map(|_| {
                    later += 1 + next(spread);
                    (Rank(later), vec![Rank(next(later.into()))])
                })
                .collect();
            let groups: Vec<Candidates<'_>> =
                lists.iter().map(|(later, earlier)| Candidates { later: *later, earlier }).collect();
            for groups in [&groups[..], &groups[..2], &groups[..1]] {
                let origins = origins_far_apart(groups).into_iter().zip(0..);
                let mut expected: Vec<_> =
                    origins.map(|(origin, number)| OriginGroup { origin, number }).collect();
                expected.sort_unstable();
                for threads in [1, 3] {
                    assert_eq!(by_origin(groups, threads).concat(), expected);
                }
            }
        }
        assert!(by_origin(&[], 2).concat().is_empty());
    }

    #[test]
    fn a_chain_of_documents_has_one_origin() {
        let earlier: Vec<Rank> = Rank::all(200_000).collect();
        let groups: Vec<Candidates<'_>> =
            earlier.chunks(1).map(|earlier| Candidates { later: Rank(earlier[0].0 + 1), earlier }).collect();
        for threads in [1, 3] {
            let order = by_origin(&groups, threads).concat();
            assert!(order.len() == groups.len() && order.iter().all(|group| group.origin == Rank(0)));
        }
    }
}
