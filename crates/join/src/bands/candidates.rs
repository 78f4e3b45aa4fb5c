//! The candidate graph in memory: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! ```text
//! sketches --some bands at a time: keys by partition--> buckets --by range of later documents--> lists of partners, compared
//! ```
//!
//! Documents are taken range by range (the module `lister`), so that all lists, or as many as there is room for, are made at a time.

use std::ops::Range;

use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::{Result, Workers, workers::in_parallel};

use super::crowds::Crowds;
use super::equal_keys::{self, EqualKeys, Partitions};
use super::lister::Lister;
use super::lists::CandidateLists;
use super::memberships::{BucketCounts, Membership, Memberships, MembershipsBuilder, Ranges};
use crate::Rank;

/// Documents whose keys are made one band after the other: their sketches stay in the nearest cache meanwhile.
const NEAR: usize = 64;

/// The sketches of documents by rank.
pub trait Sketches: Sync {
    /// The stored words of a sketch.
    fn sketch(&self, rank: Rank) -> &[u64];
}

impl<S: Sketches> Sketches for &S {
    #[inline]
    fn sketch(&self, rank: Rank) -> &[u64] {
        (*self).sketch(rank)
    }
}

/// Which documents meet in buckets, and which of those are candidates.
#[derive(Debug, Clone, Copy)]
pub struct BandRules {
    /// The keys of a sketch.
    pub banding: Banding,
    /// What the sketches of a candidate pair must have in common.
    pub prefilter: Prefilter,
    /// So many first members of a bucket are paired with all others.
    pub cap: usize,
}

/// Bytes of memory that [`BandCandidates::new`] needs for each document at most, with so many bands and threads: if all of them have the same key in each band.
pub fn max_bytes_per_document(n_bands: usize, threads: usize) -> u64 {
    equal_keys::max_bytes_per_document(n_bands, MADE, threads) as u64
}

/// Bytes that are made of a key at most: a membership and a first member.
const MADE: usize = size_of::<Membership>() + size_of::<Rank>();

/// The candidate pairs among some documents, which are listed when they are asked for.
pub struct BandCandidates<'a, S> {
    pub(super) sketches: S,
    ranks: &'a [Rank],
    pub(super) rules: BandRules,
    pub(super) ranges: Ranges,
    pub(super) parts: Vec<Memberships>,
    pub(super) crowds: Crowds,
    /// How documents met.
    pub counts: BucketCounts,
}

impl<'a, S: Sketches> BandCandidates<'a, S> {
    /// Finds the buckets of `ranks`, which are in order. Each document counts once on the way, and once when it is listed.
    ///
    /// # Errors
    /// The wish to stop.
    pub fn new(
        sketches: S,
        ranks: &'a [Rank],
        rules: BandRules,
        room: u64,
        workers: Workers<'_>,
    ) -> Result<Self> {
        let n_ranks = ranks.last().map_or(0, |rank| rank.0 + 1);
        let ranges = Ranges::new(n_ranks, workers.threads);
        let BandRules { banding, cap, .. } = rules;
        let n_bands = banding.bands();
        let mut equal = EqualKeys::new(ranks, n_bands, MADE, room, workers);
        let mut parts: Vec<Memberships> = Vec::new();
        for pass in equal.passes() {
            let keys = |bands: Range<usize>, places: Range<usize>, columns: &mut [Vec<u64>]| {
                workers.progress.add((places.len() * bands.len() / n_bands) as u64)?;
                // Sketches of a few documents stay in the nearest cache while their keys are made band by band.
                for (i, ranks) in ranks[places].chunks(NEAR).enumerate() {
                    let mut near = [[].as_slice(); NEAR];
                    near.iter_mut().zip(ranks).for_each(|(near, rank)| *near = sketches.sketch(*rank));
                    for (band, column) in bands.clone().zip(&mut *columns) {
                        let keys = &mut column[i * NEAR..][..ranks.len()];
                        banding.keys_of(band, &near[..ranks.len()], keys);
                    }
                }
                Ok(())
            };
            let take = |partitions: &mut Partitions<'_>| {
                let mut memberships = MembershipsBuilder::new(cap);
                while let Some(buckets) = partitions.next() {
                    memberships.add(buckets);
                }
                Ok(memberships.finish(ranges))
            };
            parts.append(&mut equal.buckets(&pass, keys, take)?);
        }
        drop(equal);
        let counts = parts.iter().fold(BucketCounts::default(), |all, part| all.merge(part.counts));
        let crowds = Crowds::new(&parts, n_ranks, workers.threads);
        Ok(Self { sketches, ranks, rules, ranges, parts, crowds, counts })
    }

    /// The bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Memberships::bytes).sum::<u64>() + self.crowds.bytes()
    }

    /// Ranges of documents whose lists take at most so many bytes, as many together as can be, but not fewer than there are threads.
    pub fn chunks(&self, max_bytes: u64, threads: usize) -> Vec<Range<usize>> {
        let bytes = |range: usize| {
            let pairs = |part: &Memberships| part.max_pairs(range, self.rules.cap);
            size_of::<Rank>() as u64 * self.parts.iter().map(pairs).sum::<u64>()
        };
        let (mut chunks, mut start, mut sum) = (Vec::new(), 0, 0);
        for range in 0..self.ranges.len() {
            let bytes = bytes(range);
            if range >= start + threads && sum + bytes > max_bytes {
                chunks.push(std::mem::replace(&mut start, range)..range);
                sum = 0;
            }
            sum += bytes;
        }
        chunks.push(start..self.ranges.len());
        chunks
    }

    /// The pairs of the later documents of some ranges, in order, in several parts.
    ///
    /// # Errors
    /// The wish to stop.
    pub fn lists(&self, ranges: Range<usize>, workers: Workers<'_>) -> Result<Vec<CandidateLists>> {
        let lister = || Lister::new(self);
        let lists = in_parallel(ranges.len(), workers.threads, lister, |i, lister| {
            let range = ranges.start + i;
            let [start, end] = [range, range + 1]
                .map(|range| self.ranks.partition_point(|rank| *rank < self.ranges.first(range)));
            workers.progress.add((end - start) as u64)?;
            Ok(lister.lists(&self.ranks[start..end], range))
        });
        lists.into_iter().collect()
    }
}

