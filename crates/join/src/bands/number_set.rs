//! A set of numbers that gives them back in order.

/// Bits of a word, as an exponent.
const LOG: u32 = 6;

/// A bit for each number, a bit for each word that has some, and a bit for each word of those: what is there is found without looking at the rest, and nothing
/// is sorted. An eighth of a byte per number.
#[derive(Debug)]
pub(super) struct NumberSet {
    numbers: Vec<u64>,
    words: Vec<u64>,
    blocks: Vec<u64>,
}

impl NumberSet {
    /// An empty set of numbers below `n`.
    pub fn new(n: usize) -> Self {
        let [numbers, words, blocks] = [1, 2, 3].map(|level| vec![0; n.div_ceil(1 << (level * LOG))]);
        Self { numbers, words, blocks }
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        self.add(number >> LOG, bit(number));
    }

    /// Adds the numbers of a word of bits, at least one.
    #[inline]
    pub fn add(&mut self, at: u32, word: u64) {
        let block = at >> LOG;
        self.numbers[at as usize] |= word;
        let words = &mut self.words[block as usize];
        // Seldom: there are few blocks. To write to the same word every time would have each number wait for the one before.
        if *words == 0 {
            self.blocks[(block >> LOG) as usize] |= bit(block);
        }
        *words |= bit(at);
    }

    /// Hands out the numbers in order, and empties the set.
    #[inline]
    pub fn drain(&mut self, mut visit: impl FnMut(u32)) {
        for (block, at) in self.blocks.iter_mut().zip(0..) {
            for at in bits(std::mem::take(block), at) {
                for at in bits(std::mem::take(&mut self.words[at as usize]), at) {
                    bits(std::mem::take(&mut self.numbers[at as usize]), at).for_each(&mut visit);
                }
            }
        }
    }
}

/// The bit of a number in its word.
#[inline]
fn bit(number: u32) -> u64 {
    1 << (number % (1 << LOG))
}

/// The positions of the bits of a word, which is word `at` of its level.
#[inline]
fn bits(mut word: u64, at: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        let found = word != 0;
        word &= word.wrapping_sub(1);
        found.then_some((at << LOG) + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn numbers_come_back_once_and_in_order(numbers in prop::collection::vec(prop_oneof![0u32..200, 0u32..600_000, Just(599_999)], 0..200)) {
            let mut set = NumberSet::new(600_000);
            for _ in 0..2 {
                numbers.iter().for_each(|&number| set.insert(number));
                let mut found = vec![7];
                set.drain(|number| found.push(number));
                let expected: BTreeSet<u32> = numbers.iter().copied().collect();
                prop_assert_eq!(&found[1..], &expected.into_iter().collect::<Vec<_>>()[..]);
            }
        }
    }
}
