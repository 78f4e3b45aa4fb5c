//! What is asked of an index, and what that means for its collection.

mod criteria;
mod mean;
mod measure;
mod probe;
mod resolved;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

pub(crate) use criteria::Criteria;
pub(crate) use mean::mean;
pub use measure::Measure;
pub(crate) use probe::Probe;
pub use probe::QueryDocument;
pub(crate) use resolved::ResolvedQuery;

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

/// When the fields of two documents match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// If their weighted mean reaches the threshold, and every field its own where it was given one.
    #[default]
    Mean,
    /// If some field reaches its threshold. The similarity is that of the most similar field.
    Any,
    /// If every field reaches its threshold. The similarity is that of the least similar field.
    All,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            threshold: None,
            limit: Self::DEFAULT_LIMIT,
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

impl Query {
    /// Matches that are given where nothing is said.
    pub const DEFAULT_LIMIT: usize = 10;

    /// Matches to give, in whichever way they are asked for.
    pub fn n_wanted(&self) -> usize {
        self.top.unwrap_or(self.limit)
    }

    /// Refuses what makes no sense for any collection. Every search does so first.
    ///
    /// # Errors
    /// A weight, a threshold or a number out of range; parameters that exclude each other.
    pub fn check(&self) -> Result<()> {
        if let Some(weight) = self.weights.values().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::parameter("weights", "finite and not negative", weight));
        }
        self.thresholds.values().try_for_each(|threshold| check_share("thresholds", *threshold))?;
        self.threshold.map_or(Ok(()), |threshold| check_share("threshold", threshold))?;
        if let (Some(ratio), Measure::Jaccard) = (self.ratio, self.measure) {
            return Err(Error::parameter("ratio", "used with a search for containment", ratio));
        }
        let is_alone = self.threshold.is_none()
            && self.thresholds.is_empty()
            && self.offset == 0
            && self.measure == Measure::Jaccard;
        match self.top {
            Some(n) if n == 0 || !is_alone => {
                Err(Error::parameter("top", "at least 1, without thresholds, offset and containment", n))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what makes no sense for a search by two documents.
    ///
    /// # Errors
    /// Containment, or a number of the most similar.
    pub fn check_three_way(&self) -> Result<()> {
        match self.measure == Measure::Jaccard && self.top.is_none() {
            true => Ok(()),
            false => Err(Error::parameter("with", "used without containment and top", "one of them")),
        }
    }
}

/// Refuses what is no similarity to reach.
pub(crate) fn check_share(name: &'static str, value: f64) -> Result<()> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(()),
        false => Err(Error::parameter(name, "above 0 and at most 1", value)),
    }
}
