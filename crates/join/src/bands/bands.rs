//! The candidate graph in memory: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! It is made document by document: the members that its buckets pair it with are listed, each once, and compared. A document of a large cluster meets the same few others
//! in every band.

use std::ops::Range;

use benzer_core::hint::prefetch;
use benzer_core::lsh::{Banding, Prefilter, bucket};

use super::buckets::{Buckets, Filter};
use super::by_later::ByLater;
use super::crowds::Crowds;
use super::number_set::NumberSet;
use super::relatives::Relatives;
use benzer_flow::Progress;
use benzer_flow::Result;
use benzer_flow::workers::{both, in_parallel};

/// Bands whose keys are gathered together, at most.
const TOGETHER: usize = 6;
/// Documents of a task.
const TASK: usize = 1024;
/// Sketches that are asked for before they are compared. Of millions most are in no cache.
const ASKED: usize = 16;

/// Documents whose buckets are asked for before they are looked at.
const AHEAD: usize = 8;

/// The sketches of documents by rank.
pub trait Sketches: Sync {
    /// The stored words.
    fn words(&self, rank: u32) -> &[u64];
}

/// How documents met in buckets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Meetings {
    /// Pairs in buckets, before the prefilter; a pair counts in every bucket.
    pub n_met: u64,
    /// Buckets with more members than the cap.
    pub n_oversized: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

impl Meetings {
    /// Counts a bucket; one of a single member is not counted.
    pub fn add(&mut self, size: u64, cap: usize) {
        if size > 1 {
            self.n_met += bucket::n_pairs(size, cap as u64) as u64;
            self.n_oversized += u64::from(size > cap as u64);
            self.largest = self.largest.max(size);
        }
    }
}

/// The candidate pairs among `ranks`, in order, in several parts; the ranks are in order too. Each document counts twice on the way.
pub fn candidates(
    sketches: &impl Sketches,
    ranks: &[u32],
    (banding, prefilter, cap): (&Banding, &Prefilter, usize),
    threads: usize,
    progress: &Progress<'_>,
) -> Result<(Vec<ByLater>, Meetings)> {
    // Several bands at a time: a sketch is looked up once for all of them. Every thread has as many.
    let n_tasks = banding.bands().div_ceil(TOGETHER).next_multiple_of(threads.max(1)).min(banding.bands());
    let bands = in_parallel(
        n_tasks,
        threads,
        || Buffers::new(ranks.len()),
        |task, buffers| -> Result<Vec<Buckets>> {
            let bands = share(task, n_tasks, banding.bands());
            buffers.keys[..bands.len()].iter_mut().for_each(|keys| keys.resize(ranks.len(), 0));
            let mut columns = buffers.keys.each_mut().map(Vec::as_mut_slice);
            for (i, &rank) in ranks.iter().enumerate() {
                banding.keys_within(sketches.words(rank), bands.clone(), |band, key| {
                    columns[band - bands.start][i] = key;
                });
            }
            progress.add((ranks.len() * bands.len() / banding.bands()) as u64)?;
            let keys = buffers.keys.iter().take(bands.len());
            Ok(keys.map(|keys| buffers.filter.repeated(keys, ranks)).collect())
        },
    );
    let bands = bands.into_iter().collect::<Result<Vec<_>>>()?;
    let seats = Seats::new(&bands, ranks.last().map_or(0, |rank| rank + 1), cap, threads);
    let n_tasks = ranks.len().div_ceil(TASK);
    let n_ranks = ranks.last().map_or(0, |rank| *rank as usize + 1);
    let scratch = || (NumberSet::new(n_ranks), Vec::new(), Vec::new());
    let found = in_parallel(n_tasks, threads, scratch, |task, (set, partners, next)| -> Result<ByLater> {
        let ranks = &ranks[task * TASK..ranks.len().min((task + 1) * TASK)];
        progress.add(ranks.len() as u64)?;
        let mut pairs = ByLater::default();
        let mut compare = |later: u32, partners: &mut Vec<u32>| {
            prefilter.retain(sketches.words(later), partners, |rank| sketches.words(rank));
            pairs.push(later, partners);
        };
        let mut waiting = None;
        for (i, &later) in ranks.iter().enumerate() {
            if let Some(&rank) = ranks.get(i + AHEAD) {
                seats.expect(rank);
            }
            list(&seats, later, set, next);
            if next.is_empty() {
                continue;
            }
            // They are compared after the next ones were asked for.
            for &rank in next.iter().take(ASKED) {
                let words = sketches.words(rank);
                (0..words.len()).step_by(8).for_each(|word| prefetch(words, word));
            }
            std::mem::swap(partners, next);
            if let Some(before) = waiting.replace(later) {
                compare(before, next);
            }
        }
        if let Some(last) = waiting {
            compare(last, partners);
        }
        Ok(pairs)
    });
    Ok((found.into_iter().collect::<Result<_>>()?, seats.meetings))
}

