//! Large buckets, whose many members are all paired with the same first ones.
//!
//! A cluster has a large bucket in most bands, with nearly the same first members in each. So these are numbered, and a bucket is a set of bits: what a document meets in all of its
//! large buckets is found a word at a time, each member once.

/// The first members of large buckets.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    /// The rank of each number.
    ranks: Vec<u32>,
    /// The sets of bits, one after the other, and of each where it begins, and the first and the last word that it has of the numbers.
    bits: Vec<u64>,
    places: Vec<(usize, u32, u32)>,
}

/// What a document meets in its large buckets.
#[derive(Debug, Default)]
pub(super) struct Met {
    bits: Vec<u64>,
    /// The words that may have bits.
    words: std::ops::Range<usize>,
}

impl Crowds {
    /// From the first members of each large bucket, at least one of each; ranks are below `n`.
    pub fn new(buckets: &[&[u32]], n: usize) -> Self {
        let mut crowds = Self::default();
        if buckets.is_empty() {
            return crowds;
        }
        // One more than the number of each rank. Buckets of a cluster come one after the other, so that their numbers are near each other.
        let mut numbers = vec![0u32; n];
        let mut order: Vec<&[u32]> = buckets.to_vec();
        order.sort_unstable();
        for &rank in order.into_iter().flatten() {
            if numbers[rank as usize] == 0 {
                crowds.ranks.push(rank);
                numbers[rank as usize] = crowds.ranks.len() as u32;
            }
        }
        for bucket in buckets {
            let numbers = || bucket.iter().map(|rank| numbers[*rank as usize] - 1);
            let words = || numbers().map(|number| number / 64);
            let (first, last) = (words().min().unwrap_or(0), words().max().unwrap_or(0));
            let start = crowds.bits.len();
            crowds.bits.resize(start + (last - first) as usize + 1, 0);
            numbers().for_each(|number| {
                crowds.bits[start + (number / 64 - first) as usize] |= 1 << (number % 64);
            });
            crowds.places.push((start, first, last));
        }
        crowds
    }

    /// Adds the first members of a large bucket.
    #[inline]
    pub fn add(&self, bucket: usize, met: &mut Met) {
        let (start, first, last) = self.places[bucket];
        let (first, end) = (first as usize, last as usize + 1);
        if met.words.is_empty() {
            met.bits.resize(self.ranks.len().div_ceil(64), 0);
            met.words = first..end;
        }
        met.words = met.words.start.min(first)..met.words.end.max(end);
        for (met, word) in met.bits[first..end].iter_mut().zip(&self.bits[start..]) {
            *met |= word;
        }
    }

    /// Hands out the ranks that were added, each once, and forgets them.
    #[inline]
    pub fn drain(&self, met: &mut Met, mut visit: impl FnMut(u32)) {
        for at in std::mem::take(&mut met.words) {
            let mut word = std::mem::take(&mut met.bits[at]);
            while word != 0 {
                visit(self.ranks[64 * at + word.trailing_zeros() as usize]);
                word &= word - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn members_of_all_buckets_are_met_once(buckets in prop::collection::vec(prop::collection::btree_set(0u32..500, 1..80), 0..30), documents in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..9), 1..9)) {
            let lists: Vec<Vec<u32>> = buckets.iter().map(|bucket| bucket.iter().copied().collect()).collect();
            let crowds = Crowds::new(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), 500);
            let mut met = Met::default();
            for document in documents.iter().filter(|_| !buckets.is_empty()) {
                let mut expected: BTreeSet<u32> = BTreeSet::new();
                for bucket in document {
                    crowds.add(bucket.index(buckets.len()), &mut met);
                    expected.extend(&buckets[bucket.index(buckets.len())]);
                }
                let mut found = Vec::new();
                crowds.drain(&mut met, |rank| found.push(rank));
                found.sort_unstable();
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
