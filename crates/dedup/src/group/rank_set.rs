//! A set of ranks that gives them back in order.

/// Bits of a word, as an exponent.
const LOG: u32 = 6;

/// A bit for each rank, a bit for each word that has some, and a bit for each word of those: what is there is found without looking at the rest, and nothing
/// is sorted. An eighth of a byte per rank.
#[derive(Debug)]
pub(super) struct RankSet {
    ranks: Vec<u64>,
    words: Vec<u64>,
    blocks: Vec<u64>,
}

impl RankSet {
    /// An empty set of ranks below `n`.
    pub fn new(n: usize) -> Self {
        let [ranks, words, blocks] = [1, 2, 3].map(|level| vec![0; n.div_ceil(1 << (level * LOG))]);
        Self { ranks, words, blocks }
    }

    /// Adds a rank.
    #[inline]
    pub fn insert(&mut self, rank: u32) {
        let bit = |at: u32| 1u64 << (at % (1 << LOG));
        let (word, block) = (rank >> LOG, rank >> (2 * LOG));
        self.ranks[word as usize] |= bit(rank);
        let words = &mut self.words[block as usize];
        // Seldom: there are few blocks. To write to the same word every time would have each rank wait for the one before.
        if *words == 0 {
            self.blocks[(block >> LOG) as usize] |= bit(block);
        }
        *words |= bit(word);
    }

    /// Appends the ranks in order, and empties the set.
    #[inline]
    pub fn drain_into(&mut self, ranks: &mut Vec<u32>) {
        for (block, at) in self.blocks.iter_mut().zip(0..) {
            for at in bits(std::mem::take(block), at) {
                for at in bits(std::mem::take(&mut self.words[at as usize]), at) {
                    ranks.extend(bits(std::mem::take(&mut self.ranks[at as usize]), at));
                }
            }
        }
    }
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
        fn ranks_come_back_once_and_in_order(ranks in prop::collection::vec(prop_oneof![0u32..200, 0u32..600_000, Just(599_999)], 0..200)) {
            let mut set = RankSet::new(600_000);
            for _ in 0..2 {
                ranks.iter().for_each(|&rank| set.insert(rank));
                let mut found = vec![7];
                set.drain_into(&mut found);
                let expected: BTreeSet<u32> = ranks.iter().copied().collect();
                prop_assert_eq!(&found[1..], &expected.into_iter().collect::<Vec<_>>()[..]);
            }
        }
    }
}
