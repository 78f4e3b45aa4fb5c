//! # benzer-io
//!
//! Inputs become documents; what is left of them becomes outputs in the formats of the inputs.
//!
//! ```text
//! files, folders, globs, objects --read--> batches of documents, rejects
//! inputs and verdicts --rewrite--> outputs in the formats of the inputs        results --result_table--> Parquet
//! ```
//!
//! **What it must not know**: what documents are compared for, and how. It knows formats, compression, files and object stores.
//!
//! **The way through**:
//!
//! - [`read`]: files, folders, globs and streams become batches of documents, and lines that are none become rejects.
//! - [`store`]: objects of stores, read at any place and written. (With the server the only place that knows of `tokio`.)
//! - [`rewrite`]: the same inputs once more, without some documents or with marks on them.
//! - [`result_table`]: tables of results as Parquet.
//! - [`places`]: where results may go.
//! - [`Strings`]: many byte strings in one buffer.

mod error;
pub mod places;
pub mod read;
pub mod result_table;
pub mod rewrite;
pub mod store;
mod strings;

pub use error::{Error, Result};
pub use strings::Strings;
