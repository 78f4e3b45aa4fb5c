//! The candidate graph in memory: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! A pair that agrees in several bands is given by the first of them in which the bucket rule allows it, so that no pair comes twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use benzer_core::Level;
use benzer_core::lsh::{Banding, Prefilter, bucket};
use benzer_core::sketch::count::equal_bytes_many;

use super::buckets::Filter;

/// Bands whose keys are gathered together.
const TOGETHER: usize = 3;

/// The sketches of documents by rank.
pub(crate) trait Sketches: Sync {
    /// The stored words.
    fn words(&self, rank: u32) -> &[u64];
}

/// How documents met in buckets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meetings {
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

/// The repeated keys of one band.
#[derive(Debug, Default)]
struct Band {
    /// (key, rank) in order.
    members: Vec<(u64, u32)>,
    /// Of each bucket over the cap its key and the first rank that not everyone is paired with.
    oversized: Vec<(u64, u32)>,
}

/// The candidate pairs (later, earlier) among `ranks`, in order; the ranks are in order too.
pub(crate) fn candidates(
    sketches: &dyn Sketches,
    ranks: &[u32],
    (banding, prefilter, cap): (&Banding, &Prefilter, usize),
    threads: usize,
) -> (Vec<(u32, u32)>, Meetings) {
    // Several bands at a time: a sketch is looked up once for all of them.
    let n_tasks = banding.bands().div_ceil(TOGETHER);
    let bands = in_parallel(n_tasks, threads, Buffers::default, |task, buffers| {
        let bands = task * TOGETHER..banding.bands().min((task + 1) * TOGETHER);
        buffers.keys.iter_mut().for_each(Vec::clear);
        for &rank in ranks {
            let words = sketches.words(rank);
            bands.clone().zip(&mut buffers.keys).for_each(|(band, keys)| keys.push(banding.key(words, band)));
        }
        let keys = buffers.keys.iter().take(bands.len());
        keys.map(|keys| Band::new(buffers.filter.repeated(keys, ranks), cap)).collect::<Vec<_>>()
    });
    let bands: Vec<Band> = bands.into_iter().flatten().collect();
    let masks = Masks::new(banding, prefilter);
    let finder = Finder { sketches, banding, prefilter, cap, bands: &bands, masks, level: Level::best() };
    let found = in_parallel(banding.bands(), threads, Rows::default, |band, rows| finder.pairs(band, rows));
    let mut meetings = Meetings::default();
    for band in &bands {
        band.members.chunk_by(|a, b| a.0 == b.0).for_each(|bucket| meetings.add(bucket.len() as u64, cap));
    }
    (sorted(found, ranks.last().map_or(0, |rank| rank + 1)), meetings)
}

#[derive(Debug, Default)]
struct Buffers {
    keys: [Vec<u64>; TOGETHER],
    filter: Filter,
}

/// All pairs by (later, earlier), where ranks are below `n`: counted by their later document, put in their places, and sorted there.
fn sorted(found: Vec<Vec<(u32, u32)>>, n: u32) -> Vec<(u32, u32)> {
    let mut ends = vec![0usize; n as usize + 1];
    found.iter().flatten().for_each(|&(later, _)| ends[later as usize + 1] += 1);
    for i in 1..ends.len() {
        ends[i] += ends[i - 1];
    }
    let mut pairs = vec![(0, 0); ends.last().copied().unwrap_or_default()];
    // Until it is used up, a document's entry is where its next pair goes; in the end it is where the next document begins.
    for pair in found.into_iter().flatten() {
        let next = &mut ends[pair.0 as usize];
        pairs[*next] = pair;
        *next += 1;
    }
    pairs.chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::sort_unstable);
    pairs
}

impl Band {
    fn new(members: Vec<(u64, u32)>, cap: usize) -> Self {
        let buckets = members.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > cap);
        let oversized = buckets.map(|bucket| (bucket[0].0, bucket[cap].1)).collect();
        Self { members, oversized }
    }

    /// True if the bucket of a key pairs `earlier` with everyone after it.
    fn pairs(&self, key: u64, earlier: u32) -> bool {
        let bucket = self.oversized.binary_search_by_key(&key, |(key, _)| *key);
        bucket.map_or(true, |i| earlier < self.oversized[i].1)
    }
}

/// Looks at the pairs of buckets.
struct Finder<'a> {
    sketches: &'a dyn Sketches,
    banding: &'a Banding,
    prefilter: &'a Prefilter,
    cap: usize,
    bands: &'a [Band],
    masks: Option<Masks>,
    level: Level,
}

