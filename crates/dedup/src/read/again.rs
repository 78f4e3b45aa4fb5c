//! Lines that are read a second time instead of being held.
//!
//! A plain file of this machine can be read again wherever a document lies, mostly from memory that the system keeps of it anyway. So a batch of it gives its lines up: the next batch is read into the
//! same buffer, and a run touches little memory of its own. Somebody may write to the file meanwhile: what is read again is never trusted. Texts are compared with their hashes by the caller, and
//! [`Again::check`] tells whether a file was touched.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::SystemTime;

use super::batch::{Batch, Place, Segment, Span};
use super::stream::Compression;
use super::{Input, json, parse, utf8};
use crate::error::{Error, Result};

/// Files that are kept open.
const MOST: usize = 256;

/// The inputs of a run, open.
#[derive(Debug)]
pub(crate) struct Again {
    files: Vec<(Arc<Input>, File, State)>,
}

/// What changes when somebody writes to a file.
type State = (u64, Option<SystemTime>);

fn state(file: &File) -> io::Result<State> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.modified().ok()))
}

impl Again {
    /// Opens the inputs; nothing if there are many, or not all are plain files.
    pub fn new(inputs: &[Arc<Input>]) -> Result<Option<Self>> {
        let is_plain = |input: &Arc<Input>| {
            let is_text = input.format().is_some_and(|format| !format.is_table());
            is_text
                && input.bytes.is_some()
                && !input.is_remote()
                && input.compression() == Some(Compression::None)
        };
        if inputs.len() > MOST || !inputs.iter().all(is_plain) {
            return Ok(None);
        }
        let open = |input: &Arc<Input>| {
            let open = File::open(&input.path).and_then(|file| Ok((state(&file)?, file)));
            let (state, file) = open.map_err(|error| Error::open(&*input.path, error))?;
            Ok((Arc::clone(input), file, state))
        };
        Ok(Some(Self { files: inputs.iter().map(open).collect::<Result<_>>()? }))
    }

    /// Fails if somebody wrote to a file.
    pub fn check(&self) -> Result<()> {
        match self.files.iter().all(|(_, file, before)| state(file).is_ok_and(|now| now == *before)) {
            true => Ok(()),
            false => Err(Error::Changed),
        }
    }

    /// Appends the bytes of a segment that stood at `range` of its batch.
    fn read(&self, segment: &Segment, range: Range<usize>, into: &mut Vec<u8>) -> Result<()> {
        let (input, file, _) = &self.files[segment.input.number as usize];
        let at = segment.first_offset + (range.start - segment.start) as u64;
        let start = into.len();
        into.resize(start + range.len(), 0);
        file.read_exact_at(&mut into[start..], at).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::Changed,
            _ => Error::Read { path: input.path.to_path_buf(), source },
        })
    }

    /// Appends a whole segment. The newline of the last line may have been added by the reader.
    fn read_all(&self, segment: &Segment, into: &mut Vec<u8>) -> Result<()> {
        let (input, file, _) = &self.files[segment.input.number as usize];
        let n = segment.end - segment.start;
        // Nobody else moves the position: texts are read at places of their own.
        let mut file = file;
        let read = file
            .seek(SeekFrom::Start(segment.first_offset))
            .and_then(|_| file.take(n as u64).read_to_end(into))
            .map_err(|source| Error::Read { path: input.path.to_path_buf(), source })?;
        if n - read > 1 {
            return Err(Error::Changed);
        }
        into.extend((read < n).then_some(b'\n'));
        Ok(())
    }
}

impl Batch {
    /// Gives up the lines, whose buffer goes to the next batch. They must be those of inputs that are open in an [`Again`].
    pub(crate) fn forget_lines(&mut self) {
        self.is_forgotten = true;
        self.damaged = Vec::new();
        self.give_buffer();
    }

    /// Whether the lines were given up.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.is_forgotten
    }

    /// The buffer of the lines goes to the next batch.
    pub(crate) fn give_buffer(&mut self) {
        if let Some(plan) = &self.plan {
            plan.give(std::mem::take(&mut self.data).into_bytes());
        }
    }

    /// Hands the text of a document to `visit`, after the lines were given up. If the file was changed this may be any text, or an error.
    pub(crate) fn with_text_again(
        &self,
        index: usize,
        again: &Again,
        visit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let Some(row) = self.rows.get(index) else { return Ok(()) };
        let segment = &self.segments[row.segment as usize];
        let mut bytes = Vec::new();
        let text = match (&self.plan, row.text) {
            (_, (Place::Data, span)) => {
                again.read(segment, span.range(), &mut bytes)?;
                bytes
            }
            (Some(plan), _) if self.is_shed => {
                let quoted = row.quoted.range();
                let range = if quoted.is_empty() { row.raw.range() } else { quoted.clone() };
                again.read(segment, range, &mut bytes)?;
                if quoted.is_empty() {
                    let line = utf8::check(&bytes).map_err(|_| Error::Changed)?;
                    parse::text_again(line, 0..line.len(), plan)
                } else {
                    let mut text = Vec::with_capacity(bytes.len());
                    json::unescape(&bytes, &mut text).ok_or(Error::Changed)?;
                    text
                }
            }
            _ => {
                visit(self.text(row.text));
                return Ok(());
            }
        };
        visit(utf8::check(&text).map_err(|_| Error::Changed)?);
        Ok(())
    }

    /// The same batch with its lines, read into a buffer. What had escapes is not decoded again.
    pub(crate) fn recalled(&self, again: &Again, mut buffer: Vec<u8>) -> Result<Self> {
        buffer.clear();
        for segment in &self.segments {
            again.read_all(segment, &mut buffer)?;
        }
        let data = parse::into_text(buffer, &self.segments).0;
        let is_whole = |span: Span| data.get(span.range()).is_some();
        let is_there = |place: (Place, Span)| place.0 != Place::Data || is_whole(place.1);
        match self
            .rows
            .iter()
            .all(|row| is_whole(row.raw) && is_there(row.text) && row.id.is_none_or(is_there))
        {
            true => Ok(Self { data, ..self.without_lines() }),
            false => Err(Error::Changed),
        }
    }

    /// The buffer of its lines.
    pub(crate) fn into_lines(self) -> Vec<u8> {
        self.data.into_bytes()
    }

    /// Its documents, for lines that are yet to be read.
    fn without_lines(&self) -> Self {
        Self {
            data: String::new(),
            decoded: self.decoded.clone(),
            damaged: Vec::new(),
            segments: self.segments.clone(),
            rows: self.rows.clone(),
            orders: Vec::new(),
            rejects: Vec::new(),
            reject_lines: Vec::new(),
            n_blank: 0,
            plan: self.plan.clone(),
            is_shed: self.is_shed,
            is_forgotten: false,
        }
    }
}
