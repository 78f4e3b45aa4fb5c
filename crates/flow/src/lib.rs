//! # benzer-flow
//!
//! Work on many threads, within a budget of memory, told how far it is.
//!
//! ```text
//! source --pipeline: batches, any thread--> work --in order--> sink        records --sort: memory, then runs on disk--> in order
//! ```
//!
//! **What it must not know**: what a document or a set is, and where inputs come from. It knows tasks, batches and records of fixed size.
//!
//! **The way through**:
//!
//! - [`workers`]: tasks by number, in parallel; [`Workers`]: on how many threads.
//! - [`pipeline`]: batches of a source through threads, and out again in order, or as they come.
//! - [`relay`]: batches through threads twice, cut into tasks in between.
//! - [`sort`]: more records than fit into memory, in order; [`sorted_parts`]: those that fit, on many threads; [`sorted_parts_within`]: in several passes.
//! - [`Progress`]: what threads have done, and whether they shall go on.
//! - [`Workspace`]: the memory and the folder that a piece of work may use.

mod error;
pub mod pipeline;
mod progress;
pub mod relay;
pub mod sort;
mod sorted_parts;
pub mod workers;

pub use error::{Error, Result};
pub use progress::{Listener, Progress, Silent, ThreadProgress};
pub use sort::Workspace;
pub use sorted_parts::{share, sorted_parts, sorted_parts_within};
pub use workers::Workers;
