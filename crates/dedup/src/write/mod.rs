//! Writing what a run found: the corpus without its duplicates, or with marks on them, and the evidence.

mod dictionary_column;
mod documents;
mod evidence;
mod kept;
mod outputs;
mod pairs;
mod places;
mod verdicts;

pub(crate) use documents::{DocumentWriter, check_annotation};
pub(crate) use evidence::{CountKind, Excerpt, clusters, evidence, similarity};
pub(crate) use pairs::PairsWriter;
pub(crate) use places::places;
pub(crate) use verdicts::RunVerdicts;
