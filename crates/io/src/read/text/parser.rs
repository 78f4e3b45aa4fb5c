//! What the formats of text share: one line (record, file) after the other becomes a document, a reject, or nothing.

use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use super::cut::Cutter;
use crate::read::format::Format;
use crate::read::json::{Decoded, Slot};
use crate::read::options::Plan;
use crate::read::reject::RejectReason;
use crate::read::rows::{Found, Row, Segment, SegmentKind};
use crate::read::span::{Buffer, Piece, Span};
use crate::read::utf8;

/// Finds the documents of lines.
pub(in crate::read) struct Parser<'a> {
    pub(super) data: &'a str,
    pub(super) plan: &'a Plan,
    pub(super) slots: Vec<Slot>,
    bad_lines: Peekable<IntoIter<BadLine>>,
    pub(in crate::read) decoded: Decoded,
    pub(in crate::read) found: Found,
}

/// What a line is.
pub(super) enum Parsed {
    Blank,
    /// A document, whose segment and line the caller fills in.
    Document(Row),
    /// Neither: why, and where its bytes are.
    Bad(RejectReason, Piece),
}

impl<'a> Parser<'a> {
    pub(in crate::read) fn new(data: &'a str, bad_lines: Vec<BadLine>, plan: &'a Plan) -> Self {
        Self {
            data,
            plan,
            slots: vec![Slot::Missing; plan.fields.n_slots()],
            bad_lines: bad_lines.into_iter().peekable(),
            decoded: Decoded::default(),
            found: Found::default(),
        }
    }

    /// Counts what was found at a line of a segment.
    #[inline]
    pub(super) fn keep(&mut self, parsed: Parsed, segment: &Segment, number: u32, line: u32, start: usize) {
        match parsed {
            Parsed::Blank => self.found.n_blank += 1,
            Parsed::Document(row) => self.found.rows.push(Row { segment: number, line, ..row }),
            Parsed::Bad(reason, bytes) => {
                let offset = segment.first_offset + (start - segment.start) as u64;
                let line = segment.first_line + u64::from(line);
                self.found.rejects.push(segment.input.reject(line, offset, reason));
                self.found.reject_lines.push(Some(bytes));
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
}

/// A line (record, file) that is not UTF-8.
pub(in crate::read) struct BadLine {
    /// Where it begins in the batch.
    start: usize,
    /// How many of its bytes are good.
    good: usize,
    /// Where its bytes were saved.
    pub(super) saved: Span,
}

impl BadLine {
    pub(super) fn parsed(self) -> Parsed {
        let reason = RejectReason::InvalidUtf8 { column: self.good as u64 + 1 };
        Parsed::Bad(reason, Piece { buffer: Buffer::Damaged, span: self.saved })
    }
}

/// Makes text of the buffer. Lines that are not UTF-8 are saved elsewhere and blanked, so that the others stay in place.
pub(in crate::read) fn into_text(data: Vec<u8>, segments: &[Segment]) -> (String, Vec<BadLine>, Vec<u8>) {
    let mut data = match utf8::into_string(data) {
        Ok(text) => return (text, Vec::new(), Vec::new()),
        Err(data) => data,
    };
    let (mut bad_lines, mut saved) = (Vec::new(), Vec::new());
    for segment in segments {
        let mut cutter = Cutter::new(match &segment.kind {
            SegmentKind::Csv(header) => Format::Csv { delimiter: header.delimiter },
            SegmentKind::File => Format::File,
            SegmentKind::Parsed(format) => *format,
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
