//! In which buckets each document is, behind others.

use benzer_core::{hint, lsh::bucket};
use benzer_flow::workers::both;

use super::cluster_numbering::ClusterNumbering;
use super::large_buckets::{LargeBuckets, NumberWord};
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
}

/// The memberships of all documents in buckets of which they are not the first member.
pub(super) struct Memberships {
    /// What numbers stand for.
    numbering: ClusterNumbering,
    /// The members of each bucket that everyone in it is paired with, as numbers.
    first: Vec<u32>,
    /// The same of buckets with more members than the cap.
    large: LargeBuckets,
    /// By the rank of the document.
    memberships: Vec<Membership>,
    /// Where the memberships of each document end.
    ends: Vec<usize>,
    pub counts: BucketCounts,
}

/// Whom a document in a bucket is paired with.
pub(super) enum PairedWith<'a> {
    /// The members before it, as numbers.
    First(&'a [u32]),
    /// All first members of a large bucket.
    All(&'a [NumberWord]),
}

impl Memberships {
    /// From the buckets of some bands; ranks are below `n`.
    pub fn new(bands: &[Vec<Buckets>], n: u32, cap: usize, threads: usize) -> Self {
        let buckets = || bands.iter().flatten().flat_map(Buckets::iter);
        let numbering = || ClusterNumbering::new(buckets(), n);
        let count = || {
            let (mut ends, mut counts) = (vec![0; n as usize + 1], BucketCounts::default());
            for bucket in buckets() {
                counts.add(bucket.len() as u64, cap);
                bucket.iter().skip(1).for_each(|&rank| ends[rank.index() + 1] += 1);
            }
            for i in 1..ends.len() {
                ends[i] += ends[i - 1];
            }
            (ends, counts)
        };
        let (numbering, (mut ends, counts)) = both(threads, numbering, count);
        let list_memberships = || {
            // Until it is used up, an entry is where the next membership of its document goes; in the end it is where that document ends.
            let mut memberships = vec![Membership(0); ends.last().copied().unwrap_or_default()];
            let (mut start, mut n_large) = (0, 0);
            for bucket in buckets() {
                for (i, &rank) in bucket.iter().enumerate().skip(1) {
                    let next = &mut ends[rank.index()];
                    memberships[*next] =
                        if i < cap { Membership::new(start, i) } else { Membership::new(n_large, 0) };
                    *next += 1;
                }
                start += bucket.len().min(cap);
                n_large += usize::from(bucket.len() > cap);
            }
            memberships
        };
        let list_first = || {
            let (mut first, mut large) = (Vec::new(), LargeBuckets::default());
            for bucket in buckets() {
                let start = first.len();
                first.extend(bucket.iter().take(cap).map(|rank| numbering.number(*rank)));
                if bucket.len() > cap {
                    large.push(&first[start..]);
                }
            }
            (first, large)
        };
        let (memberships, (first, large)) = both(threads, list_memberships, list_first);
        Self { numbering, first, large, memberships, ends, counts }
    }

    /// The document of a number.
    #[inline]
    pub fn rank(&self, number: u32) -> Rank {
        self.numbering.rank(number)
    }

    /// Asks for the members of a document's buckets.
    #[inline]
    pub fn prefetch(&self, rank: Rank) {
        for membership in self.list(rank) {
            match membership.split() {
                (bucket, 0) => self.large.prefetch(bucket),
                (start, _) => hint::prefetch(&self.first, start),
            }
        }
    }

    /// Whom each bucket of a document pairs it with.
    #[inline]
    pub fn of(&self, rank: Rank) -> impl Iterator<Item = PairedWith<'_>> {
        self.list(rank).iter().map(|membership| match membership.split() {
            (bucket, 0) => PairedWith::All(self.large.get(bucket)),
            (start, n) => PairedWith::First(&self.first[start..start + n]),
        })
    }

    #[inline]
    fn list(&self, rank: Rank) -> &[Membership] {
        let start = if rank == Rank(0) { 0 } else { self.ends[rank.index() - 1] };
        &self.memberships[start..self.ends[rank.index()]]
    }
}

/// Where a bucket begins in the list of first members, and how many of them are before a document. Of one behind all of them the number of the large bucket, and zero.
/// There are millions, so both are in one word.
#[derive(Debug, Clone, Copy)]
struct Membership(u64);

impl Membership {
    const BITS: u32 = 24;

    fn new(start: usize, n: usize) -> Self {
        let (start, n) = (start as u64, n as u64);
        assert!(n >> Self::BITS == 0 && start >> (64 - Self::BITS) == 0, "a bucket of more than fits memory");
        Self(start << Self::BITS | n)
    }

    #[inline]
    fn split(self) -> (usize, usize) {
        ((self.0 >> Self::BITS) as usize, (self.0 & ((1 << Self::BITS) - 1)) as usize)
    }
}
