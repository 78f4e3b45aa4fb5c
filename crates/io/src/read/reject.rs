//! A line, record or row that is not a document: where it is, why, and what would make it one.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::format::{Compression, Format};

/// A line (or, for a damaged file, everything from a line on) that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The file, or the name of the stream.
    pub file: Arc<Path>,
    /// The number of the input, as in [`Reader::inputs`](super::Reader::inputs).
    pub input: u32,
    /// The line, or the row of a table, counted from 1.
    pub line: u64,
    /// Where the line begins, in bytes of the uncompressed file; in a table, the row, counted from 0.
    pub offset: u64,
    /// Why.
    pub reason: RejectReason,
}

/// Why a line was rejected. Columns count bytes from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// Not JSON.
    InvalidJson {
        /// Where it stops being JSON.
        column: u64,
        /// What could have stood there.
        expected: &'static str,
        /// What stands there; nothing when the line ends.
        got: Option<char>,
    },
    /// Not UTF-8.
    InvalidUtf8 {
        /// The first byte that is wrong.
        column: u64,
    },
    /// JSON, and not an object.
    NotObject {
        /// What it is.
        got: &'static str,
    },
    /// An object without a wanted field.
    MissingField {
        /// The field as it was asked for.
        field: Arc<str>,
    },
    /// A wanted field of another type.
    WrongType {
        /// The field as it was asked for.
        field: Arc<str>,
        /// The types it may have.
        expected: &'static str,
        /// The type it has.
        got: &'static str,
    },
    /// Longer than `max_line_bytes`.
    LineTooLong {
        /// Its length.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// A record, a file or the text of a row that is longer than `max_line_bytes`.
    TooLong {
        /// What it is.
        what: &'static str,
        /// Its length.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// A record of CSV whose quotes do not match.
    BadQuotes {
        /// Where they stop to match, in bytes of the record.
        column: u64,
        /// What could have stood there.
        expected: &'static str,
    },
    /// A record of CSV with more or fewer fields than the header.
    FieldCount {
        /// The fields of the header.
        expected: u64,
        /// The fields of the record.
        got: u64,
    },
    /// A row of a file whose column has another type.
    ColumnType {
        /// The column as it was asked for.
        field: Arc<str>,
        /// The types it may have.
        expected: &'static str,
        /// The type it has.
        got: Arc<str>,
    },
    /// A row (or, where the rows cannot be counted, the rest) of a table that cannot be decoded.
    Damaged {
        /// Which kind of table.
        format: Format,
        /// What the decoder said.
        detail: Arc<str>,
    },
    /// A line of a set file that is no set.
    NotASet {
        /// What could have stood there.
        expected: String,
        /// The beginning of the line.
        got: String,
    },
    /// A line that is no document of a schema.
    Unfit {
        /// Why, in words.
        why: String,
    },
    /// A compressed file that ends early. The lines before are delivered.
    Truncated {
        /// How it is compressed.
        compression: Compression,
    },
    /// A compressed file that cannot be decompressed further. The lines before are delivered.
    Corrupt {
        /// How it is compressed.
        compression: Compression,
        /// What the decompressor said.
        detail: String,
    },
}

impl RejectReason {
    /// A table that cannot be decoded, and what the decoder said.
    pub(super) fn damaged(format: Format, detail: impl ToString) -> Self {
        Self::Damaged { format, detail: detail.to_string().into() }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.reason)
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidJson { column, expected, got } => {
                write!(f, "invalid json at column {column}: expected {expected}, got {}", shown(*got))
            }
            Self::InvalidUtf8 { column } => {
                write!(f, "invalid utf-8 at column {column}; convert the file to utf-8 (`iconv -t utf-8`)")
            }
            Self::NotObject { got } => {
                write!(f, "expected a json object, got {got}; write one object per line (`jq -c '.[]'`)")
            }
            Self::MissingField { field } => {
                write!(f, "no field `{field}`; name the right one with --text-field or --id-field")
            }
            Self::WrongType { field, expected, got } => {
                write!(f, "field `{field}` must be {expected}, got {got}")
            }
            Self::LineTooLong { bytes, max } => too_long(f, "line", *bytes, *max),
            Self::TooLong { what, bytes, max } => too_long(f, what, *bytes, *max),
            Self::BadQuotes { column, expected } => {
                write!(f, "bad quotes: expected {expected} at column {column}; write a quote in quotes twice")
            }
            Self::FieldCount { expected, got } => write!(
                f,
                "expected {expected} fields as in the header, got {got}; quote fields with delimiters"
            ),
            Self::ColumnType { field, expected, got } => {
                write!(
                    f,
                    "column `{field}` must be of {expected}, got {got}; convert it, or name another one"
                )
            }
            Self::Damaged { format, detail } => {
                write!(f, "damaged {format} ({detail}): other rows are read; get an undamaged copy")
            }
            Self::NotASet { expected, got } => write!(f, "expected {expected}, got `{}`", got.escape_debug()),
            Self::Unfit { why } => f.write_str(why),
            Self::Truncated { compression } => write!(
                f,
                "truncated {compression}: the file ends early; the lines before this one were read; get a whole copy"
            ),
            Self::Corrupt { compression, detail } => write!(
                f,
                "corrupt {compression} ({detail}): the lines before this one were read; get an undamaged copy"
            ),
        }
    }
}

/// The character at which JSON ends to be JSON.
fn shown(got: Option<char>) -> String {
    match got {
        Some(c) if c.is_control() => format!("`{}`", c.escape_debug()),
        Some(c) => format!("`{c}`"),
        None => "the end of the line; write each object on one line (`jq -c .`)".to_owned(),
    }
}

fn too_long(f: &mut fmt::Formatter<'_>, what: &str, bytes: u64, max: u64) -> fmt::Result {
    write!(f, "{what} of {bytes} bytes, expected at most {max}; `benzer dedup --max-line` reads longer ones")
}
