//! Writing what a run found: the corpus without its duplicates, or with marks on them, and the evidence.
//!
//! Lines and records are copied as they were read ([`Document::raw`](crate::read::Document::raw)), with marks by
//! [`annotate_json`] and [`annotate_csv`]. Rows of tables are copied by [`table::rewrite`].

mod annotate;
mod corpus;
mod dictionary_column;
mod documents;
mod evidence;
mod pairs;
mod places;
mod rejects;
mod result_table;
pub mod table;
mod verdict;

pub use annotate::{ANNOTATIONS, annotate_csv, annotate_csv_header, annotate_json};
pub(crate) use documents::{DocumentWriter, Fates, check_annotation};
pub(crate) use evidence::{CLUSTERS, Counted, EVIDENCE, Estimates, Span, clusters, evidence, similarity};
pub(crate) use pairs::{PAIRS, Pairs};
pub(crate) use places::{PLACES, PLACES_COLUMNS, places};
pub use rejects::reject_line;
pub(crate) use rejects::reject_lines;
pub use result_table::{Cell, Kind, Table};
pub use verdict::{Annotation, Verdict};
