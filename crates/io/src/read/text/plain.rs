//! Plain text: a document on each line, or the whole file one document. It has no fields, so no ids and no order.

use super::parser::{Parsed, Parser};
use crate::read::json;
use crate::read::reject::RejectReason;
use crate::read::rows::{Row, Segment, StoredOrder};
use crate::read::span::{Buffer, Piece, Span};

/// Reads a segment with a document on each line. Blank lines are none.
pub(super) fn lines(parser: &mut Parser<'_>, number: u32, segment: &Segment) {
    let (mut start, mut line) = (segment.start, 0);
    let data = parser.data;
    let bytes = data.as_bytes();
    while start < segment.end {
        let end = memchr::memchr(b'\n', &bytes[start..segment.end]).map_or(segment.end, |i| start + i);
        let parsed = match parser.bad(start) {
            Some(bad) => bad.parsed(),
            None if json::space(bytes, start) >= end => Parsed::Blank,
            None => {
                let (n, max) = ((end - start) as u64, parser.plan.max_line_bytes as u64);
                let text_end = end - usize::from(bytes[end - 1] == b'\r');
                let reason = RejectReason::LineTooLong { bytes: n, max };
                document(
                    parser,
                    Span::new(start, end),
                    Span::new(start, text_end),
                    (n > max).then_some(reason),
                )
            }
        };
        parser.keep(parsed, segment, number, line, start);
        start = end + 1;
        line += 1;
    }
}

/// Reads a segment that is one file, also an empty one.
pub(super) fn file(parser: &mut Parser<'_>, number: u32, segment: &Segment) {
    let (start, end) = (segment.start, segment.end - 1);
    let parsed = match parser.bad(start) {
        Some(bad) => bad.parsed(),
        None => {
            let (n, max) = ((end - start) as u64, parser.plan.max_line_bytes as u64);
            let reason = RejectReason::TooLong { what: "file", bytes: n, max };
            document(parser, Span::new(start, end), Span::new(start, end), (n > max).then_some(reason))
        }
    };
    parser.keep(parsed, segment, number, 0, start);
}

fn document(parser: &mut Parser<'_>, raw: Span, text: Span, reason: Option<RejectReason>) -> Parsed {
    if let Some(reason) = reason {
        return Parsed::Bad(reason, Piece { buffer: Buffer::Data, span: raw });
    }
    if parser.plan.fields.order_slot().is_some() {
        parser.found.orders.push(StoredOrder::None);
    }
    Parsed::Document(Row {
        segment: 0,
        line: 0,
        raw,
        text: Piece { buffer: Buffer::Data, span: text },
        quoted: Span::default(),
        id: None,
    })
}
