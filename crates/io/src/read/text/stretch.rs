//! A plain file of lines, cut at offsets: any thread reads any stretch, without a lock.
//!
//! ```text
//! file      ....\n........\n...|...\n.......\n....\n.|.......\n...
//! stretch                       -----]               ^
//!                                     [--------------------]      the lines that begin in it
//! ```
//!
//! A stretch has the lines whose first byte lies in it. So whoever takes it starts behind the first newline, the byte before it included, and ends behind the first newline after its last byte. Lines
//! are numbered from the first of the stretch until those before it are counted ([`LineCounts`]).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::line_counts::{Counting, LineCounts, LinesBefore};
use crate::error::{Error, Result};
use crate::read::batch::RawBatch;
use crate::read::input::Input;
use crate::read::options::Plan;
use crate::read::reject::RejectReason;
use crate::read::rows::{Lines, Segment, SegmentKind};
use crate::read::stream::Map;
use crate::read::utf8::BYTE_ORDER_MARK;

/// What is read to find the first newline, or the end of the last line.
const STEP: usize = 4 << 10;
/// What is read at a time of a line that is passed.
const PASSED: usize = 1 << 18;

/// A file that is cut into stretches of as many bytes as a batch has.
#[derive(Debug)]
pub(in crate::read) struct CutFile {
    input: Arc<Input>,
    kind: SegmentKind,
    file: File,
    /// The file as memory, if it will be looked at again.
    map: Option<Arc<Map>>,
    bytes: u64,
    counts: Arc<LineCounts>,
}

/// Which lines of a stretch were read.
#[derive(PartialEq)]
enum Whole {
    All,
    /// All but the last one.
    BeforeTooLong,
}

impl CutFile {
    /// Opens an input of so many bytes.
    pub(in crate::read) fn open(input: &Arc<Input>, kind: SegmentKind, bytes: u64) -> Result<Self> {
        let file = File::open(&input.path).map_err(|error| Error::open(&*input.path, error))?;
        Ok(Self { input: Arc::clone(input), kind, file, map: None, bytes, counts: Arc::default() })
    }

    /// The same, read from memory.
    pub(in crate::read) fn mapped(self, map: Option<Arc<Map>>) -> Self {
        Self { map, ..self }
    }

    /// How many stretches it has.
    pub(in crate::read) fn n_stretches(&self, plan: &Plan) -> usize {
        self.bytes.div_ceil(plan.batch_bytes as u64) as usize
    }

    /// Reads the lines of a stretch, each of which must be read once. Nothing if no line begins there.
    pub(in crate::read) fn read(&self, stretch: usize, plan: &Arc<Plan>) -> Result<Option<RawBatch>> {
        let mut counting = Counting { counts: &self.counts, stretch, n_lines: 0 };
        let mut batch = RawBatch::to_be_filled(plan);
        let Range { start, end } = self.range(stretch, plan);
        self.map.iter().for_each(|map| map.populate(start..end));
        let read = self.lines(start..end, &mut batch.lines, plan);
        counting.n_lines = read.map_err(|error| Error::read(&self.input.path, error))?;
        if batch.is_empty() {
            plan.give_back(batch.lines.data);
            return Ok(None);
        }
        batch.lines_before = Some(LinesBefore { counts: Arc::clone(&self.counts), stretch });
        Ok(Some(batch))
    }

    /// Where a stretch lies in the file.
    pub(in crate::read) fn range(&self, stretch: usize, plan: &Plan) -> Range<u64> {
        let start = stretch as u64 * plan.batch_bytes as u64;
        start..self.bytes.min(start + plan.batch_bytes as u64)
    }

