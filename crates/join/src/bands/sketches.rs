//! The sketches of documents, wherever they are.

use crate::Rank;

/// The sketches of documents by rank.
pub trait Sketches: Sync {
    /// The stored words of a sketch.
    fn sketch(&self, rank: Rank) -> &[u64];

    /// Whether any sketch is found in memory. Else they are looked at in the order in which they lie, where there are many.
    fn are_resident(&self) -> bool {
        true
    }

    /// The place of a sketch in the order in which they lie.
    fn place(&self, rank: Rank) -> u32 {
        rank.0
    }

    /// Whose sketch lies at a place.
    fn rank_at(&self, place: u32) -> Rank {
        Rank(place)
    }
}

impl<S: Sketches> Sketches for &S {
    #[inline]
    fn sketch(&self, rank: Rank) -> &[u64] {
        (*self).sketch(rank)
    }

    fn are_resident(&self) -> bool {
        (*self).are_resident()
    }

    fn place(&self, rank: Rank) -> u32 {
        (*self).place(rank)
    }

    fn rank_at(&self, place: u32) -> Rank {
        (*self).rank_at(place)
    }
}
