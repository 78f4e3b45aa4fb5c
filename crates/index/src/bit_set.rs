//! Sets of small numbers, a bit for each.

/// A set of numbers that takes as many bits as the largest of them says.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// Nothing yet, with room for the numbers below `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    #[inline]
    pub fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// False if it was there already.
    #[inline]
    pub fn insert(&mut self, number: usize) -> bool {
        if number / 64 >= self.0.len() {
            self.0.resize(number / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.0[number / 64], 1 << (number % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }
}