/// What a thread reuses.
#[derive(Default)]
struct Rows {
    words: Vec<u64>,
    equal: Vec<(u32, u128)>,
}

impl Finder<'_> {
    /// The pairs that a band is the first to give.
    fn pairs(&self, band: usize, rows: &mut Rows) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for bucket in self.bands[band].members.chunk_by(|a, b| a.0 == b.0) {
            match &self.masks {
                Some(masks) => self.by_masks(masks, band, bucket, rows, &mut pairs),
                None => self.one_by_one(band, bucket, &mut pairs),
            }
        }
        pairs
    }

    /// For sketches of any shape.
    fn one_by_one(&self, band: usize, bucket: &[(u64, u32)], pairs: &mut Vec<(u32, u32)>) {
        for ((_, earlier), (_, later)) in bucket::pairs(bucket, self.cap) {
            let (a, b) = (self.sketches.words(earlier), self.sketches.words(later));
            let is_given_before = || {
                (0..band).any(|band| {
                    let key = self.banding.key(a, band);
                    key == self.banding.key(b, band) && self.bands[band].pairs(key, earlier)
                })
            };
            if self.prefilter.passes(a, b) && !is_given_before() {
                pairs.push((later, earlier));
            }
        }
    }

    /// For the default shape. The sketches that everyone is paired with are laid out side by side; one mask of equal registers answers both questions.
    fn by_masks(
        &self,
        masks: &Masks,
        band: usize,
        bucket: &[(u64, u32)],
        rows: &mut Rows,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        let Rows { words, equal } = rows;
        let first = &bucket[..bucket.len().min(self.cap)];
        words.clear();
        first.iter().for_each(|&(_, rank)| words.extend_from_slice(self.sketches.words(rank)));
        for (i, &(_, later)) in bucket.iter().enumerate().skip(1) {
            let n = i.min(first.len());
            let query = self.sketches.words(later).try_into().expect("sixteen words");
            equal.clear();
            equal_bytes_many(self.level, query, &words[..16 * n], self.prefilter.least_equal(), equal);
            for &(i, mask) in equal.iter() {
                let earlier = first[i as usize].1;
                if !self.is_given_before(masks.agree_before(mask, band), later, earlier) {
                    pairs.push((later, earlier));
                }
            }
        }
    }

    /// `agree` has the first register of each band in which the two agree.
    fn is_given_before(&self, mut agree: u128, later: u32, earlier: u32) -> bool {
        while agree != 0 {
            let band = agree.trailing_zeros() as usize / self.banding.rows();
            let before = &self.bands[band];
            if before.oversized.is_empty()
                || before.pairs(self.banding.key(self.sketches.words(later), band), earlier)
            {
                return true;
            }
            agree &= agree - 1;
        }
        false
    }
}

/// Bands as runs of bits in a mask of equal registers.
#[derive(Debug, Clone)]
struct Masks {
    /// The registers of a key.
    rows: usize,
    /// The first register of each band before the one at the index.
    before: Vec<u128>,
}

impl Masks {
    /// Nothing for a shape that masks cannot tell.
    fn new(banding: &Banding, prefilter: &Prefilter) -> Option<Self> {
        let suits = prefilter.registers() == 128 && prefilter.bits().get() == 8 && banding.bits().get() == 8;
        let start = |band: usize| 1u128 << (band * banding.rows());
        let before =
            (0..banding.bands()).scan(0, |all, band| Some(std::mem::replace(all, *all | start(band))));
        // A key has room for eight registers of eight bits.
        suits.then(|| Self { rows: banding.rows().min(8), before: before.collect() })
    }

    /// The first register of each band before `band` whose registers are all equal.
    fn agree_before(&self, equal: u128, band: usize) -> u128 {
        let (mut runs, mut length) = (equal, 1);
        while length < self.rows {
            let more = length.min(self.rows - length);
            runs &= runs >> more;
            length += more;
        }
        runs & self.before[band]
    }
}

/// `work(0..n)` on some threads, in the order of the numbers.
pub(crate) fn in_parallel<T: Send, S>(
    n: usize,
    threads: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(usize, &mut S) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = || {
        let (mut scratch, mut done) = (scratch(), Vec::new());
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return done;
            }
            done.push((i, work(i, &mut scratch)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(n)).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::stream;
    use benzer_core::lsh::Shape;
    use benzer_core::sketch::SketchSpec;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

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
            let found = candidates(&table, &ranks, (&banding, &prefilter, cap), threads);
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(found.0, expected);
        }
    }
}
