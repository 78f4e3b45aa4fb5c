//! Writing what a run found: the corpus without its duplicates, or with marks on them, and the evidence.

mod annotate;
mod corpus;
mod evidence;
mod rejects;
mod tables;
mod verdict;

pub use annotate::annotate_json;
pub(crate) use corpus::LineWriter;
pub(crate) use evidence::{Estimates, Pairs, clusters, evidence, similarity};
pub use rejects::reject_line;
pub(crate) use rejects::reject_lines;
pub use verdict::{Annotation, Verdict};
