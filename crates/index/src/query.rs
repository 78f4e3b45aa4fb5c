//! What is asked of an index, and what it answers.

use benzer_core::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Query {
    /// The least similarity; nothing means that of the collection.
    pub threshold: Option<f64>,
    /// Matches to give.
    pub limit: usize,
    /// Matches to pass over first.
    pub offset: usize,
    /// The fields to compare; none means all.
    pub fields: Vec<String>,
    /// Whether to say what the documents share, and what not; needs kept documents.
    pub explain: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self { threshold: None, limit: 10, offset: 0, fields: Vec::new(), explain: false }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The similar documents: the most similar first, then by id.
    pub matches: Vec<Match>,
    /// How many there are without limit and offset.
    pub n_matches: usize,
    /// Documents that share a band key with the query: what was compared to find them.
    pub n_candidates: usize,
    /// The share of documents at the asked threshold that the bands find.
    pub recall: f64,
    /// What to know about this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A similar document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its id.
    pub id: String,
    /// The similarity that decided: exact where documents are kept, else the estimate.
    pub similarity: f64,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the sketches say, with standard error and interval.
    pub estimate: Estimate,
    /// Field by field. A field that is empty in both documents is left out.
    pub fields: Vec<FieldMatch>,
}

/// The similarity of one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldMatch {
    /// Its name.
    pub field: String,
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the two share, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// What two documents share in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Elements of both; for bags the sum of the smaller counts, rounded down.
    pub n_shared: u64,
    /// Elements of the query only.
    pub n_query: u64,
    /// Elements of the match only.
    pub n_match: u64,
    /// Some of those in both, as the user wrote them.
    pub shared: Vec<String>,
    /// Some that only the query has.
    pub query_only: Vec<String>,
    /// Some that only the match has.
    pub match_only: Vec<String>,
    /// Of pictures, the points that lie upon each other: column and row in the query, column and row in the match, in thousandths of their sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[u16; 4]>,
}
