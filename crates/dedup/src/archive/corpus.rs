//! A corpus as a segment: every document that has a text.

use benzer_core::field::text::Scratch;

use super::{Entry, SegmentWriter};
use crate::error::{Error, Result};
use crate::ingest::{Buffers, Ingest, Ingested};
use benzer_flow::pipeline::{self, Work};
use benzer_io::read::{Batch, RawBatch, Reader};

/// What hardly anything can be similar to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnmatchableCounts {
    /// Documents without features, which are taken if they have a text.
    pub empty: u64,
    pub short: u64,
}

/// Reads a corpus and appends its documents to a segment; `visit` sees each batch.
pub(crate) fn read_into(
    writer: &mut SegmentWriter<'_>,
    reader: Reader,
    ingest: &Ingest,
    threads: usize,
    mut visit: impl FnMut(&Batch) -> Result<()>,
) -> Result<UnmatchableCounts> {
    let inputs = reader.inputs().to_vec();
    let n_words = ingest.spec().words();
    let has_ids = ingest.layout().ids;
    let mut left = UnmatchableCounts::default();
    pipeline::run(reader, &Sets(ingest), threads, |made: WithSets| -> Result<()> {
        visit(&made.ingested.batch)?;
        let rows = &made.ingested.rows;
        let mut start = 0;
        for (i, (place, &end)) in rows.places.iter().zip(&made.ends).enumerate() {
            let features = &made.elements[std::mem::replace(&mut start, end)..end];
            left.empty += u64::from(features.is_empty());
            if place.text_bytes == 0 {
                continue;
            }
            writer.push(&Entry {
                hash: rows.hashes[i],
                words: &rows.words[i * n_words..][..n_words],
                id: has_ids.then(|| rows.ids.get(i)),
                file: &inputs[place.input as usize].relative.to_string_lossy(),
                line: place.line,
                features,
            })?;
        }
        left.short += made.short;
        Ok(())
    })?;
    Ok(left)
}

/// Makes rows, and the sorted elements of each document.
struct Sets<'a>(&'a Ingest);

struct WithSets {
    ingested: Ingested,
    elements: Vec<u64>,
    ends: Vec<usize>,
    short: u64,
}

impl Work for Sets<'_> {
    type Batch = RawBatch;
    type Scratch = (Buffers, Scratch, Vec<u64>);
    type Made = WithSets;
    type Error = Error;

    fn make(&self, raw: RawBatch, (buffers, scratch, own): &mut Self::Scratch) -> Result<WithSets> {
        let ingested = self.0.make(raw, buffers)?;
        let shingler = &self.0.shingler;
        let (mut elements, mut ends, mut short) = (Vec::new(), Vec::new(), 0);
        for (i, place) in ingested.rows.places.iter().enumerate() {
            ingested.batch.with_text(i, &mut |text| {
                elements.extend_from_slice(sorted_elements(shingler, text, scratch, own));
                let n = shingler.options().n;
                short += u64::from(place.shingles == 1 && n > 1 && shingler.tokens(text).len() < n);
            });
            ends.push(elements.len());
        }
        Ok(WithSets { ingested, elements, ends, short })
    }
}

pub(crate) fn sorted_elements<'a>(
    shingler: &benzer_core::field::text::Shingler,
    text: &str,
    scratch: &mut Scratch,
    own: &'a mut Vec<u64>,
) -> &'a [u64] {
    let end = shingler.write_elements(text, scratch, own, 0);
    let elements = &mut own[..end];
    elements.sort_unstable();
    let mut n = 0;
    for i in 0..elements.len() {
        if n == 0 || elements[n - 1] != elements[i] {
            elements[n] = elements[i];
            n += 1;
        }
    }
    &own[..n]
}
