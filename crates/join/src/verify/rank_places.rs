//! Where each document of a large cluster is among all of its documents. Any thread adds documents at any time.

use benzer_flow::{share, workers::in_parallel};

use crate::Rank;
use crate::bands::Candidates;
use crate::bit_set::BitSet;

/// Groups that one thread adds in one go.
const TOGETHER: usize = 1 << 10;

/// Which ranks there are, from the first one on.
#[derive(Debug, Default)]
pub(super) struct RankPlaces {
    first: u32,
    /// How many ranks there are from the first to the last.
    n: u32,
    set: BitSet,
}

impl RankPlaces {
    /// The documents of groups, of which there is at least one; none if their ranks are so far apart that a bit for each would take more than `max_bytes`.
    pub fn new(groups: &[Candidates<'_>], threads: usize, max_bytes: usize) -> Option<Self> {
        // Each group is in order.
        let first = groups.iter().map(|group| group.earlier[0].0).min()?;
        let last = groups.iter().map(|group| group.later.0).max()?;
        let n = last - first + 1;
        if BitSet::bytes(n) > max_bytes as u64 {
            return None;
        }
        let mut set = BitSet::new(n);
        let n_parts = groups.len().div_ceil(TOGETHER);
        let insert = |part: usize, (): &mut ()| {
            for &Candidates { later, earlier } in &groups[share(part, n_parts, groups.len())] {
                earlier.iter().chain([&later]).for_each(|rank| set.insert(rank.0 - first));
            }
        };
        in_parallel(n_parts, threads, || (), insert);
        set.count();
        Some(Self { first, n, set })
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        BitSet::bytes(self.n) as usize
    }

    /// All documents, in order.
    pub fn ranks(&self) -> Vec<Rank> {
        self.set.iter().map(|number| Rank(self.first + number)).collect()
    }

    /// Where a document is among them.
    #[inline]
    pub fn place(&self, rank: Rank) -> u32 {
        self.set.place(rank.0 - self.first) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn documents_are_at_their_places_in_order(first in 0u32..u32::MAX - 9000, lists in prop::collection::btree_map(100u32..3000, prop::collection::btree_set(0u32..100, 1..40), 1..60), threads in 1usize..4) {
            let lists: Vec<(Rank, Vec<Rank>)> = lists
                .into_iter()
                .map(|(later, earlier)| (Rank(first + later), earlier.into_iter().map(|back| Rank(first + later - 100 + back)).collect()))
                .collect();
            let groups: Vec<Candidates<'_>> = lists.iter().map(|(later, earlier)| Candidates { later: *later, earlier }).collect();
            let expected: BTreeSet<Rank> = lists.iter().flat_map(|(later, earlier)| earlier.iter().copied().chain([*later])).collect();
            let places = RankPlaces::new(&groups, threads, 1 << 20).unwrap();
            prop_assert_eq!(places.ranks(), expected.iter().copied().collect::<Vec<_>>());
            prop_assert!(expected.iter().zip(0..).all(|(rank, place)| places.place(*rank) == place));
            prop_assert!(RankPlaces::new(&groups, threads, places.bytes() - 1).is_none());
        }
    }
}
