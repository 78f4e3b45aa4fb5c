//! Many lines in one buffer, or some rows of a table: raw as they come from the reader, and with their documents found.
//!
//! Memory: a batch holds its lines once (`batch_bytes`, or one longer line), 48 bytes per document (64 with an order field),
//! and the decoded copy of texts that have escapes or are joined from several fields, which is never longer than the
//! lines. Of a table it holds the texts only. Both kinds are `Send`: one thread reads, any thread parses.

use std::sync::{Arc, Mutex, PoisonError};

use super::csv::Header;
use super::fields::Fields;
use super::format::Format;
use super::input::Input;
use super::json::{Decoded, SCANNED};
use super::parse;
use super::reject::Reject;
use super::table::Table;
use super::utf8;

/// Whole lines, or rows of a table, not looked at yet.
#[derive(Debug)]
pub struct RawBatch {
    /// The lines; every one ends with a newline.
    pub(super) data: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    /// The rows, when it is of a table; then there are no lines.
    pub(super) table: Option<Table>,
    /// What the reader itself could not deliver.
    pub(super) rejects: Vec<Reject>,
    pub(super) plan: Arc<Plan>,
}

/// What `parse` needs to know, the same for all batches of a reader.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) fields: Fields,
    /// The format of all inputs, if they were said to have one.
    pub(super) format: Option<Format>,
    pub(super) batch_bytes: usize,
    pub(super) max_line_bytes: usize,
    /// Buffers of batches that are done with.
    pub(super) spare: Mutex<Vec<Vec<u8>>>,
}

impl Plan {
    /// An empty buffer.
    fn buffer(&self) -> Vec<u8> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a buffer back. One that had to grow is not worth keeping.
    pub(super) fn give(&self, mut buffer: Vec<u8>) {
        if (1..=2 * self.batch_bytes).contains(&buffer.capacity()) {
            buffer.clear();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

/// Consecutive lines of one file.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) input: Arc<Input>,
    pub(super) kind: Kind,
    /// Where they lie in the buffer.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of the first line, and where it begins in the uncompressed file.
    pub(super) first_line: u64,
    pub(super) first_offset: u64,
}

/// What is in a segment.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// JSON lines.
    Json,
    /// A text on each line.
    Lines,
    /// One text, and a newline after it.
    File,
    /// Records with these columns.
    Csv(Arc<Header>),
    /// Rows; the buffer has nothing of them.
    Rows,
}

impl RawBatch {
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        let plan = Arc::clone(plan);
        Self { data: plan.buffer(), segments: Vec::new(), table: None, rejects: Vec::new(), plan }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.rejects.is_empty()
    }

    /// The bytes of its lines; of a table, what it holds of its file.
    pub fn n_bytes(&self) -> usize {
        self.data.len() + self.table.as_ref().map_or(0, Table::n_bytes)
    }
}

/// Lines and the documents in them.
#[derive(Debug)]
pub struct Batch {
    pub(super) data: String,
    /// Texts and ids that do not stand in `data` as they are.
    pub(super) decoded: String,
    /// The original bytes of lines that are not UTF-8; in `data` they are blank.
    pub(super) damaged: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    pub(super) rows: Vec<Row>,
    /// One for each row if there is an order field, else none at all.
    pub(super) orders: Vec<StoredOrder>,
    pub(super) rejects: Vec<Reject>,
    /// Where the bytes of each reject are, if they are held.
    pub(super) reject_lines: Vec<Option<(Place, Span)>>,
    pub(super) n_blank: u64,
    /// What was asked for, where texts can be found again.
    pub(super) plan: Option<Arc<Plan>>,
    pub(super) is_shed: bool,
    /// Whether the lines were given up, to be read again.
    pub(super) is_forgotten: bool,
}

/// A part of a buffer. 32 bits are enough: `ReadOptions` bounds what a buffer can hold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

/// Which buffer a span is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Data,
    Decoded,
    Damaged,
}

/// A document, as spans.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) segment: u32,
    /// Lines after the first of its segment.
    pub(super) line: u32,
    pub(super) raw: Span,
    pub(super) text: (Place, Span),
    /// The JSON string that the text was decoded from; empty if it was not one.
    pub(super) quoted: Span,
    pub(super) id: Option<(Place, Span)>,
}

