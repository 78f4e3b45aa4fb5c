//! What a search has found, and how sure it is to have found all.

mod best;
mod explain;
mod matcher;
mod matches;
#[cfg(feature = "image")]
mod picture;
mod recall;

use serde::Serialize;

pub(crate) use best::Best;
pub(crate) use explain::covered;
pub use explain::{Explanation, Piece};
pub(crate) use matcher::{Cutoff, Matcher};
pub use matches::{FieldMatch, Match};
pub use recall::RatioRecall;
pub(crate) use recall::{Stated, of_best};

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The similar documents: the most similar first, then by id.
    pub matches: Vec<Match>,
    /// How many there are without limit and offset.
    pub n_matches: usize,
    /// Documents that share a band key with the query: what was compared to find them.
    pub n_candidates: usize,
    /// The share of documents at the asked threshold that the bands find and that are compared. Of a search for the best: the share of the best that it has found, by what is known of the
    /// chance to find each; the best are those that comparing with all that is kept would give, documents or sketches.
    pub recall: f64,
    /// The share of documents exactly at the asked threshold that are shown. Where documents are kept, all that are compared; where only sketches are, estimates decide, and about half of them are
    /// estimated below it. The more similar a document is, the surer it is shown. Of a search for the best: the share of the truly most
    /// similar that it shows, which is less than `recall` where estimates rank.
    pub shown: f64,
    /// Containment: the same by size ratio. Documents that differ more in size are not looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recall_by_ratio: Vec<RatioRecall>,
    /// What to know about this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
