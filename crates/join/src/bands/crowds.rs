//! Large buckets, whose many members are all paired with the same first ones.
//!
//! A cluster has a large bucket in most bands, with nearly the same first members in each. Their numbers are near each other (the module `relatives`), so that a bucket is a few words of bits, and what a document
//! meets in all of its large buckets is put together a word at a time.

use benzer_core::hint::prefetch;

/// The first members of large buckets.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    /// Of each bucket the words that have bits: which, and the bits.
    words: Vec<(u32, u64)>,
    ends: Vec<usize>,
}

impl Crowds {
    /// Adds a bucket by the numbers of its first members.
    pub fn push(&mut self, numbers: &[u32]) {
        let start = self.words.len();
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        for number in numbers {
            let (at, bit) = (number / 64, 1 << (number % 64));
            match self.words[start..].last_mut() {
                Some((last, word)) if *last == at => *word |= bit,
                _ => self.words.push((at, bit)),
            }
        }
        self.ends.push(self.words.len());
    }

    /// Asks for where the words of a bucket end.
    #[inline]
    pub fn expect(&self, bucket: usize) {
        prefetch(&self.ends, bucket);
    }

    /// The words of a bucket.
    #[inline]
    pub fn get(&self, bucket: usize) -> &[(u32, u64)] {
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
            let mut crowds = Crowds::default();
            for bucket in &buckets {
                crowds.push(&bucket.iter().rev().copied().collect::<Vec<_>>());
            }
            let (mut set, mut found) = (NumberSet::new(500), Vec::new());
            let mut expected: BTreeSet<u32> = BTreeSet::new();
            for bucket in document {
                let bucket = bucket.index(buckets.len());
                crowds.get(bucket).iter().for_each(|&(at, word)| set.add(at, word));
                expected.extend(&buckets[bucket]);
            }
            set.drain(|number| found.push(number));
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
