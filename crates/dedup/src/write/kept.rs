//! What is kept of a batch: runs of its lines, or lines with marks.

use std::ops::Range;
use std::sync::Arc;

use benzer_io::read::{Batch, Format, RawBatch};
use benzer_io::rewrite::{annotate_csv, annotate_json};

use super::verdicts::RunVerdicts;
use crate::corpus::Corpus;
use crate::documents::Row;
use crate::error::Result;

/// A batch whose documents are written.
pub(super) enum Source {
    /// One of those in memory, by its number.
    Held(usize),
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
            Source::Held(i) => {
                let (batch, first) = (&self.corpus.held.batches[i], self.corpus.held.first(i).0);
                self.of_held(batch, first..first + batch.n_documents() as u32)
            }
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

    /// Lines that are kept as they are need not be parsed again.
    fn of_held(&self, batch: &'a Batch, rows: Range<u32>) -> Result<KeptLines<'a>> {
        let input = batch.place_of(0).map(|(input, _)| &self.corpus.inputs[input as usize]);
        if input.and_then(|input| input.format()).is_none_or(Format::is_table) {
            // Of a table nothing is in lines.
            return Ok(KeptLines { rows: 0..0, lines: Lines::Here(&[]), runs: Vec::new() });
        }
        let rereader = self.corpus.rereader.as_ref().filter(|_| batch.is_forgotten());
        Ok(match (rereader, self.verdicts.annotates) {
            (None, true) => self.marked(batch, rows)?,
            (Some(rereader), true) => self.marked(&batch.reread(rereader, Vec::new())?, rows)?,
            (None, false) => self.verbatim(batch, rows, Lines::Here(batch.lines())),
            (Some(rereader), false) => {
                let lines = match batch.mapped_lines(rereader) {
                    Some(lines) => Lines::Here(lines),
                    None => Lines::Made(Arc::new(batch.reread_lines(rereader)?)),
                };
                self.verbatim(batch, rows, lines)
            }
        })
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
