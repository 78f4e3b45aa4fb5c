//! What to take from each document, as it is asked for and as it is used.

use std::sync::{Mutex, PoisonError};

use super::fields::{FieldPath, Fields};
use super::format::Format;
use crate::error::{Error, Result};

/// Neither a line nor a batch may be longer, so that positions fit 32 bits.
pub(super) const MAX_BYTES: usize = 1 << 30;

/// The least that is asked of a file, more than a byte order mark.
pub(super) const MIN_READ: usize = 16;

/// What to take from each document, and how much to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The fields whose values, joined with newlines, are the text. Default: `text`. Plain text has no fields.
    pub text_fields: Vec<FieldPath>,
    /// The field that is the id. Default: none, and the id is input number and row.
    pub id_field: Option<FieldPath>,
    /// The field whose value is [`Document::order`](super::Document::order). Default: none.
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

/// The options, checked: what the reader and all its batches need to know.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) fields: Fields,
    /// The format of all inputs, if they were said to have one.
    pub(super) format: Option<Format>,
    pub(super) batch_bytes: usize,
    pub(super) max_line_bytes: usize,
    /// Buffers of batches that are done with.
    spare: Mutex<Vec<Vec<u8>>>,
}

impl Plan {
    pub(super) fn new(options: &ReadOptions) -> Result<Self> {
        let ReadOptions { batch_bytes, max_line_bytes, .. } = *options;
        for (name, bytes) in [("batch_bytes", batch_bytes), ("max_line_bytes", max_line_bytes)] {
            if !(1..=MAX_BYTES).contains(&bytes) {
                return Err(Error::parameter(name, format!("between 1 and {MAX_BYTES}"), bytes));
            }
        }
        let format = match (options.per_file, options.format) {
            (false, format) => format,
            (true, None | Some(Format::Lines | Format::File)) => Some(Format::File),
            (true, Some(other)) => {
                return Err(Error::parameter("--per-file", "left out, or --input-format be text", other));
            }
        };
        let (id, order) = (options.id_field.as_ref(), options.order_field.as_ref());
        let fields = Fields::new(&options.text_fields, id, order)?;
        Ok(Self { fields, format, batch_bytes, max_line_bytes, spare: Mutex::default() })
    }

    /// The bytes of the longest line that is held, whether it is a document or not.
    pub(super) fn longest_held(&self) -> usize {
        let mut held = self.batch_bytes.max(MIN_READ);
        while held <= self.max_line_bytes {
            held = (2 * held).min(self.max_line_bytes + self.batch_bytes);
        }
        held - 1
    }

    /// A buffer, whatever is in it.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a buffer back. One that had to grow is not worth keeping.
    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        if (1..=2 * self.batch_bytes).contains(&buffer.capacity()) {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}
