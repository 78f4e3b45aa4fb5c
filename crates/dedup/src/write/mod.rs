//! Writing what a run found: the corpus without its duplicates, or with marks on them.

mod verdict;

pub use verdict::{Annotation, Verdict};
