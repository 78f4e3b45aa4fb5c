//! The keep order: which **rank** each row has.
//!
//! From here on a document is its rank: of two similar documents the one of lower rank is kept. Where rows are in keep order already, nothing is stored; otherwise
//! eight bytes for each document.

use std::cmp::Ordering;

use crate::documents::{DiskRowTable, Documents, Row, RowTable};
use crate::error::Result;
use crate::keep::Keep;
use benzer_flow::sort::Sorter;
use benzer_flow::{Progress, ThreadProgress};
use benzer_join::Rank;

#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// The row of each rank and the rank of each row; nothing where they are equal.
    orders: Option<(Vec<Row>, Vec<Rank>)>,
    /// How many rows have an id that an earlier one has.
    pub repeated_ids: u32,
    pub examples: Vec<String>,
}

const EXAMPLES: usize = 5;

impl Ranking {
    /// Sorts in memory, or with what `sorter` gives.
    pub fn new(
        documents: &Documents,
        keep: &Keep,
        ids: bool,
        sorter: impl Fn() -> Sorter<(u128, Row)>,
        progress: &Progress<'_>,
    ) -> Result<Self> {
        if !ids && *keep == Keep::First {
            return Ok(Self::default());
        }
        if let (Documents::Memory(table), Keep::First, true) = (documents, keep, ids)
            && has_rising_ids(table)
        {
            return Ok(Self::default());
        }
        let rows = match documents {
            Documents::Memory(table) => in_memory(table, keep),
            Documents::Disk(table) => {
                on_disk(table, keep != &Keep::First && keep != &Keep::Last, &sorter, progress)?
            }
        };
        let rows = match (keep, rows) {
            (Keep::Last, rows) => {
                let n = documents.len();
                Some(rows.map_or_else(
                    || Row::all(n).rev().collect(),
                    |mut rows| {
                        rows.reverse();
                        rows
                    },
                ))
            }
            (_, rows) => rows,
        };
        let mut ranking = Self { orders: rows.map(with_ranks), ..Self::default() };
        if ids {
            let by_id = match (keep, documents) {
                (Keep::First | Keep::Last, _) => None,
                (_, Documents::Memory(table)) => Some(in_memory(table, &Keep::First)),
                (_, Documents::Disk(table)) => Some(on_disk(table, false, &sorter, progress)?),
            };
            ranking.count_repeated(documents, by_id)?;
        }
        Ok(ranking)
    }

    #[inline]
    pub fn row(&self, rank: Rank) -> Row {
        self.orders.as_ref().map_or(Row(rank.0), |(rows, _)| rows[rank.index()])
    }

    #[inline]
    pub fn rank(&self, row: Row) -> Rank {
        self.orders.as_ref().map_or(Rank(row.0), |(_, ranks)| ranks[row.index()])
    }

    /// `by_id` has the rows in the order of their ids, where the keep order is another one.
    fn count_repeated(&mut self, documents: &Documents, by_id: Option<Option<Vec<Row>>>) -> Result<()> {
        let mut before = None;
        for i in 0..documents.len() {
            let row = match &by_id {
                None => self.row(Rank(i)),
                Some(None) => Row(i),
                Some(Some(rows)) => rows[i as usize],
            };
            let id = documents.id(row)?;
            if id.is_some() && before == id {
                self.repeated_ids += 1;
                let id = String::from_utf8_lossy(id.as_deref().unwrap_or_default()).into_owned();
                if self.examples.len() < EXAMPLES && self.examples.last() != Some(&id) {
                    self.examples.push(id);
                }
            }
            before = id;
        }
        Ok(())
    }
}

fn with_ranks(rows: Vec<Row>) -> (Vec<Row>, Vec<Rank>) {
    let mut ranks = vec![Rank(0); rows.len()];
    rows.iter().zip(0..).for_each(|(&row, rank)| ranks[row.index()] = Rank(rank));
    (rows, ranks)
}

/// Whether each id is greater than the one before: rows are in order then, and no id is repeated.
fn has_rising_ids(table: &RowTable) -> bool {
    let mut before = None;
    Row::all(table.n).all(|row| {
        let id = table.id(row);
        id.is_some() && std::mem::replace(&mut before, id) < id
    })
}

/// The rows by (policy key, id, row), or nothing if they are so already.
fn in_memory(table: &RowTable, keep: &Keep) -> Option<Vec<Row>> {
    let with_keys = !matches!(keep, Keep::First | Keep::Last);
    let compare = |&a: &Row, &b: &Row| {
        let keys = || table.key(a).cmp(table.key(b));
        let policy = if with_keys { keys() } else { Ordering::Equal };
        policy.then_with(|| table.id(a).cmp(&table.id(b))).then(a.cmp(&b))
    };
    let is_sorted = (1..table.n).all(|row| compare(&Row(row - 1), &Row(row)).is_lt());
    (!is_sorted).then(|| {
        let mut rows: Vec<Row> = Row::all(table.n).collect();
        rows.sort_unstable_by(compare);
        rows
    })
}

/// The same on disk: by the sixteen bytes behind what all have in common, and where those are equal by the rest.
fn on_disk(
    table: &DiskRowTable,
    with_keys: bool,
    sorter: &impl Fn() -> Sorter<(u128, Row)>,
    progress: &Progress<'_>,
) -> Result<Option<Vec<Row>>> {
    // Every name is read three times.
    let mut steps = ThreadProgress::new(progress, 3, 1);
    let name = |row: Row| name(table, row, with_keys);
    let skip = common_bytes(Row::all(table.n).map(&name), &mut steps)?;
    let mut sorter = sorter();
    for row in Row::all(table.n) {
        steps.step()?;
        let mut prefix = [0; 16];
        let name = name(row)?;
        let rest = &name[skip..];
        let n = rest.len().min(16);
        prefix[..n].copy_from_slice(&rest[..n]);
        sorter.push((u128::from_be_bytes(prefix), row))?;
    }
    let mut rows = Vec::with_capacity(table.n as usize);
    let mut equal: Vec<(Vec<u8>, Row)> = Vec::new();
    let mut last = None;
    for record in sorter.finish()? {
        steps.step()?;
        let (prefix, row) = record?;
        if last != Some(prefix) {
            equal.sort_unstable();
            rows.extend(equal.drain(..).map(|(_, row)| row));
        }
        last = Some(prefix);
        equal.push((name(row)?, row));
    }
    equal.sort_unstable();
    rows.extend(equal.drain(..).map(|(_, row)| row));
    Ok((!rows.is_sorted()).then_some(rows))
}

/// Policy key and id of a row, by which rows are sorted.
fn name(table: &DiskRowTable, row: Row, with_keys: bool) -> Result<Vec<u8>> {
    // Keys are such that none is the beginning of another.
    let mut name = if with_keys { table.key(row)? } else { Vec::new() };
    name.extend(table.id(row)?.unwrap_or_default());
    Ok(name)
}

/// How many bytes all names begin with in common.
fn common_bytes(
    names: impl Iterator<Item = Result<Vec<u8>>>,
    steps: &mut ThreadProgress<'_>,
) -> Result<usize> {
    let mut common: Option<Vec<u8>> = None;
    for name in names {
        steps.step()?;
        let name = name?;
        match &mut common {
            None => common = Some(name),
            Some(common) => common.truncate(common.iter().zip(&name).take_while(|(a, b)| a == b).count()),
        }
    }
    Ok(common.map_or(0, |common| common.len()))
}
