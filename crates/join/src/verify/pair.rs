//! What two documents share, and which pairs to keep.

use benzer_core::Threshold;

use crate::{Edge, Rank};

/// What two documents share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PairCount {
    /// Elements in both.
    pub intersection: u32,
    /// The elements of both together, which counts those in both twice.
    pub sizes: u32,
}

impl PairCount {
    /// The two as an edge.
    #[inline]
    pub fn edge(self, later: Rank, earlier: Rank) -> Edge {
        let Self { intersection, sizes } = self;
        Edge { later, earlier, intersection, union: sizes - intersection }
    }
}

/// Which pairs to keep.
#[derive(Debug, Clone, Copy)]
pub enum PairFilter {
    /// Those that reach a threshold.
    Reaching(Threshold),
    /// All of them.
    All,
}

impl PairFilter {
    /// True if a pair is to be kept.
    #[inline]
    pub(super) fn keeps(self, count: PairCount) -> bool {
        match self {
            Self::Reaching(threshold) => threshold.is_reached_by(count.intersection, count.sizes),
            Self::All => true,
        }
    }
}
