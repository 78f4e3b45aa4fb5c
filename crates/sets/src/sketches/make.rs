//! From a corpus to records, on any number of threads, in the order of the input.

use std::ops::Range;

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::sketch::{SketchSpec, Sketcher};
use benzer_flow::pipeline::Work;
use benzer_io::read::{self, Batch, RawBatch};

use super::{error::Result, format::Header, writer::Records};
use crate::rejected::Rejected;

/// Words that a worker sketches at a time: 8 MiB.
const MAX_WORDS: usize = 1 << 20;

/// How a document becomes a sketch; [`benzer_flow::pipeline::run`] puts a corpus through it.
#[derive(Debug)]
pub struct Recipe {
    shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
}

/// What became of one batch of lines.
#[derive(Debug, Default)]
pub struct Made {
    /// One record for each document.
    pub records: Records,
    /// The lines that are not documents.
    pub rejected: Vec<Rejected>,
    /// Blank lines.
    pub n_blank: u64,
}

impl Recipe {
    /// Sketches of this spec over these shingles; the spec's pipeline becomes that of the shingler.
    ///
    /// # Errors
    /// A spec out of range.
    pub fn new(shingler: Shingler, spec: &SketchSpec) -> Result<Self> {
        let spec = SketchSpec { pipeline: shingler.pipeline().as_str().to_owned(), ..spec.clone() };
        Ok(Self { sketcher: spec.sketcher()?, shingler })
    }

    /// The spec of every sketch, with its pipeline.
    pub fn spec(&self) -> &SketchSpec {
        self.sketcher.spec()
    }

    fn bags(&self, batch: &Batch) -> Result<Records> {
        let mut records = Records::default();
        for document in batch.documents() {
            let features = self.shingler.features(document.text);
            records.push(document.id, features.size(), self.sketcher.sketch(&features)?.words());
        }
        Ok(records)
    }

    fn sets(&self, batch: &Batch, buffers: &mut Buffers) -> Result<Records> {
        let header = Header::of_field_ids(self.spec().clone());
        let mut records = Records::default();
        // Sketches of short documents can be larger than the documents: a run of them has a bounded size.
        let run = (MAX_WORDS / self.spec().words()).max(1);
        for start in (0..batch.n_documents()).step_by(run) {
            let run = start..(start + run).min(batch.n_documents());
            self.sketch_run(batch, run.clone(), buffers)?;
            let n_words = self.spec().words();
            for (i, document) in run.filter_map(|i| batch.document(i)).enumerate() {
                let size = (buffers.offsets[i + 1] - buffers.offsets[i]) as f64;
                records.push(document.id, size, &buffers.words[i * n_words..][..header.words(size)]);
            }
        }
        Ok(records)
    }

    /// Leaves the sketches of a run of documents in the buffers.
    fn sketch_run(&self, batch: &Batch, run: Range<usize>, buffers: &mut Buffers) -> Result<()> {
        let Buffers { scratch, set, elements, offsets, words } = buffers;
        elements.clear();
        offsets.clear();
        offsets.push(0);
        words.resize(run.len() * self.spec().words(), 0);
        for document in run.filter_map(|i| batch.document(i)) {
            set.clear();
            set.extend_from_slice(self.shingler.elements(document.text, scratch));
            set.sort_unstable();
            set.dedup();
            elements.extend_from_slice(set);
            offsets.push(elements.len());
        }
        Ok(self.sketcher.sketch_many(elements, offsets, words)?)
    }
}

/// What a worker keeps from batch to batch.
#[derive(Debug, Default)]
pub struct Buffers {
    scratch: Scratch,
    set: Vec<u64>,
    elements: Vec<u64>,
    offsets: Vec<usize>,
    words: Vec<u64>,
}

impl Work for Recipe {
    type Batch = RawBatch;
    type Scratch = Buffers;
    type Made = Made;
    type Error = super::Error;

    /// Parses and sketches one batch.
    fn make(&self, raw: RawBatch, buffers: &mut Buffers) -> Result<Made> {
        let batch = read::parse(raw);
        let records =
            if self.shingler.options().bag { self.bags(&batch)? } else { self.sets(&batch, buffers)? };
        Ok(Made { records, rejected: Rejected::of_batch(&batch), n_blank: batch.n_blank() })
    }
}
