//! From raw lines to documents and rejects: a pure function, for any thread. Here JSON lines; the other formats have
//! their own files.

use std::ops::Range;

use super::batch::{Batch, Kind, Place, Plan, RawBatch, Row, Segment, Span, StoredOrder};
use super::cut::Cutter;
use super::format::Format;
use super::json::{self, Decoded, Fault, Slot};
use super::reject::{Reject, RejectReason};
use super::{csv, plain, table, utf8};

/// Finds the documents of a batch. Takes it whole, because the documents are parts of its buffer.
pub fn parse(raw: RawBatch) -> Batch {
    let mut batch = parse_into(raw, Vec::new(), 0);
    batch.decoded.shrink_to_fit();
    batch
}

/// [`parse`] with a buffer for decoded texts, whatever is in it, that [`Batch::shed`] gives back. There will be about so many documents.
pub fn parse_into(raw: RawBatch, decoded: Vec<u8>, expected: usize) -> Batch {
    let RawBatch { data, segments, table, rejects, plan } = raw;
    if let Some(table) = table {
        return table::parse(table, segments, &plan);
    }
    let (data, bad_lines, damaged) = into_text(data, &segments);
    let mut parser = Parser {
        data: &data,
        plan: &plan,
        slots: vec![Slot::Missing; plan.fields.n_slots()],
        bad_lines: bad_lines.into_iter().peekable(),
        decoded: Decoded::new(decoded),
        rows: Vec::with_capacity(expected + expected / 8),
        orders: Vec::new(),
        rejects: rejects.into_iter().map(|reject| (reject, None)).collect(),
        n_blank: 0,
    };
    for (number, segment) in segments.iter().enumerate() {
        let number = number as u32;
        match &segment.kind {
            Kind::Json => parser.segment(number, segment),
            Kind::Csv(header) => csv::parse(&mut parser, number, segment, header),
            Kind::Lines => plain::lines(&mut parser, number, segment),
            Kind::File => plain::file(&mut parser, number, segment),
            Kind::Rows => unreachable!("rows come as a table"),
        }
    }
    let Parser { decoded, rows, orders, mut rejects, n_blank, .. } = parser;
    let decoded = utf8::into_string(decoded.into_bytes()).expect("escapes in UTF-8 stand for characters");
    rejects.sort_by_key(|(reject, _)| (reject.input, reject.line));
    let (rejects, reject_lines) = rejects.into_iter().unzip();
    Batch {
        data,
        decoded,
        damaged,
        segments,
        rows,
        orders,
        rejects,
        reject_lines,
        n_blank,
        plan: Some(plan),
        is_shed: false,
        is_forgotten: false,
    }
}

/// The text of a JSON line that was parsed before; `raw` is where it lies in the batch.
pub(super) fn text_again(data: &str, raw: Range<usize>, plan: &Plan) -> Vec<u8> {
    let mut parser = Parser {
        data,
        plan,
        slots: vec![Slot::Missing; plan.fields.n_slots()],
        bad_lines: Vec::new().into_iter().peekable(),
        decoded: Decoded::default(),
        rows: Vec::new(),
        orders: Vec::new(),
        rejects: Vec::new(),
        n_blank: 0,
    };
    let (_, Found::Document(Row { text: (place, span), .. })) = parser.line(raw.start) else {
        return Vec::new();
    };
    if place == Place::Data { &data.as_bytes()[span.range()] } else { &parser.decoded.bytes()[span.range()] }
        .to_vec()
}

/// A line (record, file) that is not UTF-8.
pub(super) struct BadLine {
    /// Where it begins in the batch.
    start: usize,
    /// How many of its bytes are good.
    good: usize,
    /// Where its bytes were saved.
    pub(super) saved: Span,
}

impl BadLine {
    pub(super) fn found(self) -> Found {
        let reason = RejectReason::InvalidUtf8 { column: self.good as u64 + 1 };
        Found::Bad(reason, (Place::Damaged, self.saved))
    }
}

/// Makes text of the buffer. Lines that are not UTF-8 are saved elsewhere and blanked, so that the others stay in place.
pub(super) fn into_text(data: Vec<u8>, segments: &[Segment]) -> (String, Vec<BadLine>, Vec<u8>) {
    let mut data = match utf8::into_string(data) {
        Ok(text) => return (text, Vec::new(), Vec::new()),
        Err(data) => data,
    };
    let (mut bad_lines, mut saved) = (Vec::new(), Vec::new());
    for segment in segments {
        let mut cutter = Cutter::new(match &segment.kind {
            Kind::Csv(header) => Format::Csv { delimiter: header.delimiter },
            Kind::File => Format::File,
            _ => Format::JsonLines,
        });
        let mut start = segment.start;
        while start < segment.end {
            let rest = &data[start..segment.end];
            let end = start + cutter.next_end(rest).unwrap_or(rest.len()) - 1;
            let line = &mut data[start..end];
            if let Some(good) = utf8::first_error(line) {
                let at = saved.len();
                saved.extend_from_slice(line);
                line.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                bad_lines.push(BadLine { start, good, saved: Span::new(at, saved.len()) });
            }
            start = end + 1;
        }
    }
    let data = utf8::into_string(data).expect("every line that is not UTF-8 was blanked");
    (data, bad_lines, saved)
}

