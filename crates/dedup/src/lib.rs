//! # benzer-dedup
//!
//! A whole deduplication of documents, and what it left.
//!
//! ```text
//! read -> exact groups -> sketch -> candidates -> verify -> resolve -> write
//! ```
//!
//! - [`job`]: a whole deduplication; [`results`]: what one left, read back; [`integrity`]: whether it is still what is there.
//! - `archive`: what earlier runs kept, for a run against it.
//! - [`diff`]: what two texts have in common.
#![allow(missing_docs)]

mod archive;
mod audit;
mod corpus;
pub mod decide;
pub mod diff;
mod documents;
mod edges;
mod error;
mod folders;
mod found_old;
mod ingest;
pub mod integrity;
mod job;
pub mod keep;
mod outcome;
pub mod progress;
mod ranking;
pub mod report;
pub mod request;
pub mod results;
mod spilled;
pub mod summary;
pub mod tables;
mod write;

pub use audit::{Audited, Bin, Share};
pub use error::{Error, Result};
pub use job::{run, run_through};
pub use keep::Keep;
