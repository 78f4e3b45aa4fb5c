//! Locality-sensitive hashing: how likely banding is to find a pair.
//!
//! Registers are cut into bands of `rows`; two documents are candidates when all registers of at least one band
//! agree. [`curve`] holds the mathematics of that rule: the probability of becoming a candidate, its thresholds, and
//! the choice of bands and rows.

pub mod curve;
