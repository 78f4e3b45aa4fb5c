//! # benzer-dedup
//!
//! The batch engine.
//!
//! ```text
//! read -> exact groups -> sketch -> candidates -> verify -> resolve -> write
//! ```
//!
//! - [`read`]: files, folders, globs and streams become batches of documents.
//! - [`sketches`]: a corpus as a file of sketches.
//! - [`spill`]: sorting more than fits into memory.
//! - [`files`]: files that survive a crash; [`integrity`]: whether what was written is still what is there.
//! - [`job`]: a whole deduplication; [`results`]: what one left, read back.
//! - [`sets`]: documents and set files as sets of elements; [`pairs`] and [`triples`]: all that are similar; [`features`]: vectors for linear models.
//! - `archive`: what earlier runs kept, for a run against it; `overlap`: exact counts of what documents share with it.
//! - `images` (cargo feature `image`): a whole deduplication of pictures.
//! - [`exchange`]: the same deduplication in stages, for an engine that moves the data.
//! - [`diff`]: what two texts have in common.
//! - [`places`]: where results may go.
//! - [`mod@write`]: the corpus without its duplicates, or with marks on them.
//!
//! ```
//! use benzer_dedup::read::{self, Inputs, ReadOptions};
//!
//! let corpus = b"{\"text\": \"to be\"}\n{\"text\": \"or not\\nto be\"}\nnot json\n";
//! let inputs = Inputs::new().stream("corpus", &corpus[..]);
//! let reader = read::open(inputs, ReadOptions::default())?;
//!
//! let mut texts = Vec::new();
//! for raw in reader {
//!     let batch = read::parse(raw?); // on any thread
//!     texts.extend(batch.documents().map(|document| document.text.to_owned()));
//!     assert_eq!(batch.rejects()[0].line, 3);
//! }
//! assert_eq!(texts, ["to be", "or not\nto be"]);
//! # Ok::<(), benzer_dedup::Error>(())
//! ```

mod archive;
mod audit;
mod corpus;
pub mod diff;
mod documents;
mod edges;
mod error;
pub mod exchange;
pub mod features;
pub mod files;
mod group;
mod guests;
#[cfg(feature = "image")]
pub mod images;
mod ingest;
pub mod integrity;
pub mod job;
mod join;
mod keep;
mod overlap;
pub mod pairs;
mod pipeline;
pub mod places;
mod ranking;
pub mod read;
mod remote;
mod report;
mod resolve;
pub mod results;
pub mod sets;
pub mod sketches;
pub mod spill;
mod threshold;
pub mod triples;
mod verify;
mod watch;
pub mod write;

pub use error::{Error, Result};
pub use join::Measure;
pub use keep::Keep;
pub use resolve::Cluster;
pub use threshold::Threshold;
