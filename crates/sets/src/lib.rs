//! # benzer-sets
//!
//! Sets of anything: documents as sets of shingles, and set files.
//!
//! ```text
//! inputs --read, parse--> ids and elements --load--> Shelf: the sets by number
//! ```
//!
//! - [`Source`] says what to read and what a document is a set of; [`SetFormat`] how a set file is written.
//! - [`load()`] fills a [`Shelf`]: in memory as long as it fits, then in temporary files.
//! - [`Room`] is the memory, the threads and the folder of a run.
//! - Items are compared by their 64-bit hashes, as shingles are. With [`Source::transpose`] an item is a set, whose elements are the lines it is in.
//!
//! Sets that are scattered over their file (`docword`, and everything transposed) are put together by sorting, within the memory; of transposed files the names of
//! all items are held.
#![allow(missing_docs)]

pub mod features;
mod format;
mod grouped;
mod load;
mod overlap;
pub mod pairs;
mod parse;
mod room;
mod shelf;
pub mod sketches;
pub mod triples;

pub use format::SetFormat;
pub use load::{Loaded, Source, Watch, load};
pub use parse::Content;
pub use room::Room;
pub use shelf::Shelf;

use overlap::{common, overlap};
use parse::{Buffers, NO_ID, rejected, unfit};
use shelf::Buffer;
