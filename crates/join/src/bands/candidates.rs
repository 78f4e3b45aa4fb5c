//! The candidate graph in memory: pairs that share a band key, as the bucket rule allows, and pass the prefilter.
//!
//! It is made document by document: the members that its buckets pair it with are listed, each once, and compared. A document of a large cluster meets the same few others
//! in every band.

use std::ops::Range;

use benzer_core::hint;
use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::{Result, Workers, workers::in_parallel};

use super::lists::CandidateLists;
use super::memberships::{BucketCounts, Memberships, PairedWith};
use super::number_set::NumberSet;
use super::repeats::{Buckets, RepeatFilter};
use crate::Rank;

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
    /// The stored words of a sketch.
    fn sketch(&self, rank: Rank) -> &[u64];
}

/// Which documents meet in buckets, and which of those are candidates.
#[derive(Debug, Clone, Copy)]
pub struct BandRules<'a> {
    /// The keys of a sketch.
    pub banding: &'a Banding,
    /// What the sketches of a candidate pair must have in common.
    pub prefilter: &'a Prefilter,
    /// So many first members of a bucket are paired with all others.
    pub cap: usize,
}

/// The candidate pairs among `ranks`, in order, in several parts; the ranks are in order too. Each document counts twice on the way.
///
/// # Errors
/// The wish to stop.
pub fn candidates(
    sketches: &impl Sketches,
    ranks: &[Rank],
    rules: BandRules<'_>,
    workers: Workers<'_>,
) -> Result<(Vec<CandidateLists>, BucketCounts)> {
    let buckets = buckets(sketches, ranks, rules.banding, workers)?;
    let n_ranks = ranks.last().map_or(0, |rank| rank.0 + 1);
    let memberships = Memberships::new(&buckets, n_ranks, rules.cap, workers.threads);
    let n_tasks = ranks.len().div_ceil(TASK);
    let lister = || Lister::new(n_ranks);
    let found = in_parallel(n_tasks, workers.threads, lister, |task, lister| -> Result<CandidateLists> {
        let ranks = &ranks[task * TASK..ranks.len().min((task + 1) * TASK)];
        workers.progress.add(ranks.len() as u64)?;
        Ok(lister.lists(ranks, &memberships, sketches, rules.prefilter))
    });
    Ok((found.into_iter().collect::<Result<_>>()?, memberships.counts))
}

/// The buckets of all bands, some bands in each part.
fn buckets(
    sketches: &impl Sketches,
    ranks: &[Rank],
    banding: &Banding,
    workers: Workers<'_>,
) -> Result<Vec<Vec<Buckets>>> {
    let n_bands = banding.bands();
    // Several bands at a time: a sketch is looked up once for all of them. Every thread has as many.
    let n_tasks = n_bands.div_ceil(TOGETHER).next_multiple_of(workers.threads.max(1)).min(n_bands);
    let gatherer = || KeyGatherer::new(ranks.len());
    let made = in_parallel(n_tasks, workers.threads, gatherer, |task, gatherer| -> Result<Vec<Buckets>> {
        let bands = share(task, n_tasks, n_bands);
        gatherer.gather(sketches, ranks, banding, bands.clone());
        workers.progress.add((ranks.len() * bands.len() / n_bands) as u64)?;
        Ok(gatherer.buckets(ranks, bands.len()))
    });
    made.into_iter().collect()
}

/// The bands of a task. Of 18 bands four tasks have 5, 4, 5 and 4: two threads have equally many, and no task looks at both halves of a sketch.
fn share(task: usize, n_tasks: usize, bands: usize) -> Range<usize> {
    let start = |task: usize| (task * bands).div_ceil(n_tasks);
    start(task)..start(task + 1)
}

/// The keys of some bands. Each thread has its own.
#[derive(Debug)]
struct KeyGatherer {
    keys: [Vec<u64>; TOGETHER],
    filter: RepeatFilter,
}

impl KeyGatherer {
    /// With memory for `n` keys of each band.
    fn new(n: usize) -> Self {
        Self { keys: std::array::from_fn(|_| Vec::with_capacity(n)), filter: RepeatFilter::default() }
    }

