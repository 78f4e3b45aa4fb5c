//! The candidate graph: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! ```text
//! sketches --some bands at a time: keys by partition--> buckets --by range of later documents--> lists of partners, compared
//! ```
//!
//! Documents are taken range by range (the module `lister`), so that all lists, or as many as there is room for, are made at a time. What finds no room on the way goes to disk by long ranges of documents (the modules `held` and `gathered`),
//! and each of them is looked at alone: the pairs are the same.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::{Result, Workers, Workspace, sorted_parts, workers::in_parallel};
use benzer_storage::Files;

use super::crowds::Crowds;
use super::equal_keys::{self, EqualKeys, Partitions};
use super::gathered::Gathered;
use super::held::Held;
use super::lister::{Lister, Meetings};
use super::lists::CandidateLists;
use super::memberships::{BucketCounts, Membership, MembershipsBuilder, Ranges};
use super::sketches::Sketches;
use crate::Rank;

/// Documents whose keys are made one band after the other: their sketches stay in the nearest cache meanwhile.
const NEAR: usize = 64;

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

/// Bytes for each document with which [`BandCandidates::new`] does everything at a time and in memory in any case, with so many bands and threads: even if all of them have the same key in each band.
pub fn max_bytes_per_document(n_bands: usize, threads: usize) -> u64 {
    equal_keys::max_bytes_per_document(n_bands, MADE, threads) as u64
}

/// Bytes that are made of a key at most: a membership and a first member.
const MADE: usize = size_of::<Membership>() + size_of::<Rank>();

/// The candidate pairs among some documents, which are listed when they are asked for.
pub struct BandCandidates<'a, S> {
    sketches: S,
    ranks: &'a [Rank],
    /// How many places of sketches there are.
    n_places: u32,
    rules: BandRules,
    workspace: Workspace<'a>,
    ranges: Ranges,
    held: Held<'a>,
    /// What is read together, of `held`.
    long_ranges: Vec<Range<usize>>,
    loaded: Option<Loaded>,
    gathered: Option<Gathered>,
    /// How documents met.
    pub counts: BucketCounts,
}

/// A long range in memory: whom its documents meet, and the sketches if they were gathered.
struct Loaded {
    long: usize,
    meetings: Meetings,
    sketches: Vec<u64>,
}

impl<'a, S: Sketches> BandCandidates<'a, S> {
    /// Finds the buckets of `ranks`, which are in order, within a workspace. Each document counts once on the way, and once when it is listed.
    ///
    /// # Errors
    /// The wish to stop, and a disk that cannot be written.
    pub fn new(
        sketches: S,
        ranks: &'a [Rank],
        rules: BandRules,
        workspace: Workspace<'a>,
        workers: Workers<'_>,
    ) -> Result<Self> {
        let n_ranks = ranks.last().map_or(0, |rank| rank.0 + 1);
        let ranges = Ranges::new(n_ranks, workers.threads);
        let by_place = by_place(&sketches, ranks, workers.threads);
        let members = by_place.as_deref().unwrap_or(ranks);
        let n_places = members.last().map_or(0, |rank| sketches.place(*rank) + 1);
        let per_document = max_bytes_per_document(rules.banding.bands(), workers.threads);
        let max_bytes = per_document * members.len() as u64;
        let held = Held::new(workspace, max_bytes, sketches.are_resident(), ranges, rules.cap);
        let held = fill(held, &sketches, members, rules.banding, workers)?;
        let (long_ranges, counts) = (held.long_ranges(), held.counts);
        let mut made = Self {
            sketches,
            ranks,
            n_places,
            rules,
            workspace,
            ranges,
            held,
            long_ranges,
            loaded: None,
            gathered: None,
            counts,
        };
        if made.long_ranges.len() == 1 {
            made.load(0, workers.threads)?;
        }
        Ok(made)
    }

    /// The bytes of memory that it takes, or will take for a long range.
    pub fn bytes(&self) -> u64 {
        self.loaded.as_ref().map_or(self.held.bytes(), |loaded| loaded.meetings.bytes())
    }

    /// Ranges of documents whose lists take at most so many bytes, as many together as can be, but not fewer than there are threads, if these are in one part of what is read from disk.
    pub fn chunks(&self, max_bytes: u64, threads: usize) -> Vec<Range<usize>> {
        let mut chunks = Vec::new();
        for long in &self.long_ranges {
            let (mut start, mut sum) = (long.start, 0);
            for range in long.clone() {
                let bytes = size_of::<Rank>() as u64 * self.held.max_pairs[range];
                if range >= start + threads && sum + bytes > max_bytes {
                    chunks.push(std::mem::replace(&mut start, range)..range);
                    sum = 0;
                }
                sum += bytes;
            }
            chunks.push(start..long.end);
        }
        chunks
    }

