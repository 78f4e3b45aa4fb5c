//! CSV and TSV: a header with the names of the fields, then one record for each document, quoted as RFC 4180 says.
//!
//! - A field may stand in quotes, and then hold delimiters, newlines, and quotes written twice. A quote anywhere else in a
//!   field is an ordinary character, as TSV files have it. Text after a closing quote, and a quote that is never
//!   closed, make a reject of the record; the latter goes on to the end of the file.
//! - Names are those of the header; the last of two equal ones wins. A dotted path means the column of that very name.
//! - A record that has more or fewer fields than the header is a reject. An empty line is not a record.
//!
//! The reading thread finds the ends of records ([`Scanner`]), any thread splits them.

mod header;
mod record;
mod scan;

pub(super) use header::Header;
pub use header::names;
pub(super) use scan::Scanner;

use super::batch::{Place, Row, Segment, Span, StoredOrder};
use super::parse::{Found, Parser};
use super::reject::RejectReason;
use record::Field;

/// Reads the records of a segment.
pub(super) fn parse(parser: &mut Parser<'_>, number: u32, segment: &Segment, header: &Header) {
    let mut fields = Vec::new();
    let (mut start, mut line) = (segment.start, 0);
    let data = parser.data;
    let bytes = &data.as_bytes()[..segment.end];
    while start < segment.end {
        let (end, found) = match parser.bad(start) {
            Some(bad) => (start + bad.saved.range().len(), bad.found()),
            None => {
                let (end, split) = record::split(bytes, start, header.delimiter, &mut fields);
                // An unclosed quote takes everything, the newline that was added included.
                let end = end.min(segment.end - 1);
                (end, found(parser, header, start..end, split, &fields))
            }
        };
        let n_newlines = parser.n_newlines(start..end);
        parser.keep(found, segment, number, line, start);
        line += n_newlines + 1;
        start = end + 1;
    }
}

fn found(
    parser: &mut Parser<'_>,
    header: &Header,
    record: std::ops::Range<usize>,
    split: Result<(), record::Fault>,
    fields: &[Field],
) -> Found {
    let bytes = &parser.data.as_bytes()[record.clone()];
    if bytes.is_empty() || bytes == b"\r" {
        return Found::Blank;
    }
    let span = Span::new(record.start, record.end);
    let (n, max) = (bytes.len() as u64, parser.plan.max_line_bytes as u64);
    let reason = match split {
        _ if n > max => RejectReason::TooLong { what: "record", bytes: n, max },
        Err(fault) => {
            let column = (fault.at - record.start) as u64 + 1;
            RejectReason::BadQuotes { column, expected: fault.expected }
        }
        Ok(()) if fields.len() != header.n_columns => {
            RejectReason::FieldCount { expected: header.n_columns as u64, got: fields.len() as u64 }
        }
        Ok(()) => return Found::Document(row(parser, header, span, fields)),
    };
    Found::Bad(reason, (Place::Data, span))
}

/// The document of a record that has all its fields.
fn row(parser: &mut Parser<'_>, header: &Header, raw: Span, fields: &[Field]) -> Row {
    let wanted = &parser.plan.fields;
    let field = |slot: usize| header.columns[slot].map(|column| fields[column]);
    let text = match (wanted.text_slots().len(), field(0)) {
        (1, Some(only)) => content(parser, only),
        // Delimiters between empty fields are no text.
        _ if wanted.text_slots().filter_map(field).all(|field| field.start == field.end) => {
            (Place::Data, Span::default())
        }
        _ => {
            let from = parser.decoded.len();
            for (i, field) in wanted.text_slots().filter_map(field).enumerate() {
                if i > 0 {
                    parser.decoded.extend_from_slice(b"\n");
                }
                decode(parser, field);
            }
            (Place::Decoded, Span::new(from, parser.decoded.len()))
        }
    };
    let id = wanted.id_slot().and_then(field).map(|id| content(parser, id));
    if let Some(slot) = wanted.order_slot() {
        let order = field(slot).map_or(StoredOrder::None, |field| order(parser, field));
        parser.orders.push(order);
    }
    Row { segment: 0, line: 0, raw, text, quoted: Span::default(), id }
}

/// A number if it reads as one, nothing if it is empty.
fn order(parser: &mut Parser<'_>, field: Field) -> StoredOrder {
    let written = &parser.data[field.start..field.end];
    match written.trim().parse() {
        Ok(number) => StoredOrder::number(number),
        Err(_) if written.is_empty() => StoredOrder::None,
        Err(_) => {
            let (place, span) = content(parser, field);
            StoredOrder::Text(place, span)
        }
    }
}

/// The content of a field: in place if it can be, else decoded.
fn content(parser: &mut Parser<'_>, field: Field) -> (Place, Span) {
    if !field.escaped {
        return (Place::Data, Span::new(field.start, field.end));
    }
    let from = parser.decoded.len();
    decode(parser, field);
    (Place::Decoded, Span::new(from, parser.decoded.len()))
}

fn decode(parser: &mut Parser<'_>, field: Field) {
    let written = &parser.data.as_bytes()[field.start..field.end];
    if field.escaped {
        record::unescape(written, |part| parser.decoded.extend_from_slice(part));
    } else {
        parser.decoded.extend_from_slice(written);
    }
}
