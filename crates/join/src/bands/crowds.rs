//! Buckets of many members, and the first members that everyone in them is paired with.
//!
//! A cluster has a crowd in most bands, with nearly the same first members in each. These are numbered so that those of a cluster are neighbours: as a set of bits they share a few words. The first members
//! of a large bucket, whose others are all paired with the same ones, are such words from the beginning, and what a document meets in all of its large buckets is put together a word at a time.

use std::sync::atomic::{AtomicU32, Ordering};

use benzer_core::hint;
use benzer_flow::workers::in_parallel;

use super::memberships::Memberships;
use crate::Rank;
use crate::bit_set::BitSet;

/// Numbers as a word of a bit set.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberWord {
    /// Which word it is.
    pub at: u32,
    /// The numbers in it.
    pub bits: u64,
}

/// The first members of all crowds.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    /// The document of each number.
    ranks: Vec<Rank>,
    /// Those of each partition.
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Part {
    /// The first members, as numbers.
    numbers: Vec<u32>,
    /// Of each large bucket the words that have bits, and where they end.
    words: Vec<NumberWord>,
    ends: Vec<usize>,
}

impl Crowds {
    /// Of documents whose ranks are below `n_ranks`.
    pub fn new(parts: &[Memberships], n_ranks: u32, threads: usize) -> Self {
        let Numbering { set, numbers, ranks } = Numbering::new(parts, n_ranks, threads);
        let part = |i: usize, bucket: &mut Vec<u32>| {
            let number = |rank: &Rank| numbers[set.place(rank.0)];
            let mut part = Part { numbers: parts[i].crowds.iter().map(number).collect(), ..Part::default() };
            for range in parts[i].large_ranges() {
                bucket.clear();
                bucket.extend_from_slice(&part.numbers[range]);
                part.push(bucket);
            }
            part
        };
        Self { parts: in_parallel(parts.len(), threads, Vec::new, part), ranks }
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> u64 {
        let parts = self.parts.iter().map(|Part { numbers, words, ends }| {
            numbers.capacity() * size_of::<u32>()
                + words.capacity() * size_of::<NumberWord>()
                + ends.capacity() * size_of::<usize>()
        });
        (parts.sum::<usize>() + self.ranks.capacity() * size_of::<Rank>()) as u64
    }

    /// How many documents have a number.
    pub fn n_numbers(&self) -> usize {
        self.ranks.len()
    }

    /// The document of a number.
    #[inline]
    pub fn rank(&self, number: u32) -> Rank {
        self.ranks[number as usize]
    }

    /// The first members of crowds of a partition, as numbers.
    #[inline]
    pub fn numbers(&self, part: u32) -> &[u32] {
        &self.parts[part as usize].numbers
    }

    /// Asks for where the words of a large bucket end.
    #[inline]
    pub fn prefetch(&self, part: u32, bucket: usize) {
        hint::prefetch(&self.parts[part as usize].ends, bucket);
    }

    /// The words of a large bucket.
    #[inline]
    pub fn words(&self, part: u32, bucket: usize) -> &[NumberWord] {
        let Part { words, ends, .. } = &self.parts[part as usize];
        let start = if bucket == 0 { 0 } else { ends[bucket - 1] };
        &words[start..ends[bucket]]
    }
}

impl Part {
    /// Adds a large bucket by the numbers of its first members, which are put in order.
    fn push(&mut self, numbers: &mut [u32]) {
        let start = self.words.len();
        numbers.sort_unstable();
        for number in numbers {
            let (at, bit) = (*number / 64, 1 << (*number % 64));
            match self.words[start..].last_mut() {
                Some(word) if word.at == at => word.bits |= bit,
                _ => self.words.push(NumberWord { at, bits: bit }),
            }
        }
        self.ends.push(self.words.len());
    }
}

/// The ranks that are in crowds, the number of each, and the rank of each number.
#[derive(Default)]
struct Numbering {
    set: BitSet,
    numbers: Vec<u32>,
    ranks: Vec<Rank>,
}

impl Numbering {
    /// Documents that one comes to from each other's first members of crowds are neighbours, in order of their ranks.
    fn new(parts: &[Memberships], n_ranks: u32, threads: usize) -> Self {
        if parts.iter().all(|part| part.crowds.is_empty()) {
            return Self::default();
        }
        let mut set = BitSet::new(n_ranks);
        let insert = |i: usize, _: &mut ()| parts[i].crowds.iter().for_each(|rank| set.insert(rank.0));
        in_parallel(parts.len(), threads, || (), insert);
        let n = set.count();
        // Of each the place of the earliest document that one meets.
        let origins: Vec<AtomicU32> = (0..n as u32).map(AtomicU32::new).collect();
        let lower = |i: usize, _: &mut ()| {
            for crowd in parts[i].crowd_ranges().map(|range| &parts[i].crowds[range]) {
                let first = set.place(crowd[0].0) as u32;
                for rank in crowd {
                    let origin = &origins[set.place(rank.0)];
                    // Two threads may do so at a time and the later one be forgotten: that only makes others neighbours.
                    if origin.load(Ordering::Relaxed) > first {
                        origin.store(first, Ordering::Relaxed);
                    }
                }
            }
        };
        in_parallel(parts.len(), threads, || (), lower);
        let mut numbers: Vec<u32> = origins.into_iter().map(AtomicU32::into_inner).collect();
        // Where the documents of each origin begin, and then the one that is met from there on; that of an earlier one is known.
        let mut places = vec![0; n + 1];
        for place in 0..n {
            numbers[place] = numbers[numbers[place] as usize];
            places[numbers[place] as usize + 1] += 1;
        }
        (1..places.len()).for_each(|i| places[i] += places[i - 1]);
        let mut ranks = vec![Rank(0); n];
        // From here on the number of each in the place of its origin.
        for (origin, rank) in numbers.iter_mut().zip(set.iter()) {
            let next: &mut u32 = &mut places[*origin as usize];
            ranks[*next as usize] = Rank(rank);
            *origin = *next;
            *next += 1;
        }
        Self { set, numbers, ranks }
    }
}

#[cfg(test)]
mod tests {
    use super::super::memberships::{MembershipsBuilder, Ranges};
    use super::super::number_set::NumberSet;
    use super::super::repeats::Buckets;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const N: u32 = 500;

