//! Records of CSV and TSV, whose fields the header names.

use std::ops::Range;

use super::parser::{Parsed, Parser};
use crate::read::csv::{self, Field, Header, QuoteFault};
use crate::read::reject::RejectReason;
use crate::read::rows::{Row, Segment, StoredOrder};
use crate::read::span::{Piece, Span};

/// Reads the records of a segment.
pub(super) fn parse(parser: &mut Parser<'_>, number: u32, segment: &Segment, header: &Header) {
    let mut fields = Vec::new();
    let (mut start, mut line) = (segment.start, 0);
    let data = parser.data;
    let bytes = &data.as_bytes()[..segment.end];
    while start < segment.end {
        let (end, parsed) = match parser.bad(start) {
            Some(bad) => (start + bad.saved.range().len(), bad.parsed()),
            None => {
                let (end, split) = csv::split(bytes, start, header.delimiter, &mut fields);
                // An unclosed quote takes everything, the newline that was added included.
                let end = end.min(segment.end - 1);
                (end, record(parser, header, start..end, split, &fields))
            }
        };
        let n_newlines = parser.n_newlines(start..end);
        parser.keep(parsed, segment, number, line, start);
        line += n_newlines + 1;
        start = end + 1;
    }
}

fn record(
    parser: &mut Parser<'_>,
    header: &Header,
    range: Range<usize>,
    split: Result<(), QuoteFault>,
    fields: &[Field],
) -> Parsed {
    let bytes = &parser.data.as_bytes()[range.clone()];
    if bytes.is_empty() || bytes == b"\r" {
        return Parsed::Blank;
    }
    let span = Span::new(range.start, range.end);
    let (n, max) = (bytes.len() as u64, parser.plan.max_line_bytes as u64);
    let reason = match split {
        _ if n > max => RejectReason::TooLong { what: "record", bytes: n, max },
        Err(fault) => {
            let column = (fault.at - range.start) as u64 + 1;
            RejectReason::BadQuotes { column, expected: fault.expected }
        }
        Ok(()) if fields.len() != header.n_columns => {
            RejectReason::FieldCount { expected: header.n_columns as u64, got: fields.len() as u64 }
        }
        Ok(()) => return Parsed::Document(row(parser, header, span, fields)),
    };
    Parsed::Bad(reason, Piece::data(range.start, range.end))
}

/// The document of a record that has all its fields.
fn row(parser: &mut Parser<'_>, header: &Header, raw: Span, fields: &[Field]) -> Row {
    let wanted = &parser.plan.fields;
    let field = |slot: usize| header.columns[slot].map(|column| fields[column]);
    let text = match (wanted.text_slots().len(), field(0)) {
        (1, Some(only)) => content(parser, only),
        // Delimiters between empty fields are no text.
        _ if wanted.text_slots().filter_map(field).all(|field| field.start == field.end) => Piece::default(),
        _ => {
            let from = parser.decoded.len();
            for (i, field) in wanted.text_slots().filter_map(field).enumerate() {
                if i > 0 {
                    parser.decoded.extend_from_slice(b"\n");
                }
                decode(parser, field);
            }
            Piece::decoded(from, parser.decoded.len())
        }
    };
    let id = wanted.id_slot().and_then(field).map(|id| content(parser, id));
    if let Some(slot) = wanted.order_slot() {
        let order = field(slot).map_or(StoredOrder::None, |field| order(parser, field));
        parser.found.orders.push(order);
    }
    Row { segment: 0, line: 0, raw, text, quoted: Span::default(), id }
}

/// A number if it reads as one, nothing if it is empty.
fn order(parser: &mut Parser<'_>, field: Field) -> StoredOrder {
    let written = &parser.data[field.start..field.end];
    match written.trim().parse() {
        Ok(number) => StoredOrder::number(number),
        Err(_) if written.is_empty() => StoredOrder::None,
        Err(_) => StoredOrder::Text(content(parser, field)),
    }
}

/// The content of a field: in place if it can be, else decoded.
fn content(parser: &mut Parser<'_>, field: Field) -> Piece {
    if !field.escaped {
        return Piece::data(field.start, field.end);
    }
    let from = parser.decoded.len();
    decode(parser, field);
    Piece::decoded(from, parser.decoded.len())
}

fn decode(parser: &mut Parser<'_>, field: Field) {
    let written = &parser.data.as_bytes()[field.start..field.end];
    if field.escaped {
        csv::unescape(written, |part| parser.decoded.extend_from_slice(part));
    } else {
        parser.decoded.extend_from_slice(written);
    }
}