    /// The pairs of the later documents of some ranges, which are one of the chunks or a part of one, in order, in several parts.
    ///
    /// # Errors
    /// The wish to stop, a disk that cannot be read, and bytes on it that are not those that were written.
    ///
    /// # Panics
    /// If the ranges are not within a chunk.
    pub fn lists(&mut self, ranges: Range<usize>, workers: Workers<'_>) -> Result<Vec<CandidateLists>> {
        let holds = |long: &Range<usize>| long.start <= ranges.start && ranges.end <= long.end;
        let long = self.long_ranges.iter().position(holds).expect("a chunk is within what is read together");
        self.load(long, workers.threads)?;
        let loaded = self.loaded.as_ref().expect("it was loaded");
        match &self.gathered {
            Some(gathered) => {
                let sketches = gathered.view(long, &loaded.sketches, &self.sketches);
                self.list(&loaded.meetings, &sketches, ranges, workers)
            }
            None => self.list(&loaded.meetings, &self.sketches, ranges, workers),
        }
    }

    fn list(
        &self,
        meetings: &Meetings,
        sketches: &impl Sketches,
        ranges: Range<usize>,
        workers: Workers<'_>,
    ) -> Result<Vec<CandidateLists>> {
        let lister = || Lister::new(meetings, sketches, self.rules.prefilter);
        let lists = in_parallel(ranges.len(), workers.threads, lister, |i, lister| {
            let range = ranges.start + i;
            let [start, end] = [range, range + 1]
                .map(|range| self.ranks.partition_point(|rank| *rank < self.ranges.first(range)));
            workers.progress.add((end - start) as u64)?;
            Ok(lister.lists(&self.ranks[start..end], range))
        });
        lists.into_iter().collect()
    }

    /// Brings a long range into memory.
    fn load(&mut self, long: usize, threads: usize) -> Result<()> {
        if self.loaded.as_ref().is_some_and(|loaded| loaded.long == long) {
            return Ok(());
        }
        self.loaded = None;
        let mut sketches = Vec::new();
        if !self.sketches.are_resident() && self.held.is_spilled() {
            if !self.gathered.as_ref().is_some_and(|gathered| gathered.has(long)) {
                self.gathered = None;
                let (all, n_places, long) = (&self.sketches, self.n_places, long..self.long_ranges.len());
                let take = |long| self.held.take(long, threads);
                self.gathered = Some(Gathered::new(all, n_places, long, self.workspace, take)?);
            }
            sketches = self.gathered.as_ref().expect("it was gathered").read(long)?;
        }
        let parts = self.held.take(long, threads)?;
        let n_ranks = self.ranges.first(self.ranges.len()).0;
        let crowds = Crowds::new(&parts, n_ranks, threads);
        let meetings = Meetings { ranges: self.ranges, parts, crowds };
        self.loaded = Some(Loaded { long, meetings, sketches });
        Ok(())
    }
}

/// The documents in the order in which their sketches lie; nothing if they are in it already.
fn by_place(sketches: &impl Sketches, ranks: &[Rank], threads: usize) -> Option<Vec<Rank>> {
    if ranks.is_sorted_by_key(|rank| sketches.place(*rank)) {
        return None;
    }
    let places = sorted_parts(ranks.len(), threads, |i| sketches.place(ranks[i]));
    Some(places.into_iter().flatten().map(|place| sketches.rank_at(place)).collect())
}

/// Takes the memberships of all buckets of some documents, which are in the order in which their sketches lie.
fn fill<'a>(
    held: Held<'a>,
    sketches: &impl Sketches,
    members: &[Rank],
    banding: Banding,
    workers: Workers<'_>,
) -> Result<Held<'a>> {
    let n_bands = banding.bands();
    let mut equal = EqualKeys::new(members, n_bands, MADE, held.room(), workers);
    let (ranges, cap, held) = (held.ranges, held.cap, Mutex::new(held));
    let per_document = n_bands * equal.n_slices();
    let keys = |bands: Range<usize>, places: Range<usize>, columns: &mut [Vec<u64>]| {
        workers.progress.add((places.len() * bands.len() / per_document) as u64)?;
        // Sketches of a few documents stay in the nearest cache while their keys are made band by band.
        for (i, ranks) in members[places].chunks(NEAR).enumerate() {
            let mut near = [[].as_slice(); NEAR];
            near.iter_mut().zip(ranks).for_each(|(near, rank)| *near = sketches.sketch(*rank));
            for (band, column) in bands.clone().zip(&mut *columns) {
                banding.keys_of(band, &near[..ranks.len()], &mut column[i * NEAR..][..ranks.len()]);
            }
        }
        Ok(())
    };
    let take = |partitions: &mut Partitions<'_>| {
        let (mut memberships, share) = (MembershipsBuilder::new(cap), partitions.share());
        while let Some(buckets) = partitions.next() {
            memberships.add(buckets);
        }
        let memberships = memberships.finish(ranges);
        held.lock().unwrap_or_else(PoisonError::into_inner).push(memberships, share)
    };
    for pass in equal.passes() {
        equal.buckets(&pass, keys, take)?;
    }
    drop(equal);
    let mut held = held.into_inner().unwrap_or_else(PoisonError::into_inner);
    held.finish(workers.threads)?;
    Ok(held)
}

