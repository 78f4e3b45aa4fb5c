//! Large buckets, whose many members are all paired with the same first ones.
//!
//! A cluster has a large bucket in most bands, with nearly the same first members in each. Their numbers are near each other (the module `cluster_numbering`), so that a bucket is a few words of bits, and what a document
//! meets in all of its large buckets is put together a word at a time.

use benzer_core::hint;

/// Numbers as a word of a bit set.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberWord {
    /// Which word it is.
    pub at: u32,
    /// The numbers in it.
    pub bits: u64,
}

/// The first members of large buckets.
#[derive(Debug, Default)]
pub(super) struct LargeBuckets {
    /// Of each bucket the words that have bits.
    words: Vec<NumberWord>,
    ends: Vec<usize>,
}

impl LargeBuckets {
    /// Adds a bucket by the numbers of its first members.
    pub fn push(&mut self, numbers: &[u32]) {
        let start = self.words.len();
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        for number in numbers {
            let (at, bit) = (number / 64, 1 << (number % 64));
            match self.words[start..].last_mut() {
                Some(word) if word.at == at => word.bits |= bit,
                _ => self.words.push(NumberWord { at, bits: bit }),
            }
        }
        self.ends.push(self.words.len());
    }

    /// Asks for where the words of a bucket end.
    #[inline]
    pub fn prefetch(&self, bucket: usize) {
        hint::prefetch(&self.ends, bucket);
    }

    /// The words of a bucket.
    #[inline]
    pub fn get(&self, bucket: usize) -> &[NumberWord] {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        &self.words[start..self.ends[bucket]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::number_set::NumberSet;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn members_of_all_buckets_are_met_once(buckets in prop::collection::vec(prop::collection::btree_set(0u32..500, 1..80), 1..30), document in prop::collection::vec(any::<prop::sample::Index>(), 0..9)) {
            let mut large = LargeBuckets::default();
            for bucket in &buckets {
                large.push(&bucket.iter().rev().copied().collect::<Vec<_>>());
            }
            let (mut set, mut found) = (NumberSet::new(500), Vec::new());
            let mut expected: BTreeSet<u32> = BTreeSet::new();
            for bucket in document {
                let bucket = bucket.index(buckets.len());
                large.get(bucket).iter().for_each(|word| set.add(word.at, word.bits));
                expected.extend(&buckets[bucket]);
            }
            set.drain(|number| found.push(number));
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
