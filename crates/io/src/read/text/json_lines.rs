//! JSON lines: an object on each line.

use super::parser::{Parsed, Parser};
use crate::read::json::{self, JsonFault, Slot};
use crate::read::options::Plan;
use crate::read::reject::RejectReason;
use crate::read::rows::{Row, Segment, StoredOrder};
use crate::read::span::{Buffer, Piece, Span};

/// Reads a segment of JSON lines.
pub(super) fn parse(parser: &mut Parser<'_>, number: u32, segment: &Segment) {
    let (mut start, mut line) = (segment.start, 0);
    while start < segment.end {
        let (end, parsed) = parser.line(start);
        parser.keep(parsed, segment, number, line, start);
        start = end + 1;
        line += 1;
    }
}

/// The text of one line that was parsed before, which is all of `line`; nothing if it is no document any more.
pub(in crate::read) fn text_of(line: &str, plan: &Plan) -> Option<Vec<u8>> {
    let mut parser = Parser::new(line, Vec::new(), plan);
    let (_, Parsed::Document(Row { text, .. })) = parser.line(0) else { return None };
    let bytes = if text.buffer == Buffer::Data { line.as_bytes() } else { parser.decoded.bytes() };
    Some(bytes[text.span.range()].to_vec())
}

/// The end of the line that goes through `from`.
fn newline(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |i| from + i)
}

impl Parser<'_> {
    /// Where the line at `start` ends, and what it is.
    #[inline]
    fn line(&mut self, start: usize) -> (usize, Parsed) {
        let bytes = self.data.as_bytes();
        if let Some(bad) = self.bad(start) {
            return (newline(bytes, start), bad.parsed());
        }
        let first = json::space(bytes, start);
        if bytes.get(first).is_none_or(|byte| *byte == b'\n') {
            return (first, Parsed::Blank);
        }
        let (end, row) =
            match json::extract(bytes, first, &self.plan.fields, &mut self.slots, &mut self.decoded) {
                Ok(json::Line { end, other: None }) => (end, self.row(start, end)),
                Ok(json::Line { end, other: Some(got) }) => (end, Err(RejectReason::NotObject { got })),
                Err(fault) => (newline(bytes, fault.at), Err(self.invalid(start, fault))),
            };
        let (bytes, max) = ((end - start) as u64, self.plan.max_line_bytes as u64);
        match row {
            Ok(row) if bytes <= max => {
                if let Some(slot) = self.plan.fields.order_slot() {
                    let order = self.order(slot);
                    self.found.orders.push(order);
                }
                (end, Parsed::Document(row))
            }
            Err(reason) if bytes <= max => (end, Parsed::Bad(reason, Piece::data(start, end))),
            _ => {
                let reason = RejectReason::LineTooLong { bytes, max };
                (end, Parsed::Bad(reason, Piece::data(start, end)))
            }
        }
    }

    fn invalid(&self, start: usize, JsonFault { at, expected }: JsonFault) -> RejectReason {
        let got = self.data.get(at..).and_then(|rest| rest.chars().next()).filter(|&c| c != '\n');
        RejectReason::InvalidJson { column: (at - start) as u64 + 1, expected, got }
    }

    /// The document of the line whose fields are in the slots.
    #[inline]
    fn row(&mut self, start: usize, end: usize) -> Result<Row, RejectReason> {
        let fields = &self.plan.fields;
        for slot in fields.text_slots() {
            if !matches!(self.slots[slot], Slot::String { .. }) {
                return Err(self.unfit(slot, "a string"));
            }
        }
        let id = match fields.id_slot() {
            None => None,
            Some(slot) => match self.slots[slot] {
                Slot::String { .. } | Slot::Integer { .. } => Some(self.content(slot)),
                _ => return Err(self.unfit(slot, "a string or an integer")),
            },
        };
        let is_one = fields.text_slots().len() == 1;
        let quoted = match self.slots[0] {
            Slot::String { start, end, decoded: Some(_) } if is_one => Span::new(start, end),
            _ => Span::default(),
        };
        let text = if is_one { self.content(0) } else { self.joined() };
        Ok(Row { segment: 0, line: 0, raw: Span::new(start, end), text, quoted, id })
    }

    /// A number or a string; everything else has no order.
    fn order(&mut self, slot: usize) -> StoredOrder {
        match self.slots[slot] {
            Slot::String { .. } => StoredOrder::Text(self.content(slot)),
            Slot::Integer { start, end } | Slot::Fraction { start, end } => {
                self.data[start..end].parse().map_or(StoredOrder::None, StoredOrder::number)
            }
            Slot::Missing | Slot::Other(_) => StoredOrder::None,
        }
    }

    /// A string or an integer: in place if it can be, else where it was decoded.
    #[inline]
    fn content(&self, slot: usize) -> Piece {
        match self.slots[slot] {
            Slot::String { decoded: Some(span), .. } => Piece { buffer: Buffer::Decoded, span },
            Slot::String { start, end, .. } | Slot::Integer { start, end } => Piece::data(start, end),
            _ => Piece::default(),
        }
    }

    /// The text fields, with newlines between them; nothing if all are empty.
    fn joined(&mut self) -> Piece {
        if self.plan.fields.text_slots().all(|slot| self.content(slot).span.range().is_empty()) {
            return Piece::default();
        }
        let from = self.decoded.len();
        for slot in self.plan.fields.text_slots() {
            if slot > 0 {
                self.decoded.extend_from_slice(b"\n");
            }
            match self.content(slot) {
                Piece { buffer: Buffer::Data, span } => {
                    self.decoded.extend_from_slice(&self.data.as_bytes()[span.range()]);
                }
                Piece { span, .. } => self.decoded.extend_from_within(span.range()),
            }
        }
        Piece::decoded(from, self.decoded.len())
    }

    fn unfit(&self, slot: usize, expected: &'static str) -> RejectReason {
        let field = self.plan.fields.name(slot);
        match self.slots[slot] {
            Slot::Missing => RejectReason::MissingField { field },
            Slot::String { .. } => RejectReason::WrongType { field, expected, got: "a string" },
            Slot::Integer { .. } => RejectReason::WrongType { field, expected, got: "a number" },
            Slot::Fraction { .. } => {
                RejectReason::WrongType { field, expected, got: "a number with a fraction" }
            }
            Slot::Other(got) => RejectReason::WrongType { field, expected, got },
        }
    }
}
