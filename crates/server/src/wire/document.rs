//! Documents, and what became of them.

use std::collections::BTreeMap;

use benzer_core::field::{Content, Document};
use benzer_core::sketch::Sketch;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::ErrorDetail;

/// A document with its id.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "7", "fields": {"body": "the quick brown fox"}}))]
pub struct DocumentBody {
    /// Identifies the document within its collection.
    pub id: String,
    /// Contents by the names of fields.
    #[schema(value_type = Contents)]
    pub fields: BTreeMap<String, Content>,
    /// From when on it is gone, in seconds from now; only when it is inserted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub ttl: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incoming {
    id: String,
    #[serde(default)]
    fields: BTreeMap<String, Option<Content>>,
    #[serde(default)]
    ttl: Option<u64>,
}

impl Incoming {
    /// The document, and how long it lives, in seconds.
    pub fn document(self) -> (Document, Option<u64>) {
        (Document { id: self.id, fields: with_content(self.fields) }, self.ttl)
    }
}

fn with_content(fields: BTreeMap<String, Option<Content>>) -> BTreeMap<String, Content> {
    fields.into_iter().filter_map(|(name, content)| Some((name, content?))).collect()
}

/// A document that need not be in a collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"fields": {"body": "the quick brown fox"}}))]
pub struct AdHoc {
    /// Contents by the names of fields.
    #[schema(value_type = Contents)]
    pub fields: BTreeMap<String, Option<Content>>,
}

impl AdHoc {
    pub fn document(self) -> Document {
        Document { id: "\u{1}".to_owned(), fields: with_content(self.fields) }
    }
}

/// Contents by the names of fields: text, a list of strings and integers, or an object from value to count. `null` is a field that is missing.
#[derive(Debug, ToSchema)]
#[schema(value_type = BTreeMap<String, FieldContent>)]
pub struct Contents(#[allow(dead_code)] BTreeMap<String, FieldContent>);

/// What a field holds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub enum FieldContent {
    /// Running text.
    Text(String),
    /// Values.
    Values(Vec<FieldValue>),
    /// Values with their counts.
    Counts(BTreeMap<String, f64>),
}

/// One value.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub enum FieldValue {
    /// A string, taken as it is.
    Text(String),
    /// An integer: the same value as its decimal digits.
    Integer(i64),
}

/// A page of documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct DocumentList {
    /// In the order in which they came.
    pub documents: Vec<ListedDocument>,
    /// What to give as `from` for the next page, if there may be one.
    pub next: Option<u32>,
}

/// A document of a page.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedDocument {
    /// Its id.
    pub id: String,
    /// Its contents, where they are kept.
    #[schema(value_type = Option<Contents>)]
    pub fields: Option<BTreeMap<String, Content>>,
}

impl From<benzer_index::ListedDocument> for ListedDocument {
    fn from(listed: benzer_index::ListedDocument) -> Self {
        let benzer_index::ListedDocument { id, fields } = listed;
        Self { id, fields }
    }
}

/// Which page is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Where to go on: `next` of the page before.
    #[serde(default)]
    #[param(default = 0)]
    pub from: u32,
    /// Documents of a page.
    #[serde(default = "default_page")]
    #[param(default = 20, minimum = 1, maximum = 1000)]
    pub limit: usize,
}

const fn default_page() -> usize {
    20
}

/// What became of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    /// How many are in the collection now.
    pub inserted: usize,
    /// How many are not.
    pub rejected: usize,
    /// An answer for each document, by its position.
    pub results: Vec<DocumentResult>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// What became of a document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum DocumentResult {
    /// It is in the collection, and as durable as the store is.
    #[schema(title = "Inserted")]
    Inserted,
    /// It is not; the others are not touched by that.
    #[schema(title = "Rejected")]
    Rejected {
        /// Why.
        error: ErrorDetail,
    },
}

/// The sketches of a document.
#[derive(Debug, Serialize, ToSchema)]
pub struct DocumentSketch {
    /// The document.
    pub id: String,
    /// Field by field; an empty field has none.
    pub fields: Vec<FieldRegisters>,
}

/// The sketch of a field.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldRegisters {
    /// The field.
    pub field: String,
    /// What the sketch was made under: only sketches of the same spec can be compared.
    pub spec: String,
    /// Number of elements of the set.
    pub size: f64,
    /// The registers, as far as they are kept.
    pub registers: Vec<u64>,
    /// The sketch in Benzer's own encoding, as hexadecimal digits; `benzer` and its libraries read it.
    pub encoded: String,
}

impl FieldRegisters {
    pub fn of(field: String, sketch: &Sketch) -> Self {
        let n = sketch.spec().registers as usize;
        Self {
            field,
            spec: sketch.spec().to_string(),
            size: sketch.size().unwrap_or_default(),
            registers: (0..n).map_while(|j| sketch.register(j)).collect(),
            encoded: sketch.encode().iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}
