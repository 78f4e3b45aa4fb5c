//! Exact overlaps of documents with many sets: an inverted index of the sets, through which the documents go one by one.
//!
//! Every document that shares an element with a set meets it, so nothing is missed. A set of 20 elements in a document of 5,000, whose Jaccard similarity of 0.004 no
//! sketch sees, is found as surely as any.

mod index;
mod span;

pub use index::{Counter, Index, IndexBuilder};
pub use span::span;
