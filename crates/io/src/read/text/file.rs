//! A file of text into batches of whole lines (or records, or files), from its beginning to its end.
//!
//! A batch is filled until it holds `batch_bytes`, over the ends of small files, and cut after its last whole line; what is left
//! waits for the next batch. A line that is longer than a batch makes the buffer grow up to `max_line_bytes`; a still
//! longer one is read past without being held. Lines are counted here (at memory speed), so that every batch knows its
//! line numbers without waiting for the parsing of those before it.

use std::io;
use std::sync::Arc;

use super::cut::Cutter;
use crate::read::format::Format;
use crate::read::input::{Input, Start};
use crate::read::options::{MIN_READ, Plan};
use crate::read::reject::{Reject, RejectReason};
use crate::read::rows::{Lines, Segment, SegmentKind};
use crate::read::stream::{End, Stream};
use crate::read::utf8::BYTE_ORDER_MARK;

/// The file of text being read.
pub(in crate::read) struct TextFile {
    pub(in crate::read) input: Arc<Input>,
    stream: Stream,
    cutter: Cutter,
    kind: SegmentKind,
    /// What was read of it with its header, and how that ended.
    ahead: Vec<u8>,
    ahead_end: Option<End>,
    /// The beginning of a line whose end is not read yet.
    unfinished: Vec<u8>,
    /// The first line that is in no batch yet, and where it begins.
    line: u64,
    offset: u64,
    /// While a line that is too long is being read past: how much of it was.
    passing: Option<Passing>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Passing {
    bytes: u64,
    newlines: u64,
}

/// Why lines were no longer added to a batch.
pub(in crate::read) enum Stop {
    Full,
    FileEnd,
}

impl TextFile {
    pub(in crate::read) fn new(input: Arc<Input>, stream: Stream, start: Start) -> Self {
        let Start { format, header, rest, end, .. } = start;
        let (line, offset) = header.as_ref().map_or((1, 0), |header| (1 + header.n_lines, header.n_bytes));
        let kind = match (format, header) {
            (_, Some(header)) => SegmentKind::Csv(header),
            (Format::File, None) => SegmentKind::File,
            (Format::JsonLines, None) => SegmentKind::Json,
            _ => SegmentKind::Lines,
        };
        Self {
            input,
            stream,
            cutter: Cutter::new(format),
            kind,
            ahead: rest,
            ahead_end: Some(end),
            unfinished: Vec::new(),
            line,
            offset,
            passing: None,
        }
    }

    /// Adds lines until the batch is full or the file ends.
    pub(in crate::read) fn add_to(&mut self, lines: &mut Lines, plan: &Plan) -> io::Result<Stop> {
        let start = lines.data.len();
        lines.data.append(&mut self.unfinished);
        let mut searched = lines.data.len();
        let mut goal = plan.batch_bytes;
        loop {
            let wanted = goal.saturating_sub(lines.data.len()).max(MIN_READ);
            let end = self.read(wanted, &mut lines.data)?;
            self.pass_mark(start, &mut lines.data);
            if self.passing.is_some() && self.pass_line(start, matches!(end, End::More), lines, plan) {
                continue;
            }
            let data = &mut lines.data;
            let whole = self.cutter.last_end(&data[searched..]).map_or(start, |n| searched + n);
            match end {
                End::Done => {
                    if self.lacks_newline(&data[start..]) {
                        data.push(b'\n');
                    }
                    self.close(start, lines);
                    return Ok(Stop::FileEnd);
                }
                End::Broken(reason) => {
                    data.truncate(whole);
                    self.close(start, lines);
                    lines.rejects.push(self.reject(reason));
                    return Ok(Stop::FileEnd);
                }
                End::More if whole > start || start > 0 => {
                    self.unfinished.extend_from_slice(&data[whole..]);
                    data.truncate(whole);
                    self.close(start, lines);
                    return Ok(Stop::Full);
                }
                End::More if data.len() > plan.max_line_bytes => {
                    let newlines = memchr::memchr_iter(b'\n', data).count() as u64;
                    self.passing = Some(Passing { bytes: data.len() as u64, newlines });
                    data.clear();
                    data.shrink_to(plan.batch_bytes);
                    (searched, goal) = (0, plan.batch_bytes);
                }
                End::More => {
                    searched = data.len();
                    goal = (2 * data.len()).min(plan.max_line_bytes + plan.batch_bytes);
                }
            }
        }
    }

    fn read(&mut self, n: usize, into: &mut Vec<u8>) -> io::Result<End> {
        if self.ahead.is_empty() && matches!(self.ahead_end, None | Some(End::More)) {
            return self.stream.read(n, into);
        }
        into.extend(self.ahead.drain(..n.min(self.ahead.len())));
        let end = if self.ahead.is_empty() { self.ahead_end.take() } else { None };
        Ok(end.unwrap_or(End::More))
    }

    /// True if the last line needs an end. A whole file always gets one (unless it was passed), even an empty one.
    fn lacks_newline(&self, bytes: &[u8]) -> bool {
        match self.kind {
            SegmentKind::File => self.line == 1,
            _ => bytes.last().is_some_and(|&last| last != b'\n'),
        }
    }

    /// Removes a byte order mark at the beginning of the file.
    fn pass_mark(&mut self, start: usize, data: &mut Vec<u8>) {
        if self.offset == 0 && data[start..].starts_with(BYTE_ORDER_MARK) {
            data.drain(start..start + BYTE_ORDER_MARK.len());
            self.offset = BYTE_ORDER_MARK.len() as u64;
        }
    }

    /// Removes what was read of a line that is too long, and rejects it when its end is reached. True when there is more
    /// of it to come.
    fn pass_line(&mut self, start: usize, more: bool, lines: &mut Lines, plan: &Plan) -> bool {
        let end = self.cutter.next_end(&lines.data[start..]);
        let part = end.unwrap_or(lines.data.len() - start);
        let newlines = memchr::memchr_iter(b'\n', &lines.data[start..start + part]).count() as u64;
        let passed = self.passing.take().unwrap_or_default();
        let passing = Passing { bytes: passed.bytes + part as u64, newlines: passed.newlines + newlines };
        lines.data.drain(start..start + part);
        if end.is_none() && more {
            self.passing = Some(passing);
            return true;
        }
        let bytes = passing.bytes - u64::from(end.is_some());
        let max = plan.max_line_bytes as u64;
        lines.rejects.push(self.reject(self.cutter.too_long(bytes, max)));
        self.line += passing.newlines.max(1);
        self.offset += passing.bytes;
        false
    }

    /// Makes a segment of the whole lines from `start` to the end of the buffer.
    fn close(&mut self, start: usize, lines: &mut Lines) {
        let data = &lines.data[start..];
        if data.is_empty() {
            return;
        }
        let n_lines = memchr::memchr_iter(b'\n', data).count() as u64;
        let n_bytes = data.len() as u64;
        lines.segments.push(Segment {
            input: Arc::clone(&self.input),
            kind: self.kind.clone(),
            start,
            end: lines.data.len(),
            first_line: self.line,
            first_offset: self.offset,
        });
        self.line += n_lines;
        self.offset += n_bytes;
    }

    /// A reject of the first line that is in no batch yet.
    fn reject(&self, reason: RejectReason) -> Reject {
        self.input.reject(self.line, self.offset, reason)
    }
}
