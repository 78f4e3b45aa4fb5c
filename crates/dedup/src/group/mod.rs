//! Which documents to compare at all: those with the same text, and those that share a band key.

mod bands;
mod buckets;
mod copies;

pub(crate) use bands::{Candidates, Sketches, candidates, in_parallel};
pub(crate) use copies::copies;
