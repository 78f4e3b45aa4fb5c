//! The inputs one after the other, into batches, on one thread.
//!
//! Small files of text share a batch; a table has batches of its own.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::batch::{RawBatch, Rereader};
use super::format::{Compression, Format};
use super::input::{FoundInput, Input, Lookup, Start};
use super::options::Plan;
use super::stream::{Map, Progress, Stream};
use super::table::{ArrowReader, ParquetReader, TableReader};
use super::text::{Stop, TextFile};
use crate::error::{Error, Result};

/// Reads the inputs of a run, one batch of raw lines at a time. After an error it yields nothing more.
pub struct Reader {
    inputs: Vec<Arc<Input>>,
    waiting: std::vec::IntoIter<FoundInput>,
    current: Option<Current>,
    plan: Arc<Plan>,
    progress: Progress,
    n_excepted: u64,
    left_out: Vec<Error>,
    unread: Vec<PathBuf>,
    /// Inputs that are memory, by their number.
    maps: Vec<Option<Arc<Map>>>,
}

/// The file being read.
enum Current {
    Text(Box<TextFile>),
    Table(Box<dyn TableReader>),
}

impl Reader {
    pub(super) fn new(lookup: Lookup, plan: Plan) -> Self {
        let Lookup { inputs, n_excepted, left_out, unread } = lookup;
        let total = inputs.iter().map(|found| found.input.bytes).sum();
        Self {
            inputs: inputs.iter().map(|found| Arc::clone(&found.input)).collect(),
            waiting: inputs.into_iter(),
            current: None,
            plan: Arc::new(plan),
            progress: Progress::new(total),
            n_excepted,
            left_out,
            unread,
            maps: Vec::new(),
        }
    }

    /// Reads the inputs that are mapped from there.
    pub fn use_maps(&mut self, rereader: &Rereader) {
        self.maps = rereader.maps().collect();
    }

    /// The files and streams, in reading order; the index is the input number.
    pub fn inputs(&self) -> &[Arc<Input>] {
        &self.inputs
    }

    /// Passes over tables, whose rows are copied otherwise ([`rewrite::table`](crate::rewrite::table)).
    pub fn without_tables(mut self) -> Self {
        let is_table = |found: &FoundInput| found.input.format().is_some_and(Format::is_table);
        self.waiting = self.waiting.filter(|found| !is_table(found)).collect::<Vec<_>>().into_iter();
        self
    }

    /// Files that were passed over because of [`Inputs::except`](super::Inputs::except).
    pub fn n_excepted(&self) -> u64 {
        self.n_excepted
    }

    /// What is wrong with files that were passed over because of [`Inputs::lenient`](super::Inputs::lenient).
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Files of folders that were passed over because of their extension.
    pub fn unread(&self) -> &[PathBuf] {
        &self.unread
    }

    /// How far the reading is; a clone can be watched from another thread.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    fn fill(&mut self) -> Result<Option<RawBatch>> {
        let mut batch = RawBatch::new(&self.plan);
        while let Some(current) = self.current()? {
            match current {
                Current::Text(mut text) => {
                    let lines = &mut batch.lines;
                    lines.data.reserve(self.plan.batch_bytes.saturating_sub(lines.data.len()));
                    let stop = text.add_to(lines, &self.plan);
                    match stop.map_err(|error| Error::read(&text.input.path, error))? {
                        Stop::FileEnd if batch.lines.data.len() <= self.plan.batch_bytes / 8 * 7 => {}
                        Stop::FileEnd => break,
                        Stop::Full => {
                            self.current = Some(Current::Text(text));
                            break;
                        }
                    }
                }
                Current::Table(table) if !batch.is_empty() => {
                    self.current = Some(Current::Table(table));
                    break;
                }
                Current::Table(mut table) => {
                    if let Some(item) = table.next(&self.plan)? {
                        self.current = Some(Current::Table(table));
                        return Ok(Some(RawBatch::of_table(item, &self.plan)));
                    }
                }
            }
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// Takes the file being read, or opens the next one.
    fn current(&mut self) -> Result<Option<Current>> {
        if let Some(current) = self.current.take() {
            return Ok(Some(current));
        }
        let Some(FoundInput { input, bytes }) = self.waiting.next() else { return Ok(None) };
        if input.format() == Some(Format::Parquet) {
            let file = input.open()?.ok_or_else(|| Error::without_ranges(&input.path, "a parquet file"))?;
            let reader = ParquetReader::new(file, input, &self.plan, &self.progress)?;
            return Ok(Some(Current::Table(Box::new(reader))));
        }
        if input.format() == Some(Format::Arrow)
            && input.compression() == Some(Compression::None)
            && let Some(file) = input.open()?
        {
            let reader = ArrowReader::of_file(file, input, &self.progress)?;
            return Ok(Some(Current::Table(Box::new(reader))));
        }
        let bytes: Box<dyn Read + Send> = match bytes {
            Some(bytes) => bytes,
            None => input.stream()?,
        };
        let mut stream = Stream::new(bytes, &input.path, &self.progress)?;
        if let Some(Some(map)) = self.maps.get(input.number as usize) {
            stream.use_map(Arc::clone(map));
        }
        let start = Start::read(&mut stream, &input.path, &self.plan)?;
        input.learn(start.known());
        Ok(Some(match start.format {
            Format::Parquet => return Err(Error::parquet_in_a_pipe(&input.path)),
            Format::Arrow => Current::Table(Box::new(ArrowReader::of_stream(stream, input))),
            _ => Current::Text(Box::new(TextFile::new(input, stream, start))),
        }))
    }
}

impl Iterator for Reader {
    type Item = Result<RawBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.fill().transpose();
        if let Some(Err(_)) = batch {
            (self.current, self.waiting) = (None, Vec::new().into_iter());
        }
        batch
    }
}
