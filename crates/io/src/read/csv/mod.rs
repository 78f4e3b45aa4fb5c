//! CSV and TSV: a header with the names of the fields, then one record for each document, quoted as RFC 4180 says.
//!
//! - A field may stand in quotes, and then hold delimiters, newlines, and quotes written twice. A quote anywhere else in a
//!   field is an ordinary character, as TSV files have it. Text after a closing quote, and a quote that is never
//!   closed, make a reject of the record; the latter goes on to the end of the file.
//! - Names are those of the header; the last of two equal ones wins. A dotted path means the column of that very name.
//! - A record that has more or fewer fields than the header is a reject. An empty line is not a record.
//!
//! The reading thread finds the ends of records ([`Scanner`]), any thread splits them ([`split`]).

mod header;
mod record;
mod scan;

pub(super) use header::Header;
pub use header::column_names;
pub(super) use record::{Field, QuoteFault, split, unescape};
pub(super) use scan::Scanner;
