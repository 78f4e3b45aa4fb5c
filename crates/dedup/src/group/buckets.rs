//! Keys that occur more than once.
//!
//! Most keys occur once. Two bits for each of many counters tell which might occur again, in two passes over the keys that stay in the cache; only what is left is
//! sorted.

/// Counters per key. Of the keys that occur once, one in so many is sorted with the others.
const SPARE: usize = 16;

/// Buffers that one thread reuses.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    once: Vec<u64>,
    again: Vec<u64>,
    shift: u32,
}

impl Filter {
    /// The (key, member) of keys that have more than one member, sorted. `members[i]` has `keys[i]`.
    pub fn repeated(&mut self, keys: &[u64], members: &[u32]) -> Vec<(u64, u32)> {
        self.look_at(keys);
        let pairs = keys.iter().copied().zip(members.iter().copied());
        let mut left: Vec<(u64, u32)> = pairs.filter(|&(key, _)| self.may_be_repeated(key)).collect();
        left.sort_unstable();
        drop_single(&mut left);
        left
    }

    /// Looks at some keys, and at no others.
    pub fn look_at(&mut self, keys: &[u64]) {
        let bits = (keys.len() * SPARE).next_power_of_two().max(64);
        self.shift = 64 - bits.trailing_zeros();
        for set in [&mut self.once, &mut self.again] {
            set.clear();
            set.resize(bits / 64, 0);
        }
        for &key in keys {
            let (word, bit) = self.place(key);
            self.again[word] |= self.once[word] & bit;
            self.once[word] |= bit;
        }
    }

    /// False if it is sure that a key was there once, or not at all.
    #[inline]
    pub fn may_be_repeated(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.again[word] & bit != 0
    }

    #[inline]
    fn place(&self, key: u64) -> (usize, u64) {
        // The product spreads keys whose bits are not.
        let slot = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        (slot as usize / 64, 1 << (slot % 64))
    }
}

/// Keeps the keys that have two members or more.
fn drop_single(sorted: &mut Vec<(u64, u32)>) {
    let mut kept = 0;
    let mut start = 0;
    while start < sorted.len() {
        let key = sorted[start].0;
        let end = start + sorted[start..].iter().take_while(|(other, _)| *other == key).count();
        if end - start > 1 {
            sorted.copy_within(start..end, kept);
            kept += end - start;
        }
        start = end;
    }
    sorted.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn exactly_the_repeated_keys_are_left(keys in prop::collection::vec(prop_oneof![0u64..40, any::<u64>(), (0u64..9).prop_map(|k| k << 56)], 0..300)) {
            let members: Vec<u32> = (0..keys.len() as u32).map(|i| 2 * i).collect();
            let mut n_of = HashMap::new();
            keys.iter().for_each(|key| *n_of.entry(key).or_insert(0) += 1);
            let mut expected: Vec<(u64, u32)> =
                keys.iter().copied().zip(members.iter().copied()).filter(|(key, _)| n_of[key] > 1).collect();
            expected.sort_unstable();
            let mut filter = Filter::default();
            prop_assert_eq!(&filter.repeated(&keys, &members), &expected);
            prop_assert_eq!(filter.repeated(&keys, &members), expected);
        }
    }
}
