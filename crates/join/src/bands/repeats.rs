//! Keys that occur more than once.
//!
//! Most keys occur once. Two bits for each of many counters tell which might occur again, in two passes over the keys that stay in the cache; only what is left is
//! put in order, by its first bits, in which few different keys are equal.

use crate::Rank;

/// Counters per key. Of the keys that occur once, one in so many is sorted with the others.
const SPARE: usize = 16;

/// Buffers that one thread reuses.
#[derive(Debug, Default)]
pub struct RepeatFilter {
    /// Which counters are at one or more, and which at two or more; side by side, because who looks at the one looks at the other.
    counters: Vec<[u64; 2]>,
    shift: u32,
    /// The high bits of keys, and in the place of the low ones where they are.
    left: Vec<u64>,
    /// The same, half in order.
    half: Vec<u64>,
    /// Keys with the same high bits, and where they are.
    mixed: Vec<(u64, Rank)>,
}

/// The members of each key that has more than one, in order of the keys.
#[derive(Debug, Default)]
pub struct Buckets {
    /// Those of all keys, one after the other.
    pub(super) members: Vec<Rank>,
    ends: Vec<u32>,
}

impl Buckets {
    /// The buckets, each with its members in order.
    pub fn iter(&self) -> impl Iterator<Item = &[Rank]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.members[*start as usize..*end as usize])
    }

    pub(super) fn push(&mut self, members: impl Iterator<Item = Rank>) {
        self.members.extend(members);
        self.ends.push(self.members.len() as u32);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The members of one of them.
    pub fn get(&self, i: usize) -> &[Rank] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.members[start as usize..self.ends[i] as usize]
    }

    fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
    }

    /// Puts the members of each bucket in order.
    fn sort(&mut self) {
        let mut start = 0;
        for &end in &self.ends {
            let members = &mut self.members[std::mem::replace(&mut start, end) as usize..end as usize];
            if !members.is_sorted() {
                members.sort_unstable();
            }
        }
    }
}

impl RepeatFilter {
    /// Finds the buckets of keys that have more than one member. `members[i]` has `keys[i]`.
    pub fn repeated(&mut self, keys: &[u64], members: &[Rank], buckets: &mut Buckets) {
        buckets.clear();
        self.count(keys);
        let mut left = std::mem::take(&mut self.left);
        left.resize(keys.len().max(left.len()), 0);
        let place = keys.len().next_power_of_two() as u64 - 1;
        let mut n = 0;
        for (&key, i) in keys.iter().zip(0..) {
            // Written in any case: which ones are left cannot be foretold, and guessing wrong takes longer.
            left[n] = key & !place | i;
            n += usize::from(self.may_be_repeated(key));
        }
        let high = sort(&mut left[..n], &mut self.half) & !place;
        let alike = left[..n].chunk_by(|a, b| (a ^ b) & high == 0).filter(|alike| alike.len() > 1);
        for alike in alike {
            let places = alike.iter().map(|both| (both & place) as usize);
            let first = keys[places.clone().next().expect("more than one")];
            if places.clone().all(|i| keys[i] == first) {
                buckets.push(places.map(|i| members[i]));
                continue;
            }
            self.mixed.clear();
            self.mixed.extend(places.map(|i| (keys[i], members[i])));
            self.mixed.sort_unstable();
            for bucket in self.mixed.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
                buckets.push(bucket.iter().map(|(_, member)| *member));
            }
        }
        self.left = left;
        buckets.sort();
    }

    /// Counts some keys, and no others.
    pub fn count(&mut self, keys: &[u64]) {
        let bits = (keys.len() * SPARE).next_power_of_two().max(64);
        self.shift = 64 - bits.trailing_zeros();
        self.counters.clear();
        self.counters.resize(bits / 64, [0; 2]);
        for &key in keys {
            let (word, bit) = self.place(key);
            let [once, again] = &mut self.counters[word];
            *again |= *once & bit;
            *once |= bit;
        }
    }

    /// False if it is sure that a key was there once, or not at all.
    #[inline]
    pub fn may_be_repeated(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.counters[word][1] & bit != 0
    }

    #[inline]
    fn place(&self, key: u64) -> (usize, u64) {
        // The product spreads keys whose bits are not.
        let slot = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        (slot as usize / 64, 1 << (slot % 64))
    }
}

