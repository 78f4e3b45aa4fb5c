//! What is asked of an index, and what it answers.

use std::collections::BTreeMap;

use benzer_core::estimate::Estimate;
use serde::{Deserialize, Serialize};

use crate::measure::Measure;
use crate::rule::Rule;

pub use crate::explain::{Explanation, Piece};

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
    /// Weights of fields for this search; the others keep theirs. A weight of 0 leaves a field out.
    pub weights: BTreeMap<String, f64>,
    /// Least similarities of single fields.
    pub thresholds: BTreeMap<String, f64>,
    /// How the fields decide together.
    pub rule: Rule,
    /// What is measured.
    pub measure: Measure,
    /// Containment: up to how many times as large one of two documents may be as the other; nothing means that of the collection.
    pub ratio: Option<f64>,
    /// The most similar documents, so many, whatever their similarity; instead of `threshold`, `limit` and `offset`.
    pub top: Option<usize>,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            threshold: None,
            limit: 10,
            offset: 0,
            fields: Vec::new(),
            explain: false,
            weights: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            rule: Rule::default(),
            measure: Measure::default(),
            ratio: None,
            top: None,
        }
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

/// What is found of documents of some size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioRecall {
    /// Up to how many times as large one of the two documents is as the other.
    pub ratio: f64,
    /// The share of documents at the threshold that are compared.
    pub recall: f64,
    /// The share of them that are shown.
    pub shown: f64,
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
