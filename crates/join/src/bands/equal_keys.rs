//! Documents with equal keys, found on all threads, within a room of memory.
//!
//! ```text
//! blocks of documents --keys, by their partition--> partitions of keys --those that occur again--> buckets
//! ```
//!
//! Few documents are looked at column by column. Of more a thread makes the keys of a block of documents and puts them in order by partition; then a thread takes a partition out of all blocks, in the order of the documents. A partition fits the
//! second-level cache, so that finding what is equal in it touches no other memory. What has no room at a time is done in several passes over the documents: each for some columns, or for some of the partitions of one column. The results do not
//! depend on how many threads and passes there are.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use benzer_flow::{Result, Workers, share, workers::in_parallel};

use super::repeats::{Buckets, RepeatFilter};
use crate::Rank;

/// So many documents are few, and so many threads: then a thread finds what is equal in some columns of keys as they are made.
const FEW: usize = 1 << 20;
const FEW_THREADS: usize = 3;
/// Columns whose keys are made together, at most: a document is looked up once for all of them.
const TOGETHER: usize = 6;
/// Keys of a partition, about. Tests have small ones, so that few documents have several.
const PARTITION: usize = if cfg!(test) { 1 << 7 } else { 1 << 15 };
/// A partition of so many times as many keys is looked at alone: there are few of them, and each takes much memory.
const LARGE: usize = 4;
/// Documents of a block: their places in it have sixteen bits.
const MIN_BLOCK: usize = PARTITION >> 3;
const MAX_BLOCK: usize = 1 << 14;
/// Blocks per thread, at least, if there are so many documents.
const BLOCKS: usize = 4;
/// Of so many documents what is made of a partition has those of another one, too: what is made of all of them has about so many entries for each range of documents.
const PER_PARTITION: usize = 1 << 25;

/// Bytes of a key in a block; of one in a column; and those that finding what is equal takes for each key that is looked at meanwhile, with what is made of it before it is in order.
const KEY_BYTES: usize = size_of::<u64>() + size_of::<u16>();
const COLUMN_KEY_BYTES: usize = size_of::<u64>();
const REPEATED_BYTES: usize = 64;

/// Bytes for each document that there have to be so that everything is done at a time, if so many are made of each key at most.
pub(super) fn max_bytes_per_document(n_columns: usize, made: usize, threads: usize) -> usize {
    let together = n_columns.min(TOGETHER);
    // At most one thread looks at a large partition.
    let of_blocks = together * KEY_BYTES + REPEATED_BYTES;
    let of_columns = threads.clamp(1, FEW_THREADS) * (together * COLUMN_KEY_BYTES + REPEATED_BYTES);
    of_blocks.max(of_columns) + n_columns * made
}

/// Finds documents with equal keys, column by column of keys; keeps its memory for the next columns.
pub(super) struct EqualKeys<'a> {
    members: &'a [Rank],
    workers: Workers<'a>,
    passes: Passes,
    /// Documents of a block.
    block: usize,
    /// Partitions of a column, as an exponent.
    log_partitions: u32,
    spare: Vec<Mutex<Block>>,
}

/// How many columns and partitions there is room for at a time.
#[derive(Debug, Clone, Copy)]
struct Passes {
    n_columns: usize,
    together: usize,
    /// Into how many passes the partitions of a column are divided.
    n_slices: usize,
    /// Whether a thread finds what is equal in whole columns.
    of_columns: bool,
}

/// Some columns of keys, and of those the keys of some partitions.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    pub columns: Range<usize>,
    slice: usize,
}

/// The keys of some documents, column by column.
type Block = Vec<Column>;

/// Keys by partition.
#[derive(Default)]
struct Column {
    keys: Vec<u64>,
    /// Of each key whose it is, counted from the first document of the block.
    places: Vec<u16>,
    /// Where each partition begins, and the end.
    starts: Vec<u32>,
}

/// What a thread needs to find what is equal.
#[derive(Default)]
struct Scratch {
    keys: Vec<u64>,
    members: Vec<Rank>,
    filter: RepeatFilter,
    buckets: Buckets,
}

