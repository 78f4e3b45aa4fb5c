//! Which documents a cluster has.

use benzer_core::slots::{n_slots, probe};

use crate::Rank;
use crate::bands::Candidates;

/// All documents of some groups.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// Each once, in order.
    pub ranks: Vec<Rank>,
    /// Documents with their places among them, by hash: they may be far apart.
    slots: Vec<Slot>,
}

/// A document, and its place.
#[derive(Debug, Clone, Copy)]
struct Slot {
    rank: Rank,
    place: u32,
}

impl Slot {
    const FREE: Self = Self { rank: Rank(u32::MAX), place: u32::MAX };
}

/// Slots per document, at least.
const SPARE: usize = 2;

impl Documents {
    /// Takes those of some groups.
    pub fn list(&mut self, groups: &[Candidates<'_>]) {
        self.ranks.clear();
        self.make_slots(groups.len());
        for &Candidates { later, earlier } in groups {
            if SPARE * (self.ranks.len() + earlier.len() + 1) > self.slots.len() {
                self.make_slots(2 * (self.ranks.len() + earlier.len() + 1));
            }
            earlier.iter().for_each(|rank| self.insert(*rank));
            self.insert(later);
        }
        self.ranks.sort_unstable();
        for (place, &rank) in (0..).zip(&self.ranks) {
            let slot = self.slot(rank);
            self.slots[slot].place = place;
        }
    }

    /// Empty slots for `n` documents and more, and those that are listed in theirs.
    fn make_slots(&mut self, n: usize) {
        self.slots.clear();
        self.slots.resize(n_slots(n.max(self.ranks.len()), SPARE), Slot::FREE);
        for i in 0..self.ranks.len() {
            let slot = self.slot(self.ranks[i]);
            self.slots[slot].rank = self.ranks[i];
        }
    }

    #[inline]
    fn insert(&mut self, rank: Rank) {
        let slot = self.slot(rank);
        if self.slots[slot].rank != rank {
            self.slots[slot].rank = rank;
            self.ranks.push(rank);
        }
    }

    /// The slot of a document, or the free one that it would have.
    #[inline]
    fn slot(&self, rank: Rank) -> usize {
        let hash = u64::from(rank.0).wrapping_mul(SPREAD) >> 32;
        let ends = |slot: usize| {
            let found = self.slots[slot].rank;
            found == rank || found == Slot::FREE.rank
        };
        probe(hash, self.slots.len(), |slot| ends(slot).then_some(slot))
    }

    /// Where a document is in the list.
    #[inline]
    pub fn place(&self, rank: Rank) -> u32 {
        self.slots[self.slot(rank)].place
    }
}

/// An odd number at random.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many pairs some groups have.
pub(super) fn n_pairs(groups: &[Candidates<'_>]) -> usize {
    groups.iter().map(|group| group.earlier.len()).sum()
}

/// The earlier documents of all groups, each once, in order.
pub(super) fn list_earlier(groups: &[Candidates<'_>], earlier: &mut Vec<Rank>) {
    earlier.clear();
    if let [group] = groups {
        earlier.extend_from_slice(group.earlier);
        return;
    }
    let all = || groups.iter().flat_map(|group| group.earlier).copied();
    // Each group is in order.
    let first = groups.iter().map(|group| group.earlier[0].0).min().unwrap_or_default();
    let last = groups.iter().map(|group| group.earlier[group.earlier.len() - 1].0).max().unwrap_or_default();
    let words = (last.saturating_sub(first) / 64 + 1) as usize;
    // A bit for each, if they are not too far apart.
    if words <= n_pairs(groups) {
        let mut bits = vec![0u64; words];
        all().for_each(|rank| bits[((rank.0 - first) / 64) as usize] |= 1 << ((rank.0 - first) % 64));
        for (mut word, start) in bits.into_iter().zip((first..).step_by(64)) {
            while word != 0 {
                earlier.push(Rank(start + word.trailing_zeros()));
                word &= word - 1;
            }
        }
    } else {
        earlier.extend(all());
        earlier.sort_unstable();
        earlier.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn documents_are_listed_once_and_found_at_their_places(lists in prop::collection::vec((any::<u32>(), prop::collection::btree_set(prop_oneof![0u32..50, 0..u32::MAX], 1..40)), 1..30)) {
            let lists: Vec<(Rank, Vec<Rank>)> = lists.into_iter().map(|(later, earlier)| (Rank(later / 2), earlier.into_iter().map(Rank).collect())).collect();
            let groups: Vec<Candidates<'_>> = lists.iter().map(|(later, earlier)| Candidates { later: *later, earlier }).collect();
            let expected: BTreeSet<Rank> = lists.iter().flat_map(|(later, earlier)| earlier.iter().copied().chain([*later])).collect();
            let mut documents = Documents::default();
            for _ in 0..2 {
                documents.list(&groups);
                prop_assert_eq!(&documents.ranks, &expected.iter().copied().collect::<Vec<_>>());
                prop_assert!(documents.ranks.iter().zip(0..).all(|(rank, place)| documents.place(*rank) == place));
            }
        }
    }
}
