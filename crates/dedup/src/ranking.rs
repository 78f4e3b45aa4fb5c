//! The keep order: which **rank** each row has.
//!
//! From here on a document is its rank: of two similar documents the one of lower rank is kept. Where rows are in keep order already, nothing is stored.

use std::cmp::Ordering;

use crate::documents::Documents;
use crate::keep::Keep;

/// The keep order of a table.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// The row of each rank and the rank of each row; nothing where they are equal.
    orders: Option<(Vec<u32>, Vec<u32>)>,
    /// How many rows have an id that an earlier one has.
    pub repeated_ids: u32,
    /// A few of them.
    pub examples: Vec<Vec<u8>>,
}

/// Repeated ids that are named.
const EXAMPLES: usize = 5;

impl Ranking {
    pub fn new(documents: &Documents, keep: &Keep) -> Self {
        let compare = |&a: &u32, &b: &u32| {
            let rows = || documents.id(a).cmp(&documents.id(b)).then(a.cmp(&b));
            match keep {
                Keep::First => rows(),
                Keep::Last => rows().reverse(),
                _ => documents.key(a).cmp(documents.key(b)).then_with(rows),
            }
        };
        let (mut repeated_ids, mut examples) = (0, Vec::new());
        let mut orders = None;
        if documents.layout().ids || *keep != Keep::First {
            let mut rows: Vec<u32> = (0..documents.len()).collect();
            if !rows.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
                rows.sort_unstable_by(compare);
                let mut ranks = vec![0; rows.len()];
                rows.iter().zip(0..).for_each(|(&row, rank)| ranks[row as usize] = rank);
                orders = Some((rows, ranks));
            }
        }
        if documents.layout().ids {
            (repeated_ids, examples) = repeated(documents, keep, orders.as_ref().map(|(rows, _)| &rows[..]));
        }
        Self { orders, repeated_ids, examples }
    }

    #[inline]
    pub fn row(&self, rank: u32) -> u32 {
        self.orders.as_ref().map_or(rank, |(rows, _)| rows[rank as usize])
    }

    #[inline]
    pub fn rank(&self, row: u32) -> u32 {
        self.orders.as_ref().map_or(row, |(_, ranks)| ranks[row as usize])
    }
}

/// Counts the rows whose id was there before.
fn repeated(documents: &Documents, keep: &Keep, in_order: Option<&[u32]>) -> (u32, Vec<Vec<u8>>) {
    let mut by_id: Vec<u32>;
    let rows: Box<dyn Iterator<Item = u32>> = match (keep, in_order) {
        (Keep::First | Keep::Last, None) => Box::new(0..documents.len()),
        (Keep::First | Keep::Last, Some(rows)) => Box::new(rows.iter().copied()),
        _ => {
            by_id = (0..documents.len()).collect();
            by_id.sort_unstable_by_key(|&row| documents.id(row));
            Box::new(by_id.into_iter())
        }
    };
    let (mut n, mut examples, mut before) = (0, Vec::new(), None);
    for id in rows.map(|row| documents.id(row)) {
        if before == Some(id) {
            n += 1;
            if examples.len() < EXAMPLES && examples.last().map(Vec::as_slice) != id {
                examples.extend(id.map(<[u8]>::to_vec));
            }
        }
        before = Some(id);
    }
    (n, examples)
}
