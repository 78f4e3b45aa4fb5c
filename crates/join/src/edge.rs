//! A pair of documents that were compared.

use crate::Rank;

/// Two documents with their exact similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Edge {
    /// The one that is later in keep order.
    pub later: Rank,
    /// The other.
    pub earlier: Rank,
    /// Elements in both.
    pub intersection: u32,
    /// Elements in either.
    pub union: u32,
}

impl Edge {
    /// The exact similarity. Documents without elements are a pair only if they have the same text: 1.
    pub fn similarity(&self) -> f64 {
        match self.union {
            0 => 1.0,
            union => f64::from(self.intersection) / f64::from(union),
        }
    }
}
