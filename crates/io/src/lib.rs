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
//! - [`read`]: files, folders, globs and streams become batches of documents, and lines that are none become rejects. One thread at a time reads and decompresses a [`read::RawBatch`]: text is cut at the
//!   ends of lines or records, of a table come pages (Parquet) or buffers (Arrow) of the wanted columns. [`read::parse`] is pure, decodes them, and runs on any thread.
//! - [`store`]: objects of stores, read at any place and written. (With the server and its command the only place that knows of `tokio`.)
//! - [`rewrite`]: the same inputs once more, without some documents or with marks on them. Lines are copied; tables too, Parquet column by column, Arrow record batch by record batch.
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
