//! Which documents to compare at all: those with the same text, and those that share a band key.

mod candidates;
mod copies;
mod crowds;
mod equal_keys;
mod gathered;
mod held;
mod lister;
mod lists;
mod memberships;
mod number_set;
mod repeats;
mod sketches;

pub use candidates::{BandCandidates, BandRules, candidates, max_bytes_per_document};
pub use copies::{copies, groups};
pub use lists::CandidateLists;
pub(crate) use lists::Candidates;
pub use memberships::BucketCounts;
pub(crate) use repeats::RepeatFilter;
pub use sketches::Sketches;
