//! The buckets of a partition of keys, as whom each document in them is paired with.

use std::ops::Range;

use benzer_core::lsh::bucket;

use super::repeats::Buckets;
use crate::Rank;

/// How documents met in buckets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct BucketCounts {
    /// Pairs in buckets, before the prefilter; a pair counts in every bucket.
    pub n_bucket_pairs: u64,
    /// Buckets with more members than the cap.
    pub n_oversized: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

impl BucketCounts {
    /// Counts a bucket; one of a single member is not counted.
    pub fn add(&mut self, size: u64, cap: usize) {
        if size > 1 {
            self.n_bucket_pairs += bucket::n_pairs(size, cap as u64) as u64;
            self.n_oversized += u64::from(size > cap as u64);
            self.largest = self.largest.max(size);
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            n_bucket_pairs: self.n_bucket_pairs + other.n_bucket_pairs,
            n_oversized: self.n_oversized + other.n_oversized,
            largest: self.largest.max(other.largest),
        }
    }
}

/// A document in a bucket, behind others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Membership {
    pub rank: Rank,
    /// Where the bucket begins in the list of first members, or of those of crowds; of a large bucket that is behind all first members its number.
    start: u32,
    /// How many members are before it; zero if it is behind all first members of a large bucket.
    n: u32,
}

/// What begins in the list of crowds instead of that of other first members.
const CROWD: u32 = 1 << 31;
/// Buckets of more members are crowds.
pub(super) const FEW: usize = 16;

/// Whom a document in a bucket is paired with.
#[derive(Debug, Clone, Copy)]
pub(super) enum PairedWith {
    /// These of the first members.
    Few { start: usize, end: usize },
    /// These of the first members of crowds.
    Crowd { start: usize, end: usize },
    /// All first members of the large bucket of this number.
    Large(usize),
}

impl Membership {
    #[inline]
    pub fn paired_with(self) -> PairedWith {
        let (start, n) = ((self.start & !CROWD) as usize, self.n as usize);
        match (n, self.start & CROWD) {
            (0, _) => PairedWith::Large(start),
            (_, 0) => PairedWith::Few { start, end: start + n },
            _ => PairedWith::Crowd { start, end: start + n },
        }
    }
}

/// The buckets of a partition of keys.
#[derive(Debug, Default)]
pub(super) struct Memberships {
    /// The members of each bucket that everyone in it is paired with.
    pub first: Vec<Rank>,
    /// The same of crowds, and where each begins, and the end.
    pub crowds: Vec<Rank>,
    crowd_starts: Vec<u32>,
    /// Which crowds have more members than the cap.
    large: Vec<u32>,
    /// By the range of ranks that the document is in.
    all: Vec<Membership>,
    /// Of which ranges, and where the memberships of each begin, and the end.
    first_range: usize,
    starts: Vec<u32>,
    pub counts: BucketCounts,
}

/// Memberships while buckets are added.
pub(super) struct MembershipsBuilder {
    made: Memberships,
    all: Vec<Membership>,
    cap: usize,
}

impl MembershipsBuilder {
    /// So many first members of a bucket are paired with all others.
    pub fn new(cap: usize) -> Self {
        Self { made: Memberships::default(), all: Vec::new(), cap }
    }

    /// Adds buckets, whose members are in order.
    pub fn add(&mut self, buckets: &Buckets) {
        let Self { made, all, cap } = self;
        let cap = *cap;
        all.reserve(buckets.members.len() - buckets.len());
        for bucket in buckets.iter() {
            made.counts.add(bucket.len() as u64, cap);
            let number = made.large.len() as u32;
            let first = &bucket[..bucket.len().min(cap)];
            // A large bucket is a crowd, however small the cap.
            let start = if bucket.len() > FEW.min(cap) {
                made.large.extend((bucket.len() > cap).then_some(made.crowd_starts.len() as u32));
                made.crowd_starts.push(made.crowds.len() as u32);
                made.crowds.extend_from_slice(first);
                *made.crowd_starts.last().expect("it was added") | CROWD
            } else {
                made.first.extend_from_slice(first);
                (made.first.len() - first.len()) as u32
            };
            all.extend(bucket.iter().zip(0..).skip(1).map(|(&rank, i)| {
                let (start, n) = if (i as usize) < cap { (start, i) } else { (number, 0) };
                Membership { rank, start, n }
            }));
        }
    }