/// All candidate pairs among `ranks`, in order, in several parts, in as much memory as that takes; the ranks are in order too. Each document counts twice on the way.
///
/// # Errors
/// The wish to stop.
pub fn candidates(
    sketches: &impl Sketches,
    ranks: &[Rank],
    rules: BandRules,
    workers: Workers<'_>,
) -> Result<(Vec<CandidateLists>, BucketCounts)> {
    let workspace = Workspace { bytes: usize::MAX, folder: Path::new(""), files: &Files::new() };
    let mut candidates = BandCandidates::new(sketches, ranks, rules, workspace, workers)?;
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

    /// A table whose sketches lie in the opposite order, on disk or not.
    struct Reversed<'a> {
        table: &'a Table,
        are_resident: bool,
    }

    impl Sketches for Reversed<'_> {
        fn sketch(&self, rank: Rank) -> &[u64] {
            self.table.sketch(rank)
        }

        fn are_resident(&self) -> bool {
            self.are_resident
        }

        fn place(&self, rank: Rank) -> u32 {
            self.table.0.len() as u32 - 1 - rank.0
        }

        fn rank_at(&self, place: u32) -> Rank {
            Rank(self.table.0.len() as u32 - 1 - place)
        }
    }

    /// Members of a family differ from its first sketch in some registers.
    fn table(seed: u64, n: usize, families: u64, noise: u32, n_words: usize) -> Table {
        let mut random = stream(seed);
        let mut next = || random.next().unwrap();
        Table(
            (0..n)
                .map(|_| {
                    let mut words: Vec<u64> = stream(next() % families).take(n_words).collect();
                    for _ in 0..noise {
                        let register = (next() % 100) as usize;
                        words[register / 8] ^= (next() & 0xff) << (8 * (register % 8));
                    }
                    words
                })
                .collect(),
        )
    }

    /// All pairs, listed chunk by chunk.
    fn pairs<S: Sketches>(
        candidates: &mut BandCandidates<'_, S>,
        max_bytes: u64,
        workers: Workers<'_>,
    ) -> Vec<(Rank, Rank)> {
        let chunks = candidates.chunks(max_bytes, workers.threads).into_iter();
        let lists = chunks.flat_map(|chunk| candidates.lists(chunk, workers).unwrap());
        lists.flat_map(|lists| lists.pairs().collect::<Vec<_>>()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn candidates_are_those_of_the_definition(seed: u64, n in 2usize..120, families in 1u64..8, cap in 1usize..40, noise in 0u32..60, threads in 1usize..4, (bands, rows, registers) in prop_oneof![Just((18, 7, 128)), Just((16, 8, 128)), Just((9, 13, 128)), Just((10, 7, 100))]) {
            let spec = SketchSpec { registers, ..SketchSpec::default() };
            let banding = Banding::new(&spec, Shape { bands, rows }).unwrap();
            let prefilter = Prefilter::new(&spec, 0.5).unwrap();
            let table = table(seed, n, families, noise, spec.words());
            let ranks: Vec<Rank> = Rank::all(n as u32).collect();
            let rules = BandRules { banding, prefilter, cap };
            let workers = Workers { threads, progress: &Progress::silent() };
            let found = candidates(&table, &ranks, rules, workers).unwrap();
            let found: Vec<_> = found.0.iter().flat_map(CandidateLists::pairs).collect();
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(&found, &expected);
        }

        #[test]
        fn they_are_the_same_in_any_room(seed: u64, n in 2usize..700, per_family in 1usize..80, cap in 1usize..40, noise in 0u32..60, threads in prop_oneof![Just(1usize), Just(2), Just(5)], room in prop_oneof![Just(0usize), 1_000usize..200_000, 200_000usize..2_000_000, Just(usize::MAX)], are_resident: bool) {
            let spec = SketchSpec::default();
            let banding = Banding::new(&spec, Shape { bands: 18, rows: 7 }).unwrap();
            let prefilter = Prefilter::new(&spec, 0.5).unwrap();
            let table = table(seed, n, n.div_ceil(per_family) as u64, noise, spec.words());
            let ranks: Vec<Rank> = Rank::all(n as u32).filter(|rank| rank.0 % 7 != 3).collect();
            let rules = BandRules { banding, prefilter, cap };
            let (workers, folder) = (Workers { threads, progress: &Progress::silent() }, tempfile::tempdir().unwrap());
            let (expected, counts) = candidates(&table, &ranks, rules, workers).unwrap();
            let expected: Vec<_> = expected.iter().flat_map(CandidateLists::pairs).collect();
            let workspace = Workspace { bytes: room, folder: folder.path(), files: &Files::new() };
            let sketches = Reversed { table: &table, are_resident };
            let mut found = BandCandidates::new(&sketches, &ranks, rules, workspace, workers).unwrap();
            prop_assert_eq!(found.counts, counts);
            prop_assert!(room > 0 || counts.n_bucket_pairs == 0 || found.held.is_spilled());
            for max_bytes in [0, 1_000, u64::MAX] {
                prop_assert_eq!(&pairs(&mut found, max_bytes, workers), &expected);
            }
            drop(found);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
