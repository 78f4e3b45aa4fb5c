//! Where something stands in the buffers of a batch.

use std::ops::Range;

/// A part of a buffer. 32 bits are enough: `ReadOptions` bounds what a buffer can hold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let narrow = |at| u32::try_from(at).expect("ReadOptions keeps buffers below 4 GiB");
        Self { start: narrow(start), end: narrow(end) }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Which buffer of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Buffer {
    /// The lines as they were read.
    #[default]
    Data,
    /// What was decoded or joined.
    Decoded,
    /// The bytes of lines that are not UTF-8.
    Damaged,
}

/// A part of one of the buffers of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Piece {
    pub(super) buffer: Buffer,
    pub(super) span: Span,
}

impl Piece {
    /// A part of the lines as they were read.
    pub(super) fn data(start: usize, end: usize) -> Self {
        Self { buffer: Buffer::Data, span: Span::new(start, end) }
    }

    /// A part of what was decoded or joined.
    pub(super) fn decoded(start: usize, end: usize) -> Self {
        Self { buffer: Buffer::Decoded, span: Span::new(start, end) }
    }
}
