//! Outputs in the format of their input: documents without those that were removed, or with marks on them.
//!
//! Lines and records are copied as they were read ([`Document::raw`](crate::read::Document::raw)), with marks by
//! [`annotate_json`] and [`annotate_csv`]. Rows of tables are copied by [`table::rewrite`].

mod annotate;
mod compress;
mod rejects;
pub mod table;
mod verdict;

pub use annotate::{ANNOTATIONS, annotate_csv, annotate_csv_header, annotate_json};
pub use compress::{CompressedWriter, Compressor, part_bytes};
pub use rejects::reject_lines;
pub use verdict::{Annotation, Verdict};
