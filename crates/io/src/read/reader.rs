//! The inputs one after the other, into batches, on one thread.
//!
//! Small files of text share a batch; a table has batches of its own.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::again::Again;
use super::batch::{Plan, RawBatch};
use super::find::{Lookup, Source};
use super::format::Format;
use super::input::Input;
use super::map::Map;
use super::start::Start;
use super::stream::{Compression, Progress, Stream};
use super::table::{self, arrow, parquet};
use super::text::{Stop, Text};
use crate::error::{Error, Result};

/// Reads the inputs of a run, one batch of raw lines at a time. After an error it yields nothing more.
pub struct Reader {
    inputs: Vec<Arc<Input>>,
    waiting: std::vec::IntoIter<Source>,
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
    Text(Box<Text>),
    Table(Box<dyn table::Source>),
}

impl Reader {
    pub(super) fn new(lookup: Lookup, plan: Plan) -> Self {
        let Lookup { sources, n_excepted, left_out, unread } = lookup;
        let total = sources.iter().map(|(input, _)| input.bytes).sum();
        Self {
            inputs: sources.iter().map(|(input, _)| Arc::clone(input)).collect(),
            waiting: sources.into_iter(),
            current: None,
            plan: Arc::new(plan),
            progress: Progress::new(total),
            n_excepted,
            left_out,
            unread,
            maps: Vec::new(),
        }
    }

    /// Reads what is mapped from there.
    pub fn look_at(&mut self, again: &Again) {
        self.maps = again.maps().collect();
    }

    /// The files and streams, in reading order; the index is the input number.
    pub fn inputs(&self) -> &[Arc<Input>] {
        &self.inputs
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
                    batch.data.reserve(self.plan.batch_bytes.saturating_sub(batch.data.len()));
                    let stop = text.add_to(&mut batch, &self.plan);
                    let stop =
                        stop.map_err(|source| Error::Read { path: text.input.path.to_path_buf(), source })?;
                    match stop {
                        Stop::FileEnd if batch.data.len() <= self.plan.batch_bytes / 8 * 7 => {}
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
                    if let Some(batch) = table.next(&self.plan)? {
                        self.current = Some(Current::Table(table));
                        return Ok(Some(batch));
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
        let Some((input, bytes)) = self.waiting.next() else { return Ok(None) };
        if input.format() == Some(Format::Parquet) {
            let file = input.open()?.ok_or_else(|| Error::without_ranges(&input.path, "a parquet file"))?;
            let source = parquet::Source::new(file, input, &self.plan, &self.progress)?;
            return Ok(Some(Current::Table(Box::new(source))));
        }
        if input.format() == Some(Format::Arrow)
            && input.compression() == Some(Compression::None)
            && let Some(file) = input.open()?
        {
            let source = arrow::Source::of_file(file, input, &self.progress)?;
            return Ok(Some(Current::Table(Box::new(source))));
        }
        let bytes: Box<dyn Read + Send> = match bytes {
            Some(bytes) => bytes,
            None => input.stream()?,
        };
        let mut stream = Stream::new(bytes, &input.path, &self.progress)?;
        if let Some(Some(map)) = self.maps.get(input.number as usize) {
            stream.look_at(Arc::clone(map));
        }
        let start = Start::read(&mut stream, &input.path, &self.plan)?;
        input.learn(&start);
        Ok(Some(match start.format {
            Format::Parquet => return Err(Error::parquet_in_a_pipe(&input.path)),
            Format::Arrow => Current::Table(Box::new(arrow::Source::of_stream(stream, input))),
            _ => Current::Text(Box::new(Text::new(input, stream, start))),
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
