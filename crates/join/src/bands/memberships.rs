//! The buckets of a partition of keys, as whom each document in them is paired with.

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
#[derive(Debug, Clone, Copy, Default)]
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
    /// Where the memberships of each range begin, and the end.
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
        &self.all[self.starts[range] as usize..self.starts[range + 1] as usize]
    }

    /// How many pairs the documents in a range have in these buckets.
    pub fn max_pairs(&self, range: usize, cap: usize) -> u64 {
        self.of_range(range).iter().map(|of| if of.n == 0 { cap as u64 } else { of.n.into() }).sum()
    }

    /// Where the first members of each crowd are.
    pub fn crowd_ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.crowd_starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Where those of large buckets are.
    pub fn large_ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.large.iter().map(|crowd| {
            let crowd = *crowd as usize;
            self.crowd_starts[crowd] as usize..self.crowd_starts[crowd + 1] as usize
        })
    }
}

/// Ranges of ranks, whose documents are looked at together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    n_ranks: u32,
    /// Ranks of a range, as an exponent.
    log: u32,
}

/// Ranks of a range, as exponents: what belongs to a range stays in a cache.
const MIN_LOG: u32 = 10;
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
