//! Documents with equal keys, found on all threads.
//!
//! ```text
//! blocks of documents --keys, by their partition--> partitions of keys --those that occur again--> buckets
//! ```
//!
//! Few documents are looked at column by column. Of more a thread makes the keys of a block of documents and puts them in order by partition; then a thread takes a partition out of all blocks, in the order of the documents. A partition fits the
//! second-level cache, so that finding what is equal in it touches no other memory. The results do not depend on how many threads there are, and the memory does not
//! grow with them: it is ten bytes a key, and for a few threads what one needs to look at a column each.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use benzer_flow::{Result, Workers, share, workers::in_parallel};

use super::repeats::{Buckets, RepeatFilter};
use crate::Rank;

/// So many documents are few, and so many threads: then a thread finds what is equal in some columns of keys as they are made.
const FEW: usize = 1 << 20;
pub(super) const FEW_THREADS: usize = 3;
/// Keys of a partition, about.
const PARTITION: usize = 1 << 15;
/// A partition of so many times as many keys is looked at alone: there are few of them, and each takes much memory.
const LARGE: usize = 4;
/// Documents of a block: their places in it have sixteen bits.
const MIN_BLOCK: usize = 1 << 12;
const MAX_BLOCK: usize = 1 << 14;
/// Blocks per thread, at least, if there are so many documents.
const BLOCKS: usize = 4;

/// Bytes of a key; and those that finding what is equal takes for each key of a partition, with the memberships that are made of it.
pub(super) const KEY_BYTES: usize = size_of::<u64>() + size_of::<u16>();
pub(super) const REPEATED_BYTES: usize = 80;

/// Finds documents with equal keys, column by column of keys; keeps its memory for the next columns.
pub(super) struct EqualKeys<'a> {
    ranks: &'a [Rank],
    workers: Workers<'a>,
    /// Documents of a block.
    block: usize,
    /// Partitions of a column, as an exponent.
    log_partitions: u32,
    spare: Vec<Mutex<Block>>,
    /// Memory of threads that look at whole columns.
    whole: Vec<Mutex<WholeColumns>>,
}

/// Some columns of keys, and what it takes to find those that occur again.
#[derive(Default)]
struct WholeColumns {
    keys: Vec<Vec<u64>>,
    filter: RepeatFilter,
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

/// What a thread needs to look at partitions.
#[derive(Default)]
struct Partition {
    keys: Vec<u64>,
    members: Vec<Rank>,
    filter: RepeatFilter,
}

impl<'a> EqualKeys<'a> {
    /// Among these documents, which are in order.
    pub fn new(ranks: &'a [Rank], workers: Workers<'a>) -> Self {
        let block = (ranks.len() / (BLOCKS * workers.threads.max(1))).clamp(MIN_BLOCK, MAX_BLOCK);
        let log_partitions = ranks.len().div_ceil(PARTITION).next_power_of_two().trailing_zeros();
        let spare = (0..ranks.len().div_ceil(block)).map(|_| Mutex::default()).collect();
        let whole = (0..workers.threads.clamp(1, FEW_THREADS)).map(|_| Mutex::default()).collect();
        Self { ranks, workers, block, log_partitions, spare, whole }
    }

    /// The buckets of each partition, as `take` wants them; those of the first column come first. `keys` makes the keys of some columns of a range of documents, column by column.
    ///
    /// # Errors
    /// The wish to stop, and what `take` returns.
    pub fn buckets<T: Send>(
        &mut self,
        n_columns: usize,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
        take: impl Fn(&Buckets) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        if self.ranks.len() <= FEW && self.workers.threads <= FEW_THREADS {
            return self.whole_columns(n_columns, keys, take);
        }
        let blocks = self.blocks(n_columns, keys)?;
        let large = Mutex::new(());
        let n_tasks = n_columns << self.log_partitions;
        let made = in_parallel(n_tasks, self.workers.threads, Partition::default, |task, partition| {
            let (column, number) = (task >> self.log_partitions, task & ((1 << self.log_partitions) - 1));
            let n: usize = blocks.iter().map(|block| block[column].range(number).len()).sum();
            if n <= LARGE * PARTITION {
                return take(&self.repeated(&blocks, column, number, partition));
            }
            // One at a time, whose memory is given back at once.
            let _alone = large.lock().unwrap_or_else(PoisonError::into_inner);
            take(&self.repeated(&blocks, column, number, &mut Partition::default()))
        });
        self.spare = blocks.into_iter().map(Mutex::new).collect();
        made.into_iter().collect()
    }

