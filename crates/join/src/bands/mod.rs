//! Which documents to compare at all: those with the same text, and those that share a band key.

mod candidates;
mod cluster_numbering;
mod copies;
mod large_buckets;
mod lists;
mod memberships;
mod number_set;
mod repeats;

pub use candidates::{BandRules, Sketches, candidates};
pub use copies::{copies, copies_in_order};
pub use lists::CandidateLists;
pub(crate) use lists::Candidates;
pub use memberships::BucketCounts;
pub(crate) use repeats::RepeatFilter;