/// The bands of a task. Of 18 bands four tasks have 5, 4, 5 and 4: two threads have equally many, and no task looks at both halves of a sketch.
fn share(task: usize, n_tasks: usize, bands: usize) -> Range<usize> {
    let start = |task: usize| (task * bands).div_ceil(n_tasks);
    start(task)..start(task + 1)
}

/// Lists the documents that the buckets of one pair it with, each once, in order. The set is empty before and after.
fn list(seats: &Seats, later: u32, set: &mut NumberSet, partners: &mut Vec<u32>) {
    for seat in seats.of(later) {
        match seat.place() {
            Taken::Crowd(crowd) => seats.crowds.get(crowd).iter().for_each(|&(at, word)| set.add(at, word)),
            Taken::Behind(first) => seats.first[first].iter().for_each(|earlier| set.insert(*earlier)),
        }
    }
    partners.clear();
    set.drain(|number| partners.push(seats.relatives.rank(number)));
    // Those of one cluster are in order.
    if !partners.is_sorted() {
        partners.sort_unstable();
    }
}

#[derive(Debug)]
struct Buffers {
    keys: [Vec<u64>; TOGETHER],
    filter: Filter,
}

impl Buffers {
    /// Room for so many keys of each band.
    fn new(keys: usize) -> Self {
        Self { keys: std::array::from_fn(|_| Vec::with_capacity(keys)), filter: Filter::default() }
    }
}

/// In which buckets each document is, behind others.
struct Seats {
    /// What numbers stand for.
    relatives: Relatives,
    /// The members of each bucket that everyone in it is paired with, as numbers.
    first: Vec<u32>,
    /// The same of buckets with more members than the cap.
    crowds: Crowds,
    /// Of each seat, by the rank of its document.
    seats: Vec<Seat>,
    /// Where the seats of each document end.
    ends: Vec<usize>,
    meetings: Meetings,
}

impl Seats {
    /// From the buckets of some bands; ranks are below `n`.
    fn new(bands: &[Vec<Buckets>], n: u32, cap: usize, threads: usize) -> Self {
        let buckets = || bands.iter().flatten().flat_map(Buckets::iter);
        let relatives = || Relatives::new(buckets(), n);
        let count = || {
            let (mut ends, mut meetings) = (vec![0; n as usize + 1], Meetings::default());
            for bucket in buckets() {
                meetings.add(bucket.len() as u64, cap);
                bucket.iter().skip(1).for_each(|&rank| ends[rank as usize + 1] += 1);
            }
            for i in 1..ends.len() {
                ends[i] += ends[i - 1];
            }
            (ends, meetings)
        };
        let (relatives, (mut ends, meetings)) = both(threads, relatives, count);
        let seat_all = || {
            // Until it is used up, an entry is where the next seat of its document goes; in the end it is where that document ends.
            let mut seats = vec![Seat(0); ends.last().copied().unwrap_or_default()];
            let (mut start, mut crowd) = (0, 0);
            for bucket in buckets() {
                for (i, &rank) in bucket.iter().enumerate().skip(1) {
                    let next = &mut ends[rank as usize];
                    seats[*next] = if i < cap { Seat::new(start, i) } else { Seat::new(crowd, 0) };
                    *next += 1;
                }
                start += bucket.len().min(cap);
                crowd += usize::from(bucket.len() > cap);
            }
            seats
        };
        let list_first = || {
            let (mut first, mut crowds) = (Vec::new(), Crowds::default());
            for bucket in buckets() {
                let start = first.len();
                first.extend(bucket.iter().take(cap).map(|rank| relatives.number(*rank)));
                if bucket.len() > cap {
                    crowds.push(&first[start..]);
                }
            }
            (first, crowds)
        };
        let (seats, (first, crowds)) = both(threads, seat_all, list_first);
        Self { relatives, first, crowds, seats, ends, meetings }
    }

