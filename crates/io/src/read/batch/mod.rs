//! Many lines in one buffer, or some rows of a table: raw as they come from the reader, and with their documents found.
//!
//! Memory: a batch holds its lines once (`batch_bytes`, or one longer line), 48 bytes per document (64 with an order field),
//! and the decoded copy of texts that have escapes or are joined from several fields, which is never longer than the
//! lines. Of a table it holds the texts only. Both kinds are `Send`: any thread reads, any thread parses.

mod parse;
mod rereader;
mod saved;

use std::ops::Range;
use std::sync::Arc;

use super::json::{Decoded, SCANNED};
use super::options::Plan;
use super::reject::Reject;
use super::rows::{Found, Lines, Row, Segment, SegmentKind, StoredOrder};
use super::span::{Buffer, Piece};
use super::table::{TableItem, UndecodedRows};
use super::text::LinesBefore;
use super::{text, utf8};
pub use parse::{parse, parse_into};
pub use rereader::Rereader;
pub use saved::SavedBatches;

/// Whole lines, or rows of a table, not looked at yet.
#[derive(Debug)]
pub struct RawBatch {
    pub(super) lines: Lines,
    /// Where its line numbers begin, if they are counted from 1 so far.
    pub(super) lines_before: Option<LinesBefore>,
    /// The rows, when it is of a table; then there are no lines.
    table: Option<UndecodedRows>,
    plan: Arc<Plan>,
}

impl RawBatch {
    /// A batch without lines.
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        let mut batch = Self::to_be_filled(plan);
        batch.lines.data.clear();
        batch
    }

    /// A batch without lines, in a buffer that still has others.
    pub(super) fn to_be_filled(plan: &Arc<Plan>) -> Self {
        let lines = Lines { data: plan.buffer(), ..Lines::default() };
        Self { lines, lines_before: None, table: None, plan: Arc::clone(plan) }
    }

    /// What a table gave.
    pub(super) fn of_table(item: TableItem, plan: &Arc<Plan>) -> Self {
        let mut batch = Self::new(plan);
        match item {
            TableItem::Rows(rows) => batch.table = Some(rows),
            TableItem::Rest(reject) => batch.lines.rejects.push(reject),
        }
        batch
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.is_none() && self.lines.segments.is_empty() && self.lines.rejects.is_empty()
    }

    /// The bytes of its lines; of a table, what it holds of its file.
    pub fn n_bytes(&self) -> usize {
        self.lines.data.len() + self.table.as_ref().map_or(0, UndecodedRows::n_bytes)
    }
}

/// Lines and the documents in them.
#[derive(Debug, Default)]
pub struct Batch {
    data: String,
    /// Texts and ids that do not stand in `data` as they are.
    decoded: String,
    /// The original bytes of lines that are not UTF-8; in `data` they are blank.
    damaged: Vec<u8>,
    segments: Vec<Segment>,
    found: Found,
    /// What was asked for, where texts can be found again.
    plan: Option<Arc<Plan>>,
    /// Whether decoded texts were given up.
    is_shed: bool,
    /// Whether the lines were given up, to be read again.
    is_forgotten: bool,
}

/// A document of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Document<'a> {
    /// Its id.
    pub id: DocumentId<'a>,
    /// The wanted text: the text fields joined with newlines, or nothing if all are empty.
    pub text: &'a str,
    /// The value of the order field; nothing when none was asked for.
    pub order: Option<Order<'a>>,
    /// The number of the input, as in [`Reader::inputs`](super::Reader::inputs).
    pub input: u32,
    /// The line, counted from 1; blank and rejected lines count. A record of several lines has its first. In a table, the
    /// row, counted from 1.
    pub line: u64,
    /// Where the line begins, in bytes of the uncompressed file. In a table, the row, counted from 0.
    pub offset: u64,
    /// The line or record as it was read, without its newline (a carriage return before it is still there), or the whole
    /// file. Empty in a table, whose rows are copied by [`write::table`](crate::rewrite::table).
    pub raw: &'a str,
}

/// The value of the order field, for policies such as "keep the one with the greatest date".
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Order<'a> {
    /// A number; a date or time is seconds since 1970. Never NaN, which counts as missing.
    Number(f64),
    /// A text, compared bytewise.
    Text(&'a str),
}

/// What identifies a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentId<'a> {
    /// The value of the id field: a string, or an integer as it is written.
    Field(&'a str),
    /// Without an id field, its place.
    Row {
        /// The number of the input.
        input: u32,
        /// The line or row, counted from 1.
        row: u64,
    },
}

