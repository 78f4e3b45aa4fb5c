//! Searches and what they find.

use std::collections::BTreeMap;

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
    #[serde(default = "default_limit")]
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
    /// Weights of fields for this search; the others keep theirs. 0 leaves a field out.
    #[serde(default)]
    pub weights: BTreeMap<String, f64>,
    /// Least similarities of single fields.
    #[serde(default)]
    pub thresholds: BTreeMap<String, f64>,
    /// How the fields decide together.
    #[serde(default)]
    #[schema(default = "mean")]
    pub rule: Rule,
    /// What is measured. Containment needs a collection that was made for it.
    #[serde(default)]
    #[schema(default = "jaccard")]
    pub measure: Measure,
    /// Containment: up to how many times as large one of two documents may be as the other; that of the collection by default.
    #[serde(default)]
    #[schema(minimum = 1.0)]
    pub ratio: Option<f64>,
    /// The most similar documents, so many, whatever their similarity; instead of `threshold`, `limit` and `offset`.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    pub top: Option<usize>,
    /// A second document of the collection: finds those that have most in common with both, by three-way resemblance.
    #[serde(default)]
    pub with: Option<String>,
}

/// How fields decide together.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Their weighted mean reaches the threshold, and every field its own where it was given one.
    #[default]
    Mean,
    /// Some field reaches its threshold.
    Any,
    /// Every field reaches its threshold.
    All,
}

/// What is measured.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Elements in both over elements in any.
    #[default]
    Jaccard,
    /// Documents that contain this one: its share that is in them.
    Containing,
    /// Documents that this one contains: their share that is in it.
    Contained,
}

const fn default_limit() -> usize {
    Query::DEFAULT_LIMIT
}

impl SearchRequest {
    pub fn query(&self) -> Query {
        Query {
            threshold: self.threshold,
            limit: self.limit,
            offset: self.offset,
            fields: self.fields.clone(),
            explain: self.explain,
            weights: self.weights.clone(),
            thresholds: self.thresholds.clone(),
            rule: match self.rule {
                Rule::Mean => benzer_index::Rule::Mean,
                Rule::Any => benzer_index::Rule::Any,
                Rule::All => benzer_index::Rule::All,
            },
            measure: match self.measure {
                Measure::Jaccard => benzer_index::Measure::Jaccard,
                Measure::Containing => benzer_index::Measure::Containing,
                Measure::Contained => benzer_index::Measure::Contained,
            },
            ratio: self.ratio,
            top: self.top,
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
    /// The share of documents at the asked threshold that the index finds and compares; with `top`, the share of the most similar that comparing with all documents, or all sketches where only those are kept, would give.
    pub recall: f64,
    /// The share of documents exactly at the asked threshold that are shown. Where only sketches are kept, estimates decide, and about half of them are estimated below it. With `top`, about the share of the truly most similar that are shown.
    pub shown: f64,
    /// Containment: the same by size ratio. Documents that differ more in size are not looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recall_by_ratio: Vec<RatioRecall>,
    /// What to know about this answer.
    pub warnings: Vec<String>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// What is found of documents of some size.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatioRecall {
    /// Up to how many times as large one of the two documents is as the other.
    pub ratio: f64,
    /// The share of documents at the threshold that are compared.
    pub recall: f64,
    /// The share of them that are shown.
    pub shown: f64,
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
    /// Some of those in both.
    pub shared: Vec<Piece>,
    /// Some that only the query has.
    pub query_only: Vec<Piece>,
    /// Some that only the match has.
    pub match_only: Vec<Piece>,
    /// Everything of the query that shared shingles cover, as ranges of characters; for values their places in the list.
    pub query_covered: Vec<[usize; 2]>,
    /// The same of the match.
    pub match_covered: Vec<[usize; 2]>,
    /// Of pictures, the points that lie upon each other: column and row in the query, column and row in the match, in thousandths of their sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[u16; 4]>,
}

/// A shingle or a value.
#[derive(Debug, Serialize, ToSchema)]
pub struct Piece {
    /// As it was written.
    pub text: String,
    /// Where it first is in the query: from which character on, and up to which; for values the place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_query: Option<[usize; 2]>,
    /// Where it first is in the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_match: Option<[usize; 2]>,
}

impl From<benzer_index::Piece> for Piece {
    fn from(piece: benzer_index::Piece) -> Self {
        Self { text: piece.text, in_query: piece.in_query, in_match: piece.in_match }
    }
}

impl SearchAnswer {
    pub fn of(answer: Answer, took_ms: f64) -> Self {
        let pieces = |found: Vec<benzer_index::Piece>| found.into_iter().map(Piece::from).collect();
        let field = |field: benzer_index::FieldMatch| MatchedField {
            field: field.field,
            estimate: field.estimate.into(),
            exact: field.exact,
            explanation: field.explanation.map(|found| MatchExplanation {
                n_shared: found.n_shared,
                n_query: found.n_query,
                n_match: found.n_match,
                shared: pieces(found.shared),
                query_only: pieces(found.query_only),
                match_only: pieces(found.match_only),
                query_covered: found.query_covered,
                match_covered: found.match_covered,
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
            shown: answer.shown,
            recall_by_ratio: answer
                .recall_by_ratio
                .iter()
                .map(|found| RatioRecall { ratio: found.ratio, recall: found.recall, shown: found.shown })
                .collect(),
            warnings: answer.warnings,
            took_ms,
        }
    }
}
