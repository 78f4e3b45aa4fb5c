//! Reading a corpus: inputs become batches of documents; what cannot be read becomes rejects.
//!
//! ```text
//! Inputs --open--> Reader --next--> RawBatch --parse--> Batch: documents, rejects
//!                  one thread                any thread
//! ```
//!
//! - [`open`] looks up all inputs (see [`Inputs`]) and fails now if one of them cannot be read.
//! - [`Reader`] reads and decompresses; a [`RawBatch`] is a buffer of whole lines or records, or some rows of a table.
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
//! [`Document::raw`] is empty, and [`write::table`](crate::rewrite::table) copies rows.
//!
//! **Order.** With [`ReadOptions::order_field`] a document has the value of that field, a number or a text. What is missing,
//! null, empty in CSV, not a number (NaN) or of another type has none.
//!
//! Limits: one thread reads at a time (a gzip stream cannot be split); lines, records, texts and batches of at most 1 GiB; Parquet
//! only from files and stores, with pages of at most 1 GiB, and not encrypted; of Arrow the wanted columns of one record batch are
//! held, 4 GiB at most.

mod again;
mod batch;
mod csv;
mod cut;
mod estimate;
mod fields;
mod find;
mod format;
mod input;
mod json;
mod map;
mod objects;
mod parse;
mod plain;
mod reader;
mod reject;
mod seekable;
mod start;
mod stream;
mod table;
mod text;
mod there;
mod utf8;

pub use again::Again;
pub use batch::{Batch, Document, DocumentId, Order, RawBatch};
pub use estimate::estimated_documents;
pub use fields::FieldPath;
pub use find::{files_of, is_hidden};
pub use format::{EXTENSIONS, Format};
pub use input::{Input, Inputs};
pub use parse::parse;
pub use parse::parse_into;
pub use reader::Reader;
pub use reject::{Reject, RejectReason};
pub use seekable::Seekable;
pub use stream::{Compression, Progress};

pub use csv::names as csv_names;
pub use table::arrow::{Fault as ArrowFault, Item as ArrowItem, Messages as ArrowMessages};
pub use table::{
    check_all_pages as check_parquet_pages, check_index as check_parquet_index,
    check_pages as check_parquet_column, guarded,
};
pub use there::fields_there;

use std::sync::Mutex;

use crate::error::{Error, Result};

/// Neither a line nor a batch may be longer, so that positions fit 32 bits.
const MAX_BYTES: usize = 1 << 30;

/// What to take from each document, and how much to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The fields whose values, joined with newlines, are the text. Default: `text`. Plain text has no fields.
    pub text_fields: Vec<FieldPath>,
    /// The field that is the id. Default: none, and the id is input number and row.
    pub id_field: Option<FieldPath>,
    /// The field whose value is [`Document::order`]. Default: none.
    pub order_field: Option<FieldPath>,
    /// The format of all inputs. Default: what each one's content and name say.
    pub format: Option<Format>,
    /// Each file is one document of plain text, whatever it is called. Default: no.
    pub per_file: bool,
    /// How many bytes of lines a batch holds; of a table, how many bytes of decoded rows. Default: 8 MiB.
    pub batch_bytes: usize,
    /// Longer lines (records, texts of rows, files that are one document) are rejected without being held. Default: 256 MiB.
    pub max_line_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            text_fields: vec!["text".parse().expect("a plain name is a path")],
            id_field: None,
            order_field: None,
            format: None,
            per_file: false,
            batch_bytes: 8 << 20,
            max_line_bytes: 256 << 20,
        }
    }
}

/// Looks up the inputs and prepares to read them.
pub fn open(inputs: Inputs, options: ReadOptions) -> Result<Reader> {
    let ReadOptions { text_fields, id_field, order_field, format, per_file, batch_bytes, max_line_bytes } =
        options;
    for (name, bytes) in [("batch_bytes", batch_bytes), ("max_line_bytes", max_line_bytes)] {
        if !(1..=MAX_BYTES).contains(&bytes) {
            return Err(Error::parameter(name, format!("between 1 and {MAX_BYTES}"), bytes));
        }
    }
    let format = match (per_file, format) {
        (false, format) => format,
        (true, None | Some(Format::Lines | Format::File)) => Some(Format::File),
        (true, Some(other)) => {
            return Err(Error::parameter("--per-file", "left out, or --input-format be text", other));
        }
    };
    let fields = fields::Fields::new(&text_fields, id_field.as_ref(), order_field.as_ref())?;
    let plan = batch::Plan { fields, format, batch_bytes, max_line_bytes, spare: Mutex::default() };
    Ok(Reader::new(find::find(inputs, &plan)?, plan))
}
