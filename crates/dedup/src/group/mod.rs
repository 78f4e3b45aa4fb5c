//! Which documents to compare at all: those with the same text, and those that share a band key.

mod bands;
mod buckets;
mod by_later;
mod copies;
mod crowds;
mod number_set;
mod relatives;
mod spilled;

pub(crate) use bands::{Meetings, Sketches, candidates, in_parallel};
pub(crate) use buckets::Filter;
pub(crate) use by_later::{ByLater, Group};
pub(crate) use copies::{copies, copies_in_order};
pub(crate) use spilled::{Room, candidates as spilled_candidates};
