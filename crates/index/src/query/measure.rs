//! What a search measures: how similar two sets are, or how much of one lies in the other.

use benzer_core::Features;
use benzer_core::estimate::{Estimate, size};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What is measured between the query and a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Elements in both over elements in any.
    #[default]
    Jaccard,
    /// Documents that contain the query: the share of the query's elements that they have.
    Containing,
    /// Documents that the query contains: the share of their elements that it has.
    Contained,
}

impl Measure {
    /// Which of (query, document) must lie in the other; neither for similarity.
    fn inner(self) -> Option<usize> {
        match self {
            Self::Jaccard => None,
            Self::Containing => Some(0),
            Self::Contained => Some(1),
        }
    }

    /// True if a field of these sizes says nothing: for similarity if it is empty in both documents, for containment if it is in the one that must lie in the other.
    #[inline]
    pub(crate) fn is_void(self, sizes: [f64; 2]) -> bool {
        match self.inner() {
            None => sizes[0] <= 0.0 && sizes[1] <= 0.0,
            Some(inner) => sizes[inner] <= 0.0,
        }
    }

    /// The exact value of a field of the query and of a document; nothing if it says nothing.
    pub(crate) fn exact(self, query: &Features, found: &Features) -> Option<f64> {
        self.of_common(query.intersection(found), [query.size(), found.size()])
    }

    /// The value of a field of the query and of a document with so many elements in common; nothing if it says nothing.
    pub(crate) fn of_common(self, common: f64, sizes: [f64; 2]) -> Option<f64> {
        let all = self.inner().map_or(sizes[0] + sizes[1] - common, |inner| sizes[inner]);
        (!self.is_void(sizes)).then(|| common / all)
    }

    /// The estimate that follows from one of the similarity.
    pub(crate) fn estimate(self, jaccard: Estimate, sizes: [f64; 2]) -> Result<Estimate> {
        match self.inner() {
            None => Ok(jaccard),
            Some(inner) => Ok(size::containment(&jaccard, sizes)?[inner]),
        }
    }

    /// The value of the measure at a Jaccard similarity.
    pub(crate) fn value_at(self, jaccard: f64, sizes: [f64; 2]) -> f64 {
        self.inner().map_or(jaccard, |inner| size::containment_at(jaccard, sizes)[inner].min(1.0))
    }

    /// The Jaccard similarity of two sets at a value of the measure.
    pub(crate) fn jaccard_at(self, value: f64, sizes: [f64; 2]) -> f64 {
        match self.inner() {
            None => value,
            Some(inner) => {
                let common = (value * sizes[inner]).min(sizes[0].min(sizes[1]));
                size::jaccard_of_intersection(common, sizes)
            }
        }
    }
}
