//! Documents of a graph, numbered as they come.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use benzer_join::{Edge, Rank};

#[derive(Debug, Default)]
pub(super) struct Nodes {
    numbers: HashMap<Arc<[u8]>, Rank>,
    places: Vec<Arc<[u8]>>,
}

impl Nodes {
    /// The number of a place: a rank in the order of coming.
    pub(super) fn number(&mut self, place: &[u8]) -> Rank {
        if let Some(&number) = self.numbers.get(place) {
            return number;
        }
        self.push(Arc::from(place))
    }

    /// The number of a place that has none yet.
    pub(super) fn push(&mut self, place: Arc<[u8]>) -> Rank {
        let number = Rank(self.places.len() as u32);
        self.places.push(Arc::clone(&place));
        self.numbers.insert(place, number);
        number
    }

    /// The places in keep order, and the rank of each number.
    pub(super) fn ordered(self) -> (Vec<Arc<[u8]>>, Vec<Rank>) {
        let mut order: Vec<Rank> = Rank::all(self.places.len() as u32).collect();
        order.sort_unstable_by_key(|&number| &self.places[number.index()]);
        let mut ranks = vec![Rank(0); order.len()];
        order.iter().zip(0..).for_each(|(&number, rank)| ranks[number.index()] = Rank(rank));
        (order.iter().map(|&number| Arc::clone(&self.places[number.index()])).collect(), ranks)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeWithRegisters {
    pub edge: Edge,
    pub equal: u32,
}

/// Intersection, union, equal registers.
pub(super) fn counted(counts: &[u8]) -> Result<[u32; 3]> {
    let counts: &[u8; 12] = counts.try_into().map_err(|_| Error::damaged())?;
    Ok(std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| counts[4 * i + j]))))
}
