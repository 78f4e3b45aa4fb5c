//! Lines, and what is found in them: documents and rejects, as places in the buffers of a batch.

use std::sync::Arc;

use super::csv::Header;
use super::format::Format;
use super::input::Input;
use super::reject::Reject;
use super::span::{Piece, Span};

/// Whole lines of one file or of several.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Every one ends with a newline.
    pub(super) data: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    /// What the reader itself could not deliver.
    pub(super) rejects: Vec<Reject>,
}

/// Consecutive lines of one file.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) input: Arc<Input>,
    pub(super) kind: SegmentKind,
    /// Where they lie in the buffer.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of the first line, and where it begins in the uncompressed file.
    pub(super) first_line: u64,
    pub(super) first_offset: u64,
}

/// What is in a segment.
#[derive(Debug, Clone)]
pub(super) enum SegmentKind {
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
    /// Lines of this format whose documents an earlier run has found.
    Parsed(Format),
}

/// The documents and rejects of a batch.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// One for each row if there is an order field, else none at all.
    pub(super) orders: Vec<StoredOrder>,
    pub(super) rejects: Vec<Reject>,
    /// Where the bytes of each reject are, if they are held; of a table none at all.
    pub(super) reject_lines: Vec<Option<Piece>>,
    pub(super) n_blank: u64,
}

impl Found {
    /// Brings the rejects into the order of their lines.
    pub(super) fn sort_rejects(&mut self) {
        let mut all: Vec<_> = self.rejects.drain(..).zip(self.reject_lines.drain(..)).collect();
        all.sort_by_key(|(reject, _)| (reject.input, reject.line));
        (self.rejects, self.reject_lines) = all.into_iter().unzip();
    }
}

/// A document, as spans.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) segment: u32,
    /// Lines after the first of its segment.
    pub(super) line: u32,
    pub(super) raw: Span,
    pub(super) text: Piece,
    /// The JSON string that the text was decoded from; empty if it was not one.
    pub(super) quoted: Span,
    pub(super) id: Option<Piece>,
}

/// The value of the order field of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StoredOrder {
    None,
    Number(f64),
    Text(Piece),
}

impl StoredOrder {
    /// What is not a number has no order.
    pub(super) fn number(number: f64) -> Self {
        if number.is_nan() { Self::None } else { Self::Number(number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_costs_the_bytes_that_batches_promise() {
        assert_eq!((size_of::<Row>(), size_of::<StoredOrder>()), (48, 16));
    }
}