/// Bits that words are put in order by at a time.
const DIGIT: u32 = 11;
/// Fewer words are sorted by comparing.
const FEW: usize = 1 << DIGIT;

/// Puts words in order by their first bits; those that are equal in them stay as they were. Gives the mask of these bits.
fn sort(words: &mut [u64], half: &mut Vec<u64>) -> u64 {
    if words.len() < FEW {
        words.sort_unstable();
        return u64::MAX;
    }
    half.resize(words.len().max(half.len()), 0);
    let half = &mut half[..words.len()];
    let digits = [64 - 2 * DIGIT, 64 - DIGIT];
    let digit = |word: u64, shift: u32| (word >> shift) as usize % (1 << DIGIT);
    let mut places = [[0u32; 1 << DIGIT]; 2];
    for &word in &*words {
        for (places, shift) in places.iter_mut().zip(digits) {
            places[digit(word, shift)] += 1;
        }
    }
    for places in &mut places {
        let mut start = 0;
        places.iter_mut().for_each(|place| start += std::mem::replace(place, start));
    }
    let mut put = |from: &[u64], to: &mut [u64], i: usize| {
        for &word in from {
            let place = &mut places[i][digit(word, digits[i])];
            to[*place as usize] = word;
            *place += 1;
        }
    };
    put(words, half, 0);
    put(half, words, 1);
    u64::MAX << digits[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::stream;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The buckets by definition.
    fn expected(keys: &[u64], members: &[Rank]) -> Vec<Vec<Rank>> {
        let mut all: BTreeMap<u64, Vec<Rank>> = BTreeMap::new();
        keys.iter().zip(members).for_each(|(key, member)| all.entry(*key).or_default().push(*member));
        all.values_mut().for_each(|bucket| bucket.sort_unstable());
        all.into_values().filter(|bucket| bucket.len() > 1).collect()
    }

    #[test]
    fn many_keys_are_told_apart_whether_their_first_bits_are_equal_or_not() {
        let members: Vec<Rank> = (0..40_000).map(|i| Rank(3 * i + 1)).collect();
        let (mut filter, mut buckets) = (RepeatFilter::default(), Buckets::default());
        // Of each number of keys some are in pairs, some in large buckets; `shift` says where they differ.
        for (n_keys, shift) in
            [(9_000, 50), (9_000, 43), (9_000, 40), (9_000, 0), (60, 20), (1, 0), (30_000, 49)]
        {
            let spread = stream(n_keys).map(|random| (random % n_keys) << shift);
            let keys: Vec<u64> = spread.take(members.len()).collect();
            filter.repeated(&keys, &members, &mut buckets);
            assert_eq!(
                buckets.iter().collect::<Vec<_>>(),
                expected(&keys, &members),
                "{n_keys} keys at {shift}"
            );
        }
    }

    proptest! {
        #[test]
        fn exactly_the_repeated_keys_are_left(keys in prop::collection::vec(prop_oneof![0u64..40, any::<u64>(), (0u64..9).prop_map(|k| k << 56)], 0..300), is_rising: bool) {
            let mut members: Vec<Rank> = (0..keys.len() as u32).map(|i| Rank(2 * i)).collect();
            if !is_rising {
                members.reverse();
            }
            let expected = expected(&keys, &members);
            let (mut filter, mut buckets) = (RepeatFilter::default(), Buckets::default());
            for _ in 0..2 {
                filter.repeated(&keys, &members, &mut buckets);
                prop_assert_eq!(buckets.len(), expected.len());
                prop_assert!((0..buckets.len()).all(|i| buckets.get(i) == expected[i]));
                prop_assert_eq!(buckets.iter().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
                prop_assert_eq!(&buckets.members, &expected.concat());
            }
        }
    }
}
