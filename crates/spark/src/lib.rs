//! # benzer-spark
//!
//! A deduplication, cut into stages, for an engine that moves the data (Spark and what is compatible with it). A `Stage` gets record batches and gives record batches; a [`Port`] does so
//! as bytes. It decides by the code of a run on one machine: `benzer-join`, and `benzer-dedup` for rules and columns.
//!
//! **What it must not know**: files, folders, and how an engine is called.
//!
//! ```text
//! documents --bands--> buckets --> partners --+
//!                                             +--> fetch --> compare --> edges --> resolve --> evidence
//! documents --texts---------------------------+
//! ```
//!
//! **The way through**:
//!
//! Between two stages the engine moves rows to where their **slice** is: all rows of a slice come to one task. A row carries many records (`parts`), so that the engine has little to do for
//! each document. A document is known by its **place** in keep order (`place`). Every stage gives the same rows for the same rows, in whatever order they come and wherever they are computed
//! again.
//!
//! - `bands`: a document becomes its band keys; each goes to the slice of its key.
//! - `buckets`: documents with the same key meet. Those with the same text are copies; of the others each one is to be compared with the first ones in keep order.
//! - `partners`: all that one document is to be compared with, from all bands. Documents with the same first partner make a **group**: most of a cluster.
//! - `texts` and `fetch`: texts go to the groups that asked for them. Who is not asked for stays behind.
//! - `compare`: prefilter and exact similarity.
//! - `forest`, `large_star`, `small_star`: connected components of the edges.
//! - `resolve`: who is removed, and for whom.
//! - `first` and `block`: the same for the beginning of a graph that is too large for one task. Each task hands on its first edges in keep order, and one task decides
//!   over the first of all.
//! - `seen`: the documents of the first reading, which those of the second are compared with.

mod bands;
mod blocks;
mod buckets;
mod by_slice;
mod columns;
mod compare;
mod components;
mod error;
mod fetch;
mod functions;
mod graph;
mod nodes;
mod out;
mod partners;
mod parts;
mod place;
mod port;
mod resolve;
mod seen;
mod settings;
mod tables;
#[cfg(test)]
mod tests;
mod texts;

use arrow_array::RecordBatch;

pub use error::{Error, Result};
pub use port::Port;
pub use settings::Settings;

/// A step of a task.
trait Stage: Send + Sync {
    /// Takes rows, and gives those that are ready.
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>>;

    /// There are no more rows; gives some of the rest. To be called until nothing comes.
    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        Ok(Vec::new())
    }
}

/// The stage of a name.
fn stage(name: &str, settings: Settings) -> Result<Box<dyn Stage>> {
    Ok(match name {
        "bands" => Box::new(bands::Bands::new(settings)?),
        "buckets" => Box::new(by_slice::BySlice::new(buckets::Buckets::new(&settings))),
        "partners" => Box::new(by_slice::BySlice::new(partners::Partners::new(&settings))),
        "texts" => Box::new(texts::Texts::new(settings)),
        "fetch" => Box::new(by_slice::BySlice::new(fetch::Fetch::new(&settings))),
        "compare" => Box::new(by_slice::BySlice::new(compare::Compare::new(settings)?)),
        "seen" => Box::new(seen::Seen),
        "pairs" => Box::new(tables::Pairs { settings }),
        "forest" => Box::new(components::Forest::new(&settings)),
        "large_star" => {
            Box::new(by_slice::BySlice::new(components::Star { settings, relink: components::large }))
        }
        "small_star" => {
            Box::new(by_slice::BySlice::new(components::Star { settings, relink: components::small }))
        }
        "first" => Box::new(blocks::Blocks::first(&settings)),
        "block" => Box::new(blocks::Blocks::block(&settings)),
        "resolve" => Box::new(resolve::Resolve::new(settings)?),
        "sketch" => Box::new(functions::Sketches::new(settings)?),
        "jaccard" => Box::new(functions::Jaccard),
        "band_keys" => Box::new(functions::Keys { settings }),
        _ => return Err(Error::parameter("stage", "the name of a stage", format!("`{name}`"))),
    })
}

/// What the row of an exchange is.
mod kind {
    /// How many documents have the id of another one, and one of those ids.
    pub const REPEATED: i32 = -3;
    /// How many documents were others when the input was read again, and one of them.
    pub const OTHER: i32 = -2;
    /// Ids and the hashes of their texts.
    pub const SEEN: i32 = -1;
    /// A copy and its representative.
    pub const COPY: i32 = 0;
    /// Band keys, memberships in buckets, requests for texts: what the stages between hand on.
    pub const PARTS: i32 = 1;
    /// Texts; in a slice they come after the requests.
    pub const TEXTS: i32 = 2;
    /// A pair of similar documents.
    pub const EDGE: i32 = 3;
    /// A link of the graph that is as it was before.
    pub const SAME: i32 = 4;
    /// A link that is new.
    pub const CHANGED: i32 = 5;
    /// The last document that a block decided, where more follow.
    pub const LAST: i32 = 6;
}
