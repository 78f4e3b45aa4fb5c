//! What is kept of a batch: runs of its lines, or lines with marks.

use std::ops::Range;
use std::sync::Arc;

use benzer_io::read::{Batch, Format, RawBatch, Rereader};
use benzer_io::rewrite::{annotate_csv, annotate_json};

use super::verdicts::RunVerdicts;
use crate::corpus::{Corpus, KeptBatches};
use crate::documents::Row;
use crate::error::Result;

/// A batch whose documents are written.
pub(super) enum Source {
    /// One of those of the corpus, by its number.
    Kept(usize),
    /// One that was read a second time.
    Read(Box<RawBatch>),
}

pub(super) struct KeptLines<'a> {
    pub rows: Range<u32>,
    pub lines: Lines<'a>,
    pub runs: Vec<Run>,
}

/// Documents of one input that lie behind each other.
pub(super) struct Run {
    pub input: u32,
    /// Where they are in the lines.
    pub bytes: Range<usize>,
}

/// Lines in memory, which parts of an output share until it is written.
#[derive(Clone)]
pub(super) enum Lines<'a> {
    Here(&'a [u8]),
    Made(Arc<Vec<u8>>),
    Parsed(Arc<Batch>),
}

impl Lines<'_> {
    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        let all = match self {
            Self::Here(bytes) => bytes,
            Self::Made(bytes) => &bytes[..],
            Self::Parsed(batch) => batch.lines(),
        };
        &all[range.clone()]
    }
}

/// Looks up what is kept, on any thread.
pub(super) struct Keeper<'a> {
    pub corpus: &'a Corpus,
    pub verdicts: &'a RunVerdicts<'a>,
}

impl<'a> Keeper<'a> {
    pub fn kept(&self, source: Source) -> Result<KeptLines<'a>> {
        match source {
            Source::Kept(i) => self.of_batch(i),
            Source::Read(raw) => {
                let batch = Arc::new(benzer_io::read::parse(*raw));
                let rows = self.verdicts.rows_of_batch(&batch)?;
                match self.verdicts.annotates {
                    true => self.marked(&batch, rows),
                    false => Ok(self.verbatim(&batch, rows, Lines::Parsed(Arc::clone(&batch)))),
                }
            }
        }
    }

    fn of_batch(&self, i: usize) -> Result<KeptLines<'a>> {
        let first = self.corpus.batches.first(i).0;
        let rows = |batch: &Batch| first..first + batch.n_documents() as u32;
        match (self.corpus.batches.kept(), &self.corpus.rereader) {
            (KeptBatches::Held(batches), Some(rereader)) if batches[i].is_forgotten() => {
                self.of_forgotten(&batches[i], rereader, rows(&batches[i]))
            }
            (KeptBatches::Held(batches), _) => self.of_held(&batches[i], rows(&batches[i])),
            (KeptBatches::Saved(batches), Some(rereader)) => {
                let batch = batches.batch(i, rereader)?;
                self.of_forgotten(&batch, rereader, rows(&batch))
            }
            (KeptBatches::Saved(_), None) => unreachable!("batches are saved for inputs that are read again"),
        }
    }

    /// Lines that are kept as they are need not be parsed again.
    fn of_held(&self, batch: &'a Batch, rows: Range<u32>) -> Result<KeptLines<'a>> {
        let input = batch.place_of(0).map(|(input, _)| &self.corpus.inputs[input as usize]);
        if input.and_then(|input| input.format()).is_none_or(Format::is_table) {
            // Of a table nothing is in lines.
            return Ok(KeptLines { rows: 0..0, lines: Lines::Here(&[]), runs: Vec::new() });
        }
        match self.verdicts.annotates {
            true => self.marked(batch, rows),
            false => Ok(self.verbatim(batch, rows, Lines::Here(batch.lines()))),
        }
    }

    /// Lines that were given up are found again.
    fn of_forgotten(&self, batch: &Batch, rereader: &'a Rereader, rows: Range<u32>) -> Result<KeptLines<'a>> {
        if self.verdicts.annotates {
            return self.marked(&batch.reread(rereader, Vec::new())?, rows);
        }
        let lines = match batch.mapped_lines(rereader) {
            Some(lines) => Lines::Here(lines),
            None => Lines::Made(Arc::new(batch.reread_lines(rereader)?)),
        };
        Ok(self.verbatim(batch, rows, lines))
    }

    fn verbatim(&self, batch: &Batch, rows: Range<u32>, lines: Lines<'a>) -> KeptLines<'a> {
        let mut runs: Vec<Run> = Vec::new();
        let (mut of, mut format) = (u32::MAX, None);
        for (i, row) in rows.clone().enumerate() {
            let Some((input, place)) = batch.place_of(i) else { break };
            if input != of {
                (of, format) = (input, self.corpus.inputs[input as usize].format());
            }
            // Every line is followed by a newline, which a whole file has not.
            let end = if format == Some(Format::File) { place.end } else { place.end + 1 };
            if self.verdicts.is_removed(Row(row)) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.input == input && run.bytes.end == place.start && end > place.end => {
                    run.bytes.end = end;
                }
                _ => runs.push(Run { input, bytes: place.start..end }),
            }
        }
        KeptLines { rows, lines, runs }
    }

    fn marked(&self, batch: &Batch, rows: Range<u32>) -> Result<KeptLines<'a>> {
        let (mut runs, mut lines): (Vec<Run>, _) = (Vec::new(), Vec::new());
        for (row, document) in rows.clone().zip(batch.documents()) {
            let format = self.corpus.inputs[document.input as usize].format();
            let (start, annotation) = (lines.len(), self.verdicts.annotation(Row(row))?);
            match (format, annotation) {
                (Some(Format::Csv { delimiter }), Some(annotation)) => {
                    annotate_csv(document.raw, delimiter, &annotation, &mut lines);
                }
                (_, Some(annotation)) => annotate_json(document.raw, &annotation, &mut lines),
                (_, None) => continue,
            }
            lines.push(b'\n');
            match runs.last_mut() {
                Some(run) if run.input == document.input => run.bytes.end = lines.len(),
                _ => runs.push(Run { input: document.input, bytes: start..lines.len() }),
            }
        }
        Ok(KeptLines { rows, lines: Lines::Made(Arc::new(lines)), runs })
    }
}
