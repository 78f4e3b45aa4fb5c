//! A set of numbers that knows how many are before each.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each, and of every word of bits how many are set before it: a fifth of a byte for each.
#[derive(Debug, Default)]
pub(crate) struct BitSet {
    words: Vec<AtomicU64>,
    before: Vec<u32>,
}

impl BitSet {
    /// Bytes that a set of numbers below `n` takes.
    pub fn bytes(n: u32) -> u64 {
        u64::from(n).div_ceil(64) * (size_of::<u64>() + size_of::<u32>()) as u64
    }

    /// An empty set of numbers below `n`.
    pub fn new(n: u32) -> Self {
        let words = std::iter::repeat_with(AtomicU64::default).take((n as usize).div_ceil(64)).collect();
        Self { words, before: Vec::new() }
    }

    /// Adds a number; any thread may do that.
    #[inline]
    pub fn insert(&self, number: u32) {
        let (word, bit) = (&self.words[number as usize / 64], 1 << (number % 64));
        // What is only read stays in the caches of all threads.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether a number is in it.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64].load(Ordering::Relaxed) >> (number % 64) & 1 != 0
    }

    /// Counts how many are before each: none is added any more. How many there are.
    pub fn count(&mut self) -> usize {
        let mut n = 0;
        let before = |word: &AtomicU64| {
            let before = n;
            n += word.load(Ordering::Relaxed).count_ones();
            before
        };
        self.before = self.words.iter().map(before).collect();
        n as usize
    }

    /// How many are before one that is in it.
    #[inline]
    pub fn place(&self, number: u32) -> usize {
        let word = self.words[number as usize / 64].load(Ordering::Relaxed);
        let before = word & ((1 << (number % 64)) - 1);
        (self.before[number as usize / 64] + before.count_ones()) as usize
    }

    /// Those that are in it, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(at, word)| {
            let mut left = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                let found = left != 0;
                left &= left.wrapping_sub(1);
                found.then_some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_is_numbered_by_those_before_it(numbers in prop::collection::btree_set(0u32..3_000, 0..500)) {
            let mut set = BitSet::new(3_000);
            numbers.iter().for_each(|&number| set.insert(number));
            prop_assert_eq!(set.count(), numbers.len());
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), numbers.clone());
            for (place, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(set.place(number), place);
            }
            prop_assert!((0..3_000).all(|number| set.contains(number) == numbers.contains(&number)));
        }
    }
}