    /// Reads the lines that begin in a range, and tells how many.
    fn lines(&self, range: Range<u64>, lines: &mut Lines, plan: &Plan) -> io::Result<u64> {
        let Some(start) = self.first_line(&range)? else { return Ok(0) };
        let data = &mut lines.data;
        let whole = self.whole(start, range.end, data, plan)?;
        let n_lines = memchr::memchr_iter(b'\n', data).count() as u64;
        if !data.is_empty() {
            lines.segments.push(Segment {
                input: Arc::clone(&self.input),
                kind: self.kind.clone(),
                start: 0,
                end: data.len(),
                first_line: 1,
                first_offset: start,
            });
        }
        if whole == Whole::All {
            return Ok(n_lines);
        }
        let offset = start + data.len() as u64;
        let reason =
            RejectReason::LineTooLong { bytes: self.length(offset)?, max: plan.max_line_bytes as u64 };
        lines.rejects.push(self.input.reject(1 + n_lines, offset, reason));
        Ok(n_lines + 1)
    }

    /// Where the first line begins in a range.
    fn first_line(&self, range: &Range<u64>) -> io::Result<Option<u64>> {
        let mut bytes = [0; STEP];
        if range.start == 0 {
            let n = self.read_at(0, &mut bytes[..BYTE_ORDER_MARK.len()])?;
            let mark = if bytes[..n] == *BYTE_ORDER_MARK { BYTE_ORDER_MARK.len() as u64 } else { 0 };
            return Ok((mark < self.bytes).then_some(mark));
        }
        let (mut at, last) = (range.start - 1, range.end - 1);
        while at < last {
            let wanted = (last - at).min(STEP as u64) as usize;
            let n = self.read_at(at, &mut bytes[..wanted])?;
            if let Some(newline) = memchr::memchr(b'\n', &bytes[..n]) {
                return Ok(Some(at + newline as u64 + 1));
            }
            if n < wanted {
                break;
            }
            at += n as u64;
        }
        Ok(None)
    }

    /// Reads from the beginning of a line to the end of the last line that begins before `to`. What is in the buffer is written over.
    fn whole(&self, start: u64, to: u64, data: &mut Vec<u8>, plan: &Plan) -> io::Result<Whole> {
        // The last byte of a stretch may be the newline of its last line.
        let inside = to.saturating_sub(start + 1) as usize;
        let (mut n, mut searched, mut wanted) = (0, inside, inside + STEP);
        loop {
            wanted = wanted.min(self.bytes.saturating_sub(start) as usize);
            data.resize(wanted.max(data.len()), 0);
            n += self.read_at(start + n as u64, &mut data[n..wanted])?;
            let last = memchr::memrchr(b'\n', &data[..inside.min(n)]).map_or(0, |newline| newline + 1);
            let newline = data[..n].get(searched..).and_then(|rest| memchr::memchr(b'\n', rest));
            let is_end = n < wanted || start + n as u64 >= self.bytes;
            match newline {
                _ if newline.map_or(n, |newline| searched + newline) - last > plan.longest_held() => {
                    data.truncate(last);
                    data.shrink_to(plan.batch_bytes);
                    return Ok(Whole::BeforeTooLong);
                }
                Some(newline) => {
                    data.truncate(searched + newline + 1);
                    return Ok(Whole::All);
                }
                None if is_end => {
                    data.truncate(n);
                    if data.last().is_some_and(|last| *last != b'\n') {
                        data.push(b'\n');
                    }
                    return Ok(Whole::All);
                }
                None => {}
            }
            searched = n.max(inside);
            // One more byte than may be held tells that it is too long.
            wanted = (2 * n).min(last + plan.longest_held() + 1);
        }
    }

    /// The bytes of the line at an offset, its newline not counted.
    fn length(&self, offset: u64) -> io::Result<u64> {
        let mut bytes = vec![0; PASSED];
        let mut n_passed = 0;
        loop {
            let left = self.bytes.saturating_sub(offset + n_passed).min(PASSED as u64) as usize;
            let n = self.read_at(offset + n_passed, &mut bytes[..left])?;
            match memchr::memchr(b'\n', &bytes[..n]) {
                Some(newline) => return Ok(n_passed + newline as u64),
                None if n == 0 => return Ok(n_passed),
                None => n_passed += n as u64,
            }
        }
    }

    /// Fills a buffer from an offset on, as far as the file goes.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        if let Some(map) = &self.map {
            return Ok(map.copy(offset, into));
        }
        let mut n = 0;
        while n < into.len() {
            match self.file.read_at(&mut into[n..], offset + n as u64) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(n)
    }
}
