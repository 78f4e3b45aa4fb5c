//! # benzer-dedup
//!
//! A whole deduplication of documents: files in, the documents that stay out, with evidence for every one that goes; and what it left, read back.
//!
//! **What it must not know**: how a file is parsed (`benzer-io`), how pairs are found and counted (`benzer-join`), and anything of command lines, HTTP or Python:
//! those make a [`Request`](request::Request) and call [`run()`].
//!
//! **The way through** of a document, file by file below `job/` where no other place is named; `job/run.rs` is the list of the stages:
//!
//! 1. [`request`]: what was asked is checked; `open.rs`: its file is found, and old documents are.
//! 2. `read.rs`: its batch comes off the file; `ingest.rs`: parsed, hashed, shingled, sketched, it is a row of `documents/`.
//! 3. `group.rs`: it has a rank in keep order, and is a copy of an earlier one or not.
//! 4. `against.rs`, `overlaps.rs`: the old documents in `archive/` that it matches.
//! 5. `candidates.rs`: the documents that may be similar to it; `verify.rs`: those that are, as `edges.rs`.
//! 6. `resolve.rs`: who goes for whom, as [`decide::Removal`]; `audit.rs`: how many similar pairs were found.
//! 7. `write.rs`, with `write/verdicts.rs`: its line is written or not; `write/`: its rows of evidence, pairs and clusters; `report.rs`: the page about all of them.
//! 8. `manifest.rs`: the checksums of all of it, last. [`results`] and [`integrity`] begin there.

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
pub mod summary;
pub mod tables;
mod write;

pub use audit::{Audited, Bin, Share};
pub use error::{Error, Result};
pub use job::{run, run_through};
pub use keep::Keep;
