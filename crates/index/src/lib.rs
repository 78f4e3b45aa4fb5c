//! # benzer-index
//!
//! Collections of documents that can be searched for similar ones: an [`Index`] is a [`Store`](store::Store) and the [`Settings`] it was made with.
//!
//! **What it must not know**: where requests come from (HTTP, a command line, Python), and how whole corpora are deduplicated.
//!
//! **The way through**: the modules are a line, and each knows only those before it.
//!
//! ```text
//! settings    what a collection is: its fields, how they are sketched, and under which band keys a record is filed
//! record      from a document to what a store keeps: Document --Schema--> Features --Sketcher--> sketch words
//! store       keeps records in memory, on disk or on Redis, and finds them by their band keys
//! query       a Query as it is asked, and a ResolvedQuery: what it means for this collection
//! candidates  the records that share a band key with the query
//! score       how similar each of them is, by its sketch or exactly
//! answer      the best of them as Matches, and which share of the truth they are
//! index       all of it together: Index::insert, Index::search
//! ```
//!
//! Inserting and searching make records through one function ([`Recorder`]), so they cannot disagree. The store never sketches; the sketcher never stores. Beside the line stand [`export`]
//! and [`compare`].
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

mod answer;
mod bit_set;
mod candidates;
pub mod compare;
mod error;
pub mod export;
mod hints;
mod index;
mod query;
mod record;
mod score;
mod settings;
pub mod store;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Explanation, FieldMatch, Match, Piece, RatioRecall};
pub use error::{Error, Result};
pub use index::{BatchMatches, BucketStats, Cluster, Index, Inserted, ListedDocument, Member, Triple};
pub use query::{Measure, Query, QueryDocument, Rule};
pub use record::{DocNo, Record, Recorder, Records, Texts};
pub use settings::{BandRange, Containment, FieldSettings, Keeps, Layout, Settings};
