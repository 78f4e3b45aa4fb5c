//! Searches and what they find.

use benzer_index::{Answer, Query};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::document::AdHoc;
use super::estimate::Estimate;

/// What to look for: a document, or the id of one that is in the collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"document": {"fields": {"body": "the quick brown fox"}}, "limit": 10}))]
pub struct SearchRequest {
    /// A document that need not be in the collection; or give `id`.
    #[serde(default)]
    pub document: Option<AdHoc>,
    /// A document of the collection; or give `document`.
    #[serde(default)]
    pub id: Option<String>,
    /// The least similarity; that of the collection by default.
    #[serde(default)]
    #[schema(minimum = 0.05, maximum = 1.0)]
    pub threshold: Option<f64>,
    /// Matches to give.
    #[serde(default = "usual_limit")]
    #[schema(default = 10, minimum = 0, maximum = 1000)]
    pub limit: usize,
    /// Matches to pass over first.
    #[serde(default)]
    #[schema(default = 0)]
    pub offset: usize,
    /// The fields to compare; all by default.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Whether to say what the documents share, and what not; needs kept documents, and at most 100 matches.
    #[serde(default)]
    #[schema(default = false)]
    pub explain: bool,
}

const fn usual_limit() -> usize {
    10
}

impl SearchRequest {
    /// What the index understands.
    pub fn query(&self) -> Query {
        Query {
            threshold: self.threshold,
            limit: self.limit,
            offset: self.offset,
            fields: self.fields.clone(),
            explain: self.explain,
        }
    }
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The similar documents: the most similar first, then by id.
    pub matches: Vec<SearchMatch>,
    /// How many there are without limit and offset.
    pub n_matches: usize,
    /// How many documents were compared to find them.
    pub n_candidates: usize,
    /// The share of documents at the asked threshold that the index finds.
    pub recall: f64,
    /// What to know about this answer.
    pub warnings: Vec<String>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// A similar document.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchMatch {
    /// Its id.
    pub id: String,
    /// The similarity that decided: exact where documents are kept, else the estimate.
    pub similarity: f64,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the sketches say.
    pub estimate: Estimate,
    /// Field by field. A field that is empty in both documents is left out.
    pub fields: Vec<MatchedField>,
}

/// The similarity of one field.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchedField {
    /// Its name.
    pub field: String,
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the two share, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<MatchExplanation>,
}

/// What two documents share in a field.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchExplanation {
    /// Elements of both.
    pub n_shared: u64,
    /// Elements of the query only.
    pub n_query: u64,
    /// Elements of the match only.
    pub n_match: u64,
    /// Some of those in both, as they were written.
    pub shared: Vec<String>,
    /// Some that only the query has.
    pub query_only: Vec<String>,
    /// Some that only the match has.
    pub match_only: Vec<String>,
    /// Of pictures, the points that lie upon each other: column and row in the query, column and row in the match, in thousandths of their sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[u16; 4]>,
}

impl SearchAnswer {
    /// Of what the index found.
    pub fn of(answer: Answer, took_ms: f64) -> Self {
        let field = |field: benzer_index::FieldMatch| MatchedField {
            field: field.field,
            estimate: field.estimate.into(),
            exact: field.exact,
            explanation: field.explanation.map(|found| MatchExplanation {
                n_shared: found.n_shared,
                n_query: found.n_query,
                n_match: found.n_match,
                shared: found.shared,
                query_only: found.query_only,
                match_only: found.match_only,
                points: found.points,
            }),
        };
        let found = |found: benzer_index::Match| SearchMatch {
            id: found.id,
            similarity: found.similarity,
            exact: found.exact,
            estimate: found.estimate.into(),
            fields: found.fields.into_iter().map(field).collect(),
        };
        Self {
            matches: answer.matches.into_iter().map(found).collect(),
            n_matches: answer.n_matches,
            n_candidates: answer.n_candidates,
            recall: answer.recall,
            warnings: answer.warnings,
            took_ms,
        }
    }
}
