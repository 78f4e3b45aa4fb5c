//! Many lines in one buffer: raw as they come from the reader, and with their documents found.
//!
//! Memory: a batch holds its lines once (`batch_bytes`, or one longer line), 40 bytes per document, and the decoded copy of
//! texts that have escapes or are joined from several fields, which is never longer than the lines. Both kinds are
//! `Send`: one thread reads, any thread parses.

use std::sync::Arc;

use super::fields::Fields;
use super::input::Input;
use super::reject::Reject;

/// Whole lines, not looked at yet.
#[derive(Debug)]
pub struct RawBatch {
    /// The lines; every one ends with a newline.
    pub(super) data: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    /// What the reader itself could not deliver.
    pub(super) rejects: Vec<Reject>,
    pub(super) plan: Arc<Plan>,
}

/// What `parse` needs to know, the same for all batches of a reader.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) fields: Fields,
    pub(super) max_line_bytes: usize,
}

/// Consecutive lines of one file.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) input: Arc<Input>,
    /// Where they lie in the buffer.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of the first line, and where it begins in the uncompressed file.
    pub(super) first_line: u64,
    pub(super) first_offset: u64,
}

impl RawBatch {
    /// The bytes of its lines.
    pub fn n_bytes(&self) -> usize {
        self.data.len()
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
    pub(super) rejects: Vec<Reject>,
    /// Where the bytes of each reject are, if they are held.
    pub(super) reject_lines: Vec<Option<(Place, Span)>>,
    pub(super) n_blank: u64,
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
#[derive(Debug)]
pub(super) struct Row {
    pub(super) segment: u32,
    /// Lines after the first of its segment.
    pub(super) line: u32,
    pub(super) raw: Span,
    pub(super) text: (Place, Span),
    pub(super) id: Option<(Place, Span)>,
}

/// A document of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Document<'a> {
    /// Its id.
    pub id: DocumentId<'a>,
    /// The wanted text: the text fields joined with newlines.
    pub text: &'a str,
    /// The number of the input, as in [`Reader::inputs`](super::Reader::inputs).
    pub input: u32,
    /// The line, counted from 1; blank and rejected lines count.
    pub line: u64,
    /// Where the line begins, in bytes of the uncompressed file.
    pub offset: u64,
    /// The line as it was read, without its newline (a carriage return before it is still there).
    pub raw: &'a str,
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
        /// The line, counted from 1.
        row: u64,
    },
}

impl Batch {
    /// The documents, in the order of their lines.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = Document<'_>> {
        self.rows.iter().map(|row| self.view(row))
    }

    /// The document at an index, or nothing past the end.
    pub fn document(&self, index: usize) -> Option<Document<'_>> {
        self.rows.get(index).map(|row| self.view(row))
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
    /// rest of a damaged file.
    pub fn rejected_line(&self, index: usize) -> Option<&[u8]> {
        let (place, span) = self.reject_lines.get(index).copied().flatten()?;
        let buffer = match place {
            Place::Data => self.data.as_bytes(),
            Place::Decoded => self.decoded.as_bytes(),
            Place::Damaged => &self.damaged,
        };
        Some(&buffer[span.range()])
    }

    fn view(&self, row: &Row) -> Document<'_> {
        let segment = &self.segments[row.segment as usize];
        let (input, line) = (segment.input.number, segment.first_line + u64::from(row.line));
        let id = row.id.map_or(DocumentId::Row { input, row: line }, |id| DocumentId::Field(self.text(id)));
        let offset = segment.first_offset + (row.raw.range().start - segment.start) as u64;
        Document { id, text: self.text(row.text), input, line, offset, raw: &self.data[row.raw.range()] }
    }

    fn text(&self, (place, span): (Place, Span)) -> &str {
        let buffer = if place == Place::Data { &self.data } else { &self.decoded };
        &buffer[span.range()]
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
        assert_eq!(size_of::<Row>(), 40);
    }

    #[test]
    fn both_kinds_of_batch_can_be_sent_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<RawBatch>();
        is_send::<Batch>();
    }
}
