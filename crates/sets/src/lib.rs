//! # benzer-sets
//!
//! Sets of anything: documents as sets of shingles, and set files.
//!
//! ```text
//! inputs --read, parse--> ids and elements --load--> SetStore: the sets by number
//! ```
//!
//! - [`Source`] says what to read and what a document is a set of; [`SetFormat`] how a set file is written.
//! - [`load()`] fills a [`SetStore`]: in memory as long as it fits, then in temporary files.
//! - [`Resources`] is the memory, the threads and the folder of a run.
//! - Items are compared by their 64-bit hashes, as shingles are. With [`Source::transpose`] an item is a set, whose elements are the lines it is in.
//!
//! Sets that are scattered over their file (`docword`, and everything transposed) are put together by sorting, within the memory; of transposed files the names of
//! all items are held.

pub mod features;
mod format;
mod grouped;
mod load;
mod overlap;
pub mod pairs;
mod parse;
mod resources;
pub mod sketches;
mod store;
pub mod triples;

pub use format::SetFormat;
pub use load::{Loaded, ReadListener, Source, load};
pub use parse::Content;
pub use resources::Resources;
pub use store::SetStore;
