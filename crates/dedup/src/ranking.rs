//! The keep order: which **rank** each row has.
//!
//! From here on a document is its rank: of two similar documents the one of lower rank is kept. Where rows are in keep order already, nothing is stored; otherwise
//! eight bytes for each document.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use twox_hash::XxHash3_64;

use crate::documents::{Row, RowTable};
use crate::error::Result;
use crate::keep::{Keep, compare_ids, id_key};
use benzer_flow::workers::in_parallel;
use benzer_flow::{Workers, share, sorted_parts_within};
use benzer_join::{Rank, bands};

#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// The row of each rank and the rank of each row; nothing where they are equal.
    orders: Option<(Vec<Row>, Vec<Rank>)>,
    /// Whether it is sure that no two documents have the same id.
    has_rising_ids: bool,
}

/// Documents that have an id of another one.
#[derive(Debug, Default)]
pub(crate) struct RepeatedIds {
    /// How many have an id that an earlier one has.
    pub n: u32,
    pub examples: Vec<String>,
}

const EXAMPLES: usize = 5;

impl Ranking {
    /// Sorts rows in so many bytes of memory.
    pub fn new(table: &RowTable, keep: &Keep, ids: bool, room: u64, workers: Workers<'_>) -> Self {
        if !ids && *keep == Keep::First {
            return Self::default();
        }
        let names = Names { table, with_keys: keep.has_key() };
        if ids && *keep == Keep::First && names.are_rising(workers.threads) {
            return Self { has_rising_ids: true, ..Self::default() };
        }
        let rows = match (keep, names.order(room, workers.threads)) {
            (Keep::Last, None) => Some(Row::all(table.len()).rev().collect()),
            (Keep::Last, Some(rows)) => Some(rows.into_iter().rev().collect()),
            (_, rows) => rows,
        };
        Self { orders: rows.map(|rows| with_ranks(rows, workers.threads)), has_rising_ids: false }
    }

    #[inline]
    pub fn row(&self, rank: Rank) -> Row {
        self.orders.as_ref().map_or(Row(rank.0), |(rows, _)| rows[rank.index()])
    }

    #[inline]
    pub fn rank(&self, row: Row) -> Rank {
        self.orders.as_ref().map_or(Rank(row.0), |(_, ranks)| ranks[row.index()])
    }

    /// The ids that more than one document has, found in so many bytes of memory.
    pub fn repeated_ids(&self, table: &RowTable, room: u64, workers: Workers<'_>) -> Result<RepeatedIds> {
        if self.has_rising_ids {
            return Ok(RepeatedIds::default());
        }
        let repeated = equal_ids(table, room, workers)?;
        let n = repeated.len() as u32;
        let mut examples: Vec<_> =
            repeated.into_iter().map(|id| (id_key(&id).collect::<Vec<u8>>(), id)).collect();
        examples.sort_unstable();
        examples.dedup();
        let examples = examples.iter().take(EXAMPLES).map(|(_, id)| String::from_utf8_lossy(id).into_owned());
        Ok(RepeatedIds { n, examples: examples.collect() })
    }
}

/// The id of every document that has that of an earlier one, in any order.
fn equal_ids(table: &RowTable, room: u64, workers: Workers<'_>) -> Result<Vec<Vec<u8>>> {
    let id = |row: &Rank| table.id(Row(row.0)).unwrap_or_default();
    let take = |rows: &[Rank]| Ok(repeated(rows.iter().map(id).collect()));
    let rows: Vec<Rank> = Rank::all(table.len()).collect();
    Ok(bands::groups(&rows, |row| Ok(XxHash3_64::oneshot(id(&row))), take, room, workers)?)
}

/// Of some ids every one that is equal to another one before it.
fn repeated<I: AsRef<[u8]> + Ord>(mut ids: Vec<I>) -> Vec<Vec<u8>> {
    ids.sort_unstable();
    let again = ids.windows(2).filter(|ids| ids[0] == ids[1]);
    again.map(|ids| ids[0].as_ref().to_vec()).collect()
}

