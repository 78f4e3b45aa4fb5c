//! A batch without its lines as bytes, for a run that goes on where another one ended.
//!
//! ```text
//! segments, documents, bytes of decoded texts, whether texts were shed (4 bytes each)
//! each segment     input, start, end (4 bytes each), first line, first offset (8 each)
//! each document    segment, line, from and to of the line, buffer, from and to of the text, from and to of its quotes (4 each)
//! decoded texts
//! ```
//!
//! All integers are little-endian. Ids are not among it: whoever goes on has them.

use std::ops::Range;
use std::sync::Arc;

use benzer_storage::MappedFile;

use super::{Batch, Rereader};
use crate::error::{Error, Result};
use crate::read::rows::{Found, Row, Segment, SegmentKind};
use crate::read::span::{Buffer, Piece, Span};

/// Bytes of the counts, of a segment and of a document.
const COUNTS: usize = 16;
const SEGMENT: usize = 28;
const ROW: usize = 36;

impl Batch {
    /// Appends all that has to be known of it to read its lines again, which are those of a [`Rereader`].
    pub fn save(&self, into: &mut Vec<u8>) {
        let Self { decoded, segments, found: Found { rows, .. }, .. } = self;
        into.reserve(COUNTS + SEGMENT * segments.len() + ROW * rows.len() + decoded.len());
        let counts = [segments.len(), rows.len(), decoded.len(), usize::from(self.is_shed)];
        counts.iter().for_each(|count| into.extend((*count as u32).to_le_bytes()));
        for segment in segments {
            let places = [segment.input.number, segment.start as u32, segment.end as u32];
            places.iter().for_each(|place| into.extend(place.to_le_bytes()));
            [segment.first_line, segment.first_offset].iter().for_each(|n| into.extend(n.to_le_bytes()));
        }
        for row in rows {
            let (raw, text, quoted) = (row.raw.range(), row.text.span.range(), row.quoted.range());
            let buffer = u32::from(row.text.buffer == Buffer::Decoded);
            let mut bytes = [0; ROW];
            let numbers = [row.segment, row.line, raw.start as u32, raw.end as u32, buffer]
                .into_iter()
                .chain([text.start, text.end, quoted.start, quoted.end].map(|at| at as u32));
            bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(to, n)| *to = n.to_le_bytes());
            into.extend_from_slice(&bytes);
        }
        into.extend_from_slice(decoded.as_bytes());
    }
}

/// Batches that [`Batch::save`] made bytes of, one after the other in a file.
#[derive(Debug)]
pub struct SavedBatches {
    file: MappedFile,
    starts: Vec<usize>,
}

/// The parts of a batch as bytes.
struct Parts<'a> {
    segments: &'a [[u8; SEGMENT]],
    rows: &'a [[u8; ROW]],
    decoded: &'a [u8],
    is_shed: bool,
}

impl<'a> Parts<'a> {
    /// Those of the batch that bytes begin with, which is cut off.
    fn cut(from: &mut &'a [u8]) -> Option<Self> {
        let [n_segments, n_rows, n_decoded, is_shed] = numbers(from.split_off(..COUNTS)?);
        let segments = from.split_off(..SEGMENT.checked_mul(n_segments as usize)?)?.as_chunks().0;
        let rows = from.split_off(..ROW.checked_mul(n_rows as usize)?)?.as_chunks().0;
        let decoded = from.split_off(..n_decoded as usize)?;
        Some(Self { segments, rows, decoded, is_shed: is_shed != 0 })
    }

    fn batch(&self, rereader: &Rereader) -> Option<Batch> {
        let segments = self.segments.iter().map(|bytes| rereader.segment(bytes));
        let rows = self.rows.iter().map(row).collect();
        rereader.saved(segments.collect::<Option<_>>()?, rows, self.decoded, self.is_shed)
    }

    /// A batch of nothing but one of the documents.
    fn document(&self, index: usize, rereader: &Rereader) -> Option<Batch> {
        let mut row = row(self.rows.get(index)?);
        let segment = rereader.segment(self.segments.get(row.segment as usize)?)?;
        let mut decoded: &[u8] = &[];
        if row.text.buffer == Buffer::Decoded && !self.is_shed {
            decoded = self.decoded.get(row.text.span.range())?;
            row.text.span = Span::new(0, decoded.len());
        }
        row.segment = 0;
        rereader.saved(vec![segment], vec![row], decoded, self.is_shed)
    }
}

impl SavedBatches {
    /// Those of a file; nothing if it has other bytes.
    pub fn open(file: MappedFile) -> Option<Self> {
        let (mut rest, mut starts) = (file.bytes(), Vec::new());
        while !rest.is_empty() {
            starts.push(file.bytes().len() - rest.len());
            Parts::cut(&mut rest)?;
        }
        Some(Self { file, starts })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn parts(&self, i: usize) -> Option<Parts<'_>> {
        Parts::cut(&mut &self.file.bytes()[*self.starts.get(i)?..])
    }

    /// The documents of a batch.
    pub fn n_documents(&self, i: usize) -> usize {
        self.parts(i).map_or(0, |parts| parts.rows.len())
    }

    /// Whether they have so many documents in all.
    pub fn has_documents(&self, n: u32) -> bool {
        (0..self.len()).map(|i| self.n_documents(i) as u64).sum::<u64>() == u64::from(n)
    }

