//! Where each document of a large cluster is among all of its documents. Any thread adds documents at any time.

use std::sync::atomic::{AtomicU64, Ordering};

use benzer_flow::{share, workers::in_parallel};

use crate::Rank;
use crate::bands::Candidates;

/// Groups that one thread adds in one go.
const TOGETHER: usize = 1 << 10;

/// A bit for each rank from the first to the last one, and how many are before each word of them.
#[derive(Debug, Default)]
pub(super) struct RankPlaces {
    first: u32,
    words: Vec<AtomicU64>,
    before: Vec<u32>,
}

impl RankPlaces {
    /// The documents of groups, of which there is at least one; none if their ranks are so far apart that a bit for each would take more than `max_bytes`.
    pub fn new(groups: &[Candidates<'_>], threads: usize, max_bytes: usize) -> Option<Self> {
        // Each group is in order.
        let first = groups.iter().map(|group| group.earlier[0].0).min()?;
        let last = groups.iter().map(|group| group.later.0).max()?;
        let n_words = ((last - first) / 64 + 1) as usize;
        if n_words * (size_of::<u64>() + size_of::<u32>()) > max_bytes {
            return None;
        }
        let words = std::iter::repeat_with(AtomicU64::default).take(n_words).collect();
        let mut places = Self { first, words, before: Vec::with_capacity(n_words) };
        let n_parts = groups.len().div_ceil(TOGETHER);
        in_parallel(
            n_parts,
            threads,
            || (),
            |part, ()| {
                for &Candidates { later, earlier } in &groups[share(part, n_parts, groups.len())] {
                    earlier.iter().for_each(|rank| places.insert(*rank));
                    places.insert(later);
                }
            },
        );
        let mut n = 0;
        for word in &places.words {
            places.before.push(n);
            n += word.load(Ordering::Relaxed).count_ones();
        }
        Some(places)
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.words.len() * (size_of::<u64>() + size_of::<u32>())
    }

    /// All documents, in order.
    pub fn ranks(&self) -> Vec<Rank> {
        let mut ranks = Vec::new();
        for (word, start) in self.words.iter().zip((self.first..).step_by(64)) {
            let mut word = word.load(Ordering::Relaxed);
            while word != 0 {
                ranks.push(Rank(start + word.trailing_zeros()));
                word &= word - 1;
            }
        }
        ranks
    }

    /// Where a document is among them.
    #[inline]
    pub fn place(&self, rank: Rank) -> u32 {
        let (word, bit) = self.bit(rank);
        self.before[word] + (self.words[word].load(Ordering::Relaxed) & (bit - 1)).count_ones()
    }

    #[inline]
    fn insert(&self, rank: Rank) {
        let (word, bit) = self.bit(rank);
        // Most are there already, and what is only read stays in the caches of all threads.
        if self.words[word].load(Ordering::Relaxed) & bit == 0 {
            self.words[word].fetch_or(bit, Ordering::Relaxed);
        }
    }

    #[inline]
    fn bit(&self, rank: Rank) -> (usize, u64) {
        let at = rank.0 - self.first;
        (at as usize / 64, 1 << (at % 64))
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