fn with_ranks(rows: Vec<Row>, threads: usize) -> (Vec<Row>, Vec<Rank>) {
    let ranks: Vec<AtomicU32> = std::iter::repeat_with(AtomicU32::default).take(rows.len()).collect();
    in_ranges(rows.len() as u32, threads, |range| {
        for rank in range {
            ranks[rows[rank].index()].store(rank as u32, Ordering::Relaxed);
        }
    });
    (rows, ranks.into_iter().map(|rank| Rank(rank.into_inner())).collect())
}

/// What `work` makes of ranges of rows or ranks, in order.
pub(crate) fn in_ranges<T: Send>(n: u32, threads: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let n_ranges = (n as usize).div_ceil(RANGE);
    in_parallel(n_ranges, threads, || (), |i, _| work(share(i, n_ranges, n as usize)))
}

/// Rows that a thread looks at in one go, about.
const RANGE: usize = 1 << 15;

/// Policy keys and ids of rows, by which rows are sorted.
struct Names<'a> {
    table: &'a RowTable,
    with_keys: bool,
}

/// The beginning of a name behind what all have in common, and its row; compared by the beginning.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    bytes: [u64; 2],
    row: Row,
}

impl PartialEq for Prefix {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Prefix {}

impl PartialOrd for Prefix {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Prefix {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl Names<'_> {
    /// Whether each comes behind the one before, and none is repeated.
    fn are_rising(&self, threads: usize) -> bool {
        let are_rising = |rows: Range<usize>| {
            let mut rows = rows.map(|row| Row(row as u32)).filter(|row| row.0 > 0);
            rows.all(|row| self.compare(Row(row.0 - 1), row).is_lt())
        };
        in_ranges(self.table.len(), threads, are_rising).into_iter().all(|are| are)
    }

    fn compare(&self, a: Row, b: Row) -> std::cmp::Ordering {
        let keys = || self.table.key(a).cmp(self.table.key(b));
        let policy = if self.with_keys { keys() } else { std::cmp::Ordering::Equal };
        let id = |row: Row| self.table.id(row).unwrap_or_default();
        policy.then_with(|| compare_ids(id(a), id(b)))
    }

    /// The rows by (policy key, id, row), or nothing if they are so already.
    fn order(&self, room: u64, threads: usize) -> Option<Vec<Row>> {
        let skip =
            in_ranges(self.table.len(), threads, |range| self.common(range)).into_iter().min().unwrap_or(0);
        let prefix = |i: usize| self.prefix(Row(i as u32), skip);
        let n = self.table.len() as usize;
        let rows = sorted_parts_within(n, room, threads, prefix, |part| self.rows(&part)).concat();
        (!rows.is_sorted()).then_some(rows)
    }

    // Keys are such that none is the beginning of another.
    fn name(&self, row: Row) -> impl Iterator<Item = u8> {
        let key = if self.with_keys { self.table.key(row) } else { &[] };
        key.iter().copied().chain(self.table.id(row).into_iter().flat_map(id_key))
    }

    /// How many bytes some names have in common with the first one.
    fn common(&self, rows: Range<usize>) -> usize {
        let first: Vec<u8> = self.name(Row(0)).collect();
        let common = |row: usize| {
            let same = first.iter().zip(self.name(Row(row as u32))).take_while(|(a, b)| *a == b);
            same.count()
        };
        rows.map(common).min().unwrap_or(first.len())
    }

    fn prefix(&self, row: Row, skip: usize) -> Prefix {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(self.name(row).skip(skip)).for_each(|(to, byte)| *to = byte);
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Prefix { bytes: [number(&bytes[..8]), number(&bytes[8..])], row }
    }

    /// The rows of prefixes in order; those of equal prefixes by their whole names.
    fn rows(&self, prefixes: &[Prefix]) -> Vec<Row> {
        let mut rows = Vec::with_capacity(prefixes.len());
        for equal in prefixes.chunk_by(|a, b| a == b) {
            let start = rows.len();
            rows.extend(equal.iter().map(|prefix| prefix.row));
            if equal.len() > 1 {
                rows[start..].sort_unstable_by(|&a, &b| self.compare(a, b).then(a.cmp(&b)));
            }
        }
        rows
    }
}
