//! Writing what a run found: the corpus without its duplicates, or with marks on them, and the evidence.

mod dictionary_column;
mod documents;
mod evidence;
mod pairs;
mod places;

pub(crate) use documents::{DocumentWriter, Fates, check_annotation};
pub use evidence::Estimates;
pub(crate) use evidence::{CLUSTERS, Counted, EVIDENCE, Span, clusters, evidence, similarity};
pub(crate) use pairs::{PAIRS, Pairs};
pub(crate) use places::{PLACES, PLACES_COLUMNS, places};