    /// The memberships of all buckets.
    pub fn finish(mut self, ranges: Ranges) -> Memberships {
        self.made.crowd_starts.push(self.made.crowds.len() as u32);
        let n = self.made.crowds.len().max(self.made.first.len());
        assert!(n < CROWD as usize, "a bucket of more than fits memory");
        self.made.first.shrink_to_fit();
        self.made.crowds.shrink_to_fit();
        self.made.put_in_order(&self.all, ranges);
        self.made
    }
}

impl Memberships {
    /// Puts memberships in order by range.
    fn put_in_order(&mut self, all: &[Membership], ranges: Ranges) {
        // Counted two entries further on, so that filling a range moves its beginning to where the one before it ends.
        self.starts = vec![0; ranges.len() + 2];
        all.iter().for_each(|membership| self.starts[ranges.of(membership.rank) + 2] += 1);
        (1..self.starts.len()).for_each(|i| self.starts[i] += self.starts[i - 1]);
        self.all = vec![Membership::default(); all.len()];
        for membership in all {
            let next = &mut self.starts[ranges.of(membership.rank) + 1];
            self.all[*next as usize] = *membership;
            *next += 1;
        }
    }

    /// The bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let ranks = (self.first.capacity() + self.crowds.capacity()) * size_of::<Rank>();
        let numbers = self.crowd_starts.capacity() + self.large.capacity() + self.starts.capacity();
        (ranks + numbers * size_of::<u32>() + self.all.capacity() * size_of::<Membership>()) as u64
    }

    /// Those of the documents in a range.
    pub fn of_range(&self, range: usize) -> &[Membership] {
        let range = range - self.first_range;
        &self.all[self.starts[range] as usize..self.starts[range + 1] as usize]
    }

    /// How many pairs the documents in a range have in these buckets.
    pub fn max_pairs(&self, range: usize, cap: usize) -> u64 {
        self.of_range(range).iter().map(|of| if of.n == 0 { cap as u64 } else { of.n.into() }).sum()
    }

    /// Those of some ranges, with the first members of their buckets only.
    pub fn of_ranges(&self, ranges: Range<usize>, moved: &mut Moved) -> Self {
        let ends = &self.starts[ranges.start - self.first_range..=ranges.end - self.first_range];
        let all = &self.all[ends[0] as usize..ends[ends.len() - 1] as usize];
        let mut made = Self {
            first_range: ranges.start,
            starts: ends.iter().map(|end| end - ends[0]).collect(),
            ..Self::default()
        };
        moved.find(self, all);
        moved.copy(self, &mut made);
        made.all.extend(all.iter().map(|membership| moved.membership(*membership)));
        moved.forget();
        made
    }

    /// Writes it behind other bytes.
    pub fn write(&self, to: &mut Vec<u8>) {
        let all = self.all.iter().flat_map(|Membership { rank, start, n }| [rank.0, *start, *n]);
        let lists = [&self.crowd_starts, &self.large, &self.starts];
        let ranks = [&self.first, &self.crowds];
        let mut put = |number: u32| to.extend_from_slice(&number.to_le_bytes());
        put(self.first_range as u32);
        lists
            .iter()
            .map(|list| list.len())
            .chain(ranks.iter().map(|ranks| ranks.len()))
            .for_each(|n| put(n as u32));
        put(self.all.len() as u32);
        lists.into_iter().flatten().for_each(|number| put(*number));
        ranks.into_iter().flatten().for_each(|rank| put(rank.0));
        all.for_each(put);
    }

    /// Reads what was written, and leaves what is behind it.
    pub fn read(from: &mut &[u8]) -> Self {
        let mut numbers = |n: usize| -> Vec<u32> {
            let (numbers, rest) = from.split_at(n * size_of::<u32>());
            *from = rest;
            numbers
                .chunks_exact(size_of::<u32>())
                .map(|of| u32::from_le_bytes(of.try_into().expect("four")))
                .collect()
        };
        let head: Vec<usize> = numbers(7).into_iter().map(|number| number as usize).collect();
        let [crowd_starts, large, starts] = [1, 2, 3].map(|i| numbers(head[i]));
        let [first, crowds] = [4, 5].map(|i| numbers(head[i]).into_iter().map(Rank).collect());
        let all = numbers(3 * head[6]);
        let membership = |of: &[u32]| Membership { rank: Rank(of[0]), start: of[1], n: of[2] };
        let all = all.chunks_exact(3).map(membership).collect();
        Self {
            first,
            crowds,
            crowd_starts,
            large,
            all,
            first_range: head[0],
            starts,
            counts: BucketCounts::default(),
        }
    }

    /// All documents that are looked at: those that are later, and the first members that they are paired with.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + '_ {
        let first = self.first.iter().chain(&self.crowds).copied();
        self.all.iter().map(|membership| membership.rank).chain(first)
    }

    /// Where the first members of each crowd are.
    pub fn crowd_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.crowd_starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Where those of large buckets are.
    pub fn large_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.large.iter().map(|crowd| {
            let crowd = *crowd as usize;
            self.crowd_starts[crowd] as usize..self.crowd_starts[crowd + 1] as usize
        })
    }
}

