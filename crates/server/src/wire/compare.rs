//! Two or three documents side by side.

use benzer_index::compare;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::document::AdHoc;
use super::estimate::Estimate;
use super::schema::Fields;

/// Which documents to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"documents": [
    {"document": {"fields": {"text": "the quick brown fox jumps over the dog"}}},
    {"document": {"fields": {"text": "the quick brown fox jumps over the cat"}}}
]}))]
pub struct CompareRequest {
    /// Two or three documents, or ids of the collection.
    #[schema(min_items = 2, max_items = 3)]
    pub documents: Vec<Comparand>,
    /// The collection of the ids, whose schema is used.
    #[serde(default)]
    pub collection: Option<String>,
    /// The schema, where no collection is named; one field `text` of text by default.
    #[serde(default)]
    pub fields: Option<Fields>,
    /// Whether to give the texts in pieces, with the documents that have them too.
    #[serde(default)]
    #[schema(default = false)]
    pub passages: bool,
}

/// A document, or an id of the collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparand {
    /// A document; or give `id`.
    #[serde(default)]
    pub document: Option<AdHoc>,
    /// A document of the collection; or give `document`.
    #[serde(default)]
    pub id: Option<String>,
}

/// All that there is to say about two or three documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompareAnswer {
    /// The similarity of whole documents, pair by pair.
    pub pairs: Vec<WholePair>,
    /// Field by field. A field that is empty in all documents is left out.
    pub fields: Vec<ComparedField>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// Two whole documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct WholePair {
    /// Their places in the list, from 0.
    #[schema(value_type = Vec<usize>)]
    pub of: [usize; 2],
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact similarity, where contents are known.
    pub exact: Option<f64>,
}

/// One field of all documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComparedField {
    /// Its name.
    pub field: String,
    /// The number of elements of each document.
    pub sizes: Vec<f64>,
    /// Pair by pair.
    pub pairs: Vec<ComparedPair>,
    /// All three, if they are three.
    pub three_way: Option<ThreeWay>,
    /// Every cell of the Venn diagram.
    pub cells: Vec<VennCell>,
    /// For each document its text in pieces; only if it was asked for.
    pub passages: Option<Vec<Vec<Passage>>>,
}

/// One field of two documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComparedPair {
    /// Their places in the list, from 0.
    #[schema(value_type = Vec<usize>)]
    pub of: [usize; 2],
    /// Estimated resemblance.
    pub estimate: Estimate,
    /// Estimated share of each that is in the other.
    #[schema(value_type = Vec<Estimate>)]
    pub containment: [Estimate; 2],
    /// Estimated number of elements in both.
    pub intersection: Estimate,
    /// The exact numbers, where contents are known.
    pub exact: Option<ExactPair>,
}

/// Exact numbers of two sets.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExactPair {
    /// Resemblance; nothing if both are empty.
    pub jaccard: Option<f64>,
    /// The share of each that is in the other; nothing if it is empty.
    #[schema(value_type = Vec<Option<f64>>)]
    pub containment: [Option<f64>; 2],
    /// Elements in both.
    pub intersection: f64,
    /// Elements in any.
    pub union: f64,
}

/// Three-way resemblance: elements in all three over elements in any.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThreeWay {
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact one, where contents are known.
    pub exact: Option<f64>,
}

/// The elements that lie in exactly these documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct VennCell {
    /// Places of the documents in the list, from 0.
    pub of: Vec<usize>,
    /// How many there are by the sketches, where those can tell.
    pub estimate: Option<Estimate>,
    /// How many there are, where contents are known.
    pub exact: Option<f64>,
}

/// A piece of a text.
#[derive(Debug, Serialize, ToSchema)]
pub struct Passage {
    /// The piece, as it was written.
    pub text: String,
    /// Places of the other documents that have it too.
    pub of: Vec<usize>,
}

impl CompareAnswer {
    pub fn of(compared: compare::Comparison, took_ms: f64) -> Self {
        let whole = |pair: compare::Together| WholePair {
            of: pair.of,
            estimate: pair.estimate.into(),
            exact: pair.exact,
        };
        Self {
            pairs: compared.pairs.into_iter().map(whole).collect(),
            fields: compared.fields.into_iter().map(ComparedField::from).collect(),
            took_ms,
        }
    }
}

impl From<compare::ComparedField> for ComparedField {
    fn from(field: compare::ComparedField) -> Self {
        let cell = |cell: compare::Cell| VennCell {
            of: cell.of,
            estimate: cell.estimate.map(Estimate::from),
            exact: cell.exact,
        };
        let passage = |passage: compare::Passage| Passage { text: passage.text, of: passage.of };
        let passages = field
            .passages
            .map(|all| all.into_iter().map(|text| text.into_iter().map(passage).collect()).collect());
        Self {
            field: field.field,
            sizes: field.sizes,
            pairs: field.pairs.into_iter().map(ComparedPair::from).collect(),
            three_way: field
                .three_way
                .map(|all| ThreeWay { estimate: all.estimate.into(), exact: all.exact }),
            cells: field.cells.into_iter().map(cell).collect(),
            passages,
        }
    }
}

impl From<compare::ComparedPair> for ComparedPair {
    fn from(pair: compare::ComparedPair) -> Self {
        Self {
            of: pair.of,
            estimate: pair.estimate.into(),
            containment: pair.containment.map(Estimate::from),
            intersection: pair.intersection.into(),
            exact: pair.exact.map(|exact| ExactPair {
                jaccard: exact.jaccard,
                containment: exact.containment,
                intersection: exact.intersection,
                union: exact.union,
            }),
        }
    }
}