/// The end of the line that goes through `from`.
fn newline(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |i| from + i)
}

/// What a line is.
pub(super) enum Found {
    Blank,
    /// A document, whose segment and line the caller fills in.
    Document(Row),
    /// Neither: why, and where its bytes are.
    Bad(RejectReason, (Place, Span)),
}

/// What the formats of text share.
pub(super) struct Parser<'a> {
    pub(super) data: &'a str,
    pub(super) plan: &'a Plan,
    slots: Vec<Slot>,
    bad_lines: std::iter::Peekable<std::vec::IntoIter<BadLine>>,
    pub(super) decoded: Decoded,
    rows: Vec<Row>,
    /// One for each row if there is an order field.
    pub(super) orders: Vec<StoredOrder>,
    rejects: Vec<(Reject, Option<(Place, Span)>)>,
    n_blank: u64,
}

impl Parser<'_> {
    fn segment(&mut self, number: u32, segment: &Segment) {
        let (mut start, mut line) = (segment.start, 0);
        while start < segment.end {
            let (end, found) = self.line(start);
            self.keep(found, segment, number, line, start);
            start = end + 1;
            line += 1;
        }
    }

    /// Counts what was found at a line of a segment.
    #[inline]
    pub(super) fn keep(&mut self, found: Found, segment: &Segment, number: u32, line: u32, start: usize) {
        match found {
            Found::Blank => self.n_blank += 1,
            Found::Document(row) => self.rows.push(Row { segment: number, line, ..row }),
            Found::Bad(reason, bytes) => {
                let reject = Reject {
                    file: segment.input.path.clone(),
                    input: segment.input.number,
                    line: segment.first_line + u64::from(line),
                    offset: segment.first_offset + (start - segment.start) as u64,
                    reason,
                };
                self.rejects.push((reject, Some(bytes)));
            }
        }
    }

    /// The line at `start`, if it is not UTF-8.
    #[inline]
    pub(super) fn bad(&mut self, start: usize) -> Option<BadLine> {
        self.bad_lines.next_if(|bad| bad.start == start)
    }

    pub(super) fn n_newlines(&self, part: Range<usize>) -> u32 {
        memchr::memchr_iter(b'\n', &self.data.as_bytes()[part]).count() as u32
    }

    /// Where the line at `start` ends, and what it is.
    #[inline]
    fn line(&mut self, start: usize) -> (usize, Found) {
        let bytes = self.data.as_bytes();
        if let Some(bad) = self.bad(start) {
            return (newline(bytes, start), bad.found());
        }
        let first = json::space(bytes, start);
        if bytes[first] == b'\n' {
            return (first, Found::Blank);
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
                    self.orders.push(order);
                }
                (end, Found::Document(row))
            }
            Err(reason) if bytes <= max => (end, Found::Bad(reason, (Place::Data, Span::new(start, end)))),
            _ => {
                let reason = RejectReason::LineTooLong { bytes, max };
                (end, Found::Bad(reason, (Place::Data, Span::new(start, end))))
            }
        }
    }

    fn invalid(&self, start: usize, Fault { at, expected }: Fault) -> RejectReason {
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
            Slot::String { .. } => {
                let (place, span) = self.content(slot);
                StoredOrder::Text(place, span)
            }
            Slot::Integer { start, end } | Slot::Fraction { start, end } => {
                self.data[start..end].parse().map_or(StoredOrder::None, StoredOrder::number)
            }
            Slot::Missing | Slot::Other(_) => StoredOrder::None,
        }
    }

    /// A string or an integer: in place if it can be, else where it was decoded.
    #[inline]
    fn content(&self, slot: usize) -> (Place, Span) {
        match self.slots[slot] {
            Slot::String { decoded: Some(span), .. } => (Place::Decoded, span),
            Slot::String { start, end, .. } | Slot::Integer { start, end } => {
                (Place::Data, Span::new(start, end))
            }
            _ => (Place::Data, Span::default()),
        }
    }

    /// The text fields, with newlines between them; nothing if all are empty.
    fn joined(&mut self) -> (Place, Span) {
        if self.plan.fields.text_slots().all(|slot| self.content(slot).1.range().is_empty()) {
            return (Place::Data, Span::default());
        }
        let from = self.decoded.len();
        for slot in self.plan.fields.text_slots() {
            if slot > 0 {
                self.decoded.extend_from_slice(b"\n");
            }
            match self.content(slot) {
                (Place::Data, span) => self.decoded.extend_from_slice(&self.data.as_bytes()[span.range()]),
                (_, span) => self.decoded.extend_from_within(span.range()),
            }
        }
        (Place::Decoded, Span::new(from, self.decoded.len()))
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