    fn gather(&mut self, sketches: &impl Sketches, ranks: &[Rank], banding: &Banding, bands: Range<usize>) {
        self.keys[..bands.len()].iter_mut().for_each(|keys| keys.resize(ranks.len(), 0));
        let mut columns = self.keys.each_mut().map(Vec::as_mut_slice);
        for (i, &rank) in ranks.iter().enumerate() {
            banding.keys_within(sketches.sketch(rank), bands.clone(), |band, key| {
                columns[band - bands.start][i] = key;
            });
        }
    }

    /// The buckets of the bands that were gathered.
    fn buckets(&mut self, ranks: &[Rank], n_bands: usize) -> Vec<Buckets> {
        self.keys.iter().take(n_bands).map(|keys| self.filter.repeated(keys, ranks)).collect()
    }
}

/// Lists the candidates of documents. Each thread has its own.
struct Lister {
    /// Empty before and after each document.
    set: NumberSet,
    /// Those that a document is paired with, and those of the document after it.
    partners: Vec<Rank>,
    next: Vec<Rank>,
}

impl Lister {
    /// Of documents whose ranks are below `n_ranks`.
    fn new(n_ranks: u32) -> Self {
        Self { set: NumberSet::new(n_ranks as usize), partners: Vec::new(), next: Vec::new() }
    }

    /// The candidates of some documents.
    fn lists(
        &mut self,
        ranks: &[Rank],
        memberships: &Memberships,
        sketches: &impl Sketches,
        prefilter: &Prefilter,
    ) -> CandidateLists {
        let Self { set, partners, next } = self;
        let mut lists = CandidateLists::default();
        let mut compare = |later: Rank, partners: &mut Vec<Rank>| {
            prefilter.retain(sketches.sketch(later), partners, |rank| sketches.sketch(rank));
            lists.push(later, partners);
        };
        let mut waiting = None;
        for (i, &later) in ranks.iter().enumerate() {
            if let Some(&rank) = ranks.get(i + AHEAD) {
                memberships.prefetch(rank);
            }
            list(memberships, later, set, next);
            if next.is_empty() {
                continue;
            }
            // They are compared after the next ones were asked for.
            for &rank in next.iter().take(ASKED) {
                let sketch = sketches.sketch(rank);
                (0..sketch.len()).step_by(8).for_each(|word| hint::prefetch(sketch, word));
            }
            std::mem::swap(partners, next);
            if let Some(before) = waiting.replace(later) {
                compare(before, next);
            }
        }
        if let Some(last) = waiting {
            compare(last, partners);
        }
        lists
    }
}

/// Lists the documents that the buckets of one pair it with, each once, in order. The set is empty before and after.
fn list(memberships: &Memberships, later: Rank, set: &mut NumberSet, partners: &mut Vec<Rank>) {
    for paired_with in memberships.of(later) {
        match paired_with {
            PairedWith::All(words) => words.iter().for_each(|word| set.add(word.at, word.bits)),
            PairedWith::First(numbers) => numbers.iter().for_each(|number| set.insert(*number)),
        }
    }
    partners.clear();
    set.drain(|number| partners.push(memberships.rank(number)));
    // Those of one cluster are in order.
    if !partners.is_sorted() {
        partners.sort_unstable();
    }
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

    #[test]
    fn bands_are_shared_out_evenly() {
        let all = |n_tasks, bands| (0..n_tasks).map(|task| share(task, n_tasks, bands)).collect::<Vec<_>>();
        assert_eq!(all(4, 18), [0..5, 5..9, 9..14, 14..18]);
        assert_eq!(all(3, 18), [0..6, 6..12, 12..18]);
        assert_eq!(all(2, 2), [0..1, 1..2]);
    }

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
            let rules = BandRules { banding: &banding, prefilter: &prefilter, cap };
            let workers = Workers { threads, progress: &Progress::silent() };
            let found = candidates(&table, &ranks, rules, workers).unwrap();
            let found: Vec<_> = found.0.iter().flat_map(CandidateLists::pairs).collect();
            let expected: Vec<_> = by_definition(&table, &banding, &prefilter, cap).into_iter().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