    /// A batch without its lines, which are those of a [`Rereader`].
    ///
    /// # Errors
    /// A batch of other inputs.
    pub fn batch(&self, i: usize, rereader: &Rereader) -> Result<Batch> {
        self.parts(i).and_then(|parts| parts.batch(rereader)).ok_or(Error::Changed)
    }

    /// [`Batch::reread_text`] of a document of a batch.
    ///
    /// # Errors
    /// As there; a batch of other inputs.
    pub fn reread_text(
        &self,
        i: usize,
        index: usize,
        rereader: &Rereader,
        visit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let document = self.parts(i).and_then(|parts| parts.document(index, rereader));
        document.ok_or(Error::Changed)?.reread_text(0, rereader, visit)
    }
}

impl Rereader {
    /// A batch without its lines; nothing if what was saved cannot be.
    fn saved(&self, segments: Vec<Segment>, rows: Vec<Row>, decoded: &[u8], is_shed: bool) -> Option<Batch> {
        let is_there = rows.iter().all(|row| {
            let segment = segments.get(row.segment as usize);
            segment.is_some_and(|segment| is_within(row, segment))
        });
        let decoded = str::from_utf8(decoded).ok()?.to_owned();
        is_there.then(|| Batch {
            decoded,
            segments,
            found: Found { rows, ..Found::default() },
            plan: Some(Arc::clone(self.plan())),
            is_shed,
            is_forgotten: true,
            ..Batch::default()
        })
    }

    fn segment(&self, bytes: &[u8; SEGMENT]) -> Option<Segment> {
        let [number, start, end, line, high_line, offset, high_offset] = numbers(bytes);
        let long = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let input = self.input(number)?;
        Some(Segment {
            input: Arc::clone(input),
            kind: SegmentKind::Parsed(input.format()?),
            start: start as usize,
            end: end as usize,
            first_line: long(line, high_line),
            first_offset: long(offset, high_offset),
        })
    }
}

/// Whether what a row has of its lines lies in them.
fn is_within(row: &Row, segment: &Segment) -> bool {
    let is_within = |span: Span| {
        let Range { start, end } = span.range();
        segment.start <= start && start <= end && end <= segment.end
    };
    let quoted = row.quoted.range();
    is_within(row.raw)
        && (row.text.buffer != Buffer::Data || is_within(row.text.span))
        && (quoted.start == quoted.end || is_within(row.quoted))
}

fn row(bytes: &[u8; ROW]) -> Row {
    let [segment, line, raw, raw_end, buffer, text, text_end, quoted, quoted_end] = numbers(bytes);
    let span = |start: u32, end: u32| Span::new(start as usize, end as usize);
    let buffer = if buffer == 0 { Buffer::Data } else { Buffer::Decoded };
    let text = Piece { buffer, span: span(text, text_end) };
    Row { segment, line, raw: span(raw, raw_end), text, quoted: span(quoted, quoted_end), id: None }
}

/// The numbers that stand in bytes.
fn numbers<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut numbers = [0; N];
    let found = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    numbers.iter_mut().zip(found).for_each(|(number, found)| *number = found);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Inputs, ReadOptions, open, parse};

    fn texts(batch: &Batch, rereader: &Rereader) -> Vec<Option<String>> {
        let text = |i| {
            let mut found = None;
            let outcome = batch.reread_text(i, rereader, &mut |text| found = Some(text.to_owned()));
            outcome.ok().and(found)
        };
        (0..batch.n_documents()).map(text).collect()
    }

    #[test]
    fn what_is_saved_has_the_same_texts_and_bytes_that_were_changed_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("a.jsonl", "{\"text\": \"one two\"}\n\n{\"text\": \"th\\tr\u{e9}e\"}\n"),
            ("b.csv", "id,text\n1,\"four \"\"five\"\"\nsix\"\n2,seven\n"),
        ];
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let inputs: Inputs = [path].into_iter().collect();
            let mut reader = open(inputs, ReadOptions::default()).unwrap();
            let rereader = reader.rereader(false).unwrap().unwrap();
            let mut batch = parse(reader.next().unwrap().unwrap());
            batch.shed();
            batch.forget_lines();
            let mut bytes = Vec::new();
            batch.save(&mut bytes);
            batch.save(&mut bytes);
            let saved = |bytes: &mut &[u8]| Parts::cut(bytes).and_then(|parts| parts.batch(&rereader));
            let path = folder.path().join("batches.bin");
            std::fs::write(&path, &bytes).unwrap();
            let batches = SavedBatches::open(MappedFile::open(&path).unwrap()).unwrap();
            assert!(batches.len() == 2 && !batches.is_empty());
            for i in 0..2 {
                assert_eq!(batches.n_documents(i), batch.n_documents());
                assert_eq!(texts(&batches.batch(i, &rereader).unwrap(), &rereader), texts(&batch, &rereader));
                let text = |index| {
                    let mut found = None;
                    batches
                        .reread_text(i, index, &rereader, &mut |text| found = Some(text.to_owned()))
                        .unwrap();
                    found
                };
                let each: Vec<_> = (0..batch.n_documents()).map(text).collect();
                assert_eq!(each, texts(&batch, &rereader));
            }
            assert!(batches.batch(2, &rereader).is_err());
            assert!(texts(&batch, &rereader).iter().all(Option::is_some));
            bytes.truncate(bytes.len() / 2);
            assert!((0..bytes.len()).all(|end| saved(&mut &bytes[..end]).is_none()));
            for bit in 0..8 * bytes.len() {
                bytes[bit / 8] ^= 1 << (bit % 8);
                saved(&mut &bytes[..]).map(|batch| texts(&batch, &rereader));
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