/// The keys of one column of several partitions, whose buckets are found one partition after the other.
pub(super) struct Partitions<'a> {
    of: &'a EqualKeys<'a>,
    keys: Keys<'a>,
    /// How many of all partitions of all columns, and those that are left.
    share: f64,
    numbers: Range<usize>,
    scratch: &'a mut Scratch,
    /// Who looks at a large one holds it.
    large: &'a Mutex<()>,
}

/// Where keys are.
enum Keys<'a> {
    /// All in one.
    Column(&'a [u64]),
    /// In this column of all blocks.
    Blocks(&'a [Block], usize),
}

impl<'a> EqualKeys<'a> {
    /// Among these documents, which have so many columns of keys. Half of the room is for them; the rest is for what is made of them, of each key so many bytes at most.
    pub fn new(members: &'a [Rank], n_columns: usize, made: usize, room: u64, workers: Workers<'a>) -> Self {
        let n = members.len();
        let block = (n / (BLOCKS * workers.threads.max(1))).clamp(MIN_BLOCK, MAX_BLOCK);
        let log_partitions = n.div_ceil(PARTITION).next_power_of_two().trailing_zeros();
        let passes = Passes::new(n, n_columns, made, room, workers.threads);
        let passes = Passes { n_slices: passes.n_slices.min(1 << log_partitions), ..passes };
        let spare = (0..n.div_ceil(block)).map(|_| Mutex::default()).collect();
        Self { members, workers, passes, block, log_partitions, spare }
    }

    /// What to look at one after the other.
    pub fn passes(&self) -> impl Iterator<Item = Pass> + use<> {
        let Passes { n_columns, together, n_slices, .. } = self.passes;
        let columns =
            (0..n_columns).step_by(together).map(move |first| first..n_columns.min(first + together));
        columns
            .flat_map(move |columns| (0..n_slices).map(move |slice| Pass { columns: columns.clone(), slice }))
    }

    /// How many passes there are over all documents for each column.
    pub fn n_slices(&self) -> usize {
        self.passes.n_slices
    }

    /// What `take` makes of the buckets of some partitions of a column. `keys` makes the keys of some columns of a range of documents, column by column.
    ///
    /// # Errors
    /// The wish to stop, and what `keys` and `take` return.
    pub fn buckets<T: Send>(
        &mut self,
        pass: &Pass,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
        take: impl Fn(&mut Partitions<'_>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        if self.passes.of_columns {
            return self.of_columns(pass.columns.clone(), keys, take);
        }
        let numbers = share(pass.slice, self.passes.n_slices, 1 << self.log_partitions);
        let blocks = self.blocks(&pass.columns, &numbers, keys)?;
        let together = self.members.len().div_ceil(PER_PARTITION).max(1);
        let n_parts = numbers.len().div_ceil(together);
        let (n_tasks, large) = (pass.columns.len() * n_parts, Mutex::new(()));
        let made = in_parallel(n_tasks, self.workers.threads, Scratch::default, |task, scratch| {
            let keys = Keys::Blocks(&blocks, task / n_parts);
            let numbers = share(task % n_parts, n_parts, numbers.len());
            take(&mut Partitions::new(self, keys, numbers, scratch, &large))
        });
        self.spare = blocks.into_iter().map(Mutex::new).collect();
        made.into_iter().collect()
    }

    /// The buckets of whole columns, some of which each thread makes at a time.
    fn of_columns<T: Send>(
        &self,
        columns: Range<usize>,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
        take: impl Fn(&mut Partitions<'_>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        // Every thread has as many tasks.
        let n_tasks =
            columns.len().div_ceil(TOGETHER).next_multiple_of(self.workers.threads.max(1)).min(columns.len());
        let scratch = || (Vec::new(), Scratch::default());
        let large = Mutex::new(());
        let made =
            in_parallel(n_tasks, self.workers.threads, scratch, |task, (made, scratch)| -> Result<Vec<T>> {
                let some = share(task, n_tasks, columns.len());
                make_columns(made, some.len(), self.members.len());
                keys(columns.start + some.start..columns.start + some.end, 0..self.members.len(), made)?;
                let take = |keys: &Vec<u64>| {
                    take(&mut Partitions::new(self, Keys::Column(keys), 0..1, scratch, &large))
                };
                made[..some.len()].iter().map(take).collect()
            });
        Ok(made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// The keys of all documents.
    fn blocks(
        &self,
        columns: &Range<usize>,
        numbers: &Range<usize>,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
    ) -> Result<Vec<Block>> {
        let made =
            in_parallel(self.spare.len(), self.workers.threads, Vec::new, |i, made| -> Result<Block> {
                let mut block =
                    std::mem::take(&mut *self.spare[i].lock().unwrap_or_else(PoisonError::into_inner));
                let places = i * self.block..self.members.len().min((i + 1) * self.block);
                block.resize_with(columns.len().max(block.len()), Column::default);
                make_columns(made, columns.len(), places.len());
                keys(columns.clone(), places, made)?;
                let columns = made.iter().zip(&mut block);
                columns.for_each(|(keys, column)| column.fill(keys, self.log_partitions, numbers));
                Ok(block)
            });
        made.into_iter().collect()
    }
}

/// Room for so many columns of so many keys.
fn make_columns(columns: &mut Vec<Vec<u64>>, n_columns: usize, n: usize) {
    columns.resize_with(n_columns.max(columns.len()), Vec::new);
    columns.iter_mut().take(n_columns).for_each(|keys| keys.resize(n, 0));
}

impl Passes {
    fn new(n: usize, n_columns: usize, made: usize, room: u64, threads: usize) -> Self {
        let is_ample = (n * max_bytes_per_document(n_columns, made, threads)) as u64 <= room;
        if n <= FEW && threads <= FEW_THREADS && is_ample {
            return Self { n_columns, together: n_columns, n_slices: 1, of_columns: true };
        }
        // The other half is for what is made of the keys, and for what was made before.
        let of_column = (n * KEY_BYTES).max(1) as u64;
        let together = (room / 2 / of_column).clamp(1, TOGETHER as u64) as usize;
        let n_slices = of_column.div_ceil((room / 2).max(1)) as usize;
        Self { n_columns, together, n_slices, of_columns: false }
    }
}

impl<'a> Partitions<'a> {
    fn new(
        of: &'a EqualKeys<'a>,
        keys: Keys<'a>,
        numbers: Range<usize>,
        scratch: &'a mut Scratch,
        large: &'a Mutex<()>,
    ) -> Self {
        let n_partitions = if of.passes.of_columns { 1 } else { 1 << of.log_partitions };
        let share = numbers.len() as f64 / (of.passes.n_columns * n_partitions) as f64;
        Self { of, keys, share, numbers, scratch, large }
    }

    /// Which part of all keys is in them.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The buckets of the next partition.
    pub fn next(&mut self) -> Option<&Buckets> {
        let number = self.numbers.next()?;
        let Scratch { keys, members, filter, buckets } = &mut *self.scratch;
        match self.keys {
            Keys::Column(keys) => filter.repeated(keys, self.of.members, buckets),
            Keys::Blocks(blocks, column) => {
                let n: usize = blocks.iter().map(|block| block[column].range(number).len()).sum();
                let is_large = n > LARGE * PARTITION;
                // One at a time, whose memory is given back at once.
                let _alone = is_large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
                keys.clear();
                members.clear();
                for (block, ranks) in blocks.iter().zip(self.of.members.chunks(self.of.block)) {
                    let column = &block[column];
                    let range = column.range(number);
                    keys.extend_from_slice(&column.keys[range.clone()]);
                    members.extend(column.places[range].iter().map(|place| ranks[*place as usize]));
                }
                filter.repeated(keys, members, buckets);
                if is_large {
                    (*keys, *members, *filter) = Default::default();
                }
            }
        }
        Some(buckets)
    }
}

impl Column {
    /// Takes those keys that are in some partitions, and puts them in order by partition; those of one partition stay in order.
    fn fill(&mut self, keys: &[u64], log_partitions: u32, partitions: &Range<usize>) {
        // The product spreads keys whose bits are not.
        let partition = |key: u64| (key.wrapping_mul(SPREAD) >> 32 >> (32 - log_partitions)) as usize;
        let taken = || {
            let keys = keys.iter().zip(0u16..=u16::MAX).map(|(key, place)| (partition(*key), *key, place));
            keys.filter(|(partition, ..)| partitions.contains(partition))
        };
        self.starts.clear();
        self.starts.resize(partitions.len() + 2, 0);
        // Counted two entries further on, so that filling a partition moves its beginning to where the one before it ends.
        taken().for_each(|(partition, ..)| self.starts[partition - partitions.start + 2] += 1);
        (1..self.starts.len()).for_each(|i| self.starts[i] += self.starts[i - 1]);
        let n = self.starts[partitions.len() + 1] as usize;
        self.keys.resize(n, 0);
        self.places.resize(n, 0);
        for (partition, key, place) in taken() {
            let next = &mut self.starts[partition - partitions.start + 1];
            self.keys[*next as usize] = key;
            self.places[*next as usize] = place;
            *next += 1;
        }
    }

    /// Where the keys of a partition are; the first of those that were taken is 0.
    fn range(&self, partition: usize) -> Range<usize> {
        self.starts[partition] as usize..self.starts[partition + 1] as usize
    }
}

/// An odd number at random.
const SPREAD: u64 = 0xa24b_aed4_963e_e407;

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_flow::Progress;
    use std::collections::BTreeMap;

    #[test]
    fn buckets_are_those_of_the_definition_whatever_the_threads_and_however_keys_are_spread() {
        for (n, distinct, shift) in [
            (0, 1, 0),
            (1, 1, 0),
            (50_000, 20_000, 0),
            (200_000, 150_000, 44),
            (150_000, 1, 9),
            (180_000, 3, 50),
        ] {
            let ranks: Vec<Rank> = (0..n).map(|i| Rank(3 * i + 1)).collect();
            let key = |column: usize, place: usize| {
                (benzer_core::hash::mix(place as u64 + column as u64 * 7) % distinct) << shift
            };
            let mut expected: Vec<BTreeMap<u64, Vec<Rank>>> = vec![BTreeMap::new(); 3];
            for (column, expected) in expected.iter_mut().enumerate() {
                for (place, rank) in ranks.iter().enumerate() {
                    expected.entry(key(column, place)).or_default().push(*rank);
                }
                expected.retain(|_, members| members.len() > 1);
            }
            for (threads, room) in [(1, u64::MAX), (1, 0), (2, u64::MAX), (5, u64::MAX), (5, 1 << 20)] {
                let workers = Workers { threads, progress: &Progress::silent() };
                let mut equal = EqualKeys::new(&ranks, 3, 8, room, workers);
                let mut found = vec![Vec::new(); 3];
                let mut share = 0.0;
                for pass in equal.passes().collect::<Vec<_>>() {
                    let keys = |some: Range<usize>, places: Range<usize>, made: &mut [Vec<u64>]| {
                        for (keys, column) in made.iter_mut().zip(some) {
                            let to = keys.iter_mut().zip(places.clone());
                            to.for_each(|(to, place)| *to = key(column, place));
                        }
                        Ok(())
                    };
                    let take = |partitions: &mut Partitions<'_>| {
                        let mut all = Vec::new();
                        while let Some(buckets) = partitions.next() {
                            all.extend(buckets.iter().map(<[Rank]>::to_vec));
                        }
                        Ok((all, partitions.share()))
                    };
                    let made = equal.buckets(&pass, keys, take).unwrap();
                    share += made.iter().map(|(_, share)| share).sum::<f64>();
                    let per_column = made.len() / pass.columns.len();
                    for (made, column) in made.chunks(per_column).zip(pass.columns.clone()) {
                        found[column].extend(made.iter().flat_map(|(all, _)| all.clone()));
                    }
                }
                assert!((share - 1.0).abs() < 1e-9, "{share}");
                for (column, (mut found, expected)) in found.into_iter().zip(&expected).enumerate() {
                    found.sort_unstable();
                    let mut expected: Vec<_> = expected.values().cloned().collect();
                    expected.sort_unstable();
                    assert!(
                        found == expected,
                        "{n} documents, {threads} threads, {room} bytes, column {column}"
                    );
                }
            }
        }
    }
}
