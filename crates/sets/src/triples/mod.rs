//! All triples of sets whose three-way resemblance |A n B n C| / |A u B u C| reaches a threshold.
//!
//! ```text
//! SetStore --pairs--> edges with their intersections --triangles, round by round--> bound --(sketches)--> exact --sort--> triples in order
//! ```
//!
//! A three-way resemblance is at most the least of its three pair similarities, so every triple is a triangle of pairs that reach the threshold, which the exact
//! join finds all. The pairs' intersections bound it further: with x elements in all three it is x / (x + rest), the rest is known from sizes and pairs, and x is at
//! most the least of the three intersections. What is left is measured, by [`Verify`]:
//!
//! - exactly: nothing is missed and nothing is guessed;
//! - exactly, behind a filter of b-bit sketches (three-way b-bit hashing, equation 8): a triple goes when its estimate is 4 standard deviations below the
//!   threshold. That loses less than 1 in 1,000 of the triples right at the threshold, and almost none above;
//! - by the estimate alone, with its 95% interval.
//!
//! Edges that do not fit are in a temporary file; in each round as many as fit are held, those of a set together, and all later ones pass by (Hu, Tao and Chung 2013).

mod edges;
mod find;
mod sketch;
#[cfg(test)]
mod tests;

use benzer_core::Threshold;
use benzer_core::estimate::Measured;
use benzer_core::estimate::three_way::ThreeWayBits;
use benzer_core::sketch::{Packing, SketchSpec};
use benzer_io::Result;

pub use find::find;

/// How a triple is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// By its elements.
    #[default]
    Exact,
    /// By its elements, where the sketches do not rule it out.
    Filter,
    /// By its sketches.
    Estimate,
}

/// Which triples to find, and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The least three-way resemblance.
    pub threshold: Threshold,
    /// How a triple is measured.
    pub verify: Verify,
    /// The sketches of [`Verify::Filter`] and [`Verify::Estimate`]: at least 2 bits of aligned registers.
    pub spec: SketchSpec,
}

/// Three sets by their numbers, in order, and how similar they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triple {
    /// The sets.
    pub sets: [u32; 3],
    /// Elements in all three and in any; not with [`Verify::Estimate`].
    pub exact: Option<(u32, u64)>,
    /// What the sketches say, with [`Verify::Estimate`].
    pub estimate: Option<Measured>,
}

/// What a search gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Pairs that reach the threshold.
    pub n_pairs: u64,
    /// Triangles of them.
    pub n_triangles: u64,
    /// Triangles that the sketches of [`Verify::Filter`] leave; without them, all.
    pub n_sketched: u64,
    /// Triangles that the intersections of the pairs leave.
    pub n_candidates: u64,
    /// Triples that were measured exactly.
    pub n_verified: u64,
    /// Triples that reach the threshold.
    pub n_triples: u64,
}

impl Wanted {
    /// The bits of the registers.
    fn bits(&self) -> Result<ThreeWayBits> {
        let bits = match self.spec.packing {
            Packing::Bits(bits) => bits.get(),
            _ => 1,
        };
        Ok(ThreeWayBits::new(bits)?)
    }
}