/// The value of the order field of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StoredOrder {
    None,
    Number(f64),
    Text(Place, Span),
}

impl StoredOrder {
    /// What is not a number has no order.
    pub(super) fn number(number: f64) -> Self {
        if number.is_nan() { Self::None } else { Self::Number(number) }
    }
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
        self.rows.iter().enumerate().map(|(index, row)| self.view(index, row))
    }

    /// The document at an index, or nothing past the end.
    pub fn document(&self, index: usize) -> Option<Document<'_>> {
        self.rows.get(index).map(|row| self.view(index, row))
    }

    /// Hands the text of the document at an index to `visit`, also after [`Batch::shed`].
    #[inline]
    pub fn with_text(&self, index: usize, visit: &mut dyn FnMut(&str)) {
        let Some(row) = self.rows.get(index) else { return };
        match (&self.plan, row.text.0) {
            (Some(plan), Place::Decoded) if self.is_shed => {
                let text = match row.quoted.range() {
                    none if none.is_empty() => parse::text_again(&self.data, row.raw.range(), plan),
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
        if self.plan.is_none() || !self.segments.iter().all(|segment| matches!(segment.kind, Kind::Json)) {
            self.decoded.shrink_to_fit();
            return Vec::new();
        }
        self.is_shed = true;
        std::mem::take(&mut self.decoded).into_bytes()
    }

    /// The input of the document at an index, and where its line or record lies in [`Batch::lines`].
    #[inline]
    pub fn place_of(&self, index: usize) -> Option<(u32, std::ops::Range<usize>)> {
        let row = self.rows.get(index)?;
        Some((self.segments[row.segment as usize].input.number, row.raw.range()))
    }

    /// All lines as they were read.
    pub fn lines(&self) -> &[u8] {
        self.data.as_bytes()
    }

    /// How many documents there are.
    pub fn n_documents(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        self.data.capacity()
            + self.decoded.capacity()
            + self.damaged.capacity()
            + size_of::<Row>() * self.rows.capacity()
    }

    /// Blank lines, which are neither documents nor rejects.
    pub fn n_blank(&self) -> u64 {
        self.n_blank
    }

    /// The lines that are not documents, in order.
    pub fn rejects(&self) -> &[Reject] {
        &self.rejects
    }

    /// The bytes of a rejected line, to be copied elsewhere. Nothing when they are not held: a line that is too long, the
    /// rest of a damaged file, a row of a table.
    pub fn rejected_line(&self, index: usize) -> Option<&[u8]> {
        let (place, span) = self.reject_lines.get(index).copied().flatten()?;
        let buffer = match place {
            Place::Data => self.data.as_bytes(),
            Place::Decoded => self.decoded.as_bytes(),
            Place::Damaged => &self.damaged,
        };
        Some(&buffer[span.range()])
    }

    fn view(&self, index: usize, row: &Row) -> Document<'_> {
        let segment = &self.segments[row.segment as usize];
        let (input, line) = (segment.input.number, segment.first_line + u64::from(row.line));
        let id = row.id.map_or(DocumentId::Row { input, row: line }, |id| DocumentId::Field(self.text(id)));
        let order = match self.orders.get(index) {
            None | Some(StoredOrder::None) => None,
            Some(&StoredOrder::Number(number)) => Some(Order::Number(number)),
            Some(&StoredOrder::Text(place, span)) => Some(Order::Text(self.text((place, span)))),
        };
        let within = match segment.kind {
            Kind::Rows => u64::from(row.line),
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

    pub(super) fn text(&self, (place, span): (Place, Span)) -> &str {
        match place {
            Place::Data => &self.data[span.range()],
            _ => self.decoded.get(span.range()).unwrap_or_default(),
        }
    }
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let narrow = |at| u32::try_from(at).expect("ReadOptions keeps buffers below 4 GiB");
        Self { start: narrow(start), end: narrow(end) }
    }

    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_costs_the_bytes_that_the_module_promises() {
        assert_eq!(size_of::<Row>(), 48);
    }

    #[test]
    fn both_kinds_of_batch_can_be_sent_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<RawBatch>();
        is_send::<Batch>();
    }
}
