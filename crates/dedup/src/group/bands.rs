//! The candidate graph in memory: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! A pair that agrees in several bands is given by the first of them in which the bucket rule allows it, so that no pair comes twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use benzer_core::lsh::{Banding, Prefilter};

use super::buckets::Filter;

/// The sketches of documents by rank.
pub(crate) trait Sketches: Sync {
    /// The stored words.
    fn words(&self, rank: u32) -> &[u64];
}

/// What the bands gave.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// (later, earlier) in order.
    pub pairs: Vec<(u32, u32)>,
    /// How often two documents met in a bucket, before the prefilter.
    pub n_met: u64,
    /// Buckets with more members than the cap.
    pub n_oversized: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

/// The repeated keys of one band.
#[derive(Debug, Default)]
struct Band {
    /// (key, rank) in order.
    members: Vec<(u64, u32)>,
    /// Of each bucket over the cap its key and the last rank that everyone is paired with.
    oversized: Vec<(u64, u32)>,
    largest: u64,
}

/// The candidate pairs among `ranks`, which are in order.
pub(crate) fn candidates(
    sketches: &dyn Sketches,
    ranks: &[u32],
    (banding, prefilter, cap): (&Banding, &Prefilter, usize),
    threads: usize,
) -> Candidates {
    let bands = in_parallel(banding.bands(), threads, Buffers::default, |band, buffers| {
        buffers.keys.clear();
        buffers.keys.extend(ranks.iter().map(|&rank| banding.key(sketches.words(rank), band)));
        Band::new(buffers.filter.repeated(&buffers.keys, ranks), cap)
    });
    let finder = Finder { sketches, banding, prefilter, cap, bands: &bands };
    let found = in_parallel(banding.bands(), threads, || (), |band, ()| finder.pairs(band));
    let mut all = Candidates {
        n_oversized: bands.iter().map(|band| band.oversized.len() as u64).sum(),
        largest: bands.iter().map(|band| band.largest).max().unwrap_or_default(),
        ..Candidates::default()
    };
    for (pairs, n_met) in found {
        all.pairs.extend(pairs);
        all.n_met += n_met;
    }
    all.pairs.sort_unstable();
    all
}

#[derive(Debug, Default)]
struct Buffers {
    keys: Vec<u64>,
    filter: Filter,
}

impl Band {
    fn new(members: Vec<(u64, u32)>, cap: usize) -> Self {
        let (mut oversized, mut largest) = (Vec::new(), 0);
        for bucket in members.chunk_by(|a, b| a.0 == b.0) {
            largest = largest.max(bucket.len() as u64);
            if bucket.len() > cap {
                // A cap of zero pairs nobody.
                let last = if cap == 0 { None } else { Some(bucket[cap - 1].1) };
                oversized.push((bucket[0].0, last.map_or(0, |rank| rank + 1)));
            }
        }
        Self { members, oversized, largest }
    }

    /// True if the bucket of a key pairs `earlier` with everyone after it.
    fn pairs(&self, key: u64, earlier: u32) -> bool {
        let bucket = self.oversized.binary_search_by_key(&key, |(key, _)| *key);
        bucket.map_or(true, |i| earlier < self.oversized[i].1)
    }
}

struct Finder<'a> {
    sketches: &'a dyn Sketches,
    banding: &'a Banding,
    prefilter: &'a Prefilter,
    cap: usize,
    bands: &'a [Band],
}

impl Finder<'_> {
    /// The pairs that a band is the first to give, and how many met in it.
    fn pairs(&self, band: usize) -> (Vec<(u32, u32)>, u64) {
        let (mut pairs, mut n_met) = (Vec::new(), 0);
        for bucket in self.bands[band].members.chunk_by(|a, b| a.0 == b.0) {
            for (i, &(_, later)) in bucket.iter().enumerate() {
                let b = self.sketches.words(later);
                for &(_, earlier) in &bucket[..i.min(self.cap)] {
                    n_met += 1;
                    let a = self.sketches.words(earlier);
                    if self.prefilter.passes(a, b) && !self.is_given_before(band, a, b, earlier) {
                        pairs.push((later, earlier));
                    }
                }
            }
        }
        (pairs, n_met)
    }

    fn is_given_before(&self, band: usize, a: &[u64], b: &[u64], earlier: u32) -> bool {
        (0..band).any(|band| {
            let key = self.banding.key(a, band);
            key == self.banding.key(b, band) && self.bands[band].pairs(key, earlier)
        })
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
    fn by_definition(table: &Table, banding: &Banding, prefilter: &Prefilter, cap: usize) -> BTreeSet<(u32, u32)> {
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
        fn candidates_are_those_of_the_definition(seed: u64, n in 2usize..120, families in 1u64..8, cap in 1usize..40, noise in 0u32..60, threads in 1usize..4) {
            let spec = SketchSpec::default();
            let banding = Banding::new(&spec, Shape { bands: 18, rows: 7 }).unwrap();
            let prefilter = Prefilter::new(&spec, 0.5).unwrap();
            let mut random = stream(seed);
            let mut next = || random.next().unwrap();
            // Members of a family differ from its first sketch in some registers.
            let table = Table((0..n).map(|_| {
                let mut words: Vec<u64> = stream(next() % families).take(16).collect();
                for _ in 0..noise {
                    let register = (next() % 128) as usize;
                    words[register / 8] ^= (next() & 0xff) << (8 * (register % 8));
                }
                words
            }).collect());
            let ranks: Vec<u32> = (0..n as u32).collect();
            let found = candidates(&table, &ranks, (&banding, &prefilter, cap), threads);
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(found.pairs, expected);
        }
    }
}