    fn parts(buckets: &[BTreeSet<u32>], cap: usize) -> Vec<Memberships> {
        let part = |buckets: &[BTreeSet<u32>]| {
            let mut all = Buckets::default();
            buckets.iter().for_each(|bucket| all.push(bucket.iter().copied().map(Rank)));
            let mut made = MembershipsBuilder::new(cap);
            made.add(&all);
            made.finish(Ranges::new(N, 1))
        };
        buckets.chunks(2).map(part).collect()
    }

    #[test]
    fn documents_of_a_cluster_are_neighbours() {
        let buckets = [vec![1, 5, 9], vec![0, 8, 20], vec![5, 7, 11], vec![2, 9, 12]];
        let parts = parts(&buckets.map(|bucket| bucket.into_iter().collect()), 2);
        let crowds = Crowds::new(&parts, N, 2);
        let order: Vec<u32> = (0..crowds.n_numbers() as u32).map(|number| crowds.rank(number).0).collect();
        assert_eq!(order, [0, 8, 1, 5, 7, 2, 9]);
    }

    proptest! {
        #[test]
        fn members_of_all_buckets_are_met_once(buckets in prop::collection::vec(prop::collection::btree_set(0..N, 4..80), 1..30), document in prop::collection::vec(any::<prop::sample::Index>(), 0..9)) {
            const CAP: usize = 3;
            let crowds = Crowds::new(&parts(&buckets, CAP), N, 2);
            let (mut set, mut found) = (NumberSet::new(crowds.n_numbers()), BTreeSet::new());
            let mut expected: BTreeSet<u32> = BTreeSet::new();
            for bucket in document {
                let bucket = bucket.index(buckets.len());
                let words = crowds.words(bucket as u32 / 2, bucket % 2);
                words.iter().for_each(|word| set.add(word.at, word.bits));
                expected.extend(buckets[bucket].iter().take(CAP));
            }
            set.drain(|number| assert!(found.insert(crowds.rank(number).0)));
            prop_assert_eq!(found, expected);
        }
    }
}