/// Where the buckets of some memberships go when others are left out. Empty before and after.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// By where the first members begin: how many are needed, and then where they go, which is one more.
    first: Vec<u32>,
    /// By where a crowd begins, one more than where it goes.
    crowds: Vec<u32>,
    /// By the number of a large bucket, one more than the number that it gets.
    large: Vec<u32>,
    /// Those that are not zero.
    firsts: Vec<u32>,
    crowd_starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Moved {
    /// Notes the buckets of some memberships.
    fn find(&mut self, of: &Memberships, all: &[Membership]) {
        self.first.resize(of.first.len().max(self.first.len()), 0);
        self.crowds.resize(of.crowds.len().max(self.crowds.len()), 0);
        self.large.resize(of.large.len().max(self.large.len()), 0);
        for membership in all {
            match membership.paired_with() {
                PairedWith::Few { start, end } => {
                    if self.first[start] == 0 {
                        self.firsts.push(start as u32);
                    }
                    self.first[start] = self.first[start].max((end - start) as u32);
                }
                PairedWith::Crowd { start, .. } => self.find_crowd(start as u32),
                PairedWith::Large(number) => {
                    if self.large[number] == 0 {
                        self.large[number] = 1;
                        self.numbers.push(number as u32);
                    }
                    self.find_crowd(of.crowd_starts[of.large[number] as usize]);
                }
            }
        }
        self.crowd_starts.sort_unstable();
        self.numbers.sort_unstable();
    }

    fn find_crowd(&mut self, start: u32) {
        if self.crowds[start as usize] == 0 {
            self.crowds[start as usize] = 1;
            self.crowd_starts.push(start);
        }
    }

    /// Copies the first members that are needed.
    fn copy(&mut self, of: &Memberships, to: &mut Memberships) {
        for start in self.firsts.iter().map(|start| *start as usize) {
            let n = std::mem::replace(&mut self.first[start], to.first.len() as u32 + 1);
            to.first.extend_from_slice(&of.first[start..start + n as usize]);
        }
        for start in self.crowd_starts.iter().map(|start| *start as usize) {
            let crowd = of.crowd_starts.partition_point(|other| *other as usize <= start);
            self.crowds[start] = to.crowds.len() as u32 + 1;
            to.crowd_starts.push(to.crowds.len() as u32);
            to.crowds.extend_from_slice(&of.crowds[start..of.crowd_starts[crowd] as usize]);
        }
        to.crowd_starts.push(to.crowds.len() as u32);
        for number in self.numbers.iter().map(|number| *number as usize) {
            let start = self.crowds[of.crowd_starts[of.large[number] as usize] as usize] - 1;
            self.large[number] = to.large.len() as u32 + 1;
            to.large.push(to.crowd_starts.partition_point(|other| *other < start) as u32);
        }
    }

    fn membership(&self, Membership { rank, start, n }: Membership) -> Membership {
        let at = (start & !CROWD) as usize;
        let start = match (n, start & CROWD) {
            (0, _) => self.large[at] - 1,
            (_, 0) => self.first[at] - 1,
            _ => (self.crowds[at] - 1) | CROWD,
        };
        Membership { rank, start, n }
    }

    fn forget(&mut self) {
        self.firsts.drain(..).for_each(|start| self.first[start as usize] = 0);
        self.crowd_starts.drain(..).for_each(|start| self.crowds[start as usize] = 0);
        self.numbers.drain(..).for_each(|number| self.large[number as usize] = 0);
    }
}