    /// Asks for the members of a document's buckets.
    #[inline]
    fn expect(&self, rank: u32) {
        for seat in self.of(rank) {
            match seat.place() {
                Taken::Crowd(crowd) => self.crowds.expect(crowd),
                Taken::Behind(first) => prefetch(&self.first, first.start),
            }
        }
    }

    /// The seats of a document.
    fn of(&self, rank: u32) -> &[Seat] {
        let start = if rank == 0 { 0 } else { self.ends[rank as usize - 1] };
        &self.seats[start..self.ends[rank as usize]]
    }
}

/// Where a bucket begins in a list, and how many of it are before a document there; nothing is, for one that all of them are before in a crowd. There are millions, so both are in one word.
#[derive(Debug, Clone, Copy)]
struct Seat(u64);

impl Seat {
    const BITS: u32 = 24;

    fn new(start: usize, n: usize) -> Self {
        let (start, n) = (start as u64, n as u64);
        assert!(n >> Self::BITS == 0 && start >> (64 - Self::BITS) == 0, "a bucket of more than fits memory");
        Self(start << Self::BITS | n)
    }

    #[inline]
    fn place(self) -> Taken {
        let start = (self.0 >> Self::BITS) as usize;
        match (self.0 & ((1 << Self::BITS) - 1)) as usize {
            0 => Taken::Crowd(start),
            n => Taken::Behind(start..start + n),
        }
    }
}

/// Whom a document in a bucket is paired with.
enum Taken {
    /// Those at some places of the list of first members.
    Behind(Range<usize>),
    /// All first members of a large bucket.
    Crowd(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::stream;
    use benzer_core::lsh::Shape;
    use benzer_core::sketch::SketchSpec;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn bands_are_shared_out_evenly() {
        let all = |n_tasks, bands| (0..n_tasks).map(|task| share(task, n_tasks, bands)).collect::<Vec<_>>();
        assert_eq!(all(4, 18), [0..5, 5..9, 9..14, 14..18]);
        assert_eq!(all(3, 18), [0..6, 6..12, 12..18]);
        assert_eq!(all(2, 2), [0..1, 1..2]);
    }

    struct Table(Vec<Vec<u64>>);

    impl Sketches for Table {
        fn words(&self, rank: u32) -> &[u64] {
            &self.0[rank as usize]
        }
    }

    /// The candidate graph word for word.
    fn by_definition(
        table: &Table,
        banding: &Banding,
        prefilter: &Prefilter,
        cap: usize,
    ) -> BTreeSet<(u32, u32)> {
        let mut buckets: BTreeMap<(usize, u64), Vec<u32>> = BTreeMap::new();
        for rank in 0..table.0.len() as u32 {
            for band in 0..banding.bands() {
                buckets.entry((band, banding.key(table.words(rank), band))).or_default().push(rank);
            }
        }
        let mut pairs = BTreeSet::new();
        for members in buckets.values() {
            for (i, &x) in members.iter().enumerate() {
                for (j, &y) in members.iter().enumerate().skip(i + 1) {
                    let allowed = members.len() <= cap || i < cap || j < cap;
                    if allowed && prefilter.passes(table.words(x), table.words(y)) {
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
            let ranks: Vec<u32> = (0..n as u32).collect();
            let found = candidates(&table, &ranks, (&banding, &prefilter, cap), threads, &Progress::silent()).unwrap();
            let found: Vec<_> = found.0.iter().flat_map(ByLater::pairs).collect();
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