impl Batch {
    /// The documents, in the order of their lines.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = Document<'_>> {
        self.found.rows.iter().enumerate().map(|(index, row)| self.view(index, row))
    }

    /// The document at an index, or nothing past the end.
    pub fn document(&self, index: usize) -> Option<Document<'_>> {
        self.found.rows.get(index).map(|row| self.view(index, row))
    }

    /// Hands the text of the document at an index to `visit`, also after [`Batch::shed`].
    #[inline]
    pub fn with_text(&self, index: usize, visit: &mut dyn FnMut(&str)) {
        let Some(row) = self.found.rows.get(index) else { return };
        match (&self.plan, row.text.buffer) {
            (Some(plan), Buffer::Decoded) if self.is_shed => {
                let text = match row.quoted.range() {
                    none if none.is_empty() => {
                        text::text_of(&self.data[row.raw.range()], plan).unwrap_or_default()
                    }
                    quoted => {
                        let mut text = Decoded::default();
                        text.unescape(&self.data.as_bytes()[quoted]).expect(SCANNED);
                        text.into_bytes()
                    }
                };
                visit(utf8::check(&text).expect("escapes in UTF-8 stand for characters"));
            }
            _ => visit(self.text(row.text)),
        }
    }

    /// Gives up texts that can be decoded again from their lines, which halves what a batch holds; gives their buffer back. From here on documents show no text, id or order that had escapes:
    /// only [`Batch::with_text`] does.
    pub fn shed(&mut self) -> Vec<u8> {
        if self.plan.is_none()
            || !self.segments.iter().all(|segment| matches!(segment.kind, SegmentKind::Json))
        {
            self.decoded.shrink_to_fit();
            return Vec::new();
        }
        self.is_shed = true;
        std::mem::take(&mut self.decoded).into_bytes()
    }

    /// The input of the document at an index, and where its line or record lies in [`Batch::lines`].
    #[inline]
    pub fn place_of(&self, index: usize) -> Option<(u32, Range<usize>)> {
        let row = self.found.rows.get(index)?;
        Some((self.segments[row.segment as usize].input.number, row.raw.range()))
    }

    /// All lines as they were read.
    pub fn lines(&self) -> &[u8] {
        self.data.as_bytes()
    }

    /// How many documents there are.
    pub fn n_documents(&self) -> usize {
        self.found.rows.len()
    }

    /// Bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        self.data.capacity()
            + self.decoded.capacity()
            + self.damaged.capacity()
            + size_of::<Row>() * self.found.rows.capacity()
    }

    /// Blank lines, which are neither documents nor rejects.
    pub fn n_blank(&self) -> u64 {
        self.found.n_blank
    }

    /// The lines that are not documents, in order.
    pub fn rejects(&self) -> &[Reject] {
        &self.found.rejects
    }

    /// The bytes of a rejected line, to be copied elsewhere. Nothing when they are not held: a line that is too long, the
    /// rest of a damaged file, a row of a table.
    pub fn rejected_line(&self, index: usize) -> Option<&[u8]> {
        let piece = self.found.reject_lines.get(index).copied().flatten()?;
        let buffer = match piece.buffer {
            Buffer::Data => self.data.as_bytes(),
            Buffer::Decoded => self.decoded.as_bytes(),
            Buffer::Damaged => &self.damaged,
        };
        Some(&buffer[piece.span.range()])
    }

    fn view(&self, index: usize, row: &Row) -> Document<'_> {
        let segment = &self.segments[row.segment as usize];
        let (input, line) = (segment.input.number, segment.first_line + u64::from(row.line));
        let id = row.id.map_or(DocumentId::Row { input, row: line }, |id| DocumentId::Field(self.text(id)));
        let order = match self.found.orders.get(index) {
            None | Some(StoredOrder::None) => None,
            Some(&StoredOrder::Number(number)) => Some(Order::Number(number)),
            Some(&StoredOrder::Text(text)) => Some(Order::Text(self.text(text))),
        };
        let within = match segment.kind {
            SegmentKind::Rows => u64::from(row.line),
            _ => (row.raw.range().start - segment.start) as u64,
        };
        let raw = &self.data[row.raw.range()];
        Document {
            id,
            text: self.text(row.text),
            order,
            input,
            line,
            offset: segment.first_offset + within,
            raw,
        }
    }

    fn text(&self, piece: Piece) -> &str {
        match piece.buffer {
            Buffer::Data => &self.data[piece.span.range()],
            _ => self.decoded.get(piece.span.range()).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_batch_can_be_sent_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<RawBatch>();
        is_send::<Batch>();
    }
}
