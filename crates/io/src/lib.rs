//! # benzer-io
//!
//! Inputs become documents; what is left of them becomes outputs in the formats of the inputs.
//!
//! It knows formats, compression and object stores; it does not know what documents are compared for.
//!
//! - [`read`]: files, folders, globs and streams become batches of documents, and lines that are none become rejects.
//! - `store`: objects of stores, read at any place and written. (With the server the only place that knows of `tokio`.)
//! - [`rewrite`]: the same inputs once more, without some documents or with marks on them.
//! - [`result_table`]: tables of results as Parquet.
//! - [`places`]: where results may go.
#![allow(missing_docs)]

mod error;
pub mod places;
pub mod read;
pub mod result_table;
pub mod rewrite;
pub mod store;
mod strings;

pub use error::{Error, Result};
pub use strings::Strings;
