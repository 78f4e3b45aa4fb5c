//! # benzer-sets
//!
//! Sets of anything: documents as sets of shingles, and set files; and what is asked of them.
//!
//! ```text
//! inputs --read, parse--> ids and elements --load--> SetStore: the sets by number --> pairs, triples
//!                   |---> features: sketches as rows of LIBSVM files
//!                   `---> sketches: files of sketches
//! ```
//!
//! **What it must not know**: what is done with pairs and triples. Who is a duplicate and who stays is the matter of benzer-dedup, how results are shown that of the command line.
//!
//! **The way through**: threads turn lines into ids and sorted elements, which the store takes; the exact join (`benzer_join::exact`) gives candidates by Jaccard similarity or containment, among one
//! or between two sides; their intersections are counted slice by slice, in order.
//!
//! - [`Source`] says what to read and what a document is a set of; [`SetFormat`] how a set file is written. Items are compared by their 64-bit hashes, as shingles are.
//!   With [`Source::transpose`] an item is a set, whose elements are the lines it is in.
//! - [`load()`] fills a [`SetStore`]: in memory as long as it fits, then in temporary files, which are looked at as memory. Sets that are scattered over their file (`docword`, and everything
//!   transposed) are put together by sorting, within the memory; of transposed files the names of all items are held.
//! - [`Resources`] is the memory, the threads and the folder of a run.
//! - [`pairs`]: all that reach a threshold; [`triples`] are triangles of them. [`features`] sketches batch by batch, and needs no store unless sets are scattered over their file; [`mod@sketches`] are
//!   files of sketches.

pub mod features;
mod format;
mod grouped;
mod kept;
mod load;
mod overlap;
pub mod pairs;
mod parse;
mod rejected;
mod resources;
pub mod sketches;
mod store;
pub mod triples;

pub use format::SetFormat;
pub use load::{Loaded, ReadListener, Source, load};
pub use parse::Content;
pub use rejected::Rejected;
pub use resources::Resources;
pub use store::SetStore;
