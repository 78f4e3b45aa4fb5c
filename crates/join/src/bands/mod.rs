//! Which documents to compare at all: those with the same text, and those that share a band key.

mod bands;
mod buckets;
mod by_later;
mod copies;
mod crowds;
mod number_set;
mod relatives;

pub use bands::{Meetings, Sketches, candidates};
pub use buckets::Filter;
pub use by_later::{ByLater, Group};
pub use copies::{copies, copies_in_order};