/// Ranges of ranks, whose documents are looked at together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    n_ranks: u32,
    /// Ranks of a range, as an exponent.
    log: u32,
}

/// Ranks of a range, as exponents: what belongs to a range stays in a cache. Tests have small ones.
const MIN_LOG: u32 = if cfg!(test) { 5 } else { 10 };
const MAX_LOG: u32 = 14;
/// Ranges per thread, if there are so many documents.
const PER_THREAD: usize = 8;

impl Ranges {
    /// Of the ranks below `n_ranks`.
    pub fn new(n_ranks: u32, threads: usize) -> Self {
        let longest = (n_ranks as usize / (PER_THREAD * threads.max(1))).max(1).ilog2();
        Self { n_ranks, log: longest.clamp(MIN_LOG, MAX_LOG) }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.n_ranks.div_ceil(1 << self.log) as usize
    }

    #[inline]
    fn of(self, rank: Rank) -> usize {
        (rank.0 >> self.log) as usize
    }

    /// The first rank of a range; of the one behind the last range what comes after all ranks.
    pub fn first(self, range: usize) -> Rank {
        Rank(((range as u64) << self.log).min(self.n_ranks.into()) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const N: u32 = 300;

    /// Whom each document is paired with, bucket by bucket in any order.
    fn pairs(of: &Memberships, ranges: Range<usize>) -> Vec<(Rank, Vec<Rank>)> {
        let large: Vec<Range<usize>> = of.large_ranges().collect();
        let paired_with = |membership: &Membership| match membership.paired_with() {
            PairedWith::Few { start, end } => &of.first[start..end],
            PairedWith::Crowd { start, end } => &of.crowds[start..end],
            PairedWith::Large(number) => &of.crowds[large[number].clone()],
        };
        let all = ranges.flat_map(|range| of.of_range(range));
        let mut pairs: Vec<_> = all.map(|of| (of.rank, paired_with(of).to_vec())).collect();
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn those_of_some_ranges_stand_alone_and_are_read_as_they_were_written(buckets in prop::collection::vec(prop::collection::btree_set(0..N, 2..60), 0..20), cap in 1usize..40, cuts in prop::collection::btree_set(1usize..10, 0..4)) {
            let ranges = Ranges::new(N, 1);
            let mut builder = MembershipsBuilder::new(cap);
            for buckets in buckets.chunks(3) {
                let mut all = Buckets::default();
                buckets.iter().for_each(|bucket: &BTreeSet<u32>| all.push(bucket.iter().copied().map(Rank)));
                builder.add(&all);
            }
            let made = builder.finish(ranges);
            let ends: Vec<usize> = [0].into_iter().chain(cuts.into_iter().filter(|cut| *cut < ranges.len())).chain([ranges.len()]).collect();
            let (mut bytes, mut moved) = (Vec::new(), Moved::default());
            for cut in ends.windows(2) {
                made.of_ranges(cut[0]..cut[1], &mut moved).write(&mut bytes);
            }
            let mut rest = bytes.as_slice();
            for cut in ends.windows(2) {
                let read = Memberships::read(&mut rest);
                prop_assert_eq!(pairs(&read, cut[0]..cut[1]), pairs(&made, cut[0]..cut[1]));
                let named: BTreeSet<Rank> = pairs(&read, cut[0]..cut[1]).into_iter().flat_map(|(rank, with)| [rank].into_iter().chain(with)).collect();
                prop_assert!(named.is_subset(&read.ranks().collect()));
            }
            prop_assert!(rest.is_empty());
        }
    }
}
