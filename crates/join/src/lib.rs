//! # benzer-join
//!
//! Which sets are similar: candidates, exact comparison, and who stays.
//!
//! ```text
//! sketches --bands--> candidates --verify--> edges --resolve--> removals
//! sets --exact--> candidates               sets, documents --overlap--> how much each has of each
//! ```
//!
//! **What it must not know**: inputs, files of results, and what a document is. Sets and sketches have numbers, their [`Rank`]s: the lower one is earlier in keep order. It asks [`verify::Texts`],
//! [`bands::Sketches`] and [`exact::Source`] for what is compared; what does not fit into memory goes through `benzer_flow::sort`, or into temporary files by what is looked at together.
//!
//! **The way through**:
//!
//! - [`bands`]: the pairs that share a band key, and copies of one text.
//! - [`exact`]: all pairs that can reach the threshold, without sketches.
//! - [`verify`]: how similar candidates are, exactly, as [`Edge`]s.
//! - [`overlap`]: which documents contain which sets.
//! - [`resolve`]: who is kept, or what belongs together.
//! - [`Prefetch`]: what is asked for before it is looked at; on millions of documents most of the time would be waiting for memory.

pub mod bands;
mod bit_set;
mod edge;
mod estimates;
pub mod exact;
pub mod overlap;
mod prefetch;
mod rank;
pub mod resolve;
pub mod verify;

pub use edge::Edge;
pub use estimates::Estimates;
pub use prefetch::Prefetch;
pub use rank::Rank;