/// All candidate pairs among `ranks`, in order, in several parts; the ranks are in order too. Each document counts twice on the way.
///
/// # Errors
/// The wish to stop.
pub fn candidates(
    sketches: &impl Sketches,
    ranks: &[Rank],
    rules: BandRules,
    workers: Workers<'_>,
) -> Result<(Vec<CandidateLists>, BucketCounts)> {
    let candidates = BandCandidates::new(sketches, ranks, rules, u64::MAX, workers)?;
    Ok((candidates.lists(0..candidates.ranges.len(), workers)?, candidates.counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::stream;
    use benzer_core::lsh::Shape;
    use benzer_core::sketch::SketchSpec;
    use benzer_flow::Progress;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    struct Table(Vec<Vec<u64>>);

    impl Sketches for Table {
        fn sketch(&self, rank: Rank) -> &[u64] {
            &self.0[rank.index()]
        }
    }

    /// The candidate graph word for word.
    fn by_definition(
        table: &Table,
        banding: &Banding,
        prefilter: &Prefilter,
        cap: usize,
    ) -> BTreeSet<(Rank, Rank)> {
        let mut buckets: BTreeMap<(usize, u64), Vec<Rank>> = BTreeMap::new();
        for rank in Rank::all(table.0.len() as u32) {
            for band in 0..banding.bands() {
                buckets.entry((band, banding.key(table.sketch(rank), band))).or_default().push(rank);
            }
        }
        let mut pairs = BTreeSet::new();
        for members in buckets.values() {
            for (i, &x) in members.iter().enumerate() {
                for (j, &y) in members.iter().enumerate().skip(i + 1) {
                    let allowed = members.len() <= cap || i < cap || j < cap;
                    if allowed && prefilter.passes(table.sketch(x), table.sketch(y)) {
                        pairs.insert((y, x));
                    }
                }
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn candidates_are_those_of_the_definition(seed: u64, n in 2usize..120, families in 1u64..8, cap in 1usize..40, noise in 0u32..60, threads in 1usize..4, (bands, rows, registers) in prop_oneof![Just((18, 7, 128)), Just((16, 8, 128)), Just((9, 13, 128)), Just((10, 7, 100))]) {
            let spec = SketchSpec { registers, ..SketchSpec::default() };
            let banding = Banding::new(&spec, Shape { bands, rows }).unwrap();
            let prefilter = Prefilter::new(&spec, 0.5).unwrap();
            let mut random = stream(seed);
            let mut next = || random.next().unwrap();
            // Members of a family differ from its first sketch in some registers.
            let table = Table((0..n).map(|_| {
                let mut words: Vec<u64> = stream(next() % families).take(spec.words()).collect();
                for _ in 0..noise {
                    let register = (next() % 100) as usize;
                    words[register / 8] ^= (next() & 0xff) << (8 * (register % 8));
                }
                words
            }).collect());
            let ranks: Vec<Rank> = Rank::all(n as u32).collect();
            let rules = BandRules { banding, prefilter, cap };
            let workers = Workers { threads, progress: &Progress::silent() };
            let found = candidates(&table, &ranks, rules, workers).unwrap();
            let found: Vec<_> = found.0.iter().flat_map(CandidateLists::pairs).collect();
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(&found, &expected);
            let candidates = BandCandidates::new(&table, &ranks, rules, u64::MAX, workers).unwrap();
            for max_bytes in [0, 100, u64::MAX] {
                let lists = candidates.chunks(max_bytes, 1).into_iter().map(|chunk| candidates.lists(chunk, workers).unwrap());
                let found: Vec<_> = lists.flatten().flat_map(|lists| lists.pairs().collect::<Vec<_>>()).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