    /// The buckets of all columns, about as many columns at a time by each thread.
    fn whole_columns<T: Send>(
        &self,
        n_columns: usize,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
        take: impl Fn(&Buckets) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let n_tasks = self.workers.threads.clamp(1, n_columns);
        let made = in_parallel(
            n_tasks,
            n_tasks,
            || (),
            |task, _| -> Result<Vec<T>> {
                let columns = share(task, n_tasks, n_columns);
                let mut whole = self.whole[task].lock().unwrap_or_else(PoisonError::into_inner);
                let WholeColumns { keys: made, filter } = &mut *whole;
                made.resize_with(columns.len(), Vec::new);
                made.iter_mut().for_each(|keys| keys.resize(self.ranks.len(), 0));
                keys(columns, 0..self.ranks.len(), made)?;
                made.iter().map(|keys| take(&filter.repeated(keys, self.ranks))).collect()
            },
        );
        Ok(made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// The keys of all documents.
    fn blocks(
        &self,
        n_columns: usize,
        keys: impl Fn(Range<usize>, Range<usize>, &mut [Vec<u64>]) -> Result<()> + Sync,
    ) -> Result<Vec<Block>> {
        let made =
            in_parallel(self.spare.len(), self.workers.threads, Vec::new, |i, made| -> Result<Block> {
                let mut block =
                    std::mem::take(&mut *self.spare[i].lock().unwrap_or_else(PoisonError::into_inner));
                let places = i * self.block..self.ranks.len().min((i + 1) * self.block);
                block.resize_with(n_columns.max(block.len()), Column::default);
                made.resize_with(n_columns, Vec::new);
                made.iter_mut().for_each(|keys: &mut Vec<u64>| keys.resize(places.len(), 0));
                keys(0..n_columns, places, made)?;
                made.iter().zip(&mut block).for_each(|(keys, column)| column.fill(keys, self.log_partitions));
                Ok(block)
            });
        made.into_iter().collect()
    }

    /// The buckets of a partition.
    fn repeated(
        &self,
        blocks: &[Block],
        column: usize,
        number: usize,
        Partition { keys, members, filter }: &mut Partition,
    ) -> Buckets {
        keys.clear();
        members.clear();
        for (block, ranks) in blocks.iter().zip(self.ranks.chunks(self.block)) {
            let column = &block[column];
            let range = column.range(number);
            keys.extend_from_slice(&column.keys[range.clone()]);
            members.extend(column.places[range].iter().map(|place| ranks[*place as usize]));
        }
        filter.repeated(keys, members)
    }
}

impl Column {
    /// Takes keys, and puts them in order by partition; those of one partition stay in order.
    fn fill(&mut self, keys: &[u64], log_partitions: u32) {
        // The product spreads keys whose bits are not.
        let partition = |key: u64| (key.wrapping_mul(SPREAD) >> 32 >> (32 - log_partitions)) as usize;
        self.starts.clear();
        self.starts.resize((1 << log_partitions) + 2, 0);
        // Counted two entries further on, so that filling a partition moves its beginning to where the one before it ends.
        keys.iter().for_each(|key| self.starts[partition(*key) + 2] += 1);
        (1..self.starts.len()).for_each(|i| self.starts[i] += self.starts[i - 1]);
        self.keys.resize(keys.len(), 0);
        self.places.resize(keys.len(), 0);
        for (&key, place) in keys.iter().zip(0u16..=u16::MAX) {
            let next = &mut self.starts[partition(key) + 1];
            self.keys[*next as usize] = key;
            self.places[*next as usize] = place;
            *next += 1;
        }
    }

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
            for threads in [1, 2, 5] {
                let workers = Workers { threads, progress: &Progress::silent() };
                let mut equal = EqualKeys::new(&ranks, workers);
                for columns in [0..2, 2..3, 1..3] {
                    let keys = |some: Range<usize>, places: Range<usize>, made: &mut [Vec<u64>]| {
                        for (keys, column) in made.iter_mut().zip(some.map(|some| columns.start + some)) {
                            keys.iter_mut()
                                .zip(places.clone())
                                .for_each(|(to, place)| *to = key(column, place));
                        }
                        Ok(())
                    };
                    let take =
                        |buckets: &Buckets| Ok(buckets.iter().map(<[Rank]>::to_vec).collect::<Vec<_>>());
                    let found = equal.buckets(columns.len(), keys, take).unwrap();
                    let per_column = found.len() / columns.len();
                    for (found, column) in found.chunks(per_column).zip(columns.clone()) {
                        let mut found = found.concat();
                        found.sort_unstable();
                        let mut expected: Vec<_> = expected[column].values().cloned().collect();
                        expected.sort_unstable();
                        assert!(found == expected, "{n} documents, {threads} threads, column {column}");
                    }
                }
            }
        }
    }
}
