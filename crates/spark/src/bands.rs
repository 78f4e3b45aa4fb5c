//! Documents into band keys.

use arrow_array::RecordBatch;
use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::sketch::Sketcher;
use sha2::{Digest, Sha256};

use super::columns::{Document, Documents};
use super::out::Out;
use super::parts::{Parts, put_bytes, put_number};
use super::{Settings, Stage, kind, place, seen};
use crate::error::Result;
use benzer_core::slots::ElementSet;

const RUN: usize = 256;

/// A record for each band of each document: band, key, half of the hash of the text, place; in the first band also the other half and the number of elements.
/// A text without elements, which is similar to nothing but can be a copy, has one record in the bucket of its hash, as if that were a first band.
/// The hash is cryptographic, since nobody compares the texts themselves.
pub(super) struct Bands {
    settings: Settings,
    shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
    scratch: Scratch,
    set: ElementSet,
    elements: Vec<u64>,
    offsets: Vec<usize>,
    words: Vec<u64>,
    parts: Parts,
    seen: Parts,
    out: Out,
}

/// The number of no band: its keys are hashes of texts without elements.
const WORDLESS: usize = u32::MAX as usize;

/// Whether records of a band have all of the hash and the number of elements, so that copies are found there.
pub(super) fn has_more(band: usize) -> bool {
    band == 0 || band == WORDLESS
}

struct Row {
    place: Vec<u8>,
    hash: [u64; 2],
    n: usize,
}

impl Bands {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            shingler: settings.shingler()?,
            sketcher: settings.sketcher()?,
            scratch: Scratch::default(),
            set: ElementSet::default(),
            elements: Vec::new(),
            offsets: Vec::new(),
            words: Vec::new(),
            parts: Parts::new(kind::PARTS, settings.slices),
            seen: Parts::new(kind::SEEN, settings.slices),
            out: Out::default(),
            settings,
        })
    }

    fn run(&mut self, rows: &[Row]) -> Result<()> {
        let n_words = self.settings.spec.words();
        self.words.clear();
        self.words.resize(rows.len() * n_words, 0);
        let end = self.offsets.last().copied().unwrap_or_default();
        self.sketcher.sketch_many(&self.elements[..end], &self.offsets, &mut self.words)?;
        let Self { settings, words, parts, .. } = self;
        let mut add = |row: &Row, band: usize, key: u64| {
            parts.add(settings.slice_of_key(band, key), |out| {
                put_number(out, band as u64);
                out.extend(key.to_le_bytes());
                out.extend(row.hash[0].to_le_bytes());
                put_bytes(out, &row.place);
                if has_more(band) {
                    out.extend(row.hash[1].to_le_bytes());
                    put_number(out, row.n as u64);
                }
            });
        };
        for (row, words) in rows.iter().zip(words.chunks_exact(n_words)) {
            if row.n == 0 {
                add(row, WORDLESS, row.hash[0]);
                continue;
            }
            for band in 0..settings.banding.bands() {
                add(row, band, settings.banding.key(words, band));
            }
        }
        self.parts.send_if_full(&mut self.out)
    }

    /// Shingles a document; nothing if its text is empty.
    fn row(&mut self, Document { id, text, value, .. }: Document<'_>) -> Option<Row> {
        let start = self.offsets.last().copied().unwrap_or_default();
        let end = self.shingler.write_elements(text, &mut self.scratch, &mut self.elements, start);
        let n = self.set.distinct(&mut self.elements[start..end]);
        if text.is_empty() {
            return None;
        }
        self.offsets.push(start + n);
        let digest = Sha256::digest(text.as_bytes());
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| digest[8 * i + j]));
        let mut place = Vec::new();
        place::push(&self.settings.keep, text, value, id, &mut place);
        Some(Row { place, hash: [word(0), word(1)], n })
    }
}

impl Stage for Bands {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let documents = Documents::of(batch)?;
        documents.iter().for_each(|document| seen::put(&mut self.seen, &self.settings, document));
        self.seen.send_if_full(&mut self.out)?;
        let mut documents = documents.iter().peekable();
        while documents.peek().is_some() {
            self.offsets.clear();
            self.offsets.push(0);
            let mut rows = Vec::with_capacity(RUN);
            for document in documents.by_ref().take(RUN) {
                rows.extend(self.row(document));
            }
            self.run(&rows)?;
        }
        self.out.take()
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        self.parts.send(&mut self.out)?;
        self.seen.send(&mut self.out)?;
        self.out.take()
    }
}
