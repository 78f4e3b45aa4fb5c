//! Locality-sensitive hashing: which pairs to compare at all.
//!
//! Registers are cut into bands of `rows`; two documents share a band key when all registers of at least one band agree.
//!
//! | module | question |
//! |---|---|
//! | [`curve`] | how likely is a pair of similarity J to share a band? |
//! | [`banding`] | what are the band keys of a stored sketch, and how many documents can they tell apart? |
//! | [`choose()`] | which bands x rows reach a recall at the threshold with the fewest candidates? |
//! | [`expected`] | how many candidate pairs will there be? |
//! | [`prefilter`] | how many equal registers must a candidate have? |
//! | [`bucket`] | which pairs does a bucket give? |
//! | [`tables`], [`forest`] | which sets share a whole band, or the longest part of one, with this one? |
//! | [`ensemble`] | which sets contain this one, whatever their sizes? |
//!
//! # The candidate graph
//!
//! **The candidate graph is defined here, not incidental.** (x, y) is a candidate iff they share a band key, their equal
//! registers are at least m(T, k) (a prefilter whose loss at T is at most 1e-3), and the bucket rule holds: in a bucket larger
//! than C (default 64), each member is paired only with the first C members in keep order. The same integers locally and on
//! Spark; buckets over C are counted in the report.
//!
//! The three parts are [`Banding::keys`], [`Prefilter`] and [`bucket::pairs`]. A document without features has a sketch but is
//! nobody's candidate: its caller leaves it out before banding.

pub mod banding;
pub mod bucket;
pub mod choose;
pub mod curve;
pub mod ensemble;
pub mod expected;
pub mod forest;
pub mod prefilter;
pub mod tables;

pub use banding::{BandKey, Banding};
pub use choose::{Target, choose};
pub use curve::Shape;
pub use expected::Expected;
pub use forest::Forest;
pub use prefilter::Prefilter;
pub use tables::Tables;
