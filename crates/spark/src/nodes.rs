//! Documents of a graph, numbered as they come.

use std::collections::HashMap;
use std::sync::Arc;

use super::parts::damaged;
use crate::error::Result;
use benzer_join::Edge;

/// Places and their numbers.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    numbers: HashMap<Arc<[u8]>, u32>,
    places: Vec<Arc<[u8]>>,
}

impl Nodes {
    pub(super) fn number(&mut self, place: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(place) {
            return number;
        }
        self.push(Arc::from(place))
    }

    /// The number of a place that has none yet.
    pub(super) fn push(&mut self, place: Arc<[u8]>) -> u32 {
        let number = self.places.len() as u32;
        self.places.push(Arc::clone(&place));
        self.numbers.insert(place, number);
        number
    }

    /// The places in keep order, and the rank of each number.
    pub(super) fn ranked(self) -> (Vec<Arc<[u8]>>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        order.sort_unstable_by_key(|&number| &self.places[number as usize]);
        let mut ranks = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&number, rank)| ranks[number as usize] = rank);
        (order.iter().map(|&number| Arc::clone(&self.places[number as usize])).collect(), ranks)
    }
}

/// An edge as it lies in the rows, and the number of equal registers.
pub(super) fn edge(nodes: &mut Nodes, [later, earlier, counts]: [&[u8]; 3]) -> Result<(Edge, u32)> {
    let [intersection, union, equal] = counted(counts)?;
    Ok((Edge { later: nodes.number(later), earlier: nodes.number(earlier), intersection, union }, equal))
}

/// Intersection, union, equal registers.
pub(super) fn counted(counts: &[u8]) -> Result<[u32; 3]> {
    let counts: &[u8; 12] = counts.try_into().map_err(|_| damaged())?;
    Ok(std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| counts[4 * i + j]))))
}
