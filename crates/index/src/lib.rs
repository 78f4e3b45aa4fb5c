//! # benzer-index
//!
//! Collections of documents that can be searched for similar ones.
//!
//! ```text
//! insert: Document --Schema--> Features --Sketcher--> sketch words --Store::put
//! search: Document --the same--> sketch words --band keys--> Store::postings --> Store::records --> Match
//! ```
//!
//! An [`Index`] is a collection: its [`Settings`] and a [`Store`](store::Store) that keeps it. Inserting and searching make records through one function
//! ([`Recorder`]), so they cannot disagree. The store never sketches; the sketcher never stores.
//!
//! ```
//! use benzer_core::field::{Content, Document, Schema};
//! use benzer_index::{Index, Query, Settings, store};
//!
//! let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text", "n": 2}}}"#)?;
//! let index = Index::new(store::memory(Settings::new(schema)?)?)?;
//! let text = "the quick brown fox jumps over the lazy dog";
//! index.insert(&[Document::new("fox", [("body", Content::from(text))])])?;
//!
//! let answer = index.search(&Document::new("", [("body", Content::from(text))]), &Query::default())?;
//! assert_eq!(answer.matches[0].id, "fox");
//! assert_eq!(answer.matches[0].exact, Some(1.0));
//! assert!(answer.recall > 0.98);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Limits.** A collection has at most 4,294,967,295 documents in its life, replaced and removed ones counted. Fields need a family with aligned registers kept one by
//! one: sets and bags, not bottom-k.

mod best;
mod candidates;
mod clusters;
pub mod compare;
mod contain;
mod duplicates;
mod error;
mod exact;
mod explain;
mod hits;
mod index;
mod ladder;
mod layout;
mod list;
mod measure;
mod offer;
mod overlap;
#[cfg(feature = "image")]
mod picture;
pub mod portable;
mod probe;
mod query;
mod ranking;
mod recall;
mod record;
mod rule;
mod score;
mod search;
mod settings;
mod skew;
mod sort;
pub mod store;
mod texts;
mod third;
mod top;
mod triples;

pub use clusters::{Cluster, Member};
pub use error::{Error, Result};
pub use hits::Hits;
pub use index::{Index, Inserted};
pub use ladder::Containment;
pub use list::Listed;
pub use measure::Measure;
pub use probe::Asked;
pub use query::{Answer, Explanation, FieldMatch, Match, Piece, Query, RatioRecall};
pub use record::{Recorder, Records};
pub use rule::Rule;
pub use settings::{FieldSettings, Keeps, Layout, Settings};
pub use skew::Skew;
pub use texts::Texts;
pub use triples::Triple;
