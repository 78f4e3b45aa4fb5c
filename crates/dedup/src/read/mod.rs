//! Reading a corpus: inputs become batches of documents; what cannot be read becomes rejects.
//!
//! ```text
//! Inputs --open--> Reader --next--> RawBatch --parse--> Batch: documents, rejects
//!                  one thread                any thread
//! ```
//!
//! - [`open`] looks up all inputs (see [`Inputs`]) and fails now if one of them cannot be read.
//! - [`Reader`] decompresses and cuts at newlines; a [`RawBatch`] is a buffer of whole lines.
//! - [`parse`] finds the wanted fields, without copying unless a text has escapes.
//! - A bad line is a [`Reject`] with file, line and reason, and reading goes on; an unreadable file is an error.
//!
//! Lines end with a newline, with or without a carriage return; the last one need not. A byte order mark at the
//! beginning of a file is dropped. Blank lines (white space only) count as lines and are neither documents nor
//! rejects. JSON is accepted if and only if `serde_json` accepts it as a `Value`; of a repeated key the last
//! one wins. A text field must be a string, and with several text fields every one must be there; an id must
//! be a string or an integer, which keeps the digits it is written with.
//!
//! Limits: JSON lines only, one reading thread (a gzip stream cannot be split), lines and batches of at most 1 GiB.

mod batch;
mod fields;
mod input;
mod json;
mod parse;
mod reader;
mod reject;
mod stream;
mod utf8;

pub use batch::{Batch, Document, DocumentId, RawBatch};
pub use fields::FieldPath;
pub use input::{EXTENSIONS, Input, Inputs};
pub use parse::parse;
pub use reader::Reader;
pub use reject::{Reject, RejectReason};
pub use stream::{Compression, Progress};

use crate::error::{Error, Result};

/// Neither a line nor a batch may be longer, so that positions fit 32 bits.
const MAX_BYTES: usize = 1 << 30;

/// What to take from each line, and how much to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The fields whose values, joined with newlines, are the text. Default: `text`.
    pub text_fields: Vec<FieldPath>,
    /// The field that is the id. Default: none, and the id is input number and row.
    pub id_field: Option<FieldPath>,
    /// How many bytes of lines a batch holds. Default: 8 MiB.
    pub batch_bytes: usize,
    /// Longer lines are rejected without being held. Default: 256 MiB.
    pub max_line_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            text_fields: vec!["text".parse().expect("a plain name is a path")],
            id_field: None,
            batch_bytes: 8 << 20,
            max_line_bytes: 256 << 20,
        }
    }
}

/// Looks up the inputs and prepares to read them.
pub fn open(inputs: Inputs, options: ReadOptions) -> Result<Reader> {
    let ReadOptions { text_fields, id_field, batch_bytes, max_line_bytes } = options;
    for (name, bytes) in [("batch_bytes", batch_bytes), ("max_line_bytes", max_line_bytes)] {
        if !(1..=MAX_BYTES).contains(&bytes) {
            return Err(Error::parameter(name, format!("between 1 and {MAX_BYTES}"), bytes));
        }
    }
    let fields = fields::Fields::new(&text_fields, id_field.as_ref())?;
    let plan = batch::Plan { fields, max_line_bytes };
    Ok(Reader::new(input::find(inputs)?, batch_bytes, plan))
}
