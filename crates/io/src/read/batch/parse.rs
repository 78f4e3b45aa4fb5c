//! From what the reader gives to documents and rejects: a pure function, for any thread.

use super::{Batch, RawBatch};
use crate::read::text::{self, ParsedLines};

/// Finds the documents of a batch. Takes it whole, because the documents are parts of its buffer.
pub fn parse(raw: RawBatch) -> Batch {
    let mut batch = parse_into(raw, Vec::new(), 0);
    batch.decoded.shrink_to_fit();
    batch
}

/// [`parse`] with a buffer for decoded texts, whatever is in it, that [`Batch::shed`] gives back. There will be about so many documents.
pub fn parse_into(raw: RawBatch, decoded: Vec<u8>, expected: usize) -> Batch {
    let RawBatch { lines, lines_before, table, plan } = raw;
    if let Some(table) = table {
        let segments = vec![table.segment.clone()];
        let (decoded, found) = table.decode(&plan);
        return Batch { decoded, segments, found, ..Batch::default() };
    }
    let ParsedLines { data, decoded, damaged, segments, found } =
        text::parse(lines, lines_before.as_ref(), decoded, expected, &plan);
    Batch { data, decoded, damaged, segments, found, plan: Some(plan), is_shed: false, is_forgotten: false }
}
