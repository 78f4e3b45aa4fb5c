//! Inputs one after the other, each from its beginning to its end.
//!
//! Small files of text share a batch; a table has batches of its own.

use std::io::Read;
use std::sync::Arc;
use std::vec::IntoIter;

use crate::error::{Error, Result};
use crate::read::batch::RawBatch;
use crate::read::format::{Compression, Format};
use crate::read::input::{FoundInput, Input, Start};
use crate::read::options::Plan;
use crate::read::stream::{Progress, Stream};
use crate::read::table::{ArrowReader, ParquetReader, TableReader};
use crate::read::text::{Stop, TextFile};

/// What one thread reads at a time.
pub(super) struct Sequence {
    waiting: IntoIter<FoundInput>,
    current: Option<Current>,
    /// Parts of a table that come before what is waiting.
    tables: IntoIter<ParquetReader>,
    /// Whether all that is there is one batch.
    is_one: bool,
    plan: Arc<Plan>,
    progress: Progress,
}

/// The file being read.
enum Current {
    Text(Box<TextFile>),
    Table(Box<dyn TableReader>),
}

impl Sequence {
    /// If they are `one` batch, no more is read of each input than it had when it was found.
    pub fn new(inputs: Vec<FoundInput>, is_one: bool, plan: &Arc<Plan>, progress: &Progress) -> Self {
        let (plan, progress) = (Arc::clone(plan), progress.clone());
        let (waiting, tables) = (inputs.into_iter(), Vec::new().into_iter());
        Self { waiting, current: None, tables, is_one, plan, progress }
    }

    /// The parts of a table of this machine, each of which can be read by itself.
    pub fn parts_of(input: &Arc<Input>, plan: &Arc<Plan>, progress: &Progress) -> Result<Vec<Self>> {
        let part = |reader| Self {
            tables: vec![reader].into_iter(),
            ..Self::new(Vec::new(), false, plan, progress)
        };
        Ok(open_parquet(input, plan, progress)?.into_iter().map(part).collect())
    }

    /// The next batch, or nothing at the end.
    pub fn next(&mut self) -> Result<Option<RawBatch>> {
        let mut batch = RawBatch::new(&self.plan);
        while let Some(current) = self.current()? {
            match current {
                Current::Text(mut text) => {
                    let lines = &mut batch.lines;
                    lines.data.reserve(self.plan.batch_bytes.saturating_sub(lines.data.len()));
                    let stop = text.add_to(lines, &self.plan);
                    let is_small = self.is_one || batch.lines.data.len() <= self.plan.batch_bytes / 8 * 7;
                    match stop.map_err(|error| Error::read(&text.input.path, error))? {
                        Stop::FileEnd if is_small => {}
                        Stop::FileEnd => break,
                        // What was read with a header ends before the file does.
                        Stop::Full if self.is_one => self.current = Some(Current::Text(text)),
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
        if let Some(table) = self.tables.next() {
            return Ok(Some(Current::Table(Box::new(table))));
        }
        let Some(FoundInput { input, bytes }) = self.waiting.next() else { return Ok(None) };
        if input.format() == Some(Format::Parquet) {
            self.tables = open_parquet(&input, &self.plan, &self.progress)?.into_iter();
            return self.current();
        }
        if input.format() == Some(Format::Arrow)
            && input.compression() == Some(Compression::None)
            && let Some(file) = input.open()?
        {
            let reader = ArrowReader::of_file(file, input, &self.progress)?;
            return Ok(Some(Current::Table(Box::new(reader))));
        }
        let bytes: Box<dyn Read + Send> = match (bytes, input.bytes) {
            (Some(bytes), _) => bytes,
            (None, Some(found)) if self.is_one => Box::new(input.stream()?.take(found)),
            (None, _) => input.stream()?,
        };
        let mut stream = Stream::new(bytes, &input.path, &self.progress)?;
        let start = Start::read(&mut stream, &input.path, &self.plan)?;
        input.learn(start.known());
        Ok(Some(match start.format {
            Format::Parquet => return Err(Error::parquet_in_a_pipe(&input.path)),
            Format::Arrow => Current::Table(Box::new(ArrowReader::of_stream(stream, input))),
            _ => Current::Text(Box::new(TextFile::new(input, stream, start))),
        }))
    }
}

fn open_parquet(input: &Arc<Input>, plan: &Plan, progress: &Progress) -> Result<Vec<ParquetReader>> {
    let file = input.open()?.ok_or_else(|| Error::without_ranges(&input.path, "a parquet file"))?;
    ParquetReader::open(file, input, plan, progress)
}
