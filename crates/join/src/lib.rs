//! # benzer-join
//!
//! Which sets are similar: candidates, exact comparison, and who stays.
//!
//! Sets and sketches have numbers, their ranks. This crate does not know where their elements come from: it asks [`verify::Texts`], [`bands::Sketches`] and
//! [`exact::Source`] for them.
//!
//! - [`bands`]: the pairs that share a band key, and copies of one text.
//! - [`exact`]: all pairs that can reach the threshold, without sketches.
//! - [`verify`]: how similar candidates are, exactly.
//! - [`overlap`]: which documents contain which sets.
//! - [`resolve`]: who is kept, or what belongs together.

pub mod bands;
mod edge;
pub mod exact;
pub mod overlap;
mod prefetch;
pub mod resolve;
pub mod verify;

pub use edge::Edge;
pub use prefetch::Prefetch;
