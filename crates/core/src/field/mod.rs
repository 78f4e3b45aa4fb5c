//! Fields: how the content of a document becomes [`Features`](crate::Features).
//!
//! ```text
//! Document --Schema--> { field name: Features }
//! ```
//!
//! A [`Schema`] names the fields of a [`Document`] and gives each a kind:
//!
//! | kind | content | element |
//! |---|---|---|
//! | [`values`] | a list of strings and integers, or an object of counts | one value |
//! | [`text`] | a string | a shingle of words, characters or bytes |
//! | `image` (cargo feature `image`) | a JPEG, PNG, WebP, GIF, BMP or TIFF file in base64 | a visual word, or a contrast of a thumbnail |
//!
//! Every kind turns its content into features and does nothing else, so a new kind is one file, a variant of
//! [`Kind`] and an arm in [`Schema::features`]. Which elements a kind makes is part of the format: the
//! [`PipelineId`] of a field names everything that decides them, and sketches with different ids cannot be
//! compared.
//!
//! ```
//! use benzer_core::field::{Content, Document, Schema};
//!
//! let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text", "n": 2}}}"#).unwrap();
//! let document = Document::new("a", [("body", Content::from("The quick, brown fox."))]);
//! let features = schema.features(&document).unwrap();
//! assert_eq!(features["body"].len(), 3); // "the quick", "quick brown", "brown fox"
//! ```

mod document;
#[cfg(feature = "image")]
pub mod image;
mod pipeline;
mod schema;
pub mod text;
pub mod values;

use serde::{Deserialize, Serialize};

pub use document::{Content, Document, Value};
pub use pipeline::PipelineId;
pub use schema::{FieldSpec, Kind, Schema};

/// The sketch and the threshold of a kind of field, unless others are given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// Registers of a sketch.
    pub registers: u32,
    /// Bits kept of each register.
    pub bits: u32,
    /// The similarity from which on documents count as similar.
    pub threshold: f64,
    /// The share of pairs at the threshold that must be found; bands and rows follow from it ([`crate::lsh::choose()`]).
    pub recall: f64,
}
