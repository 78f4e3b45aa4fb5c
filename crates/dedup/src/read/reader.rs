//! Files into batches of whole lines, on one thread.
//!
//! A batch is filled until it holds `batch_bytes`, over the ends of small files, and cut after its last newline; what is left
//! of a line waits for the next batch. A line that is longer than a batch makes the buffer grow up to `max_line_bytes`;
//! a still longer one is read past without being held. Lines are counted here (at memory speed), so that every batch
//! knows its line numbers without waiting for the parsing of those before it.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use super::batch::{Plan, RawBatch, Segment};
use super::input::{Input, Source};
use super::reject::{Reject, RejectReason};
use super::stream::{End, Progress, Stream};
use crate::error::{Error, Result};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// The least that is asked of a file, more than a byte order mark.
const MIN_READ: usize = 16;

/// Reads the inputs of a run, one batch of raw lines at a time. After an error it yields nothing more.
pub struct Reader {
    inputs: Vec<Arc<Input>>,
    waiting: std::vec::IntoIter<Source>,
    current: Option<Current>,
    /// The beginning of a line of the current file whose end is not read yet.
    unfinished: Vec<u8>,
    batch_bytes: usize,
    plan: Arc<Plan>,
    progress: Progress,
}

/// The file being read.
struct Current {
    input: Arc<Input>,
    stream: Stream,
    /// The first line that is in no batch yet, and where it begins.
    line: u64,
    offset: u64,
    /// While a line that is too long is being read past: how long it is so far.
    passing: Option<u64>,
}

/// Why lines were no longer added to a batch.
enum Stop {
    Full,
    FileEnd,
}

impl Reader {
    pub(super) fn new(sources: Vec<Source>, batch_bytes: usize, plan: Plan) -> Self {
        let total = sources.iter().map(|(input, _)| input.bytes).sum();
        Self {
            inputs: sources.iter().map(|(input, _)| Arc::clone(input)).collect(),
            waiting: sources.into_iter(),
            current: None,
            unfinished: Vec::new(),
            batch_bytes,
            plan: Arc::new(plan),
            progress: Progress::new(total),
        }
    }

    /// The files and streams, in reading order; the index is the input number.
    pub fn inputs(&self) -> &[Arc<Input>] {
        &self.inputs
    }

    /// How far the reading is; a clone can be watched from another thread.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    fn fill(&mut self) -> Result<Option<RawBatch>> {
        let mut batch = RawBatch {
            data: Vec::with_capacity(self.batch_bytes),
            segments: Vec::new(),
            rejects: Vec::new(),
            plan: Arc::clone(&self.plan),
        };
        while let Some(mut current) = self.current()? {
            match self.add_lines(&mut current, &mut batch) {
                Ok(Stop::FileEnd) if batch.data.len() <= self.batch_bytes / 8 * 7 => {}
                Ok(Stop::FileEnd) => break,
                Ok(Stop::Full) => {
                    self.current = Some(current);
                    break;
                }
                Err(source) => return Err(Error::Read { path: current.input.path.to_path_buf(), source }),
            }
        }
        let empty = batch.segments.is_empty() && batch.rejects.is_empty();
        Ok((!empty).then_some(batch))
    }

    /// Takes the file being read, or opens the next one.
    fn current(&mut self) -> Result<Option<Current>> {
        if let Some(current) = self.current.take() {
            return Ok(Some(current));
        }
        let Some((input, bytes)) = self.waiting.next() else { return Ok(None) };
        let bytes: Box<dyn Read + Send> = match bytes {
            Some(bytes) => bytes,
            None => Box::new(File::open(&input.path).map_err(|error| Error::open(&*input.path, error))?),
        };
        let stream = Stream::new(bytes, &input.path, &self.progress)?;
        Ok(Some(Current { input, stream, line: 1, offset: 0, passing: None }))
    }

    /// Adds lines of the current file until the batch is full or the file ends.
    fn add_lines(&mut self, current: &mut Current, batch: &mut RawBatch) -> io::Result<Stop> {
        let start = batch.data.len();
        batch.data.append(&mut self.unfinished);
        let mut searched = batch.data.len();
        let mut goal = self.batch_bytes;
        loop {
            let wanted = goal.saturating_sub(batch.data.len()).max(MIN_READ);
            let end = current.stream.read(wanted, &mut batch.data)?;
            current.pass_mark(start, &mut batch.data);
            if current.passing.is_some() && current.pass_line(start, matches!(end, End::More), batch) {
                continue;
            }
            let data = &mut batch.data;
            let whole = memchr::memrchr(b'\n', &data[searched..]).map_or(start, |i| searched + i + 1);
            match end {
                End::Done => {
                    if data.len() > start && data.last() != Some(&b'\n') {
                        data.push(b'\n');
                    }
                    current.close(start, batch);
                    return Ok(Stop::FileEnd);
                }
                End::Broken(reason) => {
                    data.truncate(whole);
                    current.close(start, batch);
                    batch.rejects.push(current.reject(reason));
                    return Ok(Stop::FileEnd);
                }
                End::More if whole > start || start > 0 => {
                    self.unfinished.extend_from_slice(&data[whole..]);
                    data.truncate(whole);
                    current.close(start, batch);
                    return Ok(Stop::Full);
                }
                End::More if data.len() > self.plan.max_line_bytes => {
                    current.passing = Some(data.len() as u64);
                    data.clear();
                    data.shrink_to(self.batch_bytes);
                    (searched, goal) = (0, self.batch_bytes);
                }
                End::More => {
                    searched = data.len();
                    goal = (2 * data.len()).min(self.plan.max_line_bytes + self.batch_bytes);
                }
            }
        }
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

impl Current {
    /// Removes a byte order mark at the beginning of the file.
    fn pass_mark(&mut self, start: usize, data: &mut Vec<u8>) {
        if self.offset == 0 && data[start..].starts_with(BOM) {
            data.drain(start..start + BOM.len());
            self.offset = BOM.len() as u64;
        }
    }

    /// Removes what was read of a line that is too long, and rejects it when its end is reached. True when there is more
    /// of it to come.
    fn pass_line(&mut self, start: usize, more: bool, batch: &mut RawBatch) -> bool {
        let newline = memchr::memchr(b'\n', &batch.data[start..]);
        let part = newline.unwrap_or(batch.data.len() - start);
        let bytes = self.passing.take().unwrap_or_default() + part as u64;
        batch.data.drain(start..start + part + usize::from(newline.is_some()));
        if newline.is_none() && more {
            self.passing = Some(bytes);
            return true;
        }
        let max = batch.plan.max_line_bytes as u64;
        batch.rejects.push(self.reject(RejectReason::LineTooLong { bytes, max }));
        self.line += 1;
        self.offset += bytes + 1;
        false
    }

    /// Makes a segment of the whole lines from `start` to the end of the buffer.
    fn close(&mut self, start: usize, batch: &mut RawBatch) {
        let lines = &batch.data[start..];
        if lines.is_empty() {
            return;
        }
        let n_lines = memchr::memchr_iter(b'\n', lines).count() as u64;
        let n_bytes = lines.len() as u64;
        batch.segments.push(Segment {
            input: Arc::clone(&self.input),
            start,
            end: batch.data.len(),
            first_line: self.line,
            first_offset: self.offset,
        });
        self.line += n_lines;
        self.offset += n_bytes;
    }

    /// A reject of the first line that is in no batch yet.
    fn reject(&self, reason: RejectReason) -> Reject {
        Reject {
            file: Arc::clone(&self.input.path),
            input: self.input.number,
            line: self.line,
            offset: self.offset,
            reason,
        }
    }
}
