//! What a kind of field uses when nothing else is asked for.

use serde::{Deserialize, Serialize};

/// The sketch and the threshold of a kind of field, unless others are given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// Registers of a sketch.
    pub registers: u32,
    /// Bits kept of each register.
    pub bits: u32,
    /// The similarity from which on documents count as similar.
    pub threshold: f64,
    /// The share of pairs at the threshold that must be found; bands and rows follow from it ([`crate::lsh::choose()`]).
    pub recall: f64,
}
