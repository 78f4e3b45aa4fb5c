//! Reading a corpus: inputs become batches of documents; what cannot be read becomes rejects.
//!
//! ```text
//! Inputs --open--> Reader --next--> RawBatch --parse--> Batch: documents, rejects
//! input            reader                               batch
//! ```
//!
//! - [`open`] looks up all inputs (see [`Inputs`]) and fails now if one of them cannot be read.
//! - [`Reader`] reads and decompresses, on one thread as an iterator, on many as a source of a [pipeline](benzer_flow::pipeline); a [`RawBatch`] is a buffer of whole lines or records, or some rows of a table.
//! - [`parse`] finds the wanted fields, without copying unless a text has escapes; of a table it decodes the wanted columns.
//! - A bad line is a [`Reject`] with file, line and reason, and reading goes on; an unreadable file is an error.
//!
//! | format | a document is | found by |
//! |---|---|---|
//! | JSON lines | an object on a line | `.jsonl`, `.ndjson`, `.json`, and every other name |
//! | CSV, TSV | a record, after a header | `.csv`, `.tsv` |
//! | plain text | a line; with `per_file` the whole file | `.txt`, `.text`, `.md` |
//! | Parquet | a row | its first bytes, else `.parquet`, `.pq` |
//! | Arrow IPC, file or stream | a row | its first bytes, else `.arrow`, `.feather`, `.ipc` |
//!
//! [`ReadOptions::format`] forces one. All but Parquet may be compressed with gzip or zstd, and come from a pipe.
//!
//! **Lines.** They end with a newline, with or without a carriage return; the last one need not. A byte order mark at
//! the beginning of a file is dropped. Blank lines (white space only) count as lines and are neither documents nor
//! rejects. JSON is accepted if and only if `serde_json` accepts it as a `Value`; of a repeated key the last
//! one wins. A text field must be a string, and with several text fields every one must be there; an id must
//! be a string or an integer, which keeps the digits it is written with.
//!
//! **Records.** Quoting is that of RFC 4180; a field of several lines is one field. A file without a wanted column is an
//! error; a record with bad quotes or another number of fields is a reject. An empty line is blank.
//!
//! **Plain text.** The line, or the file, is the text. There are no fields: an id field is an error. An empty file that is
//! one document is a document with an empty text.
//!
//! **Tables.** Columns are found by paths through structs, and only these are read. A null is a reject; so is every row of a
//! file where the column is missing or of another type, and every row that cannot be decoded. A row is in no buffer:
//! [`Document::raw`] is empty, and [`rewrite::table`](crate::rewrite::table) copies rows.
//!
//! **Order.** With [`ReadOptions::order_field`] a document has the value of that field, a number or a text. What is missing,
//! null, empty in CSV, not a number (NaN) or of another type has none.
//!
//! Limits: a compressed file is read by one thread at a time (a gzip stream cannot be split), as are CSV and tables; lines, records, texts and batches of at most 1 GiB; Parquet
//! only from files and stores, with pages of at most 1 GiB, and not encrypted; of Arrow the wanted columns of one record batch are
//! held, 4 GiB at most.

mod batch;
mod csv;
mod fields;
mod format;
mod guard;
mod input;
mod json;
mod options;
mod reader;
mod reject;
mod rows;
mod span;
mod stream;
mod table;
mod text;
mod utf8;

pub use batch::{Batch, Document, DocumentId, Order, RawBatch, Rereader, SavedBatches, parse, parse_into};
pub use fields::FieldPath;
pub use format::{Compression, Format};
pub use guard::guarded;
pub use input::{Input, Inputs, estimated_documents, field_names};
pub use options::ReadOptions;
pub use reader::Reader;
pub use reject::{Reject, RejectReason};
pub use stream::Progress;
pub use table::{check_parquet_index, check_parquet_pages};

pub(crate) use csv::column_names;
pub(crate) use input::{Seekable, files_of, is_hidden};
pub(crate) use table::{ArrowItem, ArrowMessages, TableFault, check_parquet_column};

use crate::error::Result;

/// Looks up the inputs and prepares to read them.
///
/// # Errors
/// Options out of range, an input that cannot be opened or does not have the wanted fields.
pub fn open(inputs: Inputs, options: ReadOptions) -> Result<Reader> {
    let plan = options::Plan::new(&options)?;
    Ok(Reader::new(input::find(inputs, &plan)?, plan))
}
